"""External programs in a tournament, those that misbehave among them."""

import sys
from pathlib import Path
from typing import Any

import pytest
from tournament_helpers import guest, journal_lines, play

from flows.params import parse_settings
from go_engine import BLACK, WHITE
from tasks.params import EvaluateTournamentParams, GuestParams


def test_a_guest_is_told_of_handicap(tmp_path: Path) -> None:
    more: Any = {
        "board_size": 7,
        "players": {"random": "random"},
        "guest_games": 2,
        "handicaps": {"guest": 3},
    }
    out = play(tmp_path, guests=guest("resign"), **more)
    assert "2 games ended by resignation" in out["summary"]


@pytest.mark.parametrize("what", ["crash", "hang", "garbage", "illegal"])
def test_a_guests_fault_loses_its_game(tmp_path: Path, what: str) -> None:
    players = {"random": "random", "other": "random"}
    out = play(
        tmp_path,
        players=players,
        guests=guest(what, 2.0 if what == "hang" else 60.0),
        games=2,
        guest_games=4,
        guest_lanes=8,
    )
    games = [line for line in journal_lines(tmp_path)[1:] if "guest" in (line["black"], line["white"])]
    assert len(games) == 8
    for game in games:
        assert game["ending"] == "forfeit"
        assert game["fault"] == what
        assert game["winner"] == (WHITE if game["black"] == "guest" else BLACK)
    assert f"guest forfeited 8 games ({what})" in out["summary"]
    assert out["metrics"]["games/forfeits"] == 8


def test_a_guest_that_keeps_failing_is_sent_home(tmp_path: Path) -> None:
    out = play(tmp_path, guests=guest("crash"), guest_games=20, guest_lanes=1, fault_limit=3, games=2)
    assert out["metrics"]["games/forfeits"] == 3
    assert "guest: 37 games were not played after its forfeits" in out["summary"]
    assert out["metrics"]["games"] == 5


def test_a_guest_may_resign_and_see_another_winner(tmp_path: Path) -> None:
    players = {"random": "random"}
    out = play(tmp_path / "r", players=players, guests=guest("resign"), guest_games=2)
    assert "2 games ended by resignation" in out["summary"]
    claims = play(tmp_path / "c", players=players, guests=guest("B+90.5"), guest_games=4)
    played = journal_lines(tmp_path / "c")[1:]
    disputed = [line for line in played if line["winner"] == WHITE and line["ending"] == "passes"]
    assert claims["metrics"]["games/disputed"] == len(disputed)
    assert all(line["claims"] == {"guest": 90.5} for line in disputed)


def test_an_absent_guest_is_said_so(tmp_path: Path) -> None:
    out = play(tmp_path, guests={"GNU Go": GuestParams(command="no-such-gnugo --mode gtp")})
    assert "GNU Go is left out: no-such-gnugo is not installed" in out["summary"]


def test_an_empty_setting_leaves_a_guest_out(tmp_path: Path) -> None:
    settings = parse_settings(["guests.GNU Go level 1.command=", "players.random="])
    asked = EvaluateTournamentParams(**settings)
    assert asked.guests["GNU Go level 1"].command == ""
    assert asked.players == {"random": ""}
    out = play(tmp_path, guests={"GNU Go": GuestParams(command="")})
    assert "GNU Go" not in out["summary"]


SLOW = """
import sys, time
for line in sys.stdin:
    if line.startswith("genmove"): time.sleep(float(sys.argv[1]))
    print("= pass\\n" if line.startswith("genmove") else "=\\n", flush=True)
"""


def test_a_game_waits_for_its_own_players_alone(tmp_path: Path) -> None:
    """The slow guest's one game is still going on when all others have ended."""
    guests = {
        name: GuestParams(command=f"{sys.executable} -c '{SLOW}' {seconds}")
        for name, seconds in (("slow", 0.3), ("quick", 0.0))
    }
    play(tmp_path, players={"random": "random"}, guests=guests, guest_games=2, guest_lanes=4, opening_plies=0)
    ended = [{line["black"], line["white"]} for line in journal_lines(tmp_path)[1:]]
    assert ended[:2] == [{"random", "quick"}] * 2
    assert len(ended) == 6
