"""Faults of stages without Prefect: files that cannot grow, a locked store, SIGTERM, odd names, moved homes.

Each ends in a clear error or a pause, and then in the same result as without the fault.
"""

from __future__ import annotations

import resource
import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from fault_helpers import half_written
from random_games import SIZE, random_game
from training_helpers import policy_params

from flows import cli
from tasks import store
from tasks.ancestry import lineage_text
from tasks.bootstrap import DATABASE, home
from tasks.params import ParseGamesParams, StageParams, TrainRolloutPolicyParams
from tasks.parse_games import run_parse_games
from tasks.references import Scope, outside, resolve
from tasks.store import Input, StageResult
from tasks.tracking import stage_run
from tasks.train_rollout_policy import run_train_rollout_policy
from tasks.train_sl_policy import run_train_sl_policy

GAMES = 40
STRANGE = "Été à 碁会所 «a b» ' ; $x %20 #1"  # blanks, accents, and what shells and addresses take for theirs
KIB = 1024
LOCKED_SECONDS = 1.0

Work = Callable[..., dict[str, Any]]
WORKS: dict[str, tuple[Work, StageParams]] = {
    "parse-games": (
        run_parse_games,
        ParseGamesParams(
            board_size=SIZE,
            min_rank=None,
            test_positions=100,
            max_test_share=0.5,
            games_per_file=10,
            files_per_chunk=7,
            threads=1,
        ),
    ),
    "train-rollout-policy": (
        run_train_rollout_policy,
        TrainRolloutPolicyParams(
            board_size=SIZE,
            epochs=2,
            response_minimum=4,
            pattern_minimum=4,
            diamond_minimum=4,
            evaluations=1,
            threads=1,
        ),
    ),
    "train-sl-policy": (run_train_sl_policy, policy_params(board_size=SIZE, steps=4, checkpoint_every=2)),
}
TAKES = {"train-rollout-policy": "games", "train-sl-policy": "positions"}


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """No file of this process may grow beyond `size` bytes: a write fails midway, as on a full disk.

    It needs no right to mount one. Python ignores SIGXFSZ, so that the write itself fails.
    """
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def records(tmp_path: Path, data_home: Path) -> Path:  # noqa: ARG001  (an empty home)
    return write_records(tmp_path / "records")


def write_records(folder: Path) -> Path:
    folder.mkdir(parents=True)
    for number in range(GAMES):
        (folder / f"{number:03d}.sgf").write_text(random_game(number, 22))
    return folder


def run(stage: str, inputs: dict[str, Input], listen: Any = None, redo: bool = False) -> StageResult:
    """A stage as its flow runs it, without Prefect; `listen` hears of its progress."""
    work, params = WORKS[stage]
    with stage_run(stage, params, inputs, profile="demo", redo=redo) as opened:
        if opened.result is None:
            if listen:
                opened.listeners.append(listen)
            paths = {name: Path(taken.path) for name, taken in inputs.items()}
            opened.finish(work(params, paths, opened.folder, opened))
    assert opened.result is not None
    return opened.result


def inputs_of(stage: str, records: Path) -> dict[str, Input]:
    """What the stage takes, made before if need be."""
    if stage == "parse-games":
        return {"games": outside(records)}
    run("parse-games", {"games": outside(records)})
    return {TAKES[stage]: resolve(TAKES[stage], "", Scope("demo", SIZE))}


def made(result: StageResult) -> dict[str, str]:
    return {name: output.digest for name, output in result.outputs.items()}


def folders(root: Path, stage: str) -> list[Path]:
    return sorted(path for path in (root / stage).glob("*") if path.is_dir())


@pytest.mark.parametrize("limit", [1 * KIB, 6 * KIB])
@pytest.mark.parametrize("stage", WORKS)
def test_a_full_disk_is_a_clear_error_and_the_work_goes_on(
    stage: str, limit: int, records: Path, data_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.outbox.LAST_PAUSE_SECONDS", 0.0)  # MLflow cannot write either
    inputs = inputs_of(stage, records)
    with pytest.raises(Exception, match=r"(?i)file too large") as error, largest_file(limit):
        run(stage, inputs)
    assert "\n" not in str(error.value)
    assert not any(store.read_result(folder) for folder in folders(data_home, stage))
    resumed = run(stage, inputs)
    assert not resumed.reused
    assert half_written(Path(resumed.folder)) == []
    assert made(resumed) == made(run(stage, inputs, redo=True))


def test_a_database_locked_for_a_moment_is_waited_for(
    records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from tasks.mlflow_store import client

    client()  # the tables are there
    locked = threading.Event()

    def lock() -> None:
        with closing(sqlite3.connect(home() / DATABASE)) as connection:
            connection.execute("BEGIN EXCLUSIVE")
            locked.set()
            time.sleep(LOCKED_SECONDS)

    other = threading.Thread(target=lock)
    other.start()
    locked.wait()
    result = run("parse-games", {"games": outside(records)})
    other.join()
    assert "away" not in capsys.readouterr().err
    assert result.run_id
    assert client().get_run(result.run_id).info.status == "FINISHED"


@pytest.mark.parametrize("stage", ["parse-games", "train-rollout-policy"])
def test_sigterm_ends_a_stage_that_goes_on(stage: str, records: Path, data_home: Path) -> None:
    """Trainings and self-play end at a step of theirs: test_trainer.py, test_train_rl_policy.py."""
    from tasks.mlflow_store import client

    def terminate(*_: object) -> None:
        signal.raise_signal(signal.SIGTERM)

    inputs = inputs_of(stage, records)
    before = signal.signal(signal.SIGTERM, cli._terminated)
    try:
        with pytest.raises(SystemExit) as ended:
            run(stage, inputs, terminate)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert ended.value.code == 128 + signal.SIGTERM
    (left,) = folders(data_home, stage)
    assert store.read_result(left) is None
    resumed = run(stage, inputs)
    assert resumed.folder == str(left.resolve())
    assert client().get_run(str(resumed.run_id)).info.status == "FINISHED"
    assert made(resumed) == made(run(stage, inputs, redo=True))


def test_strange_names_of_folders(tmp_path: Path, data_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    strange = tmp_path / STRANGE
    for module in ("tasks.bootstrap", "tasks.store", "tasks.lineage"):
        monkeypatch.setattr(f"{module}.data_root", lambda: strange / "data")
    records = write_records(strange / "récords")
    results = [run(stage, inputs_of(stage, records)) for stage in WORKS]
    for result in results:
        assert result.folder.startswith(str(strange.resolve()))
        assert result.run_id
        assert result.missing() == []
    text = lineage_text(results[-1].folder)
    assert outside(records).digest[:12] in text
    assert "LOST" not in text
    plain = write_records(tmp_path / "records")
    for module in ("tasks.bootstrap", "tasks.store", "tasks.lineage"):
        monkeypatch.setattr(f"{module}.data_root", lambda: data_home)
    assert [made(run(stage, inputs_of(stage, plain))) for stage in WORKS] == [made(one) for one in results]


def test_interrupted_work_goes_on_in_a_moved_home(
    records: Path, data_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    def die(*_: object) -> None:
        raise Killed

    parsed = run("parse-games", {"games": outside(records)})
    with pytest.raises(Killed):
        run("train-sl-policy", {"positions": resolve("positions", "", Scope("demo", SIZE))}, die)
    (left,) = folders(data_home, "train-sl-policy")
    moved = tmp_path / "moved" / "data"
    moved.parent.mkdir()
    data_home.rename(moved)
    for module in ("tasks.bootstrap", "tasks.store", "tasks.lineage"):
        monkeypatch.setattr(f"{module}.data_root", lambda: moved)
    again = run("parse-games", {"games": outside(records)})
    assert again.reused
    assert again.folder == parsed.folder.replace(str(data_home.resolve()), str(moved.resolve()))
    inputs = {"positions": resolve("positions", "", Scope("demo", SIZE))}
    resumed = run("train-sl-policy", inputs)
    assert Path(resumed.folder) == (moved / "train-sl-policy" / left.name).resolve()
    assert made(resumed) == made(run("train-sl-policy", inputs, redo=True))
    assert not data_home.exists()
