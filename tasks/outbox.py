"""Calls to a service that may be away: kept in order, sent when it answers; the work never waits."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable

from tasks.bootstrap import LOGGER

FLUSH_SECONDS = 2.0
BACKOFF_SECONDS = 20.0
LAST_TRIES = 3
LAST_PAUSE_SECONDS = 2.0

Call = Callable[[], None]
log = logging.getLogger(f"{LOGGER}.tracking")


class Outbox:
    """A queue of calls. `due()` is true when it is time to flush; a failed flush makes it wait a while.

    A call whose error `is_refusal` is given up with a warning; after any other error it is made again later.
    """

    def __init__(self, name: str, is_refusal: Callable[[Exception], bool]) -> None:
        self.name = name
        self._is_refusal = is_refusal
        self.warned = False
        self._calls: deque[Call] = deque()
        self._next = 0.0

    def __len__(self) -> int:
        return len(self._calls)

    def add(self, call: Call) -> None:
        self._calls.append(call)

    def due(self) -> bool:
        return time.monotonic() >= self._next

    def flush(self) -> bool:
        """Send what is kept, oldest first; False when the service failed, with the rest kept for later."""
        self._next = time.monotonic() + FLUSH_SECONDS
        while self._calls:
            try:
                self._calls[0]()
            except Exception as error:  # whatever a store, a driver or a socket may raise: the work goes on
                if not self._is_refusal(error):
                    self._go_without(error)
                    return False
                log.warning("%s refused a record: %s", self.name, first_line(error))
            self._calls.popleft()
        if self.warned:
            log.warning("%s is back; all kept records are sent", self.name)
            self.warned = False
        return True

    def _go_without(self, error: Exception) -> None:
        self._next = time.monotonic() + BACKOFF_SECONDS
        if not self.warned:
            log.warning("%s is away (%s); the work goes on, records are kept", self.name, first_line(error))
            self.warned = True

    def close(self) -> bool:
        """Flush with a few tries; False when records remain unsent."""
        for attempt in range(LAST_TRIES):
            if attempt:
                time.sleep(LAST_PAUSE_SECONDS)
            if self.flush():
                return True
        log.warning("%s is still away; %d records were not sent", self.name, len(self._calls))
        return False


def first_line(error: BaseException) -> str:
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__
