"""The GTP engine line by line and in a process of its own; the client against misbehaving programs."""

import io
import itertools
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from go_engine import BLACK, WHITE, Board
from go_engine.gtp import GtpEngine
from go_engine.gtp_client import GtpError, GtpPlayer, GtpProcess
from go_engine.gtp_server import serve
from go_engine.gtp_text import format_answer, handicap_points, parse_line, parse_vertex
from go_engine.players import RESIGN, Candidate, RandomPlayer
from go_engine.status import dead_stones

ROOT = Path(__file__).parents[1]
ENGINE = [
    sys.executable,
    "-c",
    f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
    "from go_engine.gtp import GtpEngine\nfrom go_engine.gtp_server import serve, standard_streams\n"
    "from go_engine.players import RandomPlayer\n"
    "streams = standard_streams()\nprint('noise', flush=True)\nserve(GtpEngine(RandomPlayer(3)), *streams)",
]


class Scripted:
    """Plays what it is told to."""

    name = "scripted"

    def __init__(self, *moves: int) -> None:
        self.moves = list(moves)
        self.seen: list[tuple[int, int]] = []

    def new_game(self, size: int, komi: float) -> None:  # noqa: ARG002
        if size == 6:
            raise ValueError("not on 6x6")

    def choose(self, board: Board) -> int:  # noqa: ARG002
        return self.moves.pop(0)

    def observe(self, colour: int, move: int) -> None:
        self.seen.append((colour, move))


@pytest.fixture
def engine() -> GtpEngine:
    return GtpEngine(RandomPlayer(1), size=9)


def ask(engine: GtpEngine, *lines: str) -> str:
    """The last line's answer, after all lines before it succeeded."""
    answers = [engine.answer(line) for line in lines]
    assert all(a is not None and a.startswith("=") for a in answers[:-1]), answers
    last = answers[-1]
    assert last is not None
    assert last.endswith("\n\n")
    return last[:-2]


def test_lines_are_cleaned() -> None:
    assert parse_line("  \t \n") is None
    assert parse_line("# only a remark\n") is None
    assert parse_line("7 play\tB  d4 # x\r\n") == ("7", "play", ["B", "d4"])
    assert parse_line("pr\x01otocol_version\x07") == ("", "protocol_version", [])
    assert parse_line("42") == ("42", "", [])


def test_answers_hold_no_empty_line() -> None:
    assert format_answer("3", True, "a\n\nb\n") == "=3 a\n \nb\n\n"
    assert format_answer("", True, "") == "=\n\n"


def test_vertices() -> None:
    assert parse_vertex("a1", 9) == 72
    assert parse_vertex("J9", 9) == 8
    assert parse_vertex("PASS", 9) == 81


@pytest.mark.parametrize("stones", range(2, 10))
def test_handicap_points_are_distinct(stones: int) -> None:
    points = handicap_points(stones, 19)
    assert len(set(points)) == stones
    assert (180 in points) == (stones in (5, 7, 9))


def test_a_board_fills_up_with_handicap(engine: GtpEngine) -> None:
    assert ask(engine, "fixed_handicap 2") == "= C3 G7"
    assert engine.board.to_play == WHITE
    assert ask(engine, "fixed_handicap 2") == "? board not empty"
    assert ask(engine, "boardsize 8", "fixed_handicap 5") == "? invalid number of stones"
    assert ask(engine, "boardsize 5", "place_free_handicap 3") == "? invalid number of stones"
    assert len(ask(engine, "boardsize 8", "place_free_handicap 6").split()) == 5


def test_moves_undo_and_turns(engine: GtpEngine) -> None:
    assert ask(engine, "undo") == "? cannot undo"
    ask(engine, "play b e5", "play b e6")
    assert ask(engine, "play w e5") == "? illegal move"
    assert ask(engine, "undo", "undo", "undo") == "? cannot undo"
    assert not engine.board.grid().any()


def test_superko_is_illegal(engine: GtpEngine) -> None:
    ko = ["b b1", "b a2", "b b3", "w c1", "w d2", "w c3", "w b2", "b c2"]
    assert ask(engine, *(f"play {move}" for move in ko)) == "="
    assert ask(engine, "play w b2") == "? illegal move"


def test_failures_change_nothing(engine: GtpEngine) -> None:
    before = str(engine.board)
    for line in (
        *("play", "play b", "play x d4", "play b i3", "play b z9", "play b k1", "play b d0", "play b d44"),
        *("boardsize", "boardsize x", "boardsize 1000", "boardsize -1", "boardsize 9.5", "komi", "komi nan"),
        *(
            "komi inf",
            "fixed_handicap",
            "set_free_handicap d4",
            "set_free_handicap d4 d4",
            "genmove",
            "genmove x",
        ),
        *(
            "undo",
            "loadsgf",
            "loadsgf /no/such/file",
            "time_settings 1 2",
            "time_settings a b c",
            "time_left b",
        ),
        *("kgs-time_settings what", "final_status_list", "final_status_list x", "nonsense", "9" * 5000),
    ):
        answer = engine.answer(line)
        assert answer is not None
        assert answer.startswith("?"), line
        assert answer.count("\n") == 2
        assert str(engine.board) == before


@settings(deadline=None, max_examples=150)
@given(st.text(max_size=40), st.sampled_from(["", "play ", "genmove ", "1 komi ", "boardsize ", "undo\x00"]))
def test_any_line_has_one_well_formed_answer(tail: str, head: str) -> None:
    engine = GtpEngine(RandomPlayer(1), size=5)
    answer = engine.answer(head + tail.replace("\n", ""))
    if answer is not None:
        assert answer[0] in "=?"
        assert answer.endswith("\n\n")
        assert "\n\n" not in answer[:-2]


def test_the_players_failures_are_answers(capsys: pytest.CaptureFixture[str]) -> None:
    engine = GtpEngine(Scripted(0, 0, RESIGN), size=9)
    assert ask(engine, "genmove b") == "= A9"
    assert ask(engine, "genmove w").startswith(
        "? genmove failed: RuntimeError: scripted chose an illegal move"
    )
    assert ask(engine, "genmove w") == "= resign"
    assert ask(engine, "genmove w").startswith("? genmove failed: IndexError")
    assert ask(engine, "boardsize 6") == "? unacceptable size"
    assert engine.board.size == 9
    assert "not on 6x6" in capsys.readouterr().err


def test_the_player_sees_every_move() -> None:
    player = Scripted(4)
    engine = GtpEngine(player, size=9)
    ask(engine, "play b a1", "genmove w", "play b pass", "gogui-play_sequence w b1 b c1")
    assert player.seen == [(BLACK, 72), (WHITE, 4), (BLACK, 81), (WHITE, 73), (BLACK, 74)]


def test_loadsgf(engine: GtpEngine, tmp_path: Path) -> None:
    file = tmp_path / "game.sgf"
    file.write_text("(;SZ[5]KM[6.5]AB[aa][ba];W[cc];B[dd];W[])")
    assert ask(engine, f"loadsgf {file}") == "="
    assert engine.board.komi == 6.5
    assert engine.board.grid()[3, 3] == BLACK
    assert ask(engine, f"loadsgf {file} 2") == "="
    assert engine.board.grid()[3, 3] == 0
    assert engine.board.to_play == BLACK
    assert ask(engine, "undo", "undo") == "? cannot undo"
    file.write_text("(;SZ[5];B[aa];W[aa])")
    assert ask(engine, f"loadsgf {file}") == "? cannot load file"
    assert engine.board.size == 5


def test_dead_stones_are_found_and_captured() -> None:
    board = Board(5, 0.5)
    board.setup(black=[5, 6, 7, 8, 9], white=[20, 24])
    assert dead_stones(board) == [20, 24]
    engine = GtpEngine(Scripted(25, RESIGN), size=5, komi=0.5)
    ask(engine, "komi 0.5", *(f"play b {column}4" for column in "ABCDE"), "play w a1", "play w e1")
    assert ask(engine, "final_score") == "= B+24.5"
    assert ask(engine, "final_status_list dead") == "= A1\nE1"
    assert ask(engine, "final_status_list seki") == "="
    assert ask(engine, "kgs-genmove_cleanup b") in ("= A2", "= B1")
    assert ask(engine, "kgs-genmove_cleanup b") != "= resign"


class Thinker(Scripted):
    """Counts its visits."""

    def candidates(self) -> list[Candidate]:
        return [Candidate(40, 7, 0.75, 0.5, [40, 81])]

    def analyse(self, board: Board) -> Generator[list[Candidate]]:
        for visits in itertools.count(1):
            yield [Candidate(0, 1, 0.25, 0.1, []), Candidate(board.size, visits + 1, 0.5, 0.2, [9, 0])]


def test_analysis_goes_on_until_the_next_line() -> None:
    engine = GtpEngine(Thinker(), size=9)
    asked = iter([False, False, True])
    answer = "".join(engine.parts("5 lz-analyze w 0 junk 3 maxmoves 1", lambda: next(asked)))
    lines = answer.split("\n")
    assert lines[0] == "=5"
    assert lines[1] == "info move A8 visits 2 winrate 5000 prior 2000 order 0 pv A8 A9"
    assert lines[3] == "info move A8 visits 4 winrate 5000 prior 2000 order 0 pv A8 A9"
    assert lines[4:] == ["", ""]
    kata = "info move A8 visits 2 winrate 0.500000 utility 0.000000 prior 0.200000 order 0 pv A8 A9 info"
    assert ask(engine, "kata-analyze interval 10").startswith(f"=\n{kata}")
    assert ask(engine, "known_command lz-analyze") == "= true"
    assert ask(engine, "lz-analyze b 10 interval x").startswith("? syntax error")


def test_genmove_with_analysis_plays() -> None:
    engine = GtpEngine(Thinker(40, RESIGN), size=9)
    answer = ask(engine, "lz-genmove_analyze b 10")
    assert answer == "=\ninfo move E5 visits 7 winrate 7500 prior 5000 order 0 pv E5 pass\nplay E5"
    assert engine.board.grid()[4, 4] == BLACK
    assert ask(engine, "kata-genmove_analyze w").endswith("play resign")
    assert engine.board.move_number == 1


def test_who_cannot_analyse_does_not_offer_it(engine: GtpEngine) -> None:
    assert ask(engine, "known_command lz-analyze") == "= false"
    assert ask(engine, "lz-analyze") == "? unknown command"


def test_a_whole_session_through_streams() -> None:
    out = io.BytesIO()
    serve(
        GtpEngine(RandomPlayer(1)),
        io.BytesIO(b"1 boardsize 9\n\n2 genmove b\n\xff\xfe\n3 quit\n4 name\n"),
        out,
    )
    answers = out.getvalue().decode().split("\n\n")
    assert answers[0] == "=1"
    assert answers[1].startswith("=2 ")
    assert answers[2] == "? unknown command"
    assert answers[3:] == ["=3", ""]


def test_a_process_prints_only_answers() -> None:
    run = subprocess.run(ENGINE, input=b"boardsize 5\nname\n", capture_output=True, timeout=60, check=True)
    assert run.stdout.decode().startswith("=\n\n= ")
    assert b"noise\n" in run.stderr


# ---- the client


def guest(*lines: str) -> list[str]:
    """A program that answers everything with success until `genmove`, then does what `lines` say."""
    body = "\n".join(f"        {line}" for line in lines)
    return [
        sys.executable,
        "-u",
        "-c",
        "import sys, time, os\nfor line in sys.stdin:\n    if line.startswith('genmove'):\n"
        f"{body}\n    elif line.startswith('quit'): break\n    else: print('=\\n')",
    ]


@pytest.mark.parametrize(
    ("lines", "kind", "words"),
    [
        (["print('lost my head', file=sys.stderr); os._exit(3)"], "crash", "exit status 3.*lost my head"),
        (["time.sleep(60)"], "hang", "no answer to 'genmove b' within 2 s"),
        (["print('hello\\n')"], "garbage", "was answered 'hello'"),
        (["print('= here\\n')"], "garbage", "answered genmove with 'here'"),
        (["print('= Z9\\n')"], "garbage", "answered genmove with 'Z9'"),
        (["print('= E5\\n')"], "illegal", "chose E5, illegal as move 2"),
        (["print('? no move for you\\n')"], "refused", "no move for you"),
        (["while True: print('= ' + 'x' * 5000)"], "garbage", "has no end"),
    ],
)
def test_misbehaviour_is_one_clear_error(lines: list[str], kind: str, words: str) -> None:
    player = GtpPlayer(guest(*lines), name="guest", move_timeout=2.0 if kind == "hang" else 60.0)
    board = Board(9)
    try:
        player.new_game(9, 7.5)
        board.play(40)
        player.observe(BLACK, 40)
        board.to_play = BLACK
        with pytest.raises(GtpError, match=words) as caught:
            player.choose(board)
        assert caught.value.kind == kind
        player.new_game(9, 7.5)  # starts afresh
    finally:
        player.close()


def test_a_missing_program() -> None:
    with pytest.raises(GtpError, match="cannot start") as caught:
        GtpPlayer(["/no/such/program", "--x"]).new_game(9, 7.5)
    assert caught.value.kind == "missing"


def test_arguments_go_through_no_shell() -> None:
    player = GtpPlayer([*guest("print('= ' + sys.argv[1] + '\\n')"), "$(echo resign)"], name="guest")
    player.new_game(9, 7.5)
    with pytest.raises(GtpError, match=r"answered genmove with '\$\(echo resign\)'"):
        player.choose(Board(9))
    player.close()


def test_client_and_engine_agree_through_a_game() -> None:
    """Our own engine as the guest: its board follows ours through moves and through a sudden position."""
    player = GtpPlayer(ENGINE, name="self")
    process = GtpProcess(ENGINE)
    assert process.command("protocol_version") == "2"
    process.close()
    assert not process.alive
    try:
        player.new_game(5, 7.5)
        board, other = Board(5), RandomPlayer(5)
        for _ in range(12):
            colour = board.to_play
            move = player.choose(board) if colour == BLACK else other.choose(board)
            board.play(move)
            player.observe(colour, move)
        sudden = Board(5)
        sudden.setup(black=[1, 5], white=[24])
        assert sudden.is_legal(player.choose(sudden))
        assert isinstance(player.final_score(), float)
    finally:
        player.close()
