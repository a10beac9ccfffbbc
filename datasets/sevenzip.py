"""Members of a .7z archive one after the other, through py7zr (an optional package)."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from typing import IO

import py7zr
from py7zr.io import Py7zIO, WriterFactory

WAITING_MEMBERS = 64  # members unpacked ahead of the reader


class _Stopped(Exception):
    """The reader wants no more."""


class _Member(Py7zIO):
    """Collects one member's bytes and hands them over when it is complete; nothing reads it back."""

    def __init__(self, name: str, hand_over: _Queue) -> None:
        self.name, self.hand_over, self.buffer = name, hand_over, bytearray()

    def write(self, s: bytes | bytearray) -> int:
        self.buffer += s
        return len(s)

    def read(self, size: int | None = None) -> bytes:  # noqa: ARG002
        return b""

    def seek(self, offset: int, whence: int = 0) -> int:  # noqa: ARG002
        return 0

    def flush(self) -> None:
        pass

    def size(self) -> int:
        return len(self.buffer)

    def close(self) -> None:
        self.hand_over.put((self.name, bytes(self.buffer)))
        self.buffer = bytearray()


class _Queue:
    """A bounded queue whose writer is stopped when the reader goes away."""

    def __init__(self) -> None:
        self.items: queue.Queue[tuple[str, bytes] | BaseException | None] = queue.Queue(WAITING_MEMBERS)
        self.stop = threading.Event()

    def put(self, item: tuple[str, bytes] | BaseException | None) -> None:
        while not self.stop.is_set():
            try:
                self.items.put(item, timeout=0.1)
                return
            except queue.Full:
                continue
        raise _Stopped


class _Factory(WriterFactory):
    def __init__(self, hand_over: _Queue) -> None:
        self.hand_over = hand_over

    def create(self, filename: str) -> Py7zIO:
        return _Member(filename, self.hand_over)


def list_members(stream: IO[bytes]) -> list[tuple[str, int]]:
    """(name, unpacked size) of every file. Raises ValueError for what is no sound .7z archive."""
    try:
        archive = py7zr.SevenZipFile(stream)
    except py7zr.exceptions.ArchiveError as error:
        raise ValueError(str(error)) from None
    with archive:
        return [
            (entry.filename, int(entry.uncompressed)) for entry in archive.list() if not entry.is_directory
        ]


def read_members(stream: IO[bytes], names: list[str]) -> Iterator[tuple[str, bytes]]:
    """The named members in the archive's order; unpacking runs in a thread, a few members ahead."""
    hand_over = _Queue()

    def unpack() -> None:
        end: BaseException | None = None
        try:
            stream.seek(0)
            with py7zr.SevenZipFile(stream) as archive:
                archive.extract(targets=names, factory=_Factory(hand_over))
        except _Stopped:
            return
        except Exception as error:  # whatever py7zr meets is told to the reader
            end = error
        try:
            hand_over.put(end)
        except _Stopped:
            return

    thread = threading.Thread(target=unpack, name="sevenzip", daemon=True)
    thread.start()
    try:
        while isinstance(item := hand_over.items.get(), tuple):
            yield item
        if item is not None:
            raise ValueError(str(item) or type(item).__name__)
    finally:
        hand_over.stop.set()
        thread.join()
