"""What the paper's sizes cost on more machines: the tables of docs/scale.md, from rates.

python -m benchmarks.scale [--gpu-flops 1e14] [--link 1.25e10] [--engine 47937]

The rates of engine and reading are measured (benchmarks/README.md). No GPU was measured: what it sustains,
and how fast gradients travel, are assumptions to be replaced by what `benchmarks.self_play --device cuda` and
`benchmarks.bench_training` give on yours.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from dataclasses import dataclass

from models.describe import describe
from models.networks import PolicyNet

SIZE = 19
GPUS = (1, 8, 50)
PAPER = describe(PolicyNet(SIZE))  # 192 filters, 12 layers
MEASURED_NET = describe(PolicyNet(SIZE, filters=64, layers=8))
PASSES = 3  # a training step costs a forward pass and, backward, two more of the same size
GRADIENT_BYTES = 4  # float32

GAMES, SHARD = 30_000_000, 100_000  # the value set
PLIES = 1.05 * SIZE**2  # of a self-play game, measured on 9x9 as 85 to 95 plies
PLAYED_PER_KEPT = 1.2  # games that end before move U are drawn again, measured on 9x9
RL_GAMES = 10_000 * 128
SL_POSITIONS, VALUE_POSITIONS = 340_000_000 * 16, 50_000_000 * 32  # steps times batch
BATCHES = (16, 128)  # positions a GPU and step: the paper's, and one that keeps a GPU busier
KGS_GAMES, KGS_POSITIONS, SYMMETRIES = 160_000, 29_400_000, 8


@dataclass(frozen=True)
class Rates:
    """Operations, positions, games or bytes a second."""

    gpu_flops: float = 1e14  # assumed: what one GPU sustains in these networks, bfloat16
    link: float = 1.25e10  # assumed: bytes between two GPUs, 100 Gbit/s
    engine: float = 47_937  # one core: games stepped, planes and draws included
    core_network: float = 1_370  # one core: evaluations of 64 filters and 8 layers on 19x19, bfloat16
    reading: float = 2_050  # one core: game records
    planes: float = 237_874  # one core: rows of positions written

    @property
    def gpu(self) -> float:
        """Evaluations of the paper's policy network on a GPU."""
        return self.gpu_flops / PAPER.flops

    @property
    def core(self) -> float:
        """The same on a core that computes as many operations a second as were measured."""
        return self.core_network * MEASURED_NET.flops / PAPER.flops


def value_set(rates: Rates) -> Iterator[str]:
    """Hours for the 30 million games; the last round of shards may leave GPUs idle."""
    evaluations = PLIES * PLAYED_PER_KEPT
    shards = math.ceil(GAMES / SHARD)
    yield "| devices | evaluations/s | a shard, minutes | rounds of shards | hours | cores for the engine |"
    yield "|---|---:|---:|---:|---:|---:|"
    for count, what, rate in [(2, "core", rates.core), *((count, "GPU", rates.gpu) for count in GPUS)]:
        minutes = SHARD * evaluations / rate / 60
        rounds = math.ceil(shards / count)
        cores = f"{count * rate / rates.engine:.2g}"
        yield (
            f"| {count} {what}{'s' * (count > 1)} | {count * rate:,.0f} | {minutes:,.0f} | {rounds} "
            f"| {rounds * minutes / 60:,.1f} | {cores} |"
        )


def reinforcement(rates: Rates) -> Iterator[str]:
    """Hours of playing and of replay on one GPU if its calls were large."""
    playing = RL_GAMES * PLIES / rates.gpu / 3600
    replay = RL_GAMES * PLIES / 2 * PASSES / rates.gpu / 3600  # the learner's moves are half of them
    yield "| train-rl-policy, 1 GPU | hours |"
    yield "|---|---:|"
    yield f"| playing | {playing:.1f} |"
    yield f"| replay | {replay:.1f} |"


def training(rates: Rates) -> Iterator[str]:
    """Hours of both trainings; a step is computing and then a ring of gradients, nothing overlapped."""
    yield "| GPUs | positions a GPU, step | computing, ms | gradients, ms | SL policy, hours | value, hours |"
    yield "|---:|---:|---:|---:|---:|---:|"
    for count in GPUS:
        for batch in BATCHES:
            computing = PASSES * PAPER.flops * batch / rates.gpu_flops
            ring = 2 * (count - 1) / count * GRADIENT_BYTES * PAPER.parameters / rates.link
            hours = [
                total / (batch * count) * (computing + ring) / 3600
                for total in (SL_POSITIONS, VALUE_POSITIONS)
            ]
            yield (
                f"| {count} | {batch} | {computing * 1e3:.1f} | {ring * 1e3:.1f} "
                f"| {hours[0]:,.1f} | {hours[1]:,.1f} |"
            )


def reading(rates: Rates) -> Iterator[str]:
    """Core minutes for the KGS games of the paper."""
    yield "| parse-games | core minutes |"
    yield "|---|---:|"
    yield f"| {KGS_GAMES:,} records to games | {KGS_GAMES / rates.reading / 60:.1f} |"
    rows = KGS_POSITIONS * SYMMETRIES
    yield f"| {KGS_POSITIONS:,} positions in {SYMMETRIES} symmetries | {rows / rates.planes / 60:.1f} |"


def tables(rates: Rates) -> str:
    """All of them, in markdown."""
    parts = (value_set(rates), reinforcement(rates), training(rates), reading(rates))
    return "\n\n".join("\n".join(part) for part in parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    for name, default in vars(Rates()).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=float, default=default)
    rates = Rates(**vars(parser.parse_args()))
    print(
        f"{PAPER.flops / 1e9:.2f} GFLOP and {PAPER.parameters:,} parameters; "
        f"{rates.gpu:,.0f} evaluations/s on a GPU, {rates.core:,.0f} on a core\n"
    )
    print(tables(rates))


if __name__ == "__main__":
    main()
