"""Which games are wanted. Every game that is not is counted under the filter that dropped it."""

from __future__ import annotations

from dataclasses import dataclass

from .dialects import rank_value, result_kind
from .records import GameRecord

HANDICAP_FROM = 2  # stones; one stone is only the first move


@dataclass(frozen=True, slots=True)
class GameFilter:
    """Limits on games; what is None or empty limits nothing."""

    board_size: int | None = None
    min_moves: int = 0
    min_rank: str | None = None  # "6d"
    both_ranks: bool = False  # whether both players or only the stronger must have it
    keep_unranked: bool = False  # games in which no rank is known
    rules: tuple[str, ...] = ()
    results: tuple[str, ...] = ()  # kinds, see dialects.result_kind
    date_from: str | None = None  # ISO, compared as far as both are known
    date_to: str | None = None
    max_handicap: int | None = None

    def reason(self, game: GameRecord) -> str | None:
        """The name of the first filter that drops the game, None if it stays."""
        if self.board_size is not None and game.size != self.board_size:
            return "board size"
        if len(game.moves) < self.min_moves:
            return "too few moves"
        if self.min_rank is not None and not self._strong_enough(game):
            return "rank"
        if self.rules and (game.rules or "").lower() not in {rule.lower() for rule in self.rules}:
            return "rules"
        if self.results and result_kind(game.result) not in self.results:
            return "kind of result"
        if not self._in_time(game.date):
            return "date"
        if self.max_handicap is not None and handicap_stones(game) > self.max_handicap:
            return "handicap"
        return None

    def _strong_enough(self, game: GameRecord) -> bool:
        wanted = rank_value(self.min_rank)
        if wanted is None:
            raise ValueError(f"{self.min_rank!r} is not a rank such as 6d, 3k or 1p")
        known = [
            value for value in (rank_value(game.black_rank), rank_value(game.white_rank)) if value is not None
        ]
        if not known:
            return self.keep_unranked
        if self.both_ranks:
            return len(known) == 2 and min(known) >= wanted
        return max(known) >= wanted

    def _in_time(self, date: str | None) -> bool:
        if self.date_from is None and self.date_to is None:
            return True
        if date is None:
            return False
        after = self.date_from is None or date >= self.date_from[: len(date)]
        return after and (self.date_to is None or date[: len(self.date_to)] <= self.date_to)


def handicap_stones(game: GameRecord) -> int:
    """Handicap stones: what the record says or, if it says nothing, black setup stones without white ones."""
    if game.handicap is not None and game.handicap >= HANDICAP_FROM:
        return game.handicap
    return len(game.black) if len(game.black) >= HANDICAP_FROM and not game.white else 0
