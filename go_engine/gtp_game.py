"""The game behind a GTP session: positions that can be taken back, handicap, records, and its end.

What the rules or the protocol forbid is a `GtpFailure` with the protocol's own words, and changes nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from go_engine import WHITE, Board, IllegalMoveError
from go_engine import gtp_text as text
from go_engine.gtp_text import GtpFailure
from go_engine.sgf import SgfError, load_sgf
from go_engine.status import chains, dead_stones, neighbours, score_without

SMALLEST_BOARD, LARGEST_BOARD = 2, 19


class GtpGame:
    """Positions from the start of the game on.

    `announce` is called with size and komi before a game begins; it raises ValueError for a board that the
    player cannot play on.
    """

    def __init__(self, announce: Callable[[int, float], None], size: int, komi: float) -> None:
        self._announce = announce
        self._positions: list[Board] = []
        self._dead: list[int] | None = None  # judged once for a position
        self._start([Board(size, komi)])

    @property
    def board(self) -> Board:
        return self._positions[-1]

    def _start(self, positions: list[Board]) -> None:
        self._announce(positions[0].size, positions[0].komi)
        self._positions = positions
        self._dead = None

    def resize(self, size: int) -> None:
        """An empty board of another size."""
        if not SMALLEST_BOARD <= size <= LARGEST_BOARD:
            raise GtpFailure("unacceptable size")
        try:
            self._start([Board(size, self.board.komi)])
        except ValueError as error:
            print(error, file=sys.stderr, flush=True)
            raise GtpFailure("unacceptable size") from error

    def clear(self) -> None:
        self._start([Board(self.board.size, self.board.komi)])

    def set_komi(self, komi: float) -> None:
        for position in self._positions:
            position.komi = komi

    def place_handicap(self, points: list[int]) -> str:
        """Black stones on an empty board, White to play; the answer names them."""
        if self.board.grid().any():
            raise GtpFailure("board not empty")
        board = Board(self.board.size, self.board.komi)
        board.setup(black=points, to_play=WHITE)
        self._start([board])
        return text.vertices(points, board.size)

    def load(self, path: Path, move_number: int | None) -> None:
        """The first game of an SGF file; with a move number, the position before that move is played."""
        try:
            game = load_sgf(path, self.board.komi)
            moves = game.moves if move_number is None else game.moves[: max(move_number - 1, 0)]
            positions = [game.start]
            for colour, move in moves:
                positions.append(after(positions[-1], colour, move))
            if len(moves) < len(game.moves):
                positions[-1].to_play = game.moves[len(moves)][0]
            self._start(positions)
        except (SgfError, GtpFailure, ValueError) as error:
            print(error, file=sys.stderr, flush=True)
            raise GtpFailure("cannot load file") from error

    def play(self, colour: int, move: int) -> None:
        self._positions.append(after(self.board, colour, move))
        self._dead = None

    def undo(self) -> None:
        if len(self._positions) < 2:
            raise GtpFailure("cannot undo")
        self._positions.pop()
        self._dead = None

    def with_turn(self, colour: int) -> Board:
        """A copy of the position with this colour to play."""
        board = self.board.copy()
        board.to_play = colour
        return board

    # ---- the end of the game

    def dead_stones(self) -> list[int]:
        if self._dead is None:
            self._dead = dead_stones(self.board)
        return self._dead

    def score(self) -> float:
        """Black's lead by area without the dead stones."""
        return score_without(self.board, self.dead_stones())

    def chains_of(self, status: str) -> list[list[int]]:
        """The chains that are alive, dead or seki; nothing is seki, for area scoring needs no third kind."""
        if status not in ("alive", "dead", "seki"):
            raise GtpFailure("syntax error: alive, dead or seki")
        dead = set(self.dead_stones())
        wanted = {"alive": False, "dead": True}.get(status)
        return [chain for chain in chains(self.board.grid()) if (chain[0] in dead) == wanted]

    def capture_dead(self, colour: int) -> int:
        """A sensible move beside a dead chain of the opponent, the weakest chain first; else a pass."""
        board = self.with_turn(colour)
        grid, liberties, sensible = board.grid().ravel(), board.liberties().ravel(), board.sensible_mask()
        targets = [chain for chain in self.chains_of("dead") if grid[chain[0]] == -colour]
        for chain in sorted(targets, key=lambda c: int(liberties[c[0]])):
            for point in chain:
                for near in neighbours(point, board.size):
                    if sensible[near]:
                        return near
        return board.pass_move


def after(board: Board, colour: int, move: int) -> Board:
    """The position after a move."""
    following = board.copy()
    try:
        following.play(move, colour)
    except IllegalMoveError as error:
        raise GtpFailure("illegal move") from error
    return following
