"""What a tournament is told by: ratings, cross-table, chart, game records, and notes on conduct."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from go_engine import BLACK, WHITE
from go_engine.gtp_text import handicap_points
from go_engine.sgf import write_sgf
from tasks.elo import agresti_coull, bayes_elo
from tasks.params import RatingParams
from tasks.store import write_text
from tasks.tournament_games import GameResult

BAR_INCHES = 0.45
MOST_SURE = 0.999  # a likelihood is never shown as certainty
SLUG = str.maketrans(dict.fromkeys(" /\\:*?\"'<>|,=()", "-"))


def results_table(results: Sequence[GameResult]) -> pd.DataFrame:
    """Sums by pair with colours, program_a being White, in the form that `bayes_elo` reads."""
    sums: Counter[tuple[str, str, int]] = Counter((r.white, r.black, r.winner) for r in results)
    pairs = sorted({(white, black) for white, black, _ in sums})
    rows = [(a, b, sums[a, b, WHITE], sums[a, b, BLACK], sums[a, b, 0]) for a, b in pairs]
    return pd.DataFrame(rows, columns=["program_a", "program_b", "wins_a", "wins_b", "draws"])


def rate(results: Sequence[GameResult], rating: RatingParams) -> pd.DataFrame:
    """The table of `bayes_elo`, strongest first. Anchors that did not play are left aside."""
    table = results_table(results)
    present = set(table["program_a"]) | set(table["program_b"])
    anchors = {name: elo for name, elo in rating.anchors.items() if name in present}
    return bayes_elo(table, anchors or None, rating.advantage, rating.drawelo, rating.prior, rating.scale)


def crosstable(results: Sequence[GameResult], order: Sequence[str]) -> list[dict[str, Any]]:
    """For each ordered pair that met: the games that `row` won, draws counted half, with the interval."""
    points: Counter[tuple[str, str]] = Counter()
    games: Counter[tuple[str, str]] = Counter()
    for r in results:
        share = {BLACK: 1.0, WHITE: 0.0}.get(r.winner, 0.5)
        points[r.black, r.white] += share  # type: ignore[assignment]
        points[r.white, r.black] += 1 - share  # type: ignore[assignment]
        games[r.black, r.white] += 1
        games[r.white, r.black] += 1
    cells = []
    for row in order:
        for column in order:
            if count := games[row, column]:
                low, high = agresti_coull(points[row, column], count)
                cells.append(
                    {
                        "row": row,
                        "column": column,
                        "points": points[row, column],
                        "games": count,
                        "share": points[row, column] / count,
                        "low": low,
                        "high": high,
                    }
                )
    return cells


def ratings_markdown(ratings: pd.DataFrame) -> str:
    """Ratings, the strongest first; the last column is how sure the place above the next player is."""
    lines = [
        "| player | Elo | 95% interval | games | score | above the next |",
        "|---|---:|:---:|---:|---:|---:|",
    ]
    los = ratings.attrs["los"].to_numpy()
    for place, r in enumerate(ratings.itertuples()):
        sure = los[place, place + 1] if place + 1 < len(los) else np.nan
        interval = f"{r.lower:.0f} to {r.upper:.0f}"
        shown = "" if np.isnan(sure) else f"{min(sure, MOST_SURE):.1%}"
        lines.append(f"| {r.program} | {r.elo:.0f} | {interval} | {r.games:.0f} | {r.score:.1%} | {shown} |")
    return "\n".join(lines)


def crosstable_markdown(cells: Sequence[dict[str, Any]], order: Sequence[str]) -> str:
    """Share of games that the row won against the column, in percent, [interval], (games)."""
    found = {(c["row"], c["column"]): c for c in cells}
    lines = ["| | " + " | ".join(order) + " |", "|---|" + ":---:|" * len(order)]
    for row in order:
        texts = [_cell(found.get((row, column))) for column in order]
        lines.append(f"| {row} | " + " | ".join(texts) + " |")
    lines.append("\nPercent of games won by the row's player [95% Agresti-Coull interval] (games).")
    return "\n".join(lines)


def _cell(cell: dict[str, Any] | None) -> str:
    if cell is None:
        return "-"
    return f"{cell['share']:.0%} [{cell['low']:.0%}; {cell['high']:.0%}] ({cell['games']})".replace("%", "")


def superiority_markdown(ratings: pd.DataFrame) -> str:
    """Likelihood, in percent, that the row's player is stronger than the column's."""
    los = ratings.attrs["los"]
    lines = ["| | " + " | ".join(los.columns) + " |", "|---|" + "---:|" * len(los.columns)]
    for row in los.index:
        values = ["" if row == c or np.isnan(v) else f"{100 * v:.1f}" for c, v in los.loc[row].items()]
        lines.append(f"| {row} | " + " | ".join(values) + " |")
    return "\n".join(lines)


def elo_chart(ratings: pd.DataFrame, title: str) -> Any:
    """Bars with 95% intervals, the strongest at the top, as in the paper's Fig. 4."""
    from matplotlib.figure import Figure

    shown = ratings.iloc[::-1]
    figure = Figure(figsize=(7, 1.2 + BAR_INCHES * len(shown)), layout="constrained")
    axes = figure.subplots()
    errors = [shown["elo"] - shown["lower"], shown["upper"] - shown["elo"]]
    axes.barh(shown["program"], shown["elo"], xerr=errors, color="#4878a8", ecolor="#222222", capsize=3)
    for place, (elo, upper) in enumerate(zip(shown["elo"], shown["upper"], strict=True)):
        axes.annotate(f"{elo:.0f}", (max(upper, 0), place), (4, 0), textcoords="offset points", va="center")
    axes.axvline(0, color="#222222", linewidth=0.8)
    axes.margins(x=0.12)
    axes.set_xlabel("Elo (BayesElo), with 95% intervals")
    axes.set_title(title)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def conduct(results: Sequence[GameResult]) -> list[str]:
    """One line for each kind of thing that a reader of the table should know of."""
    lines = []
    capped = sum(r.ending == "length" for r in results)
    if capped:
        lines.append(
            f"{capped} of {len(results)} games reached the length cap and were scored as they stood."
        )
    resigned = sum(r.ending == "resignation" for r in results)
    if resigned:
        lines.append(f"{_games(resigned)} ended by resignation.")
    faults = Counter((r.loser or "", r.fault or "") for r in results if r.ending == "forfeit")
    for (name, kind), count in sorted(faults.items()):
        example = next(r.fault_text for r in results if r.fault == kind and r.loser == name)
        lines.append(f"{name} forfeited {_games(count)} ({kind}), for example: {example}")
    claims = Counter(name for r in results for name in r.claims)
    for name, count in sorted(claims.items()):
        lines.append(
            f"{name} saw another winner than the referee in {_games(count)}; the referee's count stands."
        )
    copies = len(results) - len({(r.black, r.white, tuple(r.moves)) for r in results})
    if copies:
        verb = "repeats" if copies == 1 else "repeat"
        lines.append(f"{_games(copies)} {verb} another of the same players move by move.")
    return lines


def _games(count: int) -> str:
    return f"{count} game{'' if count == 1 else 's'}"


def write_games(folder: Path, results: Sequence[GameResult], size: int, komi: float) -> None:
    """One SGF collection for each pair of players, games in the order of their numbers."""
    pairs: dict[tuple[str, str], list[GameResult]] = {}
    for result in sorted(results, key=lambda r: r.number):
        first, second = sorted((result.black, result.white))
        pairs.setdefault((first, second), []).append(result)
    for names, games in pairs.items():
        name = "--".join(name.translate(SLUG) for name in names)
        write_text(folder / f"{name}.sgf", "".join(_records(games, size, komi)))


def _records(games: Sequence[GameResult], size: int, komi: float) -> Iterator[str]:
    for game in games:
        moves = game.coloured_moves
        stones = handicap_points(game.handicap, size) if game.handicap else None
        properties = {"GN": f"game {game.number}, opening {game.opening}"}
        notes = dict(game.comments)
        if game.opening_plies:
            notes[0] = f"The first {game.opening_plies} moves are random."
        if game.fault:
            notes[len(moves)] = f"{notes.get(len(moves), '')}\n{game.fault}: {game.fault_text}".strip()
        data = write_sgf(size, komi, moves, game.text, game.black, game.white, properties, notes, stones)
        yield data.decode("utf-8") + "\n"
