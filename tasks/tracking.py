"""The only door to MLflow: runs that stages report to, reuse of finished work, models in the registry.

The work folder on disk is the truth; MLflow is told about it through an outbox, so that an MLflow that is
slow or away costs no work. What it missed is told when the same command is run again.

    with stage_run("train-sl-policy", params, inputs, profile="demo") as run:
        result = run.result or run.finish(run_train_sl_policy(params, paths, run.folder, run))
"""

from __future__ import annotations

import json
import logging
import math
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from tasks import lineage, store
from tasks.bootstrap import LOGGER
from tasks.digests import code_digest, git_state
from tasks.errors import UserError
from tasks.interruption import TrainingInterrupted
from tasks.outbox import Outbox
from tasks.params import StageParams
from tasks.recording import record_result, record_reuse
from tasks.reporting import ProgressLine
from tasks.store import Claim, Input, StageResult

METRICS_FILE = "metrics.jsonl"
PROCESS_TAG = "alphago.process"
SECONDS_METRIC = "seconds"

log = logging.getLogger(f"{LOGGER}.tracking")
_parent: ContextVar[TrackedRun | None] = ContextVar("parent", default=None)

ProgressListener = Callable[[float, float, str], None]


def _store() -> ModuleType:
    """MLflow takes seconds to import: only when something is to be sent."""
    from tasks import mlflow_store

    return mlflow_store


def _send_artifact(file: Path, folder: str | None, run_id: str) -> None:
    _store().log_artifact(run_id, file, folder)


class TrackedRun:
    """A run that listens to a main loop (`tasks.reporting.Reporter`) and tells MLflow, the disk and the
    terminal.

    `run_id` is None until MLflow has answered.
    """

    def __init__(self, name: str, folder: Path, parent: TrackedRun | None, tags: dict[str, str]) -> None:
        self.name = name
        self.folder = folder
        self.run_id: str | None = None
        self._owns_folder = True  # a reuse must not become the run which the work is known by
        self.listeners: list[ProgressListener] = []
        self.outbox = Outbox("MLflow", lambda error: bool(_store().is_refusal(error)))
        self._line = ProgressLine(name)
        self._points: list[tuple[str, float, int, int]] = []
        folder.mkdir(parents=True, exist_ok=True)
        self.outbox.add(lambda: self._open(parent, tags | {PROCESS_TAG: process_name()}))

    def log_metrics(self, metrics: dict[str, float], step: int | None = None) -> None:
        now = int(time.time() * 1000)
        points = [(name, float(value), now, step or 0) for name, value in metrics.items()]
        self.add_points(points)
        store.append_lines(self.folder / METRICS_FILE, [json.dumps(point) for point in points])
        if self.outbox.due():
            self.flush()

    def add_points(self, points: list[tuple[str, float, int, int]]) -> None:
        """Queue values that carry their own time: (name, value, milliseconds, step)."""
        self._points += points

    def log_figure(self, name: str, figure: Any) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, bbox_inches="tight")
        self.log_artifact(path)

    def log_text(self, name: str, text: str) -> None:
        store.write_text(self.folder / name, text)
        self.log_artifact(self.folder / name)

    def log_artifact(self, path: Path) -> None:
        """Copy a file of the work folder, or all files of a folder in it, to MLflow under the same name."""
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file():
                below = file.parent.relative_to(self.folder).as_posix()
                self.send(partial(_send_artifact, file, None if below == "." else below))

    def log_params(self, params: dict[str, Any]) -> None:
        flat = flatten(params)
        self.send(lambda run_id: _store().log_params(run_id, flat))

    def log_tags(self, tags: dict[str, str]) -> None:
        self.send(lambda run_id: _store().log_tags(run_id, tags))

    def progress(self, done: float, total: float, note: str = "") -> None:
        self._line.update(done, total, note)
        for listener in self.listeners:
            listener(done, total, note)
        if self.outbox.due():
            self.flush()

    def send(self, call: Callable[[str], None]) -> None:
        """Queue a call that needs the run's id; it is made with the next flush."""

        def with_id() -> None:
            assert self.run_id is not None  # the first call in the outbox set it
            call(self.run_id)

        self.outbox.add(with_id)

    def flush(self) -> bool:
        self._queue_points()
        return self.outbox.flush()

    def close(self, status: str) -> bool:
        """End the run (FINISHED, FAILED, KILLED); False when MLflow could not be told everything."""
        self._line.close()
        self._queue_points()
        self.send(lambda run_id: _store().end_run(run_id, status))
        return self.outbox.close()

    def _queue_points(self) -> None:
        if self._points:
            points, self._points = self._points, []
            self.send(
                lambda run_id: _store().log_points(run_id, [_store().Point(*point) for point in points])
            )

    def _open(self, parent: TrackedRun | None, tags: dict[str, str]) -> None:
        parent_id = parent.run_id if parent else None
        previous = _read_json(self.folder / store.RUN).get("run_id") if self._owns_folder else None
        if previous and _store().exists(previous):
            _store().reopen_run(previous, tags | {"alphago.resumed": "true"}, parent_id)
            self.run_id = previous
            return
        self.run_id = _store().start_run(self.name, tags, parent_id)
        if self._owns_folder:
            store.write_text(self.folder / store.RUN, json.dumps({"run_id": self.run_id}))


class StageRun(TrackedRun):
    """A stage's run. `result` is set when identical finished work was found; else `finish` must be called."""

    def __init__(
        self, frame: StageResult, claim: Claim, parent: TrackedRun | None, tags: dict[str, str]
    ) -> None:
        self._frame = frame  # the result but for outputs, metrics, summary and times
        self._claim = claim
        self._started = time.monotonic()
        self.result = claim.result
        super().__init__(frame.stage, claim.folder, parent, tags)
        self._owns_folder = claim.result is None or claim.result.run_id is None
        self.log_params(frame.params)

    def finish(self, returned: dict[str, Any]) -> StageResult:
        """Check and digest what the stage function returned, and write result.json: now it is finished."""
        outputs = store.describe_outputs(self.folder, returned["outputs"])
        seconds = time.monotonic() - self._started
        metrics = {name: float(value) for name, value in returned.get("metrics", {}).items()}
        self.result = self._frame.model_copy(
            update={
                "outputs": outputs,
                "metrics": metrics,
                "summary": str(returned.get("summary", "")),
                "finished": timestamp(),
                "seconds": round(seconds, 3),
            }
        )
        store.write_result(self.result)
        finite = {name: value for name, value in metrics.items() if math.isfinite(value)}
        self.log_metrics(finite | {SECONDS_METRIC: seconds})
        return self.result


@contextmanager
def stage_run(
    stage: str,
    params: StageParams,
    inputs: dict[str, Input],
    *,
    profile: str,
    redo: bool = False,
    any_code: bool = False,
    tags: dict[str, str] | None = None,
    command: str = "",
) -> Iterator[StageRun]:
    """Claim the work folder of a stage and report to MLflow, under the pipeline's run if one is open.

    `redo` does finished work again; `any_code` accepts a result that another version of the code made;
    `command` is the command line that does this work, kept to be named if what it made is lost. On an
    error the run is marked and the folder left for the next identical run to go on in, or removed when
    nothing was made yet or the error is one that the user has to mend (UserError).
    """
    plain = store.json_params(params)
    identity = store.work_identity(stage, plain, {name: taken.digest for name, taken in inputs.items()})
    code = code_digest()
    older = store.same_work(identity) if any_code and not redo else None
    key = older.key if older else store.reuse_key(identity, code)
    git = git_state()
    frame = StageResult(
        stage=stage,
        key=key,
        folder="",
        profile=profile,
        board_size=params.board_size,
        params=plain,
        inputs=inputs,
        outputs={},
        code=code,
        git_commit=git.commit,
        git_dirty=git.dirty,
        started=timestamp(),
        finished="",
        seconds=0.0,
        command=command,
    )
    with store.claim(
        stage, key, redo, on_wait=lambda: log.info("%s: another process does this; waiting", stage)
    ) as claim:
        frame.folder = str(claim.folder)
        about = {"stage": stage, "profile": profile, "alphago.key": key, "alphago.folder": str(claim.folder)}
        about |= {"alphago.code": code[:16], "git.commit": git.commit or "", "git.dirty": str(git.dirty)}
        parent = _parent.get()
        run = StageRun(frame, claim, parent, about | (tags or {}))
        if parent is None:
            run.outbox.add(end_dead_runs)
        _announce(stage, claim, code)
        yield from _guarded(run, claim)


def _guarded(run: StageRun, claim: Claim) -> Iterator[StageRun]:
    try:
        run.flush()
        yield run
    except BaseException as error:
        stopped = not isinstance(error, Exception) or isinstance(error, TrainingInterrupted)
        status = "KILLED" if stopped else "FAILED"
        run.log_tags({"alphago.error": f"{type(error).__name__}: {error}"})
        run.close(status)
        if run.result is None and (isinstance(error, UserError) or claim.empty_handed()):
            claim.discard()
        raise
    assert run.result is not None, "a stage must end with run.finish()"
    _record(run, claim.result)
    run.close("FINISHED")


def _record(run: StageRun, found: StageResult | None) -> None:
    """Tell MLflow about inputs and outputs; a result that it has never heard of is told whole."""
    assert run.result is not None
    if found and found.run_id:
        run.result = found.model_copy(update={"reused": True})
        record_reuse(run, run.result)
        return
    if found:
        run.result = found.model_copy(update={"reused": True})
        run.add_points(_kept_points(run.folder))
    record_result(run, run.result)
    path = lineage.write_lineage(run.result)
    run.log_artifact(path)
    run.log_tags({"mlflow.note.content": lineage.note(lineage.stage_node(run.result))})


def _kept_points(folder: Path) -> list[tuple[str, float, int, int]]:
    try:
        lines = (folder / METRICS_FILE).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    return [tuple(json.loads(line)) for line in lines if line.endswith("]")]  # a kill tears the last one


def _announce(stage: str, claim: Claim, code: str) -> None:
    if claim.result:
        changed = "" if claim.result.code == code else ", made by another version of the code"
        log.info("%s: reused, finished %s%s (%s)", stage, claim.result.finished, changed, claim.folder)
    elif claim.lost:
        log.info(
            "%s: %s of an earlier run is gone, doing the work again (%s)",
            stage,
            ", ".join(claim.lost),
            claim.folder,
        )
    else:
        log.info("%s: %s %s", stage, "going on in" if claim.resumed else "starting in", claim.folder)


@contextmanager
def parent_run(name: str, folder: Path, tags: dict[str, str]) -> Iterator[TrackedRun]:
    """A run that the stages started inside are nested under; itself under the one that is open, if any."""
    run = TrackedRun(name, folder, _parent.get(), tags)
    run.outbox.add(end_dead_runs)
    token = _parent.set(run)
    try:
        run.flush()
        yield run
    except BaseException as error:
        run.close("FAILED" if isinstance(error, Exception) else "KILLED")
        raise
    finally:
        _parent.reset(token)
    run.close("FINISHED")


def end_dead_runs() -> None:
    """Mark the runs that a killed process of this machine left as running."""
    host = socket.gethostname()
    for run in _store().running_runs():
        owner, _, pid = run.data.tags.get(PROCESS_TAG, "").rpartition(":")
        if owner == host and pid.isdigit() and not _alive(int(pid)):
            _store().end_run(run.info.run_id, "KILLED")


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def process_name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


def timestamp() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def flatten(values: dict[str, Any], prefix: str = "") -> dict[str, str]:
    """Nested parameters as dotted names."""
    flat: dict[str, str] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            flat |= flatten(value, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = str(value)
    return flat


def _read_json(path: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found


def find_model(name: str, version_or_alias: str) -> Any:
    """Ask the model registry; raises UserError with one line when it does not know the model."""
    try:
        return _store().find_model(name, version_or_alias)
    except Exception as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UserError(f"model {name} ({version_or_alias}): {first}") from error
