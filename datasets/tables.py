"""Games as rows: `GameRecord` to parquet and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from go_engine import BLACK

from .records import GameRecord, RejectedGame
from .schemas import GAMES, QUARANTINE
from .store import Location, join, locate, read_manifest, split_files

READ_BATCH = 1024  # games held at a time while reading


def position_count(game: GameRecord) -> int:
    """Moves of a game that are no passes: its positions for policy training."""
    passing = game.size * game.size
    return sum(move != passing for _, move in game.moves)


def game_row(game: GameRecord, canonical_id: str, split: str) -> dict[str, Any]:
    """One row of the games table."""
    first = game.to_play_first
    colours = [colour for colour, _ in game.moves]
    alternating = all(colour == (first if n % 2 == 0 else -first) for n, colour in enumerate(colours))
    return {
        "id": game.id,
        "canonical_id": canonical_id,
        "source": game.source,
        "source_index": game.index,
        "size": game.size,
        "komi": game.komi,
        "rules": game.rules,
        "handicap": game.handicap,
        "black_player": game.black_player,
        "white_player": game.white_player,
        "black_rank": game.black_rank,
        "white_rank": game.white_rank,
        "result": game.result,
        "winner": game.winner,
        "date": game.date,
        "encoding": game.encoding,
        "black": game.black,
        "white": game.white,
        "to_play_first": first,
        "moves": [move for _, move in game.moves],
        "colours": None if alternating else colours,
        "notes": list(game.notes),
        "positions": position_count(game),
        "split": split,
    }


def game_of_row(row: dict[str, Any]) -> GameRecord:
    """The game of a row of the games table."""
    first, moves = row["to_play_first"], row["moves"]
    colours = row["colours"] or [first if n % 2 == 0 else -first for n in range(len(moves))]
    return GameRecord(
        size=row["size"],
        komi=row["komi"],
        handicap=row["handicap"],
        black=row["black"],
        white=row["white"],
        moves=list(zip(colours, moves, strict=True)),
        result=row["result"],
        winner=row["winner"],
        black_rank=row["black_rank"],
        white_rank=row["white_rank"],
        black_player=row["black_player"],
        white_player=row["white_player"],
        rules=row["rules"],
        date=row["date"],
        encoding=row["encoding"],
        source=row["source"],
        index=row["source_index"],
        first_player=first if first != BLACK else None,
        notes=tuple(row["notes"]),
        id=row["id"],
    )


def games_table(rows: Sequence[dict[str, Any]]) -> pa.Table:
    """Rows of `game_row` as a table."""
    return pa.Table.from_pylist(list(rows), schema=GAMES)


def quarantine_table(rejected: Iterable[RejectedGame], keep_partial: bool) -> pa.Table:
    """Refused games as a table. `keep_partial`: the moves before an illegal one are kept elsewhere."""
    rows = [
        {
            "source": game.source,
            "source_index": game.index,
            "move_number": game.move_number,
            "reason": game.reason,
            "text": game.text,
            "kept_moves": len(game.partial.moves) if keep_partial and game.partial else 0,
        }
        for game in rejected
    ]
    return pa.Table.from_pylist(rows, schema=QUARANTINE)


def read_game_rows(place: Location, columns: list[str] | None = None) -> Iterator[dict[str, Any]]:
    """The rows of one parquet file of games, a few at a time."""
    filesystem, path = locate(place)
    with filesystem.open_input_file(path) as stream:
        for batch in pq.ParquetFile(stream).iter_batches(READ_BATCH, columns=columns):
            yield from batch.to_pylist()


def iterate_games(folder: Location, split: str | None = None) -> Iterator[GameRecord]:
    """All games of a games folder, test split first, or those of one split."""
    manifest = read_manifest(folder, "games")
    for name in (split,) if split else ("test", "train"):
        for entry in split_files(manifest, name):
            for row in read_game_rows(join(folder, entry["name"])):
                yield game_of_row(row)
