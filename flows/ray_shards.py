"""Shards as Prefect tasks on a Ray cluster, through prefect-ray.

All machines need the same package, and see the home and the inputs at the same paths. The cluster is one that
runs, or workers of this machine for the time of the stage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from prefect import Task
from prefect.client.orchestration import get_client
from prefect.settings import PREFECT_API_URL, temporary_settings

from models.ray_connection import connected
from tasks.errors import UserError
from tasks.params import RayParams
from tasks.shard_workers import ATTEMPTS, WATCH_SECONDS, MapShards


def prefect_url() -> str:
    """The server of this run; a worker that was not told of it would start one of its own."""
    with get_client(sync_client=True) as client:
        return str(client.api_url)


@contextmanager
def ray_shards(part: Task[Any, Any], plan: RayParams, workers: int, cpus: int) -> Iterator[MapShards]:
    """What maps `part`, a task of (make, number), over shards, each of which takes `cpus` and `plan.gpus`.

    A shard whose worker is lost is made again, up to ATTEMPTS times; then RuntimeError. Must be entered in a
    flow's run. Raises UserError when Ray is not installed or nothing answers at the address.
    """
    try:
        ray = connected(plan.address, workers * cpus)
        from prefect_ray.context import remote_options
        from prefect_ray.task_runners import RayTaskRunner
    except (ValueError, ImportError) as error:
        raise UserError(f"runner=ray: {error}") from error
    takes = {"num_cpus": cpus, "num_gpus": plan.gpus, "max_retries": ATTEMPTS - 1}

    def mapped(
        make: Callable[[int], Any], numbers: Sequence[int], meanwhile: Callable[[], None] | None = None
    ) -> Iterator[Any]:
        with remote_options(**takes), temporary_settings({PREFECT_API_URL: prefect_url()}):
            futures = [runner.submit(part, {"make": make, "number": number}) for number in numbers]
        left = {future.wrapped_future: future for future in futures}
        while left:
            finished, _ = ray.wait(list(left), timeout=WATCH_SECONDS)
            if meanwhile is not None:
                meanwhile()
            for reference in finished:
                try:
                    yield left.pop(reference).result()
                except ray.exceptions.RayError as error:
                    raise RuntimeError(f"a worker on Ray was lost {ATTEMPTS} times: {error}") from error

    try:
        with RayTaskRunner() as runner:  # which takes the connection that there is
            yield mapped
    finally:
        ray.shutdown()
