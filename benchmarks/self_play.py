"""Self-play beside the bare network that it waits for: how much of the time goes to anything but the network.

python -m benchmarks.self_play [--size 9] [--filters 64] [--layers 6] [--batch 128] [--precision float32]

Two seats with a network each play games that are replaced as soon as they end; the bare network evaluates
as many positions in batches of the same size. The two take turns; medians are compared, in processor
seconds (the engine's thread counts in self-play's) and by the clock, which means something on an idle
machine only.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import numpy as np
import torch

from go_engine import GameBatch
from models.evaluators import PolicyEvaluator
from models.networks import PolicyNet
from tasks.self_play import NOBODY, Games, Seat, SelfPlay, game_seeds

KOMI = 7.5
BATCHES_IN_PLAY = 4  # games at once, in batches


def self_play(evaluator: PolicyEvaluator, batch: int, calls: int, threads: int) -> float:
    """Play until so many full batches have been evaluated; returns the share of rows that held a game."""
    games = GameBatch(BATCHES_IN_PLAY * batch, size=evaluator.size, komi=KOMI)

    def on_moved(moved: Games) -> None:
        over = moved[games.over[moved]]
        games.reset(over)
        play.seed_of[over] += np.uint64(1)
        stopped = play.calls >= calls
        play.seat_of[moved] = NOBODY if stopped else (games.to_play[moved] < 0)
        if stopped:
            play.seat_of[:] = NOBODY

    play = SelfPlay(games, (Seat(evaluator), Seat(evaluator)), batch, on_moved, threads=threads)
    play.seed_of[:] = game_seeds(0, count=len(games))
    everyone = np.arange(len(games), dtype=np.int32)
    on_moved(everyone)
    play.run()
    return play.evaluated / (play.calls * batch)


def bare_network(evaluator: PolicyEvaluator, planes: np.ndarray, calls: int) -> None:
    for _ in range(calls):
        evaluator.probabilities(planes)


def measure(work: Callable[[], object]) -> tuple[float, float]:
    """(processor seconds, seconds by the clock)."""
    cpu, clock = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - cpu, time.perf_counter() - clock


def typical_planes(size: int, batch: int) -> np.ndarray:
    """Planes of games in their middle, for the bare network."""
    games = GameBatch(batch, size=size, komi=KOMI)
    everyone = np.arange(batch, dtype=np.int32)
    flat = np.full((batch, size * size), 1.0, dtype=np.float32)
    for _ in range(size * size // 3):
        games.play(everyone, games.sample(everyone, flat, 1.0, game_seeds(1, count=batch)))
    return games.planes(everyone)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--size", type=int, default=9)
    parser.add_argument("--filters", type=int, default=64)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--precision", choices=("float32", "bfloat16"), default="float32")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--calls", type=int, default=60, help="network calls a round")
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    torch.manual_seed(0)
    net = PolicyNet(asked.size, filters=asked.filters, layers=asked.layers)
    evaluator = PolicyEvaluator(net, 1, asked.precision, asked.batch, asked.device)
    planes = typical_planes(asked.size, asked.batch)
    bare_network(evaluator, planes, 3)  # warms up
    bare, ours, full = [], [], 0.0
    for _ in range(asked.rounds):
        bare.append(measure(lambda: bare_network(evaluator, planes, asked.calls)))
        ours.append(measure(lambda: self_play(evaluator, asked.batch, asked.calls, asked.threads)))
        full = self_play(evaluator, asked.batch, 10, asked.threads)
    positions = asked.calls * asked.batch
    print(
        f"{asked.size}x{asked.size}, {asked.filters} filters, {asked.layers} layers, {asked.precision}, "
        f"batch {asked.batch}, {asked.device}, {asked.threads} threads, {full:.0%} of the rows used"
    )
    for which, name in enumerate(("processor second", "second")):
        network, played = (statistics.median(times[which] for times in both) for both in (bare, ours))
        print(
            f"  positions a {name}: bare network {positions / network:,.0f}, self-play "
            f"{positions / played:,.0f}, ratio {network / played:.2f}"
        )


if __name__ == "__main__":
    main()
