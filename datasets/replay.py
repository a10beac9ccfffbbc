"""Whether a game's moves are legal: the one place where records meet the rules."""

from __future__ import annotations

from go_engine import check_game

from .records import GameRecord


def first_illegal(record: GameRecord, ko_rule: str = "simple") -> tuple[int, str] | None:
    """(move number from 1, why) of the first illegal move, None if there is none. Number 0: the setup."""
    size, black, white, moves, colours = record.arrays()
    try:
        index, why = check_game(size, black, white, moves, colours, ko_rule, record.to_play_first)
    except ValueError as error:
        return 0, str(error)
    return None if index < 0 else (index + 1, why)
