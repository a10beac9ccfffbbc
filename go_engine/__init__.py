"""The Go engine: rules, feature planes, playouts, rollout policies and search.

The core is C++ (`go_engine/src`); this package is its thin Python face. A move is `row * size + col`, row 0
at the top; `size * size` passes. Colours are BLACK = 1, WHITE = -1, EMPTY = 0.
"""

from go_engine._core import (
    BLACK,
    EMPTY,
    LADDER_NODES,
    WHITE,
    Board,
    GameBatch,
    IllegalMoveError,
    planes,
    planes_batch,
    random_playouts,
    read_ladder,
    vertex,
)
from go_engine.replay import ReplayGame, check_game, replay_planes, replay_planes_games
from go_engine.rollout_policy import RolloutPolicy, RolloutPolicyError
from go_engine.search import Search, SearchParams
from go_engine.symmetry import inverse_symmetry, symmetry, symmetry_move, symmetry_table

__all__ = [
    "BLACK",
    "EMPTY",
    "LADDER_NODES",
    "WHITE",
    "Board",
    "GameBatch",
    "IllegalMoveError",
    "ReplayGame",
    "RolloutPolicy",
    "RolloutPolicyError",
    "Search",
    "SearchParams",
    "check_game",
    "inverse_symmetry",
    "planes",
    "planes_batch",
    "random_playouts",
    "read_ladder",
    "replay_planes",
    "replay_planes_games",
    "symmetry",
    "symmetry_move",
    "symmetry_table",
    "vertex",
]
