"""The same games come out whatever their number at once, the batch size and the threads."""

from __future__ import annotations

from collections.abc import Iterator
from threading import get_ident

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from go_engine import GameBatch
from models.evaluators import PolicyEvaluator
from models.networks import PolicyNet
from tasks.match import Match, play_match
from tasks.self_play import NOBODY, Games, Seat, SelfPlay, Turn, game_seeds

SIZE = 5


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class Uniform:
    """The policy of a player that knows nothing; counts its calls."""

    accelerated = False

    def __init__(self) -> None:
        self.calls: list[int] = []

    def probabilities(self, planes: NDArray[np.uint8]) -> NDArray[np.float32]:
        points = planes.shape[2] * planes.shape[3]
        self.calls.append(len(planes))
        return np.full((len(planes), points), 1 / points, dtype=np.float32)


class Greedy:
    """Takes what can be taken, else plays anywhere: beats the uniform player nearly always."""

    accelerated = False

    def probabilities(self, planes: NDArray[np.uint8]) -> NDArray[np.float32]:
        takes = planes[:, 20:28].any(axis=1)
        return np.where(takes, 100.0, 1.0).reshape(len(planes), -1).astype(np.float32)


def evaluator(seed: int, size: int = SIZE) -> PolicyEvaluator:
    torch.manual_seed(seed)
    net = PolicyNet(size, filters=8, layers=2)
    with torch.no_grad():  # far from uniform, so that the last digits matter
        net.head.weight *= 20
    return PolicyEvaluator(net)


def record_games(at_once: int, batch_size: int, threads: int = 1, count: int = 40) -> list[tuple[int, ...]]:
    """Moves of `count` games between two networks, `at_once` of them on the boards at a time."""
    seeds = game_seeds(7, count=count)
    games = GameBatch(at_once, size=SIZE)
    number = np.full(at_once, -1)
    done: dict[int, tuple[int, ...]] = {}
    following = iter(range(count))

    def on_moved(moved: Games) -> None:
        for game in moved:
            if number[game] < 0 or games.over[game]:
                if number[game] >= 0:
                    done[number[game]] = tuple(games.moves(game))
                number[game] = next(following, -1)
                if number[game] < 0:
                    play.seat_of[game] = NOBODY
                    continue
                games.reset(np.array([game], dtype=np.int32))
                play.seed_of[game] = seeds[number[game]]
            play.seat_of[game] = games.move_numbers[game] % 2

    play = SelfPlay(
        games, [Seat(evaluator(1)), Seat(evaluator(2), 1.5)], batch_size, on_moved, threads=threads
    )
    on_moved(np.arange(at_once, dtype=np.int32))
    play.run()
    assert len(done) == count
    assert play.evaluated == sum(len(moves) for moves in done.values())
    return [done[i] for i in range(count)]


@pytest.mark.parametrize(
    ("at_once", "batch_size", "threads"), [(40, 32, 1), (3, 32, 1), (17, 64, 3), (40, 16, 2)]
)
def test_the_same_games_whatever_the_batches(at_once: int, batch_size: int, threads: int) -> None:
    assert record_games(at_once, batch_size, threads) == record_games(9, 32)


def test_every_call_has_the_same_shape_and_most_are_full() -> None:
    first, second = Uniform(), Uniform()
    match = play_match(Seat(first), Seat(second), game_seeds(0, count=128), SIZE, 7.5, batch_size=32)
    calls = len(first.calls) + len(second.calls)
    assert set(first.calls + second.calls) == {32}
    assert int(match.plies.sum()) / (32 * calls) > 0.75


def test_a_turn_shows_the_positions_that_the_moves_were_played_in() -> None:
    turns: list[tuple[int, NDArray[np.int32], NDArray[np.uint8], NDArray[np.int32], NDArray[np.int32]]] = []

    def keep(turn: Turn) -> None:
        turns.append((turn.seat, turn.games, turn.planes.copy(), turn.moves, turn.plies))

    seats = Seat(evaluator(1)), Seat(evaluator(2))
    match = play_match(*seats, game_seeds(3, count=10), SIZE, 7.5, batch_size=4, on_turn=keep)
    assert sum(len(games) for _, games, *_ in turns) == match.plies.sum()
    for seat, games, planes, moves, plies in turns:
        assert ((games + plies) % 2 == seat).all()  # the first seat has Black in even games
        stones = planes[:, 0].sum((1, 2)) + planes[:, 1].sum((1, 2))
        assert (stones <= plies).all()
        played = moves < SIZE * SIZE
        sensible = planes[:, 46].reshape(len(moves), -1)
        assert sensible[played, moves[played]].all()
        assert not sensible[~played].any()


def test_a_strong_player_beats_a_weak_one_with_both_colours() -> None:
    """Trap T12: a win rate that is always 0, or counted for the wrong side."""
    seeds = game_seeds(1, count=200)

    def by_colour(match: Match) -> tuple[float, float]:
        return float(np.mean(match.outcomes[::2] == 1)), float(np.mean(match.outcomes[1::2] == 1))

    strong_first = play_match(Seat(Greedy()), Seat(Uniform()), seeds, 7, 0.5, batch_size=64)
    weak_first = play_match(Seat(Uniform()), Seat(Greedy()), seeds, 7, 0.5, batch_size=64)
    assert min(by_colour(strong_first)) > 0.6
    assert max(by_colour(weak_first)) < 0.4
    assert strong_first.wins / strong_first.games > 0.7 > 0.3 > weak_first.wins / weak_first.games


@pytest.mark.parametrize(
    ("threads", "accelerated", "beside"), [(1, False, False), (2, False, True), (1, True, True)]
)
def test_a_worker_of_one_thread_is_one_core(threads: int, accelerated: bool, beside: bool) -> None:
    """Two workers then take two cores; a network on a device of its own leaves this one to the engine."""
    policy, engine_threads = Uniform(), set()
    policy.accelerated = accelerated
    play_match(
        Seat(policy),
        Seat(policy),
        game_seeds(1, count=4),
        SIZE,
        7.5,
        batch_size=4,
        threads=threads,
        on_turn=lambda _: engine_threads.add(get_ident()),
    )
    assert (get_ident() not in engine_threads) == beside
    assert len(engine_threads) == 1


def test_errors_of_a_policy_come_out() -> None:
    class Broken:
        accelerated = False

        def probabilities(self, planes: NDArray[np.uint8]) -> NDArray[np.float32]:
            raise RuntimeError(f"no power for {len(planes)}")

    with pytest.raises(RuntimeError, match="no power"):
        play_match(Seat(Uniform()), Seat(Broken()), game_seeds(1, count=4), SIZE, 7.5, batch_size=4)


def test_seeds_differ_between_streams_and_games() -> None:
    seeds = np.concatenate(
        [game_seeds(0, 1, count=50), game_seeds(0, 2, count=50), game_seeds(1, 1, count=50)]
    )
    assert len(set(seeds.tolist())) == 150
    assert (game_seeds(0, 1, count=50)[:20] == game_seeds(0, 1, count=20)).all()
