"""The paper's two networks, layer by layer (Methods, "Neural network architecture").

Both begin with a stack of `layers` convolutions, each followed by a rectifier: the first 5x5, the others 3x3,
all padded with zeros so that the board keeps its size, all with `filters` outputs. The paper has layers = 12
and filters = 192; both, and the board size, are parameters here.

Policy: a 1x1 convolution to one plane, plus a bias of its own for each point; a softmax over the points
follows outside (there is no pass). Value: a 1x1 convolution to one plane, a fully connected layer of 256
rectifiers, one tanh unit. The paper names no rectifier after the value network's 1x1 convolution, so it has
none here.

Initialisation, which the paper leaves open: weights before a rectifier are drawn from a normal distribution
of variance 2 / fan-in (He et al. 2015), the other linear weights from one of variance 1 / fan-in, and the
weights of each network's last layer with a tenth of that deviation, so that an untrained policy is close to
uniform and an untrained value close to 0. All biases begin at 0. The generator is torch's global one: call
`torch.manual_seed` before.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

Kind = Literal["policy", "value"]

FIRST_KERNEL = 5
KERNEL = 3
POLICY_PLANES = 48
VALUE_PLANES = 49  # the player's colour is added
LAST_LAYER_SHRINK = 0.1
CHANNEL_BLOCK = 8


class PolicyNet(nn.Module):
    """float[B, planes, size, size] -> logits float[B, size * size], moves as row * size + column."""

    kind: ClassVar[Kind] = "policy"

    def __init__(self, size: int, planes: int = POLICY_PLANES, filters: int = 192, layers: int = 12) -> None:
        super().__init__()
        self.size, self.planes, self.filters, self.layers = size, planes, filters, layers
        self.body = convolution_stack(planes, filters, layers)
        self.head = nn.Conv2d(filters, 1, kernel_size=1, bias=False)
        self.position_bias = nn.Parameter(torch.zeros(size * size))
        initialise(self.head, gain=LAST_LAYER_SHRINK)

    def forward(self, planes: Tensor) -> Tensor:
        logits: Tensor = self.head(self.body(planes)).flatten(1) + self.position_bias
        return logits

    def config(self) -> dict[str, Any]:
        """What `build` needs to make the same network; it stands in the checkpoint's header."""
        return {key: getattr(self, key) for key in ("kind", "size", "planes", "filters", "layers")}


class ValueNet(nn.Module):
    """float[B, planes, size, size] -> value float[B] in (-1, 1), seen by the player to move."""

    kind: ClassVar[Kind] = "value"

    def __init__(
        self, size: int, planes: int = VALUE_PLANES, filters: int = 192, layers: int = 12, hidden: int = 256
    ) -> None:
        super().__init__()
        self.size, self.planes, self.filters, self.layers, self.hidden = size, planes, filters, layers, hidden
        self.body = convolution_stack(planes, filters, layers)
        self.head = nn.Conv2d(filters, 1, kernel_size=1)
        self.connect = nn.Linear(size * size, hidden)
        self.output = nn.Linear(hidden, 1)
        initialise(self.head, gain=1.0)
        initialise(self.connect, gain=math.sqrt(2))
        initialise(self.output, gain=LAST_LAYER_SHRINK)

    def forward(self, planes: Tensor) -> Tensor:
        flat = self.head(self.body(planes)).flatten(1)
        return torch.tanh(self.output(torch.relu(self.connect(flat)))).squeeze(1)

    def config(self) -> dict[str, Any]:
        """What `build` needs to make the same network; it stands in the checkpoint's header."""
        return {key: getattr(self, key) for key in ("kind", "size", "planes", "filters", "layers", "hidden")}


Network = PolicyNet | ValueNet


def build(config: dict[str, Any]) -> Network:
    """The network that `config()` described, with fresh weights. KeyError or TypeError on a bad one."""
    rest = {key: int(value) for key, value in config.items() if key != "kind"}
    classes: dict[str, type[Network]] = {"policy": PolicyNet, "value": ValueNet}
    return classes[config["kind"]](**rest)


class InputConvolution(nn.Conv2d):
    """The first convolution, computed with empty planes up to a multiple of 8; the weights keep their shape.

    With several threads oneDNN takes 25 times as long for the bfloat16 gradient of 49 planes as for 56.
    """

    def forward(self, planes: Tensor) -> Tensor:
        missing = -planes.shape[1] % CHANNEL_BLOCK
        if not missing:
            return super().forward(planes)
        room = (0, 0, 0, 0, 0, missing)
        return F.conv2d(F.pad(planes, room), F.pad(self.weight, room), self.bias, padding=self.padding)


def convolution_stack(planes: int, filters: int, layers: int) -> nn.Sequential:
    """Convolution and rectifier `layers` times, [B, planes, N, N] -> [B, filters, N, N]."""
    stack: list[nn.Module] = []
    for index in range(layers):
        kernel = FIRST_KERNEL if index == 0 else KERNEL
        inputs = planes if index == 0 else filters
        kind = InputConvolution if index == 0 else nn.Conv2d
        convolution = kind(inputs, filters, kernel, padding=kernel // 2)
        initialise(convolution, gain=math.sqrt(2))
        stack += [convolution, nn.ReLU(inplace=True)]
    return nn.Sequential(*stack)


def initialise(layer: nn.Conv2d | nn.Linear, gain: float) -> None:
    """Normal weights of standard deviation gain / sqrt(fan-in), biases 0."""
    fan_in = layer.weight[0].numel()
    nn.init.normal_(layer.weight, std=gain / math.sqrt(fan_in))
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
