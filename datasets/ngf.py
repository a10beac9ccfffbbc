"""NGF, the format of the WBaduk and Cyberoro servers: twelve header lines, then one line a move.

Header lines, from 1: title, board size, White and rank, Black and rank, site, handicap, a number, komi
(whole; half a point is meant on top in even games), date, minutes, result, number of moves. A move line is
"PM", two letters that count, the colour, then column and row as letters from B; "AA" passes.
"""

from __future__ import annotations

import re

from go_engine import BLACK, WHITE

from .dialects import fixed_handicap_points, parse_date, parse_rank, parse_result
from .points import MAX_SIZE, MIN_SIZE, SgfError
from .records import GameRecord
from .text import decode_value, detect_encoding

HEADER_LINES = 12
FIRST_LETTER = ord("B")

_MOVE = re.compile(rb"PM[A-Z@\[-`a-z]{2}([BWbw])([A-Za-z])([A-Za-z])")
_PLAYER = re.compile(r"(.*?)\s+(\d+\s*[^\s\d]+)\s*")
_ENGLISH_RESULT = re.compile(r"(white|black)\s+(?:wins?|won)\b(.*)", re.IGNORECASE | re.DOTALL)


def read_ngf(data: bytes, source: str) -> GameRecord:
    """The game of an NGF file, not yet replayed. Raises SgfError where it cannot be used."""
    encoding = detect_encoding(data)
    lines = data.lstrip().splitlines()
    header = [decode_value(line, encoding).strip() for line in lines[:HEADER_LINES]]
    if len(header) < HEADER_LINES:
        raise SgfError("no NGF data found: the header is cut", None, data[:40])
    size, handicap = _whole(header[1], "board size"), _whole(header[5], "handicap")
    if not MIN_SIZE <= size <= MAX_SIZE:
        raise SgfError(f"board size {size} is outside {MIN_SIZE} to {MAX_SIZE}")
    if not 0 <= handicap <= 9:
        raise SgfError("handicap is not a number from 0 to 9", None, header[5])
    try:
        setup = fixed_handicap_points(handicap, size) if handicap >= 2 else []
    except ValueError as error:
        raise SgfError(str(error)) from None
    moves = _moves(lines[HEADER_LINES:], size)
    if not moves and header[11] not in ("", "0"):
        raise SgfError("no moves found in the NGF data")
    white_player, white_rank = _player(header[2])
    black_player, black_rank = _player(header[3])
    result, winner = _result(header[10])
    return GameRecord(
        size=size,
        komi=_komi(header[7], handicap),
        handicap=handicap,
        black=sorted(setup),
        moves=moves,
        result=result,
        winner=winner,
        black_rank=black_rank,
        white_rank=white_rank,
        black_player=black_player,
        white_player=white_player,
        date=parse_date(re.sub(r"^(\d{4})(\d\d)(\d\d)", r"\1-\2-\3", header[8])),
        encoding=encoding,
        source=source,
    )


def _whole(text: str, what: str) -> int:
    if not re.fullmatch(r"\d{1,3}", text):
        raise SgfError(f"no NGF data found: {what} is not a number", None, text)
    return int(text)


def _komi(text: str, handicap: int) -> float | None:
    if not re.fullmatch(r"-?\d{1,3}(\.\d+)?", text):
        return None
    komi = float(text)
    return komi + 0.5 if handicap == 0 and komi == int(komi) else komi


def _player(text: str) -> tuple[str | None, str | None]:
    match = _PLAYER.fullmatch(text)
    return (match[1], parse_rank(match[2])) if match else (text or None, None)


def _result(text: str) -> tuple[str | None, int | None]:
    english = _ENGLISH_RESULT.search(text)
    if english is None:
        return parse_result(text)
    letter, winner = ("B", BLACK) if english[1].lower() == "black" else ("W", WHITE)
    rest = english[2].lower()
    for word, ending in (("resign", "R"), ("time", "T")):
        if word in rest:
            return f"{letter}+{ending}", winner
    number = re.search(r"\d+(?:\.\d+)?", rest)
    return parse_result(f"{letter}+{number[0] if number else ''}")


def _moves(lines: list[bytes], size: int) -> list[tuple[int, int]]:
    moves: list[tuple[int, int]] = []
    for line in lines:
        match = _MOVE.match(line.strip())
        if match is None:
            continue
        colour = BLACK if match[1] in b"Bb" else WHITE
        column, row = ord(match[2].upper()) - FIRST_LETTER, ord(match[3].upper()) - FIRST_LETTER
        if column == row == -1:
            moves.append((colour, size * size))
        elif 0 <= column < size and 0 <= row < size:
            moves.append((colour, row * size + column))
        else:
            raise SgfError(f"move is not on the {size}x{size} board", len(moves) + 1, line)
    return moves
