"""The numbers behind `tasks.elo`: sums of games, the prior, and the maximum of BayesElo's posterior.

The model, with d = (elo_a - elo_b + advantage) / 400 for a game between a and b, D = drawelo / 400 and
f(x) = 1 / (1 + 10^-x): P(a wins) = f(d - D), P(b wins) = f(-d - D), and a draw takes what is left. That rest
equals f(d - D) * f(-d - D) times a constant, so a draw counts in the likelihood as one game won by each side,
the log-likelihood is concave, and Newton's method finds its maximum in a few steps. All of it is done in
natural units, 400 / log(10) Elo points each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.linalg import inv
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import expit

Floats = NDArray[np.float64]
Groups = NDArray[np.int32]
Flags = NDArray[np.bool_]

ELO_PER_NAT = 400.0 / float(np.log(10.0))
MAX_NEWTON_STEPS = 100
MAX_STEP = 4.0  # longest move of one rating in one Newton step (about 700 points)
TOLERANCE = 1e-9
CG_TOLERANCE = 1e-7
CG_STEPS = 500
COLUMNS = ("program_a", "program_b", "wins_a", "wins_b", "draws")


class Pairs(NamedTuple):
    """Games summed by ordered pair of programs, one entry a pair; the advantage is with `first`."""

    first: NDArray[np.intp]
    second: NDArray[np.intp]
    won: Floats  # by first, draws not counted
    lost: Floats
    drawn: Floats


def sum_pairs(results: pd.DataFrame) -> tuple[list[str], Pairs]:
    """The programs' names and the sums of their games; ValueError names what is wrong with `results`."""
    missing = [c for c in COLUMNS if c not in results.columns]
    if missing:
        raise ValueError(f"results lack the columns {', '.join(missing)}")
    rows = len(results)
    codes, uniques = pd.factorize(pd.concat([results["program_a"], results["program_b"]], ignore_index=True))
    counts = results[["wins_a", "wins_b", "draws"]].to_numpy(dtype=np.float64)
    if (codes < 0).any():
        raise ValueError("results hold a game without a program's name")
    if not np.isfinite(counts).all() or (counts < 0).any():
        raise ValueError("results hold a count of games that is negative or no number")
    if rows and (codes[:rows] == codes[rows:]).any():
        row = int(np.argmax(codes[:rows] == codes[rows:]))
        raise ValueError(f"row {row}: {uniques[codes[row]]} plays itself")
    n = len(uniques)
    keys, index = np.unique(codes[:rows].astype(np.int64) * n + codes[rows:], return_inverse=True)
    won, lost, drawn = (np.bincount(index, counts[:, k], len(keys)).astype(np.float64) for k in range(3))
    return list(uniques), Pairs(keys // max(n, 1), keys % max(n, 1), won, lost, drawn)


def add_prior(pairs: Pairs, n: int, prior: float) -> Pairs:
    """Add `prior / 2` virtual draws for each program (so that it takes part in about `prior` of them), shared
    out over its opponents by the games between them, half with either side of the advantage.
    """
    played = pairs.won + pairs.lost + pairs.drawn
    total = np.bincount(pairs.first, played, n) + np.bincount(pairs.second, played, n)
    with np.errstate(divide="ignore"):
        each = np.where(total > 0, prior / 4 / total, 0.0)
    virtual = played * (each[pairs.first] + each[pairs.second])
    return Pairs(
        np.concatenate([pairs.first, pairs.second]),
        np.concatenate([pairs.second, pairs.first]),
        np.concatenate([pairs.won, np.zeros_like(played)]),
        np.concatenate([pairs.lost, np.zeros_like(played)]),
        np.concatenate([pairs.drawn + virtual, virtual]),
    )


def connected_groups(pairs: Pairs, n: int) -> Groups:
    """Number of the connected group of each program."""
    played = pairs.won + pairs.lost + pairs.drawn > 0
    graph = coo_array((np.ones(played.sum()), (pairs.first[played], pairs.second[played])), shape=(n, n))
    groups: Groups = connected_components(graph, directed=False)[1]
    return groups


def require_bounded(pairs: Pairs, n: int, groups: Groups) -> None:
    """Without a prior a finite maximum exists only if in each group everybody beats all, if by others."""
    beats = np.concatenate([pairs.won + pairs.drawn, pairs.lost + pairs.drawn]) > 0
    winner = np.concatenate([pairs.first, pairs.second])[beats]
    loser = np.concatenate([pairs.second, pairs.first])[beats]
    graph = coo_array((np.ones(len(winner)), (winner, loser)), shape=(n, n))
    strong = connected_components(graph, directed=True, connection="strong")[0]
    if strong > int(groups.max()) + 1:
        raise ValueError("the games leave a rating unbounded (only wins or only losses): use prior > 0")


def fit(
    pairs: Pairs,
    n: int,
    groups: Groups,
    held: dict[int, float],
    advantage: float,
    drawelo: float,
) -> tuple[Floats, Floats]:
    """Newton's method: ratings [n] (mean 0 in a group without a held program) and covariance [n, n]."""
    rating = np.zeros(n)
    for i, value in held.items():
        rating[groups == groups[i]] = value
    rating[list(held)] = list(held.values())
    free = np.ones(n, dtype=bool)
    free[list(held)] = False
    loose = [groups == g for g in range(int(groups.max()) + 1) if free[groups == g].all()]
    laplacian = _Laplacian(pairs, n)
    likelihood, gradient, curvature = _derivatives(pairs, rating, advantage, drawelo)
    for _ in range(MAX_NEWTON_STEPS):
        step = laplacian.solve(curvature, gradient, free)
        for group in loose:
            step[group] -= step[group].mean()
        length = np.abs(step).max(initial=0.0)
        if length < TOLERANCE:
            return rating, _covariance(laplacian.dense(curvature), loose, free)
        step *= min(1.0, MAX_STEP / length)
        while True:  # halve the step until the likelihood does not fall beyond rounding
            reached, gradient, curvature = _derivatives(pairs, rating + step, advantage, drawelo)
            if reached >= likelihood - 1e-12 * (1 + abs(likelihood)) or np.abs(step).max() < TOLERANCE:
                break
            step /= 2
        rating, likelihood = rating + step, reached
    raise ValueError(f"no maximum found in {MAX_NEWTON_STEPS} Newton steps")


def _derivatives(
    pairs: Pairs, rating: Floats, advantage: float, drawelo: float
) -> tuple[float, Floats, Floats]:
    """Log-likelihood (but for constants), gradient [n], negated second derivative by each pair's margin."""
    n = len(rating)
    margin = rating[pairs.first] - rating[pairs.second] + advantage / ELO_PER_NAT
    draw = drawelo / ELO_PER_NAT
    first, second = expit(margin - draw), expit(-margin - draw)
    won, lost = pairs.won + pairs.drawn, pairs.lost + pairs.drawn
    least = np.finfo(float).tiny
    likelihood = float(won @ np.log(np.maximum(first, least)) + lost @ np.log(np.maximum(second, least)))
    slope = won * (1 - first) - lost * (1 - second)
    gradient = np.bincount(pairs.first, slope, n) - np.bincount(pairs.second, slope, n)
    curvature: Floats = won * first * (1 - first) + lost * second * (1 - second)
    return likelihood, gradient.astype(np.float64), curvature


class _Laplacian:
    """The negated Hessian: the Laplacian of the graph of games, weighted by the pairs' curvatures.

    It is as sparse as the table of games, so that Newton steps are found by conjugate gradients.
    """

    def __init__(self, pairs: Pairs, n: int) -> None:
        self.n = n
        self.ends = np.concatenate([pairs.first, pairs.second])
        keys = self.ends * n + np.concatenate([pairs.second, pairs.first])
        cells, self.cell = np.unique(keys, return_inverse=True)
        self.columns = cells % n
        self.rows = np.searchsorted(cells // n, np.arange(n + 1))

    def _parts(self, curvature: Floats) -> tuple[Floats, csr_array]:
        weights = np.concatenate([curvature, curvature])
        between = np.bincount(self.cell, weights, len(self.columns))
        diagonal = np.bincount(self.ends, weights, self.n).astype(np.float64)
        return diagonal, csr_array((between, self.columns, self.rows), shape=(self.n, self.n))

    def dense(self, curvature: Floats) -> Floats:
        diagonal, between = self._parts(curvature)
        dense: Floats = np.diag(diagonal) - between.toarray()
        return dense

    def solve(self, curvature: Floats, gradient: Floats, free: Flags) -> Floats:
        """The Newton step, 0 for programs that are not free.

        The matrix is singular when nothing holds a group as a whole; conjugate gradients from 0 do not mind,
        since the gradient of such a group sums to 0.
        """
        diagonal, between = self._parts(curvature)
        inverse = np.divide(1.0, diagonal, out=np.zeros(self.n), where=free & (diagonal > 0))
        step, rest = np.zeros(self.n), np.where(free, gradient, 0.0)
        along = inverse * rest
        fall = start = float(rest @ along)
        for _ in range(CG_STEPS):
            if fall <= CG_TOLERANCE**2 * start or fall == 0.0:
                return step
            image = np.where(free, diagonal * along - between @ along, 0.0)
            bend = float(along @ image)
            if bend <= 0.0:
                break
            length = fall / bend
            step += length * along
            rest -= length * image
            before, fall = fall, float(rest @ (inverse * rest))
            along = inverse * rest + (fall / before) * along
        inner = np.ix_(free, free)  # long chains of programs: solved directly
        step[free] = np.linalg.lstsq(self.dense(curvature)[inner], gradient[free], rcond=None)[0]
        return step


def _covariance(hessian: Floats, loose: list[Flags], free: Flags) -> Floats:
    """Inverse of the Hessian; for a group without a held program, of its ratings around the group's mean."""
    weight = max(1.0, float(np.diag(hessian).mean()))
    pin = np.zeros_like(
        hessian
    )  # no game judges where a whole group lies: lent a curvature, taken back below
    for group in loose:
        pin[np.ix_(group, group)] = 1.0 / group.sum()
    covariance = np.zeros_like(hessian)
    inner = np.ix_(free, free)
    covariance[inner] = inv((hessian + weight * pin)[inner], assume_a="pos", check_finite=False)
    return covariance - pin / weight
