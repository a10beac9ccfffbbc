"""The search's two drives: many games in lock-step, or one game with search threads and evaluator threads.

`Search` itself is the core's (go_engine/src/search.hpp explains it). A search asks two evaluators, which it
knows only by what they answer: a policy gives float32[n, size*size] for uint8[n, 48, size, size], a value
float32[n] for uint8[n, 49, size, size]. Either may be missing: build the search with use_policy or use_value
off then.

    search = Search(board, expansion_threshold=0, use_value=False)
    run_lockstep([search], Evaluators(policy), simulations=200, leaves=8)
    move = search.best_move()
"""

from __future__ import annotations

import atexit
import time
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Thread
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from go_engine import _core
from go_engine._core import Search, SearchParams

__all__ = ["EvaluatorError", "Evaluators", "Search", "SearchParams", "ThreadedDrive", "run_lockstep"]

Planes = NDArray[np.uint8]
Floats = NDArray[np.float32]


class Policy(Protocol):
    def probabilities(self, planes: Planes) -> Floats: ...


class Value(Protocol):
    def values(self, planes: Planes) -> Floats: ...


class EvaluatorError(RuntimeError):
    """An evaluator failed while a search was waiting for it; the search ended with what it had."""


@dataclass(frozen=True)
class Evaluators:
    """The networks of a search, either of which may be missing."""

    policy: Policy | None = None
    value: Value | None = None

    def answer(self, policy_planes: Planes, value_planes: Planes) -> tuple[Floats | None, Floats | None]:
        """Priors and values for a batch's planes, None where nothing was asked."""
        priors = values = None
        if len(policy_planes) and self.policy is not None:
            priors = np.ascontiguousarray(self.policy.probabilities(policy_planes), np.float32)
        if len(value_planes) and self.value is not None:
            values = np.ascontiguousarray(self.value.values(value_planes), np.float32)
        return priors, values


def run_lockstep(
    searches: Sequence[Search], evaluators: Evaluators, simulations: int, leaves: int, threads: int = 1
) -> None:
    """Bring every search to `simulations` since its last move, in rounds of up to `leaves` leaves each.

    All leaves of a round go through the networks together. The trees depend on each search's seed, on
    `leaves` and on the answers, not on `threads` nor on which searches run together (as far as the networks'
    answers do not depend on the batch). An evaluator's exception ends the call; the searches remain usable.
    """
    active = list(searches)
    while active:
        batch = _core.collect_many(active, leaves, simulations, threads)
        if len(batch) == 0:
            return
        try:
            priors, values = evaluators.answer(*batch.take_planes())
            _core.deliver_many(batch, priors, values)
        except BaseException:
            batch.cancel()
            raise


class ThreadedDrive:
    """One search with `threads` search threads and one thread that asks the networks.

    The evaluator thread takes whatever leaves wait, up to `leaves`, so that batches form by themselves under
    load. When it fails the search stops at once and EvaluatorError is raised; when it is slow the search goes
    on without it, and ends on time.
    """

    _open: ClassVar[weakref.WeakSet[ThreadedDrive]] = weakref.WeakSet()
    _POLL = 0.05  # seconds between two looks at whether the drive has been closed
    _GRACE = 1.0  # seconds that a batch under evaluation is given when the search ends

    def __init__(self, search: Search, evaluators: Evaluators, threads: int = 1, leaves: int = 16) -> None:
        self.search, self.evaluators = search, evaluators
        self.threads, self.leaves = threads, leaves
        self._error: Exception | None = None
        self._closed = False
        self._threads: dict[int, Thread] = {}  # by the place of their loop

    def think(self, seconds: float | None = None, simulations: int = 0) -> None:
        """Search for a time, or until `simulations` more are done, whichever comes first."""
        if seconds is None and simulations <= 0:
            raise ValueError("a search needs seconds or simulations")
        self.start(simulations)
        end = time.monotonic() + (float("inf") if seconds is None else seconds)
        while not self.search.wait(max(0.0, min(end - time.monotonic(), 1.0))) and time.monotonic() < end:
            pass
        self.stop()

    def start(self, simulations: int = 0) -> None:
        """Search in the background (pondering) until `stop`."""
        self._error = None
        for place, loop in enumerate(self._loops()):
            if place not in self._threads or not self._threads[place].is_alive():
                self._closed = False
                self._threads[place] = Thread(target=loop, name="evaluator", daemon=True)
                self._threads[place].start()
                self._open.add(self)
        self._begin(simulations)

    def stop(self) -> None:
        """End the search; leaves that have no answer by then are given back. Raises EvaluatorError."""
        self.search.stop(0.0 if self._error else self._GRACE)
        if self._error is not None:
            error, self._error = self._error, None
            raise EvaluatorError(f"the evaluator failed: {error}") from error
        if self.search.failure:
            raise EvaluatorError(self.search.failure)

    @classmethod
    def close_all(cls) -> None:
        """For the end of the program, which must not find evaluator threads inside the core."""
        for drive in list(cls._open):
            drive.close()

    def close(self) -> None:
        """End search and evaluator thread. A network that never answers is left to itself."""
        self._closed = True
        self.search.stop()
        self.search.interrupt()
        end = time.monotonic() + self._GRACE
        for thread in self._threads.values():
            thread.join(max(0.0, end - time.monotonic()))

    def _begin(self, simulations: int) -> None:
        self.search.start(self.threads, simulations)

    def _loops(self) -> list[Callable[[], None]]:
        """What the threads beside the search threads do until the drive is closed."""
        asks = self.evaluators.policy is not None or self.evaluators.value is not None
        return [self._evaluate] if asks else []

    def _evaluate(self) -> None:
        while not self._closed:
            batch = self.search.wait_batch(self.leaves, self._POLL)
            if batch is None:
                continue
            try:
                priors, values = self.evaluators.answer(*batch.planes())
                self.search.deliver(batch, priors, values)
            except Exception as error:  # whatever a network may raise: told to the thread that waits
                self.search.cancel(batch)
                self._fail(error)
                return

    def _fail(self, error: Exception) -> None:
        self._error = error
        self.search.fail(f"the evaluator failed: {error}")


atexit.register(ThreadedDrive.close_all)
