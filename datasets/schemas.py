"""The parquet schemas. A change that old readers cannot read raises SCHEMA_VERSION."""

from __future__ import annotations

import pyarrow as pa

SCHEMA_VERSION = 1
POLICY_PLANES = 48
VALUE_PLANES = 49  # 48 and the colour of the player to move

GAMES = pa.schema(
    [
        pa.field("id", pa.string(), False),  # content hash of size, setup and moves, hexadecimal
        pa.field("canonical_id", pa.string(), False),  # the smallest id over the eight symmetries
        pa.field("source", pa.string(), False),  # file; archive!member within an archive
        pa.field("source_index", pa.int32(), False),  # which game of the file
        pa.field("size", pa.int8(), False),
        pa.field("komi", pa.float32()),
        pa.field("rules", pa.string()),
        pa.field("handicap", pa.int16()),
        pa.field("black_player", pa.string()),
        pa.field("white_player", pa.string()),
        pa.field("black_rank", pa.string()),
        pa.field("white_rank", pa.string()),
        pa.field("result", pa.string()),
        pa.field("winner", pa.int8()),  # 1 Black, -1 White, 0 draw
        pa.field("date", pa.string()),
        pa.field("encoding", pa.string()),
        pa.field("black", pa.list_(pa.int16()), False),  # setup stones
        pa.field("white", pa.list_(pa.int16()), False),
        pa.field("to_play_first", pa.int8(), False),
        pa.field("moves", pa.list_(pa.int16()), False),  # row * size + column; size * size passes
        pa.field("colours", pa.list_(pa.int8())),  # only where they do not alternate
        pa.field("notes", pa.list_(pa.string()), False),
        pa.field("positions", pa.int32(), False),  # moves that are no passes: rows per symmetry
        pa.field("split", pa.string(), False),
    ]
)

QUARANTINE = pa.schema(
    [
        pa.field("source", pa.string(), False),
        pa.field("source_index", pa.int32(), False),
        pa.field("move_number", pa.int32()),  # from 1; empty unless a move is to blame
        pa.field("reason", pa.string(), False),
        pa.field("text", pa.string(), False),
        pa.field("kept_moves", pa.int32(), False),  # moves of the game that were kept after all
    ]
)

INDEX = pa.schema(  # one row a game of a positions folder, in the order of its rows
    [
        pa.field("file", pa.dictionary(pa.int32(), pa.string()), False),
        pa.field("game", pa.string(), False),
        pa.field("positions", pa.int32(), False),
    ]
)


def packed_bytes(planes: int, size: int) -> int:
    """Bytes of one bit-packed position."""
    return (planes * size * size + 7) // 8


def positions_schema(size: int) -> pa.Schema:
    """Rows of policy training: planes as bits (first plane first, big-endian), the move already turned."""
    return pa.schema(
        [
            pa.field("game", pa.dictionary(pa.int32(), pa.string()), False),
            pa.field("ply", pa.int16(), False),
            pa.field("to_play", pa.int8(), False),
            pa.field("symmetry", pa.int8(), False),
            pa.field("planes", pa.binary(packed_bytes(POLICY_PLANES, size)), False),
            pa.field("move", pa.int16(), False),
            pa.field("outcome", pa.int8()),  # for the player to move; empty if not known
            pa.field("split", pa.dictionary(pa.int32(), pa.string()), False),
        ]
    )


def value_schema(size: int) -> pa.Schema:
    """Rows of value training: one position of each self-play game."""
    return pa.schema(
        [
            pa.field("game", pa.int64(), False),  # number of the self-play game
            pa.field("ply", pa.int16(), False),
            pa.field("to_play", pa.int8(), False),
            pa.field("planes", pa.binary(packed_bytes(VALUE_PLANES, size)), False),
            pa.field("outcome", pa.int8(), False),  # for the player to move
        ]
    )
