"""What plays: the protocol that the GTP server and the tournament use, and the two simplest players."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from go_engine import Board

RESIGN = -1


class Player(Protocol):
    """Chooses moves. One object plays one game at a time, either colour, and may remember what it likes.

    `choose` is given the whole position each time and must leave the board as it is; it may be called for
    positions that do not follow from the last one (undo, set-up).
    """

    name: str

    def new_game(self, size: int, komi: float) -> None:
        """A game begins. Raises ValueError when the player cannot play on boards of this size."""

    def choose(self, board: Board) -> int:
        """A legal move for `board.to_play`; `board.pass_move` to pass, RESIGN to resign."""


@runtime_checkable
class Watcher(Protocol):
    """A player that wants to see every move of the game as it is played, its own too."""

    def observe(self, colour: int, move: int) -> None: ...


@runtime_checkable
class Timed(Protocol):
    """A player that knows how to use a clock. Seconds throughout; byoyomi_stones = 0 means no byoyomi."""

    def time_settings(self, main: float, byoyomi: float, byoyomi_stones: int) -> None: ...

    def time_left(self, colour: int, seconds: float, stones: int) -> None: ...


class Policy(Protocol):
    """Move probabilities, as `go_engine.RolloutPolicy` and the networks' evaluators give them."""

    def probabilities(self, board: Board) -> NDArray[np.float32]: ...


class RandomPlayer:
    """Plays uniformly among the sensible moves; passes when there is none."""

    def __init__(self, seed: int = 0, name: str = "random") -> None:
        self.name = name
        self._random = np.random.default_rng(seed)

    def new_game(self, size: int, komi: float) -> None:
        """Plays on any board."""

    def choose(self, board: Board) -> int:
        moves = np.flatnonzero(board.sensible_mask())
        return int(self._random.choice(moves)) if moves.size else board.pass_move


class RolloutPlayer:
    """Plays sensible moves by a rollout policy's probabilities; temperature 0 plays the most likely."""

    def __init__(
        self, policy: Policy, seed: int = 0, temperature: float = 1.0, name: str = "rollout"
    ) -> None:
        self.name = name
        self.policy, self.temperature = policy, temperature
        self._random = np.random.default_rng(seed)

    def new_game(self, size: int, komi: float) -> None:
        """Patterns know no board size."""

    def choose(self, board: Board) -> int:
        return pick(self.policy.probabilities(board), board.sensible_mask(), self.temperature, self._random)


def pick(
    probabilities: NDArray[np.float32],
    sensible: NDArray[np.bool_],
    temperature: float,
    random: np.random.Generator,
) -> int:
    """A sensible move drawn with p^(1/temperature), the likeliest at temperature 0, pass when none is left.

    probabilities float[N*N], sensible bool[N*N]. Moves with probability 0 are drawn only when all have it.
    """
    moves = np.flatnonzero(sensible)
    if not moves.size:
        return len(sensible)
    weights = probabilities[moves].astype(np.float64)
    if temperature <= 0:
        return int(moves[np.argmax(weights)])
    with np.errstate(divide="ignore"):
        logits = np.log(weights) / temperature
    top = logits.max()
    scaled = np.exp(logits - top) if np.isfinite(top) else np.ones(len(moves))
    cumulative = np.cumsum(scaled)
    return int(moves[np.searchsorted(cumulative, random.random() * cumulative[-1], side="right")])
