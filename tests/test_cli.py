"""The command line: quick help, one clear line for every mistake, real commands in processes of their own."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

import psutil
import pytest
from fault_helpers import free_port

from flows.cli import run_app
from flows.describe import describe_stage, list_stages
from flows.params import parse_settings, stage_params
from flows.run import parse_inputs
from flows.stages import PIPELINE, STAGES
from flows.sweep import variants_of
from tasks.bootstrap import SOURCE_ROOT
from tasks.errors import UserError

USAGE = 2
HEAVY = ("prefect", "mlflow", "torch", "pandas", "pyarrow")


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What `alphago ARGUMENTS` says when it fails: exactly one line on stderr."""
    status = run_app(list(arguments))
    printed = capsys.readouterr()
    assert status == USAGE
    assert printed.out == ""
    assert printed.err.count("\n") == 1, printed.err
    return printed.err


@pytest.mark.usefixtures("data_home")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "train"], "no stage 'train'; there are parse-games, train-rollout-policy"),
        (["run", "pipeline", "--profile", "tiny"], "no profile 'tiny'; there are demo, laptop, paper"),
        (["run", "train-sl-policy", "--set", "learnig_rate=1"], "did you mean learning_rate?"),
        (["run", "train-sl-policy", "--set", "learning_rate=-1"], "learning_rate should be greater than 0"),
        (["run", "train-sl-policy", "--set", "steps=many"], "steps should be a valid integer"),
        (["run", "train-sl-policy", "--set", "steps"], "--set steps: not of the form key=value"),
        (["run", "pipeline", "--set", "board_size=20"], "board_size should be less than or equal to 19"),
        (
            ["run", "pipeline", "--set", "train_sl_policy.board_size=13"],
            "board_size is 13, but the pipeline's",
        ),
        (["run", "pipeline", "--set", "train-sl-policy.optimizer.momentun=0"], "did you mean momentum?"),
        (["run", "pipeline", "--from", "train"], "--from train: no such stage"),
        (["run", "train-sl-policy", "--from", "parse-games"], "can only name train-sl-policy itself"),
        (["run", "train-sl-policy"], "no finished parse-games of profile demo on 9x9"),
        (["run", "train-sl-policy", "--input", "games=x"], "train-sl-policy takes positions"),
        (["run", "train-sl-policy", "--input", "positions=/nowhere"], "no file or folder"),
        (["run", "parse-games", "--input", "games=/nowhere"], "/nowhere: no such file or folder"),
        (["run", "pipeline", "--input", "games=/nowhere"], "/nowhere: no such file or folder"),
        (["lineage", "/nowhere"], "no file or folder"),
        (["run", "--nothing"], "No such option: --nothing"),
        (["dance"], "dance"),
    ],
)
def test_mistakes_are_told_in_one_line(
    capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert said in complaint(capsys, *arguments)


def test_help_is_quick() -> None:
    code = f"import sys, flows.cli; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=SOURCE_ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_debug_shows_the_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALPHAGO_DEBUG", "1")
    assert run_app(["run", "nothing"]) == USAGE
    assert "Traceback" in capsys.readouterr().err


def test_settings_are_yaml_and_nest() -> None:
    parsed = parse_settings(["a.b=1e-3", "a.c=[1, 2]", "d-e=true", "f=text"])
    assert parsed == {"a": {"b": "1e-3", "c": [1, 2]}, "d_e": True, "f": "text"}


def test_games_may_come_from_several_places() -> None:
    parsed = parse_inputs(["games=a", "games=b"], PIPELINE, ("games",))
    assert parsed == {"games": ["a", "b"]}
    with pytest.raises(UserError, match="given 2 times"):
        parse_inputs(["positions=a", "positions=b"], "train-sl-policy", ("positions",))


def test_listed_values_are_a_sweep() -> None:
    def arguments(texts: list[str]) -> dict[str, object]:
        return {"params": stage_params("train-sl-policy", "demo", parse_settings(texts))}

    (single,) = variants_of(["steps=3", "evaluation.symmetries=[1, 8]"], arguments)
    assert single.settings == ()
    swept = variants_of(["learning_rate=0.1,0.2", "steps=3", "filters=8, 16"], arguments)
    assert [variant.settings for variant in swept] == [
        ("learning_rate=0.1", "filters=8"),
        ("learning_rate=0.1", "filters=16"),
        ("learning_rate=0.2", "filters=8"),
        ("learning_rate=0.2", "filters=16"),
    ]
    assert all(variant.arguments["params"].steps == 3 for variant in swept)
    with pytest.raises(UserError, match="learning_rate should be greater than 0"):
        variants_of(["learning_rate=0.1,-1"], arguments)


def test_describe_tells_every_parameter() -> None:
    assert all(name in list_stages() for name in (*STAGES, PIPELINE))
    for one in STAGES.values():
        text = describe_stage(one.name, "paper")
        assert all(f"  {name}" in text for name in one.params.model_fields)
    assert "learning_rate = 0.003  (>0 <=10)  Step size" in describe_stage("train-sl-policy", "paper")


@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_ui_serves_both_pages_and_ends_both(tmp_path: Path, end: signal.Signals) -> None:
    ports = [free_port(), free_port()]
    command = [
        sys.executable,
        "-m",
        "flows.cli",
        "ui",
        "--mlflow-port",
        str(ports[0]),
        "--prefect-port",
        str(ports[1]),
    ]
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PREFECT", "MLFLOW"))
    }
    process = subprocess.Popen(
        command,
        cwd=SOURCE_ROOT,
        env=environment | {"ALPHAGO_HOME": str(tmp_path / "a home")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(3)]
    assert f"http://127.0.0.1:{ports[0]}/#/experiments/1/runs?workflowType=machine_learning" in lines[0]
    api = json.loads((tmp_path / "a home" / "prefect-server.json").read_text())["api"]
    with urlopen(f"{api}/health") as answer:
        assert answer.status == 200
    family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
    listening = [
        at.laddr for one in family for at in one.net_connections() if at.status == psutil.CONN_LISTEN
    ]
    assert {at.ip for at in listening} == {"127.0.0.1"}
    assert {at.port for at in listening} >= set(ports)
    process.send_signal(end)
    process.communicate(timeout=30)
    if end == signal.SIGTERM:
        assert process.returncode == 128 + signal.SIGTERM
        assert not (tmp_path / "a home" / "prefect-server.json").exists()
    deadline = time.monotonic() + 30
    while any(_answers(port) for port in ports) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not any(_answers(port) for port in ports)


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_a_dead_temporary_server_is_told_from_other_errors() -> None:
    from flows.run import _refused

    wrapped = RuntimeError("no answer")
    wrapped.__cause__ = ConnectionRefusedError(111, "Connection refused")
    assert _refused(wrapped)
    assert not _refused(FileNotFoundError("games.tar.gz"))
