"""Search players: games side by side, all variants of Extended Data Table 7, their lines of text."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import torch

from go_engine import Board, RolloutPolicy
from go_engine.players import RESIGN, BatchPlayer
from models.checkpoint import save_checkpoint
from models.evaluators import PolicyEvaluator, ValueEvaluator
from models.networks import PolicyNet, ValueNet
from models.search_player import SearchPlayer
from tasks.errors import UserError
from tasks.players import Setting, make_player

SIZE = 5


@pytest.fixture(scope="module")
def networks() -> tuple[PolicyNet, ValueNet]:
    torch.set_num_threads(1)
    torch.manual_seed(1)
    return PolicyNet(SIZE, filters=4, layers=2), ValueNet(SIZE, filters=4, layers=2, hidden=8)


@pytest.fixture(scope="module")
def evaluators(networks: tuple[PolicyNet, ValueNet]) -> tuple[PolicyEvaluator, ValueEvaluator]:
    return PolicyEvaluator(networks[0]), ValueEvaluator(networks[1])


VARIANTS = [(p, v, r) for p in (True, False) for v in (True, False) for r in (True, False)]


@pytest.mark.parametrize(("policy", "value", "rollouts"), VARIANTS)
def test_every_variant_plays(
    evaluators: tuple[PolicyEvaluator, ValueEvaluator], policy: bool, value: bool, rollouts: bool
) -> None:
    player = SearchPlayer(
        policy=evaluators[0] if policy else None,
        value=evaluators[1] if value else None,
        tree=None if policy else RolloutPolicy.uniform(tree=True),
        rollouts=rollouts,
        simulations=24,
    )
    player.new_game(SIZE, 7.5)
    board = Board(size=SIZE)
    for _ in range(6):
        board.play(player.choose(board))
    search = player.search_of()
    assert search is not None
    assert any(edge.values for edge in search.edges()) == value
    assert any(edge.wins for edge in search.edges()) == rollouts or not rollouts


def test_without_simulations_the_policy_chooses(
    evaluators: tuple[PolicyEvaluator, ValueEvaluator],
) -> None:
    board = Board(size=SIZE)
    player = SearchPlayer(policy=evaluators[0], rollouts=False, simulations=0, settings={"beta": 1.0})
    player.new_game(SIZE, 7.5)
    player.choose(board)
    search = player.search_of()
    assert search is not None
    edges = search.edges()
    assert edges[0].prior == max(edge.prior for edge in edges)
    assert edges[0].prior > edges[0].placeholder
    assert search.stats().simulations == 0


def test_games_side_by_side_are_the_games_one_by_one() -> None:
    def player() -> SearchPlayer:
        return SearchPlayer(simulations=30, seed=4)

    together = player()
    assert isinstance(together, BatchPlayer)
    boards = [Board(size=SIZE) for _ in range(4)]
    for _ in range(5):
        moves = together.choose_batch(range(4), boards)
        for board, move in zip(boards, moves, strict=True):
            board.play(move)
    for game, expected in enumerate(boards):
        alone, board = player(), Board(size=SIZE)
        for _ in range(5):
            board.play(alone.choose_batch([game], [board])[0])
        assert str(board) == str(expected)
    assert len({str(board) for board in boards}) > 1
    together.end_game(0)
    assert together.search_of(0) is None


def test_a_lost_game_is_resigned_when_asked_to() -> None:
    for resign in (False, True):
        player = SearchPlayer(simulations=50, resign=resign)
        player.new_game(SIZE, -30.5)
        lost = Board(size=SIZE, komi=-30.5)
        lost.play(12)  # White cannot make up for 30.5 points on 25
        assert (player.choose(lost) == RESIGN) == resign


def test_a_search_beats_random_play() -> None:
    rng = np.random.default_rng(3)
    player = SearchPlayer(simulations=60, seed=1, settings={"c_puct": 1.0})
    won = 0
    for game in range(6):
        board = Board(size=SIZE, komi=0.5)
        player.new_game(SIZE, 0.5)
        while not board.is_over and board.move_number < 50:
            sensible = np.flatnonzero(board.sensible_mask())
            if (board.move_number + game) % 2 == 0:
                board.play(player.choose(board))
            else:
                board.play(int(rng.choice(sensible)) if len(sensible) else board.pass_move)
        won += (board.area_score() > 0) == (game % 2 == 0)
    assert won >= 5


def test_lines_of_text(tmp_path: Path, networks: tuple[PolicyNet, ValueNet]) -> None:
    policy, value = tmp_path / "policy.safetensors", tmp_path / "value.safetensors"
    save_checkpoint(policy, networks[0])
    save_checkpoint(value, networks[1])
    setting = Setting(size=SIZE, seed=3)
    line = f"search:policy={policy},value={value},lambda=0.25,simulations=20,leaves=4,c_puct=1.5,n_thr=2"
    player = make_player(line, setting)
    assert isinstance(player, SearchPlayer)
    player.new_game(SIZE, 7.5)
    board = Board(size=SIZE)
    assert board.is_legal(player.choose(board))
    search = player.search_of()
    assert search is not None
    params = search.params
    assert (params.mixing, params.c_puct, params.expansion_threshold) == (0.25, 1.5, 2)
    assert not params.use_rollouts  # a value network, and no rollout policy named
    for bad in ("colour=3", "c_puct=much", "lambda=2", "simulations=x", "evaluator=x"):
        with pytest.raises(UserError, match=bad.split("=")[0].replace("lambda", "mixing")):
            make_player(f"search:policy={policy},{bad}", setting)


def test_comments_name_the_moves_considered() -> None:
    player = SearchPlayer(simulations=60, seed=1)
    assert player.comment(3) == ""
    player.choose_batch([3], [Board(5)])
    assert re.fullmatch(r"\d+% to win after \d+ visits: ([A-E][1-5] \d+(, )?)+", player.comment(3))
    player.close()
    assert player.comment(3) == ""
