"""What a search has found, for people and other programs: candidates, variations, JSON, SGF."""

from __future__ import annotations

from typing import Any

import numpy as np

from go_engine import _core
from go_engine._core import BLACK, WHITE, EdgeReport, Search
from go_engine.players import Candidate

LONGEST_LINE = 30
SUMMARY_MOVES = 3


def principal_variation(search: Search, path: list[int] | None = None) -> list[int]:
    """The most visited moves after `path`, as long as there are visits."""
    line = list(path or [])
    start = len(line)
    while len(line) - start < LONGEST_LINE:
        tried = [edge for edge in search.edges(line) if edge.visits > 0]
        if not tried:
            break
        line.append(max(tried, key=_weight).move)
    return line[start:]


def candidates(search: Search) -> list[Candidate]:
    """The root's moves that were tried, most visited first."""
    tried = sorted((edge for edge in search.edges() if edge.visits > 0), key=_weight, reverse=True)
    return [
        Candidate(
            move=edge.move,
            visits=edge.visits,
            winrate=(edge.q + 1) / 2,
            prior=edge.prior,
            line=[edge.move, *principal_variation(search, [edge.move])],
        )
        for edge in tried
    ]


def summary(search: Search) -> str:
    """One line: the chance to win, the visits, and the moves considered most; empty before any visit."""
    tried = sorted((edge for edge in search.edges() if edge.visits > 0), key=_weight, reverse=True)
    if not tried:
        return ""
    size = search.board.size
    moves = ", ".join(f"{_core.vertex(edge.move, size)} {edge.visits}" for edge in tried[:SUMMARY_MOVES])
    visits = sum(edge.visits for edge in tried)
    return f"{(tried[0].q + 1) / 2:.0%} to win after {visits} visits: {moves}"


def tree(search: Search, least_visits: int = 1, depth: int = 20) -> dict[str, Any]:
    """The tree as plain data, ready for json.dump: edges with `least_visits` or more, down to `depth`.

    Of each edge: move and vertex; prior before (placeholder) and after the network answered; visits (N_r) and
    the average of the rollouts; values (N_v) and the average of the values, null without any; q. All numbers
    are those of the player who chooses the edge.
    """
    board, stats = search.board, search.stats()
    return {
        "size": board.size,
        "komi": board.komi,
        "to_play": "black" if board.to_play == BLACK else "white",
        "move_number": board.move_number,
        "simulations": stats.simulations,
        "nodes": stats.nodes,
        "edges": _edges(search, [], least_visits, depth),
    }


def to_sgf(search: Search, least_visits: int = 10, depth: int = 20) -> str:
    """The tree as one SGF game: the position as setup stones, every edge as a variation with its numbers."""
    board = search.board
    grid = board.grid().ravel()
    setup = ""
    for name, colour in (("AB", BLACK), ("AW", WHITE)):
        points = "".join(f"[{_sgf_point(int(move), board.size)}]" for move in np.flatnonzero(grid == colour))
        setup += f"{name}{points}" if points else ""
    to_play = "B" if board.to_play == BLACK else "W"
    head = f"GM[1]FF[4]CA[UTF-8]SZ[{board.size}]KM[{board.komi:g}]{setup}PL[{to_play}]"
    comment = f"C[{search.stats().simulations} simulations]"
    branches = _sgf_branches(_edges(search, [], least_visits, depth), to_play, board.size)
    return f"(;{head}{comment}{branches})\n"


def _weight(edge: EdgeReport) -> tuple[int, float]:
    return edge.visits, edge.q


def _edges(search: Search, path: list[int], least_visits: int, depth: int) -> list[dict[str, Any]]:
    size = search.board.size
    found = []
    tried = [edge for edge in search.edges(path) if edge.visits >= max(least_visits, 1)]
    for edge in sorted(tried, key=_weight, reverse=True):
        entry: dict[str, Any] = {
            "move": edge.move,
            "vertex": _core.vertex(edge.move, size),
            "placeholder": round(edge.placeholder, 6),
            "prior": round(edge.prior, 6),
            "visits": edge.visits,
            "rollout_average": edge.wins / edge.visits,
            "values": edge.values,
            "value_average": edge.value_sum / edge.values if edge.values else None,
            "q": edge.q,
        }
        if edge.expanded and depth > 1:
            entry["edges"] = _edges(search, [*path, edge.move], least_visits, depth - 1)
        found.append(entry)
    return found


def _sgf_point(move: int, size: int) -> str:
    """An empty text is a pass."""
    return "" if move == size * size else chr(ord("a") + move % size) + chr(ord("a") + move // size)


def _sgf_branches(edges: list[dict[str, Any]], colour: str, size: int) -> str:
    text = ""
    for edge in edges:
        value = "-" if edge["value_average"] is None else f"{edge['value_average']:+.3f}"
        comment = (
            f"N_r {edge['visits']}, rollouts {edge['rollout_average']:+.3f}\n"
            f"N_v {edge['values']}, values {value}\n"
            f"Q {edge['q']:+.3f}, prior {edge['prior']:.4f} (before the network {edge['placeholder']:.4f})"
        )
        below = _sgf_branches(edge.get("edges", []), "W" if colour == "B" else "B", size)
        text += f"(;{colour}[{_sgf_point(edge['move'], size)}]C[{comment}]{below})"
    return text
