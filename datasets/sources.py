"""Where game files come from: files, folders, archives, archives in archives; nothing is unpacked to disk.

Archives are not trusted: a member that is too large, an archive that unpacks to far more than its own size,
links and paths that lead outside are refused, each with a row that says so.
"""

from __future__ import annotations

import gzip
import io
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from lzma import LZMAError
from pathlib import Path, PurePosixPath
from typing import IO

GAME_SUFFIXES = {".sgf": "sgf", ".gib": "gib", ".ngf": "ngf"}
ZIP_SUFFIXES = (".zip",)
TAR_SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
SEVENZIP_SUFFIXES = (".7z",)
GZIP_SUFFIX = ".gz"  # of one packed file
SNIFF_BYTES = 256

_OUTSIDE = re.compile(r"[/\\]|[A-Za-z]:[/\\]")


@dataclass(frozen=True, slots=True)
class Limits:
    """What an archive may do. Sizes in bytes."""

    file_bytes: int = 32 << 20  # one game file
    archive_bytes: int = 1 << 30  # an archive inside an archive, which is held in memory
    depth: int = 3  # archives within archives
    ratio: int = 250  # unpacked to packed size; game records reach about 20
    free_bytes: int = 64 << 20  # unpacked size below which no ratio is looked at
    members: int = 20_000_000


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file: its name (`archive!member` in an archive), its format and bytes, or why it is refused."""

    name: str
    format: str = ""  # "sgf", "gib", "ngf"
    data: bytes = b""
    refused: str = ""
    read: int = 0  # bytes on disk that were read up to and with this file, to show progress


class ArchiveError(ValueError):
    """An archive that is damaged or breaks the limits."""


class _Budget:
    """Counts what an archive and everything within it unpacks to."""

    def __init__(self, packed_bytes: int, limits: Limits) -> None:
        self.left = max(limits.free_bytes, packed_bytes * limits.ratio)
        self.members = limits.members

    def take(self, size: int) -> None:
        self.left -= size
        self.members -= 1
        if self.left < 0:
            raise ArchiveError("unpacks to far more than its own size; refused as an archive bomb")
        if self.members < 0:
            raise ArchiveError("has too many members")


def iterate_files(path: Path, limits: Limits | None = None) -> Iterator[SourceFile]:
    """All files under a path in a fixed order. Raises FileNotFoundError if there is nothing at `path`."""
    limits = limits or Limits()
    if not path.exists():
        raise FileNotFoundError(f"no such file or folder: {path}")
    before = 0
    for file in files_on_disk(path):
        name = file.name if file == path else file.relative_to(path).as_posix()
        for found in _from_path(file, name, limits):
            yield replace(found, read=before + found.read)
        before += file.stat().st_size


def files_on_disk(path: Path) -> list[Path]:
    """The path itself if it is a file, else the files under it in order, without hidden ones."""
    if path.is_file():
        return [path]
    return [
        file
        for file in sorted(path.rglob("*"))
        if file.is_file() and not any(part.startswith(".") for part in file.relative_to(path).parts)
    ]


def archive_kind(name: str) -> str | None:
    """ "zip", "tar" or "7z" by the name's ending."""
    lowered = name.lower()
    for kind, suffixes in (("tar", TAR_SUFFIXES), ("zip", ZIP_SUFFIXES), ("7z", SEVENZIP_SUFFIXES)):
        if lowered.endswith(suffixes):
            return kind
    return None


def game_format(name: str, data: bytes) -> str | None:
    """The format by the name's ending, else by the first bytes; None if it is no game file."""
    known = GAME_SUFFIXES.get(PurePosixPath(name.lower()).suffix)
    if known:
        return known
    head = data[:SNIFF_BYTES].lstrip(b"\xef\xbb\xbf \t\r\n")
    if head.startswith(b"(") and head[1:].lstrip().startswith(b";"):
        return "sgf"
    return "gib" if head.startswith(b"\\HS") else None


def _from_path(file: Path, name: str, limits: Limits) -> Iterator[SourceFile]:
    kind = archive_kind(name)
    size = file.stat().st_size
    if kind:
        with file.open("rb") as stream:
            for found in _from_archive(stream, kind, name, limits, _Budget(size, limits), 1):
                yield replace(found, read=stream.tell())
    elif size > limits.file_bytes:
        yield SourceFile(name, refused=_too_large(limits.file_bytes), read=size)
    else:
        try:
            found = _game_file(name, file.read_bytes(), limits, _Budget(size, limits))
        except ArchiveError as error:
            found = SourceFile(name, refused=str(error))
        yield replace(found, read=size)


def _too_large(limit: int) -> str:
    return f"larger than {limit} bytes"


def _game_file(name: str, data: bytes, limits: Limits, budget: _Budget) -> SourceFile:
    """One file, unpacked if it is packed by itself. Raises ArchiveError if that breaks the budget."""
    inner = name
    if name.lower().endswith(GZIP_SUFFIX):
        inner = name[: -len(GZIP_SUFFIX)]
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
                data = stream.read(limits.file_bytes + 1)
        except (OSError, EOFError, zlib.error) as error:
            return SourceFile(name, refused=f"cannot be unpacked: {error}")
        budget.take(len(data))
        if len(data) > limits.file_bytes:
            return SourceFile(name, refused=_too_large(limits.file_bytes))
    found = game_format(inner, data)
    if found is None:
        return SourceFile(name, refused="not a game record (unknown kind of file)")
    return SourceFile(name, found, data)


def _from_archive(
    stream: IO[bytes], kind: str, name: str, limits: Limits, budget: _Budget, depth: int
) -> Iterator[SourceFile]:
    members = {"zip": _zip_members, "tar": _tar_members, "7z": _sevenzip_members}[kind]
    try:
        for member, data, refused in members(stream, limits, budget):
            inner = f"{name}!{member}"
            inner_kind = archive_kind(member)
            if refused:
                yield SourceFile(inner, refused=refused)
            elif inner_kind is None:
                yield _game_file(inner, data, limits, budget)
            elif depth >= limits.depth:
                yield SourceFile(inner, refused=f"archives nested more than {limits.depth} deep")
            else:
                yield from _from_archive(io.BytesIO(data), inner_kind, inner, limits, budget, depth + 1)
    except (ArchiveError, tarfile.TarError, zipfile.BadZipFile, zlib.error, LZMAError, EOFError, OSError,
            RuntimeError, NotImplementedError, ValueError) as error:  # fmt: skip
        yield SourceFile(name, refused=f"archive cannot be read: {str(error) or type(error).__name__}")


def _refusal(member: str, size: int, limits: Limits) -> str:
    """Why a member's path or size is refused, empty if it is not."""
    if _OUTSIDE.match(member) or ".." in member.replace("\\", "/").split("/"):
        return "path leads out of the archive"
    limit = limits.archive_bytes if archive_kind(member) else limits.file_bytes
    return _too_large(limit) if size > limit else ""


def _tar_members(stream: IO[bytes], limits: Limits, budget: _Budget) -> Iterator[tuple[str, bytes, str]]:
    with tarfile.open(fileobj=stream, mode="r|*") as tar:
        for entry in tar:
            tar.members = []  # type: ignore[attr-defined]  # else every header of a large archive stays in memory
            if entry.isdir():
                continue
            budget.take(max(entry.size, 0))
            refused = _refusal(entry.name, entry.size, limits)
            if not entry.isreg():
                refused = "a link or device, not a file"
            opened = None if refused else tar.extractfile(entry)
            yield entry.name, opened.read() if opened else b"", refused


def _zip_members(stream: IO[bytes], limits: Limits, budget: _Budget) -> Iterator[tuple[str, bytes, str]]:
    with zipfile.ZipFile(stream) as archive:
        for entry in archive.infolist():
            if entry.is_dir():
                continue
            budget.take(entry.file_size)
            refused = _refusal(entry.filename, entry.file_size, limits)
            if not refused and entry.flag_bits & 1:
                refused = "encrypted"
            data = b""
            if not refused:
                with archive.open(entry) as member:
                    data = member.read(entry.file_size + 1)
            yield entry.filename, data, refused


def _sevenzip_members(stream: IO[bytes], limits: Limits, budget: _Budget) -> Iterator[tuple[str, bytes, str]]:
    try:
        from .sevenzip import list_members, read_members
    except ImportError:
        raise ArchiveError("reading .7z needs the package py7zr") from None
    wanted = []
    for name, size in list_members(stream):
        budget.take(size)
        refused = _refusal(name, size, limits)
        if refused:
            yield name, b"", refused
        else:
            wanted.append(name)
    if wanted:
        for name, data in read_members(stream, wanted):
            yield name, data, ""
