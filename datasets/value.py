"""Value sets: one position of each self-play game, with the outcome for the player to move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .positions import binary_column
from .schemas import VALUE_PLANES, packed_bytes, value_schema
from .store import Location, file_entry, join, write_manifest, write_table


@dataclass(slots=True)
class ValueRows:
    """n positions: planes uint8[n, 49, N, N] or packed uint8[n, bytes], the rest one number a row."""

    planes: NDArray[np.uint8]
    outcomes: NDArray[np.int8]  # 1 won, -1 lost, 0 drawn for the player to move
    to_play: NDArray[np.int8]
    plies: NDArray[np.int16]
    games: NDArray[np.int64]


def value_file(split: str, number: int) -> str:
    """The name of a value set's shard."""
    return f"{split}-{number:05d}.parquet"


def write_value_shard(folder: Location, split: str, number: int, size: int, rows: ValueRows) -> str:
    """Writes one shard whole or not at all; returns its file name."""
    packed = rows.planes
    if packed.ndim > 2:
        packed = np.packbits(packed.reshape(len(packed), VALUE_PLANES * size * size), axis=1)
    if packed.shape[1] != packed_bytes(VALUE_PLANES, size):
        raise ValueError(
            f"planes of {packed.shape[1]} bytes do not fit {VALUE_PLANES} planes of {size}x{size}"
        )
    table = pa.Table.from_arrays(
        [
            pa.array(rows.games.astype(np.int64)),
            pa.array(rows.plies.astype(np.int16)),
            pa.array(rows.to_play.astype(np.int8)),
            binary_column(packed),
            pa.array(rows.outcomes.astype(np.int8)),
        ],
        schema=value_schema(size),
    )
    name = value_file(split, number)
    write_table(join(folder, name), table)
    return name


def finish_value_set(folder: Location, size: int, names: list[str], **more: Any) -> dict[str, Any]:
    """Writes the manifest over all shards; returns it."""
    entries = [file_entry(folder, name) for name in names]
    rows = {
        split: sum(entry.rows for entry in entries if entry.name.startswith(split + "-"))
        for split in ("train", "test")
    }
    return write_manifest(folder, "value", size, entries, games=sum(rows.values()), splits=rows, **more)
