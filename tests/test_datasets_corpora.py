"""Real records: every archive of ../shared/data against its manifest, the odd files, the cases of readers."""

from __future__ import annotations

import base64
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from cases import COLOURS, load, move_of, moves_of, needs_cases

from datasets import GameRecord, RejectedGame, read_games
from datasets.reading import read_file
from datasets.replay import first_illegal
from datasets.sources import SourceFile
from go_engine import BLACK

DATA = Path(__file__).parents[2] / "shared" / "data"
MANIFEST = DATA / "MANIFEST.md"
NOT_GAMES = re.compile(r"source-format/")  # the index files of one archive are no game records

needs_data = pytest.mark.skipif(
    not MANIFEST.is_file(), reason="the folder of game records, ../shared/data, is not here"
)


def archives() -> list[str]:
    return re.findall(r"^## (\S+\.tar\.gz)$", MANIFEST.read_text("utf-8"), re.M) if MANIFEST.is_file() else []


def promised(archive: str) -> dict[str, Any]:
    """What the manifest says of an archive, under the names that `counted` uses."""
    text = MANIFEST.read_text("utf-8")
    row = re.search(rf"^\| {re.escape(archive)} \| (\d+) \| (\d+) \| (\d+) \|", text, re.M)
    assert row
    section = text.split(f"\n## {archive}\n")[1].split("\n## ")[0]

    def number(words: str) -> int:
        found = re.search(rf"^- {words}[^:]*: (\d+)", section, re.M)
        assert found, words
        return int(found[1])

    first = re.search(r"^- first move: black: (\d+), white: (\d+), no move at all: (\d+)$", section, re.M)
    repeats = re.search(r"^- games repeating a whole-board position[^:]*: \d+(?:: (.+))?$", section, re.M)
    sizes = re.search(r"^- board sizes: (.+)$", section, re.M)
    assert first
    assert repeats
    assert sizes
    assert number("illegal moves on replay") == 0
    return {
        "games": int(row[1]),
        "moves": int(row[2]),
        "files": int(row[3]),
        "passes": number("passes recorded"),
        "handicap games": number("handicap games"),
        "short": number("games of fewer than 20 moves"),
        "first": tuple(map(int, first.groups())),
        "sizes": {int(size): int(games) for size, games in re.findall(r"(\d+): (\d+)", sizes[1])},
        "repeats": sorted(repeats[1].split(", ")) if repeats[1] else [],
    }


def counted(archive: str) -> tuple[dict[str, Any], list[RejectedGame]]:
    """The same numbers as they are read, and what was refused."""
    counts: Counter[str] = Counter()
    sizes: Counter[int] = Counter()
    files: set[str] = set()
    repeats: list[str] = []
    refused: list[RejectedGame] = []
    for found in read_games(DATA / archive):  # under simple ko: an illegal move would refuse the game
        files.add(found.source)
        if isinstance(found, RejectedGame):
            refused.append(found)
            continue
        sizes[found.size] += 1
        counts["moves"] += len(found.moves)
        counts["passes"] += sum(move == found.size**2 for _, move in found.moves)
        counts["handicap"] += (found.handicap or 0) >= 2 or bool(found.black or found.white)
        counts["short"] += len(found.moves) < 20
        who = ("black" if found.moves[0][0] == BLACK else "white") if found.moves else "nobody"
        counts[who] += 1
        if first_illegal(found, "positional"):
            repeats.append(found.source.partition("!")[2])
    return {
        "games": sizes.total(),
        "moves": counts["moves"],
        "files": len(files),
        "passes": counts["passes"],
        "handicap games": counts["handicap"],
        "short": counts["short"],
        "first": (counts["black"], counts["white"], counts["nobody"]),
        "sizes": dict(sizes),
        "repeats": sorted(repeats),
    }, refused


@needs_data
@pytest.mark.parametrize("archive", archives())
def test_archives_hold_what_their_manifest_says(archive: str) -> None:
    found, refused = counted(archive)
    assert found == promised(archive)
    assert [game.source for game in refused if not NOT_GAMES.search(game.source)] == []


# What INDEX.md asks of each odd file: moves, passes and setup stones of its games, or words of a refusal.
ODD: dict[str, list[tuple[int, int, int] | str]] = {
    "INDEX.md": ["not a game record"],
    "cp949-says-utf8.sgf": [(18, 0, 0)],
    "fox-comments-and-variations.sgf": [(231, 0, 0)],
    "fox-cut-after-semicolon.sgf": ["unexpected end of SGF data"],
    "fox-handicap-as-black-moves.sgf": ["colours do not alternate"],
    "fox-handicap-without-AB-looks-illegal.sgf": [(147, 0, 3)],
    "fox-no-opening-parenthesis.sgf": ["no SGF data found"],
    "fox-nul-filled.sgf": ["no SGF data found"],
    "fox-same-colour-twice.sgf": [(272, 0, 0)],
    "kgs-no-moves-but-a-score.sgf": [(0, 0, 3)],
    "kgs-result-void.sgf": [(114, 0, 2)],
    "nngs-long-identifiers.sgf": [(266, 2, 3)],
    "nngs-text-before-tree.sgf": [(220, 2, 0)],
    "no-size.sgf": [(302, 15, 0)],
    "one-tree-per-move.sgf": [(113, 0, 0)],
    "setup-in-a-move-node.sgf": [(187, 1, 0)],
    "tt-passes-and-foreign-bytes.sgf": [(400, 11, 9)],
    "two-identical-trees.sgf": [(0, 0, 34), (0, 0, 34)],
    "tygem-china-gb18030-handicap5.gib": [(268, 0, 5)],
    "tygem-global-damaged-names.gib": [(232, 0, 0)],
    "tygem-global-handicap3.gib": [(118, 0, 3)],
}


@needs_data
def test_odd_files() -> None:
    found: dict[str, list[tuple[int, int, int] | str]] = {}
    for game in read_games(DATA / "odd"):
        what: tuple[int, int, int] | str
        if isinstance(game, GameRecord):
            passes = sum(move == game.size**2 for _, move in game.moves)
            what = len(game.moves), passes, len(game.black) + len(game.white)
        else:
            (words,) = [words for words in ODD[game.source] if isinstance(words, str)]
            what = words if words in game.reason else game.reason
        found.setdefault(game.source, []).append(what)
    assert found == ODD


def as_expected(game: GameRecord, expect: dict[str, Any]) -> bool:
    """Whether a game is all that a case asks of it."""

    def moves(value: list[tuple[str, str]]) -> bool:
        return game.moves == [(COLOURS[colour], move_of(vertex, game.size)) for colour, vertex in value]

    checks = {
        "size": lambda value: game.size == value,
        "komi": lambda value: game.komi == value,
        "handicap": lambda value: game.handicap == value,
        "black": lambda value: sorted(game.black) == sorted(moves_of(value, game.size)),
        "white": lambda value: sorted(game.white) == sorted(moves_of(value, game.size)),
        "to_move_first": lambda value: game.to_play_first == COLOURS[value],
        "reject_or": lambda value: moves(re.findall(r"\b([BW]) (pass|[A-T]\d+)", value)),
        "moves": moves,
        "result": lambda value: game.result == value,
        "winner": lambda value: (game.winner or None) == value,  # a draw is 0 here, null in the case
        "date": lambda value: game.date == value,
        "black_player": lambda value: game.black_player == value,
        "white_player": lambda value: game.white_player == value,
        "black_player_or": lambda value: game.black_player in value,
        "white_player_or": lambda value: game.white_player in value,
    }
    asked = expect.keys() - {"lenient", "comment", "may_reject"}  # comments are not kept
    return all(checks[name](expect[name]) for name in asked)


@needs_cases
def test_reader_cases() -> None:
    for case in load("sgf"):
        data = base64.b64decode(case["data_base64"]) if "data_base64" in case else case["data"].encode()
        (game,) = read_file(SourceFile(case["id"], case["format"], data), "simple")
        expect = case["expect"]
        if "illegal_at" in expect:
            assert isinstance(game, RejectedGame), case["id"]
            assert game.move_number == expect["illegal_at"], case["id"]
        elif isinstance(game, RejectedGame):
            assert expect.keys() & {"reject", "reject_or", "may_reject"}, case["id"]
        else:
            assert as_expected(game, expect), case["id"]
