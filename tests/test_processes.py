"""A stage trained by two processes, started and stopped by the stage itself."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from training_helpers import SIZE, value_params, write_values

from models.checkpoint import load_value
from tasks.errors import UserError
from tasks.interruption import TrainingInterrupted
from tasks.params import ComputeParams, EvaluationParams
from tasks.processes import REQUEST_FILE, ROOT, train_in_processes, write_request
from tasks.reporting import NullReporter
from tasks.train_value_network import CHECKPOINT, run_train_value_network
from tasks.training_state import STATE_FILE

TWO = ComputeParams(processes=2)
TIMEOUT = 240  # seconds


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def value_set(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_values(tmp_path_factory.mktemp("values"), rows=1024)  # a row group for each process


@pytest.mark.slow
def test_a_signal_stops_them_and_the_next_call_goes_on(value_set: Path, tmp_path: Path) -> None:
    class Stopping(NullReporter):
        def progress(self, *_: object, **__: object) -> None:
            os.kill(os.getpid(), signal.SIGTERM)

    params = value_params(
        steps=300, log_every=20, compute=TWO, evaluation=EvaluationParams(every=0, symmetries=(1,))
    )
    inputs = {"value_set": value_set}
    with pytest.raises(TrainingInterrupted, match=r"stopped after step \d+"):
        run_train_value_network(params, inputs, tmp_path, Stopping())
    assert (tmp_path / STATE_FILE).exists()
    run = NullReporter()
    result = run_train_value_network(params, inputs, tmp_path, run)
    assert result["metrics"]["test/mse"] < 0.2
    assert load_value(tmp_path / CHECKPOINT).size == SIZE
    steps = [step or 0 for step, metrics in run.metrics if "train/mse" in metrics]
    assert steps[-1] == 300
    assert steps[0] > 20  # not from the beginning
    assert [item.name for item in tmp_path.iterdir()] == [CHECKPOINT]


def test_what_a_process_refuses_is_told_in_one_line(value_set: Path, tmp_path: Path) -> None:
    params = value_params(batch_size=15, compute=TWO)
    with pytest.raises(UserError, match="batch_size 15 is not a multiple of the 2 processes"):
        train_in_processes("train-value-network", params, {"value_set": value_set}, tmp_path, NullReporter())


@pytest.mark.slow
def test_two_machines_train_as_one(value_set: Path, tmp_path: Path) -> None:
    """torchrun as docs/scale.md has it on each machine, both of which are this one; then the stage's call."""
    params = value_params(steps=40, log_every=20, compute=TWO)
    write_request("train-value-network", params, {"value_set": value_set}, tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = ["-m", "torch.distributed.run", "--nnodes=2", "--nproc-per-node=1", "--rdzv-backend=c10d"]
    command += [f"--rdzv-endpoint=127.0.0.1:{port}", "--rdzv-id=test", "--local-addr=127.0.0.1"]
    command += ["-m", "tasks.training_worker", str(tmp_path / REQUEST_FILE)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    machines = [
        subprocess.Popen([sys.executable, *command], cwd=ROOT, env=environment, stdout=subprocess.PIPE)
        for _ in range(2)
    ]
    told = [machine.communicate(timeout=TIMEOUT)[0].decode() for machine in machines]
    assert [machine.returncode for machine in machines] == [0, 0]
    assert sum('"progress"' in lines for lines in told) == 1  # one leads
    assert (tmp_path / STATE_FILE).exists()
    run = NullReporter()
    run_train_value_network(params, {"value_set": value_set}, tmp_path, run)
    assert not [step for step, metrics in run.metrics if "train/mse" in metrics and (step or 0) < 40]
    assert load_value(tmp_path / CHECKPOINT).size == SIZE
