"""Random games, legal and illegal calls mixed, the engine against the slow referee after every move.

The default run is short. ALPHAGO_FUZZ_MOVES=300000 makes the long one.
"""

import os
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from referee import IllegalError, Referee, TooDeepError, feature_maps, ladder_maps

import go_engine
from go_engine import BLACK, WHITE, Board, IllegalMoveError

LONG_RUN = int(os.environ.get("ALPHAGO_FUZZ_MOVES", "0"))
RULES = ["simple", "positional", "situational"]
REASONS = {"occupied": "occupied", "ko": "retakes a ko", "suicide": "suicide", "superko": "superko"}


def check_state(board: Board, referee: Referee) -> None:
    size, stones = referee.size, referee.stones
    assert board.grid().ravel().tolist() == stones.grid
    assert board.to_play == referee.to_play
    assert board.move_number == referee.move_number
    assert board.is_over == (referee.passes >= 2)
    assert board.ko_point == (referee.ko[0] if referee.ko else None)
    assert board.area_score() == stones.area() - board.komi
    liberties = board.liberties().ravel()
    seen: set[int] = set()
    for point, colour in enumerate(stones.grid):
        if colour == 0:
            assert liberties[point] == 0
        elif point not in seen:
            chain = stones.region(point)[0]
            seen |= chain
            assert {int(liberties[s]) for s in chain} == {len(stones.liberties(point))}, (size, point)


def check_masks(board: Board, referee: Referee) -> None:
    points = range(referee.size**2)
    legal = [referee.legal(p, referee.to_play) for p in points]
    assert board.legal_mask().tolist() == [*legal, True]
    eyes = [referee.stones.eye(p, referee.to_play) for p in points]
    assert board.sensible_mask().tolist() == [a and not e for a, e in zip(legal, eyes, strict=True)]


def check_planes(board: Board, referee: Referee) -> None:
    size = referee.size
    expected = np.zeros((49, size * size), np.uint8)
    maps = feature_maps(referee)
    for plane, name in ((0, "own"), (1, "enemy"), (2, "empty"), (46, "sensible")):
        expected[plane, list(maps[name])] = 1
    groups = {"turns": 4, "liberties": 12, "capture": 20, "self_atari": 28, "after": 36}
    for name, first in groups.items():
        for point, value in maps[name].items():
            if value > 0:
                expected[first + min(value, 8) - 1, point] = 1
    expected[3] = 1
    expected[48] = referee.to_play == BLACK
    planes = go_engine.planes(board, True).reshape(49, -1)
    try:
        for plane, points in zip((44, 45), ladder_maps(referee), strict=True):
            expected[plane, sorted(points)] = 1
    except TooDeepError:
        expected[44:46] = planes[44:46]
    for plane in range(49):
        assert planes[plane].tolist() == expected[plane].tolist(), f"plane {plane}\n{board}"


def both_play(board: Board, referee: Referee, move: int, colour: int) -> bool:
    """Plays on both sides if legal; the engine must refuse what the referee refuses, for its reason."""
    try:
        taken = referee.play(move, colour)
    except IllegalError as error:
        before = (board.hash, board.move_number, board.to_play)
        with pytest.raises(IllegalMoveError, match=REASONS[str(error)]):
            board.play(move, colour)
        assert (board.hash, board.move_number, board.to_play) == before
        return False
    assert board.play(move, colour) == taken
    return True


def random_moves(rng: np.random.Generator, referee: Referee) -> Iterator[tuple[int, int]]:
    """Mostly a random point for the side to move; now and then a pass, or the same colour twice."""
    size = referee.size
    while True:
        colour = -referee.to_play if rng.random() < 0.03 else referee.to_play
        yield (size * size if rng.random() < 0.02 else int(rng.integers(size * size))), colour


def play_random_game(rng: np.random.Generator, size: int, rule: str, limit: int, thorough: float) -> int:
    """One game of at most `limit` moves; a share `thorough` of them is followed by masks and planes."""
    board, referee = Board(size, ko_rule=rule), Referee(size, rule)
    hashes = {board.hash: tuple(referee.stones.grid)}
    played = tries = 0
    for move, colour in random_moves(rng, referee):
        tries += 1
        if played == limit or tries > 6 * limit:
            return played
        if not both_play(board, referee, move, colour):
            continue
        played += 1
        assert hashes.setdefault(board.hash, tuple(referee.stones.grid)) == tuple(referee.stones.grid)
        if rng.random() < 0.3:
            check_state(board, referee)
        if rng.random() < thorough:
            check_state(board, referee)
            check_masks(board, referee)
            if rng.random() < 0.3:
                check_planes(board, referee)
    return played


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("size", [2, 3, 4, 5, 7, 9, 13, 19])
def test_random_games_agree_with_the_referee(size: int, rule: str) -> None:
    rng = np.random.default_rng([size, RULES.index(rule)])
    thorough = min(0.5, 12 / size**2)
    play_random_game(rng, size, rule, 100 + size * size // 2, thorough)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    st.integers(2, 5),
    st.sampled_from(RULES),
    st.lists(st.tuples(st.integers(0, 25), st.booleans()), max_size=60),
)
def test_any_sequence_of_moves_agrees_with_the_referee(
    size: int, rule: str, moves: list[tuple[int, bool]]
) -> None:
    board, referee = Board(size, ko_rule=rule), Referee(size, rule)
    for move, switch in moves:
        colour = -referee.to_play if switch and move % 7 == 0 else referee.to_play
        both_play(board, referee, min(move, size * size), colour)
    check_state(board, referee)
    check_masks(board, referee)
    check_planes(board, referee)


def test_setup_then_play_agrees_with_the_referee() -> None:
    rng = np.random.default_rng(11)
    for _ in range(20):
        size = int(rng.integers(3, 10))
        stones = rng.permutation(size * size)[: size * size // 4]
        referee = Referee(size, "positional", WHITE)
        for i, point in enumerate(stones.tolist()):
            referee.stones.grid[point] = BLACK if i % 2 else WHITE
        if any(not referee.stones.liberties(p) for p in stones.tolist()):
            continue
        referee.history.clear()
        referee._remember()
        board = Board(size)
        board.setup(black=stones[1::2].tolist(), white=stones[::2].tolist(), to_play=WHITE)
        for move, colour in random_moves(rng, referee):
            both_play(board, referee, move, colour)
            if referee.move_number > 40:
                break
        check_state(board, referee)
        check_masks(board, referee)
        check_planes(board, referee)


@pytest.mark.skipif(LONG_RUN == 0, reason="ALPHAGO_FUZZ_MOVES is not set")
@pytest.mark.timeout(0)
def test_long_run() -> None:
    rng = np.random.default_rng(int(os.environ.get("ALPHAGO_FUZZ_SEED", "3")))
    played = 0
    while played < LONG_RUN:
        size, rule = int(rng.integers(2, 20)), str(rng.choice(RULES))
        played += play_random_game(rng, size, rule, 100 + 2 * size * size, min(0.25, 3 / size**2))
