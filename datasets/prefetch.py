"""Running an iterator in a thread, a few items ahead of whoever takes them."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from typing import TypeVar

AHEAD = 4  # items
POLL_SECONDS = 0.1  # how soon the thread notices that nobody listens any more

Item = TypeVar("Item")


def in_background(make: Callable[[], Iterator[Item]]) -> Iterator[Item]:
    """Runs an iterator in a thread, a few items ahead; the thread ends when the caller stops."""
    items: queue.Queue[Item | BaseException | None] = queue.Queue(AHEAD)
    stop = threading.Event()

    def put(item: Item | BaseException | None) -> bool:
        while not stop.is_set():
            try:
                items.put(item, timeout=POLL_SECONDS)
                return True
            except queue.Full:
                continue
        return False

    def work() -> None:
        try:
            for item in make():
                if not put(item):
                    return
            put(None)
        except BaseException as error:  # handed to the caller
            put(error)

    thread = threading.Thread(target=work, name="loader", daemon=True)
    thread.start()
    try:
        while (item := items.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        stop.set()
        thread.join()
