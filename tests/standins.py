"""Small real stand-ins for the stage functions: they read what they are given and write what they promise.

They let the orchestration be tested in seconds; an output depends on the inputs' bytes and the parameters.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from tasks.params import StageParams
from tasks.reporting import Reporter

calls: list[str] = []  # the stage functions called, in order

MODELS = {
    "train_rollout_policy": ("rollout_policy", "tree_policy"),
    "train_sl_policy": ("sl_policy",),
    "train_rl_policy": ("rl_policy",),
    "train_value_network": ("value_network",),
}
DATASETS = {"parse_games": ("games", "positions"), "generate_value_set": ("value_set",)}


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the stand-ins in the place of all stage modules."""
    calls.clear()
    for name in (*MODELS, *DATASETS, "evaluate_tournament"):
        module = ModuleType(f"tasks.{name}")

        def work(
            params: StageParams,
            inputs: dict[str, Path],
            folder: Path,
            run: Reporter,
            n: str = name,
            **_: object,  # who makes shards or parts
        ) -> Any:
            return _work(n, params, inputs, folder, run)

        setattr(module, f"run_{name}", work)
        monkeypatch.setitem(sys.modules, f"tasks.{name}", module)


def _work(
    name: str, params: StageParams, inputs: dict[str, Path], folder: Path, run: Reporter
) -> dict[str, Any]:
    calls.append(name)
    digest = hashlib.sha256(f"{name} {params.model_dump_json()}".encode())
    for key in sorted(inputs):
        digest.update(_bytes_of(inputs[key]))
    for step in range(1, 4):
        run.log_metrics({"train/loss": 1.0 / step}, step)
        run.progress(step, 3)
    run.log_text("notes/made.txt", name)
    outputs = {}
    for output in DATASETS.get(name, ()):
        outputs[output] = {"path": str(_dataset(folder / output, digest.hexdigest())), "kind": "dataset"}
    for output in MODELS.get(name, ()):
        path = folder / f"{output}.safetensors"
        save_file({"weights": np.frombuffer(digest.digest(), np.uint8).copy()}, path)
        outputs[output] = {"path": str(path), "kind": "model"}
    if name == "evaluate_tournament":
        (folder / "crosstable.csv").write_text(digest.hexdigest())
        outputs["crosstable"] = {"path": "crosstable.csv", "kind": "artifact"}
    return {"outputs": outputs, "metrics": {"test/accuracy": 0.5}, "summary": f"table of {name}"}


def _dataset(folder: Path, digest: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "part-0.parquet").write_text(digest)
    shard = hashlib.sha256(digest.encode()).hexdigest()
    manifest = {
        "kind": folder.name,
        "schema_version": 1,
        "size": 9,
        "rows": 3,
        "games": 1,
        "files": [{"name": "part-0.parquet", "rows": 3, "sha256": shard}],
        "digest": shard,
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def _bytes_of(path: Path) -> bytes:
    return (path / "manifest.json").read_bytes() if path.is_dir() else path.read_bytes()
