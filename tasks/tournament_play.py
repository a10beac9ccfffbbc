"""Games between any players, many side by side.

Among our own every round each player moves in all its games at once (`play_games`), so the bare networks
answer whole batches and searches can share theirs. A game with an external program waits for nobody but its
two players (`play_apart`); what such a program does wrong loses it the game at hand and nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import nullcontext
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import Protocol

import numpy as np

from go_engine import BLACK, WHITE, Board
from go_engine.gtp_client import GtpError, GtpPlayer
from go_engine.gtp_text import handicap_points
from go_engine.players import RESIGN, RandomPlayer
from tasks.tournament_games import Ending, Game, GameResult

PLIES_PER_POINT = 2  # a game of 2 * N^2 plies is scored as it stands
Choice = int | GtpError


class Entrant(Protocol):
    """A `BatchPlayer`, or guests, whose misdeeds come back in the place of their moves."""

    name: str

    def choose_batch(self, games: Sequence[int], boards: Sequence[Board]) -> Sequence[Choice]: ...

    def end_game(self, game: int) -> None: ...


class Guests:
    """An external program as an entrant: a process for each of its games, which may be played in threads."""

    def __init__(self, name: str, make: Callable[[int], GtpPlayer]) -> None:
        self.name = name
        self._make = make
        self._players: dict[int, GtpPlayer] = {}
        self._untold: dict[int, list[tuple[int, int]]] = {}
        self._closed = False

    def choose_batch(self, games: Sequence[int], boards: Sequence[Board]) -> list[Choice]:
        return [self._choose(game, board) for game, board in zip(games, boards, strict=True)]

    def observe(self, game: int, colour: int, move: int) -> None:
        """Note a move; the program is told when it is next asked for one."""
        self._untold.setdefault(game, []).append((colour, move))

    def claim(self, game: int) -> float | None:
        """Black's lead as the program sees it, None when it does not say."""
        player = self._players.get(game)
        if player is None:
            return None
        try:
            self._tell(game, player)
        except GtpError:
            return None
        return player.final_score()

    def end_game(self, game: int) -> None:
        self._untold.pop(game, None)
        if player := self._players.pop(game, None):
            player.close()

    def close(self) -> None:
        """End all its programs; no game gets another."""
        self._closed = True
        for game in list(self._players):
            self.end_game(game)

    def _choose(self, game: int, board: Board) -> Choice:
        if self._closed:
            return GtpError("crash", f"{self.name} is no longer asked")
        try:
            player = self._players.get(game)
            if player is None:
                player = self._players[game] = self._make(game)
                player.new_game(board.size, board.komi)
            self._tell(game, player)
            return player.choose(board)
        except GtpError as error:
            return error
        except ValueError as error:  # it does not play on this board
            return GtpError("refused", str(error))

    def _tell(self, game: int, player: GtpPlayer) -> None:
        for colour, move in self._untold.pop(game, []):
            player.observe(colour, move)


@dataclass
class Rules:
    """What all games of a tournament have in common."""

    size: int
    komi: float
    opening_plies: int
    seed: int
    openings: Sequence[Sequence[int]] = ()  # an opening set

    @property
    def most_plies(self) -> int:
        return PLIES_PER_POINT * self.size * self.size

    def start(self, game: Game) -> Board:
        """The empty board, or that with the handicap."""
        board = Board(self.size, self.komi)
        if game.handicap:
            board.setup(black=handicap_points(game.handicap, self.size), to_play=WHITE)
        return board

    def opening(self, game: Game) -> list[int]:
        """The moves that open a game, of the opening set or random: the same for the same opening,
        handicap and seed.

        After a handicap, which is the same player's in both games of an opening, the two games differ.
        """
        if self.openings and not game.handicap:
            return list(self.openings[game.opening % len(self.openings)])
        board = self.start(game)
        key = [self.seed, game.opening, game.number % 2 if game.handicap else 0]
        player = RandomPlayer(int(np.random.default_rng(key).integers(2**63)))
        moves: list[int] = []
        while len(moves) < self.opening_plies and (move := player.choose(board)) != board.pass_move:
            board.play(move)
            moves.append(move)
        return moves


@dataclass
class Clock:
    """How long each player took, over all its games."""

    seconds: dict[str, float] = field(default_factory=dict)
    moves: dict[str, int] = field(default_factory=dict)
    _joining: Lock = field(default_factory=Lock, repr=False)

    def join(self, other: Clock) -> None:
        """Add what another has counted; from any thread."""
        with self._joining:
            for name, seconds in other.seconds.items():
                self.add(name, seconds, other.moves[name])

    def add(self, name: str, seconds: float, moves: int) -> None:
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds
        self.moves[name] = self.moves.get(name, 0) + moves

    def milliseconds_per_move(self) -> dict[str, float]:
        return {name: 1000 * self.seconds[name] / self.moves[name] for name in self.seconds}


class _Lane:
    """A game in progress."""

    def __init__(self, game: Game, rules: Rules, entrants: Mapping[str, Entrant]) -> None:
        self.game, self.rules = game, rules
        self.board = rules.start(game)
        self.moves: list[int] = []
        self.comments: dict[int, str] = {}
        self.guests = [e for e in (entrants[game.black], entrants[game.white]) if isinstance(e, Guests)]
        for guests in self.guests:
            for point in np.flatnonzero(self.board.grid()).tolist():
                guests.observe(game.number, BLACK, point)
        opening = rules.opening(game)
        for move in opening:
            self.play(move)
        self.opening_plies = len(opening)

    @property
    def to_move(self) -> str:
        return self.game.player(self.board.to_play)

    @property
    def ending(self) -> Ending | None:
        if self.board.is_over:
            return "passes"
        return "length" if len(self.moves) >= self.rules.most_plies else None

    def play(self, move: int) -> None:
        colour = self.board.to_play
        self.board.play(move)
        self.moves.append(move)
        for guests in self.guests:
            guests.observe(self.game.number, colour, move)

    def scored(self, ending: Ending) -> GameResult:
        score = self.board.area_score()
        winner = int(np.sign(score))
        claims = {}
        for guests in self.guests if ending == "passes" else ():
            claim = guests.claim(self.game.number)
            if claim is not None and int(np.sign(claim)) != winner:
                claims[guests.name] = claim
        return self._result(winner, ending, score=score, claims=claims)

    def lost(self, ending: Ending, error: GtpError | None = None) -> GameResult:
        """The player to move resigned or forfeited."""
        winner = WHITE if self.board.to_play == BLACK else BLACK
        kind, text = (error.kind, str(error)) if error else (None, "")
        return self._result(winner, ending, fault=kind, fault_text=text)

    def _result(
        self,
        winner: int,
        ending: Ending,
        score: float | None = None,
        claims: dict[str, float] | None = None,
        fault: str | None = None,
        fault_text: str = "",
    ) -> GameResult:
        return GameResult(
            **self.game._asdict(),
            moves=self.moves,
            opening_plies=self.opening_plies,
            winner=winner,
            score=score,
            ending=ending,
            fault=fault,
            fault_text=fault_text,
            claims=claims or {},
            comments=self.comments,
        )


def play_games(
    games: Sequence[Game],
    entrants: Mapping[str, Entrant],
    rules: Rules,
    lanes: int,
    clock: Clock,
    dropped: Callable[[Game], bool] = lambda _game: False,
) -> Iterator[list[GameResult]]:
    """Play `games` in order, at most `lanes` at a time; yields the results of each round that ended any.

    `dropped` is asked before a game begins and may leave it out.
    """
    waiting = iter(games)
    active: list[_Lane] = []
    while True:
        while len(active) < lanes:
            game = next((game for game in waiting if not dropped(game)), None)
            if game is None:
                break
            active.append(_Lane(game, rules, entrants))
        if not active:
            return
        ended = _round(active, entrants, clock)
        for result in ended:
            for name in {result.black, result.white}:
                entrants[name].end_game(result.number)
        numbers = {result.number for result in ended}
        active = [lane for lane in active if lane.game.number not in numbers]
        if ended:
            yield ended


def play_apart(
    games: Sequence[Game],
    entrants: Mapping[str, Entrant],
    rules: Rules,
    lanes: int,
    clock: Clock,
    dropped: Callable[[Game], bool] = lambda _game: False,
) -> Iterator[list[GameResult]]:
    """As `play_games`, with a thread for every game. Our own players move in one game at a time."""
    turns = {name: Lock() for name, entrant in entrants.items() if not isinstance(entrant, Guests)}
    stopped = Event()
    waiting = iter(games)
    running: set[Future[GameResult | None]] = set()
    pool = ThreadPoolExecutor(lanes, thread_name_prefix="game")
    try:
        while True:
            while len(running) < lanes:
                game = next((game for game in waiting if not dropped(game)), None)
                if game is None:
                    break
                running.add(pool.submit(_play_alone, game, rules, entrants, turns, clock, stopped))
            if not running:
                return
            ended, running = wait(running, return_when=FIRST_COMPLETED)
            yield [result for future in ended if (result := future.result()) is not None]
    finally:  # whoever is thinking is not waited for; the caller ends the programs
        stopped.set()
        pool.shutdown(wait=False, cancel_futures=True)


def _play_alone(
    game: Game,
    rules: Rules,
    entrants: Mapping[str, Entrant],
    turns: Mapping[str, Lock],
    clock: Clock,
    stopped: Event,
) -> GameResult | None:
    """A game to its end; None when it was stopped before."""
    lane, own = _Lane(game, rules, entrants), Clock()
    result = None
    while result is None and not stopped.is_set():
        with turns.get(lane.to_move, nullcontext()):
            result = next(iter(_round([lane], entrants, own)), None)
    for name in {game.black, game.white}:
        with turns.get(name, nullcontext()):
            entrants[name].end_game(game.number)
    if stopped.is_set():
        return None
    clock.join(own)
    return result


def _round(active: list[_Lane], entrants: Mapping[str, Entrant], clock: Clock) -> list[GameResult]:
    """One move in every game, all games of one player in one call."""
    turns: dict[str, list[_Lane]] = {}
    for lane in active:
        turns.setdefault(lane.to_move, []).append(lane)
    ended = []
    for name in sorted(turns):
        mine = turns[name]
        began = time.perf_counter()
        numbers, boards = [lane.game.number for lane in mine], [lane.board for lane in mine]
        choices = entrants[name].choose_batch(numbers, boards)
        clock.add(name, time.perf_counter() - began, len(mine))
        for lane, choice in zip(mine, choices, strict=True):
            if isinstance(choice, GtpError):
                ended.append(lane.lost("forfeit", choice))
            elif choice == RESIGN:
                ended.append(lane.lost("resignation"))
            else:
                _note(lane, entrants[name])
                lane.play(choice)
                if ending := lane.ending:
                    ended.append(lane.scored(ending))
    return ended


def _note(lane: _Lane, entrant: Entrant) -> None:
    """Keep what the player thinks of its move, if it is of a kind that says so."""
    comment = getattr(entrant, "comment", None)
    if comment is not None and (text := comment(lane.game.number)):
        lane.comments[len(lane.moves) + 1] = text
