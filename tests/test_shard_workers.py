"""Shards are made by this process or by several; a process that dies costs only what it was making."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

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
