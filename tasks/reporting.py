"""How a stage's main loop tells what it is doing, without knowing who listens.

A stage function takes a `Reporter`. In a flow it is the tracked run of `tasks.tracking`; in a test it is a
`NullReporter`, which keeps what it was told so that a test can look at it.
"""

from __future__ import annotations

import sys
import time
from typing import Any, Protocol, TextIO, runtime_checkable

BAR_WIDTH = 24
REDRAW_SECONDS = 0.2  # a terminal's bar moves at most five times a second
LOG_SECONDS = 30.0  # a log file gets one line in half a minute


@runtime_checkable
class Reporter(Protocol):
    """What every stage function may call; all of it is cheap and none of it raises because nobody listens."""

    def log_metrics(self, metrics: dict[str, float], step: int | None = None) -> None:
        """Note numbers, at a training step if one is given. Names use slashes: "train/loss"."""

    def log_figure(self, name: str, figure: Any) -> None:
        """Keep a matplotlib figure under `name` ("curves/loss.png")."""

    def log_text(self, name: str, text: str) -> None:
        """Keep a text file under `name` ("games/crosstable.md")."""

    def progress(self, done: float, total: float, note: str = "") -> None:
        """Say how far the work is, in any unit; `note` is a few words shown beside the bar."""


class NullReporter:
    """Listens silently; `metrics`, `texts` and `figures` hold what was said."""

    def __init__(self) -> None:
        self.metrics: list[tuple[int | None, dict[str, float]]] = []
        self.texts: dict[str, str] = {}
        self.figures: dict[str, Any] = {}

    def log_metrics(self, metrics: dict[str, float], step: int | None = None) -> None:
        self.metrics.append((step, dict(metrics)))

    def log_figure(self, name: str, figure: Any) -> None:
        self.figures[name] = figure

    def log_text(self, name: str, text: str) -> None:
        self.texts[name] = text

    def progress(self, done: float, total: float, note: str = "") -> None:
        pass


class ProgressLine:
    """A bar with rate and remaining time: redrawn in place on a terminal, a rare plain line elsewhere.

    The rate counts from the first call, so that work done before an interruption does not flatter it.
    """

    def __init__(self, label: str, stream: TextIO | None = None) -> None:
        self.label = label
        self.stream = sys.stderr if stream is None else stream
        self.live = self.stream.isatty()
        self._first: tuple[float, float] | None = None  # (time, done)
        self._drawn = 0.0

    def update(self, done: float, total: float, note: str = "") -> None:
        now = time.monotonic()
        if self._first is None:
            self._first = (now, done)
            self._drawn = now if not self.live else 0.0
        finished = done >= total
        if not finished and now - self._drawn < (REDRAW_SECONDS if self.live else LOG_SECONDS):
            return
        self._drawn = now
        text = self._text(now, done, total, note)
        if self.live and _drawn_line in (None, self):
            self.stream.write(f"\r\x1b[K{text}")
            _hold(self)
        elif finished or not self.live:
            break_line()
            self.stream.write(f"{text}\n")
        self.stream.flush()
        if finished:
            self.close()

    def close(self) -> None:
        """Leave the bar's line; the next update starts a new bar with a new rate."""
        if _drawn_line is self:
            break_line()
        self._first = None

    def _text(self, now: float, done: float, total: float, note: str) -> str:
        assert self._first is not None
        share = min(1.0, done / total) if total > 0 else 1.0
        filled = int(share * BAR_WIDTH)
        text = (
            f"{self.label} [{'#' * filled}{'.' * (BAR_WIDTH - filled)}] {share:4.0%} {done:,.0f}/{total:,.0f}"
        )
        elapsed, gained = now - self._first[0], done - self._first[1]
        if elapsed > 0 and gained > 0:
            rate = gained / elapsed
            text += f" {rate:,.1f}/s"
            if done < total:
                text += f" {clock((total - done) / rate)} left"
        return f"{text} {note}".rstrip()


# The bar that stands in the terminal's last line; of stages side by side only one shows its bar.
_drawn_line: ProgressLine | None = None


def _hold(line: ProgressLine | None) -> None:
    global _drawn_line
    _drawn_line = line


def break_line() -> None:
    """Start a new line if a bar stands in the last one: call before printing anything else."""
    if _drawn_line is not None:
        _drawn_line.stream.write("\n")
        _drawn_line.stream.flush()
        _hold(None)


class ConsoleReporter(NullReporter):
    """Shows the progress bar on stderr and keeps the rest as `NullReporter` does."""

    def __init__(self, label: str, stream: TextIO | None = None) -> None:
        super().__init__()
        self._line = ProgressLine(label, stream)

    def progress(self, done: float, total: float, note: str = "") -> None:
        self._line.update(done, total, note)


def clock(seconds: float) -> str:
    """A duration for people: 48s, 3m05s, 2h10m, 3d04h."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes}m{rest:02d}s"
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        return f"{hours}h{minutes:02d}m"
    days, hours = divmod(hours, 24)
    return f"{days}d{hours:02d}h"
