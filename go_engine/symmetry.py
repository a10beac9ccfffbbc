"""The eight symmetries of the square board.

Symmetry k mirrors left and right if k >= 4, then makes k % 4 quarter turns to the left. Arrays are moved
along their last two axes; `symmetry(grid, k)` and `symmetry_move(move, size, k)` agree with each other.
"""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from go_engine import _core

SYMMETRIES = 8


@cache
def symmetry_table(size: int) -> NDArray[np.int16]:
    """int16[8, size * size + 1]: row k says where symmetry k takes each move; the pass stays. Read-only."""
    table: NDArray[np.int16] = _core.symmetry_table(size)
    table.flags.writeable = False
    return table


def _check(k: int) -> None:
    if not 0 <= k < SYMMETRIES:
        raise ValueError(f"symmetry {k} is not in 0..7")


def symmetry(array: NDArray[Any], k: int) -> NDArray[Any]:
    """A new contiguous array [..., size, size], its last two axes moved by symmetry k in 0..7."""
    _check(k)
    if array.ndim < 2 or array.shape[-1] != array.shape[-2]:
        raise ValueError(f"the last two axes of shape {array.shape} are not square")
    mirrored = np.flip(array, -1) if k >= 4 else array
    return np.rot90(mirrored, k % 4, axes=(-2, -1)).copy()


def symmetry_move(move: int, size: int, k: int) -> int:
    """Where symmetry k takes a move; the pass stays. ValueError for a move or k out of range."""
    _check(k)
    if not 0 <= move <= size * size:
        raise ValueError(f"move {move} is not in 0..{size * size}")
    return int(symmetry_table(size)[k, move])


def inverse_symmetry(k: int) -> int:
    """The symmetry that undoes symmetry k; a mirroring undoes itself."""
    _check(k)
    return k if k >= 4 else -k % 4
