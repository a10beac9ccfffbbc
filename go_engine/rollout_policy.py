"""Rollout and tree policies as files: one safetensors file each, no pickle.

Tensors: `<patterns>.keys` (uint64, ascending, exact pattern keys) with `<patterns>.weights` (float32), and
float32 vectors for the kinds of features whose number is fixed. The header carries one JSON text under
"alphago": what the policy is, what it was trained on, thresholds and counts.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from go_engine import _core

HEADER_KEY = "alphago"
FILE_FORMAT = 1
KINDS = {"rollout": False, "tree": True}


class RolloutPolicyError(ValueError):
    """A file that is missing or is no rollout policy; one clear line."""


class RolloutPolicy(_core.RolloutPolicy):
    """A linear softmax over the pattern features of Extended Data Table 4.

    `probabilities(board)` and `playouts(board, n, seed, threads=1)` come from the core. `info` is what the
    file's header says beside kind and format (free: sizes trained on, counts, accuracy).
    """

    info: dict[str, Any]

    def __init__(
        self, tree: bool, tensors: dict[str, NDArray[Any]], info: dict[str, Any] | None = None
    ) -> None:
        super().__init__(tree, tensors)
        self.info = dict(info or {})

    @property
    def kind(self) -> str:
        """ "rollout" or "tree"."""
        return "tree" if self.tree else "rollout"

    @classmethod
    def uniform(cls, tree: bool = False) -> RolloutPolicy:
        """No pattern, all weights zero: every sensible move alike."""
        keys, none = np.empty(0, np.uint64), np.empty(0, np.float32)
        tensors: dict[str, NDArray[Any]] = {}
        for name in ("nakade", "response_pattern", "pattern", "diamond"):
            tensors |= {f"{name}.keys": keys, f"{name}.weights": none}
        for name, count in (
            ("response", 1),
            ("save_atari", 1),
            ("neighbour", 8),
            ("self_atari", 1),
            ("distance", 34),
        ):
            tensors[name] = np.zeros(count, np.float32)
        return cls(tree, tensors)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> RolloutPolicy:
        """Read a policy; raises RolloutPolicyError saying which file and why."""
        file = Path(path)
        if not file.is_file():
            raise RolloutPolicyError(f"{file}: no such rollout policy file")
        header, tensors = _read(file)
        if header.get("kind") not in KINDS:
            raise RolloutPolicyError(f"{file}: holds a '{header.get('kind')}', not a rollout or tree policy")
        if header.get("format") != FILE_FORMAT:
            raise RolloutPolicyError(
                f"{file}: format {header.get('format')}, this version reads {FILE_FORMAT}"
            )
        try:
            return cls(KINDS[header["kind"]], tensors, header.get("info"))
        except (ValueError, TypeError, RuntimeError) as error:
            raise RolloutPolicyError(f"{file}: {error}") from error

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the policy, in one step (a reader never sees half a file)."""
        from safetensors.numpy import save

        header = {"format": FILE_FORMAT, "kind": self.kind, "info": self.info}
        data = save(self.tensors(), metadata={HEADER_KEY: json.dumps(header, sort_keys=True)})
        file = Path(path)
        with tempfile.NamedTemporaryFile(dir=file.parent, prefix=f".{file.name}.", delete=False) as handle:
            handle.write(data)
        Path(handle.name).chmod(0o644)
        Path(handle.name).replace(file)


def _read(file: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, framework="numpy") as handle:
            header = json.loads((handle.metadata() or {}).get(HEADER_KEY, "null"))
            if not isinstance(header, dict):
                raise RolloutPolicyError(f"{file}: no header of this project, so no rollout policy")
            return header, {name: handle.get_tensor(name) for name in handle.keys()}  # noqa: SIM118
    except (SafetensorError, json.JSONDecodeError, OSError) as error:
        raise RolloutPolicyError(f"{file}: not a rollout policy file ({error})") from error
