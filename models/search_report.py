"""What a search thinks, for people and for clients of GTP."""

from __future__ import annotations

from go_engine import Search, vertex
from go_engine.players import Candidate

LINE_MOVES = 12
COMMENT_MOVES = 3


def candidates_of(search: Search, line_moves: int = LINE_MOVES) -> list[Candidate]:
    """The moves of the root that were visited, most visited first, each with the line expected after it."""
    edges = sorted((e for e in search.edges() if e.visits), key=lambda e: (-e.visits, -e.prior))
    return [
        Candidate(e.move, e.visits, (e.q + 1) / 2, e.prior, principal_line(search, [e.move], line_moves))
        for e in edges
    ]


def principal_line(search: Search, path: list[int], length: int) -> list[int]:
    """`path` and the most visited moves after it, `length` moves at most."""
    line = list(path)
    while len(line) < length:
        visited = [edge for edge in search.edges(line) if edge.visits]
        if not visited:
            break
        line.append(max(visited, key=lambda edge: (edge.visits, edge.prior)).move)
    return line


def comment_on(search: Search) -> str:
    """One line: simulations, chance to win, and the moves that were considered most."""
    edges = sorted((e for e in search.edges() if e.visits), key=lambda e: (-e.visits, -e.prior))
    if not edges:
        return ""
    size = search.board.size
    moves = ", ".join(f"{vertex(e.move, size)} {e.visits}" for e in edges[:COMMENT_MOVES])
    chance = (edges[0].q + 1) / 2
    return f"{chance:.0%} to win after {sum(e.visits for e in edges)} visits: {moves}"
