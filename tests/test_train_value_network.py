"""Stage 6 on a small value set: it learns, writes what it says, refuses what is none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from training_helpers import SIZE, value_params, write_values

from models.checkpoint import load_value
from tasks.errors import UserError
from tasks.evaluation import ValuePredictions
from tasks.params import EvaluationParams
from tasks.reporting import NullReporter
from tasks.train_value_network import CHECKPOINT, run_train_value_network
from tasks.training_plots import calibration_plot


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture
def value_set(tmp_path: Path) -> Path:
    return write_values(tmp_path / "values")


@pytest.mark.parametrize("augment", [False, True])
def test_it_learns_and_leaves_a_checkpoint_and_figures(
    value_set: Path, tmp_path: Path, augment: bool
) -> None:
    run = NullReporter()
    params = value_params(
        steps=150, log_every=50, augment=augment, evaluation=EvaluationParams(every=50, symmetries=(1, 8))
    )
    result = run_train_value_network(params, {"value_set": value_set}, tmp_path / "work", run)
    metrics = result["metrics"]
    assert metrics["test/rows"] == 60
    assert metrics["test/mse"] < 0.3
    assert metrics["train/final_mse"] < 0.3
    assert metrics["test/sign_accuracy"] > 0.9
    assert "test/mse_8" in metrics
    assert set(run.figures) == {"curves.png", "calibration.png"}
    assert "60 held-out positions" in result["summary"]
    assert load_value(result["outputs"]["value_network"]["path"], size=SIZE).hidden == 16
    assert [item.name for item in (tmp_path / "work").iterdir()] == [CHECKPOINT]


def test_bad_data_is_one_clear_line(value_set: Path, tmp_path: Path) -> None:
    larger = value_params(board_size=9)
    with pytest.raises(UserError, match="positions of a 5x5 board, but board_size 9 was asked for"):
        run_train_value_network(larger, {"value_set": value_set}, tmp_path, NullReporter())
    with pytest.raises(UserError, match="not a dataset folder"):
        run_train_value_network(value_params(), {"value_set": tmp_path}, tmp_path, NullReporter())


def test_calibration_needs_no_rows() -> None:
    calibration_plot(ValuePredictions(np.zeros(0, np.float32), np.zeros(0, np.float32)))
