"""Feature planes: shape and memory, the shared cases, and the plain definitions on real positions."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import board_of, load, move_of, moves_of, needs_cases

import go_engine
from go_engine import BLACK, WHITE, Board, planes, planes_batch

GROUPS = {"turns_since": 4, "liberties": 12, "capture_size": 20, "self_atari_size": 28, "liberties_after": 36}


def played(size: int, moves: int, seed: int) -> Board:
    rng = np.random.default_rng(seed)
    board = Board(size)
    for _ in range(moves):
        choice = np.flatnonzero(board.sensible_mask())
        board.play(int(rng.choice(choice)) if len(choice) else board.pass_move)
    return board


def test_an_empty_board() -> None:
    p = planes(Board(5), True)
    assert p.shape == (49, 5, 5)
    assert p.dtype == np.uint8
    on = {k: int(p[k].sum()) for k in range(49) if p[k].any()}
    assert on == {2: 25, 3: 25, 37: 4, 38: 12, 39: 9, 46: 25, 48: 25}


def test_the_view_is_that_of_the_side_to_move() -> None:
    b = Board(5)
    b.play(move_of("C3", 5))
    p = planes(b, True)
    assert p[0].sum() == 0
    assert p[1, 2, 2] == 1
    assert p[48].sum() == 0
    assert p[4, 2, 2] == 1, "played last"
    b.play(b.pass_move)
    p = planes(b, True)
    assert p[0, 2, 2] == 1
    assert p[5, 2, 2] == 1, "a pass is a turn"
    assert p[48].sum() == 25


def test_setup_stones_have_no_age() -> None:
    b = Board(5)
    b.setup(black=[12], to_play=WHITE)
    assert planes(b)[4:12].sum() == 0
    b.play(0)
    assert planes(b)[4:12].sum() == 1


def test_values_over_eight_share_the_last_plane() -> None:
    b = Board(9)
    b.setup(black=list(range(36, 45)), to_play=BLACK)
    p = planes(b)
    assert p[12:19].sum() == 0
    assert p[19].sum() == 9


def test_a_move_that_takes_much() -> None:
    b = Board.from_text("""
        . O X . .
        O O X . .
        X X X . .
        . . . . .
        . . . . .""")
    p = planes(b)
    assert p[20 + 3 - 1, 0, 0] == 1
    assert p[36 + 2 - 1, 0, 0] == 1, "its own liberties after it: the two points taken beside it"
    assert p[28:36].sum() == 0


def test_batches_are_the_planes_of_each() -> None:
    boards = [played(9, n, n) for n in range(0, 90, 3)]
    for colour in (False, True):
        expected = np.stack([planes(b, colour) for b in boards])
        for threads in (1, 2, 5):
            assert (planes_batch(boards, threads=threads, player_colour=colour) == expected).all()
            out = np.full_like(expected, 7)
            assert planes_batch(boards, out, threads, colour) is out
            assert (out == expected).all()
    assert planes_batch([]).shape == (0, 48, 19, 19)


def test_batches_as_floats() -> None:
    boards = [played(9, n, n) for n in range(0, 90, 10)]
    expected = planes_batch(boards)
    out = np.full(expected.shape, 7, np.float32)
    assert planes_batch(boards, out) is out
    assert (out == expected).all()
    torch = pytest.importorskip("torch")
    half = torch.full(expected.shape, 7, dtype=torch.bfloat16)
    assert planes_batch(boards, half) is half
    assert (half.float().numpy() == expected).all()


def test_batches_longer_than_a_block_and_the_same_board_twice() -> None:
    boards = [played(5, 7, 1), played(5, 8, 2)] * 300
    batch = planes_batch(boards, threads=2)
    assert (batch[::2] == planes(boards[0])).all()
    assert (batch[1::2] == planes(boards[1])).all()


def test_planes_leave_the_board_alone() -> None:
    b = played(9, 50, 3)
    before = (str(b), b.hash, b.legal_mask().tolist())
    planes(b)
    assert (str(b), b.hash, b.legal_mask().tolist()) == before


# ---- the shared cases


def check_integers(got: np.ndarray, expect: dict[str, Any], size: int, skip: set[int], case: str) -> None:
    for name, first in GROUPS.items():
        wanted = np.zeros((8, size * size), np.uint8)
        for where, value in expect[name].items():
            if value >= 1:
                wanted[min(value, 8) - 1, move_of(where, size)] = 1
        keep = [m for m in range(size * size) if m not in skip]
        assert (got[first : first + 8][:, keep] == wanted[:, keep]).all(), (case, name)


@needs_cases
def test_the_shared_cases() -> None:
    for case in load("planes"):
        board, _ = board_of(case)
        size, expect = case["size"], case["expect"]
        marked = expect.get("convention", case.get("convention", {})) or {}
        skip = set(moves_of([v for vertices in marked.values() for v in vertices], size))
        got = planes(board, True).reshape(49, -1)
        check_integers(got, expect, size, skip, case["id"])
        sensible = set(expect["legal"]) - set(expect["not_sensible"])
        for plane, points in ((44, expect["ladder_capture"]), (45, expect["ladder_escape"]), (46, sensible)):
            found = set(np.flatnonzero(got[plane]).tolist())
            assert found - skip == set(moves_of(list(points), size)) - skip, (case["id"], plane)
        assert got[3].all()
        assert not got[47].any()
        assert got[48].all() == expect["player_is_black"]


def test_shared_cases_lie_outside_the_repository() -> None:
    assert not (Path(__file__).parents[1] / "shared").exists()


# ---- bad calls


def test_bad_calls() -> None:
    boards = [Board(9), Board(9)]
    good = np.zeros((2, 48, 9, 9), np.uint8)
    for out in (good.astype(np.int8), good.astype(np.float64), good[:, ::2], good[0], good.tolist(), "x"):
        with pytest.raises(TypeError):
            planes_batch(boards, out)  # type: ignore[arg-type]
    for out in (good[:1], np.zeros((2, 49, 9, 9), np.uint8), np.zeros((2, 48, 9, 8), np.uint8)):
        with pytest.raises(ValueError, match="out has"):
            planes_batch(boards, out)
    with pytest.raises(TypeError):
        planes_batch(boards, np.zeros((2, 48, 9, 18), np.uint8)[..., ::2])
    read_only = good.copy()
    read_only.flags.writeable = False
    with pytest.raises(TypeError):
        planes_batch(boards, read_only)
    with pytest.raises(ValueError, match="different sizes"):
        planes_batch([Board(9), Board(5)])
    for threads in (0, -1, 10**6):
        with pytest.raises(ValueError, match="threads"):
            planes_batch(boards, threads=threads)
    for wrong in ([None], [1], ["x"], [boards]):
        with pytest.raises((TypeError, RuntimeError)):
            planes_batch(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        go_engine.planes(None)  # type: ignore[arg-type]
