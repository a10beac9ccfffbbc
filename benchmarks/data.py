"""Rates of the data stage: records to games, games to positions, positions to batches; each beside a peer or
limit.

python -m benchmarks.data [GAMES] [--size 19] [--repeats 3]

GAMES: any file, folder or archive of records; by default the bundled games on 19x19. CPU rates count the
process's CPU seconds on all its threads; wall rates mean something on an idle machine only.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import numpy as np
from sgfmill import sgf

from datasets.chunks import ChunkOptions, chunk_tables, read_chunks
from datasets.layout import open_positions
from datasets.loader import PositionLoader
from datasets.positions import GamesFile, compute_rows, positions_table, write_positions
from datasets.sources import iterate_files
from datasets.store import TableWriter
from tasks.params import ParseGamesParams
from tasks.parse_games import run_parse_games
from tasks.reporting import NullReporter

BUNDLED = Path(__file__).parent.parent / "datasets" / "sample" / "gnugo-19x19.tar.gz"
LOADER_BATCHES = 600
BATCH_SIZE = 128


def measure(name: str, unit: str, repeats: int, work: Callable[[], int]) -> None:
    """Runs `work`, which returns how much it did; prints the median rates."""
    cpu, wall = [], []
    for _ in range(repeats):
        cpu_start, wall_start = time.process_time(), time.perf_counter()
        done = work()
        cpu.append(done / (time.process_time() - cpu_start))
        wall.append(done / (time.perf_counter() - wall_start))
    medians = statistics.median(cpu), statistics.median(wall)
    spread = f"[{min(cpu):,.0f}..{max(cpu):,.0f}]"
    print(f"| {name} | {medians[0]:,.0f} {spread} | {medians[1]:,.0f} | {unit} |", flush=True)


def records_to_games(games: Path, scratch: Path, repeats: int) -> None:
    """SGF bytes to rows of games, replayed and hashed; the peer is sgfmill's own parsing alone."""
    files = [file.data for file in iterate_files(games) if file.format == "sgf"]

    def peer() -> int:
        for data in files:
            list(sgf.Sgf_game.from_bytes(data).get_main_sequence())
        return len(files)

    def ours() -> int:
        with tempfile.TemporaryDirectory(dir=scratch) as folder:
            chunks = read_chunks([games], Path(folder), ChunkOptions())
            return sum(table.num_rows for table in chunk_tables(Path(folder), "games", chunks))

    measure("peer: sgfmill, parsing alone", "games", repeats, peer)
    measure("records to games", "games", repeats, ours)


def games_to_positions(folder: Path, repeats: int) -> None:
    """Games to positions in eight symmetries on disk; the limit is the writing of rows that are there
    already.
    """
    source = folder / "games" / "train-00000.parquet"
    target = folder / "again.parquet"
    measure("games to positions", "rows", repeats, lambda: write_positions(source, target, "train", 8))
    size = target.stat().st_size
    file = GamesFile(source)
    count = min(len(file), 20)
    rows = compute_rows(file, [(game, 0, 8 * int(file.positions[game])) for game in range(count)])
    table = positions_table(rows, file.ids, "train", file.size)

    def limit() -> int:
        with TableWriter(target, table.schema, dictionary=["game", "split"]) as writer:
            writer.write(table)
        return len(rows.moves)

    measure("limit: only writing them", "rows", repeats, limit)
    total = write_positions(source, target, "train", 8)
    print(f"| on disk | {size / total:.1f} | | bytes a row |")


def positions_to_batches(folder: Path, repeats: int) -> None:
    """Batches of 128 from disk and from games; the limit is reading and unpacking without shuffling."""

    def batches(kind: str) -> int:
        loader = PositionLoader(folder / kind, BATCH_SIZE, seed=1)
        return sum(len(batch) for batch in islice(loader, LOADER_BATCHES))

    def limit() -> int:
        source = open_positions(folder / "positions", "train")
        rows = 0
        for group in range(min(len(source.group_rows), LOADER_BATCHES * BATCH_SIZE // 1024)):
            rows += len(np.unpackbits(source.read(group).planes, axis=1))
        return rows

    measure("batches from positions", "positions", repeats, lambda: batches("positions"))
    measure("batches from games", "positions", repeats, lambda: batches("games"))
    measure("limit: read and unpack in order", "positions", repeats, limit)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("games", type=Path, nargs="?", default=BUNDLED)
    parser.add_argument("--size", type=int, default=19)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print("| what | a CPU second (median [worst..best]) | a second | unit |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        records_to_games(options.games, scratch, options.repeats)
        params = ParseGamesParams(board_size=options.size, min_rank=None, threads=1)
        run_parse_games(params, {"games": options.games}, scratch, NullReporter())
        games_to_positions(scratch, options.repeats)
        positions_to_batches(scratch, options.repeats)


if __name__ == "__main__":
    main()
