"""Which stones are dead at the end of a game, judged by playing it out at random many times."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from go_engine import EMPTY, Board

PLAYOUTS = 48
DEAD_SHARE = 0.8
"""A chain whose points end as the opponent's in this share of the playouts is dead."""
PLIES_PER_POINT = 3


def ownership(board: Board, playouts: int = PLAYOUTS, seed: int = 0) -> NDArray[np.float32]:
    """float32[N, N]: mean owner of each point over random playouts, 1 = always Black's, -1 = White's."""
    random = np.random.default_rng(seed)
    total: NDArray[np.float32] = np.zeros((board.size, board.size), dtype=np.float32)
    for _ in range(playouts):
        total += _owners(_play_out(board.copy(), random))
    total /= playouts
    return total


def chains(grid: NDArray[np.int8]) -> list[list[int]]:
    """The chains of a position (and nothing for empty points), each a list of points row * N + column."""
    size = len(grid)
    colours = grid.ravel()
    seen = colours == EMPTY
    found = []
    for start in range(size * size):
        if seen[start]:
            continue
        seen[start] = True
        chain = [start]
        for point in chain:
            for near in neighbours(point, size):
                if not seen[near] and colours[near] == colours[start]:
                    seen[near] = True
                    chain.append(near)
        found.append(chain)
    return found


def neighbours(point: int, size: int) -> list[int]:
    row, column = divmod(point, size)
    around = ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
    return [r * size + c for r, c in around if 0 <= r < size and 0 <= c < size]


def dead_stones(board: Board, seed: int = 0) -> list[int]:
    """Points of the chains that seldom survive: called dead by at least DEAD_SHARE of the playouts."""
    owner = ownership(board, seed=seed).ravel()
    grid = board.grid()
    limit = 1 - 2 * DEAD_SHARE
    dead = []
    for chain in chains(grid):
        colour = grid.flat[chain[0]]
        if owner[chain].mean() * colour <= limit:
            dead += chain
    return sorted(dead)


def score_without(board: Board, dead: list[int]) -> float:
    """Black's area - White's - komi after the dead stones are taken off."""
    clean = board.copy()
    if dead:
        clean.setup(empty=dead, to_play=board.to_play)
    return clean.area_score()


def _play_out(board: Board, random: np.random.Generator) -> Board:
    passes = 0
    for _ in range(PLIES_PER_POINT * board.pass_move):
        moves = np.flatnonzero(board.sensible_mask())
        passes = 0 if moves.size else passes + 1
        if passes == 2:
            break
        board.play(int(moves[random.integers(moves.size)]) if moves.size else board.pass_move)
    return board


def _owners(board: Board) -> NDArray[np.float32]:
    """Owners of a finished position: stones, and empty points by the majority of the stones beside them."""
    grid = board.grid().astype(np.float32)
    padded = np.pad(grid, 1)
    around = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
    return np.where(grid == EMPTY, np.sign(around), grid).astype(np.float32)
