"""The rules of Go, one board diagram a rule. X is Black, O is White; rows from the top."""

import numpy as np
import pytest
from cases import board_of, load, move_of, needs_cases

from go_engine import BLACK, EMPTY, WHITE, Board, IllegalMoveError, vertex


def board(diagram: str, to_play: int = BLACK, ko_rule: str = "positional", komi: float = 7.5) -> Board:
    made = Board.from_text(diagram, komi, ko_rule)
    made.to_play = to_play
    return made


def diagram(made: Board) -> str:
    return str(made).replace(" ", "").strip()


def text(rows: str) -> str:
    return "\n".join(row.strip() for row in rows.strip().splitlines())


def play(made: Board, *vertices: str) -> int:
    """Plays vertices for the side to move; returns the stones taken by the last."""
    return [made.play(move_of(v, made.size)) for v in vertices][-1]


def legal(made: Board, where: str) -> bool:
    return made.is_legal(move_of(where, made.size))


# ---- capture


def test_a_stone_without_liberties_is_taken() -> None:
    b = board("""
        . X . .
        X O . .
        . X . .
        . . . .""")
    assert play(b, "C3") == 1
    assert diagram(b) == text("""
        .X..
        X.X.
        .X..
        ....""")


def test_chains_are_taken_whole_and_several_at_once() -> None:
    b = board("""
        O O . O X
        X X O X X
        . X O X .
        . X O X .
        . . X . .""")
    assert play(b, "C5") == 6
    assert diagram(b) == text("""
        ..X.X
        XX.XX
        .X.X.
        .X.X.
        ..X..""")


def test_taking_comes_before_suicide() -> None:
    b = board("""
        . O X
        O X X
        X X .""")
    assert play(b, "A3") == 2
    assert diagram(b) == text("""
        X.X
        .XX
        XX.""")


def test_snapback_takes_the_takers() -> None:
    b = board("""
        X O . . O X
        X O O O O X
        X X X X X X
        . . . . . .
        . . . . . .
        . . . . . .""")
    assert play(b, "C6") == 0
    assert play(b, "D6") == 1
    assert play(b, "C6") == 7
    assert diagram(b).startswith(
        text("""
        X.X..X
        X....X
        XXXXXX""")
    )


def test_liberties_of_a_chain_are_shared_points_counted_once() -> None:
    b = board("""
        . X .
        X X .
        . . O""")
    assert b.liberties().tolist() == [[0, 5, 0], [5, 5, 0], [0, 0, 2]]


# ---- suicide


def test_suicide_of_one_stone_is_illegal() -> None:
    b = board("""
        . O .
        O O .
        . . .""")
    assert not legal(b, "A3")
    with pytest.raises(IllegalMoveError, match="suicide"):
        play(b, "A3")


def test_suicide_of_many_stones_is_illegal() -> None:
    b = board("""
        X . O
        X O O
        O O .""")
    assert not legal(b, "B3")
    with pytest.raises(IllegalMoveError, match=r"B3.*suicide"):
        play(b, "B3")
    b.to_play = WHITE
    assert play(b, "B3") == 2


def test_joining_a_chain_with_another_liberty_is_no_suicide() -> None:
    b = board("""
        X . O
        X O O
        . O .""")
    assert legal(b, "B3")


# ---- ko and superko

KO = """
    . X O .
    X . X O
    . X O .
    . . . ."""


@pytest.mark.parametrize("rule", ["simple", "positional", "situational"])
def test_a_ko_is_not_retaken_at_once(rule: str) -> None:
    b = board(KO, WHITE, rule)
    assert play(b, "B3") == 1
    assert b.ko_point == move_of("C3", 4)
    with pytest.raises(IllegalMoveError, match="ko"):
        play(b, "C3")


def test_a_ko_may_be_retaken_after_a_threat() -> None:
    b = board(KO, WHITE)
    play(b, "B3", "A1", "D1")
    assert b.ko_point is None
    assert play(b, "C3") == 1


def test_one_stone_that_takes_two_makes_no_ko() -> None:
    b = board("""
        . O X .
        O O X .
        X X . .
        . . . .""")
    assert play(b, "A4") == 3
    assert b.ko_point is None


def test_passes_lift_a_simple_ko_but_not_positional_superko() -> None:
    for rule, expected in (("simple", True), ("positional", False)):
        b = board(KO, WHITE, rule)
        play(b, "B3", "pass", "pass")
        assert legal(b, "C3") is expected, rule


# Black takes two stones in the corner, White takes the taker: the stones stand as before.
SENDING_TWO = ["B2", "B1", "C2", "A2", "B3", "A3", "A1"]


@pytest.mark.parametrize(
    ("rule", "allowed"), [("simple", True), ("positional", False), ("situational", True)]
)
def test_positional_superko_forbids_sending_two_to_return_one(rule: str, allowed: bool) -> None:
    b = Board(3, ko_rule=rule)
    assert play(b, *SENDING_TWO) == 2
    assert legal(b, "A2") is allowed
    if allowed:
        assert play(b, "A2") == 1
    else:
        with pytest.raises(IllegalMoveError, match="superko"):
            play(b, "A2")


@pytest.mark.parametrize(("rule", "allowed"), [("simple", True), ("situational", False)])
def test_situational_superko_asks_who_is_to_move(rule: str, allowed: bool) -> None:
    b = Board(3, ko_rule=rule)
    play(b, *SENDING_TWO, "A2", "pass")
    assert legal(b, "A3") is allowed


# ---- the order of play


def test_two_passes_end_the_game_and_a_move_between_does_not() -> None:
    b = Board(3)
    play(b, "pass", "B2", "pass")
    assert not b.is_over
    play(b, "pass")
    assert b.is_over
    assert b.move_number == 4


def test_any_colour_may_be_told_to_play() -> None:
    b = Board(3)
    b.play(0, WHITE)
    assert b.to_play == BLACK
    b.play(1, BLACK)
    b.play(2, BLACK)
    assert b.to_play == WHITE
    assert b.grid()[0].tolist() == [WHITE, BLACK, BLACK]


def test_an_illegal_move_changes_nothing() -> None:
    b = Board(5)
    play(b, "C3")
    before = (str(b), b.hash, b.move_number, b.to_play, b.last_move)
    for move in (-1, 26, move_of("C3", 5)):
        with pytest.raises(IllegalMoveError):
            b.play(move)
    assert (str(b), b.hash, b.move_number, b.to_play, b.last_move) == before


def test_the_message_names_the_move() -> None:
    b = Board(5)
    play(b, "C3")
    with pytest.raises(IllegalMoveError, match=r"W C3 at move 2: the point is occupied"):
        play(b, "C3")


# ---- setup


def test_setup_adds_and_removes_stones_and_starts_the_history_anew() -> None:
    b = Board(3)
    b.setup(black=[0, 4], white=[8], to_play=WHITE)
    assert b.to_play == WHITE
    assert b.grid().tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, -1]]
    b.setup(white=[0], empty=[4])
    assert b.grid().tolist() == [[-1, 0, 0], [0, 0, 0], [0, 0, -1]]


def test_setup_refuses_what_cannot_be() -> None:
    with pytest.raises(ValueError, match="not on the board"):
        Board(3).setup(black=[9])
    with pytest.raises(ValueError, match="given twice"):
        Board(3).setup(black=[1], white=[1])
    with pytest.raises(ValueError, match="without liberties"):
        Board(2).setup(black=[0, 1, 2, 3])


def test_refused_setup_changes_nothing() -> None:
    b = Board(3)
    play(b, "B2")
    with pytest.raises(ValueError, match="without liberties"):
        b.setup(black=[1, 3], white=[0])
    assert b.grid().sum() == 1
    assert b.move_number == 1


# ---- eyes and sensible moves


@pytest.mark.parametrize(
    ("rows", "eye"),
    [
        (". X . . / X X . . / . . . . / . . . .", True),  # the corner, its diagonal held
        (". X . . / X O . . / . . . . / . . . .", False),  # the corner, its diagonal lost
        (". X . . / X . . . / . . . . / . . . .", True),  # an empty diagonal is no enemy
    ],
)
def test_eyes_in_the_corner(rows: str, eye: bool) -> None:
    b = board(rows.replace(" / ", "\n"))
    assert b.is_legal(0)
    assert b.sensible_mask()[0] == (not eye)


@pytest.mark.parametrize(("enemies", "eye"), [(0, True), (1, True), (2, False)])
def test_eyes_in_the_middle_bear_one_enemy_at_the_corners(enemies: int, eye: bool) -> None:
    b = Board(5)
    middle = move_of("C3", 5)
    corners = [move_of(v, 5) for v in ("B4", "D2")]
    b.setup(black=[move_of(v, 5) for v in ("C4", "C2", "B3", "D3")], white=corners[:enemies])
    assert b.is_legal(middle)
    assert b.sensible_mask()[middle] == (not eye)


@pytest.mark.parametrize(("enemies", "eye"), [(0, True), (1, False)])
def test_eyes_at_the_edge_bear_none(enemies: int, eye: bool) -> None:
    b = Board(5)
    b.setup(black=[move_of(v, 5) for v in ("B5", "D5", "C4")], white=[move_of("B4", 5)][:enemies])
    assert b.sensible_mask()[move_of("C5", 5)] == (not eye)


# ---- scoring


def test_area_counts_stones_and_what_they_surround() -> None:
    b = board(
        """
        . X . O .
        X X . O .
        . X . O .
        . X . O O
        . X . O .""",
        komi=0.5,
    )
    assert b.area_score() == (6 + 4) - (6 + 4) - 0.5


def test_a_region_that_touches_both_counts_for_nobody_and_an_empty_board_too() -> None:
    assert Board(9, komi=6.5).area_score() == -6.5
    b = Board(9, komi=0)
    play(b, "E5")
    assert b.area_score() == 81
    play(b, "A1")
    assert b.area_score() == 0


# ---- the rest of the surface


def test_a_copy_lives_on_its_own() -> None:
    b = Board(5)
    play(b, "C3")
    other = b.copy()
    play(other, "D4")
    assert b.move_number == 1
    assert other.move_number == 2
    assert b.grid()[1, 3] == EMPTY


def test_hash_is_of_the_stones_whatever_the_order() -> None:
    first, second = Board(5), Board(5)
    play(first, "A1", "B2", "C3")
    play(second, "C3", "B2", "A1")
    assert first.hash == second.hash != Board(5).hash


def test_text_there_and_back() -> None:
    b = board("X . O\n. X .\nO . .")
    assert Board.from_text(str(b)).grid().tolist() == b.grid().tolist()
    for bad, why in (("X.\n.", "row 2"), ("Z.\n..", "none of"), ("X", "size 1"), ("", "size 0")):
        with pytest.raises(ValueError, match=why):
            Board.from_text(bad)


def test_vertices() -> None:
    assert [vertex(m, 19) for m in (0, 8, 18, 360, 361)] == ["A19", "J19", "T19", "T1", "pass"]


def test_legal_mask_has_the_pass_last() -> None:
    b = Board(3)
    assert b.legal_mask().tolist() == [True] * 10
    play(b, "B2")
    assert b.legal_mask().sum() == 9
    assert b.legal_mask().dtype == np.bool_


@needs_cases
def test_the_shared_rules_cases() -> None:
    for case in load("rules"):
        b, taken = board_of(case)
        size, expect = case["size"], case["expect"]
        assert diagram(b).splitlines() == expect["board"], case["id"]
        assert taken == expect["captures_at_move"], case["id"]
        mask = b.legal_mask()
        assert mask[:-1].sum() == expect["legal_count"], case["id"]
        assert not any(mask[move_of(v, size)] for v in expect["illegal"]), case["id"]
        assert b.ko_point == (None if expect["ko_point"] is None else move_of(expect["ko_point"], size))
        for chain in expect["chains"]:
            assert b.liberties().ravel()[move_of(chain["at"], size)] == chain["liberties"], case["id"]


@needs_cases
def test_the_shared_scoring_cases() -> None:
    for case in load("scoring"):
        b = Board.from_text("\n".join(case["board"]), case["komi"])
        expect = case["expect"]
        assert b.area_score() == expect["black"] - expect["white"] - case["komi"], case["id"]
