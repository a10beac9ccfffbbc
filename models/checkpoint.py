"""Checkpoints: one safetensors file, whose header says in json what network the weights belong to.

No pickle anywhere, so that a checkpoint from somebody else cannot run code here. A file is written beside its
place and moved into it, so that a reader or an interruption never meets half of one.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from models.networks import Kind, Network, PolicyNet, ValueNet, build

HEADER_KEY = "alphago"
FORMAT = 1


class CheckpointError(ValueError):
    """A file that is missing, no checkpoint, or one for something else; the message is one clear line."""


def save_checkpoint(path: Path | str, net: Network, extra: dict[str, Any] | None = None) -> Path:
    """Write the network's weights and its description to `path` (*.safetensors), atomically.

    `extra` is any json: where the weights come from, how good they are. The weights are kept as float32.
    """
    header = {"format": FORMAT, **net.config(), "extra": extra or {}}
    tensors = {name: tensor.detach().to("cpu", torch.float32) for name, tensor in net.state_dict().items()}
    return write_tensors(path, tensors, header)


def load_checkpoint(path: Path | str, kind: Kind | None = None, size: int | None = None) -> Network:
    """The network of a checkpoint, on the CPU and in evaluation mode.

    Raises CheckpointError when the file is missing, no checkpoint, or not of the asked kind or board size.
    """
    header = read_header(path)
    check(path, header, kind, size)
    config = {key: value for key, value in header.items() if key not in ("format", "extra")}
    tensors, _ = read_tensors(path)
    try:
        net = build(config)
        net.load_state_dict(tensors)
    except (KeyError, TypeError, RuntimeError, ValueError) as error:
        first_line = str(error).splitlines()[0]
        raise CheckpointError(f"{path}: the weights do not fit the header: {first_line}") from error
    return net.eval()


def load_policy(path: Path | str, size: int | None = None) -> PolicyNet:
    """As `load_checkpoint`, for a policy network only."""
    net = load_checkpoint(path, "policy", size)
    assert isinstance(net, PolicyNet)
    return net


def load_value(path: Path | str, size: int | None = None) -> ValueNet:
    """As `load_checkpoint`, for a value network only."""
    net = load_checkpoint(path, "value", size)
    assert isinstance(net, ValueNet)
    return net


def read_header(path: Path | str) -> dict[str, Any]:
    """The checkpoint's description without its weights. Raises CheckpointError as `load_checkpoint` does."""
    header = _open_header(Path(path))
    if header.get("kind") not in ("policy", "value"):
        raise CheckpointError(f"{path} is not a network's checkpoint (kind {header.get('kind')!r})")
    return header


def check(path: Path | str, header: dict[str, Any], kind: Kind | None, size: int | None) -> None:
    """Raise CheckpointError if the header is of another kind or board size than asked (None: any)."""
    if kind is not None and header["kind"] != kind:
        raise CheckpointError(f"{path} is a {header['kind']} network, a {kind} network is needed")
    if size is not None and header.get("size") != size:
        found = header.get("size")
        raise CheckpointError(f"{path} is for a {found}x{found} board, not for {size}x{size}")


def write_tensors(path: Path | str, tensors: dict[str, torch.Tensor], header: dict[str, Any]) -> Path:
    """Write tensors with a json header, atomically; makes the folder if need be."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    contiguous = {name: tensor.contiguous() for name, tensor in tensors.items()}
    try:
        partial.write_bytes(save(contiguous, metadata={HEADER_KEY: json.dumps(header)}))
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return path


def read_tensors(path: Path | str) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """(tensors by name, header) of a file of `write_tensors`. Raises CheckpointError."""
    header = _open_header(Path(path))
    with safe_open(path, framework="pt", device="cpu") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, header  # noqa: SIM118 (no mapping)


def _open_header(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise CheckpointError(f"{path}: there is no such checkpoint")
    try:
        with safe_open(path, framework="pt", device="cpu") as file:
            header = json.loads((file.metadata() or {})[HEADER_KEY])
    except (SafetensorError, OSError, KeyError, ValueError) as error:
        raise CheckpointError(f"{path} is not a checkpoint of this program") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise CheckpointError(f"{path} has a checkpoint format that is not known here (known: {FORMAT})")
    return header
