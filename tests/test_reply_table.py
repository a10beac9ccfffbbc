"""The table of remembered replies: when a context matches, and that rollouts follow it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from test_rollout_policy import random_game

from go_engine import Board, RolloutPolicy, _core

DIAGRAM = """
. . . . . . .
. X O . . . .
. . X O . . .
. . . . . . .
. . . . . X .
. . O . . . .
. . . . . . .
"""
PREVIOUS, REPLY = 2 * 7 + 3, 1 * 7 + 3  # White's stone on the right, the cut above it


@pytest.fixture
def table() -> _core.ReplyTable:
    replies = _core.ReplyTable(8)
    replies.store(Board.from_text(DIAGRAM), PREVIOUS, REPLY)
    return replies


def test_the_same_surroundings_give_the_reply(table: _core.ReplyTable) -> None:
    board = Board.from_text(DIAGRAM)
    assert table.find(board, PREVIOUS) == REPLY
    board.play(48)  # far away
    board.play(47)
    assert table.find(board, PREVIOUS) == REPLY
    table.clear()
    assert table.find(board, PREVIOUS) is None


@pytest.mark.parametrize("changed", [(3, 3), (0, 3), (0, 4)])
def test_other_surroundings_of_either_move_do_not(table: _core.ReplyTable, changed: tuple[int, int]) -> None:
    board = Board.from_text(DIAGRAM)
    board.setup(white=[changed[0] * 7 + changed[1]])
    assert table.find(board, PREVIOUS) is None


def test_colour_liberties_and_sizes_are_part_of_the_context(table: _core.ReplyTable) -> None:
    board = Board.from_text(DIAGRAM)
    board.to_play = -1
    assert table.find(board, PREVIOUS) is None
    fewer = Board.from_text(DIAGRAM)
    fewer.setup(white=[7])  # the black stone on the left loses a liberty, out of sight of both moves
    assert table.find(fewer, PREVIOUS) == REPLY
    larger = Board.from_text(DIAGRAM)
    larger.setup(black=[3 * 7 + 2])  # the black chain beside White's stone grows
    assert table.find(larger, PREVIOUS) is None


def test_positions_and_playouts_see_the_same_context() -> None:
    for seed in range(5):
        board, moves = Board(9, ko_rule="simple"), random_game(9, seed, 100)
        for previous, move in pairwise(moves):
            board.play(previous)
            if board.pass_move in (previous, move):
                continue
            table = _core.ReplyTable(4)
            table.store(board, previous, move)
            assert table.find(board, previous) == move


def test_rollouts_play_the_reply() -> None:
    board = Board.from_text(DIAGRAM, komi=0.5)
    board.setup(white=[], empty=[PREVIOUS], to_play=-1)
    board.play(PREVIOUS)
    policy = RolloutPolicy.uniform()
    replies = _core.ReplyTable()
    replies.store(board, PREVIOUS, REPLY)
    follow = _core.rollout_choices(policy, board, 300, 1, replies, 1.0)
    assert set(follow) == {REPLY}
    half = _core.rollout_choices(policy, board, 2000, 1, replies, 0.5)
    assert np.mean(half == REPLY) == pytest.approx(0.5, abs=0.06)
    with_replies = policy.playouts(board, 50, 3, replies=replies)
    assert not np.array_equal(with_replies[1], policy.playouts(board, 50, 3)[1])


def test_a_size_out_of_range_is_refused() -> None:
    with pytest.raises(ValueError, match="2\\^40 slots"):
        _core.ReplyTable(40)
