"""Shards are made by this process or by several; a process that dies costs only what it was making."""

from __future__ import annotations

import os
import signal
import time
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import psutil
import pytest

from tasks.shard_workers import on_processes


def die(folder: Path, times: int, shard: int) -> int:
    """Makes a shard; the first `times` processes that get shard 2 end at once."""
    flags = len(list(folder.iterdir()))
    if shard == 2 and flags < times:
        (folder / str(flags)).touch()
        os._exit(1)
    return shard


def test_one_worker_is_this_process() -> None:
    made = list(on_processes(lambda shard: (shard, os.getpid()), range(3), workers=1))
    assert made == [(shard, os.getpid()) for shard in range(3)]


def test_a_worker_that_dies_costs_at_most_its_shards(tmp_path: Path) -> None:
    looks: list[int] = []
    made = on_processes(partial(die, tmp_path, 1), range(5), 2, meanwhile=lambda: looks.append(1))
    assert sorted(made) == [0, 1, 2, 3, 4]
    assert looks


def test_workers_that_keep_dying_end_the_run(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="worker processes died 3 times"):
        list(on_processes(partial(die, tmp_path, 9), range(5), workers=2))


def test_an_error_of_a_shard_comes_out(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        list(on_processes(partial(die, tmp_path / "none", 0), range(2), workers=2))


def tell_and_sleep(folder: Path, shard: int) -> int:
    (folder / str(os.getpid())).touch()
    time.sleep(0.1)
    return shard


def make_for_ever(folder: Path) -> None:
    list(on_processes(partial(tell_and_sleep, folder), range(100_000), 2))


def test_workers_do_not_outlive_a_killed_run(tmp_path: Path) -> None:
    run = get_context("spawn").Process(target=make_for_ever, args=(tmp_path,))
    run.start()
    while len(workers := list(tmp_path.iterdir())) < 2:
        time.sleep(0.05)
    assert run.pid is not None
    os.kill(run.pid, signal.SIGKILL)
    run.join()
    alive = [psutil.Process(int(worker.name)) for worker in workers if psutil.pid_exists(int(worker.name))]
    _, left = psutil.wait_procs(alive, timeout=30)
    assert not left
