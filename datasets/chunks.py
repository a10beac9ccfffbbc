"""Reading a corpus chunk by chunk: parsed, replayed and filtered games, each chunk on disk for good.

Chunks are numbered in the order of the files, so that any number of processes may share them and a run that
was killed goes on with the first chunk that is missing.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from .filters import GameFilter
from .reading import read_file
from .records import GameRecord, RejectedGame
from .schemas import GAMES, QUARANTINE
from .sources import SourceFile, files_on_disk, iterate_files
from .store import TableWriter, write_bytes
from .tables import game_row, games_table, quarantine_table

GAMES_HELD = 256  # games turned into a table at a time


@dataclass(frozen=True, slots=True)
class ChunkOptions:
    """How games are read."""

    ko_rule: str = "simple"
    keep_before_illegal: bool = False
    files_per_chunk: int = 1024
    filter: GameFilter = field(default_factory=GameFilter)


def read_chunks(
    sources: Sequence[Path],
    folder: Path,
    options: ChunkOptions,
    shares: int = 1,
    after_each: Callable[[], None] | None = None,
    share: int = 0,
) -> int:
    """Reads chunks share, share + shares, ... that `folder` lacks; returns the number of all chunks.

    `after_each` is called when a chunk is on disk.
    """
    numbered = enumerate(_all_files(sources))
    chunks = 0
    for number, files in groupby(numbered, key=lambda item: item[0] // options.files_per_chunk):
        chunks = number + 1
        if number % shares == share and not _path(folder, "counts", number, "json").exists():
            _read_chunk((file for _, file in files), folder, number, options)
            if after_each is not None:
                after_each()
    return chunks


def _all_files(sources: Sequence[Path]) -> Iterator[SourceFile]:
    """The files of all sources; `read` counts through all of them."""
    before = 0
    for source in sources:
        for file in iterate_files(source):
            yield replace(file, read=before + file.read)
        before += bytes_on_disk([source])


def bytes_on_disk(sources: Sequence[Path]) -> int:
    """Bytes of all files that would be read."""
    return sum(file.stat().st_size for source in sources for file in files_on_disk(source))


def _path(folder: Path, what: str, number: int, suffix: str = "parquet") -> Path:
    return folder / f"{what}-{number:06d}.{suffix}"


def _read_chunk(files: Iterable[SourceFile], folder: Path, number: int, options: ChunkOptions) -> None:
    """One chunk: its games, its refused games, and last, as a sign that it is complete, its counts."""
    counts: Counter[str] = Counter()
    dropped: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    until = 0
    with ExitStack() as stack:
        games = stack.enter_context(TableWriter(_path(folder, "games", number), GAMES))
        refused = stack.enter_context(TableWriter(_path(folder, "quarantine", number), QUARANTINE))
        rows: list[dict[str, Any]] = []
        for file in files:
            counts["files"] += 1
            until = file.read
            for found in read_file(file, options.ko_rule):
                counts["records"] += 1
                game: GameRecord | None
                if isinstance(found, RejectedGame):
                    counts["refused"] += 1
                    reasons[found.reason] += 1
                    game = found.partial if options.keep_before_illegal else None
                    refused.write(quarantine_table([found], options.keep_before_illegal))
                else:
                    game = found
                if game is None:
                    continue
                reason = options.filter.reason(game)
                if reason is not None:
                    dropped[reason] += 1
                    continue
                counts["kept"] += 1
                rows.append(game_row(game, game.canonical_id, ""))
                if len(rows) >= GAMES_HELD:
                    games.write(games_table(rows))
                    rows = []
        games.write(games_table(rows))
    report = {"counts": counts, "dropped": dropped, "reasons": reasons, "until": until}
    write_bytes(_path(folder, "counts", number, "json"), json.dumps(report).encode())


@dataclass(slots=True)
class ReadingReport:
    """What all chunks together held."""

    counts: Counter[str] = field(default_factory=Counter)  # files, records, refused, kept
    dropped: Counter[str] = field(default_factory=Counter)  # by filter
    reasons: Counter[str] = field(default_factory=Counter)  # of refused records


def reading_report(folder: Path, chunks: int) -> ReadingReport:
    """Sums up the chunks' counts."""
    report = ReadingReport()
    for number in range(chunks):
        found = json.loads(_path(folder, "counts", number, "json").read_bytes())
        report.counts.update(found["counts"])
        report.dropped.update(found["dropped"])
        report.reasons.update(found["reasons"])
    return report


class ReadingProgress:
    """How far the reading of `total` bytes into `folder` is, whoever reads; finished chunks are looked at
    once.
    """

    def __init__(self, folder: Path, total: int) -> None:
        self.folder, self.total = folder, total
        self.records = self.until = self.highest = 0
        self.seen: set[str] = set()

    def look(self) -> tuple[int, int]:
        """Records read so far, and about how many there are."""
        for path in self.folder.glob("counts-*.json"):
            if path.name not in self.seen:
                self.seen.add(path.name)
                found = json.loads(path.read_bytes())
                self.records += found["counts"].get("records", 0)
                self.until = max(self.until, found["until"])
                self.highest = max(self.highest, int(path.stem.partition("-")[2]))
        chunks_share = len(self.seen) / (self.highest + 1)  # other processes may be a few chunks behind
        share = min(1.0, chunks_share * self.until / max(self.total, 1))
        return self.records, round(self.records / share) if share else 0


def chunk_tables(folder: Path, what: str, chunks: int) -> Iterator[pa.Table]:
    """The tables of "games" or "quarantine" of all chunks in order."""
    for number in range(chunks):
        yield pq.read_table(_path(folder, what, number))
