"""Reading the shared cases, which lie beside the repository and are not part of it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from go_engine import BLACK, WHITE, Board

CASES = Path(__file__).parents[2] / "shared" / "cases"
COLUMNS = "ABCDEFGHJKLMNOPQRST"
COLOURS = {"B": BLACK, "W": WHITE}

needs_cases = pytest.mark.skipif(
    not CASES.is_dir(), reason="the folder of cases, ../shared/cases, is not here"
)


def load(name: str) -> Iterator[dict[str, Any]]:
    for line in (CASES / name / "cases.jsonl").read_text("utf-8").splitlines():
        yield json.loads(line)


def move_of(vertex: str, size: int) -> int:
    """row * size + col of a GTP vertex such as C3, size * size of a pass."""
    if vertex == "pass":
        return size * size
    return (size - int(vertex[1:])) * size + COLUMNS.index(vertex[0])


def moves_of(vertices: list[str], size: int) -> list[int]:
    return [move_of(v, size) for v in vertices]


def board_of(case: dict[str, Any]) -> tuple[Board, dict[str, int]]:
    """The board after the moves of a case, and what they took ("1" = the first; only those that took)."""
    size, moves = case["size"], case.get("moves") or []
    setup = case.get("setup") or {}
    board = Board(size, case.get("komi", 7.5))
    first = moves[0][0] if moves else case.get("to_move", "B")
    black, white = (moves_of(setup.get(colour, []), size) for colour in "BW")
    board.setup(black=black, white=white, to_play=COLOURS[first])
    taken = {}
    for number, (colour, vertex) in enumerate(moves, 1):
        if stones := board.play(move_of(vertex, size), COLOURS[colour]):
            taken[str(number)] = stones
    if "to_move" in case:
        board.to_play = COLOURS[case["to_move"]]
    return board, taken
