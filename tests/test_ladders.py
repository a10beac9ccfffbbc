"""Ladders by name, by diagram and by the shared cases; every question is asked of the reader itself."""

import numpy as np
import pytest
from cases import board_of, load, move_of, needs_cases

import go_engine
from go_engine import BLACK, LADDER_NODES, WHITE, Board, read_ladder

CAPTURE, ESCAPE = 44, 45

# Black drives C3 in steps to the upper right; {} stands in the way.
STEPS = """
    . . . . . . .
    . . . . . {} .
    . . . . . . .
    . . X . . . .
    . X O . . . .
    . . . X . . .
    . . . . . . ."""

# White's last liberty at D5 is no way out, but the chaser at B4 can be taken at A4.
CHASERS = """
    . X X X . .
    X O O . X .
    . X O X . .
    . O X . . .
    . . . . . .
    . . . . . ."""


def board(diagram: str, to_play: int) -> Board:
    made = Board.from_text(diagram)
    made.to_play = to_play
    return made


def works(made: Board, move: str, target: str) -> bool:
    return read_ladder(made, move_of(move, made.size), move_of(target, made.size))[0]


def test_a_ladder_runs_to_the_edge() -> None:
    b = board(STEPS.format("."), BLACK)
    assert works(b, "C2", "C3")
    assert works(b, "D3", "C3")


def test_a_breaker_on_the_way_lets_it_fail() -> None:
    b = board(STEPS.format("O"), BLACK)
    assert not works(b, "C2", "C3")
    assert works(b, "D3", "C3"), "downwards there is no breaker"


def test_escape_is_the_same_question_a_move_later() -> None:
    for breaker in ".O":
        b = board(STEPS.format(breaker), BLACK)
        b.play(move_of("C2", 7))
        assert works(b, "D3", "C3") is (breaker == "O")


def test_taking_a_chaser_saves() -> None:
    b = board(CHASERS, WHITE)
    assert works(b, "A4", "B5")
    assert not b.is_legal(move_of("D5", 6))
    assert go_engine.planes(b)[ESCAPE].sum() == 1
    assert go_engine.planes(b)[ESCAPE].ravel()[move_of("A4", 6)] == 1


def test_planes_hold_what_the_reader_says() -> None:
    planes = go_engine.planes(board(STEPS.format("O"), BLACK))
    assert np.flatnonzero(planes[CAPTURE]).tolist() == [move_of("D3", 7)]
    assert planes[ESCAPE].sum() == 0
    planes = go_engine.planes(board(STEPS.format("O"), WHITE))
    assert planes[CAPTURE].sum() == planes[ESCAPE].sum() == 0


def test_beyond_the_bound_the_hunted_gets_away() -> None:
    b = board(STEPS.format("."), BLACK)
    for bound in (0, 3):
        assert not read_ladder(b, move_of("C2", 7), move_of("C3", 7), bound)[0]
    b.play(move_of("C2", 7))
    assert not works(b, "D3", "C3")
    assert read_ladder(b, move_of("D3", 7), move_of("C3", 7), 1)[0]


def test_questions_that_make_no_sense_are_refused() -> None:
    b = board(STEPS.format("."), BLACK)
    for move, target, why in (
        ("D3", "A7", "is no stone"),
        ("C3", "C3", "not legal"),
        ("D3", "C4", "has not 1 liberty"),
    ):
        with pytest.raises(ValueError, match=why):
            works(b, move, target)
    for move, target in ((-1, 30), (10**6, 30), (0, -5), (0, 10**6)):
        with pytest.raises(ValueError, match=r"is not legal|no stone"):
            read_ladder(b, move, target)


@needs_cases
def test_the_shared_cases_one_by_one_with_the_default_bound_and_without() -> None:
    for case in load("ladders"):
        b, _ = board_of(case)
        move, target = (move_of(case[key], case["size"]) for key in ("move", "target"))
        for bound in (LADDER_NODES, 10**9):
            assert read_ladder(b, move, target, bound)[0] == case["works"], (case["id"], bound)


@needs_cases
def test_the_shared_cases_as_planes() -> None:
    for case in load("ladders"):
        b, _ = board_of(case)
        plane = go_engine.planes(b)[CAPTURE if case["kind"] == "capture" else ESCAPE].ravel()
        if case["works"]:
            assert plane[move_of(case["move"], case["size"])], case["id"]
