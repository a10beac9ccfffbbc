"""The tournament: schedule, games in lock-step, the journal, tables."""

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from sgfmill import sgf
from tournament_helpers import Passer, journal_lines, play, result

from go_engine import BLACK, WHITE
from go_engine.gtp_text import parse_vertex
from go_engine.players import RESIGN, RandomPlayer
from tasks.errors import UserError
from tasks.evaluate_tournament import JOURNAL, RATINGS
from tasks.params import RatingParams
from tasks.tournament_games import Game, Journal, Meeting, more_games, neighbour_games, schedule
from tasks.tournament_play import Clock, Rules, play_games
from tasks.tournament_report import conduct, crosstable, rate, results_table


def test_every_opening_is_played_with_both_colours() -> None:
    games = schedule([Meeting("a", "b", 4), Meeting("a", "c", 2)])
    assert [game.number for game in games] == list(range(6))
    assert [(g.opening, g.black, g.white) for g in games] == [
        *((0, "a", "b"), (0, "b", "a"), (0, "a", "c"), (0, "c", "a")),
        *((1, "a", "b"), (1, "b", "a")),
    ]


def test_openings_depend_on_seed_and_number_alone() -> None:
    rules = Rules(9, 7.5, 6, seed=3)
    games = [Game(2 * k, k, "a", "b") for k in range(20)]
    assert rules.opening(games[4]) == Rules(9, 0.5, 6, seed=3).opening(Game(1, 4, "c", "d"))
    assert len({tuple(rules.opening(game)) for game in games}) == 20
    assert len(Rules(2, 7.5, 100, seed=3).opening(games[0])) < 100


def test_an_opening_set_opens_the_games(tmp_path: Path) -> None:
    records = tmp_path / "openings.sgf"
    records.write_text(
        "(;SZ[5];B[cc];W[bb];B[dd];W[ba])(;SZ[5];B[bc];W[])(;SZ[5];B[cc];W[bb];B[dd])(;SZ[5]AB[aa];W[bb])"
        "(;SZ[9];B[cc];W[bb])"
    )
    play(tmp_path / "out", {"openings": records}, opening_plies=3, games=6)
    lines = journal_lines(tmp_path / "out")[1:]
    opened = [tuple(line["moves"][: line["opening_plies"]]) for line in lines]
    lines_of_the_set = [tuple(parse_vertex(v, 5) for v in words.split()) for words in ("C3 B4 D2", "B3")]
    by_opening = {line["opening"]: moves for line, moves in zip(lines, opened, strict=True)}
    assert sorted(by_opening) == [0, 1, 2]
    assert {by_opening[0], by_opening[1]} == set(lines_of_the_set)
    assert by_opening[2] == by_opening[0]
    with pytest.raises(UserError, match="no record"):
        play(tmp_path / "other", {"openings": records}, board_size=7)


def test_handicap_means_black_and_stones(tmp_path: Path) -> None:
    out = play(tmp_path, board_size=9, handicaps={"random": 4}, games=4)
    for line in journal_lines(tmp_path)[1:]:
        assert line["black"] == "random"
        assert line["handicap"] == 4
    assert out["metrics"]["games"] == 4
    record = (tmp_path / "games" / "other--random.sgf").read_bytes()
    assert record.count(b"HA[4]") == 4
    assert sgf.Sgf_game.from_bytes(record).get_main_sequence()[1].get_move()[0] == "w"
    with pytest.raises(UserError, match="4 handicap stones do not fit"):
        play(tmp_path, handicaps={"random": 4})
    with pytest.raises(UserError, match="none of the players"):
        play(tmp_path, handicaps={"nobody": 2})


def test_a_players_games_are_asked_for_together() -> None:
    a, b = Passer("a"), Passer("b")
    games = schedule([Meeting("a", "b", 8)])
    rounds = list(play_games(games, {"a": a, "b": b}, Rules(5, 7.5, 0, 0), 8, Clock()))
    assert [len(r) for r in rounds] == [8]
    assert a.sizes == b.sizes == [4, 4]
    assert all(r.winner == WHITE and r.ending == "passes" and r.score == -7.5 for r in rounds[0])


def test_lanes_bound_the_games_side_by_side() -> None:
    a, b = Passer("a"), Passer("b")
    list(play_games(schedule([Meeting("a", "b", 10)]), {"a": a, "b": b}, Rules(5, 7.5, 0, 0), 3, Clock()))
    assert max(a.sizes) <= 3


def test_resignation() -> None:
    entrants = {"a": Passer("a", RESIGN), "b": Passer("b")}
    rounds = play_games(schedule([Meeting("a", "b", 2)]), entrants, Rules(5, 7.5, 0, 0), 1, Clock())
    assert [(r.text, r.score) for ended in rounds for r in ended] == [("W+R", None), ("B+R", None)]


def test_games_do_not_depend_on_the_lanes() -> None:
    rules = Rules(5, 7.5, 2, 1)
    games = schedule([Meeting("a", "b", 6)])
    played = []
    for lanes in (1, 4, 12):
        entrants = {"a": RandomPlayer(1, "a"), "b": RandomPlayer(2, "b")}
        ended = [r for rs in play_games(games, entrants, rules, lanes, Clock()) for r in rs]
        played.append(sorted(ended, key=lambda r: r.number))
    assert played[0] == played[1] == played[2]


def test_the_cap_ends_a_game() -> None:
    entrants = {"a": RandomPlayer(1, "a"), "b": RandomPlayer(2, "b")}
    rules = Rules(2, 0.0, 0, 1)
    ended = [
        r for rs in play_games(schedule([Meeting("a", "b", 8)]), entrants, rules, 8, Clock()) for r in rs
    ]
    assert all(len(r.moves) <= rules.most_plies for r in ended)
    assert {r.ending for r in ended} <= {"length", "passes"}


def test_adaptive_games_go_where_the_ratings_are_uncertain() -> None:
    """Equal players with few games between them rather than a pair whose winner is certain."""
    results = [result(i, "a", "b", BLACK if i % 2 else WHITE) for i in range(20)]
    results += [result(20 + i, "b", "c", BLACK) for i in range(100)]
    ratings = rate(results, RatingParams(anchors={}))
    meetings = [Meeting("a", "b", 20), Meeting("b", "c", 100), Meeting("a", "c", 0)]
    games = more_games(meetings, ratings, 10, first_number=500, first_opening=50)
    assert [game.number for game in games] == list(range(500, 510))
    assert [game.opening for game in games] == [50, 50, 51, 51, 52, 52, 53, 53, 54, 54]
    assert {frozenset((game.black, game.white)) for game in games} == {frozenset("ab")}


def test_an_adaptive_tournament_goes_on_as_if_never_interrupted(tmp_path: Path) -> None:
    players = dict.fromkeys("abc", "random")
    more: Any = {"players": players, "games": 2, "adaptive_games": 12, "adaptive_round": 4}
    whole = play(tmp_path / "a", **more)
    assert whole["metrics"]["games"] == 18
    lines = (tmp_path / "a" / JOURNAL).read_bytes().splitlines(keepends=True)
    for kept in (4, 10, 15):
        folder = tmp_path / str(kept)
        folder.mkdir()
        (folder / JOURNAL).write_bytes(b"".join(lines[:kept]))
        assert play(folder, **more)["summary"] == whole["summary"]


def test_neighbours_meet_as_often_as_asked() -> None:
    """c has met b often, a has not: a pair of games is missing; a and c are no neighbours."""
    results = [result(i, "a", "b", BLACK) for i in range(3)] + [
        result(9 + i, "b", "c", BLACK) for i in range(4)
    ]
    meetings = [Meeting("a", "b", 2), Meeting("b", "c", 2), Meeting("a", "c", 2)]
    games = neighbour_games(meetings, ["a", "b", "c"], results, 4, first_number=20, first_opening=7)
    assert games == Meeting("a", "b", 2).pair(20, 7)
    assert neighbour_games(meetings[1:], ["a", "b", "c"], results, 4, 20, 7) == []


def test_a_tournament_of_neighbours_ends_and_goes_on_as_if_never_interrupted(tmp_path: Path) -> None:
    more: Any = {"players": dict.fromkeys("abcd", "random"), "games": 2, "neighbour_games": 8}
    whole = play(tmp_path / "a", **more)
    met = Counter(frozenset((line["black"], line["white"])) for line in journal_lines(tmp_path / "a")[1:])
    order = list(pd.read_csv(tmp_path / "a" / RATINGS)["program"])
    assert all(met[frozenset(pair)] >= 8 for pair in pairwise(order))
    lines = (tmp_path / "a" / JOURNAL).read_bytes().splitlines(keepends=True)
    for kept in (4, 14, len(lines) - 2):
        folder = tmp_path / str(kept)
        folder.mkdir()
        (folder / JOURNAL).write_bytes(b"".join(lines[:kept]))
        assert play(folder, **more)["summary"] == whole["summary"]


# ---- the journal


def test_the_journal_survives_a_torn_line(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with Journal(path, {"x": 1}) as journal:
        journal.add([result(0, "a", "b", BLACK), result(1, "b", "a", WHITE, comments={3: "hm"})])
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"number": 2, "bla')
    with Journal(path, {"x": 1}) as journal:
        assert journal.results == [result(0, "a", "b", BLACK), result(1, "b", "a", WHITE, comments={3: "hm"})]
        assert path.read_bytes() == whole
        journal.add([result(2, "a", "b", 0)])
    assert len(path.read_text().splitlines()) == 4


def test_a_torn_header_begins_anew_and_another_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    path.write_text('{"form')
    with Journal(path, {"x": 1}) as journal:
        assert journal.results == []
    with pytest.raises(UserError, match="other parameters"):
        Journal(path, {"x": 2})


# ---- tables


def test_white_is_the_side_with_the_advantage() -> None:
    table = results_table([result(0, "a", "b", BLACK), result(1, "a", "b", WHITE), result(2, "b", "a", 0)])
    assert table.to_dict("records") == [
        {"program_a": "a", "program_b": "b", "wins_a": 0, "wins_b": 0, "draws": 1},
        {"program_a": "b", "program_b": "a", "wins_a": 1, "wins_b": 1, "draws": 0},
    ]


def test_ratings_are_anchored_if_the_anchor_played() -> None:
    results = [result(i, "a", "b", BLACK if i % 4 else WHITE) for i in range(20)]
    rated = rate(results, RatingParams(anchors={"b": 100.0, "absent": 5.0})).set_index("program")
    assert rated.elo["b"] == pytest.approx(100)
    assert rated.elo["a"] > 100


def test_the_crosstable_counts_both_colours() -> None:
    results = [result(0, "a", "b", BLACK), result(1, "b", "a", BLACK), result(2, "a", "b", 0)]
    cells = {(c["row"], c["column"]): c for c in crosstable(results, ["a", "b", "c"])}
    assert set(cells) == {("a", "b"), ("b", "a")}
    assert cells["a", "b"]["points"] == 1.5
    assert cells["a", "b"]["games"] == 3


def test_conduct_names_what_happened() -> None:
    forfeit = {"ending": "forfeit", "score": None, "fault": "hang", "fault_text": "no answer"}
    lines = conduct(
        [
            result(0, "a", "b", BLACK, **forfeit),
            result(1, "a", "b", BLACK, ending="length"),
            result(2, "a", "b", BLACK, claims={"b": -3.5}, moves=[2, 2]),
            result(3, "a", "b", WHITE, moves=[2, 2], ending="resignation"),
        ]
    )
    text = "\n".join(lines)
    assert "1 of 4 games reached the length cap" in text
    assert "b forfeited 1 game (hang), for example: no answer" in text
    assert "b saw another winner than the referee in 1 game" in text
    assert "1 game repeats another" in text
