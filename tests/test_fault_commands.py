"""Whole commands as a user starts them, with processes and servers killed or away (`make test-faults`)."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from fault_helpers import Home, alive, answers, children, end_group, free_port, half_written, kill, wait_until

from tasks.bootstrap import SOURCE_ROOT

pytestmark = [pytest.mark.faults, pytest.mark.timeout(1800)]

TRIES, ENOUGH = 12, 5
NETWORK = ("filters=8", "layers=2", "steps=60", "evaluation.every=0", "evaluation.final_rows=50")
PIPELINE = (
    *("threads=1", "parse_games.max_games=60", "train_rollout_policy.epochs=1"),
    *("train_rollout_policy.evaluation_games=10", "train_rl_policy.iterations=6", "train_rl_policy.games=8"),
    *("train_rl_policy.evaluation_games=8", "generate_value_set.positions=600"),
    *("generate_value_set.shard_positions=200", "evaluate_tournament.games=4"),
    *("evaluate_tournament.search_games=2", "evaluate_tournament.guest_games=0"),
    *(f"{section}.{one}" for section in ("train_sl_policy", "train_value_network") for one in NETWORK),
)
SMALL_TRAINING = {"filters": 16, "layers": 3, "steps": 400, "threads": 1, "log_every": 10}
PARSE = ("run", "parse-games", "--profile", "demo", "--set", "max_games=40")


def pipeline_command() -> list[str]:
    return ["run", "pipeline", "--profile", "demo", *(w for s in PIPELINE for w in ("--set", s))]


def test_a_pipeline_killed_at_random_moments_gives_the_same(tmp_path: Path) -> None:
    whole, killed = Home(tmp_path / "whole"), Home(tmp_path / "killed é 碁")
    started = time.monotonic()
    whole.run(*pipeline_command())
    seconds = time.monotonic() - started
    moments = random.Random(0)
    kills = 0
    for _ in range(TRIES):
        process = killed.start(*pipeline_command())
        try:
            process.wait(moments.uniform(0.05, 0.4) * seconds)
        except subprocess.TimeoutExpired:  # else it came to its end first, which is no kill
            kill(process)
            kills += 1
        end_group(process)
    print(f"{kills} kills in {TRIES} tries")
    assert kills >= ENOUGH
    said = killed.run(*pipeline_command())
    assert killed.digests() == whole.digests(), said
    assert not half_written(killed.folder / "data")


@contextmanager
def prefect_server(home: Path, port: int) -> Iterator[str]:
    command = [sys.executable, "-m", "prefect", "server", "start", "--port", str(port)]
    environment = Home(home).environment | {"PREFECT_HOME": str(home / "prefect")}
    with (home / "prefect.log").open("a") as log:
        process = subprocess.Popen(
            command, env=environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True
        )
    api = f"http://127.0.0.1:{port}/api"
    try:
        wait_until(lambda: answers(f"{api}/health"))
        yield api
    finally:
        end_group(process)


def test_a_prefect_server_killed_in_the_middle_and_back_a_moment_later(tmp_path: Path) -> None:
    """kill -9 of the server while a stage trains; another takes its place after ten seconds."""
    port, servers = free_port(), tmp_path / "servers"
    servers.mkdir()
    home = Home(tmp_path / "home", PREFECT_API_URL=f"http://127.0.0.1:{port}/api")
    train = ["run", "train-sl-policy", "--profile", "demo", "--set", "threads=1"]
    for setting in ("filters=16", "layers=3", "steps=600", "evaluation.every=0", "log_every=10"):
        train += ["--set", setting]
    with prefect_server(servers, port):
        home.run(*PARSE)
        process = home.start(*train)
        wait_until(lambda: list(home.folder.glob("data/train-sl-policy/*/metrics.jsonl")))
    time.sleep(10)
    with prefect_server(servers, port):
        said, _ = process.communicate()
        print(f"the stage ended with {process.returncode}")
        if process.returncode:  # a clear end, from which the same command goes on
            assert said.strip().splitlines()[-1].startswith("alphago: "), said
            assert "Traceback" not in said
            home.run(*train)
    (result,) = (one for one in home.results() if one.stage == "train-sl-policy")
    assert not result.missing()


@contextmanager
def worker(home: Home, log: Path) -> Iterator[subprocess.Popen[str]]:
    with log.open("a") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "prefect", "worker", "start", "--pool", "local-process"],
            cwd=SOURCE_ROOT,
            env=home.environment,
            stdout=output,
            stderr=output,
            stdin=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        end_group(process)


@pytest.mark.parametrize("victim", ["worker", "run"])
def test_a_worker_or_its_run_killed_in_the_middle_gives_the_same(tmp_path: Path, victim: str) -> None:
    """kill -9 of a Prefect worker, or of the run that it has started; then the same run once more."""
    port, servers, log = free_port(), tmp_path / "servers", tmp_path / "worker.log"
    servers.mkdir()
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    home = Home(
        tmp_path / "home",
        PREFECT_API_URL=f"http://127.0.0.1:{port}/api",
        PATH=programs,
        PROJECT_ROOT=str(SOURCE_ROOT),
    )
    asked = json.dumps({"params": SMALL_TRAINING | {"evaluation": {"every": 0}}})
    again = ["deployment", "run", "train-sl-policy/local", "--params", asked, "--watch"]

    with prefect_server(servers, port):
        home.run(*PARSE)
        home.run("work-pool", "create", "local-process", "--type", "process", module="prefect")
        home.run("--no-prompt", "deploy", "--all", module="prefect")
        with worker(home, log) as first:
            home.run("deployment", "run", "train-sl-policy/local", "--params", asked, module="prefect")
            wait_until(lambda: list(home.folder.glob("data/train-sl-policy/*/metrics.jsonl")))
            runs = children(first.pid, "prefect")
            assert runs
            for pid in [first.pid] if victim == "worker" else runs:
                os.kill(pid, signal.SIGKILL)
            wait_until(lambda: not any(alive(pid) for pid in runs))  # an orphan may finish
            finished = any(result.stage == "train-sl-policy" for result in home.results())
            print(f"{victim} killed: the run {'finished' if finished else 'did not finish'} by itself")
            if victim == "run":
                said = home.run(*again, module="prefect")
        if victim == "worker":
            with worker(home, log):
                said = home.run(*again, module="prefect")
    assert ("Reused" if finished else "Completed") in said
    calm = Home(tmp_path / "calm")
    calm.run(*PARSE)
    settings = [f"{name}={value}" for name, value in SMALL_TRAINING.items()] + ["evaluation.every=0"]
    calm.run("run", "train-sl-policy", "--profile", "demo", *(w for s in settings for w in ("--set", s)))
    assert home.digests() == calm.digests()


def test_an_mlflow_server_that_is_away_costs_no_work_and_is_told_later(tmp_path: Path) -> None:
    port = free_port()
    home = Home(tmp_path / "home", MLFLOW_TRACKING_URI=f"http://127.0.0.1:{port}")
    said = home.run(*PARSE)
    assert "MLflow is away" in said
    (result,) = home.results()
    assert result.run_id is None
    command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--workers", "1", "--backend-store-uri", f"sqlite:///{tmp_path / 'mlflow.db'}"]
    with (tmp_path / "mlflow.log").open("w") as log:
        server = subprocess.Popen(
            command, cwd=tmp_path, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True
        )
    try:
        wait_until(lambda: answers(f"http://127.0.0.1:{port}/health"))
        home.run(*PARSE)
    finally:
        end_group(server)
    (told,) = home.results()
    assert told.run_id
    assert {name: made.digest for name, made in told.outputs.items()} == {
        name: made.digest for name, made in result.outputs.items()
    }
