"""The stage parse-games: what it keeps, where it goes on, that its bytes are always the same."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from random_games import SIZE, random_game

from datasets.loader import PositionLoader
from datasets.records import GameRecord
from datasets.store import read_manifest
from datasets.tables import iterate_games
from tasks import parse_games
from tasks.errors import UserError
from tasks.params import ParseGamesParams
from tasks.parse_games import run_parse_games
from tasks.reporting import NullReporter

OPTIONS: dict[str, Any] = {
    "board_size": SIZE,
    "min_rank": None,
    "test_positions": 100,
    "max_test_share": 0.5,
    "games_per_file": 10,
    "files_per_chunk": 7,
    "threads": 1,
}


def run(records: Path, folder: Path, **options: Any) -> dict[str, Any]:
    folder.mkdir(parents=True, exist_ok=True)
    return run_parse_games(ParseGamesParams(**OPTIONS | options), {"games": records}, folder, NullReporter())


def digests(folder: Path) -> list[str]:
    quarantine = (folder / "quarantine.parquet").read_bytes()
    return [str(read_manifest(folder / name)["digest"]) for name in ("games", "positions")] + [
        quarantine.hex()
    ]


@pytest.fixture
def records(tmp_path: Path) -> Path:
    folder = tmp_path / "records"
    folder.mkdir()
    for number in range(40):
        (folder / f"{number:03d}.sgf").write_text(random_game(number, 22))
    return folder


def test_nothing_is_lost_without_a_row(records: Path, tmp_path: Path) -> None:
    (records / "a-copy.sgf").write_bytes((records / "007.sgf").read_bytes())
    (records / "b-broken.sgf").write_text("(;SZ[7];B[aa];")
    (records / "c-illegal.sgf").write_text("(;SZ[7];B[aa];W[aa])")
    (records / "d-short.sgf").write_text("(;SZ[7];B[aa];W[bb])")
    (records / "e-large.sgf").write_text("(;SZ[9];B[aa];W[bb])")
    (records / "f.pdf").write_bytes(b"%PDF")
    result = run(records, tmp_path / "out")
    metrics = result["metrics"]
    assert metrics["files"] == metrics["records"] == 46
    assert metrics["games"] == 40
    assert metrics["refused"] == 3
    assert (
        metrics["dropped/duplicate"] == metrics["dropped/too_few_moves"] == metrics["dropped/board_size"] == 1
    )
    rows = pq.read_table(tmp_path / "out" / "quarantine.parquet").to_pylist()
    assert [(row["source"], row["move_number"]) for row in rows] == [
        ("b-broken.sgf", None),
        ("c-illegal.sgf", 2),
        ("f.pdf", None),
    ]
    assert not (tmp_path / "out" / "work").exists()
    for name in ("games", "positions"):
        assert result["outputs"][name]["kind"] == "dataset"
    assert "40 games kept" in result["summary"]


def test_moves_before_an_illegal_one_can_be_kept(records: Path, tmp_path: Path) -> None:
    game = random_game(999, 20)
    stone = game.rindex(";")
    point = next(part[2:4] for part in game[stone - 60 : stone].split(";")[::-1] if len(part) >= 5)
    (records / "x.sgf").write_text(game[:-1] + f";B[{point}];W[{point}])")
    metrics = run(records, tmp_path / "kept", keep_before_illegal=True)["metrics"]
    assert metrics["games"] == 41
    (row,) = pq.read_table(tmp_path / "kept" / "quarantine.parquet").to_pylist()
    assert row["kept_moves"] == row["move_number"] - 1 >= 20


def mirrored(text: str) -> str:
    """A game without setup stones, mirrored left and right."""
    letters = "abcdefg"
    return re.sub(
        r";([BW])\[(\w)(\w)\]", lambda m: f";{m[1]}[{letters[6 - letters.index(m[2])]}{m[3]}]", text
    )


def test_turned_games_count_once_and_never_cross_the_splits(tmp_path: Path) -> None:
    records = tmp_path / "records"
    records.mkdir()
    for number in range(1, 20, 3):
        text = random_game(number, 30)
        (records / f"{number:03d}.sgf").write_text(text)
        (records / f"z{number:03d}.sgf").write_text(mirrored(text))
    count = len(list(records.iterdir()))
    once = run(records, tmp_path / "once")
    assert once["metrics"]["games"] == count / 2
    assert once["metrics"]["dropped/duplicate_up_to_symmetry"] == count / 2
    both = run(records, tmp_path / "both", duplicates="exact")
    assert both["metrics"]["games"] == count
    test = {game.canonical_id for game in iterate_games(tmp_path / "both" / "games", "test")}
    train = {game.canonical_id for game in iterate_games(tmp_path / "both" / "games", "train")}
    assert test
    assert not test & train


def test_splits_are_whole_games_and_the_first(records: Path, tmp_path: Path) -> None:
    run(records, tmp_path / "out")
    manifest = read_manifest(tmp_path / "out" / "games", "games")
    test = list(iterate_games(tmp_path / "out" / "games", "test"))
    assert [game.source for game in test] == [f"{n:03d}.sgf" for n in range(len(test))]
    assert manifest["splits"] == {"train": 40 - len(test), "test": len(test)}
    rows = PositionLoader(tmp_path / "out" / "positions", 8, split="test").rows
    assert 100 <= rows < 100 + 22


def test_games_come_back_as_they_were(records: Path, tmp_path: Path) -> None:
    from datasets import read_games

    run(records, tmp_path / "out", test_positions=0)
    again = list(iterate_games(tmp_path / "out" / "games"))
    read = [game for game in read_games(records) if isinstance(game, GameRecord)]
    for one, other in zip(again, read, strict=True):
        one.first_player = other.first_player = None
        assert one == other


def test_bytes_do_not_depend_on_the_processes(
    records: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(records, tmp_path / "one")
    monkeypatch.setattr(parse_games, "PARALLEL_FROM_BYTES", 0)
    run(records, tmp_path / "two", threads=2)
    assert digests(tmp_path / "one") == digests(tmp_path / "two")


def test_reading_tells_how_far_it_is(records: Path, tmp_path: Path) -> None:
    told: list[tuple[float, float]] = []

    class Listener(NullReporter):
        def progress(self, done: float, total: float, note: str = "") -> None:
            if "records to games" in note:
                told.append((done, total))

    run_parse_games(ParseGamesParams(**OPTIONS), {"games": records}, tmp_path, Listener())
    assert [done for done, _ in told] == [7, 14, 21, 28, 35, 40, 40]  # in chunks of 7
    assert all(30 <= total <= 50 for _, total in told)
    assert told[-1] == (40, 40)


KILLED = """
import sys, pathlib
from test_parse_games import run
run(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
"""


def test_killed_and_resumed_gives_the_same_bytes(records: Path, tmp_path: Path) -> None:
    run(records, tmp_path / "whole")
    out = tmp_path / "killed"
    tests = Path(__file__).parent
    paths = os.pathsep.join(map(str, (tests, tests.parent)))
    kinds = ("work/counts-000001.json", "games/manifest.json", "positions/train-00000.parquet")
    for wanted in kinds:  # killed in the middle of each step
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, records, out], env=os.environ | {"PYTHONPATH": paths}
        )
        deadline = time.monotonic() + 60
        while process.poll() is None and not (out / wanted).exists() and time.monotonic() < deadline:
            time.sleep(0.002)
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
        process.wait()
    run(records, out)
    assert digests(out) == digests(tmp_path / "whole")
    assert not list(out.rglob("*.part"))


def test_errors_are_one_line(records: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file or folder"):
        run(tmp_path / "nothing", tmp_path / "out")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="no files"):
        run(tmp_path / "empty", tmp_path / "out")
    with pytest.raises(UserError, match="no game is left of 40 records: 40 dropped: rank"):
        run(records, tmp_path / "out", min_rank="6d")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "a.sgf").write_text("hello")
    with pytest.raises(UserError, match="1 refused: no SGF data found"):
        run(tmp_path / "bad", tmp_path / "out2")
