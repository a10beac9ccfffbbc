"""The whole pipeline: the stages as one graph, from game records to rated players."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from prefect import flow
from pydantic import BaseModel

from flows.evaluate_tournament import evaluate_tournament
from flows.generate_value_set import generate_value_set
from flows.params import PipelineParams, Profile, Reuse, over_profile
from flows.parse_games import parse_games
from flows.stage import prefect_tags, publish
from flows.stages import PIPELINE, StageName, dependents
from flows.train_rl_policy import train_rl_policy
from flows.train_rollout_policy import train_rollout_policy
from flows.train_sl_policy import train_sl_policy
from flows.train_value_network import train_value_network
from tasks.bootstrap import LOGGER, data_root
from tasks.interruption import stop_all
from tasks.pipeline_report import pipeline_markdown
from tasks.report import page_of_pipeline
from tasks.store import StageResult, write_text
from tasks.tracking import TrackedRun, parent_run, timestamp

RESULT_FILE = "pipeline.json"
REPORT_FILE = "report.md"
log = logging.getLogger(f"{LOGGER}.flows")


class PipelineResult(BaseModel):
    """What the pipeline returns and keeps as pipeline.json: its stages in the order in which they ended."""

    profile: str
    params: dict[str, Any]
    stages: list[StageResult]
    summary: str
    run_id: str | None
    finished: str
    seconds: float


class Plan(NamedTuple):
    """How each stage is called: its parameters, the profile, and whether finished work counts."""

    params: PipelineParams
    profile: Profile
    redone: tuple[
        str, ...
    ]  # stages to do again; when there are any, the others are taken whatever code made them

    def of(self, name: StageName) -> dict[str, Any]:
        reuse: Reuse = "never" if name in self.redone else "any-code" if self.redone else "same-code"
        return {"params": self.params.of(name), "profile": self.profile, "reuse": reuse}


@flow(name=PIPELINE)
def pipeline(
    params: PipelineParams = PipelineParams(),  # noqa: B008  frozen
    games: list[str] | None = None,
    profile: Profile = "paper",
    from_stage: StageName | None = None,
) -> PipelineResult:
    """Run every stage in order, reusing what is finished, and print the final ratings.

    Args:
        params: The parameters of all stages; what is not given comes from the profile.
        games: Folders, files or archives of game records; none: the bundled ones of the board size.
        profile: Gives the parameters not set here.
        from_stage: Do this stage and all that depend on it again; the others are reused.
    """
    params = over_profile(params, PIPELINE, profile)
    plan = Plan(params, profile, tuple(dependents(from_stage)) if from_stage else ())
    if from_stage:
        log.info("doing again: %s; the other stages are reused", ", ".join(plan.redone))
    folder = data_root() / PIPELINE / datetime.now().strftime("%Y%m%d-%H%M%S-%f")
    started = time.monotonic()
    with parent_run(PIPELINE, folder, {"stage": PIPELINE, "profile": profile} | prefect_tags()) as run:
        run.log_params(params.model_dump(mode="json"))
        stages = _run_stages(plan, games)
        result = PipelineResult(
            profile=profile,
            params=params.model_dump(mode="json"),
            stages=stages,
            summary=pipeline_markdown(stages),
            run_id=run.run_id,
            finished=timestamp(),
            seconds=round(time.monotonic() - started, 3),
        )
        run.log_metrics(_final_metrics(result))
        run.log_tags({"mlflow.note.content": result.summary})
        run.log_text(REPORT_FILE, result.summary)
        write_text(folder / RESULT_FILE, result.model_dump_json(indent=1))
        _log_page(run, folder)
    publish(PIPELINE, result.summary)
    return result


def _log_page(run: TrackedRun, folder: Path) -> None:
    """Keep the page of `alphago report` with the run; lacking it is no reason to fail a finished pipeline."""
    try:
        run.log_artifact(page_of_pipeline(folder))
    except Exception as error:
        log.warning("the report's page was not made, see alphago report: %s", error)


def _run_stages(plan: Plan, games: list[str] | None) -> list[StageResult]:
    """The graph itself: each stage takes the folders and files that the ones before it made."""
    parsed = parse_games(**plan.of("parse-games"), games=games)
    rollout, sl = _both(
        plan.params.side_by_side,
        lambda: train_rollout_policy(**plan.of("train-rollout-policy"), games=at(parsed, "games")),
        lambda: train_sl_policy(**plan.of("train-sl-policy"), positions=at(parsed, "positions")),
    )
    stages = [parsed, rollout, sl]
    sl_policy, baseline = at(sl, "sl_policy"), ""
    for _ in range(plan.params.passes):
        rl = train_rl_policy(**plan.of("train-rl-policy"), sl_policy=sl_policy, value_network=baseline)
        rl_policy = at(rl, "rl_policy")
        positions = generate_value_set(
            **plan.of("generate-value-set"), sl_policy=sl_policy, rl_policy=rl_policy
        )
        value = train_value_network(**plan.of("train-value-network"), value_set=at(positions, "value_set"))
        baseline = at(value, "value_network")
        stages += [rl, positions, value]
    final = evaluate_tournament(
        **plan.of("evaluate-tournament"),
        sl_policy=sl_policy,
        rl_policy=rl_policy,
        value_network=baseline,
        rollout_policy=at(rollout, "rollout_policy"),
        tree_policy=at(rollout, "tree_policy"),
    )
    return [*stages, final]


def at(result: StageResult, output: str) -> str:
    """Where a stage's output lies, as a reference for the next one."""
    return str(result.path(output))


def _both(
    side_by_side: bool, first: Callable[[], StageResult], second: Callable[[], StageResult]
) -> tuple[StageResult, StageResult]:
    if not side_by_side:
        return first(), second()
    # Each thread needs its own copy of the context, which names the flow run and the MLflow run above them.
    with ThreadPoolExecutor(2) as pool:
        futures = [pool.submit(copy_context().run, call) for call in (first, second)]
        try:
            return futures[0].result(), futures[1].result()
        except BaseException as error:
            # A signal: the pool waits for its threads, which must save their state and not train to the end.
            if not isinstance(error, Exception):
                stop_all()
            raise


def _final_metrics(result: PipelineResult) -> dict[str, float]:
    """The stages' own numbers under their names, so that pipelines can be compared in one table."""
    metrics = {f"{one.stage}/{name}": value for one in result.stages for name, value in one.metrics.items()}
    return metrics | {"seconds": result.seconds}
