"""Uniform playouts: what is drawn, how they end, seeds and threads."""

import copy
from collections import Counter, defaultdict

import numpy as np
import pytest
from referee import Referee

from go_engine import BLACK, WHITE, Board, random_playouts


def test_shapes_and_the_ordinary_game() -> None:
    winners, moves = random_playouts(Board(19), 200, seed=1)
    assert winners.dtype == np.int8
    assert moves.dtype == np.int32
    assert winners.shape == moves.shape == (200,)
    assert set(winners.tolist()) == {BLACK, WHITE}
    assert 430 < moves.mean() < 480, "as other engines count it: about 455 with the two passes"
    assert 0.35 < (winners == BLACK).mean() < 0.6, "7.5 komi is a little too much for Black"


def test_the_same_seed_gives_the_same_playouts_on_any_number_of_threads() -> None:
    board = Board(9)
    one = random_playouts(board, 300, seed=5)
    for threads in (2, 3, 16):
        other = random_playouts(board, 300, 5, threads)
        assert all((a == b).all() for a, b in zip(one, other, strict=True))
    start = random_playouts(board, 10, seed=5)
    assert (start[1] == one[1][:10]).all(), "playout i depends on the seed and i alone"
    assert (random_playouts(board, 300, seed=6)[1] != one[1]).any()


def test_they_leave_the_board_alone() -> None:
    board = Board(9)
    board.play(40)
    before = (str(board), board.hash, board.to_play, board.move_number)
    random_playouts(board, 20, seed=0)
    assert (str(board), board.hash, board.to_play, board.move_number) == before


def test_a_finished_game_has_no_moves_and_its_own_winner() -> None:
    board = Board(5, komi=0.5)
    board.play(12)
    board.play(25)
    board.play(25)
    winners, moves = random_playouts(board, 3, seed=0)
    assert winners.tolist() == [BLACK] * 3
    assert moves.tolist() == [0] * 3


def test_only_passes_are_left_where_all_points_are_eyes() -> None:
    board = Board.from_text("""
        . X . X
        X X X X
        . X X X
        X X X .""")
    winners, moves = random_playouts(board, 5, seed=0)
    assert winners.tolist() == [BLACK] * 5
    assert moves.tolist() == [2] * 5
    board.play(board.pass_move)
    assert random_playouts(board, 5, seed=0)[1].tolist() == [1] * 5


def test_a_draw_is_nobodys() -> None:
    board = Board.from_text("X . O\nX . O\nX . O", komi=0)
    board.play(9)
    board.play(9)
    assert random_playouts(board, 2, seed=0)[0].tolist() == [0, 0]


def test_the_cap() -> None:
    _, moves = random_playouts(Board(2), 2000, seed=0)
    assert moves.max() == 2 * 2 * 2
    _, moves = random_playouts(Board(19), 500, seed=0)
    assert moves.max() < 2 * 19 * 19


def exact_distribution(size: int, cap: int) -> dict[tuple[int, int], float]:
    """Probability of each (area without komi, plies) when every sensible move is equally likely."""
    ends: dict[tuple[int, int], float] = defaultdict(float)

    def follow(game: Referee, probability: float) -> None:
        if game.passes >= 2 or game.move_number == cap:
            ends[game.stones.area(), game.move_number] += probability
            return
        points = range(size * size)
        sensible = [p for p in points if game.legal(p, game.to_play) and not game.stones.eye(p, game.to_play)]
        for move in sensible or [size * size]:
            after = copy.copy(game)
            after.history, after.played_at = set(), {}
            after.play(move, game.to_play)
            follow(after, probability / max(1, len(sensible)))

    follow(Referee(size, "simple"), 1.0)
    return ends


def test_moves_are_drawn_exactly_uniformly() -> None:
    """All games on 2x2 with their exact probabilities, against playouts: ko, capture, eyes and the cap."""
    exact = exact_distribution(2, 8)
    assert sum(exact.values()) == pytest.approx(1.0)
    n = 200_000
    # The winner shows the area only as a sign, so ask about three komis.
    for komi in (-1.5, 0.0, 2.5):
        expected: dict[tuple[int, int], float] = defaultdict(float)
        for (area, plies), probability in exact.items():
            expected[int(np.sign(area - komi)), plies] += probability
        winners, moves = random_playouts(Board(2, komi=komi), n, seed=17)
        found = Counter(zip(winners.tolist(), moves.tolist(), strict=True))
        assert set(found) <= set(expected)
        keys = sorted(k for k in expected if expected[k] * n > 5)
        rest = n - sum(found[k] for k in keys)
        observed = [*(found[k] for k in keys), rest]
        wanted = [*(expected[k] * n for k in keys), max(n - sum(expected[k] * n for k in keys), 1e-9)]
        chi_square = sum((o - e) ** 2 / e for o, e in zip(observed, wanted, strict=True))
        assert chi_square < len(keys) + 6 * np.sqrt(2 * len(keys)), komi


def test_bad_calls() -> None:
    board = Board(9)
    with pytest.raises(ValueError, match="negative"):
        random_playouts(board, -1, 0)
    for threads in (0, -3, 1000):
        with pytest.raises(ValueError, match="threads"):
            random_playouts(board, 1, 0, threads)
    for n, seed in ((2**40, 0), (1.5, 0), (1, -1), (1, 2**64), ("1", 0), (None, 0)):
        with pytest.raises(TypeError):
            random_playouts(board, n, seed)  # type: ignore[arg-type]
    winners, moves = random_playouts(board, 0, 0)
    assert len(winners) == len(moves) == 0
