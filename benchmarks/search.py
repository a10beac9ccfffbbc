"""The speed of the search on 19x19: python -m benchmarks.search [--rollout POLICY] [--tree POLICY]

Rates are per processor second of all threads of the process, medians of several rounds that take turns
with what they are compared with, so that other work on the machine disturbs them little. "Trivial" is a
search without rollouts whose evaluator gives equal priors and value 0: built in (the tree alone), or in
Python, asked in batches and shown all planes. Two threads against one compares simulations per processor
second, times two: it shows what the threads cost each other in work and in waiting for memory, not idle
time (which is shown as the share of the two processors' time that was used, on an idle machine).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np

import go_engine
from go_engine import Board, RolloutPolicy, Search
from go_engine.search import Evaluators, ThreadedDrive, run_lockstep

SIZE = 19
POINTS = SIZE * SIZE
TREE_SIMULATIONS = 60_000
ASKED_SIMULATIONS = 3_000
ROLLOUTS = 2_500
THREADED_ROLLOUTS = 6_000
LEAVES = 64
MEGABYTES = 1_000

Rate = Callable[[], float]


class Trivial:
    """Equal priors and value 0 for whatever it is shown."""

    def probabilities(self, planes: np.ndarray) -> np.ndarray:
        return np.full((len(planes), POINTS), 1 / POINTS, np.float32)

    def values(self, planes: np.ndarray) -> np.ndarray:
        return np.zeros(len(planes), np.float32)


def processor(work: Callable[[], None]) -> tuple[float, float]:
    """(processor seconds, seconds by the clock) of some work."""
    clock, begin = time.monotonic(), time.process_time()
    work()
    return time.process_time() - begin, time.monotonic() - clock


def tree_alone() -> float:
    search = Search(
        Board(SIZE),
        use_policy=False,
        use_value=False,
        use_rollouts=False,
        expansion_threshold=0,
        memory_mb=MEGABYTES,
    )
    seconds, _ = processor(lambda: search.collect(1, TREE_SIMULATIONS) and None)
    return TREE_SIMULATIONS / seconds


def trivial_evaluator() -> float:
    search = Search(Board(SIZE), use_rollouts=False, expansion_threshold=0, memory_mb=MEGABYTES)
    net = Trivial()
    seconds, _ = processor(lambda: run_lockstep([search], Evaluators(net, net), ASKED_SIMULATIONS, LEAVES))
    return ASKED_SIMULATIONS / seconds


def rollouts_only(rollout: RolloutPolicy | None, tree: RolloutPolicy | None) -> float:
    search = Search(Board(SIZE), rollout, tree, use_policy=False, use_value=False)
    seconds, _ = processor(lambda: search.collect(1, ROLLOUTS) and None)
    return ROLLOUTS / seconds


def bare_playouts(rollout: RolloutPolicy | None) -> float:
    board = Board(SIZE)

    def play() -> None:
        if rollout is None:
            go_engine.random_playouts(board, ROLLOUTS, 1)
        else:
            rollout.playouts(board, ROLLOUTS, 1)

    return ROLLOUTS / processor(play)[0]


def threaded(rollout: RolloutPolicy | None, tree: RolloutPolicy | None, threads: int) -> tuple[float, float]:
    """(simulations per processor second, share of `threads` processors' time used)."""
    search = Search(Board(SIZE), rollout, tree, use_policy=False, use_value=False, memory_mb=MEGABYTES)
    drive = ThreadedDrive(search, Evaluators(), threads)
    seconds, clock = processor(lambda: drive.think(simulations=THREADED_ROLLOUTS))
    return THREADED_ROLLOUTS / seconds, seconds / (clock * threads)


def bytes_per_node() -> tuple[float, float]:
    """Of a node of 361 moves: new, and the average of a tree grown by rollouts."""
    fresh = Search(Board(SIZE), use_policy=False, use_value=False)
    grown = Search(Board(SIZE), use_policy=False, use_value=False, expansion_threshold=4, c_puct=1.0)
    grown.collect(1, 4 * ROLLOUTS)
    return fresh.stats().bytes / fresh.stats().nodes, grown.stats().bytes / grown.stats().nodes


def medians(rounds: int, *rates: Rate) -> list[float]:
    """The median of each rate; they take turns."""
    found: list[list[float]] = [[] for _ in rates]
    for _ in range(rounds):
        for numbers, rate in zip(found, rates, strict=True):
            numbers.append(rate())
    return [median(numbers) for numbers in found]


def line(name: str, value: str, target: str = "") -> None:
    print(f"| {name} | {value} | {target} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rollout", type=Path, help="rollout policy; uniform playouts without")
    parser.add_argument("--tree", type=Path, help="tree policy; uniform placeholders without")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    policies: list[tuple[str, RolloutPolicy | None, RolloutPolicy | None]] = [("uniform", None, None)]
    if args.rollout:
        tree = RolloutPolicy.load(args.tree) if args.tree else None
        policies.append(("policy", RolloutPolicy.load(args.rollout), tree))

    line("what", "measured", "target")
    line("---", "---:", "---:")
    alone, asked = medians(args.rounds, tree_alone, trivial_evaluator)
    line("tree alone, simulations/s", f"{alone:,.0f}", "50,000")
    line("trivial evaluator in Python with planes, simulations/s", f"{asked:,.0f}")
    for name, rollout, tree in policies:
        searched, bare = medians(
            args.rounds, lambda r=rollout, t=tree: rollouts_only(r, t), lambda r=rollout: bare_playouts(r)
        )
        line(f"{name} rollouts, simulations/s", f"{searched:,.0f}", "2,500")
        line(f"of the bare playouts' {bare:,.0f}/s", f"{searched / bare:.0%}", "85%")
        shares: list[float] = []

        def two(r: RolloutPolicy | None = rollout, t: RolloutPolicy | None = tree) -> float:
            rate, share = threaded(r, t, 2)
            shares.append(share)  # noqa: B023
            return rate

        one, both = medians(args.rounds, lambda r=rollout, t=tree: threaded(r, t, 1)[0], two)
        line(f"two threads against one, {name} rollouts", f"{2 * both / one:.2f} times", "1.7")
        line("processor time used by the two", f"{median(shares):.0%}")
    fresh, grown = bytes_per_node()
    line("bytes of a new node of 361 moves", f"{fresh:,.0f}", "6,000")
    line("bytes of a node in a grown tree", f"{grown:,.0f}", "6,000")


if __name__ == "__main__":
    main()
