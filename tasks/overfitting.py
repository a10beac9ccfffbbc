"""The overfitting experiment of the paper's Methods: why the value set holds one position of each game.

Successive positions of a game differ by one stone and share one outcome. A value network shown all positions
of human games learns the games by heart: in the paper its error is 0.19 on them and 0.37 on new ones, against
0.226 and 0.234 with one position of each of 30 million games of self-play. Here both are trained alike and
their two errors are followed over the steps.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
import torch
from matplotlib.figure import Figure

from models.networks import Network, ValueNet
from tasks import paper
from tasks.distributed import torch_threads
from tasks.evaluation import predict_values
from tasks.objectives import value_objective
from tasks.params import TrainValueNetworkParams
from tasks.prefixed import PrefixedReporter
from tasks.reporting import Reporter
from tasks.trainer import train
from tasks.training_data import OutcomeLoader, open_outcomes, open_values
from tasks.training_state import Point, remove_state

matplotlib.use("Agg")

TABLE = "overfitting.md"
ALL, ONE = "all-positions", "one-a-game"
TITLES = {ALL: "all positions of recorded games", ONE: "one position of each game of self-play"}
PAPER = {ALL: paper.ALL_POSITIONS, ONE: paper.ONE_A_GAME}

Curves = dict[str, list[Point]]


def run_overfitting(
    params: TrainValueNetworkParams, inputs: dict[str, Path], folder: Path, run: Reporter
) -> dict[str, Any]:
    """Train on inputs["positions"] and on inputs["value_set"]; write table and figure of both into `folder`.

    The errors are measured every params.evaluation.every steps and at the end, on equally many training and
    held-out rows. An interrupted experiment goes on. Raises UserError as stage 6 does.
    """
    opened = {
        ALL: tuple(open_outcomes(params, inputs["positions"], split) for split in ("train", "test")),
        ONE: tuple(open_values(params, inputs["value_set"], split) for split in ("train", "test")),
    }
    curves: Curves = {}
    for number, (name, (training, held_out)) in enumerate(opened.items()):
        curves[name] = errors(params, training, held_out, folder / name, PrefixedReporter(run, name))
        run.progress(number + 1, len(opened), TITLES[name])
    for name in opened:
        remove_state(folder / name)
    text = table(curves)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / TABLE).write_text(text, encoding="utf-8")
    run.log_text(TABLE, text)
    run.log_figure("overfitting.png", figure(curves))
    last = {f"{name}/{which}": curve[-1][which] for name, curve in curves.items() for which in curve[-1]}
    metrics = {name: value for name, value in last.items() if not name.endswith("step")}
    gaps = [
        f"{curve[-1]['test'] - curve[-1]['train']:+.3f} with {TITLES[name]}" for name, curve in curves.items()
    ]
    return {
        "outputs": {"overfitting": {"path": folder / TABLE, "kind": "artifact"}},
        "metrics": metrics,
        "summary": f"held-out error less training error: {', '.join(gaps)}",
    }


def errors(
    params: TrainValueNetworkParams,
    training: OutcomeLoader,
    held_out: OutcomeLoader,
    folder: Path,
    run: Reporter,
) -> list[Point]:
    """Train a value network; its errors on training ("train") and held-out ("test") rows over time."""
    torch.manual_seed(params.seed)
    net = ValueNet(params.board_size, filters=params.filters, layers=params.layers, hidden=params.hidden)
    limit = params.evaluation.rows or held_out.rows

    def evaluate(current: Network) -> dict[str, float]:
        assert isinstance(current, ValueNet)
        loaders = {"train": training, "test": held_out}
        return {
            name: predict_values(current, loader.iterate_once(limit), params.compute).mse
            for name, loader in loaders.items()
        }

    state = train(net, value_objective, training, params, folder, run, evaluate)
    with torch_threads(params.threads):
        last: Point = {"step": float(state.step), **evaluate(net)}
    return [*state.tests, last]


def table(curves: Curves) -> str:
    """The last errors as Markdown, beside the paper's."""
    lines = [
        "| trained on | training | held out | difference | paper: training | paper: held out |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, curve in curves.items():
        seen, new = curve[-1]["train"], curve[-1]["test"]
        theirs = " | ".join(str(value) for value in PAPER[name])
        lines.append(f"| {TITLES[name]} | {seen:.3f} | {new:.3f} | {new - seen:+.3f} | {theirs} |")
    return "\n".join(lines) + "\n"


def figure(curves: Curves) -> Figure:
    """Both errors over the steps, a panel for each way."""
    drawn = Figure(figsize=(10, 3.6), layout="constrained")
    for axes, (name, curve) in zip(drawn.subplots(1, 2, sharey=True), curves.items(), strict=True):
        steps = [point["step"] for point in curve]
        axes.plot(steps, [point["train"] for point in curve], marker="o", label="training positions")
        axes.plot(steps, [point["test"] for point in curve], marker="o", label="held-out positions")
        axes.set_title(TITLES[name])
        axes.set_xlabel("step")
        axes.set_ylabel("mean squared error")
        axes.grid(alpha=0.3)
        axes.legend()
    return drawn
