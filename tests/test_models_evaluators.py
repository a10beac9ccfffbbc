"""Evaluators answer as the bare network does, whatever the batch, precision or symmetry."""

from __future__ import annotations

import gc
import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from models.backends import has_openvino
from models.evaluators import PolicyEvaluator, ValueEvaluator
from models.networks import PolicyNet, ValueNet
from models.precision import Precision, fast_bfloat16

SIZE = 5


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture
def policy() -> PolicyNet:
    torch.manual_seed(2)
    net = PolicyNet(SIZE, filters=8, layers=3)
    with torch.no_grad():  # an untrained head says nearly the same everywhere
        net.head.weight.mul_(30)
        net.position_bias.normal_()
    return net


@pytest.fixture
def value() -> ValueNet:
    torch.manual_seed(3)
    net = ValueNet(SIZE, filters=8, layers=3, hidden=16)
    with torch.no_grad():
        net.output.weight.mul_(30)
    return net


@pytest.fixture
def planes() -> np.ndarray:
    return (np.random.default_rng(4).random((7, 49, SIZE, SIZE)) < 0.2).astype(np.uint8)


def test_probabilities_are_the_softmax_of_the_network(policy: PolicyNet, planes: np.ndarray) -> None:
    given = PolicyEvaluator(policy, batch=3).probabilities(planes)  # batches of 3, 3, 1; a plane too many
    wanted = torch.softmax(policy(torch.from_numpy(planes[:, :48]).float()), 1).detach().numpy()
    assert given.dtype == np.float32
    np.testing.assert_allclose(given, wanted, rtol=1e-5, atol=1e-7)


def test_values_are_those_of_the_network(value: ValueNet, planes: np.ndarray) -> None:
    given = ValueEvaluator(value, batch=4).values(planes)
    wanted = value(torch.from_numpy(planes).float()).detach().numpy()
    assert given.shape == (7,)
    np.testing.assert_allclose(given, wanted, rtol=1e-4, atol=1e-6)


def test_an_ensemble_of_eight_turns_with_the_board(
    policy: PolicyNet, value: ValueNet, planes: np.ndarray
) -> None:
    eight = PolicyEvaluator(policy, symmetries=8)
    straight = eight.probabilities(planes).reshape(-1, SIZE, SIZE)
    turned = eight.probabilities(np.rot90(planes, 1, axes=(-2, -1))).reshape(-1, SIZE, SIZE)
    np.testing.assert_allclose(turned, np.rot90(straight, 1, axes=(-2, -1)), rtol=1e-4, atol=1e-6)
    values = ValueEvaluator(value, symmetries=8)
    np.testing.assert_allclose(
        values.values(np.flip(planes, -1)), values.values(planes), rtol=1e-4, atol=1e-6
    )
    one = PolicyEvaluator(policy).probabilities(planes)
    assert not np.allclose(one, straight.reshape(one.shape), atol=1e-3)


def test_ensemble_is_the_mean_over_the_first_symmetries(policy: PolicyNet, planes: np.ndarray) -> None:
    one = PolicyEvaluator(policy)
    turned = np.rot90(planes, 1, axes=(-2, -1))
    back = np.rot90(one.probabilities(turned).reshape(-1, SIZE, SIZE), -1, axes=(-2, -1))
    wanted = (one.probabilities(planes) + back.reshape(len(planes), -1)) / 2
    np.testing.assert_allclose(
        PolicyEvaluator(policy, symmetries=2).probabilities(planes), wanted, rtol=1e-5, atol=1e-7
    )


def test_bfloat16_is_close(policy: PolicyNet, value: ValueNet, planes: np.ndarray) -> None:
    exact = PolicyEvaluator(policy).probabilities(planes)
    rounded = PolicyEvaluator(policy, precision="bfloat16").probabilities(planes)
    assert np.abs(exact - rounded).max() < 0.03
    np.testing.assert_allclose(rounded.sum(axis=1), 1, atol=1e-5)
    exact_values = ValueEvaluator(value).values(planes)
    assert np.abs(ValueEvaluator(value, precision="bfloat16").values(planes) - exact_values).max() < 0.03


def test_training_goes_on_undisturbed(policy: PolicyNet, planes: np.ndarray) -> None:
    policy.train()
    evaluator = PolicyEvaluator(policy, precision="bfloat16")
    before = evaluator.probabilities(planes)
    assert policy.training
    assert policy.head.weight.dtype == torch.float32
    with torch.no_grad():
        policy.head.weight.zero_()
    assert np.array_equal(evaluator.probabilities(planes), before)  # it has weights of its own


def test_signals_are_survived_when_openvino_is_no_longer_used(policy: PolicyNet, planes: np.ndarray) -> None:
    """Its plugin leaves the thread a stack for signals that is gone when the plugin is unloaded."""
    if not has_openvino():
        pytest.skip("OpenVINO is not installed: pip install '.[openvino]'")
    PolicyEvaluator(policy, backend="openvino").probabilities(planes)
    gc.collect()
    heard: list[int] = []
    before = signal.signal(signal.SIGUSR1, lambda number, _: heard.append(number))
    os.kill(os.getpid(), signal.SIGUSR1)
    signal.signal(signal.SIGUSR1, before)
    assert heard == [signal.SIGUSR1]


def test_no_rows(policy: PolicyNet, planes: np.ndarray) -> None:
    assert PolicyEvaluator(policy).probabilities(planes[:0]).shape == (0, SIZE * SIZE)


def test_bad_shapes_and_symmetries_are_refused(policy: PolicyNet, planes: np.ndarray) -> None:
    for bad in (planes[0], planes[:, :40], planes[..., :4]):
        with pytest.raises(ValueError, match="the network needs"):
            PolicyEvaluator(policy).probabilities(bad)
    with pytest.raises(ValueError, match=r"symmetries must be 1\.\.8"):
        PolicyEvaluator(policy, symmetries=9)


def test_auto_is_one_of_the_two(policy: PolicyNet, planes: np.ndarray) -> None:
    given = PolicyEvaluator(policy, precision="auto").probabilities(planes)
    kind: Precision = "bfloat16" if fast_bfloat16(torch.device("cpu")) else "float32"
    assert np.array_equal(given, PolicyEvaluator(policy, precision=kind).probabilities(planes))


with_openvino = pytest.mark.skipif(not has_openvino(), reason="openvino is not installed")


@with_openvino
@pytest.mark.parametrize(("precision", "apart"), [("float32", 1e-5), ("bfloat16", 0.03)])
def test_openvino_answers_as_torch_does(
    policy: PolicyNet, value: ValueNet, planes: np.ndarray, precision: Precision, apart: float
) -> None:
    moves = PolicyEvaluator(policy, 2, precision, backend="openvino")
    outcomes = ValueEvaluator(value, 2, precision, backend="openvino")
    for rows in (planes, planes[:1], planes[:0]):
        exact = PolicyEvaluator(policy, 2).probabilities(rows), ValueEvaluator(value, 2).values(rows)
        np.testing.assert_allclose(moves.probabilities(rows), exact[0], atol=apart)
        np.testing.assert_allclose(outcomes.values(rows), exact[1], atol=apart)
    assert sys.modules["openvino_telemetry"] is None  # nobody is told


@with_openvino
def test_openvino_is_taken_where_it_is_and_answers_several_threads(
    policy: PolicyNet, planes: np.ndarray
) -> None:
    evaluator = PolicyEvaluator(policy, backend="auto")
    wanted = PolicyEvaluator(policy, backend="openvino").probabilities(planes)
    with ThreadPoolExecutor(4) as pool:
        for given in pool.map(evaluator.probabilities, [planes] * 40):
            assert np.array_equal(given, wanted)


def test_without_openvino_torch_answers(
    policy: PolicyNet, planes: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("models.backends.has_openvino", lambda: False)
    given = PolicyEvaluator(policy, backend="auto").probabilities(planes)
    assert np.array_equal(given, PolicyEvaluator(policy).probabilities(planes))
    with pytest.raises(ValueError, match="openvino is not installed"):
        PolicyEvaluator(policy, backend="openvino")
    with pytest.raises(ValueError, match="not on cuda"):
        PolicyEvaluator(policy, backend="openvino", device="cuda")
