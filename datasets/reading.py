"""`read_games`: everything under a path, game by game, nothing dropped without a row."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from .gib import read_gib
from .ngf import read_ngf
from .points import SgfError, printable
from .records import GameRecord, RejectedGame
from .replay import first_illegal
from .sgf import read_sgf
from .sources import Limits, SourceFile, iterate_files

READER_FAULT = "the reader failed"
KO_RULES = ("simple", "positional", "situational")


def read_games(
    path: str | os.PathLike[str], ko_rule: str = "simple", limits: Limits | None = None
) -> Iterator[GameRecord | RejectedGame]:
    """Every game of a file, folder or archive: a `GameRecord`, or a `RejectedGame` that says why not.

    Every game is replayed under `ko_rule`. Bad content never raises. Raises, before the first game,
    FileNotFoundError if `path` is missing and ValueError if it holds no file or the ko rule is unknown.
    """
    if ko_rule not in KO_RULES:
        raise ValueError(f"unknown ko rule {ko_rule!r}: one of {', '.join(KO_RULES)}")
    root = Path(path)
    if not root.exists():
        raise FileNotFoundError(f"no such file or folder: {root}")
    files = iterate_files(root, limits)
    first = next(files, None)
    if first is None:
        raise ValueError(f"nothing to read in {root}: no files")
    return _read_all(first, files, ko_rule)


def _read_all(
    first: SourceFile, rest: Iterator[SourceFile], ko_rule: str
) -> Iterator[GameRecord | RejectedGame]:
    yield from read_file(first, ko_rule)
    for file in rest:
        yield from read_file(file, ko_rule)


def read_file(file: SourceFile, ko_rule: str) -> Iterator[GameRecord | RejectedGame]:
    """The games of one file, replayed."""
    if file.refused:
        yield RejectedGame(file.name, 0, file.refused)
        return
    try:
        for game in _parse(file):
            yield game if isinstance(game, RejectedGame) else check_moves(game, ko_rule)
    except Exception as error:  # a fault of a reader may cost a file, but not the 100,000 others
        yield RejectedGame(file.name, 0, f"{READER_FAULT}: {type(error).__name__}: {error}")


def _parse(file: SourceFile) -> Iterator[GameRecord | RejectedGame]:
    if file.format == "sgf":
        yield from read_sgf(file.data, file.name)
        return
    reader = read_gib if file.format == "gib" else read_ngf
    try:
        yield reader(file.data, file.name)
    except SgfError as error:
        yield RejectedGame(file.name, 0, error.reason, error.move_number, error.text)


def check_moves(game: GameRecord, ko_rule: str) -> GameRecord | RejectedGame:
    """The game itself, or its refusal with the part before the illegal move."""
    illegal = first_illegal(game, ko_rule)
    if illegal is None:
        return game
    number, why = illegal
    if number == 0:
        return RejectedGame(game.source, game.index, f"impossible setup: {why}")
    colour, move = game.moves[number - 1]
    text = f"{'B' if colour > 0 else 'W'} {_vertex(move, game.size)}"
    note = f"cut before the illegal move {number}"
    partial = replace(game, moves=game.moves[: number - 1], notes=(*game.notes, note), id="")
    return RejectedGame(game.source, game.index, f"illegal move: {why}", number, printable(text), partial)


def _vertex(move: int, size: int) -> str:
    if move == size * size:
        return "pass"
    return "ABCDEFGHJKLMNOPQRSTUVWXYZ"[move % size] + str(size - move // size)
