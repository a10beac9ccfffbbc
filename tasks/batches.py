"""Batches on their way to the network: their shape, a process's share of one, reading ahead in a thread."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

READ_AHEAD = 3  # batches kept ready


class Batch(Protocol):
    """What `datasets.loader` yields. B rows on a board of N x N with C planes."""

    @property
    def planes(self) -> NDArray[np.uint8]:
        """uint8[B, C, N, N]."""

    @property
    def moves(self) -> NDArray[np.int64]:
        """int64[B], row * N + column."""

    @property
    def outcomes(self) -> NDArray[np.float32]:
        """float32[B], for the player to move: 1 won, -1 lost."""


class BatchSource(Protocol):
    """Training data: batch i depends only on the data, the seed and i, so that a training can be resumed."""

    def batches(self, start: int) -> Iterator[Batch]:
        """Batches start, start + 1, ... without end."""


class ArrangedBatch(NamedTuple):
    """A process's share of a batch, contiguous; planes [B, C, N, N], or [B, N, N, C] for channels_last."""

    planes: NDArray[np.uint8]
    moves: NDArray[np.int64]
    outcomes: NDArray[np.float32]


@dataclass(frozen=True)
class TensorBatch:
    """A batch as the network takes it: on the device, planes as float numbers [B, C, N, N]."""

    planes: torch.Tensor
    moves: torch.Tensor
    outcomes: torch.Tensor

    def __len__(self) -> int:
        return len(self.moves)


@dataclass(frozen=True)
class Placement:
    """Where batches go, and which share of each this process takes: rows rank, rank + world, ..."""

    device: torch.device
    dtype: torch.dtype
    channels_last: bool
    planes: int
    rank: int = 0
    world: int = 1

    def arrange(self, batch: Batch) -> ArrangedBatch:
        """This process's rows in the network's memory layout; in numpy alone, which suits a thread."""
        rows = slice(self.rank, None, self.world)
        planes = batch.planes[rows, : self.planes]
        if self.channels_last:
            planes = planes.transpose(0, 2, 3, 1)
        return ArrangedBatch(
            np.ascontiguousarray(planes),
            np.ascontiguousarray(batch.moves[rows]),
            np.ascontiguousarray(batch.outcomes[rows]),
        )

    def place(self, batch: ArrangedBatch) -> TensorBatch:
        """The same on the device, the planes as numbers."""
        planes, moves, outcomes = (torch.from_numpy(array).to(self.device) for array in batch)
        if self.channels_last:
            planes = planes.permute(0, 3, 1, 2)
        return TensorBatch(planes.to(self.dtype), moves, outcomes)


class ReadAhead:
    """Makes batches ready in a thread while the network works. Use as a context, so that the thread ends.

    `waited` is the time in seconds that the caller spent waiting for `next`.
    """

    def __init__(self, batches: Iterable[Batch], placement: Placement) -> None:
        self.waited = 0.0
        self._placement = placement
        self._queue: queue.Queue[ArrangedBatch | BaseException] = queue.Queue(READ_AHEAD)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._fill, args=(batches,), daemon=True)

    def __enter__(self) -> ReadAhead:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        while self._thread.is_alive():
            self._drain()
            self._thread.join(timeout=0.05)

    def next(self) -> TensorBatch:
        """The next batch; raises what the source raised, RuntimeError when it has no more."""
        started = time.perf_counter()
        item = self._queue.get()
        self.waited += time.perf_counter() - started
        if isinstance(item, BaseException):
            raise item
        return self._placement.place(item)

    def _fill(self, batches: Iterable[Batch]) -> None:
        try:
            for batch in batches:
                self._queue.put(self._placement.arrange(batch))
                if self._stop.is_set():
                    return
            self._queue.put(RuntimeError("the source of batches has ended"))
        except BaseException as error:  # handed to the caller, who raises it
            self._queue.put(error)

    def _drain(self) -> None:
        try:
            while True:
                self._queue.get_nowait()
        except queue.Empty:
            pass
