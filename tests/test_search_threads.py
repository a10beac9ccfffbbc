"""The search in threads: counts that add up, networks that fail, hang or lag, a threshold that follows."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from go_engine import Board, Search
from go_engine.search import EvaluatorError, Evaluators, ThreadedDrive
from tests.search_helpers import BlackIsAhead, Uniform, visits

ROOT = Path(__file__).parents[1]


def drive(net: Uniform | None, threads: int = 2, **settings: float) -> ThreadedDrive:
    settings = {"use_policy": net is not None, "use_value": net is not None} | settings
    search = Search(Board(size=7), **settings)
    return ThreadedDrive(search, Evaluators(net, net), threads, leaves=8)


@pytest.mark.parametrize("rollouts", [True, False])
def test_every_simulation_is_counted_once(rollouts: bool) -> None:
    net = BlackIsAhead()
    driver = drive(net, threads=4, use_rollouts=rollouts, expansion_threshold=2)
    driver.think(simulations=2000)
    stats = driver.search.stats()
    given_back = stats.simulations - visits(driver.search)
    assert stats.simulations == 2000
    assert given_back == 0 if rollouts else 0 <= given_back <= stats.leaves - net.values_asked
    assert all(edge.values <= edge.visits for edge in driver.search.edges())
    assert all(edge.value_sum == 0.5 * edge.values for edge in driver.search.edges())
    driver.close()


def test_rollouts_without_networks_need_no_evaluator() -> None:
    driver = drive(None, threads=3, expansion_threshold=10)
    driver.think(simulations=3000)
    assert visits(driver.search) == 3000
    driver.think(simulations=500)
    assert visits(driver.search) == 3500
    driver.close()


def test_the_clock_ends_a_search() -> None:
    driver = drive(None)
    begin = time.monotonic()
    driver.think(seconds=0.2)
    assert 0.2 <= time.monotonic() - begin < 2.0
    assert visits(driver.search) > 0
    driver.close()


def test_a_failing_network_ends_the_search_and_says_why() -> None:
    class Broken(Uniform):
        def values(self, planes: np.ndarray) -> np.ndarray:  # noqa: ARG002
            raise RuntimeError("out of order")

    driver = drive(Broken(), use_rollouts=False, expansion_threshold=0)
    begin = time.monotonic()
    with pytest.raises(EvaluatorError, match="out of order"):
        driver.think(seconds=30)
    assert time.monotonic() - begin < 10
    driver.evaluators = Evaluators(Uniform(), Uniform())
    driver.think(simulations=100)
    assert driver.search.stats().simulations >= 100
    driver.close()


@pytest.mark.parametrize("rollouts", [True, False])
def test_a_network_that_never_answers_does_not_hold_the_search(rollouts: bool) -> None:
    freed = threading.Event()

    class Hanging(Uniform):
        def probabilities(self, planes: np.ndarray) -> np.ndarray:
            freed.wait(60)
            return super().probabilities(planes)

    driver = drive(Hanging(), use_rollouts=rollouts, expansion_threshold=0)
    begin = time.monotonic()
    driver.think(seconds=0.3)
    assert time.monotonic() - begin < 10
    if rollouts:
        assert visits(driver.search) > 100
    freed.set()
    driver.close()


def test_the_threshold_rises_while_the_networks_lag_and_falls_again() -> None:
    class Slow(Uniform):
        delay = 0.005

        def values(self, planes: np.ndarray) -> np.ndarray:
            time.sleep(self.delay)
            return super().values(planes)

    net = Slow()
    driver = drive(net, expansion_threshold=1, max_threshold=60, queue_limit=16, use_rollouts=True)
    driver.leaves = 2
    driver.think(seconds=0.5)
    raised = driver.search.stats().threshold
    assert 1 < raised <= 60
    assert driver.search.stats().skipped > 0
    driver.close()


def test_pondering_keeps_the_tree_for_the_next_move() -> None:
    driver = drive(Uniform(), expansion_threshold=2)
    driver.start()
    time.sleep(0.3)
    driver.stop()
    search = driver.search
    move = search.best_move()
    below = {edge.move: edge.visits for edge in search.edges([move])}
    assert sum(below.values()) > 0
    search.advance(move)
    assert {edge.move: edge.visits for edge in search.edges()} == below
    driver.close()


def test_a_running_search_refuses_what_would_break_it() -> None:
    driver = drive(None)
    driver.start()
    with pytest.raises(RuntimeError, match="stop it before"):
        driver.search.advance(0)
    with pytest.raises(RuntimeError, match="running already"):
        driver.search.start(1)
    with pytest.raises(RuntimeError, match="use wait_batch"):
        driver.search.collect(1, 1)
    driver.close()


def test_a_program_may_end_without_closing() -> None:
    program = """
from go_engine import Board, Search
from go_engine.search import Evaluators, ThreadedDrive
from tests.search_helpers import Uniform
drive = ThreadedDrive(Search(Board(5)), Evaluators(Uniform(), Uniform()))
drive.think(simulations=50)
drive.start()
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
