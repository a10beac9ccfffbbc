"""Stage 5: play games and keep exactly one position of each with its outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from prefect import flow, task
from prefect.cache_policies import NO_CACHE

from flows.params import GenerateValueSetParams, Profile, Reuse
from flows.ray_shards import ray_shards
from flows.stage import OpenStage, open_stage
from tasks.shard_workers import MapShards
from tasks.store import StageResult

NAME = "generate-value-set"
RETRIES = 2
RETRY_SECONDS = 5.0

MakeShard = Callable[[int], dict[str, Any]]


@task(
    name="generate-value-set: shard",
    task_run_name="shard {number}",
    cache_policy=NO_CACHE,
    retries=RETRIES,
    retry_delay_seconds=RETRY_SECONDS,
)
def shard(make: MakeShard, number: int) -> dict[str, Any]:
    return make(number)


def one_by_one(
    make: MakeShard, numbers: Sequence[int], /, meanwhile: Callable[[], None] | None = None
) -> Iterator[dict[str, Any]]:
    """Each shard a task of its own, tried again when it fails."""
    for number in numbers:
        yield shard(make, number)
        if meanwhile is not None:
            meanwhile()


def mapping(params: GenerateValueSetParams) -> AbstractContextManager[MapShards | None]:
    """Shards as Prefect tasks, here or on Ray; several processes have retries of their own."""
    if params.runner == "ray":
        return ray_shards(shard, params.ray, params.workers, params.threads or 1)
    return nullcontext(None if params.runner == "processes" and params.workers > 1 else one_by_one)


@task(name="generate-value-set: generate", cache_policy=NO_CACHE)
def generate(stage: OpenStage[GenerateValueSetParams]) -> None:
    from tasks.generate_value_set import run_generate_value_set

    with mapping(stage.params) as mapped:
        made = run_generate_value_set(stage.params, stage.paths, stage.folder, stage.run, map_shards=mapped)
    stage.finish(made)


@flow(name=NAME)
def generate_value_set(
    params: GenerateValueSetParams = GenerateValueSetParams(),  # noqa: B008  frozen
    sl_policy: str = "",
    rl_policy: str = "",
    profile: Profile = "paper",
    reuse: Reuse = "same-code",
) -> StageResult:
    """Stage 5: play games and keep exactly one position of each with its outcome.

    Args:
        params: The stage's parameters; what is not given comes from the profile.
        sl_policy: The policy that opens games: run id, registered model, folder or file; empty: the newest.
        rl_policy: The policy that plays them to the end, named likewise; empty: the newest.
        profile: Gives the parameters not set here, and says whose newest results are taken as inputs.
        reuse: Whether identical finished work is taken instead of done again.
    """
    references = {"sl_policy": sl_policy, "rl_policy": rl_policy}
    with open_stage(NAME, params, references, profile, reuse) as stage:
        if not stage.reused:
            generate(stage)
    return stage.returned()
