"""The search in lock-step: signs, averages, virtual losses, symmetries, reuse, determinism, memory."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from go_engine import BLACK, WHITE, Board, Search, inverse_symmetry, planes, symmetry, vertex
from go_engine.search import Evaluators, run_lockstep
from tests.search_helpers import BesideEnemies, BlackIsAhead, Uniform, searched, statistics, visits

CASES = Path(__file__).parents[2] / "shared" / "cases" / "mcts" / "cases.jsonl"

# Black's stones die in the end even if the six are not taken at once, and every rollout is White's: a search
# that knows won and lost alone cannot prefer the capture that this case names.
WON_WHATEVER_WHITE_PLAYS = "mcts-take-six"

BLACK_HAS_WON = """
. X . X .
X X X X X
X X X X X
O O O X X
. O . O X
"""


def board_of(diagram: str, to_play: int = BLACK, komi: float = 0.5) -> Board:
    board = Board.from_text(diagram, komi=komi)
    board.to_play = to_play
    return board


@pytest.mark.parametrize("to_play", [BLACK, WHITE])
def test_values_have_the_sign_of_the_player_who_chooses(to_play: int) -> None:
    board = Board(size=5)
    board.to_play = to_play
    search = searched(board, 200, net=BlackIsAhead(), mixing=0.0, expansion_threshold=0, use_rollouts=False)
    for path, player in (([], to_play), ([search.best_move()], -to_play)):
        tried = [edge for edge in search.edges(path) if edge.values > 0]
        assert tried
        for edge in tried:
            assert edge.value_sum / edge.values == 0.5 * player
            assert edge.q == 0.5 * player


@pytest.mark.parametrize("to_play", [BLACK, WHITE])
def test_rollouts_have_the_sign_of_the_player_who_chooses(to_play: int) -> None:
    search = searched(board_of(BLACK_HAS_WON, to_play, komi=-20.0), 100, expansion_threshold=0)
    for path, player in (([], to_play), ([search.best_move()], -to_play)):
        tried = [edge for edge in search.edges(path) if edge.visits > 0]
        assert tried
        assert all(edge.wins == edge.visits * player for edge in tried)


def test_the_averages_are_mixed_and_not_the_samples() -> None:
    search = searched(Board(size=5), 600, net=BlackIsAhead(), mixing=0.25, expansion_threshold=15)
    uneven = [edge for edge in search.edges() if 0 < edge.values < edge.visits]
    assert uneven
    for edge in uneven:
        mixed = 0.75 * edge.value_sum / edge.values + 0.25 * edge.wins / edge.visits
        assert edge.q == pytest.approx(mixed, abs=1e-5)


def test_the_value_of_a_position_is_asked_once() -> None:
    net = Uniform()
    search = searched(Board(size=5), 2000, net=net, expansion_threshold=100_000)
    assert net.values_asked == 25
    assert all(edge.values == 1 for edge in search.edges())


def test_a_position_becomes_a_node_above_the_threshold() -> None:
    search = searched(Board(size=5), 300, expansion_threshold=7)
    for edge in search.edges():
        assert edge.expanded == (edge.visits > 7)


@pytest.mark.parametrize("rollouts", [False, True])
def test_virtual_losses_return_to_zero(rollouts: bool) -> None:
    search = Search(Board(size=5), expansion_threshold=0, use_rollouts=rollouts, seed=3)
    net = Uniform()
    run_lockstep([search], Evaluators(net, net), 50, 8)
    assert visits(search) == 50
    batch = search.collect(8, 1000)
    assert len(batch) > 0
    search.cancel(batch)
    assert visits(search) == search.stats().simulations - (0 if rollouts else len(batch))
    run_lockstep([search], Evaluators(net, net), 200, 8)
    total = 200 if rollouts else 200 - len(batch)
    assert visits(search) == total
    assert all(abs(edge.wins) <= edge.visits for edge in search.edges())


def test_the_same_seed_gives_the_same_tree() -> None:
    def tree(seed: int) -> list[tuple]:
        return statistics(searched(Board(size=7), 300, net=Uniform(), expansion_threshold=2, seed=seed))

    assert tree(5) == tree(5)
    assert tree(5) != tree(6)


def test_searches_side_by_side_do_not_influence_each_other() -> None:
    net = BesideEnemies()
    alone = [searched(Board(size=5), 60, net=net, seed=s, expansion_threshold=0) for s in range(6)]
    together = [Search(Board(size=5), seed=s, expansion_threshold=0) for s in range(6)]
    run_lockstep(together, Evaluators(net, net), 60, 4, threads=3)
    assert [statistics(s) for s in together] == [statistics(s) for s in alone]


@pytest.mark.parametrize("seed", range(12))
def test_priors_are_turned_back(seed: int) -> None:
    board = Board(size=5)
    board.play(6)
    search = searched(board, 1, net=BesideEnemies(), seed=seed, wait_for_priors=True)
    priors = {edge.move: edge.prior for edge in search.edges()}
    for move, prior in priors.items():
        assert prior == pytest.approx(0.25 if move in (1, 5, 7, 11) else 0.0, abs=1e-3)


def test_networks_see_the_position_under_all_symmetries() -> None:
    board = Board(size=5)
    for move in (1, 8, 17):
        board.play(move)
    images = [symmetry(planes(board), k).tobytes() for k in range(8)]
    seen = set()
    for seed in range(60):
        search = Search(board, seed=seed)
        policy_planes, _ = search.collect(1, 1).planes()
        seen.add(images.index(policy_planes[0].tobytes()))
    assert seen == set(range(8))
    assert inverse_symmetry(0) == 0


def test_priors_are_raised_to_beta_and_both_kinds_are_kept() -> None:
    class Skewed(Uniform):
        def probabilities(self, planes: np.ndarray) -> np.ndarray:
            p = np.where(planes[:, 1].reshape(len(planes), -1) == 0, 1.0, 9.0)  # unlikely beside nothing
            p[:, :] = np.arange(1, p.shape[1] + 1)
            return (p / p.sum(axis=1, keepdims=True)).astype(np.float32)

    search = searched(Board(size=5), 1, net=Skewed(), beta=0.5, wait_for_priors=True)
    edges = search.edges()
    got = sorted(edge.prior for edge in edges)
    expected = np.sqrt(np.arange(1, 26)) / np.sqrt(np.arange(1, 26)).sum()
    assert got == pytest.approx(expected.tolist(), rel=3e-3)
    assert all(edge.placeholder == pytest.approx(1 / 25, rel=1e-3) for edge in edges)


def test_a_move_keeps_its_subtree() -> None:
    search = searched(Board(size=5), 800, net=BlackIsAhead(), expansion_threshold=3)
    move = search.best_move()
    reply = max(search.edges([move]), key=lambda e: e.visits).move
    below, deeper = statistics(search, [move]), statistics(search, [move, reply])
    search.advance(move)
    assert statistics(search) == below
    assert statistics(search, [reply]) == deeper
    assert search.board.to_play == WHITE
    search.advance(reply)
    assert statistics(search) == deeper


def test_follow_recognises_the_game() -> None:
    board = Board(size=5)
    search = searched(board, 500, expansion_threshold=3)
    move = search.best_move()
    reply = max(search.edges([move]), key=lambda e: e.visits).move
    deeper = statistics(search, [move, reply])
    board.play(move)
    board.play(reply)
    assert search.follow(board)
    assert statistics(search) == deeper
    assert search.follow(board)
    other = Board(size=5)
    other.play(0)
    assert not search.follow(other)
    assert visits(search) == 0


def test_the_tree_stops_growing_when_its_memory_is_used_up() -> None:
    search = searched(Board(size=9), 6000, expansion_threshold=0, memory_mb=1, use_rollouts=False)
    stats = search.stats()
    assert stats.full
    assert stats.bytes <= 1 << 20
    assert stats.simulations == 6000 == visits(search)
    search.advance(search.best_move())
    assert not search.stats().full


def test_bad_answers_are_refused() -> None:
    search = Search(Board(size=5), use_value=False)
    batch = search.collect(1, 1)
    with pytest.raises(ValueError, match="25 priors needed, 24 given"):
        search.deliver(batch, np.zeros(24, np.float32))
    with pytest.raises(ValueError, match="not finite"):
        search.deliver(batch, np.full((1, 25), np.nan, np.float32))
    run_lockstep([search], Evaluators(Uniform()), 10, 4)
    assert visits(search) == 10


def test_a_failing_network_leaves_the_search_usable() -> None:
    class Broken(Uniform):
        def values(self, planes: np.ndarray) -> np.ndarray:  # noqa: ARG002
            raise RuntimeError("out of order")

    search = Search(Board(size=5), expansion_threshold=0, use_policy=False, use_rollouts=False)
    with pytest.raises(RuntimeError, match="out of order"):
        run_lockstep([search], Evaluators(None, Broken()), 50, 8)
    assert visits(search) == 0
    run_lockstep([search], Evaluators(None, Uniform()), 50, 8)
    assert 0 < visits(search) <= 50


@pytest.mark.parametrize(
    ("setting", "value"), [("mixing", 1.5), ("c_puct", -1.0), ("memory_mb", 0), ("virtual_loss", -1)]
)
def test_parameters_out_of_range_are_named(setting: str, value: float) -> None:
    with pytest.raises(ValueError, match=setting):
        Search(Board(size=5), **{setting: value})
    with pytest.raises(TypeError, match="no parameter 'exploration'"):
        Search(Board(size=5), exploration=1)


@pytest.mark.skipif(not CASES.exists(), reason="the shared cases are not here")
@pytest.mark.parametrize("line", CASES.read_text().splitlines() if CASES.exists() else [])
def test_small_positions_with_a_known_answer(line: str) -> None:
    case = json.loads(line)
    to_play = BLACK if case["to_move"] == "B" else WHITE
    board = board_of("\n".join(case["board"]), to_play, case["komi"])
    search = searched(board, 20_000, expansion_threshold=10)
    if case["best"] is None:
        assert (search.best_value * to_play > 0) == case["black_wins"], case["why"]
    elif case["id"] == WON_WHATEVER_WHITE_PLAYS:
        assert search.best_value > 0.95
    else:
        assert vertex(search.best_move(), board.size) in case["best"], case["why"]
