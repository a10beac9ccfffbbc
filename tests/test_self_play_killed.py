"""kill -9 at random moments of the stages that play games loses nothing and does not change the result."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path

import pytest
import torch

from models.checkpoint import read_header, save_checkpoint
from models.networks import PolicyNet
from tasks.generate_value_set import run_generate_value_set
from tasks.params import GenerateValueSetParams, TrainRlPolicyParams
from tasks.reporting import NullReporter
from tasks.train_rl_policy import STATE_FILE, run_train_rl_policy
from tasks.value_shards import SHARD_FOLDER

KILLS = 10
SHARES = (0.005, 0.1)  # of the whole run's time that pass until a kill: ten of them are half of it
SIZE = 5

Stage = Callable[[dict[str, Path], Path], None]
Progress = Callable[[Path], dict[str, int]]


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


def iterations(folder: Path) -> dict[str, int]:
    """How many iterations of learning are on disk."""
    path = folder / STATE_FILE
    return {"iteration": read_header(path)["extra"]["iteration"]} if path.exists() else {}


def shards(folder: Path) -> dict[str, int]:
    """The shards on disk with the times at which they were made."""
    return {path.name: path.stat().st_mtime_ns for path in (folder / SHARD_FOLDER).glob("*.json")}


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
@pytest.mark.parametrize(("stage", "progress"), [(learn, iterations), (generate, shards)])
def test_kills_lose_nothing_and_change_nothing(stage: Stage, progress: Progress, tmp_path: Path) -> None:
    torch.manual_seed(0)
    policy = save_checkpoint(tmp_path / "policy.safetensors", PolicyNet(SIZE, filters=8, layers=2))
    inputs = {"sl_policy": policy, "rl_policy": policy}
    started = time.monotonic()
    stage(inputs, tmp_path / "whole")
    duration = time.monotonic() - started
    folder, moments = tmp_path / "killed", random.Random(1)
    saved: list[dict[str, int]] = []
    for _ in range(KILLS):
        assert not in_a_process(stage, inputs, folder, moments.uniform(*SHARES) * duration)
        saved.append(progress(folder))
    stage(inputs, folder)
    saved.append(progress(folder))
    assert saved[0] != saved[-2]  # the runs that were killed got on
    for before, after in pairwise(saved):
        assert_kept(before, after)
    assert results(folder) == results(tmp_path / "whole")
    assert not list(folder.rglob("*.part"))


def assert_kept(before: dict[str, int], after: dict[str, int]) -> None:
    """No iteration is lost, no finished shard made again."""
    for name, number in before.items():
        assert after[name] >= number if name == "iteration" else after[name] == number, name
