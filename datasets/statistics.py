"""What a corpus holds: games by rank, length, komi, handicap and result, and where games begin."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from .dialects import rank_value, result_kind
from .selection import handicap_mask
from .store import Location, join, locate, read_manifest

OPENING_MOVES = 20  # moves of each game that go into the heat map
LENGTH_BIN = 10  # moves
WEAKEST = 1000  # where unknown ranks stand in a figure: after all others
PAPER = {"games": 160_000, "positions": 29_400_000, "handicap_share": 0.354}  # KGS, Methods

_COLUMNS = [
    "handicap", "black", "white", "moves", "positions", "komi", "result", "winner",
    "black_rank", "white_rank", "rules",
]  # fmt: skip


class Statistics:
    """Counts over the tables it is given."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.games = self.positions = self.moves = self.handicap_games = 0
        self.counters: dict[str, Counter[str]] = {
            name: Counter() for name in ("rank", "length", "komi", "result", "winner", "rules", "handicap")
        }
        self.opening = np.zeros(size * size + 1, np.int64)

    def add(self, table: pa.Table) -> None:
        """Counts one table of games."""
        handicap = handicap_mask(table)
        moves = table["moves"].combine_chunks()
        lengths = moves.value_lengths().to_numpy(zero_copy_only=False)
        self.games += table.num_rows
        self.positions += int(table["positions"].to_numpy().sum())
        self.moves += int(lengths.sum())
        self.handicap_games += int(handicap.sum())
        count = self.counters
        for rank in table["black_rank"].to_pylist() + table["white_rank"].to_pylist():
            count["rank"][
                rank if rank_value(rank) is not None else "unknown" if rank is None else "other"
            ] += 1
        for length in (lengths // LENGTH_BIN * LENGTH_BIN).tolist():
            count["length"][str(length)] += 1
        for komi in table["komi"].to_pylist():
            count["komi"]["unknown" if komi is None else f"{komi:g}"] += 1
        for result in table["result"].to_pylist():
            count["result"][result_kind(result)] += 1
        for winner in table["winner"].to_pylist():
            count["winner"][{1: "black", -1: "white", 0: "draw", None: "unknown"}[winner]] += 1
        for rules in table["rules"].to_pylist():
            count["rules"][rules or "unknown"] += 1
        for number in table["handicap"].to_pylist():
            count["handicap"]["unknown" if number is None else str(number)] += 1
        values = moves.flatten().to_numpy(zero_copy_only=False)
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        within = np.arange(len(values)) - np.repeat(starts, lengths)
        self.opening += np.bincount(values[within < OPENING_MOVES], minlength=len(self.opening))

    def result(self) -> dict[str, Any]:
        """Everything as plain numbers, for JSON."""
        games = max(self.games, 1)
        decided = self.counters["winner"]["black"] + self.counters["winner"]["white"]
        return {
            "size": self.size,
            "games": self.games,
            "positions": self.positions,
            "moves": self.moves,
            "mean_length": self.moves / games,
            "handicap_games": self.handicap_games,
            "handicap_share": self.handicap_games / games,
            "black_wins_share": self.counters["winner"]["black"] / max(decided, 1),
            **{name: dict(counter.most_common()) for name, counter in self.counters.items()},
            "opening": self.opening[:-1].reshape(self.size, self.size).tolist(),
        }


def collect_statistics(folder: Location) -> dict[str, Any]:
    """Statistics of a folder of games."""
    manifest = read_manifest(folder, "games")
    statistics = Statistics(int(manifest["size"]))
    for entry in manifest["files"]:
        filesystem, path = locate(join(folder, entry["name"]))
        statistics.add(pq.read_table(path, columns=_COLUMNS, filesystem=filesystem))
    return statistics.result()


def statistics_figures(statistics: dict[str, Any]) -> dict[str, Any]:
    """Matplotlib figures by name: ranks, lengths, komi, results, and the heat map of the opening."""
    from matplotlib.figure import Figure

    def bars(title: str, counts: dict[str, int], limit: int = 20, unit: str = "games") -> Figure:
        figure = Figure(figsize=(7, 3.5), layout="constrained")
        axes = figure.subplots()
        items = list(counts.items())[:limit]
        axes.bar([name for name, _ in items], [number for _, number in items], color="#3b6ea5")
        axes.set_title(title)
        axes.set_ylabel(unit)
        axes.tick_params(axis="x", rotation=60)
        return figure

    lengths = dict(sorted(statistics["length"].items(), key=lambda item: int(item[0])))
    strength = {rank: rank_value(rank) for rank in statistics["rank"]}
    known = sorted(
        (rank for rank in strength if strength[rank] is not None), key=lambda r: -(strength[r] or 0)
    )
    order = known + [rank for rank in strength if strength[rank] is None]
    ranks = {rank: statistics["rank"][rank] for rank in order}
    figures = {
        "ranks": bars("players by rank", ranks, 45, "players"),
        "lengths": bars(f"games by moves (steps of {LENGTH_BIN})", lengths, 60),
        "komi": bars("games by komi", statistics["komi"]),
        "handicap": bars("games by handicap", statistics["handicap"]),
        "results": bars("games by kind of result", statistics["result"]),
        "winners": bars("games by winner", statistics["winner"]),
    }
    heat = Figure(figsize=(5, 4.5), layout="constrained")
    axes = heat.subplots()
    image = axes.imshow(np.array(statistics["opening"]), cmap="magma")
    axes.set_title(f"the first {OPENING_MOVES} moves")
    axes.set_xticks([])
    axes.set_yticks([])
    heat.colorbar(image, ax=axes, label="moves")
    figures["opening"] = heat
    return figures


def statistics_table(statistics: dict[str, Any]) -> str:
    """A markdown table beside the paper's corpus."""
    rows = [
        ("games", f"{statistics['games']:,}", f"{PAPER['games']:,}"),
        ("positions (passes left out)", f"{statistics['positions']:,}", f"{PAPER['positions']:,}"),
        ("handicap games", f"{statistics['handicap_share']:.1%}", f"{PAPER['handicap_share']:.1%}"),
        ("moves a game", f"{statistics['mean_length']:.1f}", "-"),
        ("won by Black", f"{statistics['black_wins_share']:.1%}", "-"),
    ]
    lines = ["| | this corpus | the paper (KGS) |", "|---|---|---|"]
    return "\n".join(lines + [f"| {name} | {ours} | {paper} |" for name, ours, paper in rows])
