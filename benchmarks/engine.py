"""The speed of the engine beside that of other programs, in one run: python -m benchmarks.engine

Rates are per CPU second (user and system time of the threads at work), medians of several rounds, so that
other work on the machine disturbs them little. Peers are measured if they are installed; see `peers.py`.
"""

from __future__ import annotations

import argparse
import json
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from statistics import median

import numpy as np

import go_engine
from datasets import GameRecord, read_games
from go_engine import GameBatch, ReplayGame

ROOT = Path(__file__).parents[1]
GAMES = ROOT.parent / "shared" / "data" / "kgs-19x19.tar.gz"
SAMPLE = ROOT / "datasets" / "sample" / "gnugo-19x19.tar.gz"
SIZE = 19
PARALLEL_GAMES = 1024


@dataclass
class Row:
    """One line of the table: rates, one a round, and the target if the figure has one."""

    name: str
    unit: str
    rates: list[float]
    target: float | None = None

    @property
    def middle(self) -> float:
        return median(self.rates)


def measure(
    work: Callable[[], int], rounds: int, clock: Callable[[], float] = time.process_time
) -> list[float]:
    """Units per second of the clock, one number a round; `work` returns how many units it did."""
    work()
    rates = []
    for _ in range(rounds):
        start = clock()
        units = work()
        rates.append(units / (clock() - start))
    return rates


# ---- ours


def playouts(threads: int, n: int = 3000) -> int:
    go_engine.random_playouts(go_engine.Board(SIZE), n, seed=1, threads=threads)
    return n


def check_all(games: list[ReplayGame]) -> int:
    """Replays under positional superko with hashes. A record that breaks superko ends there."""
    for game in games:
        go_engine.check_game(*game[:5], "positional", game.to_play_first)
    return sum(len(np.asarray(game.moves)) for game in games)


def copies(n: int = 100_000) -> int:
    board = go_engine.Board(SIZE)
    for move in range(0, 2 * SIZE**2, 3):
        if board.is_legal(move % SIZE**2):
            board.play(move % SIZE**2)
    for _ in range(n):
        board.copy()
    return n


def all_planes(games: list[ReplayGame], threads: int, packed: bool = False, at_once: int = 10) -> int:
    """All positions of the games, a few games at a time, so that the arrays stay small."""
    done = 0
    for start in range(0, len(games), at_once):
        done += len(go_engine.replay_planes_games(games[start : start + at_once], threads, packed=packed))
    return done


def step_batch(steps: int) -> int:
    """Planes, masks, a random move and its play for 1,024 games at once."""
    batch = GameBatch(PARALLEL_GAMES, SIZE)
    indices = np.arange(PARALLEL_GAMES, dtype=np.int32)
    seeds = np.arange(PARALLEL_GAMES, dtype=np.uint64)
    flat = np.full((PARALLEL_GAMES, SIZE * SIZE), 1 / SIZE**2, np.float32)
    out = np.empty((PARALLEL_GAMES, 48, SIZE, SIZE), np.uint8)
    for _ in range(steps):  # the same as batch_step.cpp
        batch.planes(indices, out)
        batch.sensible(indices)
        batch.play(indices, batch.sample(indices, flat, 1.0, seeds))
    return PARALLEL_GAMES * steps


def native_batch(steps: int, rounds: int) -> list[float]:
    """The same loop all in C++ (batch_step.cpp); empty without a compiler."""
    compiler = shutil.which("c++")
    if compiler is None:
        return []
    parts = ("board", "game_batch", "geometry", "ladder", "planes", "position", "symmetry", "threads")
    sources = [ROOT / "go_engine" / "src" / f"{part}.cpp" for part in parts]
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "batch_step"
        flags = ["-std=c++20", "-O3", "-march=native", "-pthread"]
        files = [str(ROOT / "benchmarks" / "batch_step.cpp"), *map(str, sources)]
        subprocess.run([compiler, *flags, *files, "-o", str(program)], check=True)
        arguments = [str(n) for n in (PARALLEL_GAMES, steps, rounds)]
        printed = subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout
    return [float(line) for line in printed.split()]


def ours(games: list[ReplayGame], rounds: int) -> Iterable[Row]:
    few = games[:100]
    yield Row("uniform playouts, empty 19x19", "playouts/s", measure(lambda: playouts(1), rounds), 12_000)
    replayed = measure(lambda: check_all(games), rounds)
    yield Row("replay of real games, superko", "moves/s", replayed, 5e6)
    yield Row(
        "copies of a board (target: ten moves)", "copies/s", measure(copies, rounds), median(replayed) / 10
    )
    yield Row(
        "48 planes, bytes, replay included",
        "positions/s",
        measure(lambda: all_planes(few, 1), rounds),
        25_000,
    )
    packed = measure(lambda: all_planes(few, 1, packed=True), rounds)
    yield Row("48 planes, packed bits, replay included", "positions/s", packed, 25_000)
    steps = 40
    native = native_batch(steps, rounds)
    stepped = measure(lambda: step_batch(steps), rounds)
    yield Row("1,024 games stepped from Python", "steps/s", stepped, 0.9 * median(native) if native else None)
    if native:
        yield Row("1,024 games stepped in C++", "steps/s", native)


def scaling(games: list[ReplayGame], rounds: int) -> Iterable[Row]:
    """Two threads against one by the clock on the wall, the rounds alternating."""
    few = games[:200]
    jobs: list[tuple[str, Callable[[int], int]]] = [
        ("playouts", lambda threads: playouts(threads, 4000)),
        # Games are the unit of work: of ten, one thread would often wait for the other's last.
        ("planes", lambda threads: all_planes(few, threads, packed=True, at_once=len(few))),
    ]
    for name, work in jobs:
        ratios, efficiencies = [], []
        for _ in range(rounds):
            (wall_one, cpu_one), (wall_two, cpu_two) = (both_clocks(work, threads) for threads in (1, 2))
            ratios.append(wall_one / wall_two)
            efficiencies.append(2 * cpu_one / cpu_two)
        yield Row(f"{name}: two threads against one, wall", "times", ratios, 1.85)
        yield Row(f"{name}: twice the CPU time of one over that of two", "times", efficiencies, 1.85)


def both_clocks(work: Callable[[int], int], threads: int) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    work(threads)
    return time.perf_counter() - wall, time.process_time() - cpu


# ---- peers


def peer(name: str, python: str, games: list[ReplayGame], rounds: int) -> dict[str, list[float]] | None:
    """The rates of a peer, None if it is not installed."""
    plain = [game for game in games if not len(np.asarray(game.black)) and alternates(game)][:50]
    request = {"rounds": rounds, "games": [np.asarray(game.moves).tolist() for game in plain]}
    command = [python, str(ROOT / "benchmarks" / "peers.py"), name]
    run = subprocess.run(command, input=json.dumps(request), capture_output=True, text=True, check=False)
    if run.returncode:
        print(f"{name}: not measured ({run.stderr.strip().splitlines()[-1]})", file=sys.stderr)
        return None
    return json.loads(run.stdout)


def alternates(game: ReplayGame) -> bool:
    colours = np.asarray(game.colours)
    return bool((colours == np.where(np.arange(len(colours)) % 2, -1, 1)).all())


# ---- the run


def load(path: Path, limit: int) -> list[ReplayGame]:
    games = []
    for record in islice((r for r in read_games(path) if isinstance(r, GameRecord) and r.moves), limit):
        moves = np.array([move for _, move in record.moves], np.int32)
        colours = np.array([colour for colour, _ in record.moves], np.int32)
        plies = np.arange(len(moves), dtype=np.int32)
        black, white = (np.array(points, np.int32) for points in (record.black, record.white))
        symmetries = np.zeros(len(moves), np.int32)
        games.append(
            ReplayGame(record.size, black, white, moves, colours, plies, symmetries, int(colours[0]))
        )
    return games


def number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def table(rows: list[Row]) -> None:
    print("| what | median | lowest .. highest | unit | target | reached |\n|---|---|---|---|---|---|")
    for row in rows:
        reached = "" if row.target is None else "yes" if row.middle >= row.target else "no"
        target = "" if row.target is None else number(row.target)
        spread = f"{number(min(row.rates))} .. {number(max(row.rates))}"
        print(f"| {row.name} | {number(row.middle)} | {spread} | {row.unit} | {target} | {reached} |")


def machine() -> str:
    cpu = Path("/proc/cpuinfo")
    lines = cpu.read_text().splitlines() if cpu.exists() else []
    names = [line.split(":")[1].strip() for line in lines if "model name" in line] or [platform.processor()]
    return f"{names[0]}, {len(names)} processors, Python {platform.python_version()}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--games", type=Path, default=GAMES if GAMES.exists() else SAMPLE, help="19x19 game records"
    )
    parser.add_argument("--limit", type=int, default=500, help="games read")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--sente-python", default=sys.executable, help="a Python that has sente")
    options = parser.parse_args()
    games = load(options.games, options.limit)
    moves = sum(len(np.asarray(game.moves)) for game in games)
    corpus = f"{len(games)} games of {options.games.name}, {moves:,} moves"
    print(f"{machine()}; {datetime.now(UTC):%Y-%m-%d}; {corpus}\n")
    rows = [*ours(games, options.rounds), *scaling(games, options.rounds)]
    figures = {
        "playouts": (rows[0].middle, "playouts/s"),
        "replay": (next(row for row in rows if row.unit == "moves/s").middle, "moves/s"),
    }
    for name in ("open_spiel", "sente", "sgfmill"):
        python = options.sente_python if name == "sente" else sys.executable
        for figure, rates in (peer(name, python, games, options.rounds) or {}).items():
            own, unit = figures[figure]
            rows.append(
                Row(f"{name}: {figure} (ours is {number(own / median(rates))} times as fast)", unit, rates)
            )
    table(rows)


if __name__ == "__main__":
    main()
