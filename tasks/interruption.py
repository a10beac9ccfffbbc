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


_listening: set[Stop] = set()  # those of the trainings at work, in whatever thread


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

    Python gives signals to the main thread alone: in another, whoever gets them there calls `stop_all`.
    """
    stop = Stop(then)
    in_main = threading.current_thread() is threading.main_thread()
    previous = {number: signal.signal(number, stop) for number in STOP_SIGNALS} if in_main else {}
    _listening.add(stop)
    try:
        yield stop
    finally:
        _listening.discard(stop)
        for number, handler in previous.items():
            signal.signal(number, handler)


def stop_all() -> None:
    """Ask every training of this process to stop, those in other threads too."""
    for stop in tuple(_listening):
        stop(signal.SIGTERM, None)
