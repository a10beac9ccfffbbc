"""Games between networks, many at once: the loop that RL, the value set and matches share.

All games lie in one `GameBatch`. A *seat* is a policy with its temperature; every game says which seat moves
next, or that it waits for nobody. The loop always takes the seat with the most games waiting, fills one batch
of fixed size from the games that have waited longest, and asks the network once. While the network works, the
engine (C++, another thread) plays the moves of the batch before and writes the planes of the batch after.
With one thread and a network that computes on the processor they take turns, so that a worker is one core.

The same games come out whatever the number of games at once, of threads, or the order in which batches form:
a game's draws depend on its seed and the ply alone, and every network call has the same shape (padded if need
be), because a network's last digits depend on the shape of its input but not on a row's place in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from go_engine import GameBatch

NOBODY = -1  # the seat of a game that waits for no network
BUFFERS = 3  # a batch is being prepared, one evaluated, one played
PLANES = 48

Games = NDArray[np.int32]  # numbers of games in the batch
OnMoved = Callable[[Games], None]


class Policy(Protocol):
    """What a seat needs: `models.evaluators.PolicyEvaluator` is one."""

    accelerated: bool  # computes on a device of its own, which leaves the processor free

    def probabilities(self, planes: NDArray[np.uint8]) -> NDArray[np.float32]:
        """uint8[B, 48, N, N] -> float32[B, N * N]."""


@dataclass(frozen=True)
class Seat:
    """A policy and the temperature at which its moves are drawn (p^(1/temperature), 0: the most probable)."""

    policy: Policy
    temperature: float = 1.0


@dataclass(frozen=True)
class Turn:
    """What one batch of a seat did: rows of `planes` belong to `games`, in which `moves` were played.

    The planes are those before the moves; they live in a buffer that is used again: copy what is to be kept.
    `plies` are the move numbers before the moves.
    """

    seat: int
    games: Games
    planes: NDArray[np.uint8]
    moves: NDArray[np.int32]
    plies: NDArray[np.int32]


OnTurn = Callable[[Turn], None]


@dataclass(frozen=True)
class _Ready:
    """A batch on its way: games whose planes stand in the first rows of a full buffer."""

    seat: int
    games: Games
    planes: NDArray[np.uint8]


_Answered = tuple[_Ready, NDArray[np.float32]]


class SelfPlay:
    """Plays the games of a batch on until every one waits for nobody.

    The owner sets `seat_of` and `seed_of` of the games to begin with, and again in `on_moved(games)`, which
    is called with games that have just made a move: it gives them their next seat, finishes those that are
    over, starts new ones. `on_turn`, when given, sees every batch of moves before that. Both are called from
    the engine's thread (the caller's, when the two take turns), never at the same time.
    """

    def __init__(
        self,
        games: GameBatch,
        seats: Sequence[Seat],
        batch_size: int,
        on_moved: OnMoved,
        on_turn: OnTurn | None = None,
        threads: int = 1,
    ) -> None:
        self.games, self.seats, self.threads = games, seats, threads
        self.seat_of = np.full(len(games), NOBODY, dtype=np.int8)
        self.seed_of = np.zeros(len(games), dtype=np.uint64)
        self.evaluated = 0  # positions that went through a network
        self.calls = 0  # network calls, each of batch_size rows
        self._on_moved, self._on_turn = on_moved, on_turn
        self._flying = np.zeros(len(games), dtype=bool)
        self._moved_at = np.zeros(len(games), dtype=np.int64)
        size = games.size
        self._buffers = [np.zeros((batch_size, PLANES, size, size), dtype=np.uint8) for _ in range(BUFFERS)]

    def run(self) -> None:
        """Play until no game waits for a network. Exceptions of policies and callbacks come out here."""
        ready, answered = self._prepare(), None
        with ThreadPoolExecutor(1, thread_name_prefix="engine") if self.overlaps else nullcontext() as engine:
            while ready is not None or answered is not None:
                job = self._beside(engine, answered, ready is not None)
                answered = None
                if ready is not None:
                    answered = ready, self.seats[ready.seat].policy.probabilities(ready.planes)
                ready = job.result()

    @property
    def overlaps(self) -> bool:
        """Whether the engine works while the network does."""
        return self.threads > 1 or any(seat.policy.accelerated for seat in self.seats)

    def _beside(
        self, engine: ThreadPoolExecutor | None, answered: _Answered | None, network_busy: bool
    ) -> Future[_Ready | None]:
        """`_play_and_prepare` on the engine's thread, or done at once without one."""
        if engine is not None:
            return engine.submit(self._play_and_prepare, answered, network_busy)
        done: Future[_Ready | None] = Future()
        done.set_result(self._play_and_prepare(answered, network_busy))
        return done

    def _play_and_prepare(self, answered: _Answered | None, network_busy: bool) -> _Ready | None:
        if answered is not None:
            self._play(*answered)
        return self._prepare(full_only=network_busy)

    def _prepare(self, full_only: bool = False) -> _Ready | None:
        """The next batch and its planes; None when there is none (or, with `full_only`, no full one)."""
        batch_size = len(self._buffers[0])
        free = np.where(self._flying, NOBODY, self.seat_of)
        waiting = [np.flatnonzero(free == seat) for seat in range(len(self.seats))]
        seat = max(range(len(waiting)), key=lambda s: len(waiting[s]))
        if len(waiting[seat]) < (batch_size if full_only else 1):
            return None
        oldest = np.argsort(self._moved_at[waiting[seat]], kind="stable")[:batch_size]
        chosen = waiting[seat][oldest].astype(np.int32)
        planes = self._buffers[0]
        self._buffers = [*self._buffers[1:], planes]
        self.games.planes(chosen, out=planes, threads=self.threads)
        self._flying[chosen] = True
        return _Ready(seat, chosen, planes)

    def _play(self, ready: _Ready, probabilities: NDArray[np.float32]) -> None:
        chosen = ready.games
        plies = self.games.move_numbers[chosen]
        temperature = self.seats[ready.seat].temperature
        moves = self.games.sample(
            chosen, probabilities, temperature, self.seed_of[chosen], threads=self.threads
        )
        self.games.play(chosen, moves)
        self.calls += 1
        self.evaluated += len(chosen)
        self._flying[chosen] = False
        self._moved_at[chosen] = self.calls
        self.seat_of[chosen] = NOBODY
        if self._on_turn is not None:
            self._on_turn(Turn(ready.seat, chosen, ready.planes[: len(chosen)], moves, plies))
        self._on_moved(chosen)


def game_seeds(seed: int, *stream: int, count: int) -> NDArray[np.uint64]:
    """uint64[count]: seeds of games 0..count-1 of a numbered stream, each independent of the others."""
    generator = np.random.default_rng([seed, *stream])
    return generator.integers(0, 2**64, count, dtype=np.uint64)
