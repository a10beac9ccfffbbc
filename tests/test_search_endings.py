"""The search at the end of a game: it neither refuses to pass nor passes a won game away."""

from __future__ import annotations

import pytest

from go_engine import BLACK, WHITE, Board
from models.search_player import SearchPlayer
from tests.search_helpers import searched

DEAD_STONES = """
. X . X O
X X X X .
X X X . X
O O O O X
. O . O O
"""

# Columns 2 and 4 of the three upper rows live together: who plays between them is taken.
SEKI = """
O X . O X X .
O X . O X . X
O X X O X X X
O O O X X X X
O O O O O O O
O . O . O O O
O O O O O O O
"""

FULL = """
. X . X X
X X X X X
X X X X X
O O O O O
. O . O O
"""


def board_of(diagram: str, to_play: int, komi: float) -> Board:
    board = Board.from_text(diagram, komi=komi)
    board.to_play = to_play
    return board


@pytest.mark.parametrize("to_play", [BLACK, WHITE])
def test_passes_when_nothing_sensible_is_left(to_play: int) -> None:
    board = board_of(FULL, to_play, 0.5)
    search = searched(board, 50)
    assert search.decided
    assert search.best_move() == board.pass_move
    assert [edge.move for edge in search.edges()] == [board.pass_move]


def test_a_pass_is_no_move_while_there_is_something_to_do() -> None:
    search = searched(Board(size=5), 50)
    assert 25 not in [edge.move for edge in search.edges()]


@pytest.mark.parametrize("komi", [-2.5, 2.5])
def test_after_a_pass_the_one_who_is_ahead_passes_too(komi: float) -> None:
    board = Board(size=5, komi=komi)
    for move in (12, 6, board.pass_move):
        board.play(move)
    search = searched(board, 500, c_puct=1.0, expansion_threshold=2)
    assert board.to_play == WHITE
    assert (search.best_move() == board.pass_move) == (komi > 0)


@pytest.mark.parametrize("komi", [13.5, 14.5])
def test_in_a_seki_both_wait(komi: float) -> None:
    for to_play in (BLACK, WHITE):
        board = board_of(SEKI, to_play, -komi)
        search = searched(board, 2000, expansion_threshold=1, c_puct=1.0)
        moves = {edge.move for edge in search.edges()}
        assert moves == {2, 9, board.pass_move}
        black_wins_if_all_wait = 17 - 30 + komi > 0
        if black_wins_if_all_wait == (to_play == BLACK):
            assert search.best_move() == board.pass_move
            assert search.best_value > 0.9


@pytest.mark.parametrize("size", [5, 7])
@pytest.mark.parametrize("komi", [-30.5, 0.5, 30.5])
def test_games_end_by_two_passes_with_the_exact_score(size: int, komi: float) -> None:
    players = [SearchPlayer(simulations=40, seed=s) for s in (1, 2)]
    board = Board(size=size, komi=komi)
    for player in players:
        player.new_game(size, komi)
    while not board.is_over:
        assert board.move_number < 2 * size * size, "the game does not end"
        move = players[board.move_number % 2].choose(board)
        assert board.is_legal(move)
        board.play(move)
    if abs(komi) > 30:
        assert (board.area_score() < 0) == (komi > 0)


def test_dead_stones_are_taken_before_a_pass_that_would_lose() -> None:
    board = board_of(DEAD_STONES, BLACK, 4.5)  # Black has 15 points to 9 with the stone at the upper right
    board.play(board.pass_move, WHITE)
    board.to_play = BLACK
    search = searched(board, 500, expansion_threshold=0, c_puct=1.0)
    assert board.area_score() < 0
    assert search.best_move() != board.pass_move
