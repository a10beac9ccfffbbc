"""Who makes shards: this process, or several on this machine (on Ray: `flows.ray_shards`)."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import Any, Protocol, TypeVar

Result = TypeVar("Result")


class MapShards(Protocol):
    """Calls `make` for every shard and gives the results as they come, in any order.

    `meanwhile`, if given, is called about once a second until then.
    """

    def __call__(
        self,
        make: Callable[[int], Any],
        shards: Sequence[int],
        /,
        meanwhile: Callable[[], None] | None = None,
    ) -> Iterable[Any]: ...


ATTEMPTS = 3  # rounds in which processes may die before the run gives up
WATCH_SECONDS = 1.0

log = logging.getLogger("alphago.shards")


def on_processes(
    make: Callable[[int], Result],
    shards: Sequence[int],
    workers: int,
    meanwhile: Callable[[], None] | None = None,
) -> Iterator[Result]:
    """Call `make` for every shard, in this process or in `workers` new ones, and yield results as they come.

    A process that dies costs the shards that were being made: they are made again by new processes. After
    ATTEMPTS rounds with deaths, RuntimeError. What `make` raises comes out; `make` must be picklable with
    workers > 1. `meanwhile` is called about once a second while other processes work.
    """
    if workers <= 1:
        yield from map(make, shards)
        return
    left = set(shards)
    for _ in range(ATTEMPTS):
        try:
            with ProcessPoolExecutor(workers, get_context("spawn"), initializer=end_with_parent) as pool:
                waiting = {pool.submit(make, shard): shard for shard in sorted(left)}
                while waiting:
                    finished, _ = wait(waiting, WATCH_SECONDS if meanwhile else None, FIRST_COMPLETED)
                    if meanwhile is not None:
                        meanwhile()
                    for job in finished:
                        result = job.result()
                        left.discard(waiting.pop(job))
                        yield result
            return
        except BrokenProcessPool:
            log.warning("a worker process died; %d shards are left to make", len(left))
    raise RuntimeError(f"worker processes died {ATTEMPTS} times; {len(left)} shards are still missing")


def end_with_parent() -> None:
    """Let this worker die when the process that started it is killed; it would wait for work for ever."""
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    Thread(target=watch, daemon=True).start()
