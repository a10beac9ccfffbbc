"""The analysis of a position: numbers that are the search's own, and files that open."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest
import torch

from flows.cli import run_app
from go_engine import BLACK, WHITE, Board
from models.checkpoint import save_checkpoint
from models.evaluators import ValueEvaluator
from models.networks import PolicyNet, ValueNet
from tasks.analysis import analyze, chance, look, position
from tasks.errors import UserError
from tests.search_helpers import BlackIsAhead, searched

SIZE = 7
GAME = f"(;GM[1]FF[4]SZ[{SIZE}]KM[3.5];B[dd];W[cc];B[ee];W[];B[bb])"


@pytest.fixture
def game(tmp_path: Path) -> Path:
    path = tmp_path / "game.sgf"
    path.write_text(GAME)
    return path


@pytest.fixture
def networks(tmp_path: Path) -> tuple[Path, Path]:
    torch.manual_seed(2)
    policy, value = tmp_path / "policy.safetensors", tmp_path / "value.safetensors"
    save_checkpoint(policy, PolicyNet(SIZE, filters=4, layers=2))
    save_checkpoint(value, ValueNet(SIZE, filters=4, layers=2, hidden=8))
    return policy, value


def test_the_position_asked_for(game: Path) -> None:
    board, _ = position(game, 3)
    assert board.move_number == 3
    assert board.komi == 3.5
    assert board.to_play == WHITE
    assert position(game, 0)[0].to_play == BLACK
    assert position(game, 5)[0].move_number == 5
    with pytest.raises(UserError, match=r"moves 0\.\.5, not 6"):
        position(game, 6)
    with pytest.raises(UserError, match="no such file"):
        position(game.with_name("none.sgf"), 0)


def test_the_numbers_are_those_of_the_search() -> None:
    board = Board(size=5)
    board.play(12)
    search = searched(board, 300, net=BlackIsAhead(), expansion_threshold=3)
    values = ValueEvaluator(ValueNet(5, filters=4, layers=2, hidden=8))
    found = look(search, values, "somebody")
    by_letter = {panel.letter: panel.values for panel in found.panels}
    assert set(by_letter["b"].values()) == {chance(-0.5)}  # White chooses, and Black is ahead
    assert sum(by_letter["e"].values()) == pytest.approx(100)
    assert max(by_letter["e"], key=lambda move: by_letter["e"][move]) == found.best == found.line[0]
    assert len(by_letter["a"]) == 24
    assert found.candidates[0]["visits"] == max(edge.visits for edge in search.edges())
    assert look(search, None, "somebody").panels[0].values == {}


def test_all_files_are_written(game: Path, networks: tuple[Path, Path], tmp_path: Path) -> None:
    policy, value = networks
    spec = f"search:policy={policy},value={value},rollouts=1,simulations=60"
    files = analyze(game, 2, spec, tmp_path / "out")
    assert files["png"].read_bytes().startswith(b"\x89PNG")
    assert json.loads(files["json"].read_text())["edges"]
    assert files["sgf"].read_text().startswith("(;GM[1]")
    page = files["html"].read_text()
    HTMLParser().feed(page)
    assert page.count("<svg") == 6
    assert "http" not in page.replace("http-equiv", "")
    with pytest.raises(UserError, match="does not search"):
        analyze(game, 2, "random", tmp_path / "out")


def test_the_command_line(game: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = "search:simulations=50"
    out = tmp_path / "here"
    assert run_app(["analyze", str(game), "--move", "4", "--player", spec, "--out", str(out)]) == 0
    assert sorted(path.name for path in out.iterdir()) == [
        "analysis.html",
        "analysis.json",
        "analysis.png",
        "analysis.sgf",
    ]
    assert run_app(["analyze", str(game), "--move", "9", "--player", spec, "--out", str(out)]) != 0
    assert "not 9" in capsys.readouterr().err
