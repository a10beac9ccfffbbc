"""The networks have the paper's layers, sizes and symmetries."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from models.describe import describe
from models.networks import PolicyNet, ValueNet, build
from models.symmetries import SYMMETRIES, restore, transform


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(5)


def test_policy_of_the_paper_has_its_layers() -> None:
    net = PolicyNet(19)
    shapes = [tuple(module.weight.shape) for module in net.modules() if isinstance(module, nn.Conv2d)]
    assert shapes == [(192, 48, 5, 5), *[(192, 192, 3, 3)] * 11, (1, 192, 1, 1)]
    assert net.position_bias.shape == (361,)
    rectifiers = [module for module in net.modules() if isinstance(module, nn.ReLU)]
    assert len(rectifiers) == 12
    by_hand = 192 * (48 * 25 + 1) + 11 * 192 * (192 * 9 + 1) + 192 + 361
    assert describe(net).parameters == by_hand == sum(p.numel() for p in net.parameters())


def test_value_net_of_the_paper_has_its_layers() -> None:
    net = ValueNet(19)
    shapes = [
        tuple(module.weight.shape) for module in net.modules() if isinstance(module, nn.Conv2d | nn.Linear)
    ]
    assert shapes == [(192, 49, 5, 5), *[(192, 192, 3, 3)] * 11, (1, 192, 1, 1), (256, 361), (1, 256)]
    assert describe(net).parameters == sum(p.numel() for p in net.parameters())


def test_flops_of_the_papers_policy() -> None:
    multiplications = 361 * 192 * (48 * 25 + 11 * 192 * 9 + 1)
    assert describe(PolicyNet(19)).flops == 2 * multiplications + 361
    text = describe(PolicyNet(9, filters=8, layers=2)).text()
    assert "5x5 convolution, 48 -> 8" in text
    assert len(text.splitlines()) == 1 + 3 + 1 + 1


@pytest.mark.parametrize("size", [5, 9, 13, 19])
def test_shapes_and_ranges_on_every_board(size: int) -> None:
    planes = torch.rand(3, 49, size, size)
    assert PolicyNet(size, filters=4, layers=2)(planes[:, :48]).shape == (3, size * size)
    values = ValueNet(size, filters=4, layers=2, hidden=8)(planes)
    assert values.shape == (3,)
    assert bool((values.abs() < 1).all())


def test_initialisation_is_as_stated() -> None:
    net = PolicyNet(9, filters=64, layers=4)
    convolutions = [module for module in net.body if isinstance(module, nn.Conv2d)]
    for convolution in convolutions:
        fan_in = convolution.weight[0].numel()
        assert convolution.weight.std().item() == pytest.approx((2 / fan_in) ** 0.5, rel=0.05)
        assert convolution.bias is not None
        assert not convolution.bias.any()
    planes = (torch.rand(32, 48, 9, 9) < 0.2).float()
    probabilities = torch.softmax(net(planes), dim=1)
    assert probabilities.max().item() < 3 / 81  # close to uniform


def test_position_bias_belongs_to_its_point() -> None:
    net = PolicyNet(5, filters=4, layers=1)
    before = net(torch.zeros(1, 48, 5, 5))
    with torch.no_grad():
        net.position_bias[7] += 1.0
    change = net(torch.zeros(1, 48, 5, 5)) - before
    assert change[0].nonzero().flatten().tolist() == [7]


def test_build_restores_the_class_and_the_sizes() -> None:
    for net in (PolicyNet(7, 20, 6, 3), ValueNet(7, 49, 6, 3, 10)):
        again = build(net.config())
        assert type(again) is type(net)
        assert again.config() == net.config()


@settings(max_examples=30, deadline=None)
@given(k=st.integers(0, SYMMETRIES - 1), size=st.integers(2, 6), seed=st.integers(0, 99))
def test_symmetries_are_those_of_the_engine_and_undo_themselves(k: int, size: int, seed: int) -> None:
    board = np.random.default_rng(seed).integers(0, 99, (2, size, size))
    flipped = np.flip(board, -1) if k >= 4 else board
    expected = np.rot90(flipped, k % 4, axes=(-2, -1))
    turned = transform(torch.from_numpy(board), k)
    assert np.array_equal(turned.numpy(), expected)
    assert np.array_equal(restore(turned, k).numpy(), board)
