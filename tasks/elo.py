"""Ratings of programs from their games (Coulom's BayesElo model), and intervals for a share of games won."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

from tasks.elo_fit import (
    ELO_PER_NAT,
    Floats,
    Pairs,
    add_prior,
    connected_groups,
    fit,
    require_bounded,
    sum_pairs,
)

COLUMNS = ("program", "elo", "lower", "upper", "games", "score")
Anchor = Mapping[str, float] | tuple[str, float]


def bayes_elo(
    results: pd.DataFrame,
    anchor: Anchor | None = None,
    advantage: float = 32.8,
    drawelo: float = 97.3,
    prior: float = 2.0,
    scale: bool = True,
    level: float = 0.95,
) -> pd.DataFrame:
    """Maximum a posteriori ratings of all programs in `results`, strongest first.

    results: one row a game or a sum of games, with columns program_a (the side that `advantage` favours),
        program_b, wins_a, wins_b, draws.
    anchor: program -> Elo. One anchor shifts all ratings; several hold these programs in the fit.
        Without one the mean of the ratings is 0.
    advantage, drawelo: parameters of the model in Elo points; BayesElo's defaults.
    prior: virtual draws that each program plays in all, shared out over its opponents by games played.
    scale: multiply ratings by 4x / (1 + x)^2 with x = 10^(-drawelo / 400), as BayesElo prints them.
    level: of the intervals, which are normal, from the inverse of the Hessian (BayesElo's `covariance`).

    Returns columns program, elo, lower, upper, games, score (points per game, a draw counts half).
    `.attrs["los"]` is a DataFrame: chance that the program of the row is stronger than that of the column;
    `.attrs["covariance"]` float64[n, n] is that of the ratings, in the order of the table.
    Programs that no chain of games connects cannot be compared: each such group is rated by itself around 0
    (an anchor moves its own group only), LOS between groups is NaN and `.attrs["groups"]` counts the groups.

    Raises ValueError when columns are missing, counts are negative or not finite, a program plays itself, an
    anchor is no program of the results, or no finite maximum exists (possible only with prior = 0).
    """
    names, pairs = sum_pairs(results)
    if drawelo < 0 or prior < 0:
        raise ValueError("drawelo and prior must not be negative")
    if not names:
        empty = np.zeros((0, 0))
        return _table([], dict.fromkeys(COLUMNS[1:], np.zeros(0)), empty, empty, 0)
    n = len(names)
    groups = connected_groups(pairs, n)
    if prior == 0:
        require_bounded(pairs, n, groups)
    factor = _scale_factor(drawelo) if scale else 1.0
    fixed = _anchors(anchor, names)
    held = {i: elo / factor / ELO_PER_NAT for i, elo in fixed.items()} if len(fixed) > 1 else {}
    rating, covariance = fit(add_prior(pairs, n, prior), n, groups, held, advantage, drawelo)
    points = rating * ELO_PER_NAT * factor
    covariance *= (ELO_PER_NAT * factor) ** 2
    if len(fixed) == 1:
        (i, elo), *_ = fixed.items()
        points[groups == groups[i]] += elo - points[i]
    half = ndtri(0.5 + level / 2) * np.sqrt(np.maximum(np.diag(covariance), 0.0))
    games, score = _games_and_scores(pairs, n)
    los = _superiority(points, covariance)
    los[groups[:, None] != groups[None, :]] = np.nan
    columns = {
        "elo": points,
        "lower": points - half,
        "upper": points + half,
        "games": games,
        "score": score,
    }
    return _table(names, columns, los, covariance, int(groups.max()) + 1)


def agresti_coull(wins: float, games: float, level: float = 0.95) -> tuple[float, float]:
    """Agresti-Coull interval of the share of games won, clipped to 0..1; (0, 1) when there are no games."""
    if not 0 <= wins <= games:
        raise ValueError(f"{wins} wins of {games} games")
    if games == 0:
        return 0.0, 1.0
    z = float(ndtri(0.5 + level / 2))
    count = games + z * z
    centre = (wins + z * z / 2) / count
    half = z * float(np.sqrt(centre * (1 - centre) / count))
    return max(0.0, centre - half), min(1.0, centre + half)


def wilson(wins: float, games: float, level: float = 0.95) -> tuple[float, float]:
    """Wilson score interval of the share of games won: what the paper's tables print."""
    if not 0 <= wins <= games:
        raise ValueError(f"{wins} wins of {games} games")
    if games == 0:
        return 0.0, 1.0
    z = float(ndtri(0.5 + level / 2))
    share = wins / games
    centre = share + z * z / (2 * games)
    half = z * float(np.sqrt(share * (1 - share) / games + z * z / (4 * games * games)))
    denominator = 1 + z * z / games
    return max(0.0, (centre - half) / denominator), min(1.0, (centre + half) / denominator)


def win_probability(difference: float) -> float:
    """Chance of the side that is `difference` Elo points stronger, plain base 10 (230 points are 79%)."""
    return float(1.0 / (1.0 + np.exp(-difference / ELO_PER_NAT)))


def _scale_factor(drawelo: float) -> float:
    x = 10.0 ** (-drawelo / 400.0)
    return 4.0 * x / (1.0 + x) ** 2


def _superiority(points: Floats, covariance: Floats) -> Floats:
    """P(row stronger than column) under the normal posterior; 0.5 on the diagonal."""
    variance = np.diag(covariance)
    spread = np.sqrt(np.maximum(variance[:, None] + variance[None, :] - 2 * covariance, 0.0))
    difference = points[:, None] - points[None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        los: Floats = ndtr(difference / spread)
    return np.where(spread > 0, los, 0.5 + 0.5 * np.sign(difference))


def _games_and_scores(pairs: Pairs, n: int) -> tuple[Floats, Floats]:
    played = pairs.won + pairs.lost + pairs.drawn
    games = np.bincount(pairs.first, played, n) + np.bincount(pairs.second, played, n)
    points = np.bincount(pairs.first, pairs.won + pairs.drawn / 2, n)
    points += np.bincount(pairs.second, pairs.lost + pairs.drawn / 2, n)
    score = np.divide(points, games, out=np.full(n, np.nan), where=games > 0)
    return games.astype(np.float64), score.astype(np.float64)


def _anchors(anchor: Anchor | None, names: list[str]) -> dict[int, float]:
    if anchor is None:
        return {}
    wanted = dict(anchor) if isinstance(anchor, Mapping) else {anchor[0]: anchor[1]}
    unknown = [name for name in wanted if name not in names]
    if unknown:
        raise ValueError(f"anchor {unknown[0]!r} has played no game")
    return {names.index(name): float(elo) for name, elo in wanted.items()}


def _table(
    names: list[str], columns: Mapping[str, Floats], los: Floats, covariance: Floats, groups: int
) -> pd.DataFrame:
    """The columns with their attributes, strongest first."""
    table = pd.DataFrame({"program": names, **columns})
    order = np.lexsort((np.array(names, dtype=str), -columns["elo"]))
    table = table.iloc[order].reset_index(drop=True)
    ordered = [names[i] for i in order]
    table.attrs["los"] = pd.DataFrame(los[np.ix_(order, order)], index=ordered, columns=ordered)
    table.attrs["covariance"] = covariance[np.ix_(order, order)]
    table.attrs["groups"] = groups
    return table
