"""What a user may write for an input, and where it leads.

A reference is an MLflow run id, a registered model (name, name@alias or name/version), a stage's work
folder, a dataset folder, a file, or nothing: then the newest finished result of the same profile and board
size is taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tasks.digests import MANIFEST, file_digests, lost_file, path_digest
from tasks.errors import UserError
from tasks.store import RESULT, Input, StageResult, read_result, results

RUN_ID = re.compile(r"[0-9a-f]{32}")
MODEL_NAME = re.compile(r"(?P<name>alphago-[a-z0-9-]+)(?:@(?P<alias>[\w-]+)|/(?P<version>\d+))?")
STAGE_NAME = re.compile(r"[a-z]+(-[a-z]+)+")
DEFAULT_ALIAS = "latest"

# The stage that makes each input; games come from outside or from parse-games.
PRODUCERS = {
    "games": "parse-games",
    "positions": "parse-games",
    "rollout_policy": "train-rollout-policy",
    "tree_policy": "train-rollout-policy",
    "sl_policy": "train-sl-policy",
    "rl_policy": "train-rl-policy",
    "value_set": "generate-value-set",
    "value_network": "train-value-network",
}


class Scope(NamedTuple):
    """What "newest" ranges over."""

    profile: str
    board_size: int


class ModelPlace(NamedTuple):
    """Where a registered model's file lies, and the run that made it (None when unknown)."""

    path: Path
    run_id: str | None
    model_id: str | None


# Asks the model registry; injected, so that resolving a path never imports MLflow.
FindModel = Callable[[str, str], ModelPlace]


def resolve(name: str, reference: str, scope: Scope | None, find_model: FindModel | None = None) -> Input:
    """The input `name` that `reference` means. Raises UserError with one line when it leads nowhere."""
    if not reference:
        return _newest(name, scope)
    path = Path(reference).expanduser()
    if path.exists():
        return _from_path(name, path.resolve())
    if RUN_ID.fullmatch(reference):
        return _from_run(name, reference)
    if match := MODEL_NAME.fullmatch(reference):
        return _from_registry(name, match, find_model)
    what = f"input {name}: {reference!r}" if name else repr(reference)
    raise UserError(
        f"{what} is no file or folder, no MLflow run id (32 hex digits) and no registered model "
        "(alphago-...[@alias|/version])"
    )


def _newest(name: str, scope: Scope | None) -> Input:
    stage = PRODUCERS.get(name)
    if stage is None:
        raise UserError(f"input {name} must be given")
    lost: list[str] = []  # what to say of each result that is newer than the one taken
    for result in reversed(results(stage)):
        if name not in result.outputs or (scope and scope != (result.profile, result.board_size)):
            continue
        if not (gone := lost_file(result.path(name))):
            return input_from(result, name)
        lost.append(_gone(gone, result))
    if lost:
        raise UserError(f"input {name}: {lost[0]}")
    which = f" of profile {scope.profile} on {scope.board_size}x{scope.board_size}" if scope else ""
    raise UserError(
        f"input {name}: no finished {stage}{which}; run `alphago run {stage}`, or give --input {name}=REF"
    )


def _from_path(name: str, path: Path) -> Input:
    """A path inside a work folder keeps its ancestry; any other is a thing from outside."""
    if path.name == RESULT:
        path = path.parent
    if path.is_dir() and (result := read_result(path)):
        return input_from(result, name)
    for parent in path.parents:
        if result := read_result(parent):
            for output in result.outputs:
                if result.path(output).resolve() == path:
                    return input_from(result, output)
    return outside(path)


def resolve_any(reference: str, find_model: FindModel) -> StageResult | Input:
    """What a reference without an input's name means: a whole stage, or one thing. Raises UserError.

    A stage's name means its newest result.
    """
    path = Path(reference).expanduser()
    if path.is_dir() and (result := read_result(path.resolve())):
        return result
    if not path.exists() and RUN_ID.fullmatch(reference):
        return _result_of_run(reference)
    if not path.exists() and (found := results(reference) if STAGE_NAME.fullmatch(reference) else []):
        return found[-1]
    if not path.exists() and reference in PRODUCERS.values():
        raise UserError(f"no finished {reference} in this home; run `alphago run {reference}`")
    return resolve("", reference, None, find_model)


def outside(path: Path) -> Input:
    """A file or folder that no stage made."""
    files = file_digests(path) if path.is_dir() and not (path / MANIFEST).is_file() else {}
    return Input(path=str(path), digest=path_digest(path), files=files)


def _from_run(name: str, run_id: str) -> Input:
    return input_from(_result_of_run(run_id), name)


def _result_of_run(run_id: str) -> StageResult:
    for result in results():
        if result.run_id == run_id:
            return result
    raise UserError(f"no finished stage with MLflow run {run_id} in this home")


def _from_registry(name: str, match: re.Match[str], find_model: FindModel | None) -> Input:
    if find_model is None:
        raise UserError(f"input {name}: {match[0]}: the model registry is not available here")
    place = find_model(match["name"], match["version"] or match["alias"] or DEFAULT_ALIAS)
    for result in results():
        if place.run_id and result.run_id == place.run_id:
            for output, made in result.outputs.items():
                if made.model_id == place.model_id and result.path(output).exists():
                    return input_from(result, output)
    return Input(
        path=str(place.path), digest=path_digest(place.path), run_id=place.run_id, model_id=place.model_id
    )


def input_from(result: StageResult, output: str) -> Input:
    """A stage's output as the next one's input. Raises UserError when there is none or it is lost."""
    if output not in result.outputs:
        raise UserError(f"{result.stage} gives {', '.join(result.outputs) or 'nothing'}, no {output}")
    made, path = result.outputs[output], result.path(output)
    if gone := lost_file(path):
        raise UserError(_gone(gone, result))
    return Input(
        path=str(path),
        digest=made.digest,
        stage=result.stage,
        folder=Path(result.folder).name,
        run_id=result.run_id,
        output=output,
        model_id=made.model_id,
    )


def _gone(path: Path, result: StageResult) -> str:
    return f"{path} is gone; `{result.remake()}` makes it again"
