"""What a training's curves are made of: means over some steps, speed, time spent waiting for data."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor

from tasks.batches import TimedBatches
from tasks.training_state import Pending, Point


class Meter:
    """Sums over the steps since the last point; `pending` carries them over an interruption."""

    def __init__(self, batches: TimedBatches, pending: Pending) -> None:
        self._batches = batches
        self._steps, sums = pending
        self._sums: dict[str, Tensor | float] = dict(sums)
        self._timed_steps = 0
        self._started, self._waited = time.perf_counter(), batches.waited

    def add(self, watched: dict[str, Tensor]) -> None:
        """Note one step's means over its batch."""
        self._steps += 1
        self._timed_steps += 1
        for name, value in watched.items():
            self._sums[name] = self._sums.get(name, 0.0) + value.double()

    def pending(self) -> Pending:
        return self._steps, {name: float(total) for name, total in self._sums.items()}

    def point(self, step: int, rate: float, batch_size: int) -> Point:
        """The means and the speed since the last point; begins a new one."""
        means = {name: float(total) / self._steps for name, total in self._sums.items()}
        seconds = time.perf_counter() - self._started
        speed = {
            "learning_rate": rate,
            "positions_per_second": self._timed_steps * batch_size / seconds,
            "waiting_share": (self._batches.waited - self._waited) / seconds,
        }
        self._sums, self._steps, self._timed_steps = {}, 0, 0
        self._started, self._waited = time.perf_counter(), self._batches.waited
        return {"step": float(step), **means, **speed}

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Leave the time inside out of the speed."""
        before = time.perf_counter()
        yield
        self._started += time.perf_counter() - before


def note(point: Point) -> str:
    """A point in a few words, for the progress line."""
    name = "accuracy" if "accuracy" in point else "mse"
    return f"{name} {point[name]:.3f}, waiting {point['waiting_share']:.0%}"
