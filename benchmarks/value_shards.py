"""Shards of the value set on two processes beside one: games a second, and the most memory of a worker.

python -m benchmarks.value_shards [--size 9] [--filters 32] [--layers 5] [--games 4800] [--shards 4]

A network with fresh weights opens the games and plays them to the end; one thread a process. Rounds of one
and of two processes take turns. What the start of two interpreters takes is measured by sets of two games:
the ratio is printed with it and, for sets so large that it is nothing, without. By the clock: the machine
must be idle.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import torch

from models.checkpoint import save_checkpoint
from models.networks import PolicyNet
from tasks.generate_value_set import run_generate_value_set
from tasks.params import GenerateValueSetParams, InferenceParams
from tasks.reporting import NullReporter

WORKERS = (1, 2)
KIB_A_MIB = 1024


def seconds(params: GenerateValueSetParams, policy: Path) -> float:
    """By the clock, for the whole set."""
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        inputs = {"sl_policy": policy, "rl_policy": policy}
        run_generate_value_set(params, inputs, Path(folder) / "set", NullReporter())
        return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--size", type=int, default=9)
    parser.add_argument("--filters", type=int, default=32)
    parser.add_argument("--layers", type=int, default=5)
    parser.add_argument("--games", type=int, default=4800)
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--parallel-games", type=int, default=512)
    parser.add_argument("--precision", choices=("auto", "float32", "bfloat16"), default="auto")
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    torch.manual_seed(0)
    params = GenerateValueSetParams(
        board_size=asked.size,
        threads=1,
        positions=asked.games,
        shard_positions=asked.games // asked.shards,
        network_batch=asked.batch,
        parallel_games=asked.parallel_games,
        compute=InferenceParams(precision=asked.precision),
    )
    start = params.model_copy(update={"workers": 2, "positions": 2, "shard_positions": 1})
    taken: dict[int, list[float]] = {workers: [] for workers in WORKERS}
    starts: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        net = PolicyNet(asked.size, filters=asked.filters, layers=asked.layers)
        policy = save_checkpoint(Path(folder) / "policy.safetensors", net)
        for _ in range(asked.rounds):
            for workers in WORKERS:
                taken[workers].append(seconds(params.model_copy(update={"workers": workers}), policy))
            starts.append(seconds(start, policy))
    one, two = (statistics.median(taken[workers]) for workers in WORKERS)
    rates = {workers: asked.games / statistics.median(times) for workers, times in taken.items()}
    for workers, times in taken.items():
        low, high = asked.games / max(times), asked.games / min(times)
        print(f"{workers} processes: {rates[workers]:,.1f} games/s ({low:,.1f} .. {high:,.1f})")
    print(f"two against one: {one / two:.2f} times")
    begin = statistics.median(starts)
    print(f"without the start of two, {begin:.1f} s: {one / (two - begin):.2f} times")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / KIB_A_MIB  # Linux counts in KiB
    print(f"most memory of a worker: {peak:,.0f} MiB")


if __name__ == "__main__":
    main()
