"""The optimisers of the trainer: the paper's gradient descent, and Muon, which learns more a position."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from models.networks import Network
from tasks.params import TrainingParams

# Newton-Schulz iteration that brings all singular values of a matrix near 1 (Jordan et al. 2024, "Muon").
QUINTIC = (3.4445, -4.7750, 2.0315)
ITERATIONS = 5
ADAM_RMS = 0.2  # root mean square of a typical step of Adam, in learning rates (Liu et al. 2025)
ADAM_BETAS = (0.9, 0.99)
EPSILON = 1e-8


class Muon(torch.optim.Optimizer):
    """Momentum whose step is made orthogonal for the convolutions of the body, Adam for all other parameters.

    A convolution's weight is taken as a matrix of its outputs by all else. Its step is the nearest
    semi-orthogonal matrix to the (Nesterov) momentum, scaled to the size that Adam's steps have, so that both
    share one learning rate; Adam's is `adam_share` of it. Weight decay is decoupled from the gradient and
    acts on the convolutions alone. The state of a parameter is `momentum_buffer` and, with Adam,
    `square_buffer` and `steps`.
    """

    def __init__(
        self, net: Network, lr: float, momentum: float, nesterov: bool, weight_decay: float, adam_share: float
    ) -> None:
        body = {f"body.{name}" for name, given in net.body.named_parameters() if given.ndim == 4}
        matrices = [given for name, given in net.named_parameters() if name in body]
        rest = [given for name, given in net.named_parameters() if name not in body]
        groups: list[dict[str, Any]] = [
            {"params": matrices, "orthogonal": True},
            {"params": rest, "orthogonal": False},
        ]
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "nesterov": nesterov,
            "weight_decay": weight_decay,
            "adam_share": adam_share,
        }
        super().__init__(groups, defaults)

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]
        """One step along the gradients that the parameters hold."""
        loss = None if closure is None else closure()
        for group in self.param_groups:
            move = self._orthogonal_step if group["orthogonal"] else self._adam_step
            for given in group["params"]:
                if given.grad is not None:
                    move(given, given.grad, group)
        return loss

    def _orthogonal_step(self, weight: Tensor, gradient: Tensor, group: dict[str, Any]) -> None:
        state = self.state[weight]
        if not state:
            state["momentum_buffer"] = torch.zeros_like(weight)
        momentum: Tensor = state["momentum_buffer"]
        momentum.lerp_(gradient, 1 - group["momentum"])
        step = gradient.lerp(momentum, group["momentum"]) if group["nesterov"] else momentum
        matrix = orthogonalised(step.flatten(1))
        scale = ADAM_RMS * max(matrix.shape) ** 0.5
        weight.mul_(1 - group["lr"] * group["weight_decay"])
        weight.add_(matrix.view(weight.shape), alpha=-group["lr"] * scale)

    def _adam_step(self, weight: Tensor, gradient: Tensor, group: dict[str, Any]) -> None:
        state = self.state[weight]
        if not state:
            state["momentum_buffer"] = torch.zeros_like(weight)
            state["square_buffer"] = torch.zeros_like(weight)
            state["steps"] = torch.zeros(())
        state["steps"] += 1
        taken = float(state["steps"])
        first, second = ADAM_BETAS
        momentum: Tensor = state["momentum_buffer"]
        square: Tensor = state["square_buffer"]
        momentum.lerp_(gradient, 1 - first)
        square.lerp_(gradient.square(), 1 - second)
        spread = (square / (1 - second**taken)).sqrt_().add_(EPSILON)
        rate = group["lr"] * group["adam_share"] / (1 - first**taken)
        weight.addcdiv_(momentum, spread, value=-rate)


def orthogonalised(matrix: Tensor) -> Tensor:
    """Near the closest matrix with orthonormal rows or columns, float32; singular values come out near 1."""
    a, b, c = QUINTIC
    wide = matrix.shape[0] <= matrix.shape[1]
    given = (matrix if wide else matrix.T).bfloat16()
    given = given / given.norm().clamp(min=EPSILON)
    for _ in range(ITERATIONS):
        gram = given @ given.T
        given = a * given + (b * gram + c * gram @ gram) @ given
    return (given if wide else given.T).to(matrix.dtype)


def make_optimizer(net: Network, params: TrainingParams) -> torch.optim.Optimizer:
    """The optimiser that the parameters ask for, over all of the network's parameters."""
    given = params.optimizer
    if given.kind == "muon":
        return Muon(
            net, params.learning_rate, given.momentum, given.nesterov, given.weight_decay, given.adam_share
        )
    return torch.optim.SGD(
        net.parameters(),
        lr=params.learning_rate,
        momentum=given.momentum,
        nesterov=given.nesterov and given.momentum > 0,
        weight_decay=given.weight_decay,
    )
