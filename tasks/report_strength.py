"""The sections of the report on strength: ratings, cross-tables, variants of the search, scaling."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

from tasks import paper
from tasks.errors import UserError
from tasks.players import parse_spec
from tasks.report_charts import Bar, elo_bars
from tasks.report_choice import PIPELINE, Chosen, pipelines
from tasks.report_document import Picture, Section, paragraphs, table
from tasks.report_sections import kept_pictures, kept_text, missing, percent
from tasks.store import StageResult

STAGE, VARIANTS, SCALING = "evaluate-tournament", "variants", "search-scaling"
BAR_NOTE = (
    "Differences compare, levels do not: the paper's scale is anchored at Fan Hui's 2908, ours at our own "
    "anchor. 230 points are 79% of the games."
)
SHORT_COMMIT = 10
PROGRESS_METRICS = (
    ("train-sl-policy", "test/accuracy"),
    ("train-rl-policy", "win_rate/sl_policy"),
    ("train-value-network", "test/mse"),
)
Parts = tuple[bool, bool, bool]


def ratings(result: StageResult) -> list[Bar]:
    """The rated players, the strongest first; none when the file is gone."""
    path = Path(result.folder) / "ratings.csv"
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [Bar(r["program"], float(r["elo"]), float(r["lower"]), float(r["upper"])) for r in rows]


def tournament(chosen: Chosen) -> Section:
    """Fig. 4 and the cross-tables: our players, then the paper's."""
    result = chosen.last(STAGE)
    pictures = [Picture("Paper, Fig. 4a: programs, 5 s a move", svg=_paper_bars(paper.PROGRAMS))]
    if result is None:
        return Section("Tournament", "Fig. 4, ED Tables 6 and 9", missing(chosen, STAGE), tuple(pictures))
    size, komi = result.board_size, result.params.get("komi")
    ours = elo_bars(ratings(result), "Elo ratings of our players")
    pictures.insert(0, Picture(f"Ours: {size}x{size}, komi {komi:g}, with 95% intervals", svg=ours))
    return Section(
        "Tournament", "Fig. 4, ED Tables 6 and 9", paragraphs(result.summary, BAR_NOTE), tuple(pictures)
    )


def _paper_bars(rated: tuple[paper.Rated, ...] | tuple[paper.Variant, ...]) -> str:
    return elo_bars([Bar(one.name, one.elo) for one in rated], "Elo ratings of the paper")


def variants(chosen: Chosen) -> Section:
    """ED Table 7: every combination of parts, with our players made of the same, of the experiment if run."""
    result = chosen.experiments.get(VARIANTS) or chosen.last(STAGE)
    ours = players_by_parts(result) if result else {}
    head = ["policy network", "value network", "rollouts", "paper: Elo", "ours: Elo", "our player"]
    rows = []
    for variant in paper.VARIANTS:
        bars = ours.get(variant.parts, [])
        marks = ["yes" if part else "-" for part in variant.parts]
        elo = ", ".join(f"{bar.elo:.0f}" for bar in bars) or None
        rows.append([*marks, variant.elo, elo, ", ".join(bar.name for bar in bars) or None])
    absent = [v for v in paper.VARIANTS if v.parts not in ours]
    how = f"{missing(chosen, VARIANTS, 'The whole table')} Until then it shows the tournament's players."
    text = paragraphs(
        table(head, rows, left=3),
        how if absent else "",
        "### The paper's games between these variants (ED Table 9)",
        table(
            ["", *paper.VARIANT_NAMES],
            [[name, *row] for name, row in zip(paper.VARIANT_NAMES, paper.VARIANT_GAMES, strict=True)],
        ),
        "Percent of games that the column won against the row [95% interval]; r: rollouts, v: value network, "
        "p: policy network. What their table calls Agresti-Coull are Wilson intervals.",
    )
    drawn = Picture("Paper, Fig. 4b: parts of AlphaGo", svg=_paper_bars(paper.VARIANTS))
    return Section("Parts of the search", "ED Table 7, Fig. 4b", text, (drawn,))


def players_by_parts(result: StageResult) -> dict[Parts, list[Bar]]:
    """Our rated players by what they are made of, as the rows of ED Table 7 are."""
    found: dict[Parts, list[Bar]] = {}
    rated = {bar.name: bar for bar in ratings(result)}
    for name, spec in result.params.get("players", {}).items():
        parts = parts_of(spec)
        if parts and name in rated:
            found.setdefault(parts, []).append(rated[name])
    return found


def parts_of(spec: str) -> Parts | None:
    """(policy network, value network, rollouts) of a player's line; None for what ED Table 7 knows not."""
    try:
        parsed = parse_spec(spec)
    except UserError:
        return None
    words = parsed.arguments
    if parsed.kind == "policy":
        reinforced = "rl" in re.split(r"[-_@/]", words.get("policy", ""))  # the paper's is the SL policy
        return None if reinforced else (True, False, False)
    if parsed.kind != "search":
        return None
    if not words:
        return True, True, True
    mixing = float(words.get("lambda", words.get("mixing", "0.5")))  # the weight of rollouts
    value = "value" in words and mixing < 1
    rollouts = ("rollout" in words or words.get("rollouts") == "1" or "value" not in words) and mixing > 0
    return "policy" in words, value, rollouts


def progress(chosen: Chosen) -> Section:
    """All pipelines of this home on the same board, oldest first: whether a change of ours helped."""
    runs = [run for run in pipelines() if run.newest.board_size == chosen.newest.board_size]
    if not runs:
        return Section("Progress over pipeline runs", "", missing(chosen, PIPELINE))
    rows: list[list[Any]] = []
    bars = []
    for run in runs:
        result = run.last(STAGE)
        best = max(_own(result), key=lambda bar: bar.elo, default=None) if result else None
        sl, rl, mse = (run.metric(*name) for name in PROGRESS_METRICS)
        if best:
            bars.append(best._replace(name=f"{run.name}: {best.name}"))
        rows.append(
            [
                run.name,
                run.newest.finished[:16].replace("T", " "),
                run.newest.profile,
                (run.newest.git_commit or run.newest.code)[:SHORT_COMMIT],
                *(percent(sl), percent(rl), None if mse is None else f"{mse:.3f}"),
                *((best.name, f"{best.elo:.0f}") if best else (None, None)),
            ]
        )
    head = ["pipeline", "finished (UTC)", "profile", "code", "SL: moves %", "RL: wins %", "value: MSE"]
    told = "Each tournament has its own anchor and opponents: Elo compare as far as these are the same."
    drawn = Picture("The strongest player of each pipeline", svg=elo_bars(bars, "Elo by pipeline"))
    text = paragraphs(table([*head, "strongest", "Elo"], rows, left=4), told)
    return Section("Progress over pipeline runs", "", text, (drawn,) if bars else ())


def _own(result: StageResult) -> list[Bar]:
    """The rated players that are no guests."""
    return [bar for bar in ratings(result) if bar.name in result.params.get("players", {})]


def scaling(chosen: Chosen) -> Section:
    """ED Table 8 and Fig. 4c: the paper's, then the rates, and ratings if any, of our own machine."""
    rows: list[list[Any]] = [[f"{n} threads, 48 CPUs, 8 GPUs", elo] for n, elo in paper.THREADS.items()]
    rows += [[f"40 threads, 48 CPUs, {n} GPUs", elo] for n, elo in paper.GPUS.items() if n < max(paper.GPUS)]
    rows += [[f"distributed, {n} threads", elo] for n, elo in paper.DISTRIBUTED.items()]
    result = chosen.experiments.get(SCALING)
    text = paragraphs(
        kept_text(result, "scaling.md") if result else missing(chosen, SCALING, "Our table"),
        table(["search", "paper: Elo"], rows),
    )
    pictures = kept_pictures(result, {"scaling.png": "More search threads"}) if result else ()
    return Section("Scaling of the search", "ED Table 8, Fig. 4c", text, pictures)
