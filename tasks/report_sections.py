"""The sections of the report up to the value network: each the paper's numbers, then ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tasks import paper
from tasks.report_choice import Chosen
from tasks.report_document import Picture, Section, paragraphs, table
from tasks.store import StageResult

OURS = "**ours**"
PAPER = "paper"
NAIVE = "all positions of recorded games"
ONE_A_GAME = "one position of each game of self-play"
MINUTE = 60.0


def missing(chosen: Chosen, stage: str, what: str = "This part") -> str:
    return f"**Missing.** {what} is made by `{chosen.command(stage)}`."


def kept_text(result: StageResult, name: str) -> str:
    """A text that a stage left in its folder; one that is gone is said to be so."""
    try:
        return (Path(result.folder) / name).read_text(encoding="utf-8")
    except OSError:
        return f"{name} of {result.stage} is gone."


def kept_pictures(result: StageResult, names: dict[str, str]) -> tuple[Picture, ...]:
    """The figures of a stage by file name -> caption, those that it made."""
    files = {Path(result.folder) / name: caption for name, caption in names.items()}
    return tuple(Picture(caption, file=file) for file, caption in files.items() if file.is_file())


def last_value(result: StageResult, metric: str) -> float | None:
    """The last point of a curve that a stage logged."""
    found = None
    path = Path(result.folder) / "metrics.jsonl"
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
        if line.endswith("]"):  # not the half line of a killed run
            name, value, *_ = json.loads(line)
            found = float(value) if name == metric else found
    return found


def percent(share: float | None) -> str | None:
    return None if share is None else f"{100 * share:.1f}"


def data(chosen: Chosen) -> Section:
    result = chosen.last("parse-games")
    if result is None:
        return Section("Games and positions", "Methods", missing(chosen, "parse-games"))
    captions = {"lengths": "Moves a game", "ranks": "Ranks of the players"}
    pictures = kept_pictures(result, {f"statistics/{name}.png": text for name, text in captions.items()})
    return Section("Games and positions", "Methods: data sets", result.summary, pictures)


def supervised(chosen: Chosen) -> Section:
    """ED Table 3: first our networks, then the paper's."""
    head = ["", "filters", "symmetries", "planes", "test %", "train %", "raw wins %", "search wins %", "ms"]
    rows: list[list[Any]] = []
    result = chosen.last("train-sl-policy")
    if result:
        rows = [[OURS, *row] for row in _sl_rows(result)]
    rows += [[PAPER, *row] for row in paper.ACCURACY]
    grid = chosen.experiments.get("accuracy-table")
    text = paragraphs(
        "" if result else missing(chosen, "train-sl-policy"),
        table(head, rows),
        "Moves of held-out games that are predicted; our training accuracy is that of the last training "
        "steps, and our games come from another corpus than KGS. Wins are against the paper's network of 192 "
        "filters.",
        "### The same grid of networks on our games, and their strength (Fig. 2a)",
        kept_text(grid, "accuracy.md") if grid else missing(chosen, "accuracy-table"),
    )
    strength = "Strength against accuracy: ours beside Fig. 2a (bare policies here, the whole search there)"
    pictures = (
        *(kept_pictures(result, {"curves.png": "Training of the SL policy"}) if result else ()),
        *(kept_pictures(grid, {"strength.png": strength}) if grid else ()),
    )
    return Section("SL policy: predicting moves", "ED Table 3, Fig. 2a", text, pictures)


def _sl_rows(result: StageResult) -> list[list[Any]]:
    """A row for each ensemble that was scored."""
    params = result.params
    rows = []
    for symmetries in range(1, 9):
        name = "test/accuracy" if symmetries == 1 else f"test/accuracy_{symmetries}"
        if name in result.metrics:
            train = percent(last_value(result, "train/accuracy")) if symmetries == 1 else None
            size = [params.get("filters"), symmetries, params.get("planes")]
            rows.append([*size, percent(result.metrics[name]), train, None, None, None])
    return rows


def rollout(chosen: Chosen) -> Section:
    result = chosen.last("train-rollout-policy")
    title, source = "Rollout and tree policy", "ED Table 4"
    if result is None:
        return Section(title, source, missing(chosen, "train-rollout-policy"))
    metrics = result.metrics
    rows: list[list[Any]] = [
        ["rollout policy", paper.ROLLOUT_ACCURACY, percent(metrics.get("test/accuracy"))],
        ["tree policy", None, percent(metrics.get("test/tree_accuracy"))],
    ]
    text = paragraphs(
        table(["moves predicted, %", PAPER, "ours"], rows), "### Patterns", kept_text(result, "patterns.md")
    )
    return Section(title, source, text, kept_pictures(result, {"curves.png": "Training of both policies"}))


def reinforced(chosen: Chosen) -> Section:
    title, source = "RL policy against SL policy", "Reinforcement learning of policy networks"
    passes = chosen.all("train-rl-policy")
    rows: list[list[Any]] = [[PAPER, "10,000 x 128", "0, then v", f"more than {paper.RL_WINS:.0f}", None]]
    for result in passes:
        of = result.metrics
        low, high = (of.get(f"win_rate/sl_policy_{end}", float("nan")) for end in ("low", "high"))
        games = f"{result.params.get('iterations'):,} x {result.params.get('games')}"
        baseline = "v" if "value_network" in result.inputs else "0"
        wins = percent(of.get("win_rate/sl_policy"))
        rows.append([OURS, games, baseline, wins, f"{100 * low:.1f} to {100 * high:.1f}"])
    text = paragraphs(
        "" if passes else missing(chosen, "train-rl-policy"),
        table(["", "iterations x games", "baseline", "wins %", "95% interval (Agresti-Coull)"], rows),
        *(
            f"### {'The way there' if len(passes) == 1 else f'Pass {number + 1}'}\n\n"
            + kept_text(result, "matches.md")
            for number, result in enumerate(passes)
        ),
    )
    return Section(title, source, text)


def value(chosen: Chosen) -> Section:
    """The errors of the value network and, if they were measured, of the naive way beside them."""
    trained = chosen.last("train-value-network")
    rows: list[list[Any]] = [
        [PAPER, ONE_A_GAME, paper.ONE_A_GAME.train, paper.ONE_A_GAME.test],
        [PAPER, NAIVE, paper.ALL_POSITIONS.train, paper.ALL_POSITIONS.test],
    ]
    if trained:
        errors = [_error(trained.metrics, name) for name in ("train/final_mse", "test/mse")]
        rows.append([OURS, ONE_A_GAME, *errors])
    naive = chosen.experiments.get("overfitting")
    made = chosen.last("generate-value-set")
    text = paragraphs(
        "" if trained else missing(chosen, "train-value-network"),
        table(["", "trained on", "MSE, training", "MSE, held out"], rows, left=2),
        f"The value set: {made.summary}" if made else missing(chosen, "generate-value-set", "The value set"),
        "### Both ways with the same network and steps",
        kept_text(naive, "overfitting.md") if naive else missing(chosen, "overfitting", "The comparison"),
    )
    pictures = (
        *(kept_pictures(trained, VALUE_FIGURES) if trained else ()),
        *(kept_pictures(made, {"value-set.png": "The value set"}) if made else ()),
        *(kept_pictures(naive, {"overfitting.png": "Errors of both ways"}) if naive else ()),
    )
    return Section("Value network", "Reinforcement learning of value networks", text, pictures)


VALUE_FIGURES = {
    "curves.png": "Training of the value network",
    "calibration.png": "Predicted against real outcomes",
}


def _error(metrics: dict[str, float], name: str) -> str | None:
    return f"{metrics[name]:.3f}" if name in metrics else None


def by_stage(chosen: Chosen) -> Section:
    title, source = "Value network against rollouts by stage of the game", "Fig. 2b"
    result = chosen.experiments.get("value-by-stage")
    if result is None:
        return Section(title, source, missing(chosen, "value-by-stage"))
    text = paragraphs(
        "Mean squared error between a judgement and the outcome of the game, by move number. In the paper "
        "the value network's one evaluation nearly reaches 100 rollouts by the RL policy, and beats those by "
        "the rollout policy.",
        kept_text(result, "value-by-stage.md"),
    )
    return Section(title, source, text, kept_pictures(result, {"value-by-stage.png": "Errors by stage"}))
