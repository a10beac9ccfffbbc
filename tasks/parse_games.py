"""Stage 1, parse-games: game records of any kind become a corpus of games and its training positions.

Four steps, each of which an interrupted run finds done or goes on with:

1. read: files are parsed, replayed and filtered, chunk by chunk, in several processes;
2. select: duplicates go, the first positions become the test split, the rest the training split;
3. positions: planes of every position, in all symmetries, file by file in several threads;
4. report: quarantine, statistics, counts.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from datasets.chunks import (
    ChunkOptions,
    ReadingProgress,
    ReadingReport,
    bytes_on_disk,
    chunk_tables,
    read_chunks,
    reading_report,
)
from datasets.filters import GameFilter
from datasets.layout import INDEX_FILE
from datasets.positions import write_positions
from datasets.schemas import INDEX, QUARANTINE
from datasets.selection import Selector, split_and_cut
from datasets.statistics import collect_statistics, statistics_figures, statistics_table
from datasets.store import (
    MANIFEST,
    SPLITS,
    TableWriter,
    file_entry,
    read_manifest,
    remove_parts,
    write_bytes,
    write_manifest,
    write_table,
)
from datasets.tables import read_game_rows
from tasks.errors import UserError
from tasks.params import ParseGamesParams
from tasks.reporting import Reporter
from tasks.shard_workers import MapShards, on_processes

PARALLEL_FROM_BYTES = 4 << 20  # smaller inputs are read before a second process has started
REASONS_SHOWN = 20


def run_parse_games(
    params: ParseGamesParams,
    inputs: dict[str, Path],
    folder: Path,
    run: Reporter,
    map_parts: MapShards | None = None,
) -> dict[str, Any]:
    """Reads all inputs (files, folders, archives) into `folder`: games/, positions/, quarantine.parquet.

    `map_parts`, when given, does steps 1 and 3 part by part on a cluster; without it this machine does.
    Raises UserError if an input is missing or no game is left.
    """
    remove_parts(folder)
    work, games, positions = folder / "work", folder / "games", folder / "positions"
    threads = params.threads or os.cpu_count() or 1
    sources = list(inputs.values())
    if not (games / MANIFEST).exists():
        chunks = read(params, sources, work, threads, run, map_parts)
        select(params, work, chunks, games)
    if not (positions / MANIFEST).exists():
        write_all_positions(games, positions, params.symmetries, threads, run, map_parts)
    result = report(folder, run)
    shutil.rmtree(work, ignore_errors=True)
    return result


def read(
    params: ParseGamesParams,
    sources: list[Path],
    work: Path,
    threads: int,
    run: Reporter,
    map_parts: MapShards | None = None,
) -> int:
    """Step 1. Returns the number of chunks."""
    for source in sources:
        if not source.exists():
            raise UserError(f"no such file or folder: {source}")
    options = ChunkOptions(
        ko_rule=params.ko_rule,
        keep_before_illegal=params.keep_before_illegal,
        files_per_chunk=params.files_per_chunk,
        filter=GameFilter(
            board_size=params.board_size,
            min_moves=params.min_moves,
            min_rank=params.min_rank,
            both_ranks=params.both_ranks,
            keep_unranked=params.keep_unranked,
            rules=params.rules,
            results=params.results,
            date_from=params.date_from,
            date_to=params.date_to,
            max_handicap=params.max_handicap,
        ),
    )
    work.mkdir(parents=True, exist_ok=True)
    total = bytes_on_disk(sources)
    shares = threads if total >= PARALLEL_FROM_BYTES else 1
    progress = ReadingProgress(work, total)

    def show() -> None:
        records, expected = progress.look()
        if records:
            run.progress(records, max(expected, records + 1), "records to games (total: an estimate)")

    show()
    after_each = show if shares == 1 and map_parts is None else None
    make = partial(read_chunks, sources, work, options, shares, after_each)
    if map_parts is None:
        chunks = max(on_processes(make, range(shares), shares, show))
    else:
        chunks = max(map_parts(make, range(shares), show))
    if chunks == 0:
        raise UserError(f"nothing to read in {', '.join(map(str, sources))}: no files")
    records, _ = progress.look()
    run.progress(records, records, "records to games")
    return chunks


def select(params: ParseGamesParams, work: Path, chunks: int, games: Path) -> None:
    """Step 2: the games that are kept, cut into files by split, and the report of what was not."""
    found = reading_report(work, chunks)
    selector = new_selector(params)
    for table in chunk_tables(work, "games", chunks):  # a first look: how many positions there are
        selector.select(table)
    if selector.games == 0:
        raise UserError(no_games_left(found, selector.dropped))
    test_positions = min(params.test_positions, int(selector.positions * params.max_test_share))
    again = new_selector(params)
    kept = (again.select(table) for table in chunk_tables(work, "games", chunks))
    names: list[str] = []
    counts: Counter[str] = Counter()
    for split, table in split_and_cut(kept, test_positions, params.games_per_file):
        name = f"{split}-{sum(known.startswith(split) for known in names):05d}.parquet"
        write_table(games / name, table, dictionary=["source", "encoding", "rules", "split"])
        names.append(name)
        counts[split] += table.num_rows
    with TableWriter(games.parent / "quarantine.parquet", QUARANTINE, dictionary=["reason"]) as writer:
        for table in chunk_tables(work, "quarantine", chunks):
            writer.write(table)
    summary = {
        "counts": found.counts,
        "dropped": found.dropped + again.dropped,
        "reasons": dict(found.reasons.most_common()),
    }
    write_bytes(games.parent / "reading.json", json.dumps(summary, indent=1, ensure_ascii=False).encode())
    write_manifest(
        games,
        "games",
        params.board_size,
        [file_entry(games, name) for name in names],
        games=sum(counts.values()),
        splits={split: counts[split] for split in SPLITS},
        layout={"train": params.symmetries, "test": 1},
    )


def new_selector(params: ParseGamesParams) -> Selector:
    return Selector(params.duplicates == "symmetry", params.max_handicap_share, params.max_games)


def no_games_left(found: ReadingReport, dropped: Counter[str]) -> str:
    """One line that says where all games went."""
    lost = [(f"refused: {reason}", number) for reason, number in found.reasons.most_common(3)]
    lost += [(f"dropped: {reason}", number) for reason, number in (found.dropped + dropped).most_common()]
    return f"no game is left of {found.counts['records']} records: " + "; ".join(
        f"{number} {reason}" for reason, number in lost
    )


def write_all_positions(
    games: Path,
    positions: Path,
    symmetries: int,
    threads: int,
    run: Reporter,
    map_parts: MapShards | None = None,
) -> None:
    """Step 3: a file of positions for each file of games."""
    files = read_manifest(games, "games")["files"]
    names = [entry["name"] for entry in files]
    missing = [name for name in names if not (positions / name).exists()]
    total = sum(entry["rows"] for entry in files)
    weight = {entry["name"]: entry["rows"] for entry in files}
    done = total - sum(weight[name] for name in missing)
    make = partial(positions_of_file, games, positions, missing, symmetries)
    parts = range(len(missing))
    for name in map_parts(make, parts) if map_parts else on_threads(make, parts, threads):
        done += weight[name]
        run.progress(done, total, "games to positions")
    write_index(games, positions, names)
    entries = [file_entry(positions, name) for name in names]
    manifest = read_manifest(games, "games")
    write_manifest(
        positions,
        "positions",
        manifest["size"],
        entries,
        games=manifest["games"],
        splits={split: sum(e.rows for e in entries if split_of(e.name) == split) for split in SPLITS},
        layout={"train": symmetries, "test": 1},
        source=manifest["digest"],
    )


def positions_of_file(games: Path, positions: Path, names: list[str], symmetries: int, number: int) -> str:
    """One part of step 3; returns the file's name."""
    name = names[number]
    write_positions(games / name, positions / name, split_of(name), symmetries_of(name, symmetries))
    return name


def on_threads(make: Callable[[int], str], parts: Sequence[int], threads: int) -> Iterator[str]:
    with ThreadPoolExecutor(threads) as pool:
        yield from (job.result() for job in as_completed([pool.submit(make, part) for part in parts]))


def split_of(name: str) -> str:
    return name.partition("-")[0]


def symmetries_of(name: str, symmetries: int) -> int:
    """The test split keeps the board as it was played."""
    return symmetries if split_of(name) == "train" else 1


def write_index(games: Path, positions: Path, names: list[str]) -> None:
    """For each file the positions of its games, in order."""
    with TableWriter(positions / INDEX_FILE, INDEX, dictionary=["file"]) as writer:
        for name in names:
            rows = list(read_game_rows(games / name, ["id", "positions"]))
            files = pa.DictionaryArray.from_arrays(pa.array([0] * len(rows), pa.int32()), pa.array([name]))
            ids = pa.array([row["id"] for row in rows])
            counts = pa.array([row["positions"] for row in rows], pa.int32())
            writer.write(pa.Table.from_arrays([files, ids, counts], schema=INDEX))


def report(folder: Path, run: Reporter) -> dict[str, Any]:
    """Step 4: statistics with figures, the summary, and what the stage gives."""
    games, positions = folder / "games", folder / "positions"
    reading = json.loads((folder / "reading.json").read_bytes())
    statistics = collect_statistics(games)
    run.log_text("statistics.json", json.dumps(statistics, indent=1, ensure_ascii=False))
    for name, figure in statistics_figures(statistics).items():
        run.log_figure(f"statistics/{name}.png", figure)
    kept, stored = read_manifest(games), read_manifest(positions)
    metrics = {
        "files": reading["counts"].get("files", 0),
        "records": reading["counts"].get("records", 0),
        "refused": reading["counts"].get("refused", 0),
        "games": kept["games"],
        "games/test": kept["splits"]["test"],
        "games/handicap_share": statistics["handicap_share"],
        "positions": statistics["positions"],
        "rows": stored["rows"],
        "rows/test": stored["splits"]["test"],
        "bytes_per_row": sum((positions / entry["name"]).stat().st_size for entry in stored["files"])
        / max(stored["rows"], 1),
        **{f"dropped/{reason.replace(' ', '_')}": number for reason, number in reading["dropped"].items()},
    }
    return {
        "outputs": {
            "games": {"path": games, "kind": "dataset"},
            "positions": {"path": positions, "kind": "dataset"},
            "quarantine": {"path": folder / "quarantine.parquet", "kind": "artifact"},
        },
        "metrics": {name: float(value) for name, value in metrics.items()},
        "summary": "\n".join(summary_lines(reading, statistics, stored)),
    }


def summary_lines(
    reading: dict[str, Any], statistics: dict[str, Any], stored: dict[str, Any]
) -> Iterator[str]:
    """The stage's report in markdown."""
    counts = reading["counts"]
    records, files = counts.get("records", 0), counts.get("files", 0)
    yield f"{records:,} records in {files:,} files, {statistics['games']:,} games kept."
    yield ""
    yield statistics_table(statistics)
    yield ""
    splits = stored["splits"]
    symmetries = stored["layout"]["train"]
    yield f"Rows: {splits['train']:,} train ({symmetries} symmetries), {splits['test']:,} test."
    if reading["dropped"]:
        yield "\n| dropped by | games |\n|---|---|"
        yield from (f"| {reason} | {number:,} |" for reason, number in reading["dropped"].items())
    if reading["reasons"]:
        yield "\n| refused because | records |\n|---|---|"
        shown = list(reading["reasons"].items())[:REASONS_SHOWN]
        yield from (f"| {reason} | {number:,} |" for reason, number in shown)
