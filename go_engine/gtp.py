"""A Go Text Protocol engine over any player: `serve` answers commands until `quit` or the end of input.

The protocol is GTP 2. Every line gets exactly one answer, a failing command changes nothing, and nothing but
answers is written to `stdout`: what goes wrong inside a player becomes a failure answer and a line on stderr.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import BinaryIO

from go_engine import WHITE, Board, IllegalMoveError, vertex
from go_engine import gtp_text as text
from go_engine.gtp_text import GtpFailure, parse_colour, parse_float, parse_int, parse_vertex
from go_engine.players import RESIGN, Player, Timed, Watcher
from go_engine.sgf import SgfError, load_sgf
from go_engine.status import chains, dead_stones, neighbours, ownership, score_without

DEFAULT_SIZE = 19
DEFAULT_KOMI = 7.5
SMALLEST_BOARD, LARGEST_BOARD = 2, 19
DISTRIBUTION = "alphago-pipeline"
Handler = Callable[[list[str]], str]


class GtpEngine:
    """The state behind a GTP session: the game so far, and the player. `answer` takes one line.

    Raises ValueError when the player cannot play on a board of this size.
    """

    def __init__(self, player: Player, size: int = DEFAULT_SIZE, komi: float = DEFAULT_KOMI) -> None:
        self.player = player
        self.finished = False
        self._positions: list[Board] = []  # the start of the game and the position after each move
        self._dead: list[int] | None = None  # judged once for a position
        self._start(Board(size, komi))
        self._handlers: dict[str, Handler] = {
            "protocol_version": self._none(lambda: "2"),
            "name": self._none(lambda: "AlphaGo pipeline"),
            "version": self._none(lambda: f"{_version()} ({player.name})"),
            "known_command": self._known_command,
            "list_commands": self._none(lambda: "\n".join(self._handlers)),
            "quit": self._none(self._quit),
            "boardsize": self._boardsize,
            "clear_board": self._none(self._clear_board),
            "komi": self._komi,
            "get_komi": self._none(lambda: f"{self.board.komi:g}"),
            "fixed_handicap": self._fixed_handicap,
            "place_free_handicap": self._place_free_handicap,
            "set_free_handicap": self._set_free_handicap,
            "play": self._play,
            "gogui-play_sequence": self._play_sequence,
            "genmove": lambda words: self._genmove(self._colour(words)),
            "reg_genmove": lambda words: self._show(self._choose(self._colour(words))),
            "kgs-genmove_cleanup": lambda words: self._genmove_cleanup(self._colour(words)),
            "undo": self._none(self._undo),
            "loadsgf": self._loadsgf,
            "time_settings": self._time_settings,
            "kgs-time_settings": self._kgs_time_settings,
            "time_left": self._time_left,
            "final_score": self._none(self._final_score),
            "final_status_list": self._final_status_list,
            "showboard": self._none(lambda: str(self.board)),
            "gogui-analyze_commands": self._none(lambda: "dboard/Ownership by playouts/ownership"),
            "ownership": self._none(self._ownership),
        }

    @property
    def board(self) -> Board:
        return self._positions[-1]

    def answer(self, line: str) -> str | None:
        """The whole answer to a line, None when the line asks nothing."""
        command = text.parse_line(line)
        if command is None:
            return None
        handler = self._handlers.get(command.name)
        if handler is None:
            return text.format_answer(command.id, False, "unknown command")
        try:
            return text.format_answer(command.id, True, handler(command.arguments))
        except GtpFailure as failure:
            return text.format_answer(command.id, False, " ".join(str(failure).split()))
        except Exception as error:  # a player may fail in any way; the session goes on
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            print(f"{command.name}: {reason}", file=sys.stderr, flush=True)
            return text.format_answer(command.id, False, f"{command.name} failed: {reason}")

    # ---- administration

    def _none(self, handler: Callable[[], str]) -> Handler:
        """For commands without arguments; more words than asked for are ignored, as engines commonly do."""
        return lambda _words: handler()

    def _known_command(self, words: list[str]) -> str:
        return "true" if words and words[0] in self._handlers else "false"

    def _quit(self) -> str:
        self.finished = True
        return ""

    # ---- set-up

    def _start(self, board: Board) -> None:
        """Begin a game on this position, unless the player cannot play on such a board (ValueError)."""
        self.player.new_game(board.size, board.komi)
        self._positions = [board]
        self._dead = None

    def _boardsize(self, words: list[str]) -> str:
        size = parse_int(_word(words))
        if not SMALLEST_BOARD <= size <= LARGEST_BOARD:
            raise GtpFailure("unacceptable size")
        try:
            self._start(Board(size, self.board.komi))
        except ValueError as error:
            print(error, file=sys.stderr, flush=True)
            raise GtpFailure("unacceptable size") from error
        return ""

    def _clear_board(self) -> str:
        self._start(Board(self.board.size, self.board.komi))
        return ""

    def _komi(self, words: list[str]) -> str:
        komi = parse_float(_word(words))
        for position in self._positions:
            position.komi = komi
        return ""

    def _fixed_handicap(self, words: list[str]) -> str:
        return self._place(text.handicap_points(parse_int(_word(words)), self.board.size))

    def _place_free_handicap(self, words: list[str]) -> str:
        """The usual points; fewer stones than asked for where the pattern has no more (GTP allows it)."""
        stones, size = parse_int(_word(words)), self.board.size
        if not 2 <= stones < size * size:
            raise GtpFailure("invalid number of stones")
        return self._place(text.handicap_points(min(stones, text.most_handicap(size)), size))

    def _set_free_handicap(self, words: list[str]) -> str:
        points = [parse_vertex(word, self.board.size) for word in words]
        if len(points) < 2 or len(set(points)) < len(points) or self.board.pass_move in points:
            raise GtpFailure("bad vertex list")
        self._place(points)
        return ""

    def _place(self, points: list[int]) -> str:
        if self.board.grid().any():
            raise GtpFailure("board not empty")
        board = Board(self.board.size, self.board.komi)
        board.setup(black=points, to_play=WHITE)
        self._start(board)
        return text.vertices(points, board.size)

    def _loadsgf(self, words: list[str]) -> str:
        """Load a file; with a move number, the position before that move is played."""
        limit = parse_int(words[1]) - 1 if len(words) > 1 else None
        try:
            game = load_sgf(Path(_word(words)), self.board.komi)
            positions = [game.start]
            for colour, move in game.moves if limit is None else game.moves[: max(limit, 0)]:
                positions.append(_after(positions[-1], colour, move))
            self.player.new_game(game.start.size, game.start.komi)
        except (SgfError, GtpFailure, ValueError) as error:
            print(error, file=sys.stderr, flush=True)
            raise GtpFailure("cannot load file") from error
        if limit is not None and 0 <= limit < len(game.moves):
            positions[-1].to_play = game.moves[limit][0]
        self._positions, self._dead = positions, None
        return ""

    # ---- playing

    def _colour(self, words: list[str]) -> int:
        return parse_colour(_word(words))

    def _play(self, words: list[str]) -> str:
        if len(words) < 2:
            raise GtpFailure("syntax error: play takes a colour and a vertex")
        colour = parse_colour(words[0])
        if words[1].lower() != text.RESIGN_WORD:  # resigning ends the game outside the board
            self._push(_after(self.board, colour, parse_vertex(words[1], self.board.size)), colour)
        return ""

    def _play_sequence(self, words: list[str]) -> str:
        positions = [self.board]
        colours = []
        for colour_word, vertex_word in zip(words[::2], words[1::2], strict=False):
            colours.append(parse_colour(colour_word))
            move = parse_vertex(vertex_word, self.board.size)
            positions.append(_after(positions[-1], colours[-1], move))
        for colour, position in zip(colours, positions[1:], strict=True):
            self._push(position, colour)
        return ""

    def _push(self, position: Board, colour: int) -> None:
        self._positions.append(position)
        self._dead = None
        if isinstance(self.player, Watcher) and position.last_move is not None:
            self.player.observe(colour, position.last_move)

    def _choose(self, colour: int) -> int:
        board = self.board.copy()
        board.to_play = colour
        move = self.player.choose(board)
        if move != RESIGN and not board.is_legal(move):
            raise RuntimeError(f"{self.player.name} chose an illegal move, {move}")
        return move

    def _genmove(self, colour: int) -> str:
        move = self._choose(colour)
        if move != RESIGN:
            self._push(_after(self.board, colour, move), colour)
        return self._show(move)

    def _genmove_cleanup(self, colour: int) -> str:
        """As genmove, but never resigns, and does not pass while dead stones of the opponent stand."""
        move = self._choose(colour)
        if move in (RESIGN, self.board.pass_move):
            move = self._capture_dead(colour)
        self._push(_after(self.board, colour, move), colour)
        return self._show(move)

    def _capture_dead(self, colour: int) -> int:
        """A sensible move beside a dead chain of the opponent, the weakest chain first; else a pass."""
        board = self.board.copy()
        board.to_play = colour
        grid, liberties, sensible = board.grid().ravel(), board.liberties().ravel(), board.sensible_mask()
        dead = set(self._dead_stones())
        targets = [c for c in chains(board.grid()) if c[0] in dead and grid[c[0]] == -colour]
        for chain in sorted(targets, key=lambda c: int(liberties[c[0]])):
            for point in chain:
                for near in neighbours(point, board.size):
                    if sensible[near]:
                        return near
        return board.pass_move

    def _show(self, move: int) -> str:
        return text.RESIGN_WORD if move == RESIGN else vertex(move, self.board.size)

    def _undo(self) -> str:
        if len(self._positions) < 2:
            raise GtpFailure("cannot undo")
        self._positions.pop()
        self._dead = None
        return ""

    # ---- time

    def _time_settings(self, words: list[str]) -> str:
        if len(words) < 3:
            raise GtpFailure("syntax error: time_settings takes main time, byoyomi time and stones")
        self._clock(parse_float(words[0]), parse_float(words[1]), parse_int(words[2]))
        return ""

    def _kgs_time_settings(self, words: list[str]) -> str:
        """none | absolute MAIN | byoyomi MAIN PERIOD PERIODS | canadian MAIN PERIOD STONES."""
        kind, numbers = _word(words), [parse_float(word) for word in words[1:]]
        if (kind, len(numbers)) == ("absolute", 1):
            self._clock(numbers[0], 0.0, 0)
        elif (kind, len(numbers)) == ("byoyomi", 3):  # each period is a time for one stone
            self._clock(numbers[0], numbers[1], 1)
        elif (kind, len(numbers)) == ("canadian", 3):
            self._clock(numbers[0], numbers[1], int(numbers[2]))
        elif kind != "none":
            raise GtpFailure("syntax error: none, absolute, byoyomi or canadian with their numbers")
        return ""

    def _clock(self, main: float, byoyomi: float, stones: int) -> None:
        if main < 0 or byoyomi < 0 or stones < 0:
            raise GtpFailure("syntax error: times are not negative")
        if isinstance(self.player, Timed):
            self.player.time_settings(main, byoyomi, stones)

    def _time_left(self, words: list[str]) -> str:
        if len(words) < 3:
            raise GtpFailure("syntax error: time_left takes a colour, seconds and stones")
        colour, seconds, stones = parse_colour(words[0]), parse_float(words[1]), parse_int(words[2])
        if isinstance(self.player, Timed):
            self.player.time_left(colour, seconds, stones)
        return ""

    # ---- end of the game

    def _dead_stones(self) -> list[int]:
        if self._dead is None:
            self._dead = dead_stones(self.board)
        return self._dead

    def _final_score(self) -> str:
        return text.format_score(score_without(self.board, self._dead_stones()))

    def _final_status_list(self, words: list[str]) -> str:
        status = _word(words)
        dead = set(self._dead_stones())
        groups = chains(self.board.grid())
        if status == "dead":
            chosen = [chain for chain in groups if chain[0] in dead]
        elif status == "alive":
            chosen = [chain for chain in groups if chain[0] not in dead]
        elif status == "seki":  # counted as alive: area scoring needs no third kind
            chosen = []
        else:
            raise GtpFailure("syntax error: alive, dead or seki")
        return "\n".join(text.vertices(chain, self.board.size) for chain in chosen)

    def _ownership(self) -> str:
        return "\n".join(" ".join(f"{value:.2f}" for value in row) for row in ownership(self.board))


def serve(engine: GtpEngine, stdin: BinaryIO, stdout: BinaryIO) -> None:
    """Answer commands from `stdin` on `stdout` until quit, the end of input, or a reader that is gone."""
    while not engine.finished and (line := stdin.readline()):
        answer = engine.answer(line.decode("utf-8", errors="replace"))
        if answer is None:
            continue
        try:
            stdout.write(answer.encode("utf-8"))
            stdout.flush()
        except (BrokenPipeError, ValueError):
            return


def standard_streams() -> tuple[BinaryIO, BinaryIO]:
    """This process's stdin, and its stdout for answers alone: all else that is printed goes to stderr."""
    sys.stdout.flush()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return sys.stdin.buffer, answers


def _version() -> str:
    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:  # run from a working tree
        return "0"


def _word(words: list[str]) -> str:
    if not words:
        raise GtpFailure("syntax error: an argument is missing")
    return words[0]


def _after(board: Board, colour: int, move: int) -> Board:
    after = board.copy()
    try:
        after.play(move, colour)
    except IllegalMoveError as error:
        raise GtpFailure("illegal move") from error
    return after
