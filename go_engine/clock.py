"""How much of the clock to spend on a move.

The share of the main time follows Huang, Coulom and Lin ("Time management for Monte-Carlo tree search
applied to the game of Go", 2010), which the paper cites: left / (C + max(P - ply, 0)). Early moves get
little, most time goes to the middle game, and what is left is never used up. C and P are 80 plies on 19x19,
scaled by the points.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

LAG = 0.1  # seconds a move that pass between two clocks
LEAST = 0.01  # seconds; even a lost clock deserves a move
SHARE_PLIES = 80 / 361  # C and P, per point of the board
PERIOD_SHARE = 0.95  # of a byoyomi period that may be used
MAIN_LIMIT = 0.2  # of the main time that one extended move may use
LONGER = 3.0  # times the planned seconds that an extended move may use


class Budget(NamedTuple):
    """Seconds to think: what is planned, and the most that an extension may make of it."""

    planned: float
    limit: float


class TimeLeft(NamedTuple):
    """Seconds left for `stones` moves; stones = 0 is the main time."""

    seconds: float
    stones: int


@dataclass
class Clock:
    """The time settings of a game and what both sides have left. Canadian byoyomi: `stones` in each `period`.

    A period for one stone is the Japanese kind; period = 0 is absolute time. Colours are BLACK and WHITE.
    """

    main: float = math.inf
    period: float = 0.0
    stones: int = 0
    left: dict[int, TimeLeft] = field(default_factory=dict)

    @property
    def unlimited(self) -> bool:
        return math.isinf(self.main)

    def remaining(self, colour: int) -> TimeLeft:
        start = TimeLeft(self.main, 0) if self.main > 0 else TimeLeft(self.period, max(self.stones, 1))
        return self.left.get(colour, start)

    def set_left(self, colour: int, seconds: float, stones: int) -> None:
        """What the referee's clock shows."""
        self.left[colour] = TimeLeft(max(seconds, 0.0), stones)

    def spend(self, colour: int, seconds: float) -> None:
        """Runs the own clock on, for referees that do not show theirs."""
        left, stones = self.remaining(colour)
        left -= seconds
        if stones == 0 and left <= 0 and self.period > 0:
            left, stones = self.period + left, max(self.stones, 1)
        if stones > 0:
            stones -= seconds > 0
            if stones == 0:
                left, stones = self.period, max(self.stones, 1)
        self.left[colour] = TimeLeft(max(left, 0.0), stones)

    def budget(self, colour: int, ply: int, points: int) -> Budget:
        """For the move at this ply (0 is the first) on a board of so many points."""
        left, stones = self.remaining(colour)
        per_stone = self.period / max(self.stones, 1) * PERIOD_SHARE - LAG if self.period > 0 else 0.0
        if stones > 0:
            planned = left / stones * PERIOD_SHARE - LAG
            limit = left * PERIOD_SHARE - LAG if stones == 1 else LONGER * planned
            return _at_least(planned, min(limit, left - LAG))
        plies = SHARE_PLIES * points
        planned = max(left / (plies + max(plies - ply, 0.0)) - LAG, 0.0)
        if planned < per_stone:  # the periods allow more than the rest of the main time
            planned = min(per_stone, left + per_stone)
        limit = min(LONGER * planned, MAIN_LIMIT * left + max(per_stone, 0.0))
        return _at_least(planned, limit)


def _at_least(planned: float, limit: float) -> Budget:
    return Budget(max(planned, LEAST), max(planned, limit, LEAST))
