"""Rates of the rollout and tree policies that come with the project, beside uniform playouts.

    python -m benchmarks.rollout [GAMES] [--rounds 7]

GAMES (any 19x19 records; the bundled ones by default) are what the training figures read. Rates are per CPU
second of this process.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

import numpy as np

import go_engine
from benchmarks.engine import SAMPLE, SIZE, Row, both_clocks, machine, measure, table
from datasets import GameRecord, read_games
from go_engine import Board, RolloutPolicy, _core
from tasks.rollout_data import to_rollout_games

PRETRAINED = Path(__file__).parents[1] / "models" / "pretrained"
PLAYOUTS = 600
POSITION_PLIES = 250
TRAINING_GAMES = 400
GAMES_A_SHARD = 8
STEP_SIZE = 0.01


def played_positions(policy: RolloutPolicy) -> list[Board]:
    """Every position of one game that the policy plays against itself."""
    board, boards = Board(SIZE), []
    for ply in range(POSITION_PLIES):
        boards.append(board.copy())
        board.play(int(_core.rollout_choices(policy, board, 1, ply)[0]))
    return boards


def playing(policy: RolloutPolicy, tree: RolloutPolicy, rounds: int) -> Iterable[Row]:
    empty = Board(SIZE)
    moves = int(policy.playouts(empty, PLAYOUTS, 1)[1].sum())

    def playouts(threads: int) -> int:
        policy.playouts(empty, PLAYOUTS, 1, threads)
        return PLAYOUTS

    rates = measure(lambda: playouts(1), rounds)
    yield Row("rollout policy: playouts, empty 19x19", "playouts/s", rates, 3000)
    per_move = [rate * moves / PLAYOUTS for rate in rates]
    yield Row("rollout policy: moves in playouts (0.8 us each)", "moves/s", per_move, 1_250_000)
    both = [(both_clocks(playouts, 1), both_clocks(playouts, 2)) for _ in range(rounds)]
    yield Row(
        "playouts: two threads against one, wall", "times", [one[0] / two[0] for one, two in both], 1.85
    )
    efficiency = [2 * one[1] / two[1] for one, two in both]
    yield Row("playouts: twice the CPU time of one over that of two", "times", efficiency, 1.85)

    def uniform() -> int:
        go_engine.random_playouts(empty, PLAYOUTS, 1)
        return PLAYOUTS

    yield Row("uniform playouts, for comparison", "playouts/s", measure(uniform, rounds))
    boards = played_positions(policy)
    for name, one, target in (("rollout", policy, 50_000), ("tree", tree, None)):

        def evaluate(one: RolloutPolicy = one) -> int:
            for board in boards:
                one.probabilities(board)
            return len(boards)

        what = f"{name} policy: probabilities from scratch" + (" (20 us)" if target else "")
        yield Row(what, "positions/s", measure(evaluate, rounds), target)


def training(policy: RolloutPolicy, tree: RolloutPolicy, games: Path, rounds: int) -> Iterable[Row]:
    records = (game for game in read_games(games) if isinstance(game, GameRecord) and game.size == SIZE)
    store = to_rollout_games(islice(records, TRAINING_GAMES), SIZE)
    order = np.arange(len(store))
    parts = [[part.tolist()] for part in np.array_split(order, max(1, len(order) // GAMES_A_SHARD))]
    for name, one, target in (("rollout", policy, 200_000), ("tree", tree, None)):
        trainer = _core.RolloutTrainer(one, store)

        def learn(trainer: _core.RolloutTrainer = trainer) -> int:
            return int(sum(trainer.train_round(part, STEP_SIZE, 0.0)[0] for part in parts))

        yield Row(f"{name} policy: training", "positions/s", measure(learn, rounds), target)
    yield Row(
        "harvest of all patterns",
        "positions/s",
        measure(lambda: int(store.harvest(True)["positions"]), rounds),
    )


def load_milliseconds(path: Path) -> float:
    start = time.process_time()
    RolloutPolicy.load(path)
    return 1000 * (time.process_time() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description="Rates of the rollout and tree policies.")
    parser.add_argument("games", nargs="?", type=Path, default=SAMPLE)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    paths = [PRETRAINED / f"{kind}-{SIZE}x{SIZE}.safetensors" for kind in ("rollout", "tree")]
    policy, tree = (RolloutPolicy.load(path) for path in paths)
    print(f"{machine()}\n")
    rows = [
        *playing(policy, tree, arguments.rounds),
        *training(policy, tree, arguments.games, arguments.rounds),
    ]
    table(rows)
    times = ", ".join(f"{path.name} {load_milliseconds(path):.0f} ms" for path in paths)
    print(f"\nLoading: {times}")


if __name__ == "__main__":
    main()
