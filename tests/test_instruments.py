"""The instruments around training."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch
from training_helpers import SIZE, HeldBatch, MemorySource, policy_params, value_params

from models.checkpoint import save_checkpoint
from models.networks import PolicyNet, ValueNet
from tasks.errors import UserError
from tasks.instruments import (
    PLANE_GROUPS,
    Subject,
    checkpoint_text,
    overfit_batch,
    row_text,
    subject,
    sweep_learning_rate,
    training_row,
)
from tasks.objectives import policy_objective, value_objective
from tasks.reporting import NullReporter


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture
def policy() -> Subject:
    return Subject(policy_params(), policy_objective, MemorySource(), "loss")


def test_one_batch_can_be_learnt_by_heart(policy: Subject) -> None:
    run = NullReporter()
    curve = overfit_batch(policy, 80, run)
    assert curve[0]["loss"] > 2
    assert curve[-1]["loss"] < 0.1
    assert len(curve) == len(run.metrics) == 80
    value = Subject(value_params(), value_objective, MemorySource(49), "mse")
    assert isinstance(value.fresh(), ValueNet)
    assert overfit_batch(value, 80, NullReporter())[-1]["mse"] < 0.1


def test_the_sweep_finds_a_rate_between_too_slow_and_too_fast(policy: Subject) -> None:
    result = sweep_learning_rate(policy, [1e-6, 10.0, 0.05], 60, NullReporter())
    assert list(result.losses) == [1e-6, 0.05, 10.0]
    assert result.best == 0.05
    assert "0.05" in result.text()
    assert result.text().count("best") == 1
    assert result.figure().axes[0].get_xlabel() == "learning rate"
    assert torch.equal(policy.fresh().state_dict()["head.weight"], policy.fresh().state_dict()["head.weight"])


def test_a_row_is_shown_as_a_board() -> None:
    planes = np.zeros((1, 48, 3, 3), np.uint8)
    planes[0, 0, 0, 1] = planes[0, 1, 2, 0] = planes[0, 1, 2, 2] = 1
    planes[0, 3] = 1
    batch = HeldBatch(planes, np.array([4]), np.array([-1.0], np.float32))
    lines = row_text(batch, 0).splitlines()
    assert lines[:3] == [" .  X  .", " . [.] .", " O  .  O"]
    assert lines[3] == "outcome for the player to move: -1"
    assert "stones (own, opponent's, none): 1 2 0" in lines
    assert "ones: 9" in lines
    assert sum(count for _, count in PLANE_GROUPS) == 49


def test_rows_are_counted_through_the_batches(policy: Subject) -> None:
    second = list(islice(policy.source.batches(), 2))[1]
    assert training_row(policy, 16 + 3) == row_text(second, 3)


def test_a_checkpoint_tells_about_itself(tmp_path: Path) -> None:
    net = PolicyNet(SIZE, filters=4, layers=2)
    path = save_checkpoint(tmp_path / "p.safetensors", net, {"stage": "train-sl-policy", "steps": 12})
    text = checkpoint_text(path)
    assert "5x5 convolution, 48 -> 4" in text
    assert text.endswith("stage: train-sl-policy\nsteps: 12")


def test_a_subject_needs_data(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not a dataset folder"):
        subject(policy_params(), tmp_path)
