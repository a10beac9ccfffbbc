"""Stage 3 on a small corpus: it learns, writes what it says, resumes, refuses bad data."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
import torch
from training_helpers import SIZE, policy_params, write_positions

from models.checkpoint import load_policy, read_header
from tasks.errors import UserError
from tasks.interruption import TrainingInterrupted
from tasks.params import EvaluationParams
from tasks.reporting import NullReporter
from tasks.train_sl_policy import CHECKPOINT, run_train_sl_policy
from tasks.training_state import STATE_FILE


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def positions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_positions(tmp_path_factory.mktemp("corpus"))


def test_it_learns_and_leaves_a_checkpoint_and_figures(positions: Path, tmp_path: Path) -> None:
    run = NullReporter()
    params = policy_params(
        steps=200, log_every=50, evaluation=EvaluationParams(every=100, symmetries=(1, 2, 8))
    )
    result = run_train_sl_policy(params, {"positions": positions}, tmp_path, run)
    metrics = result["metrics"]
    assert metrics["test/rows"] == 24
    assert metrics["test/accuracy"] > 0.3  # a guess is right once in 25
    assert {"test/accuracy_2", "test/top5_accuracy_8", "test/log_likelihood_8"} <= set(metrics)
    assert set(run.figures) == {"curves.png"}
    assert "5x5 convolution, 48 -> 8" in run.texts["network.txt"]
    assert "of 24 held-out moves" in result["summary"]
    path = result["outputs"]["sl_policy"]["path"]
    assert load_policy(path, size=SIZE).filters == 8
    assert read_header(path)["extra"]["metrics"] == metrics
    assert sorted(item.name for item in tmp_path.iterdir()) == [CHECKPOINT]


def test_the_same_seed_gives_the_same_weights(positions: Path, tmp_path: Path) -> None:
    weights = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        params = policy_params(steps=10, seed=seed)
        run_train_sl_policy(params, {"positions": positions}, tmp_path / name, NullReporter())
        weights.append(load_policy(tmp_path / name / CHECKPOINT).head.weight)
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_an_interrupted_training_ends_as_if_it_had_not_been(positions: Path, tmp_path: Path) -> None:
    class Stopping(NullReporter):
        def progress(self, done: float, *_: object, **__: object) -> None:
            if done == 7:
                os.kill(os.getpid(), signal.SIGTERM)

    params = policy_params(steps=16)
    inputs = {"positions": positions}
    with pytest.raises(TrainingInterrupted, match="stopped after step 7"):
        run_train_sl_policy(params, inputs, tmp_path / "a", Stopping())
    assert [item.name for item in (tmp_path / "a").iterdir()] == [STATE_FILE]
    again = run_train_sl_policy(params, inputs, tmp_path / "a", NullReporter())
    whole = run_train_sl_policy(params, inputs, tmp_path / "b", NullReporter())
    assert again["metrics"] == whole["metrics"]
    assert (tmp_path / "a" / CHECKPOINT).read_bytes() == (tmp_path / "b" / CHECKPOINT).read_bytes()


def test_fewer_planes(positions: Path, tmp_path: Path) -> None:
    params = policy_params(planes=4, steps=3)
    run_train_sl_policy(params, {"positions": positions}, tmp_path, NullReporter())
    assert load_policy(tmp_path / CHECKPOINT).planes == 4


def test_bad_data_is_one_clear_line(positions: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="positions of a 5x5 board, but board_size 9 was asked for"):
        run_train_sl_policy(policy_params(board_size=9), {"positions": positions}, tmp_path, NullReporter())
    with pytest.raises(UserError, match="not a dataset folder"):
        run_train_sl_policy(policy_params(), {"positions": tmp_path}, tmp_path, NullReporter())
