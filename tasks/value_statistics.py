"""What a value set is made of: U, lengths, balance, games drawn again, positions that occur twice."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from tasks.value_shards import LENGTH_BIN, Report, hashes_path

matplotlib.use("Agg")  # figures go to files; no display is needed

FIGURE_INCHES = (9.0, 3.2)


def set_metrics(folder: Path, reports: Sequence[Report]) -> dict[str, float]:
    """Statistics over all shards, by the names under which they are logged."""
    total = {key: sum(report[key] for report in reports) for key in ("positions", "redrawn", "capped")}
    positions = total["positions"]

    def share(key: str) -> float:
        return float(sum(report[key] for report in reports) / positions)

    of_u = np.array(added([report["u"] for report in reports]), dtype=float)
    return {
        "set/positions": float(positions),
        "set/redrawn_games": float(total["redrawn"]),
        "set/redrawn_share": total["redrawn"] / (positions + total["redrawn"]),
        "set/no_legal_point": float(sum(report["without_legal_point"] for report in reports)),
        "set/capped_games": float(total["capped"]),
        "set/mean_u": float((of_u * np.arange(len(of_u))).sum() / positions),
        "set/mean_plies": share("plies"),
        "set/black_won": share("black_won"),
        "set/mover_won": share("mover_won"),
        "set/duplicates": float(positions - distinct_positions(folder, len(reports))),
    }


def distinct_positions(folder: Path, shards: int) -> int:
    """Different positions (stones and who is to move) in the whole set."""
    hashes = [np.load(hashes_path(folder, shard), allow_pickle=False) for shard in range(shards)]
    return len(np.unique(np.concatenate(hashes)))


def set_figure(reports: Sequence[Report]) -> Figure:
    """Histograms of U and of the games' lengths."""
    figure = Figure(figsize=FIGURE_INCHES, layout="constrained")
    left, right = figure.subplots(1, 2)
    of_u = added([report["u"] for report in reports])
    left.bar(range(1, len(of_u)), of_u[1:], width=1.0)
    left.set(title="move U", xlabel="U", ylabel="games")
    lengths = added([report["lengths"] for report in reports])
    right.bar([(n + 0.5) * LENGTH_BIN for n in range(len(lengths))], lengths, width=LENGTH_BIN)
    right.set(title="length of the games", xlabel="plies")
    return figure


def summary(metrics: dict[str, float]) -> str:
    return (
        f"{metrics['set/positions']:,.0f} positions, one a game; games of {metrics['set/mean_plies']:.0f} "
        f"plies, the player to move wins {metrics['set/mover_won']:.1%}, "
        f"Black {metrics['set/black_won']:.1%}; "
        f"{metrics['set/redrawn_games']:,.0f} games drawn again, "
        f"{metrics['set/capped_games']:,.0f} ended by the cap, "
        f"{metrics['set/duplicates']:,.0f} positions occur more than once."
    )


def added(counts: Sequence[Sequence[int]]) -> list[int]:
    """Histograms of different lengths added up."""
    return [sum(column) for column in zip_longest(*counts, fillvalue=0)]
