"""REINFORCE (Methods, "Policy network: reinforcement learning"): from one iteration's games to a gradient.

The gradient is 1/n sum over games i and moves t of grad log p(a_t|s_t) (z_t - v(s_t)), taken over the moves
of the network that learns: its opponent's were drawn from another distribution. p is the distribution that
the moves were drawn from, the network's over the sensible moves. Passes, which are forced, have no
gradient.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from go_engine import BLACK
from models.evaluators import ValueEvaluator
from models.networks import PolicyNet
from tasks.match import FIRST, first_colours
from tasks.params import LayoutParams
from tasks.self_play import PLANES, Turn
from tasks.trainer import autocast

SENSIBLE_PLANE = 46  # of the 48, see go_engine
CELLS_PER_BYTE = 8


@dataclass(frozen=True)
class Replay:
    """The learner's moves of all games, by game and ply: one row each.

    `planes` uint8[rows, ceil(48 * N * N / 8)] are bit-packed, `moves` int64[rows] points, `colours`
    int8[rows] the learner's colour, `games` int32[rows] the game's number.
    """

    size: int
    planes: NDArray[np.uint8]
    moves: NDArray[np.int64]
    colours: NDArray[np.int8]
    games: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.moves)

    def unpacked(self, rows: slice) -> NDArray[np.uint8]:
        """uint8[rows, 48, N, N]."""
        cells = np.unpackbits(self.planes[rows], axis=1, count=PLANES * self.size**2)
        return cells.reshape(-1, PLANES, self.size, self.size)

    def batches(self, batch_size: int) -> Iterator[slice]:
        for start in range(0, len(self), batch_size):
            yield slice(start, min(start + batch_size, len(self)))


@dataclass
class Recorder:
    """Keeps the first seat's moves of a match; hand `on_turn` to `play_match`."""

    size: int
    turns: list[tuple[NDArray[np.uint8], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]] = field(
        default_factory=list
    )

    def on_turn(self, turn: Turn) -> None:
        if turn.seat != FIRST:
            return
        moved = turn.moves < self.size**2
        packed = np.packbits(turn.planes[moved].reshape(-1, PLANES * self.size**2), axis=1)
        self.turns.append((packed, turn.moves[moved], turn.games[moved], turn.plies[moved]))

    def replay(self) -> Replay:
        """All recorded moves in the order of their games, whatever the order in which they were played."""
        width = -(-PLANES * self.size**2 // CELLS_PER_BYTE)
        empty = np.zeros(0, np.int32)
        turns = self.turns or [(np.zeros((0, width), np.uint8), empty, empty, empty)]
        planes, moves, games, plies = (np.concatenate(column) for column in zip(*turns, strict=True))
        order = np.lexsort((plies, games))
        colours = first_colours(int(games.max(initial=-1)) + 1)[games[order]]
        return Replay(self.size, planes[order], moves[order].astype(np.int64), colours, games[order])


def baseline(replay: Replay, value: ValueEvaluator, batch_size: int) -> NDArray[np.float32]:
    """float32[rows]: v(s_t) for the learner, who is to move."""
    values = np.zeros(len(replay), dtype=np.float32)
    for rows in replay.batches(batch_size):
        black = (replay.colours[rows] == BLACK).astype(np.uint8)
        plane = np.broadcast_to(black[:, None, None, None], (len(black), 1, replay.size, replay.size))
        values[rows] = value.values(np.concatenate([replay.unpacked(rows), plane], axis=1))
    return values


def masked_log_probabilities(logits: Tensor, planes: Tensor) -> Tensor:
    """log p over the sensible moves, float[B, N * N], minus infinity elsewhere; each row needs one."""
    sensible = planes[:, SENSIBLE_PLANE].flatten(1) > 0
    return torch.log_softmax(logits.float().masked_fill(~sensible, -torch.inf), dim=1)


def accumulate_gradient(
    net: PolicyNet,
    replay: Replay,
    advantages: NDArray[np.float32],
    games: int,
    batch_size: int,
    compute: LayoutParams,
    device: torch.device,
) -> float:
    """Add the gradient of minus the objective to the parameters' `.grad`; returns the mean entropy in nats.

    advantages: float32[rows], z_t - v(s_t). games: n of the formula. The result does not depend on
    batch_size but for rounding.
    """
    entropy = 0.0
    for rows in replay.batches(batch_size):
        planes = torch.from_numpy(replay.unpacked(rows)).to(device)
        inputs = planes[:, : net.planes].float()
        if compute.channels_last:
            inputs = inputs.to(memory_format=torch.channels_last)
        with autocast(compute, device):
            logits = net(inputs)
        log_p = masked_log_probabilities(logits, planes)
        moves = torch.from_numpy(replay.moves[rows]).to(device)
        weights = torch.from_numpy(advantages[rows]).to(device)
        chosen = log_p.gather(1, moves[:, None]).squeeze(1)
        loss = -(chosen * weights).sum() / games
        loss.backward()
        with torch.no_grad():
            entropy -= float((log_p.exp() * log_p.clamp(min=torch.finfo(log_p.dtype).min)).sum())
    return entropy / max(1, len(replay))


def gradient_norm(net: PolicyNet) -> float:
    """Length of the accumulated gradient."""
    squares = [parameter.grad.square().sum() for parameter in net.parameters() if parameter.grad is not None]
    return float(torch.stack(squares).sum().sqrt()) if squares else 0.0
