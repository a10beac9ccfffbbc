"""A search whose leaves are answered by several workers, which may be lost: the distributed search's core.

The tree and the search threads are here; network workers answer batches of leaves, rollout workers play the
rollouts. Both are known only by their calls, so that they may be anywhere (`models.search_cluster` has them
on Ray). A worker that is lost raises WorkerLost: its batch goes back into the queue, where another worker
finds it, and the worker is asked for nothing until it is back.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from threading import Lock
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from go_engine._core import Board, LeafBatch, RolloutPolicy, Search, random_playouts
from go_engine.search import Evaluators, Floats, Planes, ThreadedDrive

IN_FLIGHT = 2  # batches that each worker has: one under way, one that waits behind it
MAX_SEED = 2**63


class WorkerLost(RuntimeError):
    """A worker died, or does not answer: what it was asked is to be asked elsewhere."""


class WorkerGone(RuntimeError):
    """A worker was lost and will not come back."""


class Root(NamedTuple):
    """A position as far as rollouts from positions below it depend on it.

    How it came about is left out: features of rollout policies that look at the last two moves miss the one
    before the root, and no ko of the root is known, which the next move ends anyway.
    """

    stones: bytes  # int8[size * size], 1 Black, -1 White
    size: int
    komi: float
    to_play: int
    passed: bool  # the last move was a pass

    @classmethod
    def of(cls, board: Board) -> Root:
        passed = board.last_move == board.pass_move
        return cls(board.grid().tobytes(), board.size, board.komi, board.to_play, passed)

    def board(self) -> Board:
        board = Board(self.size, self.komi)
        stones = np.frombuffer(self.stones, np.int8)
        black, white = (np.flatnonzero(stones == colour).tolist() for colour in (1, -1))
        board.setup(black, white, -self.to_play if self.passed else self.to_play)
        if self.passed:
            board.play(board.pass_move)
        return board


class Worker(Protocol):
    def back(self, seconds: float) -> bool:
        """Whether a worker that was lost can be asked again; may wait so long. Raises WorkerGone."""
        ...


class NetworkWorker(Worker, Protocol):
    def answer(self, policy_planes: Planes, value_planes: Planes) -> tuple[Floats | None, Floats | None]:
        """As `Evaluators.answer`. Raises WorkerLost."""
        ...


class RolloutWorker(Worker, Protocol):
    def winners(self, root: Root, paths: Sequence[Sequence[int]], seed: int) -> list[int]:
        """As `play_rollouts`. Raises WorkerLost."""
        ...


class Here(NamedTuple):
    """This process as a network worker."""

    evaluators: Evaluators

    def answer(self, policy_planes: Planes, value_planes: Planes) -> tuple[Floats | None, Floats | None]:
        return self.evaluators.answer(policy_planes, value_planes)

    def back(self, seconds: float) -> bool:  # noqa: ARG002
        return True


AnyWorker = TypeVar("AnyWorker", bound=Worker)


def play_rollouts(
    root: Root, paths: Sequence[Sequence[int]], policy: RolloutPolicy | None, seed: int
) -> list[int]:
    """The winner (1 Black, -1 White, 0 neither) of one rollout from the end of each path below the root.

    Without a policy they are uniform. Replies of the tree (`use_replies`) are not known here.
    """
    start, winners = root.board(), []
    for number, path in enumerate(paths):
        board = start.copy()
        for move in path:
            board.play(move)
        play = random_playouts if policy is None else policy.playouts
        winners.append(int(play(board, 1, (seed + number) % MAX_SEED)[0][0]))
    return winners


class SharedDrive(ThreadedDrive):
    """A drive with workers: `leaves` is what one is asked at once, leaves of networks and rollouts alike.

    The search threads hand the rollouts out if there are rollout workers, and play them themselves if there
    are none. When the last worker of a kind is gone the search fails as with a failing evaluator.
    """

    def __init__(
        self,
        search: Search,
        networks: Sequence[NetworkWorker],
        rollouts: Sequence[RolloutWorker],
        threads: int = 1,
        leaves: int = 16,
    ) -> None:
        super().__init__(search, Evaluators(), threads, leaves)
        self.networks, self.rollouts = list(networks), list(rollouts)
        self._root = Root.of(search.board)
        self._random = np.random.default_rng(search.params.seed)
        self._lock = Lock()  # of the random numbers and of those that are gone
        self._gone: set[int] = set()

    def start(self, simulations: int = 0) -> None:
        self._root = Root.of(self.search.board)
        with self._lock:
            self._gone.clear()
        super().start(simulations)

    def _begin(self, simulations: int) -> None:
        self.search.start(self.threads, simulations, hand_out_rollouts=bool(self.rollouts))

    def _loops(self) -> list[Callable[[], None]]:
        take_leaves, take_rollouts = self.search.wait_batch, self.search.wait_rollouts
        asked = [
            partial(self._serve, worker, self.networks, take_leaves, self._evaluate_on)
            for worker in self.networks
        ]
        played = [
            partial(self._serve, worker, self.rollouts, take_rollouts, self._play_on)
            for worker in self.rollouts
        ]
        return [loop for loop in (*asked, *played) for _ in range(IN_FLIGHT)]

    def _serve(
        self,
        worker: AnyWorker,
        kind: Sequence[AnyWorker],
        take: Callable[[int, float], LeafBatch | None],
        ask: Callable[[AnyWorker, LeafBatch], None],
    ) -> None:
        """Batch after batch through one worker, until the drive is closed or the worker is gone."""
        while not self._closed:
            batch = take(self.leaves, self._POLL)
            if batch is None:
                continue
            try:
                ask(worker, batch)
            except WorkerLost:
                self.search.retry(batch)
                if not self._comes_back(worker, kind):
                    return
            except Exception as error:  # whatever a worker may raise: told to the thread that waits
                if not self.search.cancel(batch):  # of a position that the game has left
                    continue
                self._fail(error)
                return

    def _evaluate_on(self, worker: NetworkWorker, batch: LeafBatch) -> None:
        self.search.deliver(batch, *worker.answer(*batch.planes()))

    def _play_on(self, worker: RolloutWorker, batch: LeafBatch) -> None:
        with self._lock:
            seed = int(self._random.integers(MAX_SEED))
        self.search.deliver_rollouts(batch, worker.winners(self._root, batch.paths(), seed))

    def _comes_back(self, worker: AnyWorker, kind: Sequence[AnyWorker]) -> bool:
        """Waits for a lost worker; false when the drive was closed or the worker is gone."""
        try:
            while not self._closed:
                begin = time.monotonic()
                if worker.back(self._POLL):
                    return True
                time.sleep(max(0.0, begin + self._POLL - time.monotonic()))
        except WorkerGone as error:
            with self._lock:
                self._gone.add(id(worker))
                none_left = all(id(other) in self._gone for other in kind)
            if none_left:
                self._fail(error)
        return False
