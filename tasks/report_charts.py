"""Bars of Elo ratings as SVG, which takes the page's colours, dark or light."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import NamedTuple

WIDTH, LABEL, VALUE = 300, 60, 48  # pixels: the drawing, the names' part, room for the number
ROW, BAR, TOP, BOTTOM = 24, 14, 6, 24
CHARACTER = 6.6  # pixels of a letter of the names
STEPS = (50, 100, 200, 250, 500, 1000, 2000)  # Elo between two lines of the grid
LINES = 5  # of the grid, at most
INK, SOFT, GRID = "var(--ink, #1c1b19)", "var(--soft, #6b6862)", "var(--line, #d9d6cf)"
FILL = "var(--bar, #3b6ea5)"


class Bar(NamedTuple):
    """A rating, with the ends of its 95% interval where it has one."""

    name: str
    elo: float
    lower: float | None = None
    upper: float | None = None

    @property
    def told(self) -> str:
        if self.lower is None or self.upper is None:
            return f"{self.name}: {self.elo:.0f}"
        return f"{self.name}: {self.elo:.0f}, 95% interval {self.lower:.0f} to {self.upper:.0f}"


def elo_bars(bars: Sequence[Bar], label: str) -> str:
    """An SVG drawing, one bar a player in the given order, from the lowest end in sight or 0."""
    low = min([0.0, *(bar.elo if bar.lower is None else bar.lower for bar in bars)])
    high = max([1.0, *(bar.elo if bar.upper is None else bar.upper for bar in bars)])
    labels = max([LABEL, *(CHARACTER * len(bar.name) + 12 for bar in bars)])
    scale = (WIDTH - VALUE) / (high - low)
    width, height = labels + WIDTH, TOP + ROW * len(bars) + BOTTOM

    def x(elo: float) -> float:
        return labels + (elo - low) * scale

    parts = [_grid(low, high, x(0), scale, height)]
    for place, bar in enumerate(bars):
        middle = TOP + ROW * place + ROW / 2
        left, right = sorted((x(0), x(bar.elo)))
        end = x(bar.elo if bar.upper is None else bar.upper)
        parts.append(
            f"<g><title>{escape(bar.told)}</title>"
            f'<rect x="{left:.1f}" y="{middle - BAR / 2}" width="{right - left:.1f}" height="{BAR}" rx="2" '
            f'fill="{FILL}"/>{_whisker(bar, x, middle)}'
            f'<text x="{labels - 8:.1f}" y="{middle}" text-anchor="end" dominant-baseline="central" '
            f'fill="{INK}">{escape(bar.name)}</text>'
            f'<text x="{max(end, x(0)) + 6:.1f}" y="{middle}" dominant-baseline="central" '
            f'fill="{INK}">{bar.elo:.0f}</text></g>'
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" '
        f'role="img" aria-label="{escape(label)}" font-family="system-ui, sans-serif" font-size="12">'
        f"{''.join(parts)}</svg>"
    )


def _grid(low: float, high: float, zero: float, scale: float, height: float) -> str:
    step = next((step for step in STEPS if (high - low) / step <= LINES), STEPS[-1])
    first = int(-(-low // step))
    parts = []
    for number in range(first, int(high // step) + 1):
        at = zero + number * step * scale
        parts.append(
            f'<path d="M{at:.1f} {TOP}V{height - BOTTOM}" stroke="{GRID}" fill="none"/>'
            f'<text x="{at:.1f}" y="{height - BOTTOM + 14}" text-anchor="middle" fill="{SOFT}" '
            f'font-size="11">{number * step}</text>'
        )
    return "".join(parts)


def _whisker(bar: Bar, x: Callable[[float], float], middle: float) -> str:
    if bar.lower is None or bar.upper is None:
        return ""
    left, right = x(bar.lower), x(bar.upper)
    ends = "".join(f"M{at:.1f} {middle - 4}V{middle + 4}" for at in (left, right))
    return f'<path d="M{left:.1f} {middle}H{right:.1f}{ends}" stroke="{INK}" stroke-width="1.3" fill="none"/>'
