"""Games to training rows: planes before every move that is no pass, in one or all eight symmetries.

The rows of a file of games have a fixed order, whether they are written to disk or computed when they are
wanted: game by game; within a game symmetry by symmetry, so that neighbours on disk are alike; then move by
move.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from go_engine import ReplayGame, replay_planes_games, symmetry_table

from .records import SYMMETRIES
from .schemas import packed_bytes, positions_schema
from .store import Location, TableWriter, locate

UNKNOWN_OUTCOME = -2
REPLAY_COLUMNS = ["id", "size", "black", "white", "to_play_first", "moves", "colours", "winner", "positions"]
ROWS_AT_ONCE = 8192  # rows computed at a time when writing


class GamesFile:
    """One parquet file of games in memory, as arrays that the engine can replay."""

    def __init__(self, place: Location) -> None:
        filesystem, path = locate(place)
        table = pq.read_table(path, columns=REPLAY_COLUMNS, filesystem=filesystem).combine_chunks()
        self.ids: list[str] = table["id"].to_pylist()
        self.size = int(table["size"][0].as_py()) if len(self.ids) else 0
        self.black, self.black_ends = _lists(table["black"])
        self.white, self.white_ends = _lists(table["white"])
        self.moves, self.move_ends = _lists(table["moves"])
        self.to_play_first = table["to_play_first"].to_numpy()
        self.winners = table["winner"].fill_null(UNKNOWN_OUTCOME).to_numpy()
        self.positions = table["positions"].to_numpy().astype(np.int64)
        written = table["colours"]
        self.written_colours = {
            int(game): np.array(written[int(game)].as_py(), np.int8)
            for game in np.flatnonzero(written.is_valid().to_numpy())
        }

    def __len__(self) -> int:
        return len(self.ids)

    def colours(self, game: int, count: int) -> NDArray[np.int8]:
        """The colours of a game's first `count` moves."""
        written = self.written_colours.get(game)
        if written is not None:
            return written[:count]
        colours = np.full(count, self.to_play_first[game], np.int8)
        colours[1::2] *= -1
        return colours

    def game_moves(self, game: int) -> NDArray[np.int16]:
        """All moves of a game, passes included."""
        return self.moves[self.move_ends[game] : self.move_ends[game + 1]]

    def stones(self, game: int) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
        """Black and white setup stones."""
        black = self.black[self.black_ends[game] : self.black_ends[game + 1]]
        return black, self.white[self.white_ends[game] : self.white_ends[game + 1]]


def _lists(column: pa.ChunkedArray) -> tuple[NDArray[np.int16], NDArray[np.int64]]:
    """A list column as all values and, for each row, where its values begin (one more than rows)."""
    lengths = np.concatenate([[0], column.combine_chunks().value_lengths().to_numpy(zero_copy_only=False)])
    values = column.combine_chunks().flatten().to_numpy(zero_copy_only=False)
    return values.astype(np.int16), np.cumsum(lengths).astype(np.int64)


@dataclass(slots=True)
class Rows:
    """Training rows. n rows: planes uint8[n, bytes] as bits, the rest one number a row."""

    planes: NDArray[np.uint8]
    moves: NDArray[np.int16]
    outcomes: NDArray[np.int8]  # for the player to move, UNKNOWN_OUTCOME if not known
    to_play: NDArray[np.int8]
    plies: NDArray[np.int16]
    symmetries: NDArray[np.int8]
    games: NDArray[np.int32]  # number of the game within its file


Piece = tuple[int, int, int]  # game, first row, end row, counted within the game


def compute_rows(file: GamesFile, pieces: Sequence[Piece], planes: int = 48, threads: int = 1) -> Rows:
    """The rows of pieces of games; row i of a game has symmetry i // positions and move i % positions."""
    table = symmetry_table(file.size)
    replays, order, columns, done = [], [], [], 0
    for game, start, stop in pieces:
        all_moves = file.game_moves(game)
        plies = np.flatnonzero(all_moves != file.size * file.size)
        rows = np.arange(start, stop)
        symmetries, plies = rows // len(plies), plies[rows % len(plies)]
        by_ply = np.argsort(plies, kind="stable")
        last = int(plies.max()) + 1 if len(plies) else 0
        colours = file.colours(game, last)
        moves = all_moves[:last]
        black, white = file.stones(game)
        first = int(file.to_play_first[game])
        replays.append(
            ReplayGame(file.size, black, white, moves, colours, plies[by_ply], symmetries[by_ply], first)
        )
        place = np.empty_like(by_ply)
        place[by_ply] = np.arange(done, done + len(rows))
        order.append(place)
        done += len(rows)
        to_play = colours[plies]
        winner = file.winners[game]
        outcomes = (
            np.full(len(rows), UNKNOWN_OUTCOME, np.int8) if winner == UNKNOWN_OUTCOME else to_play * winner
        )
        columns.append(
            (table[symmetries, moves[plies]], outcomes, to_play, plies, symmetries, np.full(len(rows), game))
        )
    if not columns:
        return empty_rows(file.size, planes)
    packed = replay_planes_games(replays, threads, player_colour=planes > 48, packed=True)
    moves, outcomes, to_play, plies, symmetries, games = (
        np.concatenate(parts) for parts in zip(*columns, strict=True)
    )
    return Rows(
        packed[np.concatenate(order)],
        moves.astype(np.int16),
        outcomes.astype(np.int8),
        to_play.astype(np.int8),
        plies.astype(np.int16),
        symmetries.astype(np.int8),
        games.astype(np.int32),
    )


def empty_rows(size: int, planes: int = 48) -> Rows:
    """No rows."""
    return Rows(
        np.empty((0, packed_bytes(planes, size)), np.uint8),
        np.empty(0, np.int16),
        np.empty(0, np.int8),
        np.empty(0, np.int8),
        np.empty(0, np.int16),
        np.empty(0, np.int8),
        np.empty(0, np.int32),
    )


def binary_column(packed: NDArray[np.uint8]) -> pa.Array:
    """uint8[n, bytes] as a fixed-size binary column, without a copy."""
    packed = np.ascontiguousarray(packed)
    return pa.Array.from_buffers(pa.binary(packed.shape[1]), len(packed), [None, pa.py_buffer(packed)])


def positions_table(rows: Rows, ids: list[str], split: str, size: int) -> pa.Table:
    """Rows as a table of the positions schema."""
    first = int(rows.games[0]) if len(rows.games) else 0
    last = int(rows.games[-1]) + 1 if len(rows.games) else 0
    game = pa.DictionaryArray.from_arrays(rows.games - first, pa.array(ids[first:last], pa.string()))
    split_column = pa.DictionaryArray.from_arrays(np.zeros(len(rows.moves), np.int32), pa.array([split]))
    unknown = rows.outcomes == UNKNOWN_OUTCOME
    return pa.Table.from_arrays(
        [
            game,
            pa.array(rows.plies),
            pa.array(rows.to_play),
            pa.array(rows.symmetries),
            binary_column(rows.planes),
            pa.array(rows.moves),
            pa.array(rows.outcomes, mask=unknown if unknown.any() else None),
            split_column,
        ],
        schema=positions_schema(size),
    )


def write_positions(
    games: Location, place: Location, split: str, symmetries: int = SYMMETRIES, threads: int = 1
) -> int:
    """Writes the positions of one file of games in 1 or 8 symmetries; returns the rows written."""
    file = GamesFile(games)
    with TableWriter(place, positions_schema(file.size), dictionary=["game", "split"]) as writer:
        for pieces in _portions(file.positions * symmetries):
            rows = compute_rows(file, pieces, threads=threads)
            writer.write(positions_table(rows, file.ids, split, file.size))
        return writer.rows


def _portions(rows_per_game: NDArray[np.int64]) -> Iterable[list[Piece]]:
    """Whole games in portions of about ROWS_AT_ONCE rows."""
    pieces: list[Piece] = []
    total = 0
    for game, rows in enumerate(rows_per_game.tolist()):
        if rows:
            pieces.append((game, 0, rows))
            total += rows
        if total >= ROWS_AT_ONCE:
            yield pieces
            pieces, total = [], 0
    if pieces:
        yield pieces
