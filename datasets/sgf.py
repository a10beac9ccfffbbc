"""SGF to games: sgfmill reads the syntax, `sgf_game` what real programs mean by it.

A game that is a plain list of moves after its header (nearly all of a server's archive) goes a short way:
only the header is given to sgfmill, a regular expression makes sure that the rest is nothing but moves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from sgfmill import sgf_grammar

from .points import TEXT_LIMIT, SgfError, printable
from .records import GameRecord, RejectedGame
from .sgf_game import GameReader, PropertyMap
from .text import detect_encoding

# One header node without escapes or inner brackets, then nothing but moves; both take linear time.
_PLAIN_HEAD = re.compile(rb"[^(\[\]]*\(\s*;(?:[^\[\]();\\]*\[[^\[\]\\]*\])*+\s*")
_PLAIN_MOVES = re.compile(rb"(?:;\s*[BW]\[(?:[a-s][a-s]|tt)?\]\s*)++\)\s*")
_FIRST_MOVE = re.compile(rb";\s*[BW]\[")
_NEXT_GAME = re.compile(rb"\(\s*;\s*(?:GM|FF|SZ|CA|AP|PB|PW)\s*\[")


def read_sgf(data: bytes, source: str) -> Iterator[GameRecord | RejectedGame]:
    """All games of an SGF file or collection, main lines only, not yet replayed."""
    encoding = detect_encoding(data)
    if encoding not in ("ascii", "utf-8", "latin-1"):
        data = _to_utf8(data, encoding)
    plain = _read_plain(data)
    if plain is not None:
        yield _finish(plain[0], plain[1], source, 0, encoding, data)
        return
    position, index = 0, 0
    while position < len(data):
        nodes, start, end = _next_game(data, position)
        if start < 0:
            break
        if isinstance(nodes, str):
            # It may have swallowed those after it: from here on, each is cut out where it seems to begin.
            edges = [start, *(match.start() for match in _NEXT_GAME.finditer(data, start + 1)), len(data)]
            pieces = [data[first:last] for first, last in pairwise(edges)]
            for number, piece in enumerate(pieces, index):
                yield _finish(_next_game(piece, 0)[0], None, source, number, encoding, piece)
            return
        yield _finish(nodes, None, source, index, encoding, data[start:end])
        position, index = end, index + 1
    if index == 0:
        yield RejectedGame(source, 0, "no SGF data found", None, printable(data[:TEXT_LIMIT]))


def _next_game(data: bytes, position: int) -> tuple[list[PropertyMap] | str, int, int]:
    """The next game's main line, or what is wrong with it; where it begins (-1: there is none) and ends."""
    tokens, end = sgf_grammar.tokenise(data, position)
    if not tokens:
        return "no SGF data found", -1, len(data)
    start = data.find(b"(", position)
    try:
        return _main_line(data[start:end]), start, end
    except ValueError as error:
        return f"not well-formed SGF: {error}", start, end


def _to_utf8(data: bytes, encoding: str) -> bytes:
    """Re-encodes, because the second byte of some encodings can be a bracket or a backslash."""
    try:
        return data.decode(encoding).encode("utf-8")
    except UnicodeError:
        return data


def _main_line(data: bytes) -> list[PropertyMap]:
    return list(sgf_grammar.main_sequence_iter(sgf_grammar.parse_sgf_game(data)))


def _read_plain(data: bytes) -> tuple[list[PropertyMap], bytes] | None:
    """(header node, the moves' bytes) if the file is one plain game, else None."""
    first = _FIRST_MOVE.search(data)
    if first is None:
        return None
    start = first.start()
    if _PLAIN_HEAD.fullmatch(data, 0, start) is None or _PLAIN_MOVES.fullmatch(data, start) is None:
        return None
    try:
        return _main_line(data[:start] + b")"), data[start:]
    except ValueError:
        return None


def _finish(
    nodes: list[PropertyMap] | str,
    moves: bytes | None,
    source: str,
    index: int,
    encoding: str,
    data: bytes,
) -> GameRecord | RejectedGame:
    if isinstance(nodes, str):
        return RejectedGame(source, index, nodes, None, printable(data[-TEXT_LIMIT // 2 :]))
    try:
        return GameReader(nodes, moves, encoding).record(source, index)
    except SgfError as error:
        return RejectedGame(source, index, error.reason, error.move_number, error.text)
