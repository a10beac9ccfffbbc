"""From games as they were read to the games of a corpus: duplicates, handicap share, splits, files.

Works on tables of the games schema, one after the other in the corpus's order, and remembers no more of a
game than its digests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from .filters import HANDICAP_FROM

DUPLICATE = "duplicate"
TURNED_DUPLICATE = "duplicate up to symmetry"
HANDICAP_SHARE = "handicap share"
MAX_GAMES = "more games than wanted"


def handicap_mask(table: pa.Table) -> NDArray[np.bool_]:
    """Which games are handicap games (see `filters.handicap_stones`)."""
    written = pc.fill_null(pc.greater_equal(table["handicap"], HANDICAP_FROM), False).to_numpy()
    black = pc.list_value_length(table["black"]).to_numpy()
    white = pc.list_value_length(table["white"]).to_numpy()
    return np.asarray(written | ((black >= HANDICAP_FROM) & (white == 0)), np.bool_)


class Selector:
    """Decides game by game what is kept; `dropped` counts the rest by reason."""

    def __init__(self, up_to_symmetry: bool, max_handicap_share: float, max_games: int = 0) -> None:
        self.up_to_symmetry = up_to_symmetry
        self.max_handicap_share = max_handicap_share
        self.max_games = max_games
        self.seen: set[bytes] = set()
        self.seen_canonical: set[bytes] = set()
        self.games = self.handicap_games = self.positions = 0
        self.dropped: Counter[str] = Counter()

    def select(self, table: pa.Table) -> pa.Table:
        """The games of a table that are kept."""
        handicap = handicap_mask(table)
        keep = np.zeros(table.num_rows, np.bool_)
        rows = zip(table["id"].to_pylist(), table["canonical_id"].to_pylist(), strict=True)
        for number, (game, canonical) in enumerate(rows):
            reason = self._reason(bytes.fromhex(game), bytes.fromhex(canonical), bool(handicap[number]))
            if reason is None:
                keep[number] = True
            else:
                self.dropped[reason] += 1
        kept = table.filter(pa.array(keep))
        self.positions += int(pc.sum(kept["positions"]).as_py() or 0)
        return kept

    def _reason(self, game: bytes, canonical: bytes, handicap: bool) -> str | None:
        if game in self.seen:
            return DUPLICATE
        if canonical in self.seen_canonical and self.up_to_symmetry:
            return TURNED_DUPLICATE
        if self.max_games and self.games >= self.max_games:
            return MAX_GAMES
        if handicap and self.handicap_games + 1 > self.max_handicap_share * (self.games + 1):
            return HANDICAP_SHARE
        self.seen.add(game)
        self.seen_canonical.add(canonical)
        self.games += 1
        self.handicap_games += handicap
        return None


def split_and_cut(
    tables: Iterable[pa.Table], test_positions: int, games_per_file: int
) -> Iterator[tuple[str, pa.Table]]:
    """(split, games of one file): the test split of at least `test_positions` in whole games, and the rest.

    A game that is a test game turned or mirrored (left in where duplicates count only if exact) goes to the
    test split as well, so that the splits share nothing.
    """
    test_ids: set[str] = set()
    waiting: dict[str, list[pa.Table]] = {"test": [], "train": []}
    positions = 0
    for table in tables:
        counts = table["positions"].to_numpy().astype(np.int64)
        before = positions + np.cumsum(counts) - counts
        positions += int(counts.sum())
        first_train = int(np.searchsorted(before, test_positions)) if test_positions else 0
        if first_train:
            test_ids.update(table["canonical_id"].slice(0, first_train).to_pylist())
        for split, part in _parts(table, first_train, test_ids):
            waiting[split].append(part)
            if sum(held.num_rows for held in waiting[split]) >= games_per_file:
                joined = pa.concat_tables(waiting[split])
                whole = joined.num_rows - joined.num_rows % games_per_file
                for first in range(0, whole, games_per_file):
                    yield split, joined.slice(first, games_per_file)
                waiting[split] = [joined.slice(whole)] if whole < joined.num_rows else []
    for split, held in waiting.items():
        if held:
            yield split, pa.concat_tables(held)


def _parts(table: pa.Table, first_train: int, test_ids: set[str]) -> Iterator[tuple[str, pa.Table]]:
    """A table's games by split, each with its split written in."""
    test = np.arange(table.num_rows) < first_train
    canonical = table["canonical_id"].to_pylist()
    test |= np.array([name in test_ids for name in canonical], np.bool_)
    column = table.schema.get_field_index("split")
    for split, mask in (("test", test), ("train", ~test)):
        if mask.any():
            part = table.filter(pa.array(mask))
            values = pa.array([split] * part.num_rows, pa.string())
            yield split, part.set_column(column, table.schema.field(column), values)
