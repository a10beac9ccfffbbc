"""The data sets of the two trainings, opened and checked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import numpy as np

from datasets.loader import Batch, PositionLoader, ValueLoader
from datasets.schemas import VALUE_PLANES
from datasets.store import DatasetError
from tasks import distributed
from tasks.errors import UserError
from tasks.params import TrainingParams, TrainSlPolicyParams, TrainValueNetworkParams

EVALUATION_BATCH = 256


class OutcomeLoader(Protocol):
    """Positions with the outcome of their game."""

    rows: int

    def batches(self, start: int = 0) -> Iterator[Batch]: ...

    def iterate_once(self, limit: int | None = None) -> Iterator[Batch]: ...


def open_positions(
    params: TrainSlPolicyParams, folder: Path, split: str, plain: bool = False
) -> PositionLoader:
    """Positions with the experts' moves; each process gets its own share of the training split.

    Training positions come in all eight symmetries unless `plain`, held-out ones as they were played. Raises
    UserError.
    """
    training = split == "train"
    try:
        loader = PositionLoader(
            folder,
            batch_size=share_of_batch(params) if training else EVALUATION_BATCH,
            seed=params.seed,
            split=split,
            planes=params.planes,
            symmetries=training and not plain,
            rank=distributed.rank() if training else 0,
            world_size=distributed.world() if training else 1,
            threads=distributed.thread_count(params.threads),
        )
    except DatasetError as error:
        raise UserError(str(error)) from error
    check(loader, params, folder, split)
    return loader


def open_values(params: TrainValueNetworkParams, folder: Path, split: str) -> ValueLoader:
    """Positions with the outcome of their game, one of each game; as `open_positions`."""
    training = split == "train"
    try:
        loader = ValueLoader(
            folder,
            batch_size=share_of_batch(params) if training else EVALUATION_BATCH,
            seed=params.seed,
            split=split,
            symmetries=training and params.augment,
            rank=distributed.rank() if training else 0,
            world_size=distributed.world() if training else 1,
        )
    except DatasetError as error:
        raise UserError(str(error)) from error
    check(loader, params, folder, split)
    return loader


def open_outcomes(params: TrainValueNetworkParams, folder: Path, split: str) -> OutcomeLoader:
    """All positions of recorded games with their games' outcomes, as `open_values` gives one of each game.

    Positions of games without a known outcome are left out of the batches, which are smaller then.
    """
    training = split == "train"
    try:
        loader = PositionLoader(
            folder,
            batch_size=share_of_batch(params) if training else EVALUATION_BATCH,
            seed=params.seed,
            split=split,
            planes=VALUE_PLANES,
            symmetries=training and params.augment,
            rank=distributed.rank() if training else 0,
            world_size=distributed.world() if training else 1,
            threads=distributed.thread_count(params.threads),
        )
    except DatasetError as error:
        raise UserError(str(error)) from error
    check(loader, params, folder, split)
    return KnownOutcomes(loader)


class KnownOutcomes:
    """A loader's batches without the rows whose outcome is not known; a batch of none is passed over."""

    def __init__(self, loader: PositionLoader) -> None:
        self.rows = loader.rows
        self._loader = loader

    def batches(self, start: int = 0) -> Iterator[Batch]:
        return self._known(self._loader.batches(start))

    def iterate_once(self, limit: int | None = None) -> Iterator[Batch]:
        return self._known(self._loader.iterate_once(limit))

    @staticmethod
    def _known(batches: Iterator[Batch]) -> Iterator[Batch]:
        for batch in batches:
            known = ~np.isnan(batch.outcomes)
            if known.all():
                yield batch
            elif known.any():
                yield Batch(batch.planes[known], batch.moves[known], batch.outcomes[known])


def share_of_batch(params: TrainingParams) -> int:
    """Rows of a batch for each process. Raises UserError when they cannot share it evenly."""
    world = distributed.world()
    if params.batch_size % world:
        raise UserError(f"batch_size {params.batch_size} is not a multiple of the {world} processes")
    return params.batch_size // world


def check(loader: PositionLoader | ValueLoader, params: TrainingParams, folder: Path, split: str) -> None:
    """Raise UserError for another board size, or for training data of no rows."""
    if loader.size != params.board_size:
        asked = f"board_size {params.board_size} was asked for"
        raise UserError(f"{folder}: positions of a {loader.size}x{loader.size} board, but {asked}")
    if split == "train" and loader.rows == 0:
        raise UserError(f"{folder}: no rows to train on")
