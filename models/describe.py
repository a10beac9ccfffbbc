"""What a network is made of and what it costs: layers, parameters, floating point operations a position."""

from __future__ import annotations

from dataclasses import dataclass

from torch import nn

from models.networks import Network


@dataclass(frozen=True)
class LayerDescription:
    """One layer with weights. `flops` counts a multiplication and its addition as two, for one position."""

    name: str
    what: str
    parameters: int
    flops: int


@dataclass(frozen=True)
class NetworkDescription:
    """The layers in order, and their sums."""

    kind: str
    size: int
    layers: tuple[LayerDescription, ...]

    @property
    def parameters(self) -> int:
        return sum(layer.parameters for layer in self.layers)

    @property
    def flops(self) -> int:
        """Floating point operations of one forward pass for one position."""
        return sum(layer.flops for layer in self.layers)

    def text(self) -> str:
        """A table for a terminal, one line a layer and one for the sum."""
        rows = [(layer.name, layer.what, layer.parameters, layer.flops) for layer in self.layers]
        rows.append(("all", f"{self.kind} network, {self.size}x{self.size}", self.parameters, self.flops))
        widths = [max(len(row[0]) for row in rows), max(len(row[1]) for row in rows)]
        head = f"{'layer':{widths[0]}}  {'what':{widths[1]}}  {'parameters':>12}  {'MFLOP/position':>14}"
        lines = [
            f"{name:{widths[0]}}  {what:{widths[1]}}  {parameters:>12,}  {flops / 1e6:>14,.3f}"
            for name, what, parameters, flops in rows
        ]
        return "\n".join([head, *lines])


def describe(net: Network) -> NetworkDescription:
    """Layers, parameters and operations of a network, in the order in which a position meets them."""
    points = net.size**2
    layers = [_layer(name, module, points) for name, module in net.named_modules() if _has_weights(module)]
    own = net.named_parameters(recurse=False)  # biases that belong to no layer; each is added at every point
    layers += [LayerDescription(name, "added to each point", bias.numel(), points) for name, bias in own]
    return NetworkDescription(net.kind, net.size, tuple(layers))


def _has_weights(module: nn.Module) -> bool:
    return isinstance(module, nn.Conv2d | nn.Linear)


def _layer(name: str, module: nn.Module, points: int) -> LayerDescription:
    parameters = sum(parameter.numel() for parameter in module.parameters())
    if isinstance(module, nn.Conv2d):
        kernel = module.kernel_size[0]
        what = f"{kernel}x{kernel} convolution, {module.in_channels} -> {module.out_channels}"
        return LayerDescription(name, what, parameters, 2 * module.weight.numel() * points)
    assert isinstance(module, nn.Linear)
    what = f"fully connected, {module.in_features} -> {module.out_features}"
    return LayerDescription(name, what, parameters, 2 * module.weight.numel())
