"""The figure of an analysis: six boards, after the paper's Fig. 5."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from go_engine import BLACK, Board, vertex

INCHES = 4.2  # a board's side
DOTS = 110  # per inch
COLUMNS = 3
TITLE_LETTERS = 130  # in a line; a player's description can be long
WOOD, LINES, BLUE, BEST = "#e9c88b", "#6b5636", "#2a62b8", "#d62728"
STAR_DISTANCE = {9: 2, 13: 3, 19: 3}  # of the star points from the edge
LINE_MOVES = 20  # of the principal variation that are drawn


@dataclass(frozen=True)
class Panel:
    """One board of the figure: a number for some of the points, in per cent, the greater the better."""

    letter: str
    title: str
    values: dict[int, float]  # move -> per cent
    digits: int = 0


@dataclass(frozen=True)
class Analysis:
    """All that the figure shows; winning chances are those of the player to move."""

    board: Board
    player: str
    best: int
    panels: list[Panel]
    line: list[int]  # the principal variation
    simulations: int
    title: str = ""
    candidates: list[dict[str, Any]] = field(default_factory=list)


def write_image(path: Path, analysis: Analysis) -> None:
    """Write the six boards as a PNG."""
    from matplotlib.figure import Figure

    rows = (len(analysis.panels) + COLUMNS) // COLUMNS
    figure = Figure(figsize=(COLUMNS * INCHES, rows * (INCHES + 0.4) + 0.4), dpi=DOTS, layout="constrained")
    title = f"{analysis.title}   {analysis.player}, {analysis.simulations} simulations"
    figure.suptitle("\n".join(textwrap.wrap(title, TITLE_LETTERS, break_on_hyphens=False)), fontsize=11)
    axes = figure.subplots(rows, COLUMNS).ravel()
    for place, panel in zip(axes, analysis.panels, strict=False):
        _board(place, analysis.board, f"{panel.letter}  {panel.title}")
        _numbers(place, analysis, panel)
    place = axes[len(analysis.panels)]
    _board(place, analysis.board, "f  Principal variation")
    _variation(place, analysis)
    for rest in axes[len(analysis.panels) + 1 :]:
        rest.set_axis_off()
    figure.savefig(path, format="png")


def _board(place: Any, board: Board, title: str) -> None:
    size = board.size
    place.set_title(title, fontsize=10, loc="left")
    place.set_facecolor(WOOD)
    place.set_xlim(-0.7, size - 0.3)
    place.set_ylim(size - 0.3, -0.7)
    place.set_aspect("equal")
    for i in range(size):
        place.plot([0, size - 1], [i, i], color=LINES, linewidth=0.6, zorder=1)
        place.plot([i, i], [0, size - 1], color=LINES, linewidth=0.6, zorder=1)
    for row, col in star_points(size):
        place.plot(col, row, "o", color=LINES, markersize=2.5, zorder=1)
    place.set_xticks(range(size), [vertex(col, size)[0] for col in range(size)], fontsize=6)
    place.set_yticks(range(size), [str(size - row) for row in range(size)], fontsize=6)
    place.tick_params(length=0)
    grid = board.grid()
    for row in range(size):
        for col in range(size):
            if grid[row, col]:
                _stone(place, row, col, grid[row, col] == BLACK)
    if board.last_move is not None and board.last_move < size * size:
        row, col = divmod(board.last_move, size)
        colour = "white" if grid[row, col] == BLACK else "black"
        place.plot(col, row, "s", color=colour, markersize=3, zorder=4)


def star_points(size: int) -> list[tuple[int, int]]:
    if size not in STAR_DISTANCE:
        return []
    near = STAR_DISTANCE[size]
    lines = (near, size // 2, size - 1 - near)
    return [(row, col) for row in lines for col in lines]


def _stone(place: Any, row: int, col: int, black: bool) -> None:
    from matplotlib.patches import Circle

    face = "black" if black else "white"
    place.add_patch(Circle((col, row), 0.46, facecolor=face, edgecolor="black", linewidth=0.5, zorder=3))


def _numbers(place: Any, analysis: Analysis, panel: Panel) -> None:
    """Circles whose depth of blue grows with the number; the greatest and the chosen move stand out."""
    from matplotlib.patches import Circle

    size = analysis.board.size
    if not panel.values:
        place.text((size - 1) / 2, (size - 1) / 2, "not used", ha="center", zorder=6, fontsize=12)
        return
    top, low = max(panel.values.values()), min(panel.values.values())
    font = min(8.0, 8.0 * 13 / size)
    for move, value in panel.values.items():
        if move == size * size:
            continue
        row, col = divmod(move, size)
        depth = (value - low) / (top - low) if top > low else 1.0
        edge = BEST if value == top else "none"
        place.add_patch(
            Circle((col, row), 0.45, facecolor=BLUE, alpha=0.15 + 0.6 * depth, edgecolor="none", zorder=2)
        )
        place.add_patch(Circle((col, row), 0.45, fill=False, edgecolor=edge, linewidth=1.5, zorder=5))
        ink = "white" if depth > 0.6 else "black"
        text = f"{value:.{panel.digits}f}"
        place.text(col, row, text, ha="center", va="center", fontsize=font, color=ink, zorder=6)


def _variation(place: Any, analysis: Analysis) -> None:
    size = analysis.board.size
    black = analysis.board.to_play == BLACK
    seen: set[int] = set()
    for number, move in enumerate(analysis.line[:LINE_MOVES], start=1):
        if move < size * size and move not in seen:
            row, col = divmod(move, size)
            _stone(place, row, col, black)
            ink = "white" if black else "black"
            place.text(col, row, str(number), ha="center", va="center", fontsize=7, color=ink, zorder=6)
            seen.add(move)
        black = not black
