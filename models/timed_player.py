"""The search as a player with a clock: search threads, extensions, pondering, and its thoughts to look at."""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import dataclass, field

from go_engine import Board
from go_engine.clock import Clock
from go_engine.players import RESIGN, Candidate
from go_engine.search import Search
from go_engine.search_export import candidates
from models.search_player import SearchPlayer

LOOK = 0.1  # seconds between two looks of an analysis
EXTENSION = 0.5  # of the planned time; repeated while the two best moves disagree and the limit allows


@dataclass
class TimedSearchPlayer(SearchPlayer):
    """A `SearchPlayer` that also obeys a clock (`Timed`), ponders (`Watcher`) and can be watched (`Analyst`).

    With a clock it thinks in threads for the time that the clock gives, longer while the most visited move is
    not the best valued one. Without one it is a `SearchPlayer`: a number of simulations or seconds per move.
    With `ponder` it searches on while the other side thinks.
    """

    ponder: bool = False
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._colour: int | None = None  # the side that it was last asked to play for

    def new_game(self, size: int, komi: float) -> None:
        super().new_game(size, komi)
        self.clock = Clock(self.clock.main, self.clock.period, self.clock.stones)

    # ---- the clock

    def time_settings(self, main: float, byoyomi: float, byoyomi_stones: int) -> None:
        """As in GTP: byoyomi > 0 with no stones means that there is no limit."""
        limited = byoyomi == 0 or byoyomi_stones > 0
        self.clock = Clock(main, byoyomi, byoyomi_stones) if limited else Clock()

    def time_left(self, colour: int, seconds: float, stones: int) -> None:
        self.clock.set_left(colour, seconds, stones)

    def choose(self, board: Board) -> int:
        self._rest()
        self._colour = board.to_play
        if self.clock.unlimited:
            return super().choose(board)
        begin = time.monotonic()
        search = self._follow(self._game, board)
        if not search.decided:
            self._think(search, board, begin)
        self.clock.spend(board.to_play, time.monotonic() - begin)
        return RESIGN if self.resign and search.should_resign else search.best_move()

    def _think(self, search: Search, board: Board, begin: float) -> None:
        budget = self.clock.budget(board.to_play, board.move_number, board.size**2)
        drive = self.drive()
        drive.think(budget.planned)
        while search.disagreement:
            rest = begin + budget.limit - time.monotonic()
            if rest <= 0:
                break
            drive.think(min(EXTENSION * budget.planned, rest))

    # ---- the other side's time

    def observe(self, colour: int, move: int) -> None:
        """Every move of the game; after an own one the search goes on in the background."""
        self._rest()
        search = self.search_of()
        if search is None or search.board.to_play != colour or not search.board.is_legal(move):
            return
        search.advance(move)
        if self.ponder and colour == self._colour and not search.decided:
            self.drive().start()

    def _rest(self) -> None:
        """Ends pondering."""
        search = self.search_of()
        if search is not None and search.running:
            self.drive().stop()

    # ---- to look at

    def candidates(self) -> list[Candidate]:
        search = self.search_of()
        return [] if search is None else candidates(search)

    def analyse(self, board: Board) -> Generator[list[Candidate]]:
        """Think on until the iterator is closed."""
        self._rest()
        search = self._follow(self._game, board)
        drive = self.drive()
        drive.start()
        try:
            while True:
                search.wait(LOOK)
                if search.failure:
                    drive.stop()  # raises what happened
                yield candidates(search)
        finally:
            self._rest()

    def end_game(self, game: int) -> None:
        if game == self._game:
            self._rest()
        super().end_game(game)
