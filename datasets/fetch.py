"""Downloading archives of game records: resumed after a break, checked, and with pauses between requests.

A source is a known name, the address of an archive, or of a page that links to archives. Beside the archives,
`fetched.json` says where each came from, with its size and digest; what is there already is not asked for
again.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from http.client import HTTPException
from pathlib import Path
from typing import TypeVar
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urljoin, urlsplit
from urllib.request import Request, urlopen

from .sources import GAME_SUFFIXES, archive_kind

KNOWN = {
    "kgs": "https://u-go.net/gamerecords/",  # games of 7 dan and stronger, or both 6 dan, by month
    "kgs-4d": "https://u-go.net/gamerecords-4d/",
}
RECORD = "fetched.json"
USER_AGENT = "alphago-pipeline (reads game records; one connection, with pauses)"
CHUNK = 1 << 16
TIMEOUT_SECONDS = 60.0
RETRIES = 6
FIRST_WAIT_SECONDS = 1.0  # doubled at each retry
PAUSE_SECONDS = 2.0  # between two requests

Answer = TypeVar("Answer")

_LINK = re.compile(r"""<a\s[^>]*?href\s*=\s*["']([^"'#]+)["']""", re.IGNORECASE)
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")


class FetchError(Exception):
    """Why something could not be downloaded, in one line."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """One downloaded file."""

    name: str
    url: str
    bytes: int
    sha256: str
    etag: str | None


@dataclass(frozen=True, slots=True)
class Manners:
    """How a server is treated. Seconds."""

    pause: float = PAUSE_SECONDS
    first_wait: float = FIRST_WAIT_SECONDS
    retries: int = RETRIES
    timeout: float = TIMEOUT_SECONDS


def fetch(
    source: str,
    folder: Path,
    manners: Manners | None = None,
    checksums: dict[str, str] | None = None,
    say: Callable[[str], None] = print,
) -> list[Fetched]:
    """Downloads all archives of a source into `folder`; returns them, those that were there already as well.

    `checksums`: sha256 by file name, checked where given. Raises FetchError; what is complete by then stays,
    and the next call goes on from there.
    """
    manners = manners or Manners()
    address = KNOWN.get(source, source)
    if urlsplit(address).scheme not in ("http", "https"):
        raise FetchError(f"unknown source {source!r}: one of {', '.join(KNOWN)}, or an http(s) address")
    folder.mkdir(parents=True, exist_ok=True)
    done = read_record(folder)
    addresses = [address] if _is_archive(address) else archive_links(address, manners)
    if not addresses:
        raise FetchError(f"{address}: no links to archives of game records")
    result = []
    for number, url in enumerate(addresses, 1):
        name = file_name(url)
        known = done.get(name)
        if known is None or known.url != url or not (folder / name).is_file():
            time.sleep(manners.pause)
            say(f"{number} of {len(addresses)}: {url}")
            known = download(url, folder / name, manners, (checksums or {}).get(name))
            done[name] = known
            write_record(folder, done)
        result.append(known)
    return result


def read_record(folder: Path) -> dict[str, Fetched]:
    """What an earlier call has downloaded, by name."""
    path = folder / RECORD
    if not path.is_file():
        return {}
    return {entry["name"]: Fetched(**entry) for entry in json.loads(path.read_text(encoding="utf-8"))}


def write_record(folder: Path, done: dict[str, Fetched]) -> None:
    part = folder / f"{RECORD}.part"
    entries = [asdict(done[name]) for name in sorted(done)]
    part.write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")
    part.replace(folder / RECORD)


def file_name(url: str) -> str:
    """The last part of an address's path, fit to be a file's name."""
    name = unquote(urlsplit(url).path).rsplit("/", 1)[-1]
    return re.sub(r"[^A-Za-z0-9._+-]", "_", name).lstrip(".") or "archive"


def _is_archive(url: str) -> bool:
    name = file_name(url)
    return archive_kind(name) is not None or Path(name.lower()).suffix in GAME_SUFFIXES


def archive_links(page: str, manners: Manners) -> list[str]:
    """The archives that a page links to, each once. Of one archive in several packings the first is taken."""
    data = b"".join(_with_retries(page, manners, lambda: _get_all(page, manners)))
    found: dict[str, str] = {}
    for link in _LINK.findall(data.decode("utf-8", errors="replace")):
        url = urljoin(page, link.strip())
        if urlsplit(url).scheme in ("http", "https") and _is_archive(url):
            stem = re.sub(r"\.(zip|tar|tgz|tar\.(gz|bz2|xz)|7z)$", "", file_name(url).lower())
            found.setdefault(stem, url)
    return list(found.values())


def _get_all(url: str, manners: Manners) -> list[bytes]:
    with urlopen(Request(url, headers={"User-Agent": USER_AGENT}), timeout=manners.timeout) as answer:
        return [answer.read()]


def download(url: str, target: Path, manners: Manners, sha256: str | None = None) -> Fetched:
    """One file, going on where a broken connection stopped. Raises FetchError; the part stays for the next
    call.
    """
    part = target.with_name(target.name + ".part")
    etag_file = target.with_name(target.name + ".etag.part")
    etag = _with_retries(url, manners, lambda: _download_rest(url, part, etag_file, manners))
    digest = hashlib.sha256()
    with part.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
    if sha256 is not None and digest.hexdigest() != sha256.lower():
        part.unlink()
        raise FetchError(f"{url}: its sha256 is {digest.hexdigest()}, not {sha256}; thrown away")
    size = part.stat().st_size
    part.replace(target)
    etag_file.unlink(missing_ok=True)
    return Fetched(target.name, url, size, digest.hexdigest(), etag)


def _download_rest(url: str, part: Path, etag_file: Path, manners: Manners) -> str | None:
    """One request for what is missing of `part`; returns the server's tag. OSError if it breaks off."""
    have = part.stat().st_size if part.is_file() else 0
    tag = etag_file.read_text(encoding="ascii") if etag_file.is_file() else ""
    headers = {"User-Agent": USER_AGENT}
    if have and tag:  # without a tag the file may have changed: begin anew
        headers |= {"Range": f"bytes={have}-", "If-Range": tag}
    try:
        answer = urlopen(Request(url, headers=headers), timeout=manners.timeout)
    except HTTPError as error:
        if error.code == 416:  # nothing is missing, or the file has changed
            part.unlink(missing_ok=True)
            raise OSError("the server's file has another size now") from None
        raise
    with answer:
        match = _RANGE.match(answer.headers.get("Content-Range") or "")
        goes_on = answer.status == 206 and match is not None and int(match[1]) == have
        start = have if goes_on else 0
        etag = answer.headers.get("ETag")
        tag = answer.headers.get("Last-Modified") if not etag or etag.startswith("W/") else etag
        if tag and tag.isascii():
            etag_file.write_text(tag, encoding="ascii")
        else:
            etag_file.unlink(missing_ok=True)
        length = answer.headers.get("Content-Length")
        with part.open("ab" if goes_on else "wb") as stream:
            while chunk := answer.read(CHUNK):
                stream.write(chunk)
            written = stream.tell() - start
        if length is not None and written != int(length):
            raise OSError(f"the connection broke after {written} of {length} bytes")
    return str(etag) if etag else None


def _with_retries(url: str, manners: Manners, work: Callable[[], Answer]) -> Answer:
    """Runs `work` again after a break, waiting longer each time. Raises FetchError when it is no use."""
    wait = manners.first_wait
    for attempt in range(manners.retries + 1):
        try:
            return work()
        except HTTPError as error:
            if error.code < 500 and error.code not in (408, 429):
                raise FetchError(f"{url}: the server answers {error.code} {error.reason}") from None
            problem: Exception = error
        except (URLError, OSError, HTTPException) as error:
            problem = error
        if attempt < manners.retries:
            time.sleep(wait)
            wait *= 2
    raise FetchError(f"{url}: {problem}; given up after {manners.retries + 1} tries")
