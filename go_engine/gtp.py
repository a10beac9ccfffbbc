"""A Go Text Protocol engine over any player; `go_engine.gtp_server` connects it to streams.

The protocol is GTP 2. Every line gets exactly one answer, a failing command changes nothing, and nothing but
answers comes out: what goes wrong inside a player becomes a failure answer and a line on stderr.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from importlib import metadata
from pathlib import Path

from go_engine import Board, vertex
from go_engine import gtp_analysis as analysis
from go_engine import gtp_text as text
from go_engine.gtp_game import GtpGame, after
from go_engine.gtp_text import GtpFailure, parse_colour, parse_float, parse_int, parse_vertex
from go_engine.players import RESIGN, Analyst, Player, Timed, Watcher
from go_engine.status import ownership

DEFAULT_SIZE = 19
DEFAULT_KOMI = 7.5
DISTRIBUTION = "alphago-pipeline"
Handler = Callable[[list[str]], str | None]


class GtpEngine:
    """Commands in, answers out. `answer` takes one line.

    Raises ValueError when the player cannot play on a board of this size.
    """

    def __init__(self, player: Player, size: int = DEFAULT_SIZE, komi: float = DEFAULT_KOMI) -> None:
        self.player = player
        self.game = GtpGame(player.new_game, size, komi)
        self.finished = False
        self._streams = analysis.COMMANDS if isinstance(player, Analyst) else ()
        self._handlers: dict[str, Handler] = {
            "protocol_version": lambda _: "2",
            "name": lambda _: "AlphaGo pipeline",
            "version": lambda _: f"{_version()} ({player.name})",
            "known_command": lambda words: str(bool(words) and words[0] in self._names()).lower(),
            "list_commands": lambda _: "\n".join(self._names()),
            "quit": self._quit,
            "boardsize": lambda words: self.game.resize(parse_int(_word(words))),
            "clear_board": lambda _: self.game.clear(),
            "komi": lambda words: self.game.set_komi(parse_float(_word(words))),
            "get_komi": lambda _: f"{self.board.komi:g}",
            "fixed_handicap": self._fixed_handicap,
            "place_free_handicap": self._place_free_handicap,
            "set_free_handicap": self._set_free_handicap,
            "play": self._play,
            "gogui-play_sequence": self._play_sequence,
            "genmove": lambda words: self._genmove(parse_colour(_word(words))),
            "reg_genmove": lambda words: self._show(self._choose(parse_colour(_word(words)))),
            "kgs-genmove_cleanup": lambda words: self._genmove_cleanup(parse_colour(_word(words))),
            "undo": lambda _: self.game.undo(),
            "loadsgf": self._loadsgf,
            "time_settings": self._time_settings,
            "kgs-time_settings": self._kgs_time_settings,
            "time_left": self._time_left,
            "final_score": lambda _: text.format_score(self.game.score()),
            "final_status_list": self._final_status_list,
            "showboard": lambda _: str(self.board),
            "gogui-analyze_commands": lambda _: "dboard/Ownership by playouts/ownership",
            "ownership": self._ownership,
        }

    @property
    def board(self) -> Board:
        return self.game.board

    def answer(self, line: str) -> str | None:
        """The whole answer to a line, None when the line asks nothing. An analysis gives one line."""
        return "".join(self.parts(line, lambda: True)) or None

    def parts(self, line: str, interrupted: Callable[[], bool]) -> Iterator[str]:
        """The answer piece by piece, none for a line that asks nothing.

        `interrupted` is asked while an analysis runs and ends it.
        """
        command = text.parse_line(line)
        if command is None:
            return
        begun = False
        try:
            if command.name in self._streams:
                for part in self._analyse(command, interrupted):
                    yield part if begun else f"={command.id}\n{part}"
                    begun = True
                yield "\n" if begun else f"={command.id}\n\n"
            elif command.name in self._handlers:
                answer = self._handlers[command.name](command.arguments)
                yield text.format_answer(command.id, True, answer or "")
            else:
                yield text.format_answer(command.id, False, "unknown command")
        except GtpFailure as failure:
            yield text.format_answer(command.id, False, " ".join(str(failure).split()))
        except Exception as error:  # a player may fail in any way; the session goes on
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            print(f"{command.name}: {reason}", file=sys.stderr, flush=True)
            yield "\n" if begun else text.format_answer(command.id, False, f"{command.name} failed: {reason}")

    def _names(self) -> list[str]:
        return [*self._handlers, *self._streams]

    def _quit(self, _words: list[str]) -> None:
        self.finished = True

    # ---- set-up

    def _fixed_handicap(self, words: list[str]) -> str:
        return self.game.place_handicap(text.handicap_points(parse_int(_word(words)), self.board.size))

    def _place_free_handicap(self, words: list[str]) -> str:
        """The usual points; fewer stones than asked for where the pattern has no more (GTP allows it)."""
        stones, size = parse_int(_word(words)), self.board.size
        if not 2 <= stones < size * size:
            raise GtpFailure("invalid number of stones")
        return self.game.place_handicap(text.handicap_points(min(stones, text.most_handicap(size)), size))

    def _set_free_handicap(self, words: list[str]) -> None:
        points = [parse_vertex(word, self.board.size) for word in words]
        if len(points) < 2 or len(set(points)) < len(points) or self.board.pass_move in points:
            raise GtpFailure("bad vertex list")
        self.game.place_handicap(points)

    def _loadsgf(self, words: list[str]) -> None:
        self.game.load(Path(_word(words)), parse_int(words[1]) if len(words) > 1 else None)

    # ---- playing

    def _play(self, words: list[str]) -> None:
        if len(words) < 2:
            raise GtpFailure("syntax error: play takes a colour and a vertex")
        colour = parse_colour(words[0])
        if words[1].lower() != text.RESIGN_WORD:  # resigning ends the game outside the board
            self._push(colour, parse_vertex(words[1], self.board.size))

    def _play_sequence(self, words: list[str]) -> None:
        """Colours and vertices by turns; all of them are played or none."""
        if len(words) % 2:
            raise GtpFailure("syntax error: a colour without a vertex")
        size, board = self.board.size, self.board
        pairs = zip(words[::2], words[1::2], strict=True)
        moves = [(parse_colour(colour), parse_vertex(point, size)) for colour, point in pairs]
        for colour, move in moves:
            board = after(board, colour, move)
        for colour, move in moves:
            self._push(colour, move)

    def _push(self, colour: int, move: int) -> None:
        self.game.play(colour, move)
        if isinstance(self.player, Watcher):
            self.player.observe(colour, move)

    def _choose(self, colour: int) -> int:
        board = self.game.with_turn(colour)
        move = self.player.choose(board)
        if move != RESIGN and not board.is_legal(move):
            raise RuntimeError(f"{self.player.name} chose an illegal move, {move}")
        return move

    def _genmove(self, colour: int) -> str:
        move = self._choose(colour)
        if move != RESIGN:
            self._push(colour, move)
        return self._show(move)

    def _genmove_cleanup(self, colour: int) -> str:
        """As genmove, but never resigns, and does not pass while dead stones of the opponent stand."""
        move = self._choose(colour)
        if move in (RESIGN, self.board.pass_move):
            move = self.game.capture_dead(colour)
        self._push(colour, move)
        return self._show(move)

    def _show(self, move: int) -> str:
        return text.RESIGN_WORD if move == RESIGN else vertex(move, self.board.size)

    def _analyse(self, command: text.Command, interrupted: Callable[[], bool]) -> Iterator[str]:
        """Lines of candidates; for the genmove forms one, and the move that is played."""
        assert isinstance(self.player, Analyst)
        request = analysis.parse_request(command.name, command.arguments, self.board.to_play)
        size = self.board.size
        if request.plays:
            move = self._choose(request.colour)
            yield analysis.format_candidates(self.player.candidates(), request, size) + "\n"
            if move != RESIGN:
                self._push(request.colour, move)
            yield f"play {self._show(move)}\n"
            return
        due = time.monotonic() + request.interval
        with closing(self.player.analyse(self.game.with_turn(request.colour))) as thoughts:
            for candidates in thoughts:
                stopped = interrupted()
                if stopped or time.monotonic() >= due:
                    yield analysis.format_candidates(candidates, request, size) + "\n"
                    due = time.monotonic() + request.interval
                if stopped:
                    return

    # ---- time

    def _time_settings(self, words: list[str]) -> None:
        if len(words) < 3:
            raise GtpFailure("syntax error: time_settings takes main time, byoyomi time and stones")
        self._clock(parse_float(words[0]), parse_float(words[1]), parse_int(words[2]))

    def _kgs_time_settings(self, words: list[str]) -> None:
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

    def _clock(self, main: float, byoyomi: float, stones: int) -> None:
        if main < 0 or byoyomi < 0 or stones < 0:
            raise GtpFailure("syntax error: times are not negative")
        if isinstance(self.player, Timed):
            self.player.time_settings(main, byoyomi, stones)

    def _time_left(self, words: list[str]) -> None:
        if len(words) < 3:
            raise GtpFailure("syntax error: time_left takes a colour, seconds and stones")
        colour, seconds, stones = parse_colour(words[0]), parse_float(words[1]), parse_int(words[2])
        if isinstance(self.player, Timed):
            self.player.time_left(colour, seconds, stones)

    # ---- the end of the game

    def _final_status_list(self, words: list[str]) -> str:
        groups = self.game.chains_of(_word(words))
        return "\n".join(text.vertices(chain, self.board.size) for chain in groups)

    def _ownership(self, _words: list[str]) -> str:
        return "\n".join(" ".join(f"{value:.2f}" for value in row) for row in ownership(self.board))


def _version() -> str:
    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:  # run from a working tree
        return "0"


def _word(words: list[str]) -> str:
    if not words:
        raise GtpFailure("syntax error: an argument is missing")
    return words[0]
