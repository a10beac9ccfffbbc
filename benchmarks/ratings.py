"""How long a large tournament takes to rate: 1,000 players, 100,000 games, with intervals (limit: 1 s)."""

from __future__ import annotations

import statistics
import time

import numpy as np
import pandas as pd

from tasks.elo import bayes_elo

PLAYERS, GAMES, REPEATS, SPREAD, LIMIT = 1_000, 100_000, 7, 300.0, 1.0


def random_games(players: int, games: int, seed: int = 0) -> pd.DataFrame:
    """One row a game between random opponents whose true ratings are normal."""
    random = np.random.default_rng(seed)
    first = random.integers(players, size=games)
    second = (first + 1 + random.integers(players - 1, size=games)) % players
    elo = random.normal(0.0, SPREAD, players)
    won = random.random(games) < 1 / (1 + 10 ** ((elo[second] - elo[first]) / 400))
    names = np.array([f"p{i}" for i in range(players)])
    columns = {"program_a": names[first], "program_b": names[second], "wins_a": won.astype(int)}
    return pd.DataFrame(columns).assign(wins_b=1 - won.astype(int), draws=0)


def main() -> None:
    games = random_games(PLAYERS, GAMES)
    wall, processor = [], []
    for _ in range(REPEATS):
        began, worked = time.perf_counter(), time.process_time()
        bayes_elo(games)
        wall.append(time.perf_counter() - began)
        processor.append(time.process_time() - worked)
    print(
        f"{PLAYERS:,} players, {GAMES:,} games: median {statistics.median(wall):.2f} s "
        f"({statistics.median(processor):.2f} s of processor, limit {LIMIT:g} s)"
    )


if __name__ == "__main__":
    main()
