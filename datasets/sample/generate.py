"""Makes the bundled sample games: GNU Go plays itself through GTP, from a recorded seed.

    python datasets/sample/generate.py play  FOLDER --size 9 --games 2400 --processes 2
    python datasets/sample/generate.py bundle FOLDER datasets/sample/gnugo-9x9.tar.gz

Every game begins with a few random stones, so that no two games are alike. They are written as setup
stones (AB, AW), not as moves: a policy that learns from the moves then learns GNU Go's choices alone.
Levels are drawn for each colour and stand in the ranks' place (BR, WR). Area scoring, komi 7.5.
A game depends only on (seed, size, number); games that are already in the folder are not played again.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import json
import re
import subprocess
import tarfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

SEED = 2016
KOMI = 7.5
LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
SGF_LETTERS = "abcdefghijklmnopqrstuvwxyz"
LEVELS = (1, 2, 3, 4, 6, 8)
LEVEL_WEIGHTS = {9: (0.45, 0.25, 0.12, 0.1, 0.05, 0.03), 19: (0.85, 0.15, 0, 0, 0, 0)}
EMPTY_START_SHARE = 0.1  # games that begin on the empty board
OPENING_STONES = {9: (1, 8), 19: (2, 8)}  # inclusive bounds, otherwise
OPENING_MARGIN = {9: 1, 19: 2}  # random stones keep off this many lines at the edge
MAX_PLIES_PER_POINT = 3  # a longer game is thrown away
EPOCH = 1_451_606_400  # the archives' fixed time stamp, 2016-01-01


class GnuGo:
    """A GNU Go process spoken to over GTP."""

    def __init__(self, program: str, size: int) -> None:
        options = ["--mode", "gtp", "--chinese-rules"]
        if (
            size < 19
        ):  # dead stones are played off the board, so that the final position can be counted as it is
            options += ["--capture-all-dead", "--never-resign"]
        self.process = subprocess.Popen(
            [program, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="ascii"
        )

    def ask(self, command: str) -> str:
        """Sends one command and returns the answer without its mark. Raises RuntimeError on a GTP error."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        lines: list[str] = []
        while (line := self.process.stdout.readline()).strip() or not lines:
            if not line:
                raise RuntimeError(f"gnugo ended during {command!r}")
            lines.append(line.rstrip("\n"))
        answer = "\n".join(lines)
        if not answer.startswith("="):
            raise RuntimeError(f"gnugo: {command}: {answer}")
        return answer[1:].strip()

    def close(self) -> None:
        self.process.stdin.close()  # type: ignore[union-attr]
        self.process.wait(timeout=10)


def sgf_point(vertex: str, size: int) -> str:
    """GTP vertex to SGF point; a pass is empty."""
    if vertex.upper() == "PASS":
        return ""
    column = LETTERS.index(vertex[0].upper())
    return SGF_LETTERS[column] + SGF_LETTERS[size - int(vertex[1:])]


def place_opening(engine: GnuGo, size: int, stones: int, rng: np.random.Generator) -> None:
    """Plays random legal moves, colours in turn."""
    margin = OPENING_MARGIN.get(size, 1)
    points = [
        LETTERS[column] + str(row + 1)
        for row in range(margin, size - margin)
        for column in range(margin, size - margin)
    ]
    placed = 0
    for index in rng.permutation(len(points)):
        if placed == stones:
            return
        colour = ("black", "white")[placed % 2]
        if engine.ask(f"is_legal {colour} {points[index]}") == "1":
            engine.ask(f"play {colour} {points[index]}")
            placed += 1


def play_game(engine: GnuGo, size: int, seed: int, number: int) -> str | None:
    """One game as SGF text; None if it has not ended in time."""
    rng = np.random.default_rng([seed, size, number])
    levels = rng.choice(LEVELS, size=2, p=LEVEL_WEIGHTS.get(size, LEVEL_WEIGHTS[9]))
    low, high = OPENING_STONES.get(size, OPENING_STONES[9])
    stones = 0 if rng.random() < EMPTY_START_SHARE else int(rng.integers(low, high + 1))
    engine_seed = int(rng.integers(1, 2**31))
    for command in (f"boardsize {size}", "clear_board", f"komi {KOMI}", f"set_random_seed {engine_seed}"):
        engine.ask(command)
    place_opening(engine, size, stones, rng)
    setup = ""
    for name, colour in (("AB", "black"), ("AW", "white")):
        vertices = engine.ask(f"list_stones {colour}").split()
        if vertices:
            setup += name + "".join(f"[{sgf_point(vertex, size)}]" for vertex in vertices)
    turn = stones % 2
    first, passes, result = "BW"[turn], 0, ""
    moves: list[str] = []
    while passes < 2:
        if len(moves) > MAX_PLIES_PER_POINT * size * size:
            return None
        engine.ask(f"level {levels[turn]}")
        vertex = engine.ask(f"genmove {('black', 'white')[turn]}")
        if vertex.lower() == "resign":
            result = f"{'WB'[turn]}+R"
            break
        passes = passes + 1 if vertex.upper() == "PASS" else 0
        moves.append(f";{'BW'[turn]}[{sgf_point(vertex, size)}]")
        turn = 1 - turn
    result = result or engine.ask("final_score")
    return (
        f"(;GM[1]FF[4]CA[UTF-8]AP[gnugo:3.8]SZ[{size}]KM[{KOMI}]RU[Chinese]"
        f"PB[GNU Go level {levels[0]}]PW[GNU Go level {levels[1]}]"
        f"BR[level {levels[0]}]WR[level {levels[1]}]\n"
        f"GN[seed {seed} game {number}]GC[{stones} random stones, engine seed {engine_seed}]"
        f"RE[{result}]{setup}PL[{first}]\n{''.join(moves)})\n"
    )


def play_share(folder: Path, size: int, seed: int, numbers: list[int], program: str) -> int:
    """Plays the games that are not there yet; returns how many it has written."""
    engine = GnuGo(program, size)
    written = 0
    for number in numbers:
        target = folder / f"gnugo-{size}x{size}-{number:05d}.sgf"
        if target.exists():
            continue
        text = play_game(engine, size, seed, number)
        if text is not None:
            temporary = target.with_suffix(".part")
            temporary.write_text(text, encoding="ascii")
            temporary.replace(target)
            written += 1
    engine.close()
    return written


def play(folder: Path, size: int, first: int, games: int, seed: int, processes: int, program: str) -> int:
    """Plays games number first .. first + games - 1 in several processes."""
    folder.mkdir(parents=True, exist_ok=True)
    numbers = list(range(first, first + games))
    with ProcessPoolExecutor(processes) as pool:
        shares = [
            pool.submit(play_share, folder, size, seed, numbers[part::processes], program)
            for part in range(processes)
        ]
        return sum(share.result() for share in shares)


def bundle(folder: Path, archive: Path) -> int:
    """Packs a folder's games into a .tar.gz with fixed order, owners and times; returns how many."""
    names = sorted(path for path in folder.glob("*.sgf") if re.search(r"-\d{5}\.sgf$", path.name))
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path in names:
            data = path.read_bytes()
            entry = tarfile.TarInfo(f"{archive.name.removesuffix('.tar.gz')}/{path.name}")
            entry.size, entry.mtime, entry.mode = len(data), EPOCH, 0o644
            tar.addfile(entry, io.BytesIO(data))
    temporary = archive.with_name(archive.name + ".part")
    with temporary.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=EPOCH) as packed:
        packed.write(buffer.getvalue())
    temporary.replace(archive)
    return len(names)


def describe(folder: Path, archive: Path) -> None:
    """Writes into manifest.json, beside the archive, what it holds: digest, seed, numbers, levels."""
    texts = [path.read_text(encoding="ascii") for path in sorted(folder.glob("*.sgf"))]
    found = [re.search(r"GN\[seed (\d+) game (\d+)\]", text) for text in texts]
    levels = Counter(level for text in texts for level in re.findall(r"[BW]R\[(level \d+)\]", text))
    manifest_path = archive.with_name("manifest.json")
    manifest = json.loads(manifest_path.read_text()) if manifest_path.exists() else {}
    manifest[archive.name] = {
        "games": len(texts),
        "size": int(re.findall(r"SZ\[(\d+)\]", texts[0])[0]),
        "seeds": sorted({int(match[1]) for match in found if match}),
        "numbers": [min(int(m[2]) for m in found if m), max(int(m[2]) for m in found if m)],
        "players by level": dict(sorted(levels.items())),
        "engine": "GNU Go 3.8",
        "sha256": hashlib.sha256(archive.read_bytes()).hexdigest(),
    }
    manifest_path.write_text(json.dumps(dict(sorted(manifest.items())), indent=1) + "\n")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    playing = commands.add_parser("play", help="play games into a folder")
    playing.add_argument("folder", type=Path)
    playing.add_argument("--size", type=int, default=9)
    playing.add_argument("--first", type=int, default=0)
    playing.add_argument("--games", type=int, default=100)
    playing.add_argument("--seed", type=int, default=SEED)
    playing.add_argument("--processes", type=int, default=2)
    playing.add_argument("--gnugo", default="/usr/games/gnugo")
    bundling = commands.add_parser("bundle", help="pack a folder's games")
    bundling.add_argument("folder", type=Path)
    bundling.add_argument("archive", type=Path)
    options = parser.parse_args()
    if options.command == "play":
        count = play(
            options.folder,
            options.size,
            options.first,
            options.games,
            options.seed,
            options.processes,
            options.gnugo,
        )
        print(f"{count} games written to {options.folder}")
    else:
        print(f"{bundle(options.folder, options.archive)} games packed into {options.archive}")
        describe(options.folder, options.archive)


if __name__ == "__main__":
    main()
