"""The work folders on disk: one for each stage and key, with a result.json that is written last.

data/<stage>/<key>/ holds everything that a stage made. The key is a digest of parameters, input digests and
code, so an identical run finds the finished folder and reuses it. A folder without result.json was
interrupted: the next identical run goes on inside it. A lock on the key keeps two processes from doing the
same work at once.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field, ValidationError

from tasks.bootstrap import data_root
from tasks.digests import json_digest, lost_file, path_digest
from tasks.errors import UserError

RESULT = "result.json"
RUN = "run.json"  # which MLflow run works in a folder
KEY_LENGTH = 16  # hex digits: 64 bits, plenty for the runs of one project
OutputKind = Literal["dataset", "model", "artifact"]


class Output(BaseModel):
    """One thing that a stage made; `path` is relative to its folder, so that the home may be moved."""

    path: str
    kind: OutputKind
    digest: str
    model_id: str | None = None  # MLflow's logged model
    version: int | None = None  # of the registered model


class Input(BaseModel):
    """One thing that a stage took: where it lay, what it was, who made it (None: from outside)."""

    path: str
    digest: str
    stage: str | None = None
    folder: str | None = None  # name of the producer's work folder, under data/<stage>/
    run_id: str | None = None
    output: str | None = None  # its name among the producer's outputs
    model_id: str | None = None
    files: dict[str, str] = Field(default_factory=dict)  # digests of the files in a folder from outside


class StageResult(BaseModel):
    """What a finished stage says of itself: returned by its flow, kept as result.json in its folder."""

    stage: str
    key: str
    folder: str
    profile: str
    board_size: int
    params: dict[str, Any]
    inputs: dict[str, Input]
    outputs: dict[str, Output]
    metrics: dict[str, float] = Field(default_factory=dict)
    summary: str = ""
    run_id: str | None = None  # MLflow's; None while MLflow has not been reached
    code: str
    git_commit: str | None = None
    git_dirty: bool | None = None
    started: str
    finished: str
    seconds: float
    command: str = ""  # the command line that does this work again
    reused: bool = False

    def path(self, output: str) -> Path:
        return Path(self.folder) / self.outputs[output].path

    def missing(self) -> list[str]:
        """Names of the outputs of which something is no longer on disk."""
        return [name for name in self.outputs if lost_file(self.path(name))]

    def remake(self) -> str:
        """The command that makes it again; results from before it was kept give the stage alone."""
        return self.command or f"alphago run {self.stage}"


def work_identity(stage: str, params: dict[str, Any], digests: dict[str, str]) -> dict[str, Any]:
    """All that decides what a stage gives, but for the code."""
    return {"stage": stage, "params": params, "inputs": digests}


def reuse_key(identity: dict[str, Any], code: str) -> str:
    return json_digest(identity | {"code": code})[:KEY_LENGTH]


def results(stage: str | None = None) -> list[StageResult]:
    """Every finished result, of one stage or of all, oldest first."""
    found = [read_result(path.parent) for path in data_root().glob(f"{stage or '*'}/*/{RESULT}")]
    return sorted((result for result in found if result), key=lambda result: result.finished)


def read_result(folder: Path) -> StageResult | None:
    """The result of a folder, or None when it has no readable one."""
    try:
        result = StageResult.model_validate_json((folder / RESULT).read_text(encoding="utf-8"))
    except (OSError, ValidationError):
        return None
    return result.model_copy(update={"folder": str(folder.resolve())})


def write_result(result: StageResult) -> None:
    write_text(Path(result.folder) / RESULT, result.model_dump_json(indent=1) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a whole file or nothing: a crash never leaves half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def append_lines(path: Path, lines: list[str]) -> None:
    """Add whole lines to a file, or none. Where a kill left half a line, the new ones begin on their own."""
    with path.open("ab") as file:
        size = file.seek(0, os.SEEK_END)
        torn = size > 0 and _last_byte(path) != b"\n"
        try:
            file.write((("\n" if torn else "") + "".join(f"{line}\n" for line in lines)).encode())
            file.flush()
        except OSError:  # the disk is full
            os.ftruncate(file.fileno(), size)
            raise


def _last_byte(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1)


def same_work(identity: dict[str, Any]) -> StageResult | None:
    """The newest whole result with the same parameters and inputs, whatever version of the code made it."""
    for result in reversed(results(identity["stage"])):
        digests = {name: taken.digest for name, taken in result.inputs.items()}
        if work_identity(result.stage, result.params, digests) == identity and not result.missing():
            return result
    return None


class Claim:
    """A work folder that this process may fill: `result` is set when it is finished already."""

    def __init__(self, folder: Path, result: StageResult | None, lost: list[str]) -> None:
        self.folder = folder
        self.result = result
        self.lost = lost  # outputs of a finished result that have vanished, which is why it is done again
        self.resumed = result is None and folder.exists() and any(folder.iterdir())

    def empty_handed(self) -> bool:
        """Whether nothing has been made yet beyond the note of what runs here."""
        return not self.folder.exists() or all(path.name == RUN for path in self.folder.iterdir())

    def discard(self) -> None:
        """Leave nothing behind of work that failed before it was worth resuming."""
        if not self.resumed:
            shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def claim(
    stage: str, key: str, redo: bool = False, on_wait: Callable[[], None] | None = None
) -> Iterator[Claim]:
    """Hold the lock on a key and give its folder.

    `redo` passes over finished results and takes a fresh folder beside them (key-2, key-3, ...). When
    another process holds the key, `on_wait` is called and the lock awaited; it vanishes with the process
    that holds it.
    """
    root = data_root() / stage
    with key_lock(root / f".{key}.lock", on_wait):
        yield _choose_folder(root, key, redo)


def _choose_folder(root: Path, key: str, redo: bool) -> Claim:
    attempts = [root / key, *sorted(root.glob(f"{key}-*"), key=lambda path: int(path.name.split("-")[-1]))]
    finished = [result for path in attempts if (result := read_result(path))]
    whole = [result for result in finished if not result.missing()]
    if whole and not redo:
        return Claim(Path(whole[-1].folder), whole[-1], [])
    folder = attempts[-1]
    if (folder / RESULT).exists():
        folder = root / f"{key}-{len(attempts) + 1}"
    lost = [] if redo or not finished else finished[-1].missing()
    taken = Claim(folder, None, lost)
    folder.mkdir(parents=True, exist_ok=True)
    return taken


@contextmanager
def key_lock(path: Path, on_wait: Callable[[], None] | None = None) -> Iterator[None]:
    """An advisory lock on a file, held until the block or the process ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if on_wait:
                on_wait()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def describe_outputs(folder: Path, returned: dict[str, Any]) -> dict[str, Output]:
    """Check what a stage function says it made, and digest it."""
    outputs = {}
    for name, given in returned.items():
        path = Path(given["path"])
        path = path if path.is_absolute() else folder / path
        if not path.exists():
            raise UserError(f"output {name} was not written: {path}")
        outputs[name] = Output(
            path=os.path.relpath(path.resolve(), folder.resolve()),
            kind=given["kind"],
            digest=path_digest(path),
        )
    return outputs


def json_params(params: BaseModel) -> dict[str, Any]:
    """Parameters as plain JSON values, the form in which they are compared, logged and kept."""
    plain: dict[str, Any] = json.loads(params.model_dump_json())
    return plain
