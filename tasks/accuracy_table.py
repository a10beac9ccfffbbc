"""The harness of ED Table 3: policy networks of several sizes and inputs, scored with several ensembles.

Each network is trained as stage 3 trains it, in a folder of its own; one that is there already is loaded.
Then each plays against one of them, which gives Fig. 2a: strength against accuracy.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from models.checkpoint import load_policy
from models.evaluators import PolicyEvaluator
from models.networks import PolicyNet
from tasks import paper
from tasks.accuracy_matches import Member, wins_against
from tasks.digests import path_digest
from tasks.distributed import pick_device, torch_threads
from tasks.evaluation import score_policy
from tasks.params import AccuracyTableParams, ComputeParams, GridPoint, TrainSlPolicyParams
from tasks.prefixed import PrefixedReporter
from tasks.reporting import Reporter
from tasks.train_sl_policy import CHECKPOINT, run_train_sl_policy
from tasks.training_data import open_positions
from tasks.training_plots import strength_plot

TABLE, STRENGTH = "accuracy.md", "strength.png"
TIMED_EVALUATIONS = 20  # the forward time is the median of so many

PAPER = {(row.filters, row.symmetries, row.planes): row for row in paper.ACCURACY}


class Row(NamedTuple):
    """A line of the table: accuracies as shares, the time of one evaluation in milliseconds.

    `wins` is the share of games won against the reference with its 95% interval, None if there were none.
    """

    filters: int
    symmetries: int
    planes: int
    test: float
    train: float
    milliseconds: float
    wins: tuple[float, float, float] | None = None

    @property
    def member(self) -> Member:
        return self.filters, self.symmetries, self.planes


def run_accuracy_table(
    params: AccuracyTableParams, inputs: dict[str, Path], folder: Path, run: Reporter
) -> dict[str, Any]:
    """Train or load every network of the grid on inputs["positions"], score it, write the table to `folder`.

    Raises UserError as stage 3 does.
    """
    rows: list[Row] = []
    nets: dict[Member, PolicyNet] = {}
    for number, point in enumerate(params.grid):
        net = trained(params, point, inputs, folder / folder_name(point), run)
        nets |= {(point.filters, symmetries, point.planes): net for symmetries in params.ensembles}
        with torch_threads(params.threads):
            rows += scored(net, params, inputs["positions"])
        for row in rows[-len(params.ensembles) :]:
            name = f"{folder_name(point)}/test_accuracy_{row.symmetries}"
            run.log_metrics({name: row.test})
        run.progress(number + 1, len(params.grid), folder_name(point))
    if params.games and len(nets) > 1:
        rows = with_wins(rows, nets, params, folder, run)
    text = table(rows)
    (folder / TABLE).write_text(text, encoding="utf-8")
    run.log_text(TABLE, text)
    best = max(rows, key=lambda row: row.test)
    what = f"{best.filters} filters, {best.planes} planes, {best.symmetries} symmetries"
    return {
        "outputs": {"accuracy": {"path": folder / TABLE, "kind": "artifact"}},
        "metrics": {"test/best_accuracy": best.test},
        "summary": f"most of the held-out moves, {best.test:.1%}, with {what}",
    }


def with_wins(
    rows: list[Row], nets: dict[Member, PolicyNet], params: AccuracyTableParams, folder: Path, run: Reporter
) -> list[Row]:
    """The rows with the games against the reference, which are also plotted."""
    alike = [member for member in nets if (member[0], member[2]) == (params.filters, params.planes)]
    reference = (alike or list(nets))[0]
    digests = [path_digest(folder / folder_name(point) / CHECKPOINT) for point in params.grid]
    wins = wins_against(reference, nets, digests, params, folder, run)
    rows = [row._replace(wins=wins.get(row.member)) for row in rows]
    points = [(100 * row.test, *(100 * share for share in row.wins)) for row in rows if row.wins]
    at = next(100 * row.test for row in rows if row.member == reference)
    run.log_figure(STRENGTH, strength_plot(points, at))
    return rows


def folder_name(point: GridPoint) -> str:
    return f"filters-{point.filters}-planes-{point.planes}"


def trained(
    params: AccuracyTableParams, point: GridPoint, inputs: dict[str, Path], folder: Path, run: Reporter
) -> PolicyNet:
    """The network of a point of the grid: loaded if its folder holds it, else trained there."""
    if not (folder / CHECKPOINT).exists():
        given = params.model_dump(include=set(TrainSlPolicyParams.model_fields)) | point.model_dump()
        own = TrainSlPolicyParams.model_validate(given)
        run_train_sl_policy(own, inputs, folder, PrefixedReporter(run, folder.name))
    return load_policy(folder / CHECKPOINT, params.board_size)


def scored(net: PolicyNet, params: AccuracyTableParams, positions: Path) -> list[Row]:
    """The network's lines; the training accuracy is that on as many training positions as are held out."""
    own = TrainSlPolicyParams(board_size=params.board_size, planes=net.planes, seed=params.seed)
    held_out, training = (open_positions(own, positions, split, plain=True) for split in ("test", "train"))
    limit = params.evaluation.final_rows or held_out.rows
    rows = []
    for symmetries in params.ensembles:
        test, train = (
            score_policy(net, loader.iterate_once(limit), params.compute, symmetries).accuracy
            for loader in (held_out, training)
        )
        milliseconds = forward_milliseconds(net, params.compute, symmetries)
        rows.append(Row(net.filters, symmetries, net.planes, test, train, milliseconds))
    return rows


def forward_milliseconds(net: PolicyNet, compute: ComputeParams, symmetries: int) -> float:
    """Median time of evaluating one position."""
    evaluator = PolicyEvaluator(net, symmetries, compute.precision, device=str(pick_device(compute.device)))
    planes = np.zeros((1, net.planes, net.size, net.size), np.uint8)
    times = []
    for _ in range(TIMED_EVALUATIONS):
        started = time.perf_counter()
        evaluator.probabilities(planes)
        times.append(time.perf_counter() - started)
    return float(np.median(times)) * 1000


def table(rows: list[Row]) -> str:
    """The rows as Markdown, the paper's accuracies beside them where it has the same setting."""
    lines = [
        "| filters | symmetries | planes | test % | train % | wins % [95%] | ms/position "
        "| paper: test % | paper: train % | paper: wins % |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        theirs = PAPER.get((row.filters, row.symmetries, row.planes))
        beside = f"{theirs.test} | {theirs.train} | {theirs.raw_wins}" if theirs else " | | "
        wins = "{:.1%} [{:.1%}; {:.1%}]".format(*row.wins) if row.wins else ""
        lines.append(
            f"| {row.filters} | {row.symmetries} | {row.planes} | {row.test:.1%} | {row.train:.1%} | {wins} "
            f"| {row.milliseconds:.2f} | {beside} |".replace("%", "")
        )
    return "\n".join(lines) + "\n"
