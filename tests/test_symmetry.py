"""The eight symmetries form the group of the square, and arrays, moves and boards agree on them."""

from itertools import product

import numpy as np
import pytest

import go_engine
from go_engine import Board, inverse_symmetry, symmetry, symmetry_move, symmetry_table

ALL = range(8)
GRID = np.arange(25).reshape(5, 5)


def test_zero_is_the_identity_and_all_differ() -> None:
    assert (symmetry(GRID, 0) == GRID).all()
    assert len({symmetry(GRID, k).tobytes() for k in ALL}) == 8


def test_they_are_closed_and_every_product_is_one_of_them() -> None:
    """Every two make one of the eight, each row and column of the table has all eight, and it associates."""
    images = {symmetry(GRID, k).tobytes(): k for k in ALL}
    table = [[images[symmetry(symmetry(GRID, a), b).tobytes()] for b in ALL] for a in ALL]
    assert all(sorted(row) == list(ALL) for row in table)
    assert all(sorted(column) == list(ALL) for column in zip(*table, strict=True))
    for a, b, c in product(ALL, repeat=3):
        assert table[table[a][b]][c] == table[a][table[b][c]]
    assert all(table[k][inverse_symmetry(k)] == table[inverse_symmetry(k)][k] == 0 for k in ALL)


def test_one_to_three_are_turns_and_four_a_mirroring() -> None:
    assert (symmetry(GRID, 1) == np.rot90(GRID)).all()
    assert (symmetry(symmetry(GRID, 1), 1) == symmetry(GRID, 2)).all()
    assert (symmetry(GRID, 4) == GRID[:, ::-1]).all()


@pytest.mark.parametrize("size", range(2, 20))
def test_moves_go_where_arrays_go(size: int) -> None:
    for k in ALL:
        moved = symmetry(np.arange(size * size).reshape(size, size), k).ravel()
        for move in range(0, size * size, max(1, size // 3)):
            assert moved[symmetry_move(move, size, k)] == move
            assert symmetry_move(symmetry_move(move, size, k), size, inverse_symmetry(k)) == move
        assert symmetry_move(size * size, size, k) == size * size
        assert sorted(symmetry_table(size)[k].tolist()) == list(range(size * size + 1))


def test_planes_of_the_moved_game_are_the_moved_planes() -> None:
    rng = np.random.default_rng(5)
    board, moved = Board(7), [Board(7) for _ in ALL]
    for _ in range(40):
        moves = np.flatnonzero(board.sensible_mask())
        move = int(rng.choice(moves)) if len(moves) else board.pass_move
        board.play(move)
        for k in ALL:
            moved[k].play(symmetry_move(move, 7, k))
            assert (symmetry(go_engine.planes(board), k) == go_engine.planes(moved[k])).all()


def test_the_last_two_axes_move_and_the_result_is_contiguous() -> None:
    stack = np.arange(2 * 3 * 16).reshape(2, 3, 4, 4)
    for k in ALL:
        moved = symmetry(stack, k)
        assert moved.flags.c_contiguous
        assert moved.shape == stack.shape
        assert (moved[1, 2] == symmetry(stack[1, 2], k)).all()
        assert not np.shares_memory(moved, stack)


def test_bad_calls() -> None:
    for k in (-1, 8):
        with pytest.raises(ValueError, match="symmetry"):
            symmetry(GRID, k)
        with pytest.raises(ValueError, match="symmetry"):
            symmetry_move(0, 5, k)
        with pytest.raises(ValueError, match="symmetry"):
            inverse_symmetry(k)
    with pytest.raises(ValueError, match="not square"):
        symmetry(np.zeros((3, 4)), 1)
    with pytest.raises(ValueError, match="move 26"):
        symmetry_move(26, 5, 0)
    with pytest.raises(ValueError, match="board size"):
        symmetry_move(0, 20, 0)
