"""The harness of ED Table 3 at a very small scale."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from training_helpers import policy_params, write_positions

from tasks import accuracy_table
from tasks.accuracy_table import PAPER, run_accuracy_table, table
from tasks.params import AccuracyTableParams, GridPoint
from tasks.reporting import NullReporter
from tasks.train_sl_policy import CHECKPOINT


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def test_the_grid_is_trained_once_and_scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    positions = write_positions(tmp_path / "corpus")
    grid = (GridPoint(filters=4), GridPoint(filters=4, planes=12))
    params = AccuracyTableParams(**policy_params(steps=4).model_dump(), grid=grid, ensembles=(1, 8), games=4)
    run = NullReporter()
    result = run_accuracy_table(params, {"positions": positions}, tmp_path, run)
    text = (tmp_path / "accuracy.md").read_text()
    lines = text.splitlines()
    assert len(lines) == 2 + 4
    assert lines[2].startswith("| 4 | 1 | 48 |")
    assert lines[5].startswith("| 4 | 8 | 12 |")
    assert run.texts["accuracy.md"] == text
    assert lines[2].split(" | ")[5] == ""  # the network that the others play against
    assert all("[" in line.split(" | ")[5] for line in lines[3:])
    assert "strength.png" in run.figures
    games = (tmp_path / "matches.jsonl").read_text().splitlines()[1:]
    assert len(games) == 3 * 4
    assert (tmp_path / "filters-4-planes-12" / CHECKPOINT).exists()
    assert any("filters-4-planes-48/train/loss" in metrics for _, metrics in run.metrics)
    assert result["metrics"]["test/best_accuracy"] >= 0

    def never(*_: Any) -> None:
        raise AssertionError("trained again")

    monkeypatch.setattr(accuracy_table, "run_train_sl_policy", never)
    again = run_accuracy_table(params, {"positions": positions}, tmp_path, NullReporter())
    assert again["metrics"] == result["metrics"]


def test_the_papers_numbers_stand_beside_ours() -> None:
    row = accuracy_table.Row(filters=256, symmetries=8, planes=48, test=0.5, train=0.625, milliseconds=1.5)
    assert table([row]).splitlines()[-1] == "| 256 | 8 | 48 | 50.0 | 62.5 |  | 1.50 | 57.0 | 60.4 | 69 |"
    row = row._replace(wins=(0.5, 0.25, 0.75))
    assert "| 62.5 | 50.0 [25.0; 75.0] | 1.50 |" in table([row])
    default = AccuracyTableParams()
    papers = {(point.filters, point.planes) for point in default.grid}
    assert papers == {(filters, planes) for filters, _, planes in PAPER}
