"""No call from Python, however wrong, crashes or hangs: it raises an exception and changes nothing."""

import itertools
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import go_engine
from go_engine import Board, GameBatch

ORDINARY = (TypeError, ValueError, IndexError, OverflowError, RuntimeError)
STRANGE: list[Any] = [
    None,
    -1,
    0,
    2,
    1.5,
    float("nan"),
    10**6,
    2**31,
    -(2**31) - 1,
    2**63,
    2**64,
    10**30,
    "",
    "x",
    b"x",
    [],
    [0],
    [-1],
    [10**9],
    [None],
    [[1]],
    {},
    object(),
    np.zeros(0),
    np.arange(6)[::2],
    np.zeros((2, 2), np.int32),
    np.zeros((1, 48, 9, 9), np.uint8),
    np.full(3, -1, np.int32),
    np.full(3, 10**6, np.int32),
    Board(5),
    Board(19),
    [Board(5), Board(9)],
]


def survives(call: Callable[..., Any], *arguments: Any, **named: Any) -> None:
    with suppress(*ORDINARY):
        call(*arguments, **named)


def board_state(b: Board) -> tuple[object, ...]:
    return str(b), b.hash, b.move_number, b.to_play, b.ko_point, b.legal_mask().tolist()


def test_the_board_survives_strange_arguments() -> None:
    for value in STRANGE:
        for size, komi, rule in ((value, 7.5, "simple"), (9, value, "simple"), (9, 7.5, value)):
            survives(Board, size, komi, rule)
        b = Board(9)
        for method in ("play", "is_legal", "setup", "__deepcopy__"):
            survives(getattr(b, method), value)
        survives(b.play, 40, value)
        survives(b.setup, [0], value)
        survives(b.setup, [], [], value)
        survives(Board.from_text, value)
        for name in ("to_play", "komi", "size", "hash"):
            with suppress(*ORDINARY, AttributeError):
                setattr(b, name, value)
        board_state(b)
        b.area_score()


def test_functions_survive_strange_arguments() -> None:
    for value in STRANGE:
        survives(go_engine.planes, value)
        survives(go_engine.planes_batch, value)
        survives(go_engine.planes_batch, [Board(9)], value)
        survives(go_engine.read_ladder, Board(9), value, 0)
        survives(go_engine.read_ladder, Board(9), 0, value)
        survives(go_engine.symmetry_move, value, 9, 0)
        survives(go_engine.symmetry_move, 0, value, 0)
        survives(go_engine.vertex, value, 9)
        survives(go_engine.vertex, 0, value)
        if not isinstance(value, int) or value < 10**5:
            survives(go_engine.random_playouts, Board(5), value, 0)
        survives(go_engine.random_playouts, Board(5), 1, value)
        survives(go_engine.random_playouts, value, 1, 0)
        for position in range(6):
            arguments: list[Any] = [9, [], [], [0, 1], [1, -1], [1], [0]]
            arguments[position] = value
            survives(go_engine.replay_planes, *arguments)
            survives(go_engine.check_game, *arguments[:5])


def test_a_rollout_is_traced_over_legal_moves_only() -> None:
    tensors = {
        name: np.zeros(n, np.float32) for name, n in (("response", 1), ("save_atari", 1), ("neighbour", 8))
    }
    for name in ("nakade", "response_pattern", "pattern"):
        tensors |= {f"{name}.keys": np.zeros(0, np.uint64), f"{name}.weights": np.zeros(0, np.float32)}
    policy = go_engine.RolloutPolicy(False, tensors)
    for moves in ([-1], [26], [2**31 - 1], [0, 0], [25, 3, 3]):
        with pytest.raises(go_engine.IllegalMoveError):
            go_engine._core.rollout_trace(policy, Board(5), moves)
    assert go_engine._core.rollout_trace(policy, Board(5), [25, 3, 4]).shape == (3, 25)


def test_batches_survive_strange_arguments() -> None:
    for value in STRANGE:
        survives(GameBatch, value)
        survives(GameBatch, 2, value)
        games = GameBatch(3, 9)
        for method in (
            "play",
            "reset",
            "planes",
            "sensible",
            "legal",
            "moves",
            "board",
            "sample",
            "sample_legal",
        ):
            for arguments in (
                (value,),
                (np.arange(3, dtype=np.int32), value),
                (value, value),
                (value, value, 1.0, value),
            ):
                survives(getattr(games, method), *arguments)


@pytest.mark.parametrize("size", [2, 9, 19])
def test_refused_moves_change_nothing(size: int) -> None:
    b = Board(size)
    b.play(0)
    before = board_state(b)
    for move, colour in itertools.product((-1, 0, size * size + 1, 2**31 - 1, -(2**31)), (None, 1, -1)):
        with pytest.raises(go_engine.IllegalMoveError):
            b.play(move, colour)
    for colour in (0, 2, -2, 100):
        with pytest.raises(ValueError, match="colour"):
            b.play(1, colour)
        with pytest.raises(ValueError, match="colour"):
            b.to_play = colour
    assert board_state(b) == before


def test_boards_may_be_played_on_while_their_planes_are_made_in_another_thread() -> None:
    boards = [Board(9) for _ in range(50)]
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            go_engine.planes_batch(boards, threads=2)
            go_engine.random_playouts(boards[0], 20, 1, threads=2)

    reader = threading.Thread(target=read)
    reader.start()
    rng = np.random.default_rng(0)
    try:
        for _ in range(3000):
            b = boards[int(rng.integers(50))]
            b.play(int(rng.choice(np.flatnonzero(b.legal_mask()))))
    finally:
        stop.set()
        reader.join()


def test_a_batch_bears_two_python_threads() -> None:
    games = GameBatch(16, 9)
    indices = np.arange(16, dtype=np.int32)
    seeds = np.arange(16, dtype=np.uint64)
    flat = np.full((16, 81), 1 / 81, np.float32)
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            games.planes(indices)
            games.sensible(indices)
            games.board(3)
            games.moves(3)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for _ in range(300):
            live = np.flatnonzero(~games.over).astype(np.int32)
            if live.size == 0:
                games.reset(indices)
                continue
            games.play(live, games.sample(live, flat[: live.size], 1.0, seeds[live]))
    finally:
        stop.set()
        reader.join()
