"""A synthetic corpus of any size, to try the data stage at scale: real games repeated with variation.

python -m benchmarks.corpus GAMES OUT.tar.gz --games 160000

A variation is a game in a random symmetry, cut at a random place in its last quarter: every one counts as a
game of its own, and its records look like a server's.
"""

from __future__ import annotations

import argparse
import io
import tarfile
from pathlib import Path

import numpy as np

from datasets import GameRecord, read_games
from go_engine import symmetry_table

LETTERS = "abcdefghijklmnopqrs"
CUT_SHARE = 0.25  # of the moves


def sgf_of(game: GameRecord, k: int, moves: int) -> bytes:
    """The first moves of a game in symmetry k, as a server would write it."""
    turned = symmetry_table(game.size)[k]

    def point(move: int) -> str:
        to = int(turned[move])
        return "" if move == game.size**2 else LETTERS[to % game.size] + LETTERS[to // game.size]

    setup = "".join(
        name + "".join(f"[{point(stone)}]" for stone in stones)
        for name, stones in (("AB", game.black), ("AW", game.white))
        if stones
    )
    ranks = f"BR[{game.black_rank or ''}]WR[{game.white_rank or ''}]"
    head = f"(;GM[1]FF[4]CA[UTF-8]SZ[{game.size}]PB[b]PW[w]{ranks}"
    facts = f"RE[{game.result or ''}]" + ("" if game.komi is None else f"KM[{game.komi:g}]")
    handicap = f"HA[{game.handicap}]" if game.handicap else ""
    nodes = "\n".join(f";{'B' if colour > 0 else 'W'}[{point(move)}]" for colour, move in game.moves[:moves])
    return f"{head}{facts}{handicap}{setup}\n{nodes})\n".encode()


def write_corpus(source: Path, target: Path, count: int, seed: int) -> int:
    """Writes so many games; returns how many different ones they were made from."""
    games = [game for game in read_games(source) if isinstance(game, GameRecord) and len(game.moves) > 20]
    rng = np.random.default_rng(seed)
    with tarfile.open(target, "w:gz", compresslevel=1) as tar:
        for number in range(count):
            game = games[number % len(games)]
            kept = len(game.moves) - int(rng.integers(0, max(1, int(CUT_SHARE * len(game.moves)))))
            data = sgf_of(game, int(rng.integers(8)), kept)
            entry = tarfile.TarInfo(f"{number // 1000:04d}/{number:07d}.sgf")
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return len(games)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--games", type=int, default=160_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    used = write_corpus(options.source, options.target, options.games, options.seed)
    print(f"{options.games} games from {used} written to {options.target}")


if __name__ == "__main__":
    main()
