"""Analysis over GTP, as graphical clients ask for it: lz-analyze, kata-analyze and their genmove forms.

`lz-analyze [colour] [interval] [name value]...` answers with a line of candidates every `interval` hundredths
of a second until the client sends its next line. The genmove forms think as long as genmove does, then answer
with `play VERTEX`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from go_engine import vertex
from go_engine.gtp_text import GtpFailure, parse_colour, parse_int
from go_engine.players import Candidate

INTERVAL = 50  # hundredths of a second
MOST_CANDIDATES = 361
COMMANDS = ("lz-analyze", "kata-analyze", "lz-genmove_analyze", "kata-genmove_analyze")


class Request(NamedTuple):
    """What an analysis command asks for; seconds between lines."""

    colour: int
    interval: float
    candidates: int
    kata: bool
    plays: bool


def parse_request(name: str, words: Sequence[str], to_play: int) -> Request:
    """Options not known here are passed over with their value: clients send what other engines know."""
    colour, interval, candidates = to_play, INTERVAL, MOST_CANDIDATES
    rest = list(words)
    if rest and rest[0].lower() in ("b", "black", "w", "white"):
        colour = parse_colour(rest.pop(0))
    if rest and rest[0].isdigit():
        interval = parse_int(rest.pop(0))
    for key, value in zip(rest[::2], rest[1::2], strict=False):
        if key == "interval":
            interval = parse_int(value)
        elif key == "maxmoves":
            candidates = parse_int(value)
    if interval < 0 or candidates < 1:
        raise GtpFailure("syntax error: interval and maxmoves are not negative")
    return Request(colour, interval / 100, candidates, name.startswith("kata-"), "genmove" in name)


def format_candidates(candidates: Sequence[Candidate], request: Request, size: int) -> str:
    """One line, the most visited move first. Shares are 0..1 for kata-analyze, 0..10000 for lz-analyze."""
    best = sorted(candidates, key=lambda c: (-c.visits, -c.prior))[: request.candidates]
    return " ".join(_parts(best, request, size))


def _parts(candidates: Sequence[Candidate], request: Request, size: int) -> Iterator[str]:
    for order, c in enumerate(candidates):
        line = " ".join(vertex(move, size) for move in c.line or [c.move])
        head = f"info move {vertex(c.move, size)} visits {c.visits}"
        if request.kata:
            numbers = f"winrate {c.winrate:.6f} utility {2 * c.winrate - 1:.6f} prior {c.prior:.6f}"
        else:
            numbers = f"winrate {10_000 * c.winrate:.0f} prior {10_000 * c.prior:.0f}"
        yield f"{head} {numbers} order {order} pv {line}"
