"""Dataset folders: parquet files and a manifest, on a disk or at an s3-like address (pyarrow.fs).

A dataset is complete when its manifest is there; it is written last. Files are named
`<split>-<number>.parquet`.
"""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from .schemas import SCHEMA_VERSION

MANIFEST = "manifest.json"
ROW_GROUP = 1024
COMPRESSION = "zstd"
COMPRESSION_LEVEL = 1
HASH_CHUNK = 1 << 20
SPLITS = ("train", "test")

Location = str | os.PathLike[str]


class DatasetError(ValueError):
    """A folder that is no usable dataset; the message is one clear line."""


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One file of a dataset."""

    name: str
    rows: int
    sha256: str


def locate(place: Location) -> tuple[fs.FileSystem, str]:
    """The filesystem and the path in it of a local path or a URI such as s3://bucket/folder."""
    text = os.fspath(place)
    if "://" in text:
        return fs.FileSystem.from_uri(text)
    return fs.LocalFileSystem(), os.path.abspath(text)  # noqa: PTH100 (pyarrow wants text)


def exists(place: Location) -> bool:
    """Whether there is a file or folder."""
    filesystem, path = locate(place)
    return bool(filesystem.get_file_info(path).type != fs.FileType.NotFound)


def join(folder: Location, name: str) -> str:
    """A file's address within a folder."""
    return os.fspath(folder).rstrip("/") + "/" + name


def write_bytes(place: Location, data: bytes) -> None:
    """Writes a file whole or not at all."""
    filesystem, path = locate(place)
    filesystem.create_dir(path.rsplit("/", 1)[0], recursive=True)
    part = _part(path)
    try:
        with filesystem.open_output_stream(part) as stream:
            stream.write(data)
        filesystem.move(part, path)
    except BaseException:
        _discard(filesystem, part)
        raise


def read_bytes(place: Location) -> bytes:
    """Reads a whole file. Raises FileNotFoundError."""
    filesystem, path = locate(place)
    with filesystem.open_input_stream(path) as stream:
        return bytes(stream.read())


def _part(path: str) -> str:
    return f"{path}.{uuid.uuid4().hex[:8]}.part"


def _discard(filesystem: fs.FileSystem, part: str) -> None:
    if filesystem.get_file_info(part).type != fs.FileType.NotFound:
        filesystem.delete_file(part)


class TableWriter:
    """Writes one parquet file in row groups of a fixed size; the file appears under its name when it is
    whole.

    Use as a context; an exception leaves nothing behind.
    """

    def __init__(
        self,
        place: Location,
        schema: pa.Schema,
        row_group: int = ROW_GROUP,
        dictionary: list[str] | bool = False,
        metadata: dict[str, str] | None = None,
    ) -> None:
        self.filesystem, self.path = locate(place)
        self.filesystem.create_dir(self.path.rsplit("/", 1)[0], recursive=True)
        self.part = _part(self.path)
        self.row_group = row_group
        self.rows = 0
        self.pending: list[pa.Table] = []
        self.pending_rows = 0
        self.schema = schema.with_metadata({"alphago.schema": str(SCHEMA_VERSION), **(metadata or {})})
        try:
            self.writer = pq.ParquetWriter(
                self.part,
                self.schema,
                filesystem=self.filesystem,
                compression=COMPRESSION,
                compression_level=COMPRESSION_LEVEL,
                use_dictionary=dictionary,
                write_statistics=False,
            )
        except OSError:  # the disk is too full for a file's first bytes
            _discard(self.filesystem, self.part)
            raise

    def write(self, table: pa.Table) -> None:
        """Adds rows; whole row groups go to disk at once."""
        self.rows += table.num_rows
        self.pending.append(table)
        self.pending_rows += table.num_rows
        if self.pending_rows >= self.row_group:
            whole = self.pending_rows - self.pending_rows % self.row_group
            joined = pa.concat_tables(self.pending)
            self._flush(joined.slice(0, whole))
            self.pending_rows -= whole
            self.pending = [joined.slice(whole)] if self.pending_rows else []

    def _flush(self, table: pa.Table) -> None:
        self.writer.write_table(table.cast(self.schema), row_group_size=self.row_group)

    def __enter__(self) -> TableWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        whole = False
        try:
            if kind is None and self.pending_rows:
                self._flush(pa.concat_tables(self.pending))
            self.writer.close()
            whole = kind is None
        finally:  # the last bytes too may find the disk full
            if whole:
                self.filesystem.move(self.part, self.path)
            else:
                _discard(self.filesystem, self.part)


def write_table(place: Location, table: pa.Table, **options: Any) -> None:
    """Writes a table whole or not at all."""
    with TableWriter(place, table.schema, **options) as writer:
        writer.write(table)


def file_entry(folder: Location, name: str) -> FileEntry:
    """Rows and digest of a parquet file."""
    filesystem, path = locate(join(folder, name))
    digest = hashlib.sha256()
    with filesystem.open_input_stream(path) as stream:
        while chunk := stream.read(HASH_CHUNK):
            digest.update(chunk)
    rows = pq.read_metadata(path, filesystem=filesystem).num_rows
    return FileEntry(name, rows, digest.hexdigest())


def write_manifest(
    folder: Location, kind: str, size: int, files: Iterable[FileEntry], **more: Any
) -> dict[str, Any]:
    """Completes a dataset folder. `more`: further entries ("games", "splits", ...). Returns the manifest."""
    entries = sorted(files, key=lambda entry: entry.name)
    manifest: dict[str, Any] = {
        "kind": kind,
        "schema_version": SCHEMA_VERSION,
        "size": size,
        "rows": sum(entry.rows for entry in entries),
        **more,
        "files": [asdict(entry) for entry in entries],
    }
    manifest["digest"] = _digest(manifest)
    write_bytes(join(folder, MANIFEST), (json.dumps(manifest, indent=1, ensure_ascii=False) + "\n").encode())
    return manifest


def _digest(manifest: dict[str, Any]) -> str:
    """The digest of a dataset: of everything its manifest says, the files' digests with it."""
    content = {key: value for key, value in manifest.items() if key != "digest"}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def read_manifest(folder: Location, kind: str | None = None) -> dict[str, Any]:
    """A dataset folder's manifest. Raises DatasetError if it is missing, damaged or of another kind."""
    try:
        manifest = json.loads(read_bytes(join(folder, MANIFEST)))
    except (FileNotFoundError, NotADirectoryError):
        raise DatasetError(f"{folder}: not a dataset folder (it has no {MANIFEST})") from None
    except ValueError as error:
        raise DatasetError(f"{folder}: its {MANIFEST} cannot be read ({error})") from None
    if not isinstance(manifest, dict) or "kind" not in manifest or "files" not in manifest:
        raise DatasetError(f"{folder}: its {MANIFEST} is not one of a dataset")
    if manifest.get("schema_version") != SCHEMA_VERSION:
        raise DatasetError(
            f"{folder}: schema version {manifest.get('schema_version')}, this program reads {SCHEMA_VERSION}"
        )
    if kind is not None and manifest["kind"] != kind:
        raise DatasetError(f"{folder}: a dataset of {manifest['kind']}, not of {kind}")
    return manifest


def dataset_digest(folder: Location) -> str:
    """The digest in a dataset's manifest."""
    return str(read_manifest(folder)["digest"])


def verify_dataset(folder: Location) -> None:
    """Reads every file again. Raises DatasetError for the first that is not what the manifest says."""
    for entry in read_manifest(folder)["files"]:
        try:
            found = file_entry(folder, entry["name"])
        except (OSError, pa.ArrowException) as error:
            raise DatasetError(f"{folder}: {entry['name']} cannot be read ({error})") from None
        if asdict(found) != entry:
            raise DatasetError(
                f"{folder}: {entry['name']} is not what the manifest says (digest or rows differ)"
            )


def split_files(manifest: dict[str, Any], split: str) -> list[dict[str, Any]]:
    """The files of one split in order."""
    if split not in SPLITS:
        raise DatasetError(f"unknown split {split!r}: one of {', '.join(SPLITS)}")
    return [entry for entry in manifest["files"] if entry["name"].startswith(split + "-")]


def remove_parts(folder: Path) -> None:
    """Deletes what an interrupted run left half-written in a local folder."""
    for part in folder.rglob("*.part"):
        part.unlink(missing_ok=True)
