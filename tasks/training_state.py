"""The state of a training on disk: weights, optimiser, step and curves in one file, moved into place whole.

What a resumed training computes from it is exactly what the uninterrupted one would have.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor

from models.checkpoint import CheckpointError, read_tensors, write_tensors
from models.networks import Network
from tasks.errors import UserError

STATE_FILE = "training-state.safetensors"
FORMAT = 1

Pending = tuple[int, dict[str, float]]  # steps since the last point, and the sums of their metrics
Point = dict[str, float]  # one point of the curves: "step" and the metrics at it


@dataclass
class TrainingState:
    """`step` counts finished steps; `history` are the training curves, `tests` evaluations on the way."""

    net: Network
    optimizer: torch.optim.Optimizer
    step: int = 0
    history: list[Point] = field(default_factory=list)
    tests: list[Point] = field(default_factory=list)
    pending: Pending = (0, {})

    def save(self, folder: Path) -> None:
        """Write the state, atomically."""
        tensors = {f"net.{name}": tensor for name, tensor in self.net.state_dict().items()}
        tensors |= {f"optimizer.{name}": tensor for name, tensor in self._buffers().items()}
        header = {
            "format": FORMAT,
            "kind": "training state",
            "network": self.net.config(),
            "step": self.step,
            "history": self.history,
            "tests": self.tests,
            "pending": self.pending,
        }
        write_tensors(
            folder / STATE_FILE, {key: value.detach().cpu() for key, value in tensors.items()}, header
        )

    def resume(self, folder: Path) -> bool:
        """Go on from the state in `folder`; False if there is none. UserError for another network's."""
        path = folder / STATE_FILE
        if not path.exists():
            return False
        try:
            tensors, header = read_tensors(path)
        except CheckpointError as error:
            raise UserError(f"{error}; remove it to train from the beginning") from error
        if header.get("network") != self.net.config():
            raise UserError(f"{path} belongs to another network ({header.get('network')})")
        self.net.load_state_dict(_part(tensors, "net."))
        self._set_buffers(_part(tensors, "optimizer."))
        self.step, self.history, self.tests = header["step"], header["history"], header["tests"]
        self.pending = (header["pending"][0], header["pending"][1])
        return True

    def _buffers(self) -> dict[str, Tensor]:
        """What the optimiser remembers, by "buffer/parameter"."""
        found: dict[str, Tensor] = {}
        for name, parameter in self.net.named_parameters():
            for buffer, value in self.optimizer.state.get(parameter, {}).items():
                if isinstance(value, Tensor):
                    found[f"{buffer}/{name}"] = value
        return found

    def _set_buffers(self, buffers: dict[str, Tensor]) -> None:
        parameters = dict(self.net.named_parameters())
        for key, value in buffers.items():
            buffer, _, name = key.partition("/")
            parameter = parameters[name]
            if value.shape == parameter.shape:  # on its device, in its layout
                value = torch.empty_like(parameter, requires_grad=False).copy_(value)
            self.optimizer.state[parameter][buffer] = value


def remove_state(folder: Path) -> None:
    """Drop the state when the training's result is safe."""
    (folder / STATE_FILE).unlink(missing_ok=True)


def _part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
