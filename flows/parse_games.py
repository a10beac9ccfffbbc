"""Stage 1: read game records, keep the good ones, and turn them into training positions."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from prefect import flow, task
from prefect.cache_policies import NO_CACHE

from flows.params import ParseGamesParams, Profile, Reuse, over_profile
from flows.ray_shards import ray_shards
from flows.stage import OpenStage, open_stage
from tasks.bootstrap import SOURCE_ROOT
from tasks.errors import UserError
from tasks.store import StageResult

NAME = "parse-games"
SAMPLE_FOLDER = SOURCE_ROOT / "datasets" / "sample"


def bundled_games(board_size: int) -> Path:
    """The sample games that come with the product; raises UserError when there are none of that size."""
    path = SAMPLE_FOLDER / f"gnugo-{board_size}x{board_size}.tar.gz"
    if not path.is_file():
        raise UserError(
            f"no sample games on {board_size}x{board_size} are bundled; give yours with --input games=PATH"
        )
    return path


@task(name="parse-games: part", task_run_name="part {number}", cache_policy=NO_CACHE)
def part(make: Callable[[int], Any], number: int) -> Any:
    return make(number)


@task(name="parse-games: parse", cache_policy=NO_CACHE)
def parse(stage: OpenStage[ParseGamesParams]) -> None:
    from tasks.parse_games import run_parse_games

    params = stage.params
    on_ray = ray_shards(part, params.ray, params.threads or os.cpu_count() or 1, 1)
    with on_ray if params.runner == "ray" else nullcontext() as mapped:
        made = run_parse_games(params, stage.paths, stage.folder, stage.run, map_parts=mapped)
    stage.finish(made)


@flow(name=NAME)
def parse_games(
    params: ParseGamesParams = ParseGamesParams(),  # noqa: B008  frozen
    games: list[str] | None = None,
    profile: Profile = "paper",
    reuse: Reuse = "same-code",
) -> StageResult:
    """Stage 1: read game records, keep the good ones, and turn them into training positions.

    Args:
        params: The stage's parameters; what is not given comes from the profile.
        games: Folders, files or archives of SGF, GIB or NGF records; none: the bundled ones of the size.
        profile: Gives the parameters not set here, and says whose newest results are taken as inputs.
        reuse: Whether identical finished work is taken instead of done again.
    """
    params = over_profile(params, NAME, profile)
    places = games or [str(bundled_games(params.board_size))]
    references = {"games" if not i else f"games_{i + 1}": place for i, place in enumerate(places)}
    with open_stage(NAME, params, references, profile, reuse) as stage:
        if not stage.reused:
            parse(stage)
    return stage.returned()
