"""Small tournaments and scripted guests that the tests of tournaments share."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from go_engine import Board
from tasks.evaluate_tournament import JOURNAL, run_evaluate_tournament
from tasks.params import EvaluateTournamentParams, GuestParams
from tasks.reporting import NullReporter
from tasks.tournament_games import GameResult

ROOT = Path(__file__).parents[1]

# A guest that passes once, then does what its argument says.
GUEST = """
import sys, time, os
what, size, black, taken, count = sys.argv[1], 5, set(), set(), 0
def vertex(p): return "ABCDE"[p % 5] + str(5 - p // 5)
for line in sys.stdin:
    words = line.split()
    if words[0] == "clear_board": taken, count = set(), 0
    if words[0] == "play": taken.add(words[2].upper())
    if words[0] == "final_score":
        print("= " + what + "\\n" if "+" in what else "? no\\n", flush=True); continue
    if words[0] != "genmove": print("=\\n", flush=True); continue
    count += 1
    if count == 2 and what == "crash": sys.exit(7)
    if count == 2 and what == "hang": time.sleep(60)
    if count == 2 and what == "garbage": print("quack\\n", flush=True); continue
    if count == 2 and what == "illegal": print("= " + sorted(taken)[0] + "\\n", flush=True); continue
    if count == 2 and what == "resign": print("= resign\\n", flush=True); continue
    print("= pass\\n", flush=True)
"""


def result(number: int, black: str, white: str, winner: int, **more: Any) -> GameResult:
    score = 0.5 * winner
    return GameResult(
        **{
            "number": number,
            "opening": 0,
            "black": black,
            "white": white,
            "moves": [number, 1],
            "opening_plies": 0,
            "winner": winner,
            "score": score,
            "ending": "passes",
        }
        | more
    )


class Passer:
    """Passes always, or resigns."""

    def __init__(self, name: str, move: int | None = None) -> None:
        self.name, self.move = name, move
        self.sizes: list[int] = []

    def choose_batch(self, games: Sequence[int], boards: Sequence[Board]) -> list[int]:
        self.sizes.append(len(games))
        return [board.pass_move if self.move is None else self.move for board in boards]

    def end_game(self, game: int) -> None: ...


def params(**more: Any) -> EvaluateTournamentParams:
    base: dict[str, Any] = {
        "board_size": 5,
        "players": {"random": "random", "other": "random"},
        "guests": {},
        "games": 12,
        "threads": 1,
        "opening_plies": 2,
    }
    return EvaluateTournamentParams(**base | more)


def guest(what: str, seconds: float = 60.0) -> dict[str, GuestParams]:
    command = f"{sys.executable} -c '{GUEST}' {what}"
    return {"guest": GuestParams(command=command, move_seconds=seconds)}


def play(folder: Path, inputs: dict[str, Path] | None = None, **more: Any) -> dict[str, Any]:
    return run_evaluate_tournament(params(**more), inputs or {}, folder, NullReporter())


def journal_lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / JOURNAL).read_text().splitlines()]
