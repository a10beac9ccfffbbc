"""Points and moves as SGF writes them, and the error that refuses a game."""

from __future__ import annotations

import re

import numpy as np

from go_engine import BLACK, WHITE

MAX_SIZE = 19
MIN_SIZE = 2
TEXT_LIMIT = 80  # characters of an offending text that are kept
BLANKS = b" \t\r\n\v\f"

_MOVE = re.compile(rb"([BW])\[([a-t]{0,2})\]")


class SgfError(ValueError):
    """Why a game is refused."""

    def __init__(self, reason: str, move_number: int | None = None, text: str | bytes = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.move_number = move_number
        self.text = printable(text)


def printable(text: str | bytes) -> str:
    """A short piece of a record that can be shown on one line."""
    if isinstance(text, bytes):
        text = text[: TEXT_LIMIT * 4].decode("utf-8", errors="backslashreplace")
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)[:TEXT_LIMIT]


def board_point(value: bytes, size: int, number: int | None = None) -> int:
    """A point as row * size + column. Raises SgfError for anything else, with the move's number."""
    column, row = (value[0] - 97, value[1] - 97) if len(value) == 2 else (-1, -1)
    if not (0 <= column < size and 0 <= row < size):
        what = "move" if number else "setup point"
        raise SgfError(f"{what} is not on the {size}x{size} board", number, value)
    return row * size + column


def move_point(value: bytes, size: int, number: int) -> int:
    """A move; nothing, blanks and (as up to 19x19 in FF[3]) tt are passes."""
    value = value.strip(BLANKS)
    return size * size if value in (b"", b"tt") else board_point(value, size, number)


def point_list(value: bytes, size: int) -> list[int]:
    """The points of one value of a point list: a point, a rectangle, or nothing."""
    value = value.strip(BLANKS)
    if not value:
        return []
    first, colon, last = value.partition(b":")
    top, left = divmod(board_point(first, size), size)
    if not colon:
        return [top * size + left]
    bottom, right = divmod(board_point(last, size), size)
    if bottom < top or right < left:
        raise SgfError("a rectangle of setup points is upside down", None, value)
    return [row * size + column for row in range(top, bottom + 1) for column in range(left, right + 1)]


def plain_moves(data: bytes, size: int) -> list[tuple[int, int]]:
    """The moves of `;B[dd];W[pp]...)`, blanks between allowed. Raises SgfError for a point off the board."""
    packed = data.translate(None, BLANKS)[:-1]
    if len(packed) % 6 == 0:  # no pass is written short: every move takes six bytes
        table = np.frombuffer(packed, np.uint8).reshape(-1, 6)
        if (table[:, 0] == ord(";")).all():
            columns, rows = table[:, 3].astype(np.int32) - 97, table[:, 4].astype(np.int32) - 97
            passes = (columns == ord("t") - 97) & (rows == ord("t") - 97)
            off = ((columns >= size) | (rows >= size)) & ~passes
            if off.any():
                first = int(off.argmax())
                board_point(bytes(table[first, 3:5]), size, first + 1)
            moves = np.where(passes, size * size, rows * size + columns)
            colours = np.where(table[:, 1] == ord("B"), BLACK, WHITE)
            return list(zip(colours.tolist(), moves.tolist(), strict=True))
    return [
        (BLACK if colour == b"B" else WHITE, move_point(point, size, number))
        for number, (colour, point) in enumerate(_MOVE.findall(packed), 1)
    ]
