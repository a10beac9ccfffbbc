"""Faults that can be made in a moment: full disks, locked databases, signals, odd paths, moved homes."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from fault_helpers import NON_ASCII, alive, fill, half_written, set_read_only, small_disk, wait_until
from safetensors.numpy import save_file
from training_helpers import SIZE, MemorySource, policy_params, value_params, write_positions, write_values

from models.networks import PolicyNet
from tasks import lineage, store, tracking
from tasks.interruption import TrainingInterrupted, stop_all, stop_on_signal
from tasks.objectives import policy_objective
from tasks.params import EvaluationParams, ParseGamesParams, TrainSlPolicyParams
from tasks.parse_games import run_parse_games
from tasks.references import Scope, outside, resolve
from tasks.reporting import NullReporter
from tasks.store import StageResult
from tasks.tracking import METRICS_FILE, StageRun, stage_run
from tasks.train_sl_policy import run_train_sl_policy
from tasks.train_value_network import run_train_value_network
from tasks.trainer import train
from tasks.training_state import STATE_FILE

STAGE = "train-sl-policy"
PARAMS = TrainSlPolicyParams(board_size=9)
FEW_LOGS = policy_params(log_every=4, checkpoint_every=1)


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """A forked process must not find a pool of threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def trained(folder: Path, source: MemorySource | None = None) -> dict[str, torch.Tensor]:
    """The weights after the same short training, going on from what is in the folder."""
    torch.manual_seed(0)
    net = PolicyNet(SIZE, filters=8, layers=2)
    state = train(net, policy_objective, source or MemorySource(), FEW_LOGS, folder, NullReporter())
    return dict(state.net.state_dict())


def same(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(tensor, second[name]) for name, tensor in first.items())


def work(run: StageRun) -> None:
    """What a stage function would do: a curve, a model file, a return."""
    run.log_metrics({"train/loss": 0.5}, 1)
    save_file({"weights": np.array([1])}, run.folder / "sl.safetensors")
    run.finish({"outputs": {"sl_policy": {"path": "sl.safetensors", "kind": "model"}}, "metrics": {}})


def staged(games: Path) -> StageResult:
    with stage_run(STAGE, PARAMS, {"positions": outside(games)}, profile="demo") as run:
        if run.result is None:
            work(run)
    assert run.result is not None
    return run.result


@pytest.fixture
def games(tmp_path: Path) -> Path:
    path = tmp_path / "games.sgf"
    path.write_text("(;SZ[9])")
    return path


# ---- kill -9


def die_at(folder: Path, step: int) -> None:
    source = MemorySource()
    source.before = lambda index: os.kill(os.getpid(), signal.SIGKILL) if index == step else None
    trained(folder, source)


def test_a_training_killed_over_and_over_gives_the_same_weights(tmp_path: Path) -> None:
    for step in (2, 5, 9, 11):
        process = get_context("fork").Process(target=die_at, args=(tmp_path / "killed", step))
        process.start()
        process.join()
        assert process.exitcode == -signal.SIGKILL
    assert same(trained(tmp_path / "whole"), trained(tmp_path / "killed"))
    assert not half_written(tmp_path)


@pytest.mark.usefixtures("data_home")
def test_a_line_torn_by_a_kill_costs_that_line_only(games: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tasks import mlflow_store

    def away(*_: Any) -> str:
        raise ConnectionError("no route to MLflow")

    with monkeypatch.context() as patch:
        patch.setattr(mlflow_store, "start_run", away)
        patch.setattr("tasks.outbox.LAST_PAUSE_SECONDS", 0.0)
        with (  # noqa: PT012
            pytest.raises(OSError, match="killed"),
            stage_run(STAGE, PARAMS, {"positions": outside(games)}, profile="demo") as run,
        ):
            (run.folder / METRICS_FILE).write_text('["train/loss", 0.75, 1, 0]\n["train/lo')
            raise OSError("killed")
        assert staged(games).run_id is None
    told = staged(games)
    assert told.reused
    history = mlflow_store.client().get_metric_history(told.run_id, "train/loss")
    assert [(point.step, point.value) for point in history] == [(0, 0.75), (1, 0.5)]


def test_the_temporary_server_ends_with_a_killed_process() -> None:
    code = (
        "import subprocess, os, signal, sys; from flows.temporary_server import end_with_us\n"
        "child = subprocess.Popen(['sleep', '300']); end_with_us(child.pid)\n"
        "print(child.pid, flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    child = int(done.stdout)
    try:
        wait_until(lambda: not alive(child), seconds=60)
    finally:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)


# ---- SIGTERM


def test_a_signal_reaches_trainings_in_other_threads(tmp_path: Path) -> None:
    begun, ended = threading.Event(), []

    def work() -> None:
        source = MemorySource()
        source.before = lambda index: (begun.set(), begun.wait()) if index == 2 else None
        endless = policy_params(steps=10**6, checkpoint_every=10**6)
        net = PolicyNet(SIZE, filters=8, layers=2)
        try:
            train(net, policy_objective, source, endless, tmp_path, NullReporter())
        except TrainingInterrupted as error:
            ended.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    begun.wait()
    stop_all()
    thread.join(timeout=60)
    assert not thread.is_alive()
    assert "the same call goes on from there" in ended[0]
    assert (tmp_path / STATE_FILE).exists()


def test_nobody_is_asked_to_stop_after_the_end() -> None:
    with stop_on_signal() as stop:
        pass
    stop_all()
    assert not stop.asked


# ---- a full disk


def test_a_full_disk_stops_a_training_and_the_next_call_goes_on(tmp_path: Path) -> None:
    whole = trained(tmp_path / "whole")
    with small_disk(tmp_path / "disk", kibibytes=512) as disk:
        source = MemorySource()
        source.before = lambda index: fill(disk) if index == 6 else None
        with pytest.raises(OSError, match="No space left on device"):
            trained(disk / "work", source)
        assert not half_written(disk)
        (disk / "ballast").unlink()
        assert same(whole, trained(disk / "work"))


def test_a_full_disk_stops_parsing_and_the_next_call_goes_on(tmp_path: Path) -> None:
    write_positions(tmp_path / "whole")
    params = ParseGamesParams(
        board_size=SIZE, min_rank=None, test_positions=24, max_test_share=0.5, threads=1
    )
    inputs = {"games": tmp_path / "whole" / "records"}
    with small_disk(tmp_path / "disk", kibibytes=256) as disk:
        ballast = fill(disk)
        with pytest.raises(OSError, match="No space left on device"):
            run_parse_games(params, inputs, disk / "work", NullReporter())
        assert not half_written(disk)
        ballast.unlink()
        run_parse_games(params, inputs, disk / "work", NullReporter())
        for manifest in ("games/manifest.json", "positions/manifest.json"):
            assert (disk / "work" / manifest).read_bytes() == (tmp_path / "whole" / manifest).read_bytes()


def test_lines_are_added_whole_or_not_at_all(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", kibibytes=64) as disk:
        path = disk / "lines"
        store.append_lines(path, ["first"])
        ballast = fill(disk)
        with pytest.raises(OSError, match="No space left on device"):
            store.append_lines(path, ["x" * 8192])
        assert path.read_text() == "first\n"
        ballast.unlink()
        store.append_lines(path, ["second"])
        assert path.read_text() == "first\nsecond\n"


# ---- a locked database


@pytest.mark.faults
@pytest.mark.usefixtures("data_home")
def test_a_locked_database_costs_no_work_and_is_told_later(
    games: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from tasks import bootstrap, mlflow_store

    mlflow_store.client()  # makes the tables
    monkeypatch.setattr("tasks.outbox.LAST_TRIES", 1)
    with closing(sqlite3.connect(bootstrap.home() / bootstrap.DATABASE)) as other:
        other.execute("BEGIN EXCLUSIVE")
        result = staged(games)
    assert result.run_id is None
    assert "MLflow is away" in capsys.readouterr().err
    told = staged(games)
    assert told.reused
    assert told.outputs["sl_policy"].version


# ---- paths and inputs


def test_inputs_are_only_read(tmp_path: Path) -> None:
    """Every stage that reads files, from a file system that cannot be written, under a non-ASCII name."""
    with small_disk(tmp_path / NON_ASCII, kibibytes=4096) as disk:
        positions = write_positions(disk / "parsed")
        values = write_values(disk / "values")
        set_read_only(disk, True)
        few = EvaluationParams(every=0, symmetries=(1,))
        parse = ParseGamesParams(
            board_size=SIZE, min_rank=None, test_positions=24, max_test_share=0.5, threads=1
        )
        out = tmp_path / f"out {NON_ASCII}"
        quiet = NullReporter()
        run_parse_games(parse, {"games": disk / "parsed" / "records"}, out / "parse", quiet)
        run_train_sl_policy(policy_params(evaluation=few), {"positions": positions}, out / "sl", quiet)
        run_train_value_network(value_params(evaluation=few), {"value_set": values}, out / "value", quiet)
        assert (out / "parse" / "positions" / "manifest.json").exists()
        set_read_only(disk, False)


@pytest.fixture
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home with a database of its own, to be moved."""
    yield from _home_at(tmp_path / NON_ASCII, monkeypatch)


def _home_at(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    from tasks import mlflow_store

    def forget() -> None:
        for cached in (mlflow_store.client, mlflow_store.experiment_id):
            cached.cache_clear()

    monkeypatch.setenv("ALPHAGO_HOME", str(folder))
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    forget()
    yield folder
    forget()


def test_a_moved_home_is_found_again(own_home: Path, games: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tasks import mlflow_store

    first = staged(games)
    scope = Scope("demo", 9)
    moved = own_home.with_name("moved")
    own_home.rename(moved)
    for _ in _home_at(moved, monkeypatch):
        again = staged(games)
        assert again.reused
        assert again.run_id == first.run_id
        assert again.path("sl_policy").is_relative_to(moved)
        names = {file.path for file in mlflow_store.client().list_artifacts(str(first.run_id))}
        assert "lineage.json" in names
        place = tracking.find_model("alphago-sl-policy", "latest")
        assert place.path.is_file()
        taken = {"sl_policy": resolve("sl_policy", "alphago-sl-policy", scope, tracking.find_model)}
        assert taken["sl_policy"].path == str(again.path("sl_policy"))
        with stage_run("train-rl-policy", PARAMS, taken, profile="demo") as run:
            work(run)
        assert not own_home.exists()  # nothing is written to the old place
    once_more = moved.with_name("moved twice")
    moved.rename(once_more)
    for _ in _home_at(once_more, monkeypatch):
        found = store.read_result(once_more / run.folder.relative_to(moved))
        assert found is not None
        text = "\n".join(lineage.tree_lines(lineage.stage_node(found)))
        assert "LOST" not in text
        assert str(again.path("sl_policy").relative_to(moved)) in text


# ---- Prefect's temporary server on a busy machine


def test_a_server_that_is_slow_to_answer_is_waited_for() -> None:
    """Its first health check takes longer than the five seconds that Prefect allows."""
    code = """
import sys, time, threading, http.server
from prefect.server.api.server import SubprocessASGIServer
import subprocess
SLOW = '''
import sys, time, http.server
class Slow(http.server.BaseHTTPRequestHandler):
    asked = 0
    def do_GET(self):
        Slow.asked += 1
        time.sleep(7 if Slow.asked == 1 else 0)
        self.send_response(200); self.end_headers()
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Slow).serve_forever()
'''
SubprocessASGIServer._run_uvicorn_command = lambda self: subprocess.Popen(
    [sys.executable, "-c", SLOW, str(self.port)]
)
from flows.temporary_server import start_temporary_server
start_temporary_server()
server = SubprocessASGIServer()
print(server.running, server.server_process.poll())
"""
    environment = {name: value for name, value in os.environ.items() if name != "PREFECT_API_URL"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.stdout.split() == ["True", "None"], done.stderr
