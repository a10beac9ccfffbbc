"""Local patterns: what the keys see, and that they are the same under every symmetry and colour exchange."""

from __future__ import annotations

import numpy as np
import pytest

from go_engine import BLACK, WHITE, Board, _core

SIZE = 9


def random_board(seed: int, moves: int = 60, size: int = SIZE) -> Board:
    """A board after some random sensible moves."""
    rng = np.random.default_rng(seed)
    board = Board(size)
    for _ in range(moves):
        sensible = np.flatnonzero(board.sensible_mask())
        board.play(int(rng.choice(sensible)) if len(sensible) else board.pass_move)
    return board


def transformed(moves: np.ndarray, k: int, size: int = SIZE) -> np.ndarray:
    grid = np.arange(size * size).reshape(size, size)
    turned = np.rot90(np.flip(grid, -1) if k >= 4 else grid, k % 4).ravel()
    table = np.empty(size * size, int)
    table[turned] = np.arange(size * size)
    return table[moves]


def replay(moves: list[int], colours: list[int]) -> Board:
    board = Board(SIZE, ko_rule="simple")
    for move, colour in zip(moves, colours, strict=True):
        board.play(move, colour)
    return board


def features(board: Board, move: int, tree: bool = True) -> list[tuple[str, int]]:
    return sorted(
        (name, 0 if name == "neighbour" else key) for name, key in _core.rollout_features(board, move, tree)
    )


def keys_of(board: Board, move: int, kind: str) -> list[int]:
    return [key for name, key in _core.rollout_features(board, move, True) if name == kind]


@pytest.mark.parametrize("seed", range(6))
def test_features_are_the_same_in_every_orientation_and_for_either_colour(seed: int) -> None:
    rng = np.random.default_rng(seed)
    board, moves = Board(SIZE, ko_rule="simple"), []
    for _ in range(int(rng.integers(20, 70))):
        move = int(rng.choice(np.flatnonzero(board.sensible_mask())))
        board.play(move)
        moves.append(move)
    colours = [BLACK if i % 2 == 0 else WHITE for i in range(len(moves))]
    candidates = rng.choice(np.flatnonzero(board.sensible_mask()), 12)
    for k in range(8):
        turned = replay(transformed(np.array(moves), k).tolist(), colours)
        exchanged = replay(transformed(np.array(moves), k).tolist(), [-colour for colour in colours])
        for move in candidates:
            expected = features(board, int(move))
            there = int(transformed(np.array([move]), k)[0])
            assert features(turned, there) == expected
            assert features(exchanged, there) == expected


def test_patterns_see_colour_liberties_and_edge() -> None:
    def key(diagram: str, move: int = 12) -> int:
        return keys_of(Board.from_text(diagram), move, "pattern")[0]

    empty = key(". . . . .\n" * 5)
    own = key(". . . . .\n. . . . .\n. X . . .\n. . . . .\n. . . . .\n")
    enemy = key(". . . . .\n. . . . .\n. O . . .\n. . . . .\n. . . . .\n")
    two_liberties = key(". . . . .\n. O . . .\n. X . . .\n. O . . .\n. . . . .\n")
    atari = key(". . . . .\n. O . . .\nO X . . .\n. O . . .\n. . . . .\n")
    edge = key(". . . . .\n" * 5, move=2)
    corner = key(". . . . .\n" * 5, move=0)
    assert len({empty, own, enemy, two_liberties, atari, edge, corner}) == 7
    assert empty == 0


def test_diamond_is_the_ring_and_four_more_points() -> None:
    near = Board.from_text(". . . . .\n" * 2 + "X . . . .\n" + ". . . . .\n" * 2)
    far = Board.from_text(". . . . .\n" * 5)
    assert keys_of(near, 12, "pattern") == keys_of(far, 12, "pattern")
    assert keys_of(near, 12, "diamond") != keys_of(far, 12, "diamond")


def test_canonical_is_the_smallest_of_eight() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        key = int(rng.integers(2**36))
        smallest = _core.canonical_pattern(key)
        assert smallest <= key
        assert _core.canonical_pattern(smallest) == smallest


def test_save_atari_by_running_and_by_capturing() -> None:
    board = Board.from_text(
        """
        . . . . . .
        . O O . . .
        O X X . X .
        . O O X . .
        . . X . . .
        . . . . . .
        """
    )
    assert keys_of(board, 2 * 6 + 3, "save_atari")  # runs out
    assert not keys_of(board, 0, "save_atari")
    caught = Board.from_text(
        """
        . . X . . .
        O X O X . .
        . O . X . .
        . . . . . .
        . . . . . .
        . . . . . .
        """
    )
    assert keys_of(caught, 2 * 6 + 2, "save_atari") == [0]  # takes the stone on the right of the one in atari
    assert not keys_of(caught, 2 * 6, "save_atari")


def test_nakade_is_the_shape_that_was_taken() -> None:
    board = Board.from_text(
        """
        X X X X X
        X O O O .
        X X X X X
        . . . . .
        O . . . .
        """
    )
    board.play(9)  # Black takes three in a row
    middle, end = keys_of(board, 7, "nakade"), keys_of(board, 6, "nakade")
    assert middle
    assert end == keys_of(board, 8, "nakade")
    assert middle != end
    assert keys_of(board, 18, "nakade") == []


def test_self_atari_and_distances() -> None:
    board = Board(9)
    board.play(0)
    board.play(40)
    assert keys_of(board, 42, "distance") == [2, 17 + 10]
    corner = Board.from_text(". O . . .\n" + ". . . . .\n" * 4)
    assert keys_of(corner, 0, "self_atari") == [0]
    assert keys_of(corner, 12, "self_atari") == []
    assert "self_atari" not in dict(_core.rollout_features(corner, 0, False))
