"""Batches on their way to the network: what a source of them is, and how they reach the device."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray


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
    """This process's training data; batch i depends only on the data, the seed and i."""

    def batches(self, start: int = 0) -> Iterator[Batch]:
        """Batches start, start + 1, ... without end."""


@dataclass(frozen=True)
class TensorBatch:
    """A batch as the network takes it: on the device, planes as float numbers [B, C, N, N]."""

    planes: torch.Tensor
    moves: torch.Tensor
    outcomes: torch.Tensor


@dataclass(frozen=True)
class Placement:
    """Where batches go and in which form."""

    device: torch.device
    dtype: torch.dtype
    channels_last: bool

    def place(self, batch: Batch) -> TensorBatch:
        layout = torch.channels_last if self.channels_last else torch.contiguous_format
        planes = torch.from_numpy(batch.planes).to(self.device)  # as bytes: a quarter of what floats would be
        return TensorBatch(
            planes.to(self.dtype, memory_format=layout),
            torch.from_numpy(batch.moves).to(self.device),
            torch.from_numpy(batch.outcomes).to(self.device),
        )


class TimedBatches:
    """Batches placed one by one; `waited` sums up the seconds that the source kept the caller waiting.

    A context: at its end the source is closed, so that no thread of it goes on.
    """

    def __init__(self, batches: Iterator[Batch], placement: Placement) -> None:
        self.waited = 0.0
        self._batches, self._placement = batches, placement

    def __enter__(self) -> TimedBatches:
        return self

    def __exit__(self, *_: object) -> None:
        if isinstance(self._batches, Generator):
            self._batches.close()

    def next(self) -> TensorBatch:
        started = time.perf_counter()
        batch = next(self._batches)
        self.waited += time.perf_counter() - started
        return self._placement.place(batch)
