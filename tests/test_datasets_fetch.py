"""Downloads from a local server that breaks connections, changes files and refuses ranges."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from datasets.fetch import FetchError, Manners, fetch, file_name

QUICK = Manners(pause=0.0, first_wait=0.0, retries=12, timeout=5.0)
DATA = np.random.default_rng(0).bytes(300_000)


class Server(ThreadingHTTPServer):
    """Serves `files`; `broken` bytes after which a connection is cut; counts requests and bytes sent."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.etags: dict[str, str] = {}
        self.broken: int | None = None
        self.ranges = True
        self.failures = 0
        self.log: list[tuple[str, str | None]] = []
        self.sent = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        server, wanted = self.server, self.headers.get("Range")
        server.log.append((self.path, wanted))
        if server.failures:
            server.failures -= 1
            self.send_error(503)
            return
        data = server.files.get(self.path)
        if data is None:
            self.send_error(404)
            return
        start = 0
        etag = server.etags.get(self.path, '"one"')
        if wanted and server.ranges and self.headers.get("If-Range") == etag:
            start = int(wanted.removeprefix("bytes=").rstrip("-"))
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        else:
            self.send_response(200)
        self.send_header("ETag", etag)
        self.send_header("Content-Length", str(len(data) - start))
        self.end_headers()
        body = data[start:]
        if server.broken is not None and self.path != "/":
            body = body[: server.broken]
        server.sent += len(body)
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield running
        running.shutdown()


def quiet(_: str) -> None:
    pass


def test_resumes_after_every_break(server: Server, tmp_path: Path) -> None:
    server.files["/games.tar.gz"] = DATA
    server.broken = 70_000
    (found,) = fetch(f"{server.url}/games.tar.gz", tmp_path, QUICK, say=quiet)
    assert (tmp_path / "games.tar.gz").read_bytes() == DATA
    assert found.sha256 == hashlib.sha256(DATA).hexdigest()
    assert [wanted for _, wanted in server.log] == [None, *(f"bytes={n * 70_000}-" for n in range(1, 5))]
    assert server.sent == len(DATA)
    assert not list(tmp_path.glob("*.part"))


def test_goes_on_in_the_next_call(server: Server, tmp_path: Path) -> None:
    server.files["/games.zip"] = DATA
    server.broken = 1000
    with pytest.raises(FetchError, match="given up after 3 tries"):
        fetch(f"{server.url}/games.zip", tmp_path, Manners(0.0, 0.0, 2), say=quiet)
    server.broken = None
    fetch(f"{server.url}/games.zip", tmp_path, QUICK, say=quiet)
    assert server.log[-1] == ("/games.zip", "bytes=3000-")
    assert (tmp_path / "games.zip").read_bytes() == DATA


def test_begins_anew_when_the_file_has_changed(server: Server, tmp_path: Path) -> None:
    server.files["/games.zip"] = DATA
    server.broken = 1000
    with pytest.raises(FetchError):
        fetch(f"{server.url}/games.zip", tmp_path, Manners(0.0, 0.0, 0), say=quiet)
    server.files["/games.zip"], server.etags["/games.zip"], server.broken = DATA[::-1], '"two"', None
    fetch(f"{server.url}/games.zip", tmp_path, QUICK, say=quiet)
    assert (tmp_path / "games.zip").read_bytes() == DATA[::-1]


def test_server_without_ranges(server: Server, tmp_path: Path) -> None:
    server.files["/games.zip"], server.ranges, server.broken = DATA, False, 1000
    with pytest.raises(FetchError):
        fetch(f"{server.url}/games.zip", tmp_path, Manners(0.0, 0.0, 1), say=quiet)
    server.broken = None
    fetch(f"{server.url}/games.zip", tmp_path, QUICK, say=quiet)
    assert (tmp_path / "games.zip").read_bytes() == DATA


def test_page_of_archives(server: Server, tmp_path: Path) -> None:
    server.files["/"] = b"""<a href="2016-01.zip">zip</a> <a class="x" href='2016-01.tar.gz'>tar</a>
        <a href="/old/2015.tar.bz2">old</a> <a href="about.html">about</a> <a href="ftp://x/y.zip">ftp</a>"""
    server.files |= {"/2016-01.zip": b"a", "/old/2015.tar.bz2": b"b"}
    server.failures = 2
    found = fetch(f"{server.url}/", tmp_path, QUICK, say=quiet)
    assert [one.name for one in found] == ["2016-01.zip", "2015.tar.bz2"]
    before = len(server.log)
    assert fetch(f"{server.url}/", tmp_path, QUICK, say=quiet) == found
    assert [path for path, _ in server.log[before:]] == ["/"]  # the archives are not asked for again


def test_wrong_checksum_is_thrown_away(server: Server, tmp_path: Path) -> None:
    server.files["/games.zip"] = DATA
    with pytest.raises(FetchError, match="sha256"):
        fetch(f"{server.url}/games.zip", tmp_path, QUICK, {"games.zip": "0" * 64}, quiet)
    assert not list(tmp_path.iterdir()) or not (tmp_path / "games.zip").exists()


def test_errors_are_one_line(server: Server, tmp_path: Path) -> None:
    with pytest.raises(FetchError, match="unknown source 'nowhere'"):
        fetch("nowhere", tmp_path)
    with pytest.raises(FetchError, match="answers 404"):
        fetch(f"{server.url}/none.zip", tmp_path, QUICK, say=quiet)
    server.files["/"] = b"<html></html>"
    with pytest.raises(FetchError, match="no links to archives"):
        fetch(f"{server.url}/", tmp_path, QUICK, say=quiet)


def test_names_stay_in_the_folder() -> None:
    assert file_name("http://x/a/..%2f..%2fetc%2fpasswd.zip") == "passwd.zip"
    assert file_name("http://x/KGS-2016_01%20new.zip?x=1") == "KGS-2016_01_new.zip"
