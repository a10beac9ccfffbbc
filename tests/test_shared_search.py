"""A search with several workers: counts that add up, workers that die, come back, or are gone for good."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

import numpy as np
import pytest

from go_engine import Board, Search
from go_engine.search import EvaluatorError
from go_engine.shared_search import Root, SharedDrive, WorkerGone, WorkerLost, play_rollouts
from tests.search_helpers import BlackIsAhead, Floats, Planes, visits

SIMULATIONS = 1500


class Local:
    """A worker of this process that dies after some batches, for a time or for good."""

    def __init__(self, batches: float = float("inf"), seconds_away: float = float("inf")) -> None:
        self.batches, self.seconds_away = batches, seconds_away
        self.answered = self.lost = 0
        self._back_at = 0.0
        self._lock = threading.Lock()

    def _take_part(self) -> None:
        with self._lock:
            if self.answered >= self.batches:
                self.lost += 1
                self._back_at = time.monotonic() + self.seconds_away
                self.batches = float("inf") if self.seconds_away < float("inf") else 0
                raise WorkerLost("died")
            self.answered += 1

    def back(self, seconds: float) -> bool:
        if self._back_at == float("inf"):
            raise WorkerGone("gone for good")
        time.sleep(seconds / 10)
        return time.monotonic() >= self._back_at

    def answer(self, policy_planes: Planes, value_planes: Planes) -> tuple[Floats | None, Floats | None]:
        self._take_part()
        net = BlackIsAhead()
        priors = net.probabilities(policy_planes) if len(policy_planes) else None
        return priors, net.values(value_planes) if len(value_planes) else None

    def winners(self, root: Root, paths: Sequence[Sequence[int]], seed: int) -> list[int]:
        self._take_part()
        return play_rollouts(root, paths, None, seed)


def drive(networks: Sequence[Local], rollouts: Sequence[Local], **settings: float) -> SharedDrive:
    settings = {"use_policy": bool(networks), "use_value": bool(networks), "queue_limit": 32} | settings
    return SharedDrive(Search(Board(size=7), **settings), networks, rollouts, threads=2, leaves=4)


def test_every_rollout_that_is_played_elsewhere_counts_once() -> None:
    worker = Local()
    driver = drive([], [worker], expansion_threshold=4)
    driver.think(simulations=SIMULATIONS)
    search = driver.search
    assert worker.answered >= SIMULATIONS / 4
    assert visits(search) == SIMULATIONS
    assert all(abs(edge.wins) <= edge.visits for edge in search.edges())  # no virtual loss is left
    driver.think(simulations=100)
    assert visits(search) == SIMULATIONS + 100
    driver.close()


def test_rollouts_elsewhere_see_what_the_search_would() -> None:
    """Before Black's pass the game is Black's by one point, and a pass of White's ends it."""
    board = Board.from_text(". X . X .\n" * 2 + "X X X X X\n" + "O O O O O\n" + ". O . O .", komi=4.5)
    for passes in (0, 1):
        again = Root.of(board).board()
        assert (again.hash, again.to_play, again.komi) == (board.hash, board.to_play, board.komi)
        assert not again.is_over
        assert play_rollouts(Root.of(board), [[], [board.pass_move]] * 10, None, 1) == [1] * 20
        if passes == 0:
            board.play(board.pass_move)


@pytest.mark.parametrize("rollouts", [True, False])
def test_a_lost_worker_costs_nothing_but_what_it_was_asked(rollouts: bool) -> None:
    networks = [Local(batches=3), Local()]
    players = [Local(batches=3), Local()] if rollouts else []
    driver = drive(networks, players, use_rollouts=rollouts, expansion_threshold=2)
    driver.think(simulations=SIMULATIONS)
    search = driver.search
    for dead, alive in [networks, players] if rollouts else [networks]:
        assert dead.answered == 3
        assert 1 <= dead.lost <= 2  # the two batches that it had in its hands
        assert alive.answered > 3
    if rollouts:
        assert visits(search) == SIMULATIONS
    assert all(edge.values <= edge.visits for edge in search.edges())
    assert all(edge.value_sum == 0.5 * edge.values for edge in search.edges())
    driver.close()


def test_a_worker_that_comes_back_is_asked_again() -> None:
    networks = [Local(batches=3, seconds_away=0.3)]
    driver = drive(networks, [], use_rollouts=False, expansion_threshold=0)
    driver.think(simulations=SIMULATIONS)
    assert networks[0].lost >= 1
    assert networks[0].answered > 3
    driver.close()


def test_the_search_ends_when_nobody_is_left_and_keeps_what_it_has() -> None:
    driver = drive([Local(batches=3), Local(batches=2)], [], use_rollouts=False, expansion_threshold=0)
    with pytest.raises(EvaluatorError, match="gone for good"):
        driver.think(seconds=30)
    assert visits(driver.search) > 0
    driver.networks = [Local()]
    driver.think(simulations=100)
    assert driver.search.stats().simulations >= 100
    driver.close()


def test_a_worker_that_fails_ends_the_search_and_says_why() -> None:
    class Broken(Local):
        def winners(self, root: Root, paths: Sequence[Sequence[int]], seed: int) -> list[int]:  # noqa: ARG002
            return [7] * len(paths)

    driver = drive([], [Broken()])
    with pytest.raises(EvaluatorError, match="a winner, 1, -1 or 0"):
        driver.think(seconds=30)
    assert visits(driver.search) == 0
    driver.close()


def test_a_tree_goes_on_with_the_game() -> None:
    driver = drive([], [Local()], expansion_threshold=4)
    for _ in range(3):
        driver.think(simulations=200)
        move = driver.search.best_move()
        below = sum(edge.visits for edge in driver.search.edges([move]))
        driver.search.advance(move)
        assert visits(driver.search) == below
    assert np.isfinite(driver.search.best_value)
    driver.close()
