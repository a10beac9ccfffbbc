"""What a report tells of: a pipeline's stages, or all that one stage came from, and their experiments."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tasks import bootstrap
from tasks.errors import UserError
from tasks.references import FindModel, resolve_any
from tasks.store import StageResult, read_result, results

PIPELINE, PIPELINE_FILE = "pipeline", "pipeline.json"
EXPERIMENTS = ("accuracy-table", "overfitting", "value-by-stage", "variants", "search-scaling")


@dataclass(frozen=True)
class Chosen:
    """Finished stages, oldest first; with two passes some are there twice. `name` is fit for a folder."""

    name: str
    about: str
    stages: list[StageResult]
    seconds: float | None = None  # of the whole pipeline
    experiments: dict[str, StageResult] = field(default_factory=dict)

    @property
    def newest(self) -> StageResult:
        return self.stages[-1]

    def all(self, stage: str) -> list[StageResult]:
        return [result for result in self.stages if result.stage == stage]

    def last(self, stage: str) -> StageResult | None:
        return next(iter(reversed(self.all(stage))), None)

    def metric(self, stage: str, name: str) -> float | None:
        result = self.last(stage) or self.experiments.get(stage)
        return result.metrics.get(name) if result else None

    def command(self, stage: str) -> str:
        """The command that makes what is missing."""
        verb = "experiment" if stage in EXPERIMENTS else "run"
        newest = self.newest
        return f"alphago {verb} {stage} --profile {newest.profile} --set board_size={newest.board_size}"


def choose(reference: str, find_model: FindModel) -> Chosen:
    """What `reference` means: a pipeline (run id or folder), or a stage or model with all that it came from.

    Nothing: the newest pipeline, else the newest result of every stage of one profile and board size. Raises
    UserError when there is none.
    """
    found = _pipeline(reference) or (_lineage(reference, find_model) if reference else _newest())
    known = {made.digest for result in found.stages for made in result.outputs.values()}
    for stage in EXPERIMENTS:
        for result in results(stage):
            if all(taken.digest in known for taken in result.inputs.values()):
                found.experiments[stage] = result
    return found


def pipelines() -> list[Chosen]:
    """Every finished pipeline of the home, oldest first."""
    return [_kept(path, kept) for path, kept in _pipeline_files()]


def _pipeline(reference: str) -> Chosen | None:
    """The pipeline of that run id or folder; the newest finished one without a reference."""
    for path, kept in reversed(_pipeline_files()):
        same = reference in (kept["run_id"], PIPELINE, str(path), str(path.parent))
        if not reference or same or Path(reference).resolve() == path.parent.resolve():
            return _kept(path, kept)
    return None


def _pipeline_files() -> list[tuple[Path, dict[str, Any]]]:
    """Oldest first."""
    files = bootstrap.data_root().glob(f"{PIPELINE}/*/{PIPELINE_FILE}")
    found = [(path, json.loads(path.read_text(encoding="utf-8"))) for path in sorted(files)]
    return sorted(found, key=lambda one: one[1]["finished"])


def _kept(path: Path, kept: dict[str, Any]) -> Chosen:
    about = f"The pipeline finished {kept['finished'][:16].replace('T', ' ')} (UTC)"
    stages = [_moved(StageResult.model_validate(one)) for one in kept["stages"]]
    return Chosen(path.parent.name, about, stages, kept["seconds"])


def _moved(result: StageResult) -> StageResult:
    """The result as its folder has it now, in this home, which may have been moved; else as it was kept."""
    folder = bootstrap.data_root() / result.stage / Path(result.folder).name
    return read_result(folder) or result.model_copy(update={"folder": str(folder)})


def _lineage(reference: str, find_model: FindModel) -> Chosen:
    found = resolve_any(reference, find_model)
    result = found if isinstance(found, StageResult) else _maker(found.stage, found.folder)
    if result is None:
        raise UserError(f"{reference} was made by no stage of this home, so there is nothing to report")
    name = f"{result.stage}-{Path(result.folder).name}"
    return Chosen(name, f"{result.stage} and all that it came from", _in_order(_ancestors(result)))


def _newest() -> Chosen:
    everything = [result for result in results() if result.stage not in EXPERIMENTS]
    if not everything:
        raise UserError("nothing is finished in this home yet; `alphago run pipeline` makes what is reported")
    scope = (everything[-1].profile, everything[-1].board_size)
    newest = {one.stage: one for one in everything if (one.profile, one.board_size) == scope}
    return Chosen(
        "newest", "The newest results; they need not come from each other", _in_order(newest.values())
    )


def _ancestors(result: StageResult) -> list[StageResult]:
    found = [result]
    for taken in result.inputs.values():
        if maker := _maker(taken.stage, taken.folder):
            found += _ancestors(maker)
    return found


def _maker(stage: str | None, folder: str | None) -> StageResult | None:
    return read_result(bootstrap.data_root() / stage / folder) if stage and folder else None


def _in_order(stages: Iterable[StageResult]) -> list[StageResult]:
    each: dict[str, Any] = {result.folder: result for result in stages}
    return sorted(each.values(), key=lambda result: result.finished)
