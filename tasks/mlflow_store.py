"""The MLflow client behind `tasks.tracking`: the store made once, runs, datasets, models and the registry."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import mlflow
from mlflow import MlflowClient
from mlflow.entities import (
    Dataset,
    DatasetInput,
    InputTag,
    LoggedModelInput,
    LoggedModelOutput,
    Metric,
    Param,
    Run,
    RunTag,
)
from mlflow.entities.model_registry import ModelVersion
from mlflow.exceptions import MlflowException

from tasks.bootstrap import DATABASE, home, tracking_uri
from tasks.references import ModelPlace
from tasks.relocation import follow_home
from tasks.store import key_lock

EXPERIMENT = "alphago"
ARTIFACTS = "artifacts"  # in the home
LATEST = "latest"
BATCH_METRICS = 1000  # MLflow's limit in one call
BATCH_OTHERS = 100
DIGEST_LENGTH = 32  # MLflow keeps at most 36 characters
VALUE_LENGTH = 6000  # of a parameter; a tag may be longer
NOT_IN_NAMES = re.compile(r"[^\w.\- /:]")
NOTE_TAG = "mlflow.note.content"
PARENT_TAG = "mlflow.parentRunId"
PERMANENT = {"INVALID_PARAMETER_VALUE", "BAD_REQUEST", "RESOURCE_ALREADY_EXISTS"}


class Point(NamedTuple):
    """One value of a metric; time in milliseconds."""

    name: str
    value: float
    time: int
    step: int


def now() -> int:
    return int(time.time() * 1000)


@cache
def client() -> MlflowClient:
    """A client of the store; its tables are made under a lock, for two processes at once break it."""
    home().mkdir(parents=True, exist_ok=True)
    uri = tracking_uri()
    with key_lock(home() / ".mlflow.lock"):
        if uri == f"sqlite:///{home() / DATABASE}":
            follow_home(home() / DATABASE, EXPERIMENT, home() / ARTIFACTS)
        mlflow.set_tracking_uri(uri)
        mlflow.set_registry_uri(uri)
        made = MlflowClient(uri)
        if made.get_experiment_by_name(EXPERIMENT) is None:
            local = uri.startswith("sqlite:")
            made.create_experiment(EXPERIMENT, (home() / ARTIFACTS).as_uri() if local else None)
    return made


@cache
def experiment_id() -> str:
    experiment = client().get_experiment_by_name(EXPERIMENT)
    assert experiment is not None
    return str(experiment.experiment_id)


def is_refusal(error: Exception) -> bool:
    """Whether the store has answered and will never take this call, so that repeating it is of no use."""
    return isinstance(error, MlflowException) and error.error_code in PERMANENT


def start_run(name: str, tags: dict[str, str], parent: str | None) -> str:
    """Make a run, under `parent` if one is given; returns its id."""
    all_tags = {name: clip(value) for name, value in tags.items()} | ({PARENT_TAG: parent} if parent else {})
    run: Run = client().create_run(experiment_id(), tags=all_tags, run_name=name)
    return str(run.info.run_id)


def reopen_run(run_id: str, tags: dict[str, str], parent: str | None) -> None:
    """Go on with the run of interrupted work."""
    client().update_run(run_id, status="RUNNING")
    log_tags(run_id, tags | ({PARENT_TAG: parent} if parent else {}))


def end_run(run_id: str, status: str) -> None:
    """`status`: FINISHED, FAILED or KILLED."""
    client().set_terminated(run_id, status)


def log_params(run_id: str, params: dict[str, str]) -> None:
    for some in _chunks(params.items(), BATCH_OTHERS):
        entities = [Param(allowed(name), clip(value)) for name, value in some]
        client().log_batch(run_id, params=entities)


def log_tags(run_id: str, tags: dict[str, str]) -> None:
    for some in _chunks(tags.items(), BATCH_OTHERS):
        entities = [RunTag(name, clip(value)) for name, value in some]
        client().log_batch(run_id, tags=entities)


def log_points(run_id: str, points: list[Point]) -> None:
    for some in _chunks(points, BATCH_METRICS):
        entities = [Metric(allowed(point.name), point.value, point.time, point.step) for point in some]
        client().log_batch(run_id, metrics=entities)


def log_model_metrics(run_id: str, model_id: str, metrics: dict[str, float]) -> None:
    """Metrics that the UI shows beside the model as well as beside the run."""
    for name, value in metrics.items():
        client().log_metric(run_id, allowed(name), value, model_id=model_id)


def log_artifact(run_id: str, path: Path, folder: str | None = None) -> None:
    client().log_artifact(run_id, str(path), folder)


def log_dataset(
    run_id: str, name: str, path: Path, digest: str, context: str, profile: dict[str, Any]
) -> None:
    """A dataset with our own digest, from its bytes; MLflow's own would come from the metadata alone."""
    dataset = Dataset(
        name=name,
        digest=digest[:DIGEST_LENGTH],
        source_type="local",
        source=json.dumps({"uri": str(path)}),
        profile=json.dumps(profile),
    )
    given = DatasetInput(dataset, [InputTag("mlflow.data.context", context)])
    client().log_inputs(run_id, datasets=[given])


def log_input_model(run_id: str, model_id: str) -> None:
    client().log_inputs(run_id, models=[LoggedModelInput(model_id)])


def link_output_model(run_id: str, model_id: str) -> None:
    client().log_outputs(run_id, models=[LoggedModelOutput(model_id, step=0)])


def log_model(run_id: str, name: str, file: Path, params: dict[str, str], tags: dict[str, str]) -> str:
    """Keep a safetensors file as a model without flavour, an output of the run; returns the model's id."""
    model = client().create_logged_model(
        experiment_id(), name=name, source_run_id=run_id, tags=tags, params=params, model_type="safetensors"
    )
    client().log_model_artifact(model.model_id, str(file))
    client().finalize_logged_model(model.model_id, "READY")
    link_output_model(run_id, model.model_id)
    return str(model.model_id)


def register(name: str, model_id: str, run_id: str, tags: dict[str, str]) -> int:
    """Make a logged model the newest version of a registered one; returns the version."""
    try:
        client().create_registered_model(name)
    except MlflowException as error:
        if error.error_code != "RESOURCE_ALREADY_EXISTS":
            raise
    version = client().create_model_version(
        name, f"models:/{model_id}", run_id=run_id, tags=tags, model_id=model_id
    )
    return int(version.version)


def alias_tags(name: str, alias: str) -> dict[str, str] | None:
    """Tags of the version that an alias names, None when there is none."""
    try:
        return dict(client().get_model_version_by_alias(name, alias).tags)
    except MlflowException:
        return None


def set_alias(name: str, alias: str, version: int) -> None:
    client().set_registered_model_alias(name, alias, str(version))


def find_model(name: str, version_or_alias: str) -> ModelPlace:
    """A registered model's file, fetched if it is elsewhere. Raises MlflowException when unknown.

    `latest` is no alias that can be set: MLflow reserves it for the newest version.
    """
    if version_or_alias == LATEST:
        found = max(_versions(name), key=lambda version: int(version.version))
    elif version_or_alias.isdigit():
        found = client().get_model_version(name, version_or_alias)
    else:
        found = client().get_model_version_by_alias(name, version_or_alias)
    folder = Path(mlflow.artifacts.download_artifacts(f"models:/{name}/{found.version}"))
    files = sorted(folder.rglob("*.safetensors")) if folder.is_dir() else [folder]
    if len(files) != 1:
        raise MlflowException(f"{name} version {found.version} holds {len(files)} safetensors files, not one")
    # The SQL registry leaves the version's model_id empty; its source is models:/<model_id>.
    return ModelPlace(files[0], found.run_id or None, str(found.source).removeprefix("models:/"))


def _versions(name: str) -> list[ModelVersion]:
    versions = list(client().search_model_versions(f"name = '{name}'"))
    if not versions:
        raise MlflowException("no such registered model")
    return versions


def running_runs() -> list[Run]:
    return list(client().search_runs([experiment_id()], "attributes.status = 'RUNNING'"))


def ui_path(run_id: str) -> str:
    """Where the UI shows a run, after its address; without the type it hides the model registry."""
    return f"#/experiments/{experiment_id()}/runs/{run_id}?workflowType=machine_learning"


def allowed(name: str) -> str:
    """A parameter's or metric's name as MLflow takes it: players and guests are named by users."""
    return NOT_IN_NAMES.sub("_", name)


def clip(text: str) -> str:
    return text if len(text) <= VALUE_LENGTH else text[: VALUE_LENGTH - 1] + "…"


def _chunks(items: Iterable[Any], size: int) -> Iterable[list[Any]]:
    everything = list(items)
    return (everything[start : start + size] for start in range(0, len(everything), size))


def exists(run_id: str) -> bool:
    try:
        return bool(client().get_run(run_id).info.lifecycle_stage == "active")
    except MlflowException as error:
        if error.error_code == "RESOURCE_DOES_NOT_EXIST":
            return False
        raise
