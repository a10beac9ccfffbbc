"""The optimisers against torch's own, and what an orthogonal step is."""

from __future__ import annotations

import pytest
import torch

from models.networks import PolicyNet, ValueNet
from tasks.optimizers import ADAM_BETAS, Muon, orthogonalised

LEARNING_RATE = 0.01
BFLOAT16_ERROR = 0.04  # five steps of rounded iterations, in another order of operations


def gradients(net: torch.nn.Module, seed: int) -> None:
    """The same random gradients for every network of the same shape."""
    generator = torch.Generator().manual_seed(seed)
    for parameter in net.parameters():
        parameter.grad = torch.randn(parameter.shape, generator=generator)


@pytest.mark.parametrize("nesterov", [False, True])
def test_convolutions_move_as_torchs_muon_and_the_rest_as_its_adam(nesterov: bool) -> None:
    torch.manual_seed(1)
    ours, theirs = PolicyNet(5, filters=16, layers=3), PolicyNet(5, filters=16, layers=3)
    theirs.load_state_dict(ours.state_dict())
    before = {name: given.detach().clone() for name, given in ours.named_parameters()}
    muon = Muon(ours, LEARNING_RATE, momentum=0.9, nesterov=nesterov, weight_decay=0.1, adam_share=0.5)
    body = {f"body.{name}" for name, given in theirs.body.named_parameters() if given.ndim == 4}
    flat = {
        name: torch.nn.Parameter(given.detach().flatten(1).clone())
        for name, given in theirs.named_parameters()
        if name in body
    }
    reference = torch.optim.Muon(
        flat.values(),
        lr=LEARNING_RATE,
        momentum=0.9,
        nesterov=nesterov,
        weight_decay=0.1,
        adjust_lr_fn="match_rms_adamw",
    )
    adam = torch.optim.Adam(
        [given for name, given in theirs.named_parameters() if name not in body],
        lr=0.5 * LEARNING_RATE,
        betas=ADAM_BETAS,
    )
    for step in range(5):
        gradients(ours, step)
        gradients(theirs, step)
        for name, parameter in theirs.named_parameters():
            if name in body:
                assert parameter.grad is not None
                flat[name].grad = parameter.grad.flatten(1)
        muon.step()
        reference.step()
        adam.step()
    expected = dict(theirs.named_parameters()) | flat
    for name, parameter in ours.named_parameters():
        wanted = expected[name].detach().view(parameter.shape)
        error = (parameter.detach() - wanted).norm() / (wanted - before[name]).norm()
        assert error < (BFLOAT16_ERROR if name in body else 1e-5), name


@pytest.mark.parametrize("shape", [(8, 40), (40, 8), (16, 16)])
def test_orthogonalised_matrices_have_singular_values_near_one(shape: tuple[int, int]) -> None:
    matrix = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    values = torch.linalg.svdvals(orthogonalised(matrix))
    assert values.min() > 0.5
    assert values.max() < 1.3


def test_all_parameters_of_a_value_network_move() -> None:
    torch.manual_seed(0)
    net = ValueNet(5, filters=8, layers=2, hidden=16).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    before = {name: given.detach().clone() for name, given in net.named_parameters()}
    gradients(net, 0)
    Muon(net, LEARNING_RATE, momentum=0.9, nesterov=True, weight_decay=0.0, adam_share=1.0).step()
    for name, given in net.named_parameters():
        assert not torch.equal(given.detach(), before[name]), name


def test_a_gradient_of_zero_moves_nothing() -> None:
    net = PolicyNet(5, filters=8, layers=2)
    before = [given.detach().clone() for given in net.parameters()]
    for given in net.parameters():
        given.grad = torch.zeros_like(given)
    Muon(net, LEARNING_RATE, momentum=0.9, nesterov=False, weight_decay=0.0, adam_share=1.0).step()
    for given, old in zip(net.parameters(), before, strict=True):
        assert torch.equal(given.detach(), old)
