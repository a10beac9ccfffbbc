"""The page of an analysis: six boards as inline SVG and a table, nothing loaded from elsewhere."""

from __future__ import annotations

from html import escape
from pathlib import Path

from go_engine import BLACK, vertex
from tasks.analysis_plot import LINE_MOVES, Analysis, Panel, star_points

CELL = 28  # pixels between two lines of a board
STONE = 0.47  # of a cell
SHADE = (0.15, 0.75)  # opacity of the smallest and of the greatest number

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 1.5rem; color: #1d1d1f; background: #fff; }
h1 { font-size: 1.25rem; margin: 0 0 .25rem; }
.boards { display: grid; grid-template-columns: repeat(auto-fit, minmax(300px, 1fr)); gap: 1.2rem; }
figure { margin: 0; } figcaption { font-weight: 600; margin-bottom: .3rem; }
svg { width: 100%; height: auto; display: block; }
svg text { text-anchor: middle; dominant-baseline: central; font: 10px system-ui, sans-serif; }
svg text.axis { font-size: 9px; fill: #6b5636; } svg text.ink { fill: #fff; }
table { border-collapse: collapse; margin-top: 1.5rem; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .7rem; text-align: right; border-bottom: 1px solid #ddd; }
th:first-child, td:first-child, th:last-child, td:last-child { text-align: left; }
.scroll { overflow-x: auto; }
@media (prefers-color-scheme: dark) {
  body { background: #161618; color: #eee; } th, td { border-color: #444; }
}
"""

COLUMNS = (
    ("Move", "move", ""),
    ("Visits", "visits", ",d"),
    ("Q %", "q", ".1f"),
    ("Values %", "value", ".1f"),
    ("Rollouts %", "rollouts", ".1f"),
    ("Prior %", "prior", ".2f"),
    ("Before the network %", "placeholder", ".2f"),
    ("Expected moves", "line", ""),
)


def write_page(path: Path, analysis: Analysis) -> None:
    """Write the page; every number on a board says its move and exact value when pointed at."""
    board = analysis.board
    mover = "Black" if board.to_play == BLACK else "White"
    best = vertex(analysis.best, board.size)
    title = escape(analysis.title or "Analysis")
    figures = [
        _figure(f"{p.letter}. {p.title}", _svg(analysis, _numbers(analysis, p))) for p in analysis.panels
    ]
    figures.append(_figure("f. Principal variation", _svg(analysis, _variation(analysis))))
    text = f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>{STYLE}</style></head><body>
<h1>{title}</h1>
<p>{mover} to play, komi {board.komi:g}. {escape(analysis.player)} plays <b>{best}</b> after
{analysis.simulations:,} simulations. Chances are {mover}'s, in per cent.</p>
<div class="boards">{"".join(figures)}</div>
<div class="scroll">{_table(analysis)}</div>
</body></html>
"""
    path.write_text(text, encoding="utf-8")


def _figure(caption: str, svg: str) -> str:
    return f"<figure><figcaption>{escape(caption)}</figcaption>{svg}</figure>\n"


def _svg(analysis: Analysis, marks: str) -> str:
    board, size = analysis.board, analysis.board.size
    side = (size + 1) * CELL
    parts = [f'<rect width="{side}" height="{side}" rx="4" fill="#e9c88b"/>']
    for i in range(size):
        a, b = CELL, size * CELL
        at = CELL * (i + 1)
        parts.append(f'<path d="M{a} {at}H{b}M{at} {a}V{b}" stroke="#6b5636" stroke-width="1" fill="none"/>')
        column, row = vertex(i, size)[0], str(size - i)
        parts.append(f'<text class="axis" x="{at}" y="{CELL / 4}">{column}</text>')
        parts.append(f'<text class="axis" x="{CELL / 4}" y="{at}">{row}</text>')
    for row_, col in star_points(size):
        parts.append(f'<circle cx="{CELL * (col + 1)}" cy="{CELL * (row_ + 1)}" r="2.5" fill="#6b5636"/>')
    grid = board.grid().ravel()
    parts += [_stone(move, size, int(grid[move]) == BLACK) for move in range(size * size) if grid[move]]
    if board.last_move is not None and board.last_move < size * size:
        x, y = _at(board.last_move, size)
        ink = "#fff" if grid[board.last_move] == BLACK else "#000"
        parts.append(f'<rect x="{x - 3}" y="{y - 3}" width="6" height="6" fill="{ink}"/>')
    label = "board with numbers"
    return f'<svg viewBox="0 0 {side} {side}" role="img" aria-label="{label}">{"".join(parts)}{marks}</svg>'


def _at(move: int, size: int) -> tuple[int, int]:
    row, col = divmod(move, size)
    return CELL * (col + 1), CELL * (row + 1)


def _stone(move: int, size: int, black: bool) -> str:
    x, y = _at(move, size)
    fill = "#111" if black else "#fafafa"
    return f'<circle cx="{x}" cy="{y}" r="{STONE * CELL:.1f}" fill="{fill}" stroke="#111"/>'


def _numbers(analysis: Analysis, panel: Panel) -> str:
    size = analysis.board.size
    if not panel.values:
        middle = (size + 1) * CELL / 2
        return f'<text x="{middle}" y="{middle}" style="font-size:18px">not used</text>'
    top, low = max(panel.values.values()), min(panel.values.values())
    parts = []
    for move, value in panel.values.items():
        if move == size * size:
            continue
        x, y = _at(move, size)
        depth = (value - low) / (top - low) if top > low else 1.0
        opacity = SHADE[0] + (SHADE[1] - SHADE[0]) * depth
        ring = ' stroke="#d62728" stroke-width="2"' if value == top else ""
        ink = ' class="ink"' if depth > 0.6 else ""
        parts.append(
            f"<g><title>{vertex(move, size)} {value:.2f} %</title>"
            f'<circle cx="{x}" cy="{y}" r="{STONE * CELL:.1f}" fill="#2a62b8"'
            f' fill-opacity="{opacity:.2f}"{ring}/>'
            f'<text{ink} x="{x}" y="{y}">{value:.{panel.digits}f}</text></g>'
        )
    return "".join(parts)


def _variation(analysis: Analysis) -> str:
    size = analysis.board.size
    black = analysis.board.to_play == BLACK
    parts, seen = [], set()
    for number, move in enumerate(analysis.line[:LINE_MOVES], start=1):
        if move < size * size and move not in seen:
            x, y = _at(move, size)
            ink = ' class="ink"' if black else ""
            parts.append(_stone(move, size, black) + f'<text{ink} x="{x}" y="{y}">{number}</text>')
            seen.add(move)
        black = not black
    return "".join(parts)


def _table(analysis: Analysis) -> str:
    head = "".join(f"<th>{name}</th>" for name, _, _ in COLUMNS)
    lines = []
    for candidate in analysis.candidates:
        cells = ""
        for _, key, form in COLUMNS:
            value = candidate[key]
            cells += f"<td>{'-' if value is None else escape(format(value, form))}</td>"
        lines.append(f"<tr>{cells}</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
