"""Tournament games between bare policy networks beside the network that they wait for.

python -m benchmarks.matches [--size 9] [--filters 64] [--layers 6] [--lanes 256] [--precision float32]

Two players with a network each meet as in a tournament, journal left out; the bare network evaluates as many
positions in batches of half the lanes. The two take turns; medians of processor seconds are compared.
"""

from __future__ import annotations

import argparse
import os
import statistics

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import torch

from benchmarks.self_play import KOMI, bare_network, measure, typical_planes
from models.evaluators import PolicyEvaluator
from models.networks import PolicyNet
from models.players import PolicyPlayer
from tasks.tournament_games import Meeting, schedule
from tasks.tournament_play import Clock, Rules, play_games

OPENING_PLIES = 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--size", type=int, default=9)
    parser.add_argument("--filters", type=int, default=64)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--lanes", type=int, default=256)
    parser.add_argument("--games", type=int, default=512)
    parser.add_argument("--precision", choices=("float32", "bfloat16"), default="float32")
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    net = PolicyNet(asked.size, filters=asked.filters, layers=asked.layers)
    evaluator = PolicyEvaluator(net, precision=asked.precision)
    batch = asked.lanes // 2
    planes = typical_planes(asked.size, batch)
    games = schedule([Meeting("a", "b", asked.games)])
    rules = Rules(asked.size, KOMI, OPENING_PLIES, 0)
    bare_network(evaluator, planes, 2)
    rates: dict[str, list[float]] = {"bare network": [], "matches": []}
    for _ in range(asked.rounds):
        clock = Clock()
        entrants = {name: PolicyPlayer(evaluator, seed, 1.0, name) for seed, name in enumerate("ab")}
        played = measure(lambda: list(play_games(games, entrants, rules, asked.lanes, clock)))  # noqa: B023
        moves = sum(clock.moves.values())
        rates["matches"].append(moves / played[0])
        calls = max(1, moves // batch)
        bare = measure(lambda: bare_network(evaluator, planes, calls))  # noqa: B023
        rates["bare network"].append(calls * batch / bare[0])
    alone, matches = (statistics.median(rates[name]) for name in ("bare network", "matches"))
    shape = f"{asked.size}x{asked.size}, {asked.filters} filters, {asked.layers} layers, {asked.precision}"
    print(f"{shape}, {asked.lanes} lanes, {asked.games} games")
    print(
        f"positions a processor second: bare network {alone:,.0f}, matches {matches:,.0f}, "
        f"ratio {matches / alone:.2f}"
    )


if __name__ == "__main__":
    main()
