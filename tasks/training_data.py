"""The data sets of the two trainings, opened and checked."""

from __future__ import annotations

from pathlib import Path

from datasets.loader import PositionLoader, ValueLoader
from datasets.store import DatasetError
from tasks import distributed
from tasks.errors import UserError
from tasks.params import TrainingParams, TrainSlPolicyParams, TrainValueNetworkParams

EVALUATION_BATCH = 256


def open_positions(params: TrainSlPolicyParams, folder: Path, split: str) -> PositionLoader:
    """Positions with the experts' moves; each process gets its own share of the training split.

    Training positions come in all eight symmetries, held-out ones as they were played. Raises UserError.
    """
    training = split == "train"
    try:
        loader = PositionLoader(
            folder,
            batch_size=share_of_batch(params) if training else EVALUATION_BATCH,
            seed=params.seed,
            split=split,
            planes=params.planes,
            symmetries=training,
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
