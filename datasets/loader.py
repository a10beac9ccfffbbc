"""Batches for training: shuffled over the whole dataset, resumable to the batch, bounded in memory.

Every epoch the row groups are drawn in a new order and read in blocks; a block's rows are shuffled as a
whole. The stream of rows, and so batch i, depends on nothing but the dataset, the seed, the rank and i.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from go_engine import symmetry

from .layout import Examples, RowSource, ValuesOnDisk, open_positions
from .order import Block, BlockOrder
from .positions import UNKNOWN_OUTCOME
from .prefetch import in_background
from .records import SYMMETRIES
from .schemas import POLICY_PLANES, VALUE_PLANES, packed_bytes
from .store import ROW_GROUP, DatasetError, Location

BUFFER_ROWS = 131_072  # rows shuffled together: 284 MB on 19x19; two such blocks are held
ROWS_AT_ONCE = 256  # small batches are unpacked together, so many rows at a time


@dataclass(frozen=True, slots=True)
class Batch:
    """B rows: planes uint8[B, C, N, N], moves int64[B] (-1: none), outcomes float32[B] (NaN: not known)."""

    planes: NDArray[np.uint8]
    moves: NDArray[np.int64]
    outcomes: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.moves)

    def cut(self, parts: int) -> list[Batch]:
        """The same rows as so many batches of equal size (views)."""
        size = len(self) // parts
        cuts = [slice(n * size, (n + 1) * size) for n in range(parts)]
        return [Batch(self.planes[cut], self.moves[cut], self.outcomes[cut]) for cut in cuts]


class _Loader:
    """What both loaders share. `planes`: the first so many of the dataset's; 49 adds the colour to move."""

    def __init__(
        self,
        source: RowSource,
        batch_size: int,
        seed: int,
        planes: int,
        start_batch: int,
        rank: int,
        world_size: int,
        buffer_rows: int,
        turn: bool,
    ) -> None:
        if batch_size < 1 or start_batch < 0 or not 0 <= rank < world_size:
            raise ValueError(
                f"batch size {batch_size}, start {start_batch}, rank {rank} of {world_size}: out of range"
            )
        if not 1 <= planes <= VALUE_PLANES:
            raise ValueError(f"planes {planes} is outside 1 to {VALUE_PLANES}")
        self.source, self.batch_size, self.planes = source, batch_size, planes
        self.start_batch, self.turn = start_batch, turn
        self.groups_per_block = max(1, buffer_rows // ROW_GROUP)
        self.order = BlockOrder(source.group_rows, self.groups_per_block, seed, rank, world_size)
        self.size = source.size
        self.rows = int(source.group_rows.sum())
        self.row_bytes = packed_bytes(source.planes, source.size)

    def __iter__(self) -> Iterator[Batch]:
        return self.batches(self.start_batch)

    def batches(self, start: int = 0) -> Iterator[Batch]:
        """Batches start, start + 1, ... without end, made in a background thread."""
        groups, processes = len(self.source.group_rows), self.order.world_size
        if groups < processes:
            raise DatasetError(f"only {groups} row groups for {processes} processes")
        batches = in_background(lambda: self._stream(start * self.batch_size))
        return (batch for several in batches for batch in several)

    def iterate_once(self, limit: int | None = None) -> Iterator[Batch]:
        """All rows once in the dataset's order, or `limit` of them; the last batch may be smaller.

        These come from row groups that lie evenly over the dataset, not from its first games alone.
        """
        return in_background(lambda: self._sequence(self.rows if limit is None else min(limit, self.rows)))

    def _sequence(self, limit: int) -> Iterator[Batch]:
        pending: list[Examples] = []
        held = 0
        for group in _spread(self.source.group_rows, limit):
            found = _take(self.source.read(group), slice(0, limit))
            limit -= len(found.moves)
            pending.append(found)
            held += len(found.moves)
            if held >= self.batch_size or limit <= 0:
                joined = _concatenate(pending)
                whole = held if limit <= 0 else held - held % self.batch_size
                for first in range(0, whole, self.batch_size):
                    yield self._batch(_take(joined, slice(first, min(first + self.batch_size, whole))))
                pending, held = [_take(joined, slice(whole, held))], held - whole
        if held:
            yield self._batch(_concatenate(pending))

    def _stream(self, skip: int) -> Iterator[list[Batch]]:
        """The endless stream of batches, `skip` rows in, several at a time where they are small."""
        several = max(1, ROWS_AT_ONCE // self.batch_size)
        wanted = several * self.batch_size
        waiting: list[Examples] = []
        held = 0
        for block, order in self._blocks(skip):
            first = 0
            while first < len(order):
                count = min(wanted - held, len(order) - first)
                waiting.append(_take(block, order[first : first + count]))
                held, first = held + count, first + count
                if held == wanted:
                    yield self._batch(_concatenate(waiting)).cut(several)
                    waiting, held = [], 0

    def _blocks(self, skip: int) -> Iterator[tuple[Examples, NDArray[np.int64]]]:
        """Blocks in order with the order of their rows, the next one being read meanwhile.

        Two buffers take turns: when a block is asked for, the one before the last is done with.
        """
        buffers: list[NDArray[np.uint8]] = []
        with ThreadPoolExecutor(1) as reader:
            ahead: Future[tuple[Examples, NDArray[np.int64]]] | None = None
            for turn, block in enumerate(self.order.blocks(skip)):
                if turn < 2:
                    buffers.append(np.empty((self._block_rows(), self.row_bytes), np.uint8))
                following = reader.submit(self._read_block, block, buffers[turn % 2])
                if ahead is not None:
                    yield ahead.result()
                ahead = following

    def _block_rows(self) -> int:
        """Rows of the largest block."""
        return min(self.rows, self.groups_per_block * ROW_GROUP)

    def _read_block(self, block: Block, buffer: NDArray[np.uint8]) -> tuple[Examples, NDArray[np.int64]]:
        """A block's rows, its planes in `buffer`, and the order in which they are to be taken."""
        parts, filled = [], 0
        for group in np.sort(block.groups):
            part = self.source.read(int(group))
            rows = len(part.moves)
            buffer[filled : filled + rows] = part.planes
            part.planes = buffer[filled : filled + rows]
            parts.append(part)
            filled += rows
        examples = Examples(
            buffer[:filled],
            np.concatenate([part.moves for part in parts]),
            np.concatenate([part.outcomes for part in parts]),
            np.concatenate([part.to_play for part in parts]),
        )
        rng = self.order.generator(block)
        order = rng.permutation(filled)
        if self.turn:
            _turn(examples, self.size, self.source.planes, rng)
        return examples, order[block.drop :]

    def _batch(self, examples: Examples) -> Batch:
        points = self.size * self.size
        planes = min(self.planes, self.source.planes)
        bits = np.unpackbits(examples.planes, axis=1, count=planes * points)
        unpacked = bits.reshape(-1, planes, self.size, self.size)
        if self.planes > self.source.planes:
            colour = np.broadcast_to(
                (examples.to_play > 0)[:, None, None, None], (len(bits), 1, self.size, self.size)
            )
            unpacked = np.concatenate([unpacked, colour.astype(np.uint8)], axis=1)
        outcomes = examples.outcomes.astype(np.float32)
        outcomes[examples.outcomes == UNKNOWN_OUTCOME] = np.nan
        return Batch(unpacked, examples.moves.astype(np.int64), outcomes)


class PositionLoader(_Loader):
    """Batches of positions from a folder of `positions`, or the same ones computed from a folder of `games`.

    Iterates without end from batch `start_batch`. `symmetries` False takes only the board as it was played.
    `buffer_rows`: rows shuffled together; `threads`: of the engine, for a folder of games.
    """

    def __init__(
        self,
        folder: Location,
        batch_size: int,
        seed: int = 0,
        split: str = "train",
        planes: int = POLICY_PLANES,
        symmetries: bool = True,
        start_batch: int = 0,
        rank: int = 0,
        world_size: int = 1,
        buffer_rows: int = BUFFER_ROWS,
        threads: int = 1,
    ) -> None:
        source = open_positions(folder, split, symmetries, threads)
        super().__init__(source, batch_size, seed, planes, start_batch, rank, world_size, buffer_rows, False)


class ValueLoader(_Loader):
    """Batches of a value set, 49 planes. `symmetries`: every row in a symmetry drawn anew each epoch."""

    def __init__(
        self,
        folder: Location,
        batch_size: int,
        seed: int = 0,
        split: str = "train",
        planes: int = VALUE_PLANES,
        symmetries: bool = True,
        start_batch: int = 0,
        rank: int = 0,
        world_size: int = 1,
        buffer_rows: int = BUFFER_ROWS,
    ) -> None:
        source = ValuesOnDisk(folder, split)
        super().__init__(
            source, batch_size, seed, planes, start_batch, rank, world_size, buffer_rows, symmetries
        )


def _spread(group_rows: NDArray[np.int64], limit: int) -> list[int]:
    """The groups to read for `limit` rows: as few as hold them, evenly over the dataset, in its order."""
    if limit <= 0:
        return []
    count = max(1, limit // int(group_rows.max()))
    while True:
        chosen = np.linspace(0, len(group_rows), min(count, len(group_rows)), endpoint=False).astype(np.int64)
        if count >= len(group_rows) or group_rows[chosen].sum() >= limit:
            return [int(group) for group in chosen]
        count += 1


def _take(examples: Examples, rows: NDArray[np.int64] | slice) -> Examples:
    return Examples(
        examples.planes[rows], examples.moves[rows], examples.outcomes[rows], examples.to_play[rows]
    )


def _concatenate(parts: list[Examples]) -> Examples:
    if len(parts) == 1:
        return parts[0]
    return Examples(
        np.concatenate([part.planes for part in parts]),
        np.concatenate([part.moves for part in parts]),
        np.concatenate([part.outcomes for part in parts]),
        np.concatenate([part.to_play for part in parts]),
    )


def _turn(examples: Examples, size: int, planes: int, rng: np.random.Generator) -> None:
    """Turns every row, in place, by a random one of the eight symmetries; rows must be without moves."""
    chosen = rng.integers(0, SYMMETRIES, len(examples.moves))
    packed = examples.planes
    for k in range(1, SYMMETRIES):
        rows = np.flatnonzero(chosen == k)
        for first in range(0, len(rows), ROW_GROUP):
            part = rows[first : first + ROW_GROUP]
            bits = np.unpackbits(packed[part], axis=1, count=planes * size * size)
            turned = symmetry(bits.reshape(-1, planes, size, size), k).reshape(len(part), -1)
            packed[part] = np.packbits(turned, axis=1)
