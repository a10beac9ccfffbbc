"""kill -9 at random moments of the stages that play games loses nothing and does not change the result."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from pathlib import Path

import pytest
import torch

from models.checkpoint import save_checkpoint
from models.networks import PolicyNet
from tasks.generate_value_set import run_generate_value_set
from tasks.params import GenerateValueSetParams, TrainRlPolicyParams
from tasks.reporting import NullReporter
from tasks.train_rl_policy import run_train_rl_policy

KILLS = 10
SIZE = 5

Stage = Callable[[dict[str, Path], Path], None]


def learn(inputs: dict[str, Path], folder: Path) -> None:
    params = TrainRlPolicyParams(
        board_size=SIZE,
        threads=1,
        iterations=40,
        games=8,
        pool_every=4,
        network_batch=16,
        evaluate_every=10,
        evaluation_games=10,
        checkpoint_every=1,
    )
    run_train_rl_policy(params, inputs, folder, NullReporter())


def generate(inputs: dict[str, Path], folder: Path) -> None:
    params = GenerateValueSetParams(
        board_size=SIZE,
        threads=1,
        positions=600,
        shard_positions=20,
        network_batch=16,
        parallel_games=48,
    )
    run_generate_value_set(params, inputs, folder, NullReporter())


def results(folder: Path) -> dict[str, bytes]:
    files = [*folder.rglob("*.safetensors"), *folder.rglob("*.parquet"), *folder.rglob("manifest.json")]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def in_a_process(stage: Stage, inputs: dict[str, Path], folder: Path, seconds: float) -> bool:
    """Run a stage in a forked process, killed after so many seconds; whether it ended by itself before."""
    process = get_context("fork").Process(target=stage, args=(inputs, folder))
    process.start()
    process.join(seconds)
    ended = process.exitcode is not None
    if not ended:
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
    process.join()
    return ended


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """A forked process must not find a pool of threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.slow
@pytest.mark.parametrize("stage", [learn, generate])
def test_kills_lose_nothing_and_change_nothing(stage: Stage, tmp_path: Path) -> None:
    torch.manual_seed(0)
    policy = save_checkpoint(tmp_path / "policy.safetensors", PolicyNet(SIZE, filters=8, layers=2))
    inputs = {"sl_policy": policy, "rl_policy": policy}
    started = time.monotonic()
    stage(inputs, tmp_path / "whole")
    duration = time.monotonic() - started
    moments = random.Random(1)
    kills = sum(
        not in_a_process(stage, inputs, tmp_path / "killed", moments.uniform(0.02, 0.2) * duration)
        for _ in range(KILLS)
    )
    assert kills >= KILLS // 2
    stage(inputs, tmp_path / "killed")
    assert results(tmp_path / "killed") == results(tmp_path / "whole")
    assert not list((tmp_path / "killed").rglob("*.part"))
