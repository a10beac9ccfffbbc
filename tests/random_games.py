"""Random legal games as SGF for the tests of the data sets."""

from __future__ import annotations

import numpy as np

import go_engine

SIZE = 7


def random_game(seed: int, moves: int, size: int = SIZE) -> str:
    """A legal random game as SGF, with passes, sometimes setup stones or a move out of turn."""
    rng = np.random.default_rng(seed)
    board = go_engine.Board(size, 7.5, "simple")
    letters = "abcdefghijklmnopqrs"
    setup = ""
    if seed % 3 == 0:
        board.setup(black=[0, 8], white=[10], to_play=go_engine.WHITE)
        setup = (
            f"AB[aa][{letters[8 % size]}{letters[8 // size]}]AW[{letters[10 % size]}{letters[10 // size]}]"
        )
    nodes = []
    for number in range(moves):
        if seed % 4 == 1 and number == 5:
            board.to_play = -board.to_play
        colour = "B" if board.to_play == go_engine.BLACK else "W"
        choices = np.flatnonzero(board.sensible_mask())
        move = int(rng.choice(choices)) if len(choices) and rng.random() > 0.05 else board.pass_move
        point = "" if move == board.pass_move else letters[move % size] + letters[move // size]
        nodes.append(f";{colour}[{point}]")
        board.play(move)
    result = ("B+R", "W+3.5", "Void", "0")[seed % 4]
    return f"(;GM[1]SZ[{size}]RE[{result}]{setup}{''.join(nodes)})"
