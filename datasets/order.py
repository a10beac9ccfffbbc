"""The order in which training sees row groups: fixed by the seed, found again at any row.

Every epoch the groups are drawn in a new order and cut into blocks of about equal size, which the loader
reads whole and shuffles. Several processes take turns in that order, so each sees its own groups.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Block(NamedTuple):
    """Groups that are read and shuffled together; `drop` rows of the shuffled block are left out at its
    start.
    """

    epoch: int
    number: int
    groups: NDArray[np.int64]
    drop: int


class BlockOrder:
    """The endless sequence of blocks of one process. `group_rows`: rows of each group."""

    def __init__(
        self, group_rows: NDArray[np.int64], groups_per_block: int, seed: int, rank: int, world_size: int
    ) -> None:
        self.group_rows = group_rows
        self.groups_per_block = groups_per_block
        self.seed, self.rank, self.world_size = seed, rank, world_size

    def epoch_groups(self, epoch: int) -> NDArray[np.int64]:
        """This process's groups in this epoch's order; every process has equally many."""
        order = np.random.default_rng([self.seed, epoch]).permutation(len(self.group_rows))
        share = len(order) // self.world_size
        return order[self.rank :: self.world_size][:share].astype(np.int64)

    def blocks(self, skip: int) -> Iterator[Block]:
        """The blocks from row `skip` of the sequence on, without end."""
        epoch = 0
        while True:
            groups = self.epoch_groups(epoch)
            rows = self.group_rows[groups]
            if skip >= rows.sum():
                skip -= int(rows.sum())
            else:
                count = -(-len(groups) // self.groups_per_block)
                edges = np.linspace(0, len(groups), count + 1).astype(np.int64)
                for number in range(count):
                    part = slice(edges[number], edges[number + 1])
                    here = int(rows[part].sum())
                    if skip < here:
                        yield Block(epoch, number, groups[part], skip)
                    skip = max(0, skip - here)
            epoch += 1

    def generator(self, block: Block) -> np.random.Generator:
        """The source of a block's random choices."""
        return np.random.default_rng([self.seed, block.epoch, self.rank, block.number])
