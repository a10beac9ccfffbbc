"""External programs as players: a GTP engine in a subprocess, which may crash, hang or talk nonsense.

Whatever goes wrong becomes one `GtpError` with its kind, and leaves no process behind.
"""

from __future__ import annotations

import os
import queue
import shlex
import shutil
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Literal

from go_engine import BLACK, WHITE, Board, vertex
from go_engine.gtp_text import RESIGN_WORD, GtpFailure, parse_vertex
from go_engine.players import RESIGN

Kind = Literal["missing", "crash", "hang", "garbage", "refused", "illegal"]
GAMES_PATH = "/usr/games:/usr/local/games"
START_SECONDS = 30.0
QUIT_SECONDS = 2.0
STDERR_LINES = 20
LONGEST_ANSWER = 1_000_000  # characters; no honest answer is longer
LETTERS = {BLACK: "b", WHITE: "w"}


def find_program(word: str) -> str | None:
    """Where a program lies, None when it is not installed. Debian keeps games off root's PATH."""
    return shutil.which(word) or shutil.which(word, path=GAMES_PATH)


class GtpError(RuntimeError):
    """What an external program did wrong.

    kind: missing (it cannot be started), crash, hang, garbage (an answer that is no GTP), refused (a failure
    answer), or illegal (a move that the rules forbid).
    """

    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(message)
        self.kind: Kind = kind


class GtpProcess:
    """A running GTP engine. argv is a list of words and never goes through a shell.

    timeout: seconds that an answer may take. The engine's last lines on stderr are quoted when it crashes.
    """

    def __init__(
        self,
        argv: Sequence[str],
        timeout: float = START_SECONDS,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> None:
        self.argv, self.timeout = list(argv), timeout
        try:
            self._process = subprocess.Popen(
                [find_program(self.argv[0]) or self.argv[0], *self.argv[1:]],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, **(env or {})},
                cwd=cwd,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise GtpError("missing", f"cannot start {shlex.join(self.argv)}: {error}") from error
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._stderr: deque[str] = deque(maxlen=STDERR_LINES)
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._readers = [
            threading.Thread(target=self._read_answers, args=(self._process.stdout,), daemon=True),
            threading.Thread(target=self._read_stderr, args=(self._process.stderr,), daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def command(self, line: str, timeout: float | None = None) -> str:
        """Send one command; the answer's text without its sign.

        Raises GtpError; after a crash, a hang or garbage the process is gone.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{line}\n".encode())
            self._process.stdin.flush()
        except (OSError, ValueError) as error:
            raise self._failed("crash", f"{line!r} could not be sent") from error
        answer = self._answer(line, timeout or self.timeout)
        if answer.startswith("="):
            return answer[1:].strip()
        if answer.startswith("?"):
            raise GtpError("refused", f"{self.argv[0]} refused {line!r}: {answer[1:].strip()}")
        raise self._failed("garbage", f"{line!r} was answered {answer[:60]!r}")

    def close(self) -> None:
        """Ask the engine to quit, and end it when it does not. Safe to call at any time."""
        if self.alive and self._process.stdin is not None:
            try:
                self._process.stdin.write(b"quit\n")
                self._process.stdin.close()
                self._process.wait(QUIT_SECONDS)
            except (OSError, ValueError, subprocess.TimeoutExpired):
                pass
        self._kill()

    def _answer(self, line: str, timeout: float) -> str:
        """The next answer, all its lines. Empty lines before it are skipped, as controllers commonly do."""
        deadline = time.monotonic() + timeout
        lines: list[str] = []
        length = 0
        while True:
            try:
                got = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise self._failed("hang", f"no answer to {line!r} within {timeout:g} s") from None
            if got is None:
                raise self._failed("crash", f"it ended at {line!r}")
            length += len(got)
            if length > LONGEST_ANSWER:
                raise self._failed("garbage", f"the answer to {line!r} has no end")
            if got:
                lines.append(got)
            elif lines:
                return "\n".join(lines)

    def _failed(self, kind: Kind, what: str) -> GtpError:
        self._kill()
        ended = f"exit status {self._process.returncode}; " if kind == "crash" else ""
        said = self._stderr[-1] if self._stderr else ""
        return GtpError(kind, f"{self.argv[0]}: {what} ({ended}stderr: {said[:200]!r})")

    def _kill(self) -> None:
        if self.alive:
            with suppress(ProcessLookupError):  # its own session: helpers that it started go too
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for reader in self._readers:
            reader.join(QUIT_SECONDS)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with suppress(OSError):
                    stream.close()

    def _read_answers(self, stream: IO[bytes]) -> None:
        try:
            while line := stream.readline(LONGEST_ANSWER):
                self._lines.put(line.decode("utf-8", errors="replace").rstrip("\r\n\t "))
        except (OSError, ValueError):
            pass
        self._lines.put(None)

    def _read_stderr(self, stream: IO[bytes]) -> None:
        try:
            while line := stream.readline(LONGEST_ANSWER):
                self._stderr.append(line.decode("utf-8", errors="replace").strip())
        except (OSError, ValueError):
            pass


class GtpPlayer:
    """An external program as a `Player`. Every failure is a GtpError; the next `new_game` starts it afresh.

    move_timeout: seconds for one answer. Tell it of every move with `observe`; a position that it was not
    told of is set up stone by stone, without the history that ko rules look at.
    """

    def __init__(
        self,
        argv: Sequence[str],
        name: str | None = None,
        move_timeout: float = 60.0,
        env: Mapping[str, str] | None = None,
        start_timeout: float = START_SECONDS,
    ) -> None:
        if not argv:
            raise ValueError("the command line of the program is empty")
        self.argv, self.env = list(argv), env
        self.name = name or Path(argv[0]).name
        self.move_timeout, self.start_timeout = move_timeout, start_timeout
        self._process: GtpProcess | None = None
        self._known: Board | None = None  # the position as the program has it, but for its last move
        self._pending: tuple[int, int] | None = None  # that move, while nobody has said whether it was played

    def new_game(self, size: int, komi: float) -> None:
        self._known = self._pending = None
        if self._process is None or not self._process.alive:
            self.close()
            self._process = GtpProcess(self.argv, self.start_timeout, self.env)
        try:
            self._ask(f"boardsize {size}", self.start_timeout)
        except GtpError as error:
            if error.kind == "refused":
                raise ValueError(f"{self.name} does not play on {size}x{size}: {error}") from error
            raise
        self._ask("clear_board")
        self._ask(f"komi {komi:g}")
        self._known = Board(size, komi)

    def observe(self, colour: int, move: int) -> None:
        """Tell the program of a move; its own, just chosen, it knows already."""
        if self._known is None:  # it is set up anew when it is asked for a move
            return
        if self._pending == (colour, move):
            self._known.play(move, colour)
            self._pending = None
            return
        if self._pending is not None:  # its move was not played
            self._known = self._pending = None
            return
        self._known.play(move, colour)
        self._ask(f"play {LETTERS[colour]} {vertex(move, self._known.size)}")

    def choose(self, board: Board) -> int:
        self._meet(board)
        answer = self._ask(f"genmove {LETTERS[board.to_play]}")
        if answer.lower() == RESIGN_WORD:
            return RESIGN
        try:
            move = parse_vertex(answer, board.size)
        except GtpFailure as error:
            self.close()
            raise GtpError("garbage", f"{self.name} answered genmove with {answer[:60]!r}") from error
        if not board.is_legal(move):
            self.close()
            raise GtpError("illegal", f"{self.name} chose {answer}, illegal as move {board.move_number + 1}")
        self._pending = (board.to_play, move)
        return move

    def final_score(self) -> float | None:
        """Black's lead as the program sees it; None when it gives no answer that can be read."""
        try:
            words = self._ask("final_score").upper().split()
        except GtpError:
            return None
        word = words[0] if words else ""
        if word in ("0", "DRAW", "JIGO"):
            return 0.0
        try:
            return {"B+": 1, "W+": -1}[word[:2]] * float(word[2:])
        except (KeyError, ValueError):
            return None

    def close(self) -> None:
        """End the program; the next `new_game` starts it afresh."""
        if self._process is not None:
            self._process.close()
        self._process = self._known = self._pending = None

    def _ask(self, line: str, timeout: float | None = None) -> str:
        if self._process is None:
            raise GtpError("crash", f"{self.name} is not running")
        try:
            return self._process.command(line, timeout or self.move_timeout)
        except GtpError as error:
            if error.kind != "refused":
                self.close()
            raise

    def _meet(self, board: Board) -> None:
        """Bring the program to this position if it is not there."""
        if self._known is not None and self._pending is not None:
            self._known.play(self._pending[1], self._pending[0])
            self._pending = None
        known = self._known
        if known is not None and known.size == board.size and known.hash == board.hash:
            return
        self.new_game(board.size, board.komi)
        assert self._known is not None
        stones = board.grid().ravel().tolist()
        for move, colour in enumerate(stones):
            if colour:
                self._ask(f"play {LETTERS[colour]} {vertex(move, board.size)}")
        black, white = ([m for m, colour in enumerate(stones) if colour == sign] for sign in LETTERS)
        self._known.setup(black=black, white=white, to_play=board.to_play)
