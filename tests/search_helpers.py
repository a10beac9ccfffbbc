"""Stand-ins for networks, and what the tests of the search have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from go_engine import Board, Search
from go_engine.search import Evaluators, run_lockstep

Planes = NDArray[np.uint8]
Floats = NDArray[np.float32]


class Uniform:
    """Equal priors, value 0, and a count of what was asked."""

    def __init__(self) -> None:
        self.priors_asked = self.values_asked = 0

    def probabilities(self, planes: Planes) -> Floats:
        self.priors_asked += len(planes)
        points = planes.shape[2] * planes.shape[3]
        return np.full((len(planes), points), 1 / points, np.float32)

    def values(self, planes: Planes) -> Floats:
        self.values_asked += len(planes)
        return np.zeros(len(planes), np.float32)


class BlackIsAhead(Uniform):
    """Half a point of value for Black, whoever is to move (plane 48 tells)."""

    def values(self, planes: Planes) -> Floats:
        super().values(planes)
        return np.where(planes[:, 48, 0, 0] == 1, 0.5, -0.5).astype(np.float32)


class BesideEnemies(Uniform):
    """All of the prior lies beside the enemy's stones: a policy that turns with the board."""

    def probabilities(self, planes: Planes) -> Floats:
        enemy = np.pad(planes[:, 1].astype(np.float32), ((0, 0), (1, 1), (1, 1)))
        beside = enemy[:, :-2, 1:-1] + enemy[:, 2:, 1:-1] + enemy[:, 1:-1, :-2] + enemy[:, 1:-1, 2:]
        beside *= planes[:, 2]
        total = beside.sum(axis=(1, 2), keepdims=True)
        return (beside / np.maximum(total, 1)).reshape(len(planes), -1).astype(np.float32)


def searched(board: Board, simulations: int, leaves: int = 4, net: Any = None, **settings: Any) -> Search:
    """A search of this board; `net` answers for both networks unless they are switched off."""
    settings = {"use_policy": net is not None, "use_value": net is not None} | settings
    search = Search(board, **settings)
    run_lockstep([search], Evaluators(net, net), simulations, leaves)
    return search


def statistics(search: Search, path: list[int] | None = None) -> list[tuple[Any, ...]]:
    """All that a node holds, comparable."""
    edges = search.edges(path or [])
    return sorted(
        (e.move, e.placeholder, e.prior, e.visits, e.wins, e.values, e.value_sum, e.q) for e in edges
    )


def visits(search: Search) -> int:
    return sum(e.visits for e in search.edges())
