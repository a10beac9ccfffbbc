"""Which games a tournament consists of, what is kept of each, and the journal on disk."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict

from go_engine import BLACK, WHITE
from tasks.elo import win_probability
from tasks.elo_fit import ELO_PER_NAT, Floats
from tasks.errors import UserError

JOURNAL_FORMAT = 1
LEAST_VARIANCE = 1e-6
Ending = Literal["passes", "length", "resignation", "forfeit"]


class Game(NamedTuple):
    """A game to be played. `number` is its own in the tournament, `opening` that of all with its start.

    With `handicap` Black has that many stones on the usual points and White plays first.
    """

    number: int
    opening: int
    black: str
    white: str
    handicap: int = 0

    def player(self, colour: int) -> str:
        return self.black if colour == BLACK else self.white


class GameResult(BaseModel):
    """A game that was played; colours alternate (White begins after a handicap): the moves are the record."""

    model_config = ConfigDict(frozen=True)

    number: int
    opening: int
    black: str
    white: str
    moves: list[int]
    opening_plies: int
    winner: int  # BLACK, WHITE, or 0
    score: float | None  # Black's lead by area when the game was played to its end
    ending: Ending
    fault: str | None = None  # what the loser of a forfeit did: a kind of go_engine.gtp_client.GtpError
    fault_text: str = ""
    handicap: int = 0
    claims: dict[str, float] = {}  # guests' own opinion of the score, where it names another winner
    comments: dict[int, str] = {}  # by number of the move, from 1

    @property
    def loser(self) -> str | None:
        return {BLACK: self.white, WHITE: self.black}.get(self.winner)

    @property
    def coloured_moves(self) -> list[tuple[int, int]]:
        """(colour, move) of the whole game, the opening too, handicap stones not."""
        first = WHITE if self.handicap else BLACK
        return [(first if i % 2 == 0 else -first, move) for i, move in enumerate(self.moves)]

    @property
    def text(self) -> str:
        """The result as in SGF: B+3.5, W+R, B+F, 0."""
        if not self.winner:
            return "0"
        how = {"resignation": "R", "forfeit": "F"}.get(self.ending) or f"{abs(self.score or 0.0):g}"
        return f"{'B' if self.winner == BLACK else 'W'}+{how}"


class Meeting(NamedTuple):
    """Two players and how often they meet: `games` is even, half with each colour.

    With `handicap` the first player has that many stones and Black in all games.
    """

    first: str
    second: str
    games: int
    handicap: int = 0

    def pair(self, number: int, opening: int) -> list[Game]:
        """Two games from one opening."""
        if self.handicap:
            return [Game(number + k, opening, self.first, self.second, self.handicap) for k in range(2)]
        return [
            Game(number, opening, self.first, self.second),
            Game(number + 1, opening, self.second, self.first),
        ]


def schedule(meetings: Sequence[Meeting]) -> list[Game]:
    """All games, round by round, so that a tournament cut short has all pairs at about the same number.

    Opening k is the same in all meetings, and each is played with both colours.
    """
    games: list[Game] = []
    for opening in range(max((meeting.games for meeting in meetings), default=0) // 2):
        for meeting in meetings:
            if opening < meeting.games // 2:
                games += meeting.pair(len(games), opening)
    return games


def more_games(
    candidates: Sequence[Meeting], ratings: pd.DataFrame, games: int, first_number: int, first_opening: int
) -> list[Game]:
    """The next games of an adaptive tournament: those that say most about the ratings.

    A game between players of rating difference d tells about d in proportion to p(1 - p) and to how uncertain
    d is. Pairs of games (one opening, both colours) are dealt out one by one, the variance of a pair's
    difference being reduced as if its games had been played.
    """
    pairs = [(m.first, m.second) for m in candidates]
    elo = ratings.set_index("program")["elo"]
    chance = np.array([win_probability(elo[a] - elo[b]) for a, b in pairs])
    weight = chance * (1 - chance)
    variance = difference_variances(ratings, pairs)
    chosen: list[Game] = []
    for k in range(games // 2):
        best = int(np.argmax(weight * variance))
        variance[best] = 1 / (1 / variance[best] + 2 * weight[best] / ELO_PER_NAT**2)
        chosen += candidates[best].pair(first_number + 2 * k, first_opening + k)
    return chosen


def neighbour_games(
    candidates: Sequence[Meeting],
    order: Sequence[str],
    known: Sequence[GameResult],
    least: int,
    first_number: int,
    first_opening: int,
) -> list[Game]:
    """What players next to each other in `order`, the strongest first, lack to have met `least` times."""
    met = Counter(frozenset((result.black, result.white)) for result in known)
    meetings = {frozenset((meeting.first, meeting.second)): meeting for meeting in candidates}
    games: list[Game] = []
    for pair in map(frozenset, pairwise(order)):
        if pair in meetings:
            for _ in range((least - met[pair] + 1) // 2):
                games += meetings[pair].pair(first_number + len(games), first_opening + len(games) // 2)
    return games


def difference_variances(ratings: pd.DataFrame, pairs: Sequence[tuple[str, str]]) -> Floats:
    """Variance of the rating difference of each pair, in Elo points squared."""
    place = {name: i for i, name in enumerate(ratings["program"])}
    covariance = ratings.attrs["covariance"]
    i = np.array([place[a] for a, _ in pairs])
    j = np.array([place[b] for _, b in pairs])
    variance: Floats = covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]
    return np.maximum(variance, LEAST_VARIANCE)


class Journal:
    """Results on disk, one JSON line each, synced before `add` returns. The first line says whose they are.

    A line that was cut off by a crash is dropped. Raises UserError when the file is of another tournament.
    """

    def __init__(self, path: Path, identity: dict[str, Any]) -> None:
        self.path = path
        self.results: list[GameResult] = []
        header = json.dumps({"format": JOURNAL_FORMAT, **identity}, sort_keys=True)
        whole = b""
        if path.exists():
            whole = path.read_bytes()
            whole = whole[: whole.rfind(b"\n") + 1]
        lines = whole.decode("utf-8").splitlines()
        if lines and lines[0] != header:
            raise UserError(f"{path} is the journal of a tournament with other parameters")
        self.results = [GameResult.model_validate_json(line) for line in lines[1:]]
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("r+b" if path.exists() else "w+b")
        self._file.truncate(len(whole))
        self._file.seek(len(whole))
        if not lines:
            self._write(header)
        self._sync()

    def add(self, results: Sequence[GameResult]) -> None:
        for result in results:
            self._write(result.model_dump_json(exclude_defaults=True))
        self._sync()
        self.results += results

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def _write(self, line: str) -> None:
        self._file.write(line.encode("utf-8") + b"\n")

    def _sync(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())
