"""The overfitting experiment at a very small scale."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from training_helpers import value_params, write_positions, write_values

from datasets.loader import Batch
from tasks.overfitting import ALL, ONE, run_overfitting
from tasks.params import EvaluationParams
from tasks.reporting import NullReporter
from tasks.training_data import KnownOutcomes


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def test_both_ways_are_followed_over_the_steps(tmp_path: Path) -> None:
    inputs = {
        "positions": write_positions(tmp_path / "corpus"),
        "value_set": write_values(tmp_path / "values"),
    }
    params = value_params(steps=12, evaluation=EvaluationParams(every=5, rows=20))
    run = NullReporter()
    result = run_overfitting(params, inputs, tmp_path / "work", run)
    lines = (tmp_path / "work" / "overfitting.md").read_text().splitlines()
    assert lines[2].startswith("| all positions of recorded games |")
    assert lines[3].endswith("| 0.226 | 0.234 |")
    assert set(result["metrics"]) == {f"{name}/{which}" for name in (ALL, ONE) for which in ("train", "test")}
    assert set(run.figures) == {"overfitting.png"}
    steps = [step for step, metrics in run.metrics if f"{ONE}/test/train" in metrics]
    assert steps == [5, 10]


def test_rows_of_unknown_outcome_are_left_out() -> None:
    planes = np.zeros((3, 49, 2, 2), np.uint8)
    planes[2] = 1
    moves = np.array([0, 1, 2])
    known = Batch(planes, moves, np.array([1, np.nan, -1], np.float32))
    unknown = Batch(planes, moves, np.full(3, np.nan, np.float32))

    class Loader:
        rows = 6

        def batches(self, start: int = 0) -> Iterator[Batch]:
            return iter([known, unknown][start:])

    loader: Any = Loader()
    (batch,) = KnownOutcomes(loader).batches()
    assert batch.moves.tolist() == [0, 2]
    assert batch.planes[1].all()
