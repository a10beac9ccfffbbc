"""Filters, the choice of games, the split, and the statistics of what is left."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from datasets import GameRecord
from datasets.filters import GameFilter, handicap_stones
from datasets.selection import Selector, split_and_cut
from datasets.statistics import Statistics, statistics_figures, statistics_table
from datasets.tables import game_row, games_table

GAME: dict[str, Any] = {
    "size": 9,
    "moves": [(1, 40), (-1, 41), (1, 42)],
    "black_rank": "3d",
    "white_rank": "7d",
    "result": "B+R",
    "rules": "Japanese",
    "date": "2005-06-30",
}


def game(**changes: Any) -> GameRecord:
    return GameRecord(**{**GAME, **changes})


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"board_size": 19}, "board size"),
        ({"board_size": 9}, None),
        ({"min_moves": 4}, "too few moves"),
        ({"min_rank": "6d"}, None),
        ({"min_rank": "8d"}, "rank"),
        ({"min_rank": "6d", "both_ranks": True}, "rank"),
        ({"min_rank": "1p"}, "rank"),
        ({"rules": ("chinese",)}, "rules"),
        ({"rules": ("JAPANESE",)}, None),
        ({"results": ("points", "resign")}, None),
        ({"results": ("points",)}, "kind of result"),
        ({"date_from": "2005-07"}, "date"),
        ({"date_from": "2005", "date_to": "2005-06"}, None),
        ({"date_to": "2004-12-31"}, "date"),
    ],
)
def test_filters(limits: dict[str, Any], reason: str | None) -> None:
    assert GameFilter(**limits).reason(game()) == reason


def test_what_is_not_known() -> None:
    unknown = game(black_rank=None, white_rank="level 3", date=None, rules=None)
    assert GameFilter(min_rank="6d").reason(unknown) == "rank"
    assert GameFilter(min_rank="6d", keep_unranked=True).reason(unknown) is None
    assert GameFilter(date_from="2000").reason(unknown) == "date"
    with pytest.raises(ValueError, match="not a rank"):
        GameFilter(min_rank="strong").reason(game())


def test_handicap_by_word_and_by_stones() -> None:
    assert handicap_stones(game(handicap=3)) == 3
    assert handicap_stones(game(black=[1, 2])) == 2
    assert handicap_stones(game(black=[1, 2], white=[3])) == 0
    assert handicap_stones(game(handicap=0)) == 0
    assert GameFilter(max_handicap=2).reason(game(handicap=3)) == "handicap"


def rows(count: int, **changes: Any) -> list[dict[str, Any]]:
    """Different games of 3 moves."""
    games = [game(moves=[(1, n), (-1, n + 1), (1, 80)], **changes) for n in range(count)]
    return [game_row(one, one.canonical_id, "") for one in games]


def test_duplicates_and_limits() -> None:
    table = games_table(rows(4) + rows(3))
    selector = Selector(True, 1.0)
    assert selector.select(table).num_rows + sum(selector.dropped.values()) == 7
    assert selector.dropped["duplicate"] == 3
    assert selector.positions == 3 * selector.games
    few = Selector(False, 1.0, max_games=2)
    assert few.select(table).num_rows == 2


def test_handicap_share() -> None:
    mixed = [row for pair in zip(rows(40), rows(40, handicap=2, black=[79]), strict=True) for row in pair]
    selector = Selector(False, 0.25)
    kept = selector.select(games_table(mixed))
    handicap = np.array([number == 2 for number in kept["handicap"].to_pylist()])
    assert 0.2 < handicap.mean() <= 0.25


@pytest.mark.parametrize("games_per_file", [1, 3, 100])
def test_split_is_the_first_positions_in_whole_games(games_per_file: int) -> None:
    table = games_table(rows(20))
    parts = list(split_and_cut([table.slice(0, 7), table.slice(7)], 25, games_per_file))
    ids = {
        split: [i for name, part in parts if name == split for i in part["id"].to_pylist()]
        for split in ("test", "train")
    }
    assert ids["test"] == table["id"].to_pylist()[:9]  # 27 positions
    assert ids["train"] == table["id"].to_pylist()[9:]
    assert all(part.num_rows <= games_per_file for _, part in parts)
    assert all(part["split"].unique().to_pylist() == [name] for name, part in parts)
    assert not [name for name, _ in split_and_cut([table], 0, 5) if name == "test"]


def test_statistics() -> None:
    statistics = Statistics(9)
    statistics.add(games_table(rows(10) + rows(10, handicap=2, winner=-1, komi=6.5)))
    found = statistics.result()
    assert (found["games"], found["positions"], found["handicap_share"]) == (20, 60, 0.5)
    assert found["komi"] == {"unknown": 10, "6.5": 10}
    assert found["winner"] == {"unknown": 10, "white": 10}
    assert found["rank"] == {"3d": 20, "7d": 20}
    assert np.sum(found["opening"]) == 60
    assert "50.0%" in statistics_table(found)
    assert set(statistics_figures(found)) >= {"ranks", "lengths", "komi", "results", "opening"}
