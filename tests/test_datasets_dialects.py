"""Komi, results, ranks, dates; GIB and NGF."""

from __future__ import annotations

import pytest

from datasets.dialects import fixed_handicap_points, parse_date, parse_rank, parse_result, rank_value
from datasets.gib import read_gib
from datasets.ngf import read_ngf
from datasets.points import SgfError
from go_engine import BLACK, WHITE


@pytest.mark.parametrize(
    ("text", "result", "winner"),
    [
        ("B+R", "B+R", BLACK),
        ("B+Resign", "B+R", BLACK),
        ("w+resign", "W+R", WHITE),
        ("W+Time", "W+T", WHITE),
        ("B+Forfeit", "B+F", BLACK),
        ("W+Offline", "W+F", WHITE),
        ("W+12.50", "W+12.5", WHITE),
        ("B+3,5", "B+3.5", BLACK),
        ("Black+3.5", "B+3.5", BLACK),
        ("W+0.02", "W+", WHITE),
        ("W+0.0", "W+", WHITE),
        ("W+", "W+", WHITE),
        ("0", "0", 0),
        ("Draw", "0", 0),
        ("Jigo", "0", 0),
        ("Void", "Void", None),
        ("?", "?", None),
        ("", None, None),
        (None, None, None),
        ("Black resigns. W 133.5 B 81.0", None, None),
        ("黑中盘胜", "B+R", BLACK),
        ("白胜3.5目", "W+3.5", WHITE),
        ("白半目勝", "W+0.5", WHITE),
        ("黒中押し勝ち!", "B+R", BLACK),
        ("흑 불계승", "B+R", BLACK),
        ("백 3집반 승", "W+3.5", WHITE),
    ],
)
def test_results(text: str | None, result: str | None, winner: int | None) -> None:
    assert parse_result(text) == (result, winner)


def test_ranks() -> None:
    spellings = {
        "6d": "6d",
        "6d?": "6d",
        "9段": "9d",
        "3级": "3k",
        "P9段": "9p",
        "6 Dan": "6d",
        "8k*": "8k",
        "1p": "1p",
    }
    assert {text: parse_rank(text) for text in spellings} == spellings
    assert parse_rank("NR") is None
    assert parse_rank("2029") == "2029"
    assert rank_value("2029") is None
    order = ["30k", "1k", "1d", "9d", "1p", "9p"]
    values = [rank_value(rank) or 0 for rank in order]
    assert values == sorted(set(values))


def test_dates() -> None:
    assert parse_date("2005.11.02 15:52") == "2005-11-02"
    assert parse_date("2012年11月22日") == "2012-11-22"
    assert parse_date("1992-08,09") == "1992-08"
    assert parse_date("published in 1846") == "1846"
    assert parse_date("yesterday") is None


def test_usual_handicap_points() -> None:
    assert fixed_handicap_points(2, 19) == [3 * 19 + 15, 15 * 19 + 3]
    assert len(set(fixed_handicap_points(9, 9))) == 9
    with pytest.raises(ValueError, match="no usual points"):
        fixed_handicap_points(5, 8)


GIB = """\\HS
\\[GAMEBLACKNAME=Alfa (5D)\\]
\\[GAMEWHITENAME=Bravo (6D)\\]
\\[GAMETAG=S1,R3,D5,G65,W1,Z35,T30-3-1200,C2016:01:28:10:00\\]
\\HE
\\GS
2 1 0
119 0 &4
INI 0 1 2 &4
STO 0 2 2 15 3
SKI 0 3
STO 0 4 2 3 3
\\GE
"""


def test_gib() -> None:
    game = read_gib(GIB.encode(), "a.gib")
    assert (game.black_player, game.black_rank, game.white_rank) == ("Alfa", "5d", "6d")
    assert (game.komi, game.result, game.winner, game.date) == (6.5, "W+3.5", WHITE, "2016-01-28")
    assert game.handicap == len(game.black) == 2
    assert game.moves == [(WHITE, 3 * 19 + 15), (BLACK, 361), (WHITE, 3 * 19 + 3)]
    with pytest.raises(SgfError, match="no GIB data"):
        read_gib(b"nothing", "a.gib")
    with pytest.raises(SgfError, match="not on the 19x19 board"):
        read_gib(GIB.replace("15 3", "19 3").encode(), "a.gib")


NGF = """A rated game
19
Bravo    7D*
Alfa     6D
www.example.org
0
0
6
20110812 [09:31]
480
White wins by resign!
3
PMABBQEEQ
PMACWEEEE
PMADBAAAA
"""


def test_ngf() -> None:
    game = read_ngf(NGF.encode(), "a.ngf")
    assert (game.black_player, game.black_rank, game.white_player, game.white_rank) == (
        "Alfa",
        "6d",
        "Bravo",
        "7d",
    )
    assert (game.komi, game.result, game.winner, game.date) == (6.5, "W+R", WHITE, "2011-08-12")
    assert game.moves == [(BLACK, 3 * 19 + 15), (WHITE, 3 * 19 + 3), (BLACK, 361)]
    with pytest.raises(SgfError, match="no NGF data"):
        read_ngf(b"x\ny\n", "a.ngf")
    with pytest.raises(SgfError, match="not on the 19x19 board"):
        read_ngf(NGF.replace("WEE", "WZE").encode(), "a.ngf")
