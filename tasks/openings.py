"""Opening sets: the first moves of game records, played by both sides of every pair in a tournament."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from datasets import GameRecord, read_games
from go_engine import BLACK, Board
from tasks.errors import UserError


def read_openings(path: Path, size: int, plies: int, seed: int) -> list[list[int]]:
    """The distinct openings of at most `plies` moves in the records at `path`, in an order given by the seed.

    Records on other boards, with setup stones, or in which the colours do not alternate from Black on are
    passed over; a line ends before a pass. Raises UserError when no record is of use.
    """
    lines = {line: None for game in read_games(path) if (line := _line(game, size, plies))}
    if not lines:
        raise UserError(f"openings: no record of {path} opens a game on {size}x{size} without setup stones")
    order = np.random.default_rng(seed).permutation(len(lines))
    found = list(lines)
    return [list(found[k]) for k in order]


def _line(game: object, size: int, plies: int) -> tuple[int, ...]:
    if not isinstance(game, GameRecord) or game.size != size or game.black or game.white:
        return ()
    board = Board(size)
    line: list[int] = []
    for number, (colour, move) in enumerate(game.moves[:plies]):
        black = number % 2 == 0
        if (colour == BLACK) != black or move == board.pass_move or not board.is_legal(move):
            break
        board.play(move)
        line.append(move)
    return tuple(line)
