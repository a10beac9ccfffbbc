"""Replaying recorded games: the same planes as move by move, whatever the form, order and threads."""

import numpy as np
import pytest

import go_engine
from go_engine import (
    BLACK,
    WHITE,
    Board,
    IllegalMoveError,
    ReplayGame,
    check_game,
    planes,
    replay_planes,
    replay_planes_games,
    symmetry,
)


def random_game(size: int, plies: int, seed: int) -> tuple[list[int], list[int], list[np.ndarray]]:
    """Moves, colours and the planes before every move (and after the last), made move by move."""
    rng = np.random.default_rng(seed)
    board = Board(size, ko_rule="simple")
    moves, colours, seen = [], [], [planes(board, True)]
    for _ in range(plies):
        choice = np.flatnonzero(board.legal_mask())
        moves.append(int(rng.choice(choice)))
        colours.append(board.to_play)
        board.play(moves[-1])
        seen.append(planes(board, True))
    return moves, colours, seen


@pytest.mark.parametrize("size", [2, 5, 9, 13, 19])
def test_every_ply_under_every_symmetry(size: int) -> None:
    moves, colours, seen = random_game(size, 40, size)
    plies = np.repeat(np.arange(41), 2)
    symmetries = np.random.default_rng(0).integers(0, 8, plies.size)
    expected = np.stack([symmetry(seen[t], int(k)) for t, k in zip(plies, symmetries, strict=True)])
    for colour in (False, True):
        rows = replay_planes(size, [], [], moves, colours, plies, symmetries, player_colour=colour)
        want = expected if colour else expected[:, :48]
        assert (rows == want).all()
        packed = replay_planes(size, [], [], moves, colours, plies, symmetries, colour, packed=True)
        assert (packed == np.packbits(want.reshape(len(plies), -1), axis=1)).all()


def test_many_games_on_threads_are_the_games_one_after_the_other() -> None:
    games = []
    for seed in range(12):
        moves, colours, _ = random_game(9, 20 + seed, seed)
        games.append(
            ReplayGame(
                9, [], [], moves, colours, range(seed % 3, 20, 3), [seed % 8] * len(range(seed % 3, 20, 3))
            )
        )
    expected = np.concatenate([replay_planes(*game[:7]) for game in games])
    for threads in (1, 2, 4):
        assert (replay_planes_games(games, threads) == expected).all()
    assert replay_planes_games([]).shape == (0, 48, 19, 19)


def test_handicap_and_who_begins() -> None:
    black = [20, 60]
    board = Board(9)
    board.setup(black=black, to_play=WHITE)
    rows = replay_planes(
        9, black, [], [40, 41], [WHITE, BLACK], [0, 1, 2], [0, 0, 0], True, to_play_first=WHITE
    )
    assert (rows[0] == planes(board, True)).all()
    board.play(40)
    assert (rows[1] == planes(board, True)).all()
    board.play(41)
    assert (rows[2] == planes(board, True)).all()


def test_a_position_is_seen_by_the_colour_of_the_move_recorded_next() -> None:
    rows = replay_planes(5, [], [], [0, 1, 2], [BLACK, BLACK, WHITE], [1, 2], [0, 0], True)
    assert rows[0, 48].all(), "Black moves again"
    assert rows[0, 0].sum() == 1
    assert not rows[1, 48].any()


def test_human_games_may_repeat_a_position_that_superko_forbids() -> None:
    game = [4, 7, 5, 3, 1, 0, 6, 3]
    colours = [BLACK, WHITE] * 4
    assert check_game(3, [], [], game, colours) == (-1, "")
    assert check_game(3, [], [], game, colours, "situational") == (-1, "")
    assert check_game(3, [], [], game, colours, "positional") == (
        7,
        "it repeats an earlier position (superko)",
    )
    assert len(replay_planes(3, [], [], game, colours, [8], [0])) == 1


def test_check_game_names_the_first_illegal_move() -> None:
    assert check_game(9, [40], [], [40, 1], [WHITE, BLACK], to_play=WHITE) == (0, "the point is occupied")
    assert check_game(9, [], [], [0, 1, 82], [BLACK, WHITE, BLACK]) == (2, "it is no move on this board")
    assert check_game(9, [], [], [], []) == (-1, "")
    assert check_game(9, [], [], [81, 81, 5], [BLACK, WHITE, BLACK]) == (-1, ""), (
        "moves after two passes occur"
    )


def test_faults_name_the_game_and_the_move() -> None:
    good = (9, [], [], [0, 1], [1, -1], [2], [0])
    bad = (9, [], [], [0, 0], [1, -1], [2], [0])
    with pytest.raises(IllegalMoveError, match=r"game 1: illegal move W A9 at move 2: the point is occupied"):
        replay_planes_games([good, bad], threads=2)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"size": 20}, "board size 20"),
        ({"size": 1}, "board size 1"),
        ({"black": [81]}, "not on the board"),
        ({"black": [-1]}, "not on the board"),
        ({"white": [3, 3]}, "given twice"),
        ({"colours": [1]}, "2 moves but 1 colours"),
        ({"colours": [1, 0]}, "colour 0"),
        ({"colours": [1, 257]}, "colour 257"),
        ({"plies": [3]}, "ply 3 of a game of 2"),
        ({"plies": [-1]}, "not ascending"),
        ({"plies": [1, 0], "symmetries": [0, 0]}, "not ascending"),
        ({"symmetries": [8]}, "symmetry 8"),
        ({"symmetries": [-1]}, "symmetry -1"),
        ({"symmetries": []}, "1 plies but 0 symmetries"),
        ({"moves": [2**40, 0]}, "too large"),
        ({"to_play_first": 0}, "colour 0"),
    ],
)
def test_bad_values(change: dict[str, object], why: str) -> None:
    game = {
        "size": 9,
        "black": [],
        "white": [],
        "moves": [0, 1],
        "colours": [1, -1],
        "plies": [2],
        "symmetries": [0],
    }
    with pytest.raises(ValueError, match=why):
        replay_planes(**{**game, **change})  # type: ignore[arg-type]


def test_bad_types() -> None:
    for moves in ([0.5, 1.0], "ab", np.zeros((2, 2), int), None, [[0, 1]], [None, 1]):
        with pytest.raises((TypeError, ValueError)):
            replay_planes(9, [], [], moves, [1, -1], [0], [0])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="different sizes"):
        replay_planes_games([(9, [], [], [], [], [0], [0]), (5, [], [], [], [], [0], [0])])
    with pytest.raises(ValueError, match="threads"):
        replay_planes_games([], threads=0)
    with pytest.raises(TypeError):
        go_engine.replay_planes_games([(9,)])
    for strange in ([()], [(1, 2)], [None], None, [(9, [], [], [], [], [0], [0], 1)]):
        with pytest.raises((TypeError, RuntimeError)):
            go_engine._core.replay_planes_games(strange, 1, False, False)  # type: ignore[arg-type]


def test_any_integer_array_will_do() -> None:
    moves = np.arange(20, dtype=np.int16)[::2]
    colours = np.array([1, -1] * 5, np.int8)
    plies = np.arange(10, dtype=np.uint64)
    rows = replay_planes(9, (), (), moves, colours, plies, np.zeros(10, np.uint8))
    assert (rows == replay_planes(9, [], [], moves.tolist(), colours.tolist(), range(10), [0] * 10)).all()
