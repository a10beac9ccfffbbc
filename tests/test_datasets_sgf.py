"""SGF as programs write it: dialects, passes, setup, damage."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets import GameRecord, RejectedGame, read_games
from datasets.sgf import read_sgf
from go_engine import BLACK, WHITE


def games(text: str | bytes) -> list[GameRecord | RejectedGame]:
    return list(read_sgf(text if isinstance(text, bytes) else text.encode(), "test.sgf"))


def one(text: str | bytes) -> GameRecord:
    (game,) = games(text)
    assert isinstance(game, GameRecord), game
    return game


def refused(text: str | bytes) -> RejectedGame:
    (game,) = games(text)
    assert isinstance(game, RejectedGame), game
    return game


def at(point: str, size: int) -> int:
    return (ord(point[1]) - 97) * size + ord(point[0]) - 97


def test_plain_game_and_the_long_way_agree() -> None:
    plain = "(;GM[1]SZ[9]KM[6.5]PB[a]PW[b]RE[B+R]\n;B[ee];W[];B[tt]\n;W[cd])"
    commented = plain.replace(";W[cd]", ";W[cd]C[a comment with ;B[aa\\] in it]")
    short, long = one(plain), one(commented)
    assert short == long
    assert short.moves == [(BLACK, at("ee", 9)), (WHITE, 81), (BLACK, 81), (WHITE, at("cd", 9))]
    assert short.id == long.id


def test_main_line_is_the_first_branch_at_any_depth() -> None:
    text = "(;SZ[9]" + "".join(f"(;{'BW'[n % 2]}[a{chr(97 + n % 9)}]" for n in range(5000)) + ")" * 5001
    assert len(one(text).moves) == 5000
    assert [move for _, move in one("(;SZ[9];B[aa](;W[bb](;B[cc])(;B[dd]))(;W[ee]))").moves] == [0, 10, 20]


def test_komi_in_every_spelling() -> None:
    found = {
        text: one(f"(;SZ[19]KM[{text}];B[dd])").komi for text in ("7.5", "750", "375", "3.75", "650", "0.50")
    }
    assert found == {"7.5": 7.5, "750": 7.5, "375": 7.5, "3.75": 7.5, "650": 6.5, "0.50": 0.5}
    assert one("(;SZ[9]KM[];B[dd])").komi is None
    assert one("(;SZ[9]KM[a lot];B[dd])").komi is None
    assert one("(;SZ[19]KM[-100.00];B[dd])").komi == -100
    assert one("(;SZ[19]AP[foxwq]KM[0]HA[0];B[dd])").komi is None
    assert one("(;SZ[19]KM[0]HA[0];B[dd])").komi == 0


def test_handicap_stones_that_fox_leaves_out() -> None:
    game = one("(;SZ[19]AP[foxwq]HA[6]DT[2019-01-01];W[cc];B[qq])")
    assert game.black == sorted(at(point, 19) for point in ("dd", "dp", "pd", "pp", "dj", "pj"))
    assert "usual points" in game.notes[0]
    old = one("(;SZ[19]AP[foxwq]HA[6]DT[2015-01-01];W[cc];B[qq])")
    assert at("jd", 19) in old.black
    assert at("dj", 19) not in old.black
    assert "do not alternate" in refused("(;SZ[19]HA[4];W[cc];B[qq];B[cq])").reason
    assert one("(;SZ[19]HA[2];B[dd];B[pp];W[cc])").black == []


def test_colours_are_kept_as_written() -> None:
    game = one("(;SZ[9];B[aa];B[bb];W[cc])")
    assert [colour for colour, _ in game.moves] == [BLACK, BLACK, WHITE]
    assert game.notes == ("colours do not alternate at move 2",)


def test_setup_before_and_after_moves() -> None:
    before = one("(;SZ[9];AB[aa:bb]AW[ii];AE[bb];W[ee])")
    assert before.black == [0, 1, 9]
    assert before.white == [80]
    assert before.to_play_first == WHITE
    after = one("(;SZ[9];B[aa];AW[bb];W[cc])")
    assert len(after.moves) == 1
    assert after.notes == ("cut at the setup after move 1",)
    counted = one("(;SZ[9];B[aa];W[]AE[bb][cc])")
    assert len(counted.moves) == 2
    assert one("(;SZ[9]PL[W]AB[aa])").to_play_first == WHITE


@pytest.mark.parametrize(
    ("text", "reason", "number"),
    [
        ("", "no SGF data", None),
        ("\0" * 500, "no SGF data", None),
        ("(;GM[1];B[dd];", "not well-formed", None),
        ("(;GM[2]SZ[8];B[dd])", "not a game of Go", None),
        ("(;SZ[9:13];B[dd])", "not square", None),
        ("(;SZ[25];B[dd])", "outside 2 to 19", None),
        ("(;SZ[nine];B[dd])", "not a number", None),
        (f"(;SZ[{'9' * 5000}];B[dd])", "not a number", None),
        ("(;SZ[²];B[dd])", "not a number", None),
        ("(;SZ[9];B[ee];W[pd])", "not on the 9x9 board", 2),
        ("(;SZ[9];B[ee];W[``])", "not on the 9x9 board", 2),
        ("(;SZ[9];B[ee]W[gg];B[cc])", "black and a white move", 1),
        ("(;SZ[9]AB[aa]AW[aa];B[bb])", "given twice", None),
        ("(;SZ[9]US[Someone[3d]]PB[x];B[ee])", "not well-formed", None),
    ],
)
def test_refusals_say_why(text: str, reason: str, number: int | None) -> None:
    found = refused(text)
    assert reason in found.reason
    assert found.move_number == number


def test_collection_with_a_broken_game() -> None:
    found = games("junk (;GM[1]SZ[9];B[aa]) between (;GM[1]SZ[9];B[bb] (;GM[1]SZ[9];B[cc])")
    kinds = [type(game).__name__ for game in found]
    assert kinds == ["GameRecord", "RejectedGame", "GameRecord"]
    assert [game.index for game in found] == list(range(len(found)))


def test_a_file_of_broken_games_takes_linear_time() -> None:
    found = games("(;GM[1]SZ[9];B[aa]\n" * 2000 + "(;GM[1]SZ[9];B[aa])")
    assert len(found) == 2001
    assert isinstance(found[-1], GameRecord)


def test_encodings() -> None:
    for encoding, name in (
        ("gb18030", "围棋手谈"),
        ("big5", "圍棋棋士"),
        ("cp949", "바둑기사"),
        ("shift_jis", "いごのプロ"),
    ):
        raw = f"(;SZ[9]PB[{name}]KM[6.5];B[ee])".encode(encoding)
        game = one(raw)
        assert (game.encoding, game.black_player) == (encoding, name)
        assert len(game.moves) == 1
    declared = one(
        "(;SZ[9]CA[Shift_JIS]PB[表]PW[x];B[ee])".encode("shift_jis")
    )  # its second byte is a backslash
    assert (declared.black_player, declared.white_player) == ("表", "x")
    damaged = "(;SZ[9]PB[围棋手谈棋".encode()[:-1] + b"?]PW[x];B[ee])"
    assert one(damaged).encoding == "utf-8"
    assert one("\ufeff(;SZ[9]PB[x];B[ee])").black_player == "x"
    assert one("(;SZ[9]PB[棋];B[ee])".encode("utf-16")).black_player == "棋"


def test_illegal_moves_are_refused_with_what_came_before(tmp_path: Path) -> None:
    (tmp_path / "a.sgf").write_text("(;SZ[9];B[ee];W[ee];B[cc])")
    (tmp_path / "b.sgf").write_text("(;SZ[9];B[ee])")
    bad, good = read_games(tmp_path)
    assert isinstance(bad, RejectedGame)
    assert isinstance(good, GameRecord)
    assert (bad.source, bad.move_number, bad.text) == ("a.sgf", 2, "W E5")
    assert bad.partial is not None
    assert len(bad.partial.moves) == 1


def test_ko_rules(tmp_path: Path) -> None:
    # two kos taken in turn until the whole board repeats: legal under simple ko alone
    setup = "AB[ba][ab][bc][cb]AW[ca][db][cc]AB[gg][fh][gi][hh]AW[hg][ih][hi]"
    moves = ";W[bb];B[eb]" + ";W[gh];B[cb]" + ";W[ee];B[hh]" + ";W[bb];B[de];W[gh]"
    (tmp_path / "a.sgf").write_text(f"(;SZ[9]{setup}PL[W]{moves})")
    kinds = {rule: type(next(iter(read_games(tmp_path, rule)))).__name__ for rule in ("simple", "positional")}
    assert kinds["simple"] == "GameRecord"
    with pytest.raises(ValueError, match="unknown ko rule"):
        read_games(tmp_path, "none")


@given(st.binary(max_size=300))
def test_no_bytes_make_it_raise(data: bytes) -> None:
    for wrapped in (data, b"(;SZ[9]" + data + b")", b"(;SZ[9];B[ee]" + data):
        assert games(wrapped)


@given(st.integers(2, 19), st.lists(st.tuples(st.booleans(), st.integers(0, 361)), max_size=30))
def test_written_and_read_again(size: int, drawn: list[tuple[bool, int]]) -> None:
    moves = [(BLACK if black else WHITE, min(move, size * size)) for black, move in drawn]
    nodes = "".join(
        f";{'B' if colour == BLACK else 'W'}"
        f"[{'' if move == size * size else chr(97 + move % size) + chr(97 + move // size)}]"
        for colour, move in moves
    )
    assert one(f"(;SZ[{size}]{nodes})").moves == moves
    assert one(f"(;SZ[{size}]{nodes}C[x])").moves == moves
