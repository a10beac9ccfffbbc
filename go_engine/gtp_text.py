"""The words of the Go Text Protocol, version 2: lines, vertices, colours, handicap points. No state."""

from __future__ import annotations

import re
from typing import NamedTuple

from go_engine import BLACK, WHITE, vertex

COLUMNS = "ABCDEFGHJKLMNOPQRST"  # 19 letters, no I
RESIGN_WORD = "resign"
SMALLEST_HANDICAP_BOARD = 7
CORNERS_ONLY = 4  # stones at most on even boards and on 7x7
MOST_HANDICAP = 9


class GtpFailure(Exception):
    """A command that fails: the text after the question mark."""


class Command(NamedTuple):
    id: str  # digits, or empty
    name: str
    arguments: list[str]


def parse_line(line: str) -> Command | None:
    """Clean a line as the protocol says and split it; None for a line that asks nothing."""
    line = line.replace("\t", " ").partition("#")[0]
    words = "".join(c for c in line if c >= " " and c != "\x7f").split()
    if not words:
        return None
    number = words.pop(0) if re.fullmatch("[0-9]+", words[0]) else ""
    return Command(number, words[0] if words else "", words[1:])


def format_answer(number: str, ok: bool, text: str) -> str:
    """A whole answer with its empty line; empty lines inside, which would end it early, get a blank."""
    lines = [line.rstrip() or " " for line in text.strip("\n").split("\n")] if text.strip() else []
    return f"{'=' if ok else '?'}{number}{' ' if lines else ''}" + "\n".join(lines) + "\n\n"


def parse_colour(word: str) -> int:
    if word.lower() in ("b", "black"):
        return BLACK
    if word.lower() in ("w", "white"):
        return WHITE
    raise GtpFailure("syntax error: a colour is b or w")


def parse_vertex(word: str, size: int) -> int:
    """A move for "D4" or "pass" in any case; GtpFailure for anything else, points off the board included."""
    if word.lower() == "pass":
        return size * size
    match = re.fullmatch(r"([A-HJ-Ta-hj-t])([0-9]{1,2})", word)
    if not match:
        raise GtpFailure(f"syntax error: {word!r} is no vertex")
    column, row = COLUMNS.index(match[1].upper()), size - int(match[2])
    if column >= size or not 0 <= row < size:
        raise GtpFailure(f"{word} is not on the board")
    return row * size + column


def parse_int(word: str) -> int:
    if not re.fullmatch(r"[+-]?[0-9]{1,9}", word):
        raise GtpFailure(f"syntax error: {word!r} is no whole number")
    return int(word)


def parse_float(word: str) -> float:
    if not re.fullmatch(r"[+-]?([0-9]{1,9}(\.[0-9]{0,12})?|\.[0-9]{1,12})", word):
        raise GtpFailure(f"syntax error: {word!r} is no number")
    return float(word)


def format_score(score: float) -> str:
    """Black's lead as B+3.5, W+2.5 or 0."""
    if score == 0:
        return "0"
    return f"{'B' if score > 0 else 'W'}+{abs(score):g}"


def most_handicap(size: int) -> int:
    """How many stones the protocol's fixed pattern has on a board of this size."""
    if size < SMALLEST_HANDICAP_BOARD:
        return 0
    return CORNERS_ONLY if size % 2 == 0 or size == SMALLEST_HANDICAP_BOARD else MOST_HANDICAP


def handicap_points(stones: int, size: int) -> list[int]:
    """The usual points for 2..9 stones, corners first, the centre with 5, 7 and 9; else GtpFailure."""
    if not 2 <= stones <= most_handicap(size):
        raise GtpFailure("invalid number of stones")
    near = 3 if size > 12 else 2
    far, middle = size - 1 - near, size // 2
    corners = [(far, near), (near, far), (near, near), (far, far)]
    if stones <= len(corners):
        chosen = corners[:stones]
    else:
        sides = [(middle, near), (middle, far), (near, middle), (far, middle)]
        chosen = corners + sides[: (stones - 4) // 2 * 2] + ([(middle, middle)] if stones % 2 else [])
    return [row * size + column for row, column in chosen]


def vertices(moves: list[int], size: int) -> str:
    return " ".join(vertex(move, size) for move in moves)
