"""An engine that plays for an hour: python -m benchmarks.soak [--minutes 60] [--player SPEC] [--seconds 0.25]

`alphago gtp` with search threads, both networks (untrained, 32 filters) and rollouts plays game after game
against itself, keeping its tree from move to move as it would against anybody. Its resident memory is read
after every move; the table shows it over the time, which should say that nothing is left behind.
Needs Linux (/proc).
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import torch

from go_engine.gtp_client import GtpProcess
from models.checkpoint import save_checkpoint
from models.networks import PolicyNet, ValueNet

ENGINE = "from flows.cli import main; main()"
SIZE = 9
MOVES_A_GAME = 2 * SIZE * SIZE
ROWS = 10  # of the table, besides the first
KIB = 1024


class Sample(NamedTuple):
    """Resident MiB after a number of genmoves, and the engine's processor seconds by then."""

    minutes: float
    genmoves: int
    resident: float
    processor: float


def look(pid: int, began: float, genmoves: int) -> Sample:
    status = Path(f"/proc/{pid}/status").read_text()
    resident = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    ticks = os.sysconf("SC_CLK_TCK")
    minutes = (time.monotonic() - began) / 60
    return Sample(minutes, genmoves, int(resident.split()[1]) / KIB, (int(user) + int(system)) / ticks)


def play(engine: GtpProcess, minutes: float) -> list[Sample]:
    """Game after game until the time is up; a sample after every move."""
    began = time.monotonic()
    samples: list[Sample] = []
    while not samples or samples[-1].minutes < minutes:
        engine.command("clear_board")
        passes = 0
        for ply in range(MOVES_A_GAME):
            passes = passes + 1 if engine.command(f"genmove {'bw'[ply % 2]}").lower() == "pass" else 0
            samples.append(look(engine.pid, began, len(samples) + 1))
            if passes == 2 or samples[-1].minutes >= minutes:
                break
    return samples


def untrained(folder: Path) -> str:
    torch.manual_seed(0)
    policy = save_checkpoint(folder / "policy.safetensors", PolicyNet(SIZE, filters=32, layers=5))
    value = save_checkpoint(folder / "value.safetensors", ValueNet(SIZE, filters=32, layers=4, hidden=64))
    return f"search:policy={policy},value={value},rollout=pretrained,tree=pretrained"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seconds", type=float, default=0.25, help="of thought a move")
    parser.add_argument("--player", default="", help="a search; without, untrained networks and the shipped")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        player = asked.player or untrained(Path(folder))
        words = [sys.executable, "-c", ENGINE, "gtp", "--size", str(SIZE), "--seed", "1"]
        engine = GtpProcess([*words, "--player", f"{player},seconds={asked.seconds}"])
        try:
            samples = play(engine, asked.minutes)
        finally:
            engine.close()
    print("| minutes | genmoves | resident, MiB | processor seconds |\n|---:|---:|---:|---:|")
    step = max(1, (len(samples) - 1) // ROWS)
    for at in [*samples[:1], *samples[step::step]]:
        print(f"| {at.minutes:.1f} | {at.genmoves:,} | {at.resident:.0f} | {at.processor:,.0f} |")
    print(f"\nhighest {max(at.resident for at in samples):.0f} MiB")


if __name__ == "__main__":
    main()
