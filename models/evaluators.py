"""Batched evaluation: planes as the engine makes them in, probabilities or values as numpy arrays out.

With n symmetries the answer is the mean over the first n of the board's eight symmetries, each answer turned
back before it is averaged (the paper averages over all eight; 1, 2 and 4 are cheaper approximations).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.backends import Backend, BackendName, make_backend
from models.networks import Network, PolicyNet, ValueNet
from models.precision import Precision
from models.symmetries import SYMMETRIES, restore, transform

Once = Callable[
    [Backend, Tensor, int], Tensor
]  # (network, planes, symmetry) -> answer in the board's own frame
DEFAULT_BATCH = 256


class PolicyEvaluator:
    """Move probabilities from a policy network.

    `batch` bounds how many positions go through the network at once, whatever the caller hands over.
    bfloat16 is two to six times as fast where the processor has instructions for it and keeps some 3 digits;
    auto takes it there. `backend` says what computes, see `models.backends`; to be ready OpenVINO takes some
    tenths of a second, which pays where a network answers many times.
    """

    def __init__(
        self,
        net: PolicyNet,
        symmetries: int = 1,
        precision: Precision = "float32",
        batch: int = DEFAULT_BATCH,
        device: str = "cpu",
        backend: BackendName = "torch",
    ) -> None:
        self.size, self.planes = net.size, net.planes
        self._network = _Batched(net, symmetries, precision, batch, device, backend)
        self.accelerated = self._network.device.type != "cpu"  # leaves the processor free meanwhile

    def probabilities(self, planes: NDArray[np.uint8]) -> NDArray[np.float32]:
        """uint8[B, C, N, N] -> float32[B, N * N], each row summing to 1 over all points, legal or not.

        C may be larger than the network's number of planes, which then sees the first ones: a network of
        few planes, or a value network's 49, need no special handling. ValueError for any other shape.
        """
        return self._network.run(planes, self._once)

    def _once(self, net: Backend, planes: Tensor, k: int) -> Tensor:
        probabilities = torch.softmax(net(transform(planes, k)), dim=1)
        board = probabilities.reshape(-1, self.size, self.size)
        return restore(board, k).flatten(1)


class ValueEvaluator:
    """Expected outcome in (-1, 1) for the player to move, from a value network; see `PolicyEvaluator`."""

    def __init__(
        self,
        net: ValueNet,
        symmetries: int = 1,
        precision: Precision = "float32",
        batch: int = DEFAULT_BATCH,
        device: str = "cpu",
        backend: BackendName = "torch",
    ) -> None:
        self.size, self.planes = net.size, net.planes
        self._network = _Batched(net, symmetries, precision, batch, device, backend)

    def values(self, planes: NDArray[np.uint8]) -> NDArray[np.float32]:
        """uint8[B, C, N, N] -> float32[B]; C as in `PolicyEvaluator.probabilities`."""
        return self._network.run(planes, self._once)

    def _once(self, net: Backend, planes: Tensor, k: int) -> Tensor:
        return net(transform(planes, k))


class _Batched:
    """A network ready for inference, given bounded batches under one or several symmetries."""

    def __init__(
        self,
        net: Network,
        symmetries: int,
        precision: Precision,
        batch: int,
        device: str,
        backend: BackendName,
    ) -> None:
        if not 1 <= symmetries <= SYMMETRIES:
            raise ValueError(f"symmetries must be 1..{SYMMETRIES}, not {symmetries}")
        self.planes, self.size = net.planes, net.size
        self.symmetries, self.batch, self.device = symmetries, batch, torch.device(device)
        self.net = make_backend(net, backend, precision, self.device)

    @torch.inference_mode()
    def run(self, planes: NDArray[np.uint8], once: Once) -> NDArray[np.float32]:
        shape = planes.shape
        if planes.ndim != 4 or shape[1] < self.planes or shape[2:] != (self.size, self.size):
            needed = f"(B, {self.planes} or more, {self.size}, {self.size})"
            raise ValueError(f"planes of shape {shape} given, the network needs {needed}")
        if len(planes) == 0:  # of the right width, without asking the network for it
            return self.run(np.zeros((1, *shape[1:]), np.uint8), once)[:0]
        planes = planes[:, : self.planes]
        parts = [self._part(planes[i : i + self.batch], once) for i in range(0, len(planes), self.batch)]
        return np.concatenate(parts) if len(parts) > 1 else parts[0]

    def _part(self, planes: NDArray[np.uint8], once: Once) -> NDArray[np.float32]:
        inputs = torch.from_numpy(np.ascontiguousarray(planes)).to(self.device)
        total = once(self.net, inputs, 0)
        for k in range(1, self.symmetries):
            total = total + once(self.net, inputs, k)
        answer: NDArray[np.float32] = (total / self.symmetries).cpu().numpy()
        return answer
