"""Fig. 2b at a very small scale, on games whose ends are plain."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from training_helpers import SIZE, write_positions

from go_engine import Board
from models.checkpoint import save_checkpoint
from models.evaluators import PolicyEvaluator
from models.networks import PolicyNet, ValueNet
from tasks.errors import UserError
from tasks.params import ValueByStageParams
from tasks.reporting import NullReporter
from tasks.self_play import Seat
from tasks.value_by_stage import Position, choose_positions, judged_by_games, run_value_by_stage


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)


@pytest.fixture
def games(tmp_path: Path) -> Path:
    return write_positions(tmp_path / "corpus").parent / "games"


def params(**given: int) -> ValueByStageParams:
    return ValueByStageParams(board_size=SIZE, threads=1, stage_moves=5, rollouts=8, **given)


def test_every_judge_has_an_error_at_every_stage(games: Path, tmp_path: Path) -> None:
    inputs = {
        "games": games,
        "sl_policy": save_checkpoint(tmp_path / "p.safetensors", PolicyNet(SIZE, filters=4, layers=2)),
        "value_network": save_checkpoint(
            tmp_path / "v.safetensors", ValueNet(SIZE, filters=4, layers=2, hidden=4)
        ),
    }
    run = NullReporter()
    result = run_value_by_stage(params(), inputs, tmp_path / "work", run)
    lines = (tmp_path / "work" / "value-by-stage.md").read_text().splitlines()
    assert lines[0] == "| judge, moves | 0-4 | 5-9 | 10-14 |"
    assert [line.split(" | ")[0] for line in lines[2:]] == [
        "| uniform rollouts",
        "| SL policy",
        "| value network",
    ]
    assert result["metrics"]["mse/value network"] == pytest.approx(1, abs=0.1)  # it knows nothing
    assert set(run.figures) == {"value-by-stage.png"}
    again = run_value_by_stage(params(), inputs, tmp_path / "again", NullReporter())
    assert again["metrics"] == result["metrics"]


def test_positions_are_those_before_the_chosen_moves(games: Path) -> None:
    for position in choose_positions(params(), games):
        assert position.board.move_number == len(position.moves)
        assert len(position.moves) // 5 == position.stage
        assert position.outcome == position.board.to_play  # Black won all games
    assert len(choose_positions(params(games=1), games)) == 3


def test_the_rollouts_of_a_network_depend_on_the_seed_alone() -> None:
    board = Board(5, 7.5, "simple")
    moves = [move for pair in zip([0, 1, 2, 3, 4, 5], [25] * 6, strict=True) for move in pair]
    for move in moves:
        board.play(move)
    seat = Seat(PolicyEvaluator(PolicyNet(5, filters=4, layers=2), batch=16))
    several = {
        judged_by_games(Position(board, tuple(moves), 0, 1, seed), seat, 16, 1) for seed in (3, 3, 4, 5)
    }
    assert 1 < len(several) <= 3
    assert all(-1 <= outcome <= 1 for outcome in several)


def test_no_game_to_judge(games: Path) -> None:
    with pytest.raises(UserError, match="no held-out game"):
        choose_positions(ValueByStageParams(board_size=9), games)
