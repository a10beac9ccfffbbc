"""Folders and archives: order, nesting, and what is refused."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets import GameRecord, RejectedGame, read_games
from datasets.chunks import bytes_on_disk
from datasets.reading import READER_FAULT, read_file
from datasets.sources import Limits, SourceFile, iterate_files

GAME = b"(;SZ[9];B[ee])"


def tar_of(members: dict[str, bytes], mode: str = "w:gz") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as tar:  # type: ignore[call-overload]
        for name, data in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def zip_of(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def read(path: Path, limits: Limits | None = None) -> dict[str, str]:
    """Source to what became of it."""
    return {
        game.source: "game" if isinstance(game, GameRecord) else game.reason
        for game in read_games(path, limits=limits)
    }


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_tars(tmp_path: Path, mode: str) -> None:
    ending = mode.replace("w", "tar").replace(":", ".")
    (tmp_path / f"a.{ending}").write_bytes(tar_of({"x/1.sgf": GAME, "x/2.SGF": GAME}, mode))
    assert list(read(tmp_path).values()) == ["game", "game"]


def test_folder_order_and_unknown_files(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    for name in ("b/2.sgf", "a.sgf", "c.txt", ".hidden.sgf", "d.dat"):
        (tmp_path / name).write_bytes(GAME)
    (tmp_path / "e.pdf").write_bytes(b"%PDF")
    found = read(tmp_path)
    assert list(found) == ["a.sgf", "b/2.sgf", "c.txt", "d.dat", "e.pdf"]
    assert found["c.txt"] == "game"
    assert "not a game record" in found["e.pdf"]


def test_archives_in_archives(tmp_path: Path) -> None:
    inner = zip_of({"1.sgf": GAME})
    (tmp_path / "a.tar.gz").write_bytes(tar_of({"in.zip": inner, "2.sgf": GAME}))
    assert read(tmp_path / "a.tar.gz") == {"a.tar.gz!in.zip!1.sgf": "game", "a.tar.gz!2.sgf": "game"}
    deep = GAME
    for level in range(5):
        deep = zip_of({f"{level}.zip" if level else "0.sgf": deep})
    (tmp_path / "deep.zip").write_bytes(deep)
    assert "nested" in "".join(read(tmp_path / "deep.zip").values())


def test_seven_zip(tmp_path: Path) -> None:
    py7zr = pytest.importorskip("py7zr")
    with py7zr.SevenZipFile(tmp_path / "a.7z", "w") as archive:
        for number in range(200):
            archive.writestr(GAME, f"{number:03d}.sgf")
        archive.writestr(b"hello", "readme.md")
    found = read(tmp_path / "a.7z")
    assert sum(what == "game" for what in found.values()) == 200
    assert len(found) == 201
    games = read_games(tmp_path / "a.7z")
    next(iter(games))  # leaving early must not hang


def test_packed_single_files(tmp_path: Path) -> None:
    packed = gzip.compress(GAME)
    (tmp_path / "1.sgf.gz").write_bytes(packed)
    (tmp_path / "2.SGF.GZ").write_bytes(packed + packed)  # two members are one file
    (tmp_path / "3.gib.gz").write_bytes(gzip.compress(SEEDS["gib"].replace(b"15 3", b"9 9")))
    (tmp_path / "4.ngf.gz").write_bytes(gzip.compress(SEEDS["ngf"].replace(b"BQEEQ", b"BJJJJ")))
    (tmp_path / "5.tar.gz").write_bytes(tar_of({"a.sgf.gz": packed, "b.zip": zip_of({"c.sgf.gz": packed})}))
    (tmp_path / "6.sgf.gz").write_bytes(packed[:-9])
    (tmp_path / "7.sgf.gz").write_bytes(GAME)
    (tmp_path / "8.pdf.gz").write_bytes(gzip.compress(b"%PDF"))
    found = read(tmp_path)
    games = ["1.sgf.gz", "2.SGF.GZ", "3.gib.gz", "4.ngf.gz", "5.tar.gz!a.sgf.gz", "5.tar.gz!b.zip!c.sgf.gz"]
    assert [name for name, what in found.items() if what == "game"] == games
    assert "cannot be unpacked" in found["6.sgf.gz"]
    assert "cannot be unpacked" in found["7.sgf.gz"]
    assert "not a game record" in found["8.pdf.gz"]


def test_progress_reaches_the_bytes_on_disk(tmp_path: Path) -> None:
    for name in ("a.sgf", "b.sgf"):
        (tmp_path / name).write_bytes(GAME)
    (tmp_path / "c.tar").write_bytes(tar_of({"1.sgf": GAME, "2.sgf": GAME}, "w"))
    (tmp_path / "d.sgf.gz").write_bytes(gzip.compress(GAME))
    positions = [file.read for file in iterate_files(tmp_path)]
    assert positions == sorted(positions)
    assert positions[-1] == bytes_on_disk([tmp_path])


def test_path_tricks_are_refused(tmp_path: Path) -> None:
    members = {"../up.sgf": GAME, "/root.sgf": GAME, "a/../../b.sgf": GAME, "c:\\x.sgf": GAME, "ok.sgf": GAME}
    (tmp_path / "a.tar.gz").write_bytes(tar_of(members))
    (tmp_path / "b.zip").write_bytes(zip_of(members))
    for found in (read(tmp_path / "a.tar.gz"), read(tmp_path / "b.zip")):
        assert list(found.values()).count("game") == 1
        assert sum("leads out" in what for what in found.values()) == 4


def test_links_are_refused(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        link = tarfile.TarInfo("link.sgf")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    assert list(read(tmp_path / "a.tar").values()) == ["a link or device, not a file"]


def test_bombs_are_refused(tmp_path: Path) -> None:
    limits = Limits(file_bytes=10_000, free_bytes=100_000, ratio=10)
    (tmp_path / "large.zip").write_bytes(zip_of({"1.sgf": b"x" * 20_000, "2.sgf": GAME}))
    assert list(read(tmp_path / "large.zip", limits).values()) == ["larger than 10000 bytes", "game"]
    many = zip_of({f"{n:03d}.sgf": b"x" * 9_000 for n in range(100)})
    (tmp_path / "many.zip").write_bytes(many)
    (tmp_path / "many.tar.gz").write_bytes(tar_of({f"{n:03d}.sgf": b"x" * 9_000 for n in range(100)}))
    (tmp_path / "nested.zip").write_bytes(zip_of({f"{n}.zip": many for n in range(3)}))
    bomb = gzip.compress(b"x" * 9_000)
    (tmp_path / "packed.zip").write_bytes(zip_of({f"{n:03d}.sgf.gz": bomb for n in range(100)}))
    (tmp_path / "large.sgf.gz").write_bytes(gzip.compress(b"x" * 20_000))
    assert read(tmp_path / "large.sgf.gz", limits) == {"large.sgf.gz": "larger than 10000 bytes"}
    for name in ("many.zip", "many.tar.gz", "nested.zip", "packed.zip"):
        assert any("archive bomb" in what for what in read(tmp_path / name, limits).values()), name


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz", "a.tar.xz", "a.7z", "a.tar"])
def test_damaged_archives_are_said_and_do_not_raise(tmp_path: Path, name: str) -> None:
    if name.endswith("7z"):
        pytest.importorskip("py7zr")
    (tmp_path / name).write_bytes(b"this is no archive at all" * 40)
    (found,) = read_games(tmp_path / name)
    assert isinstance(found, RejectedGame)
    assert "archive cannot be read" in found.reason


def test_cut_archive_keeps_what_came_before(tmp_path: Path) -> None:
    rng = __import__("random").Random(1)
    members = {f"{n}.sgf": GAME[:-1] + f"C[{rng.random()}])".encode() for n in range(500)}
    whole = tar_of(members)
    (tmp_path / "a.tar.gz").write_bytes(whole[: len(whole) // 2])
    found = list(read(tmp_path / "a.tar.gz").values())
    assert found.count("game") > 50
    assert "archive cannot be read" in found[-1]


SEEDS = {
    "sgf": b"(;GM[1]FF[4]CA[UTF-8]SZ[9]KM[6.5]HA[2]AB[aa:bb]RE[B+3.5]DT[2001-02-03]BR[3d]"
    b";W[ee];B[]C[x\\]y](;W[gg])(;W[cc]))",
    "gib": b"\\HS\n\\[GAMEBLACKNAME=A (5D)\\]\n\\[GAMETAG=S1,G65,W1,Z35,C2016:01:28\\]\n\\HE\n"
    b"INI 0 1 2 &4\nSTO 0 2 2 15 3\nSKI 0 3\n",
    "ngf": b"t\n19\nB 7D\nA 6D\ns\n2\n0\n6\n20110812\n480\nWhite wins by 3.5\n3\nPMABBQEEQ\nPMACWEEEE\n",
}
PIECES = st.one_of(
    st.binary(max_size=4), st.sampled_from([b"9" * 30, b"[]", b"(;", b")", b"\n", b"\xb2", b"-1"])
)


@pytest.mark.parametrize("kind", list(SEEDS))
@given(data=st.data())
def test_damaged_records_never_make_a_reader_fail(kind: str, data: st.DataObject) -> None:
    record = bytearray(SEEDS[kind])
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(record)))
        cut = data.draw(st.integers(0, 4))
        record[place : place + cut] = data.draw(PIECES)
    found = list(read_file(SourceFile("x", kind, bytes(record)), "simple"))
    assert found
    assert not [game for game in found if isinstance(game, RejectedGame) and READER_FAULT in game.reason]


def test_missing_and_empty_paths(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no such file or folder"):
        read_games(tmp_path / "nothing")
    with pytest.raises(ValueError, match="nothing to read"):
        read_games(tmp_path)
