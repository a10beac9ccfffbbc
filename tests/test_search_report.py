"""What a search says of itself: candidates, lines, comments, analysis over GTP."""

import re

from go_engine import Board
from go_engine.gtp import GtpEngine
from models.search_player import SearchPlayer
from models.search_report import candidates_of


def thinker() -> SearchPlayer:
    return SearchPlayer(simulations=60, seed=1)


def test_candidates_are_the_visits_of_the_root() -> None:
    player = thinker()
    board = Board(5)
    move = player.choose(board)
    candidates = player.candidates()
    assert candidates[0].move == move
    assert all(0 <= c.winrate <= 1 and c.line[0] == c.move and board.is_legal(c.move) for c in candidates)
    assert [c.visits for c in candidates] == sorted((c.visits for c in candidates), reverse=True)
    follow = board.copy()
    for step in candidates[0].line:
        follow.play(step)
    search = player.search_of()
    assert search is not None
    assert len(candidates_of(search, line_moves=1)[0].line) == 1


def test_comments_name_the_move() -> None:
    player = thinker()
    assert player.comment(3) == ""
    player.choose_batch([3], [Board(5)])
    assert re.fullmatch(r"\d+% to win after \d+ visits: ([A-E][1-5] \d+(, )?)+", player.comment(3))


def test_analysis_deepens() -> None:
    steps = thinker().analyse(Board(5))
    first, second = next(steps), next(steps)
    assert sum(c.visits for c in second) > sum(c.visits for c in first)


def test_analysis_over_gtp_and_play_after_it() -> None:
    engine = GtpEngine(thinker(), size=5)
    answer = engine.answer("lz-analyze b 1")
    assert answer is not None
    assert answer.startswith("=\ninfo move ")
    played = engine.answer("lz-genmove_analyze b 1")
    assert played is not None
    assert re.search(r"\nplay [A-E][1-5]\n\n$", played)
