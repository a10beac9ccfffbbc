"""The Go engine: rules, feature planes, playouts, rollout policies and search.

The core is C++ (`go_engine/src`); this package is its thin Python face. A move is `row * size + col`, row 0 at the top;
`size * size` passes. Colours are BLACK = 1, WHITE = -1, EMPTY = 0.
"""

from go_engine._core import BLACK, EMPTY, WHITE, Board, GameBatch, IllegalMoveError, vertex

__all__ = ["BLACK", "EMPTY", "WHITE", "Board", "GameBatch", "IllegalMoveError", "vertex"]
