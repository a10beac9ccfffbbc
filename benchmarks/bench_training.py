"""A step of the trainer, fed from disk, beside the bare forward-backward-step on a batch that is ready.

    python benchmarks/bench_training.py --size 19 --filters 64 --layers 6 --batch-size 64

The two take turns and the medians are compared, by the clock and in processor seconds (the loader's threads
count in the trainer's). Data: the bundled sample games of the board size. Starting up, when the loader fills
its buffer, is not counted.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import numpy as np
import torch

from models.networks import PolicyNet
from tasks.distributed import pick_device, torch_threads
from tasks.objectives import policy_objective
from tasks.optimizers import make_optimizer
from tasks.params import ComputeParams, OptimizerParams, ParseGamesParams, TrainSlPolicyParams
from tasks.parse_games import run_parse_games
from tasks.reporting import NullReporter
from tasks.trainer import autocast, placement_for, prepare, train
from tasks.training_data import open_positions

WARM_UP = 10
Times = tuple[float, float]  # seconds by the clock, processor seconds
SAMPLES = Path(__file__).resolve().parent.parent / "datasets" / "sample"


def main() -> None:
    arguments = parse_arguments()
    compute = ComputeParams(precision=arguments.precision, channels_last=arguments.precision == "bfloat16")
    params = TrainSlPolicyParams(
        board_size=arguments.size,
        threads=arguments.threads,
        filters=arguments.filters,
        layers=arguments.layers,
        batch_size=arguments.batch_size,
        steps=arguments.steps + WARM_UP,
        log_every=WARM_UP,
        checkpoint_every=arguments.steps + WARM_UP,
        optimizer=OptimizerParams(momentum=0.9, nesterov=True),
        compute=compute,
    )
    with tempfile.TemporaryDirectory() as name:
        positions = make_positions(Path(name), arguments.size)
        bare_steps(params, positions)  # warms up
        bare: list[Times] = []
        ours: list[Times] = []
        waits: list[float] = []
        for number in range(arguments.rounds):
            bare.append(bare_steps(params, positions))
            times, waited = trainer_steps(params, positions, Path(name) / str(number))
            ours.append(times)
            waits.append(waited)
    told = f"{arguments.size}x{arguments.size}, {arguments.filters} filters, {arguments.layers} layers, "
    told += (
        f"batch {arguments.batch_size}, {arguments.precision}, {arguments.steps} steps, n={arguments.rounds}"
    )
    print(told)
    rows = arguments.steps * params.batch_size
    for what, column in (("by the clock", 0), ("per processor second", 1)):
        one, other = (rows / float(np.median([times[column] for times in each])) for each in (bare, ours))
        print(f"positions/s {what}: bare {one:,.0f}, trainer {other:,.0f}, ratio {other / one:.2f}")
    print(f"waiting for data: {np.median(waits):.1%} of the time [{min(waits):.1%}..{max(waits):.1%}]")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--size", type=int, default=19, choices=(9, 19))
    parser.add_argument("--filters", type=int, default=64)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--precision", choices=("float32", "bfloat16"), default="bfloat16")
    return parser.parse_args()


def make_positions(folder: Path, size: int) -> Path:
    params = ParseGamesParams(board_size=size, min_rank=None, test_positions=100)
    games = SAMPLES / f"gnugo-{size}x{size}.tar.gz"
    outputs = run_parse_games(params, {"games": games}, folder, NullReporter())["outputs"]
    return folder / str(outputs["positions"]["path"])


def now() -> Times:
    return time.perf_counter(), time.process_time()


def since(started: Times) -> Times:
    clock, processor = now()
    return clock - started[0], processor - started[1]


def bare_steps(params: TrainSlPolicyParams, positions: Path) -> Times:
    """The time of the steps on one batch that is on the device already."""
    device = pick_device("auto")
    net = PolicyNet(params.board_size, params.planes, params.filters, params.layers)
    step_net, optimizer = prepare(net, params.compute, device), make_optimizer(net, params)
    first = next(open_positions(params, positions, "train").batches())
    batch = placement_for(params.compute, device).place(first)
    with torch_threads(params.threads):
        for step in range(params.steps):
            if step == WARM_UP:
                started = now()
            optimizer.zero_grad(set_to_none=True)
            with autocast(params.compute, device):
                outputs = step_net(batch.planes)
            torch.nn.functional.cross_entropy(outputs.float(), batch.moves).backward()
            optimizer.step()
        return since(started)


class Clock(NullReporter):
    """Notes when the warm-up and when the last step was done."""

    times: Times
    started: Times

    def progress(self, done: float, total: float, note: str = "") -> None:  # noqa: ARG002
        if done == WARM_UP:
            self.started = now()
        if done == total:
            self.times = since(self.started)


def trainer_steps(params: TrainSlPolicyParams, positions: Path, folder: Path) -> tuple[Times, float]:
    """The time of as many steps of the trainer, and the share of it spent waiting for data."""
    net = PolicyNet(params.board_size, params.planes, params.filters, params.layers)
    source = open_positions(params, positions, "train")
    clock = Clock()
    state = train(net, policy_objective, source, params, folder, clock)
    return clock.times, float(np.mean([point["waiting_share"] for point in state.history[1:]]))


if __name__ == "__main__":
    main()
