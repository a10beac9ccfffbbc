"""What plays: the protocols that the GTP server and the tournament use, and the players that need no network.

A player's choices depend on its seed, the game's number and the ply alone, so that games played one by one
and games played side by side are the same games.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from go_engine import Board

RESIGN = -1
Floats = NDArray[np.float32]


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
class BatchPlayer(Protocol):
    """A player of many games side by side, told apart by their numbers.

    What one network has to say about the games of a call should go through it as one batch.
    """

    name: str

    def choose_batch(self, games: Sequence[int], boards: Sequence[Board]) -> list[int]:
        """A move (or RESIGN) for each board; boards[i] is the position in game games[i]."""

    def end_game(self, game: int) -> None:
        """Forget a game."""


@runtime_checkable
class Watcher(Protocol):
    """A player that wants to see every move of the game as it is played, its own too."""

    def observe(self, colour: int, move: int) -> None: ...


@runtime_checkable
class Timed(Protocol):
    """A player that knows how to use a clock. Seconds throughout; byoyomi_stones = 0 means no byoyomi."""

    def time_settings(self, main: float, byoyomi: float, byoyomi_stones: int) -> None: ...

    def time_left(self, colour: int, seconds: float, stones: int) -> None: ...


class Candidate(NamedTuple):
    """A move that a player considers, with what it thinks of it."""

    move: int
    visits: int
    winrate: float  # 0..1, of the player to move
    prior: float
    line: list[int]  # the moves expected from here, this one first


@runtime_checkable
class Analyst(Protocol):
    """A player that can say what it thinks."""

    def candidates(self) -> list[Candidate]:
        """The moves considered for the last `choose`."""

    def analyse(self, board: Board) -> Generator[list[Candidate]]:
        """Think on until closed; each step is a fraction of a second and gives the candidates so far."""


class Policy(Protocol):
    """Move probabilities float32[N*N] of one position, as `go_engine.RolloutPolicy` gives them."""

    def probabilities(self, board: Board) -> Floats: ...


class SamplingPlayer(ABC):
    """Draws sensible moves with p^(1/temperature), the likeliest at temperature 0; passes without any.

    Both `Player` and `BatchPlayer`. Moves with probability 0 are drawn only if all have it.
    """

    def __init__(self, name: str, seed: int, temperature: float) -> None:
        if temperature < 0:
            raise ValueError(f"the temperature of {name} is negative: {temperature:g}")
        self.name, self.seed, self.temperature = name, seed, temperature
        self._game = -1

    @abstractmethod
    def probabilities(self, boards: Sequence[Board]) -> Floats:
        """float32[B, N*N] over all points, legal or not."""

    def new_game(self, size: int, komi: float) -> None:  # noqa: ARG002
        self._game += 1

    def choose(self, board: Board) -> int:
        return self.choose_batch([self._game], [board])[0]

    def choose_batch(self, games: Sequence[int], boards: Sequence[Board]) -> list[int]:
        sensible = np.stack([board.sensible_mask() for board in boards])
        chances = uniforms(self.seed, games, [board.move_number for board in boards])
        return pick(self.probabilities(boards), sensible, self.temperature, chances).tolist()

    def end_game(self, game: int) -> None:  # noqa: B027  nothing to forget
        pass


class RandomPlayer(SamplingPlayer):
    """Plays uniformly among the sensible moves."""

    def __init__(self, seed: int = 0, name: str = "random") -> None:
        super().__init__(name, seed, temperature=1.0)

    def probabilities(self, boards: Sequence[Board]) -> Floats:
        return np.ones((len(boards), boards[0].pass_move), dtype=np.float32)


class RolloutPlayer(SamplingPlayer):
    """Plays by a rollout policy."""

    def __init__(
        self, policy: Policy, seed: int = 0, temperature: float = 1.0, name: str = "rollout"
    ) -> None:
        super().__init__(name, seed, temperature)
        self.policy = policy

    def probabilities(self, boards: Sequence[Board]) -> Floats:
        return np.stack([self.policy.probabilities(board) for board in boards])


def pick(
    probabilities: Floats, sensible: NDArray[np.bool_], temperature: float, chances: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Sensible moves int64[B] drawn with p^(1/temperature); N*N where none is left.

    probabilities float32[B, N*N], sensible bool[B, N*N], chances float64[B] in [0, 1): one draw each.
    """
    weights = np.where(sensible, probabilities, 0.0).astype(np.float64)
    top = weights.max(axis=1, keepdims=True)
    weights = np.where(top > 0, weights, sensible)  # all sensible moves have probability 0: any of them
    if temperature <= 0:
        moves = weights.argmax(axis=1)
    else:
        weights /= np.maximum(weights.max(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        cumulative = np.cumsum(weights ** (1.0 / temperature), axis=1)
        total = cumulative[:, -1]
        reached = np.minimum(chances * total, np.nextafter(total, 0.0))  # rounding must not step past the end
        moves = (cumulative <= reached[:, None]).sum(axis=1)
    return np.where(sensible.any(axis=1), moves, sensible.shape[1])


def uniforms(seed: int, games: Sequence[int], plies: Sequence[int]) -> NDArray[np.float64]:
    """One number in [0, 1) for each (game, ply): a hash of it and the seed (the finisher of splitmix64)."""
    with np.errstate(over="ignore"):
        state = np.array(games, dtype=np.int64).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        state = _mix(state + np.uint64(seed % 2**64))
        state = _mix(state + np.array(plies, dtype=np.uint64) * np.uint64(0xD1B54A32D192ED03))
    return (state >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _mix(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
