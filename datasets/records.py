"""One game as it is kept everywhere: `GameRecord`, and `RejectedGame` for what could not be read."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from go_engine import BLACK, symmetry_table

SYMMETRIES = 8
ID_BYTES = 16  # 128 bits: no collision to fear among 10^9 games


def game_digest(
    size: int,
    black: NDArray[np.int16],
    white: NDArray[np.int16],
    moves: NDArray[np.int16],
    colours: NDArray[np.int8],
) -> bytes:
    """Content hash (16 bytes) of a game: board size, setup stones in any order, moves with their colours."""
    digest = hashlib.blake2b(digest_size=ID_BYTES)
    digest.update(np.array([size, len(black), len(white)], "<i2").tobytes())
    for stones in (black, white):
        if len(stones):
            digest.update(np.sort(stones).astype("<i2", copy=False).tobytes())
    digest.update(moves.astype("<i2", copy=False).tobytes())
    digest.update(colours.tobytes())
    return digest.digest()


@dataclass(slots=True)
class GameRecord:
    """A game that was read and replayed. Moves are `row * size + col`, row 0 on top; `size * size` passes."""

    size: int
    komi: float | None = None  # None: unknown
    handicap: int | None = None  # None: unknown; what the record says, not the number of setup stones
    black: list[int] = field(default_factory=list)  # setup stones
    white: list[int] = field(default_factory=list)
    moves: list[tuple[int, int]] = field(default_factory=list)  # (colour, move), colours as written
    result: str | None = None  # "B+R", "W+3.5", "W+T", "B+F", "B+", "0", "Void", "?"
    winner: int | None = None  # BLACK, WHITE, 0 for a draw, None if not known
    black_rank: str | None = None  # "6d", "3k", "9p", or as written where it is none of these
    white_rank: str | None = None
    black_player: str | None = None
    white_player: str | None = None
    rules: str | None = None
    date: str | None = None  # ISO, as far as known: "2016-01-28", "2016-01", "2016"
    encoding: str | None = None
    source: str = ""
    index: int = 0  # which game of the source, from 0
    first_player: int | None = None  # who the record says is to move, for games without moves
    notes: tuple[str, ...] = ()  # repairs and oddities, one short line each
    id: str = ""

    def __post_init__(self) -> None:
        if not self.id:
            self.id = game_digest(*self.arrays()).hex()

    @property
    def to_play_first(self) -> int:
        """The colour that moves first."""
        if self.moves:
            return self.moves[0][0]
        return self.first_player or BLACK

    def arrays(
        self,
    ) -> tuple[int, NDArray[np.int16], NDArray[np.int16], NDArray[np.int16], NDArray[np.int8]]:
        """(size, black, white, moves, colours) as numpy arrays."""
        pairs = np.array(self.moves, np.int16).reshape(-1, 2)
        return (
            self.size,
            np.array(self.black, np.int16),
            np.array(self.white, np.int16),
            np.ascontiguousarray(pairs[:, 1]),
            pairs[:, 0].astype(np.int8),
        )

    @property
    def canonical_id(self) -> str:
        """The smallest content hash over the eight symmetries: equal for games turned or mirrored."""
        size, black, white, moves, colours = self.arrays()
        table = symmetry_table(size)
        turned = zip(table[:, black], table[:, white], table[:, moves], strict=True)
        return min(game_digest(size, *stones_and_moves, colours) for stones_and_moves in turned).hex()


@dataclass(slots=True)
class RejectedGame:
    """What was refused and why. `move_number` counts from 1; None unless a move is to blame."""

    source: str
    index: int
    reason: str
    move_number: int | None = None
    text: str = ""  # the offending bytes, shortened, safe to print
    partial: GameRecord | None = None  # the game up to the illegal move, if there is one
