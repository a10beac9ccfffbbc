"""Scores of networks against what can be counted by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from training_helpers import SIZE, HeldBatch

from models.networks import PolicyNet, ValueNet
from tasks.evaluation import ValuePredictions, predict_values, score_policy
from tasks.params import ComputeParams

POINTS = SIZE * SIZE


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def batch(moves: list[int]) -> HeldBatch:
    count = len(moves)
    planes = np.zeros((count, 49, SIZE, SIZE), np.uint8)
    return HeldBatch(planes, np.array(moves, np.int64), np.ones(count, np.float32))


def test_a_policy_that_knows_an_order_of_the_points() -> None:
    net = PolicyNet(SIZE, filters=2, layers=1)
    with torch.no_grad():  # on an empty board the bias alone speaks: point 0 first, then 1, ...
        net.head.weight.zero_()
        net.position_bias.copy_(-torch.arange(POINTS, dtype=torch.float32))
    score = score_policy(net, [batch([0, 1, 4, 5]), batch([0])], ComputeParams())
    total = sum(math.exp(-point) for point in range(POINTS))
    assert score.rows == 5
    assert score.accuracy == pytest.approx(2 / 5)
    assert score.top5_accuracy == pytest.approx(4 / 5)
    assert score.log_likelihood == pytest.approx(-(0 + 1 + 4 + 5 + 0) / 5 - math.log(total), abs=1e-5)
    assert set(score.metrics(8)) == {"accuracy_8", "top5_accuracy_8", "log_likelihood_8"}


def test_no_rows_score_nothing() -> None:
    score = score_policy(PolicyNet(SIZE, filters=2, layers=1), [], ComputeParams())
    assert (score.rows, score.accuracy) == (0, 0)
    assert predict_values(ValueNet(SIZE, filters=2, layers=1), [], ComputeParams()).mse == 0


def test_errors_of_values() -> None:
    predictions = ValuePredictions(np.array([0.5, -1.0, 0.5], np.float32), np.array([1, -1, -1], np.float32))
    assert predictions.mse == pytest.approx((0.25 + 0 + 2.25) / 3)
    assert predictions.sign_accuracy == pytest.approx(2 / 3)


def test_a_network_that_says_nothing_has_error_one() -> None:
    net = ValueNet(SIZE, filters=2, layers=1)
    with torch.no_grad():
        net.output.weight.zero_()
    assert predict_values(net, [batch([0, 1, 2])], ComputeParams(), symmetries=8).mse == pytest.approx(1)
