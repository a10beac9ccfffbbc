"""The eight symmetries of the board on torch tensors, as `go_engine.symmetry` does them on numpy arrays.

Symmetry k flips the columns if k >= 4 and then turns k % 4 quarter turns against the clock.
"""

from __future__ import annotations

import torch
from torch import Tensor

SYMMETRIES = 8


def transform(tensor: Tensor, k: int) -> Tensor:
    """Symmetry k (0..7, 0 leaves it alone) on the last two axes."""
    flipped = tensor.flip(-1) if k >= 4 else tensor
    return torch.rot90(flipped, k % 4, dims=(-2, -1)) if k % 4 else flipped


def restore(tensor: Tensor, k: int) -> Tensor:
    """Undo symmetry k on the last two axes."""
    turned = torch.rot90(tensor, -(k % 4), dims=(-2, -1)) if k % 4 else tensor
    return turned.flip(-1) if k >= 4 else turned
