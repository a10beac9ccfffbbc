"""What MLflow is told of a stage's inputs and outputs: datasets with digests, models with versions, links."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tasks import store
from tasks.digests import read_manifest
from tasks.errors import UserError
from tasks.store import Input, StageResult

if TYPE_CHECKING:
    from tasks.tracking import TrackedRun

REGISTERED_PREFIX = "alphago-"
RUN_NAME_TAG = "mlflow.runName"
BEST = "best"  # the alias that we set; `latest` is MLflow's own
# What makes a version of a model the best one on its board: (metric, +1 when more is better or -1).
QUALITY = {
    "rollout_policy": ("test/accuracy", 1),
    "tree_policy": ("test/tree_accuracy", 1),
    "sl_policy": ("test/accuracy", 1),
    "rl_policy": ("win_rate/sl_policy", 1),
    "value_network": ("test/mse", -1),
}


def record_result(run: TrackedRun, result: StageResult) -> None:
    """Queue everything about newly finished work; MLflow's ids are written back to result.json."""
    from tasks import mlflow_store

    _record_inputs(run, result)
    for name, made in result.outputs.items():
        path = result.path(name)
        if made.kind == "dataset":
            _queue_dataset(run, name, path, made.digest, "output")
        elif made.kind == "model":
            _queue_model(run, result, name)
        elif path.is_relative_to(run.folder):
            run.log_artifact(path)
    for model_id, metrics in _ratings_by_model(result).items():
        run.send(partial(mlflow_store.log_model_metrics, model_id=model_id, metrics=metrics))
    if result.summary:
        run.log_text("summary.md", result.summary)
    run.send(lambda run_id: _keep_ids(result, run_id))


def record_reuse(run: TrackedRun, result: StageResult) -> None:
    """Queue what shows a reuse: the run's name, tags, a note with a link to the first run, its links and
    metrics."""
    from tasks import mlflow_store

    run.add_points([(name, value, mlflow_store.now(), 0) for name, value in result.metrics.items()])
    _record_inputs(run, result)
    for name, made in result.outputs.items():
        if made.kind == "dataset":
            _queue_dataset(run, name, result.path(name), made.digest, "output")
        elif made.model_id:
            run.send(partial(mlflow_store.link_output_model, model_id=made.model_id))
    original = result.run_id or ""
    run.log_tags({"reused": "true", "reused.run": original, RUN_NAME_TAG: f"{result.stage} (reused)"})
    run.send(
        lambda run_id: mlflow_store.log_tags(
            run_id,
            {
                "mlflow.note.content": f"Reused: nothing was computed. The work was done in "
                f"[run {original}]({mlflow_store.ui_path(original)}), finished {result.finished}."
            },
        )
    )


def _record_inputs(run: TrackedRun, result: StageResult) -> None:
    from tasks import mlflow_store

    tags = {}
    for name, taken in result.inputs.items():
        tags[f"input.{name}"] = taken.path
        tags[f"input.{name}.digest"] = taken.digest
        if taken.run_id:
            tags[f"input.{name}.run"] = taken.run_id
        if taken.model_id:
            run.send(lambda run_id, model=taken.model_id: mlflow_store.log_input_model(run_id, model))  # type: ignore[misc]
        else:
            _queue_dataset(run, _dataset_name(name, taken), Path(taken.path), taken.digest, "input")
    run.log_tags(tags)


def _dataset_name(name: str, taken: Input) -> str:
    """A stage's output goes by its own name, a thing from outside by its file's."""
    return taken.output or f"{name}:{Path(taken.path).name}"


def _queue_dataset(run: TrackedRun, name: str, path: Path, digest: str, context: str) -> None:
    from tasks import mlflow_store

    profile: dict[str, Any] = {"digest": f"sha256:{digest}"}
    try:
        manifest = read_manifest(path)
        profile |= {
            key: manifest[key]
            for key in ("kind", "schema_version", "size", "rows", "games")
            if key in manifest
        }
        profile["files"] = len(manifest.get("files", []))
    except (UserError, OSError):
        pass  # a file from outside has no manifest
    run.send(lambda run_id: mlflow_store.log_dataset(run_id, name, path, digest, context, profile))


def _queue_model(run: TrackedRun, result: StageResult, name: str) -> None:
    """Log, register and alias a model file: three calls, so that a failed one repeats no other."""
    from tasks import mlflow_store

    made = result.outputs[name]
    registered = REGISTERED_PREFIX + name.replace("_", "-")
    metric, sign = QUALITY.get(name, ("", 1))
    quality = result.metrics.get(metric)
    tags = {
        "stage": result.stage,
        "profile": result.profile,
        "board_size": str(result.board_size),
        "digest": f"sha256:{made.digest}",
    }
    if quality is not None:
        tags |= {"metric": metric, "quality": repr(quality)}

    def log_it(run_id: str) -> None:
        params = {key: str(value) for key, value in result.params.items()}
        made.model_id = mlflow_store.log_model(run_id, registered, result.path(name), params, tags)
        mlflow_store.log_model_metrics(
            run_id, made.model_id, {metric: quality} if quality is not None else {}
        )

    def register_it(run_id: str) -> None:
        if made.model_id is not None:  # None: MLflow refused it
            made.version = mlflow_store.register(registered, made.model_id, run_id, tags)

    def alias_it(_: str) -> None:
        if made.version is not None and is_best(
            mlflow_store.alias_tags(registered, BEST), result.board_size, quality, sign
        ):
            mlflow_store.set_alias(registered, BEST, made.version)

    for call in (log_it, register_it, alias_it):
        run.send(call)


def _ratings_by_model(result: StageResult) -> dict[str, dict[str, float]]:
    """A tournament's ratings of players that are one network, to stand beside the network's model."""
    found: dict[str, dict[str, float]] = {}
    for player, spec in result.params.get("players", {}).items():
        taken = result.inputs.get(spec.partition(":")[2].partition(",")[0])
        rating = result.metrics.get(f"elo/{player}")
        if taken and taken.model_id and rating is not None and math.isfinite(rating):
            found.setdefault(taken.model_id, {})[f"elo/{player}"] = rating
    return found


def is_best(holder: dict[str, str] | None, board_size: int, quality: float | None, sign: int) -> bool:
    """The larger board first, then the better metric; on no holder anything is best."""
    if holder is None:
        return True
    held_size = int(holder.get("board_size", 0))
    if board_size != held_size:
        return board_size > held_size
    if quality is None or "quality" not in holder:
        return quality is not None
    return sign * quality > sign * float(holder["quality"])


def _keep_ids(result: StageResult, run_id: str) -> None:
    result.run_id = run_id
    store.write_result(result.model_copy(update={"reused": False}))
