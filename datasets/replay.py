"""Whether a game's moves are legal: the one place where records meet the rules."""

from __future__ import annotations

import go_engine

from .records import GameRecord


def first_illegal(record: GameRecord, ko_rule: str = "simple") -> tuple[int, str] | None:
    """(move number from 1, why) of the first illegal move, None if all are legal. Number 0: the setup itself."""
    board = go_engine.Board(record.size, 0.0, ko_rule)
    try:
        if record.black or record.white:
            board.setup(black=record.black, white=record.white, to_play=record.to_play_first)
    except ValueError as error:
        return 0, str(error)
    play, number = board.play, 0
    try:
        for number, (colour, move) in enumerate(record.moves, 1):  # noqa: B007
            play(move, colour)
    except ValueError as error:
        return number, str(error)
    return None
