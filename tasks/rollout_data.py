"""Games as the trainer of the rollout and tree policies takes them: flat arrays, held in C++."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from datasets.records import GameRecord
from go_engine import _core


def to_rollout_games(games: Iterable[GameRecord], size: int) -> _core.RolloutGames:
    """All games, in their order. Raises ValueError for a game of another board size, naming it."""
    moves, colours, black, white = [], [], [], []
    for game in games:
        if game.size != size:
            raise ValueError(f"{game.source}: a {game.size}x{game.size} game among {size}x{size} games")
        _, game_black, game_white, game_moves, game_colours = game.arrays()
        moves.append(game_moves)
        colours.append(game_colours)
        black.append(game_black)
        white.append(game_white)
    return _core.RolloutGames(
        size,
        *(_join(moves, np.int16), _join(colours, np.int8), _offsets(moves)),
        *(_join(black, np.int16), _offsets(black)),
        *(_join(white, np.int16), _offsets(white)),
    )


def _join(parts: list[NDArray], dtype: type) -> NDArray:
    return np.concatenate(parts) if parts else np.empty(0, dtype)


def _offsets(parts: list[NDArray]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
