"""Small training data that lives in memory, and parameters that train on it in a moment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datasets.value import ValueRows, finish_value_set, write_value_shard
from tasks.params import (
    OptimizerParams,
    ParseGamesParams,
    TrainSlPolicyParams,
    TrainValueNetworkParams,
)
from tasks.parse_games import run_parse_games
from tasks.reporting import NullReporter

SIZE = 5
LETTERS = "abcde"


@dataclass(frozen=True)
class HeldBatch:
    """A batch in memory."""

    planes: NDArray[np.uint8]
    moves: NDArray[np.int64]
    outcomes: NDArray[np.float32]


class MemorySource:
    """The move to learn is the point of the first plane's single stone, the outcome the colour plane's sign.

    `before`, if set, is called with each batch's index before the batch is made. Of `world` processes each
    gets every world-th row, beginning with row `rank`.
    """

    def __init__(self, planes: int = 48, batch_size: int = 16, rank: int = 0, world: int = 1) -> None:
        self.planes, self.batch_size, self.rank, self.world = planes, batch_size, rank, world
        self.before: Any = None

    def batches(self, start: int = 0) -> Iterator[HeldBatch]:
        index = start
        while True:
            if self.before:
                self.before(index)
            yield self.batch(index)
            index += 1

    def batch(self, index: int) -> HeldBatch:
        generator = np.random.default_rng(index)
        moves = generator.integers(0, SIZE * SIZE, self.batch_size, dtype=np.int64)
        planes = np.zeros((self.batch_size, 49, SIZE, SIZE), np.uint8)
        planes[np.arange(self.batch_size), 0, moves // SIZE, moves % SIZE] = 1
        planes[:, 3] = 1
        black = generator.integers(0, 2, self.batch_size)
        planes[:, 48] = black[:, None, None]
        outcomes = (2 * black - 1).astype(np.float32)
        rows = slice(self.rank, None, self.world)
        return HeldBatch(planes[rows, : self.planes], moves[rows], outcomes[rows])


def policy_params(**given: Any) -> TrainSlPolicyParams:
    optimizer = OptimizerParams(momentum=0.9, nesterov=True, schedule="linear", warmup_steps=3)
    small: dict[str, Any] = {"board_size": SIZE, "filters": 8, "layers": 2, "batch_size": 16, "steps": 12}
    fast: dict[str, Any] = {"learning_rate": 0.05, "log_every": 1, "threads": 1, "optimizer": optimizer}
    return TrainSlPolicyParams(**(small | fast | given))


def value_params(**given: Any) -> TrainValueNetworkParams:
    shared = policy_params().model_dump(exclude={"planes"})
    return TrainValueNetworkParams(**(shared | {"hidden": 16} | given))


def write_positions(root: Path) -> Path:
    """A folder of positions: in its games both players fill the board line by line, from various points."""
    records = root / "records"
    records.mkdir(parents=True)
    for number in range(12):
        points = [(number + step) % (SIZE * SIZE) for step in range(12)]
        nodes = [f";{'BW'[n % 2]}[{LETTERS[p % SIZE]}{LETTERS[p // SIZE]}]" for n, p in enumerate(points)]
        (records / f"{number:02d}.sgf").write_text(f"(;GM[1]SZ[{SIZE}]RE[B+1]{''.join(nodes)})")
    params = ParseGamesParams(
        board_size=SIZE, min_rank=None, test_positions=24, max_test_share=0.5, threads=1
    )
    outputs = run_parse_games(params, {"games": records}, root, NullReporter())["outputs"]
    return root / str(outputs["positions"]["path"])


def write_values(folder: Path, rows: int = 60) -> Path:
    """A value set of two training shards and a held-out one, in which Black has won every game."""
    names = []
    for number, split in enumerate(("train", "train", "test")):
        rng = np.random.default_rng(number)
        to_play = rng.choice([1, -1], rows).astype(np.int8)
        planes = (rng.random((rows, 49, SIZE, SIZE)) < 0.2).astype(np.uint8)
        planes[:, 48] = (to_play == 1)[:, None, None]
        values = ValueRows(planes, to_play.copy(), to_play, np.full(rows, 7, np.int16), np.arange(rows))
        names.append(write_value_shard(str(folder), split, number, SIZE, values))
    finish_value_set(str(folder), SIZE, names)
    return folder
