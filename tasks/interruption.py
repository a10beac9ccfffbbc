"""Stopping a training by a signal: at the end of a step, with its state saved."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class TrainingInterrupted(RuntimeError):
    """A signal stopped the training; its state is on disk and the same call goes on from there."""


class Stop:
    """Set by a signal."""

    def __init__(self, then: Callable[[], None] | None = None) -> None:
        self.asked = False
        self._then = then

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        self.asked = True
        if self._then:
            self._then()


@contextmanager
def stop_on_signal(then: Callable[[], None] | None = None) -> Iterator[Stop]:
    """Turn SIGTERM and SIGINT into a request to stop; `then` is called when one comes.

    Python lets only the main thread do so; in another nothing changes and nobody asks.
    """
    stop = Stop(then)
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    previous = {number: signal.signal(number, stop) for number in STOP_SIGNALS}
    try:
        yield stop
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
