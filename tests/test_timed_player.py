"""The search with a clock: it keeps its time, ponders, and shows what it thinks."""

from __future__ import annotations

import json
import time

from sgfmill import sgf

from go_engine import BLACK, Board
from go_engine.players import Analyst, Timed, Watcher
from go_engine.search_export import candidates, principal_variation, to_sgf, tree
from models.timed_player import TimedSearchPlayer
from tests.search_helpers import BlackIsAhead, searched

SIZE = 7


def new_player(**settings: object) -> TimedSearchPlayer:
    player = TimedSearchPlayer(settings={"expansion_threshold": 4}, **settings)  # type: ignore[arg-type]
    player.new_game(SIZE, 7.5)
    return player


def test_it_is_all_that_the_server_asks_for() -> None:
    player = new_player()
    assert isinstance(player, Timed)
    assert isinstance(player, Watcher)
    assert isinstance(player, Analyst)


def test_a_clock_is_kept() -> None:
    player = new_player()
    player.time_settings(0.0, 0.4, 1)
    board = Board(size=SIZE)
    for _ in range(3):
        player.time_left(board.to_play, 0.4, 1)
        begin = time.monotonic()
        board.play(player.choose(board))
        assert 0.1 < time.monotonic() - begin < 2.0
    search = player.search_of()
    assert search is not None
    assert not search.running
    assert search.stats().simulations > 50


def test_no_clock_means_simulations() -> None:
    player = new_player(simulations=33)
    player.time_settings(0.0, 1.0, 0)  # GTP's way to say that there is no limit
    player.choose(Board(size=SIZE))
    search = player.search_of()
    assert search is not None
    assert search.stats().simulations == 33


def test_it_ponders_and_keeps_what_it_found() -> None:
    player = new_player(simulations=50, ponder=True)
    board = Board(size=SIZE)
    move = player.choose(board)
    board.play(move)
    player.observe(BLACK, move)
    search = player.search_of()
    assert search is not None
    assert search.running
    time.sleep(0.2)
    reply = int(max(search.edges(), key=lambda e: e.visits).move)
    player.observe(-BLACK, reply)
    board.play(reply)
    assert not search.running
    known = sum(edge.visits for edge in search.edges())
    assert known > 0
    player.choose(board)
    assert sum(edge.visits for edge in search.edges()) == known + 50


def test_an_analysis_grows_until_it_is_closed() -> None:
    player = new_player()
    stream = player.analyse(Board(size=SIZE))
    first, second = next(stream), next(stream)
    assert 0 < sum(c.visits for c in first) < sum(c.visits for c in second)
    stream.close()
    search = player.search_of()
    assert search is not None
    assert not search.running
    best = player.candidates()[0]
    assert best.move == search.best_move() == best.line[0]
    assert 0 <= best.winrate <= 1


def test_the_tree_as_json_and_sgf() -> None:
    board = Board(size=SIZE)
    board.play(24)
    search = searched(board, 1500, net=BlackIsAhead(), expansion_threshold=4, c_puct=1.0)
    data = json.loads(json.dumps(tree(search, least_visits=2)))
    assert data["to_play"] == "white"
    best = data["edges"][0]
    assert best["move"] == search.best_move()
    assert best["value_average"] == -0.5
    assert best["edges"][0]["value_average"] == 0.5
    assert abs(best["q"] - (best["value_average"] + best["rollout_average"]) / 2) < 1e-5
    game = sgf.Sgf_game.from_string(to_sgf(search, least_visits=5))
    assert game.get_root()[0].get_move()[0] == "w"
    assert len(game.get_root()) == sum(edge["visits"] >= 5 for edge in data["edges"])
    line = principal_variation(search)
    assert line[:2] == [best["move"], best["edges"][0]["move"]]
    assert candidates(search)[0].move == best["move"]
