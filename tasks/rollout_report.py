"""What the rollout stage shows: which patterns it kept, and how the accuracy grew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from tasks import paper

PERCENT = 100.0
NAMES = {
    "nakade": "nakade",
    "response_pattern": "response pattern (12 points around the previous move)",
    "pattern": "non-response pattern (3x3 around the move)",
    "diamond": "non-response pattern (12 points around the move; tree policy)",
}


class Kept(NamedTuple):
    """The patterns of one kind that are frequent enough."""

    kind: str
    keys: NDArray[np.uint64]  # ascending
    distinct: int  # among all moves
    played: int  # moves that matched any pattern of the kind
    covered: int  # moves that matched one that is kept
    minimum: int
    seen_minimum: int

    @classmethod
    def of(
        cls,
        kind: str,
        found: tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint32]],
        minimum: int,
        seen_minimum: int,
    ) -> Kept:
        """Of (keys, played, seen): played `minimum` times or seen `seen_minimum` times (0: no matter)."""
        keys, played, seen = found
        kept = played >= minimum
        if seen_minimum:
            kept |= seen >= seen_minimum
        total = int(played.sum(dtype=np.int64))
        covered = int(played[kept].sum(dtype=np.int64))
        return cls(kind, keys[kept], int((played > 0).sum()), total, covered, minimum, seen_minimum)

    @property
    def threshold(self) -> str:
        seen = f" or seen {self.seen_minimum:,} times" if self.seen_minimum else ""
        return f"played {self.minimum:,} times{seen}"


class CurvePoint(NamedTuple):
    """One point of a training: positions learnt, and scores since the last point and on held-out games."""

    positions: float
    accuracy: float
    log_likelihood: float
    held_out_accuracy: float
    held_out_log_likelihood: float


def patterns_markdown(kept: Sequence[Kept], positions: int, size: int) -> str:
    """A table of the patterns kept, beside the paper's counts."""
    lines = [
        f"Patterns from {positions:,} positions of {size}x{size} games. Kept are those that were frequent",
        "enough; the paper's counts are what its own corpus (8 million positions of 19x19) held.",
        "",
        "| feature | distinct | kept if | kept | of matching moves | paper |",
        "|---|---|---|---|---|---|",
    ]
    for one in kept:
        share = f"{one.covered / one.played:.1%}" if one.played else "-"
        lines.append(
            f"| {NAMES[one.kind]} | {one.distinct:,} | {one.threshold} | {len(one.keys):,} | {share} "
            f"| {paper.PATTERNS[one.kind]:,} |"
        )
    return "\n".join(lines) + "\n"


def curves(points: Mapping[str, Sequence[CurvePoint]]) -> Figure:
    """Accuracy and log likelihood of both policies against the positions learnt."""
    figure = Figure(figsize=(10, 3.8), layout="constrained")
    accuracy, likelihood = figure.subplots(1, 2)
    for number, (kind, curve) in enumerate(points.items()):
        learnt = [point.positions for point in curve]
        style = {"color": f"C{number}"}
        accuracy.plot(learnt, [PERCENT * p.accuracy for p in curve], "--", label=f"{kind}, training", **style)
        accuracy.plot(
            learnt, [PERCENT * p.held_out_accuracy for p in curve], "o-", label=f"{kind}, held out", **style
        )
        likelihood.plot(learnt, [p.log_likelihood for p in curve], "--", label=f"{kind}, training", **style)
        likelihood.plot(
            learnt, [p.held_out_log_likelihood for p in curve], "o-", label=f"{kind}, held out", **style
        )
    accuracy.axhline(
        paper.ROLLOUT_ACCURACY, color="grey", linewidth=0.8, label="the paper's rollout policy (19x19)"
    )
    accuracy.set_ylabel("moves predicted (%)")
    likelihood.set_ylabel("log likelihood (nats a move)")
    for axes in (accuracy, likelihood):
        axes.set_xlabel("positions learnt")
        axes.legend(fontsize="small")
    return figure
