"""Instruments for looking into a training before it is trusted with weeks.

`overfit_batch` shows whether network, loss and optimiser fit together at all, `sweep_learning_rate` where the
learning rate should lie, `row_text` what the network is really shown, `checkpoint_text` what a file holds.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path

import matplotlib
import numpy as np
import torch
from matplotlib.figure import Figure

from models.checkpoint import load_checkpoint, read_header
from models.describe import describe
from models.networks import Network, PolicyNet, ValueNet
from tasks import distributed
from tasks.batches import Batch, BatchSource
from tasks.errors import UserError
from tasks.objectives import Objective, policy_objective, value_objective
from tasks.params import TrainingParams, TrainSlPolicyParams, TrainValueNetworkParams
from tasks.reporting import NullReporter, Reporter
from tasks.trainer import train
from tasks.training_data import open_positions, open_values
from tasks.training_state import Point

matplotlib.use("Agg")

MAIN_METRIC = {"policy": "loss", "value": "mse"}
TAIL_SHARE = 0.2  # a rate is judged by its mean loss over the last fifth of its steps

PLANE_GROUPS = (
    ("stones (own, opponent's, none)", 3),
    ("ones", 1),
    ("turns since the stone was played 1..8", 8),
    ("liberties of the chain 1..8", 8),
    ("stones captured 1..8", 8),
    ("own stones put into atari 1..8", 8),
    ("liberties after the move 1..8", 8),
    ("ladder capture", 1),
    ("ladder escape", 1),
    ("sensible moves", 1),
    ("zeros", 1),
    ("player is Black", 1),
)


@dataclass(frozen=True)
class Subject:
    """What is trained: how to make it anew, what for, and the data."""

    params: TrainingParams
    objective: Objective
    source: BatchSource
    metric: str

    def fresh(self) -> Network:
        """The untrained network of the parameters' seed."""
        torch.manual_seed(self.params.seed)
        given = self.params
        if isinstance(given, TrainValueNetworkParams):
            return ValueNet(given.board_size, filters=given.filters, layers=given.layers, hidden=given.hidden)
        assert isinstance(given, TrainSlPolicyParams)
        return PolicyNet(given.board_size, given.planes, given.filters, given.layers)

    def trained(self, params: TrainingParams, source: BatchSource, run: Reporter) -> list[Point]:
        """The curves of a training of a fresh network; nothing is left on disk."""
        with tempfile.TemporaryDirectory() as folder, distributed.torch_threads(params.threads):
            return train(self.fresh(), self.objective, source, params, Path(folder), run).history


def subject(params: TrainingParams, data: Path) -> Subject:
    """The training that `params` describe, on a folder of positions, games or values. Raises UserError."""
    if isinstance(params, TrainValueNetworkParams):
        return Subject(params, value_objective, open_values(params, data, "train"), MAIN_METRIC["value"])
    assert isinstance(params, TrainSlPolicyParams)
    return Subject(params, policy_objective, open_positions(params, data, "train"), MAIN_METRIC["policy"])


def overfit_batch(about: Subject, steps: int, run: Reporter) -> list[Point]:
    """Train on the first batch alone, again and again; the loss of a sound set-up goes to almost nothing."""
    batch = next(about.source.batches())
    params = about.params.model_copy(update={"steps": steps, "log_every": 1, "checkpoint_every": steps})
    return about.trained(params, Repeated(batch), run)


@dataclass(frozen=True)
class Repeated:
    """A source that knows one batch."""

    batch: Batch

    def batches(self, start: int = 0) -> Iterator[Batch]:  # noqa: ARG002  all batches are alike
        return repeat(self.batch)


@dataclass(frozen=True)
class SweepResult:
    """What `sweep_learning_rate` found; the loss is infinite where the training diverged."""

    metric: str
    losses: dict[float, float]

    @property
    def best(self) -> float:
        return min(self.losses, key=lambda rate: self.losses[rate])

    def text(self) -> str:
        """A table, the best rate marked."""
        lines = [f"{'learning rate':>13}  {self.metric:>8}"]
        for rate, loss in self.losses.items():
            told = f"{loss:8.4f}" if np.isfinite(loss) else "diverged"
            lines.append(f"{rate:13.3g}  {told}{'  best' if rate == self.best else ''}")
        return "\n".join(lines)

    def figure(self) -> Figure:
        figure = Figure(figsize=(5, 3.6), layout="constrained")
        axes = figure.subplots()
        finite = {rate: loss for rate, loss in self.losses.items() if np.isfinite(loss)}
        axes.semilogx(list(finite), list(finite.values()), marker="o")
        axes.set_xlabel("learning rate")
        axes.set_ylabel(f"{self.metric} at the end")
        axes.grid(alpha=0.3)
        return figure


def sweep_learning_rate(about: Subject, rates: Sequence[float], steps: int, run: Reporter) -> SweepResult:
    """Train a fresh network for `steps` steps with each rate, all on the same batches in the same order."""
    losses: dict[float, float] = {}
    for index, rate in enumerate(sorted(rates)):
        update = {"learning_rate": rate, "steps": steps, "log_every": 1, "checkpoint_every": steps}
        try:
            curve = about.trained(about.params.model_copy(update=update), about.source, NullReporter())
            tail = curve[-max(1, round(steps * TAIL_SHARE)) :]
            losses[rate] = float(np.mean([point[about.metric] for point in tail]))
        except UserError:  # the loss left the finite numbers
            losses[rate] = float("inf")
        run.progress(index + 1, len(rates), f"rate {rate:.3g}: {about.metric} {losses[rate]:.4f}")
    return SweepResult(about.metric, losses)


def training_row(about: Subject, number: int) -> str:
    """Row `number` (0-based, in the order of training) as a board; see `row_text`."""
    batches = about.source.batches()
    seen = 0
    for batch in batches:
        if number < seen + len(batch.moves):
            return row_text(batch, number - seen)
        seen += len(batch.moves)
    raise AssertionError("the source of batches never ends")


def row_text(batch: Batch, row: int) -> str:
    """One row as a diagram: X the player to move, O the opponent, the move to learn in brackets.

    Below stand the outcome and, for each group of planes, how many points it marks.
    """
    planes = batch.planes[row]
    size, move = planes.shape[-1], int(batch.moves[row])
    marks = np.full((size, size), ".", dtype="<U1")
    marks[planes[0] > 0] = "X"
    if len(planes) > 1:
        marks[planes[1] > 0] = "O"
    lines = []
    for line, points in enumerate(marks):
        cells = [
            f"[{mark}]" if line * size + column == move else f" {mark} " for column, mark in enumerate(points)
        ]
        lines.append("".join(cells).rstrip())
    lines.append(f"outcome for the player to move: {batch.outcomes[row]:+.0f}")
    lines += [f"{name}: {text}" for name, text in plane_summary(planes)]
    return "\n".join(lines)


def plane_summary(planes: np.ndarray) -> Iterator[tuple[str, str]]:
    """(name, how many points each of its planes marks) of every group of planes in ED Table 2."""
    first = 0
    for name, count in PLANE_GROUPS:
        part = planes[first : first + count]
        if len(part):
            yield name, " ".join(str(int(plane.sum())) for plane in part)
        first += count


def checkpoint_text(path: Path) -> str:
    """A checkpoint's layers, sizes and costs, and what its maker wrote into it. Raises CheckpointError."""
    extra = read_header(path)["extra"]
    notes = [f"{name}: {value}" for name, value in extra.items()]
    return "\n".join([describe(load_checkpoint(path)).text(), *notes])
