"""Which numbers a network computes with. bfloat16 pays only where the processor has instructions for it."""

from __future__ import annotations

from typing import Literal

import torch

Precision = Literal["auto", "float32", "bfloat16"]


def number_type(precision: Precision, device: torch.device) -> torch.dtype:
    """The torch type that `precision` means on a device; auto is bfloat16 where that is fast."""
    if precision == "auto":
        return torch.bfloat16 if fast_bfloat16(device) else torch.float32
    return torch.bfloat16 if precision == "bfloat16" else torch.float32


def fast_bfloat16(device: torch.device) -> bool:
    """Whether a GPU, or this processor (AVX512-BF16 or AMX), multiplies bfloat16 numbers natively."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    checks = (
        getattr(torch.cpu, name, None) for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    )
    return any(check() for check in checks if check)
