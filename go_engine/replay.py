"""Replaying recorded games at the engine's speed: are they legal, and their planes before chosen moves."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from go_engine import _core

BLACK = 1


class ReplayGame(NamedTuple):
    """A game and the positions wanted of it. Moves are row * size + col (pass: size * size), colours 1, -1.

    `plies` ascend from 0 (repeats allowed): ply t is the position before move t, seen by that move's colour.
    `symmetries` has the symmetry 0..7 of each of them.
    """

    size: int
    black: ArrayLike
    white: ArrayLike
    moves: ArrayLike
    colours: ArrayLike
    plies: ArrayLike
    symmetries: ArrayLike
    to_play_first: int = BLACK


def _integers(values: ArrayLike, what: str) -> NDArray[np.int32]:
    array = np.asarray(values)
    if array.dtype == np.int32 and array.ndim == 1 and array.flags.c_contiguous:
        return array
    if array.size == 0 and array.ndim == 1:
        return np.zeros(0, np.int32)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise TypeError(f"{what} must be a list of integers, not {array.dtype}{list(array.shape)}")
    if array.max() > np.iinfo(np.int32).max or array.min() < np.iinfo(np.int32).min:
        raise ValueError(f"{what} holds numbers too large to mean anything")
    return np.ascontiguousarray(array, np.int32)


def replay_planes_games(
    games: Sequence[ReplayGame | tuple[Any, ...]],
    threads: int = 1,
    player_colour: bool = False,
    packed: bool = False,
) -> NDArray[np.uint8]:
    """The chosen positions of all games (of one size), game after game, replayed under simple ko.

    Returns uint8[rows, 48 or 49, size, size], or packed uint8[rows, ceil(planes * size * size / 8)] in the
    order of numpy.packbits over the flattened planes. Raises IllegalMoveError or ValueError, naming the game.
    """
    records = []
    for values in games:
        game = ReplayGame(*values)
        lists = [_integers(value, name) for name, value in zip(game._fields[1:7], game[1:7], strict=True)]
        records.append((game.size, *lists, game.to_play_first))
    return _core.replay_planes_games(records, threads, player_colour, packed)


def replay_planes(
    size: int,
    black: ArrayLike,
    white: ArrayLike,
    moves: ArrayLike,
    colours: ArrayLike,
    plies: ArrayLike,
    symmetries: ArrayLike,
    player_colour: bool = False,
    packed: bool = False,
    to_play_first: int = BLACK,
) -> NDArray[np.uint8]:
    """The chosen positions of one game, as ReplayGame describes it: uint8[len(plies), planes, size, size]."""
    game = ReplayGame(size, black, white, moves, colours, plies, symmetries, to_play_first)
    return replay_planes_games([game], 1, player_colour, packed)


def check_game(
    size: int,
    black: ArrayLike,
    white: ArrayLike,
    moves: ArrayLike,
    colours: ArrayLike,
    ko_rule: str = "simple",
    to_play: int = BLACK,
) -> tuple[int, str]:
    """The index of the first illegal move and why it is illegal, or (-1, "").

    Raises ValueError for a size, setup or colour that is none.
    """
    setup = _integers(black, "black"), _integers(white, "white")
    played = _integers(moves, "moves"), _integers(colours, "colours")
    return _core.check_game(size, *setup, *played, ko_rule, to_play)
