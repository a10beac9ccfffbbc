"""One game record in and out: what GTP's loadsgf needs, and the records of tournament games."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from sgfmill import sgf, sgf_moves

from go_engine import BLACK, WHITE, Board

COLOURS = {"b": BLACK, "w": WHITE}
LETTERS = {BLACK: "b", WHITE: "w"}


class SgfError(ValueError):
    """A record that cannot be used; the message names the file and says why."""


class LoadedGame(NamedTuple):
    """The position after set-up, and the main line that follows."""

    start: Board
    moves: list[tuple[int, int]]  # (colour, move)


def load_sgf(path: Path, komi: float, ko_rule: str = "positional") -> LoadedGame:
    """The first game of a file; `komi` stands where the record names none. Raises SgfError."""
    try:
        game = sgf.Sgf_game.from_bytes(path.read_bytes())
        size = game.get_size()
        position, plays = sgf_moves.get_setup_and_moves(game)
        komi = game.get_komi() if game.get_root().has_property("KM") else komi
        board = Board(size, komi, ko_rule)
    except (OSError, ValueError) as error:
        raise SgfError(f"{path}: {error}") from error
    stones: dict[str, list[int]] = {"b": [], "w": []}
    for colour, (row, column) in position.list_occupied_points():
        stones[colour].append((size - 1 - row) * size + column)
    moves = [(COLOURS[colour], _move(point, size)) for colour, point in plays]
    first = moves[0][0] if moves else (WHITE if stones["b"] and not stones["w"] else BLACK)
    if stones["b"] or stones["w"]:
        board.setup(black=stones["b"], white=stones["w"], to_play=first)
    board.to_play = first
    return LoadedGame(board, moves)


def write_sgf(
    size: int,
    komi: float,
    moves: list[tuple[int, int]],
    result: str,
    black: str,
    white: str,
    properties: dict[str, str] | None = None,
    comments: dict[int, str] | None = None,
    handicap: list[int] | None = None,
) -> bytes:
    """A record of a whole game. `comments` maps a move's number (from 1; 0 is the root) to text."""
    game = sgf.Sgf_game(size=size)
    root = game.get_root()
    root.set("KM", komi)
    root.set("RU", "Chinese")
    root.set("PB", black)
    root.set("PW", white)
    root.set("RE", result)
    for name, value in (properties or {}).items():
        root.set(name, value)
    if handicap:
        root.set("HA", len(handicap))
        root.set("AB", [_point(move, size) for move in handicap])
    notes = comments or {}
    if 0 in notes:
        root.set("C", notes[0])
    for number, (colour, move) in enumerate(moves, 1):
        node = game.extend_main_sequence()
        node.set_move(LETTERS[colour], _point(move, size))
        if number in notes:
            node.set("C", notes[number])
    data: bytes = game.serialise()
    return data


def _move(point: tuple[int, int] | None, size: int) -> int:
    return size * size if point is None else (size - 1 - point[0]) * size + point[1]


def _point(move: int, size: int) -> tuple[int, int] | None:
    return None if move == size * size else (size - 1 - move // size, move % size)
