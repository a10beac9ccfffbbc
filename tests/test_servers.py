"""The servers as docs/quickstart.md starts them: the pages, a worker, a run with nested parameters, reuse."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import documented
import pytest
from fault_helpers import free_port

from flows.params import stage_params
from tasks.bootstrap import SOURCE_ROOT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
QUICKSTART = "docs/quickstart.md"
PREFECT_PORT, STEPS = "4200", '"steps": 300'  # as the page has them
SMALL_STEPS = '"steps": 3'
RUN_SECONDS = 600.0


def environment(home: Path) -> dict[str, str]:
    """That of a user's terminal: nothing of this process's Prefect or MLflow, our programs in the path."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT", "MLFLOW"))}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return kept | {"ALPHAGO_HOME": str(home), "PATH": path}


@contextmanager
def pages_served(home: Path, mlflow_port: int, prefect_port: int) -> Iterator[None]:
    """`alphago ui`, up until the block ends."""
    command = [sys.executable, "-m", "flows.cli", "ui"]
    command += ["--mlflow-port", str(mlflow_port), "--prefect-port", str(prefect_port)]
    process = subprocess.Popen(
        command, cwd=SOURCE_ROOT, env=environment(home), stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        lines = [process.stdout.readline() for _ in range(3)]
        assert lines[1].startswith("Prefect")
        yield
    finally:
        process.terminate()
        process.communicate(timeout=60)


def quickstart_script(home: Path, prefect_port: int) -> str:
    """The page's block for the second terminal, run twice over, on another port and in another home.

    The worker, which it leaves running, is ended with SIGKILL: Prefect passes SIGTERM on as SIGINT, which
    what a script starts in the background ignores.
    """
    (block,) = (one for one in documented.shell_blocks(QUICKSTART) if "prefect worker start" in one)
    block = block.replace("$PWD/.alphago", f'"{home}"').replace(PREFECT_PORT, str(prefect_port))
    assert STEPS in block
    block = block.replace(STEPS, SMALL_STEPS)
    run = block.strip().splitlines()[-1]
    return f"set -e\ntrap 'kill -9 $!' EXIT\n{block}\n{run}\n"


def result_of(home: Path) -> dict[str, Any]:
    (path,) = home.glob("data/train-sl-policy/*/result.json")
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def states_of_deployment_runs(port: int) -> list[str]:
    request = Request(
        f"http://127.0.0.1:{port}/api/flow_runs/filter",
        data=json.dumps({"sort": "START_TIME_ASC", "deployments": {"name": {"any_": ["local"]}}}).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urlopen(request) as answer:
        return [run["state"]["name"] for run in json.load(answer)]


def test_a_run_from_the_command_line_and_the_same_again(tmp_path: Path) -> None:
    home, port = tmp_path / "a home", free_port()
    parse = ["run", "parse-games", "--profile", "demo", "--set", "max_games=40"]
    with pages_served(home, free_port(), port):
        subprocess.run(
            [sys.executable, "-m", "flows.cli", *parse], cwd=SOURCE_ROOT, env=environment(home), check=True
        )
        script = quickstart_script(home, port)
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=SOURCE_ROOT,
            env=environment(home),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=RUN_SECONDS,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        ended = states_of_deployment_runs(port)
    given = {"steps": 3, "optimizer": {"momentum": 0.8}}
    assert result_of(home)["params"] == stage_params("train-sl-policy", "demo", given).model_dump(mode="json")
    assert ended == ["Completed", "Reused"]
