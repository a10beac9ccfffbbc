"""Digests: what tells two inputs, or two versions of the code, apart. All are sha256 in hex."""

from __future__ import annotations

import hashlib
import json
import subprocess
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from tasks.bootstrap import SOURCE_ROOT
from tasks.errors import UserError

MANIFEST = "manifest.json"
CHUNK_BYTES = 1 << 20
# flows/ only passes parameters and inputs on, and both are part of a result's key, so its code is not in
# the digest.
DIGESTED_PACKAGES = ("go_engine", "datasets", "models", "tasks")
SOURCE_SUFFIXES = (".py", ".cpp", ".hpp")
GIT_SECONDS = 10.0


class GitState(NamedTuple):
    """Where the code stands in git; both None outside a repository."""

    commit: str | None
    dirty: bool | None


def file_digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def json_digest(value: Any) -> str:
    """Digest of a JSON-able value, whatever the order of its keys."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def path_digest(path: Path) -> str:
    """Digest of a file, of a dataset folder (from its manifest, which digests every shard), or of any folder.

    Raises UserError when the path does not exist.
    """
    if path.is_file():
        return file_digest(path)
    if not path.is_dir():
        raise UserError(f"{path}: no such file or folder")
    manifest = path / MANIFEST
    if manifest.is_file():
        recorded = read_manifest(path).get("digest")
        return str(recorded) if recorded else file_digest(manifest)
    return _combined(file_digests(path))


def file_digests(folder: Path) -> dict[str, str]:
    """Digest of every file below a folder, by its path relative to it, in the order of these paths."""
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return {file.relative_to(folder).as_posix(): file_digest(file) for file in files}


def lost_file(path: Path) -> Path | None:
    """What is gone of a thing that was there: itself or the first file that its manifest names; else None.

    Sizes and contents are not looked at.
    """
    if not path.exists():
        return path
    if not (path / MANIFEST).is_file():
        return None
    named = (path / str(file["name"]) for file in read_manifest(path).get("files", []))
    return next((file for file in named if not file.exists()), None)


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a dataset folder; raises UserError when there is none or it is no JSON object."""
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{folder}: not a dataset folder (it has no {MANIFEST})") from None
    except ValueError as error:
        raise UserError(f"{path}: not JSON ({error})") from None
    if not isinstance(manifest, dict):
        raise UserError(f"{path}: not a JSON object")
    return manifest


@cache
def code_digest(root: Path = SOURCE_ROOT) -> str:
    """Digest of the sources that decide what a stage computes; works without git.

    An installed wheel has no C++ sources: there the compiled module stands for them.
    """
    files = [file for package in DIGESTED_PACKAGES for file in _sources(root / package)]
    return _combined({file.relative_to(root).as_posix(): file_digest(file) for file in sorted(files)})


def _sources(package: Path) -> list[Path]:
    files = [file for suffix in SOURCE_SUFFIXES for file in package.rglob(f"*{suffix}")]
    if package.name == "go_engine" and not any(file.suffix == ".cpp" for file in files):
        files += package.glob("_core*.so")
    return files


def _combined(digests: dict[str, str]) -> str:
    digest = hashlib.sha256()
    for name, of_file in digests.items():
        digest.update(name.encode() + b"\0" + bytes.fromhex(of_file))
    return digest.hexdigest()


@cache
def git_state(root: Path = SOURCE_ROOT) -> GitState:
    """Commit and dirty flag of the checkout."""
    commit = _git(root, "rev-parse", "HEAD")
    if commit is None:
        return GitState(None, None)
    return GitState(commit.strip(), bool(_git(root, "status", "--porcelain", "--untracked-files=no")))


def _git(root: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments],
            capture_output=True,
            text=True,
            timeout=GIT_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout
