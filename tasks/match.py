"""Two seats play a number of games against each other, each with Black in half of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from go_engine import BLACK, WHITE, GameBatch
from tasks.self_play import NOBODY, Games, OnTurn, Seat, SelfPlay

FIRST, SECOND = 0, 1


@dataclass(frozen=True)
class Match:
    """The games of a match in order; the first seat has Black in the even ones.

    `outcomes` int8[n] are the first seat's: 1 won, -1 lost, 0 drawn (possible with an integer komi only).
    """

    outcomes: NDArray[np.int8]
    plies: NDArray[np.int32]
    capped: NDArray[np.bool_]

    @property
    def wins(self) -> float:
        """Games that the first seat won; a draw counts half."""
        return float(np.sum(self.outcomes == 1) + np.sum(self.outcomes == 0) / 2)

    @property
    def games(self) -> int:
        return len(self.outcomes)


def first_colours(count: int) -> NDArray[np.int8]:
    """int8[count]: the first seat's colour in each game."""
    return np.where(np.arange(count) % 2 == 0, BLACK, WHITE).astype(np.int8)


def play_match(
    first: Seat,
    second: Seat,
    seeds: NDArray[np.uint64],
    size: int,
    komi: float,
    batch_size: int,
    threads: int = 1,
    on_turn: OnTurn | None = None,
) -> Match:
    """Play one game for each seed, all of them at once, `batch_size` positions a network call.

    `on_turn` sees every batch of moves with seat 0 for `first` and 1 for `second`.
    """
    games = GameBatch(len(seeds), size=size, komi=komi)
    colours = first_colours(len(seeds))

    def on_moved(moved: Games) -> None:
        turn = np.where(games.to_play[moved] == colours[moved], FIRST, SECOND)
        play.seat_of[moved] = np.where(games.over[moved], NOBODY, turn)

    play = SelfPlay(games, (first, second), batch_size, on_moved, on_turn, threads)
    play.seed_of[:] = seeds
    on_moved(np.arange(len(seeds), dtype=np.int32))
    play.run()
    outcomes = (games.winners * colours).astype(np.int8)
    return Match(outcomes, games.move_numbers.copy(), games.capped.copy())
