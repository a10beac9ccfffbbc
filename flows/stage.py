"""What all stage flows share: parameters over the profile, inputs resolved, a tracked run, Prefect told."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Generic, TypeVar, cast

from prefect.artifacts import create_markdown_artifact, create_progress_artifact, update_progress_artifact
from prefect.logging.handlers import APILogHandler
from prefect.runtime import flow_run
from prefect.states import Completed

from flows.inputs import resolve_inputs
from flows.params import Profile, Reuse, over_profile, stage_params
from flows.remake import command_line
from tasks.bootstrap import LOGGER
from tasks.params import StageParams
from tasks.references import Scope
from tasks.store import StageResult
from tasks.tracking import StageRun, stage_run

REUSED = "Reused"
REUSED_MESSAGE = "Finished before: nothing was computed."
PROGRESS_SECONDS = 5.0  # each update of a progress artifact is a call to the server

Params = TypeVar("Params", bound=StageParams)
log = logging.getLogger(f"{LOGGER}.flows")


def show_log_in_prefect() -> None:
    """Send our log lines to the flow run's page. Not by a setting: a worker imports Prefect before us."""
    ours = logging.getLogger(LOGGER)
    if not any(isinstance(handler, APILogHandler) for handler in ours.handlers):
        ours.addHandler(APILogHandler())


show_log_in_prefect()


class OpenStage(Generic[Params]):
    """A stage at work: its function gets `params`, `paths`, `folder` and `run`, `finish` what it returns.

    The Prefect task itself calls `finish`: what is done stays done even if Prefect cannot be told of it.
    """

    def __init__(self, run: StageRun, params: Params, paths: dict[str, Path]) -> None:
        self.run = run
        self.params = params
        self.paths = paths
        self.folder = run.folder
        self.finish = run.finish

    @property
    def reused(self) -> bool:
        return self.run.result is not None

    @property
    def result(self) -> StageResult:
        assert self.run.result is not None
        return self.run.result

    def returned(self) -> StageResult:
        """What the flow returns: reused work as a state of that name, which the run's page then shows.

        Whoever calls the flow gets the result itself either way.
        """
        if not self.result.reused:
            return self.result
        return cast(StageResult, Completed(name=REUSED, message=REUSED_MESSAGE, data=self.result))


@contextmanager
def open_stage(
    name: str,
    params: Params,
    references: dict[str, str],
    profile: Profile,
    reuse: Reuse,
    newest_optional: bool = False,
) -> Iterator[OpenStage[Params]]:
    """Resolve the inputs and open the stage's run; an empty reference means the newest of the profile.

    An optional input that nobody names is left out or, with `newest_optional`, taken if there is one. Raises
    UserError when an input cannot be found.
    """
    params = over_profile(params, name, profile)
    inputs = resolve_inputs(name, references, Scope(profile, params.board_size), newest_optional)
    command = command_line(["alphago", "run", name], profile, params, stage_params(name, profile, {}), inputs)
    with stage_run(
        name,
        params,
        inputs,
        profile=profile,
        redo=reuse == "never",
        any_code=reuse == "any-code",
        tags=prefect_tags(),
        command=command,
    ) as run:
        opened = OpenStage(run, params, {key: Path(taken.path) for key, taken in inputs.items()})
        if not opened.reused:
            run.listeners.append(ProgressArtifact(name))
        yield opened
    _summarise(opened.result)


def prefect_tags() -> dict[str, str]:
    """Tags by which an MLflow run leads to the flow run; empty outside of a flow."""
    identifier = flow_run.get_id()
    if not identifier:
        return {}
    tags = {"prefect.flow_run_id": str(identifier), "prefect.flow_run_name": str(flow_run.get_name())}
    url = flow_run.ui_url
    lasting = os.environ.get("PREFECT_API_URL")  # a temporary server's address is of no use tomorrow
    return tags | ({"prefect.flow_run_url": str(url)} if url and lasting else {})


class ProgressArtifact:
    """Shows a stage's progress in Prefect's UI; a server that is away costs the bar, not the stage."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._artifact: object = None
        self._next = time.monotonic() + PROGRESS_SECONDS
        self._broken = False

    def __call__(self, done: float, total: float, note: str) -> None:
        if self._broken or total <= 0 or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + PROGRESS_SECONDS
        share = min(100.0, 100.0 * done / total)
        try:
            if self._artifact is None:
                self._artifact = create_progress_artifact(share, key=self.name, description=note or self.name)
            else:
                update_progress_artifact(self._artifact, share, description=note or self.name)  # type: ignore[arg-type]
        except Exception as error:
            log.warning("Prefect's progress bar of %s is given up: %s", self.name, error)
            self._broken = True


def _summarise(result: StageResult) -> None:
    """A page in Prefect's UI with what came out."""
    how = f"{REUSED}. {REUSED_MESSAGE}" if result.reused else f"{result.seconds:,.1f} s"
    lines = [
        f"# {result.stage}",
        how,
        f"Folder `{result.folder}`, MLflow run `{result.run_id}`",
        "",
        result.summary,
    ]
    publish(result.stage, "\n\n".join(lines))


def publish(key: str, markdown: str) -> None:
    """Put a markdown page into Prefect's UI; losing it is no reason to fail a finished stage."""
    try:
        create_markdown_artifact(markdown, key=f"{key}-summary")
    except Exception as error:
        log.warning("Prefect did not take the summary of %s: %s", key, error)
