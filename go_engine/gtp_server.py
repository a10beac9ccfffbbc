"""The loop around a GTP engine: lines in, answers out, and an eye on the input while an analysis runs."""

from __future__ import annotations

import os
import queue
import sys
import threading
from typing import BinaryIO

from go_engine.gtp import GtpEngine


class LineReader:
    """Reads lines in a thread, so that one can see whether another has come."""

    def __init__(self, stream: BinaryIO) -> None:
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        threading.Thread(target=self._read, args=(stream,), daemon=True).start()

    @property
    def waiting(self) -> bool:
        """Whether a line or the end of the input is there."""
        return not self._lines.empty()

    def next(self) -> str | None:
        """The next line, None at the end of the input."""
        line = self._lines.get()
        return None if line is None else line.decode("utf-8", errors="replace")

    def _read(self, stream: BinaryIO) -> None:
        try:
            for line in stream:
                self._lines.put(line)
        except (OSError, ValueError):
            pass
        self._lines.put(None)


def serve(engine: GtpEngine, stdin: BinaryIO, stdout: BinaryIO) -> None:
    """Answer commands from `stdin` on `stdout` until quit, the end of input, or a reader that is gone."""
    lines = LineReader(stdin)
    try:
        while not engine.finished and (line := lines.next()) is not None:
            for part in engine.parts(line, lambda: lines.waiting):
                stdout.write(part.encode("utf-8"))
                stdout.flush()
    except (BrokenPipeError, ValueError):  # closed by the reader, or by us
        return


def standard_streams() -> tuple[BinaryIO, BinaryIO]:
    """This process's stdin, and its stdout for answers alone: all else that is printed goes to stderr."""
    sys.stdout.flush()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return sys.stdin.buffer, answers
