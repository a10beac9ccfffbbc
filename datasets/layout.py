"""Where the rows of a dataset lie: files cut into row groups, and which of a group's rows are wanted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from .positions import UNKNOWN_OUTCOME, GamesFile, Piece, compute_rows
from .schemas import POLICY_PLANES, VALUE_PLANES
from .store import ROW_GROUP, DatasetError, Location, join, locate, read_manifest, split_files

INDEX_FILE = "index.parquet"
OPEN_FILES = 512


@dataclass(slots=True)
class Examples:
    """What training takes from rows: planes uint8[n, bytes] as bits."""

    planes: NDArray[np.uint8]
    moves: NDArray[np.int16]
    outcomes: NDArray[np.int8]
    to_play: NDArray[np.int8]


class RowSource(Protocol):
    """A dataset's rows in groups. `group_rows[i]`: rows wanted of group i, never 0."""

    size: int
    planes: int
    group_rows: NDArray[np.int64]

    def read(self, group: int) -> Examples: ...


class _Groups:
    """The row groups of some files and, where only symmetry 0 is wanted, the wanted part of each."""

    def __init__(self, positions: list[NDArray[np.int64]], symmetries: int, all_symmetries: bool) -> None:
        files, numbers, counts = [], [], []
        self.starts: list[NDArray[np.int64]] = []  # per file: first row of each game, and the end
        for number, per_game in enumerate(positions):
            starts = np.concatenate([[0], np.cumsum(per_game * symmetries)])
            self.starts.append(starts)
            edges = np.append(np.arange(0, starts[-1], ROW_GROUP), starts[-1])
            wanted = np.diff(edges)
            if not all_symmetries and symmetries > 1:
                before = _plain_rows_before(edges, starts, per_game)
                wanted = np.diff(before)
            files.append(np.full(len(wanted), number))
            numbers.append(np.arange(len(wanted)))
            counts.append(wanted)
        empty = np.empty(0, np.int64)
        rows = np.concatenate([*counts, empty]).astype(np.int64)
        keep = rows > 0
        self.file = np.concatenate([*files, empty]).astype(np.int64)[keep]
        self.number = np.concatenate([*numbers, empty]).astype(np.int64)[keep]
        self.rows = rows[keep]


def _plain_rows_before(
    edges: NDArray[np.int64], starts: NDArray[np.int64], per_game: NDArray[np.int64]
) -> NDArray[np.int64]:
    """How many rows of symmetry 0 lie before each of the edges."""
    if not len(per_game):
        return np.zeros_like(edges)
    game = np.clip(np.searchsorted(starts, edges, side="right") - 1, 0, len(per_game) - 1)
    whole = np.concatenate([[0], np.cumsum(per_game)])[game]
    return whole + np.minimum(edges - starts[game], per_game[game])


class PositionsOnDisk:
    """Rows read from a folder of positions."""

    def __init__(self, folder: Location, split: str, all_symmetries: bool) -> None:
        manifest = read_manifest(folder, "positions")
        names = [entry["name"] for entry in split_files(manifest, split)]
        self.size = int(manifest["size"])
        self.planes = POLICY_PLANES
        symmetries = int(manifest["layout"][split])
        index = _read_index(folder)
        self.groups = _Groups(
            [index.get(name, np.empty(0, np.int64)) for name in names], symmetries, all_symmetries
        )
        self.group_rows = self.groups.rows
        self.filtered = symmetries > 1 and not all_symmetries
        self.reader = _FileReader(folder, names, ["planes", "move", "outcome", "to_play", "symmetry"])

    def read(self, group: int) -> Examples:
        table = self.reader.read(int(self.groups.file[group]), int(self.groups.number[group]))
        outcomes = table["outcome"].fill_null(UNKNOWN_OUTCOME).to_numpy()
        found = Examples(
            _packed(table["planes"]), table["move"].to_numpy(), outcomes, table["to_play"].to_numpy()
        )
        if not self.filtered:
            return found
        keep = table["symmetry"].to_numpy() == 0
        return Examples(found.planes[keep], found.moves[keep], found.outcomes[keep], found.to_play[keep])


class PositionsFromGames:
    """The very same rows, computed from a folder of games when they are wanted."""

    def __init__(self, folder: Location, split: str, all_symmetries: bool, threads: int) -> None:
        manifest = read_manifest(folder, "games")
        self.size = int(manifest["size"])
        self.planes = POLICY_PLANES
        self.threads = threads
        self.symmetries = int(manifest["layout"][split])
        self.files = [GamesFile(join(folder, entry["name"])) for entry in split_files(manifest, split)]
        self.groups = _Groups([file.positions for file in self.files], self.symmetries, all_symmetries)
        self.group_rows = self.groups.rows
        self.filtered = self.symmetries > 1 and not all_symmetries

    def read(self, group: int) -> Examples:
        file_number = int(self.groups.file[group])
        file, starts = self.files[file_number], self.groups.starts[file_number]
        begin = int(self.groups.number[group]) * ROW_GROUP
        end = min(begin + ROW_GROUP, int(starts[-1]))
        pieces: list[Piece] = []
        game = int(np.searchsorted(starts, begin, side="right")) - 1
        while game < len(file) and starts[game] < end:
            first, last = max(begin, int(starts[game])), min(end, int(starts[game + 1]))
            if self.filtered:
                last = min(last, int(starts[game] + file.positions[game]))
            if first < last:
                pieces.append((game, first - int(starts[game]), last - int(starts[game])))
            game += 1
        rows = compute_rows(file, pieces, threads=self.threads)
        return Examples(rows.planes, rows.moves, rows.outcomes, rows.to_play)


class ValuesOnDisk:
    """Rows of a value set."""

    def __init__(self, folder: Location, split: str) -> None:
        manifest = read_manifest(folder, "value")
        self.size = int(manifest["size"])
        self.planes = VALUE_PLANES
        entries = split_files(manifest, split)
        self.groups = _Groups([np.array([entry["rows"]], np.int64) for entry in entries], 1, True)
        self.group_rows = self.groups.rows
        self.reader = _FileReader(
            folder, [entry["name"] for entry in entries], ["planes", "outcome", "to_play"]
        )

    def read(self, group: int) -> Examples:
        table = self.reader.read(int(self.groups.file[group]), int(self.groups.number[group]))
        no_moves = np.full(table.num_rows, -1, np.int16)
        return Examples(
            _packed(table["planes"]), no_moves, table["outcome"].to_numpy(), table["to_play"].to_numpy()
        )


def open_positions(folder: Location, split: str, all_symmetries: bool = True, threads: int = 1) -> RowSource:
    """Positions from a folder of positions or of games. Raises DatasetError for any other folder."""
    kind = read_manifest(folder)["kind"]
    if kind == "positions":
        return PositionsOnDisk(folder, split, all_symmetries)
    if kind == "games":
        return PositionsFromGames(folder, split, all_symmetries, threads)
    raise DatasetError(f"{folder}: a dataset of {kind}, not of positions or games")


class _FileReader:
    """Reads single row groups; files stay open, because their metadata takes longer to read than a group."""

    def __init__(self, folder: Location, names: list[str], columns: list[str]) -> None:
        self.folder, self.names, self.columns = folder, names, columns
        self.open = lru_cache(OPEN_FILES)(self._open)

    def _open(self, number: int) -> pq.ParquetFile:
        filesystem, path = locate(join(self.folder, self.names[number]))
        return pq.ParquetFile(filesystem.open_input_file(path))

    def read(self, number: int, group: int) -> pa.Table:
        return self.open(number).read_row_group(group, columns=self.columns, use_threads=False)


def _packed(column: pa.ChunkedArray) -> NDArray[np.uint8]:
    """A fixed-size binary column as uint8[n, bytes], without a copy."""
    array = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    width = array.type.byte_width
    data = np.frombuffer(array.buffers()[1], np.uint8)
    return data[array.offset * width : (array.offset + len(array)) * width].reshape(len(array), width)


def _read_index(folder: Location) -> dict[str, NDArray[np.int64]]:
    """For each file of a positions folder the positions of its games, in order."""
    filesystem, path = locate(join(folder, INDEX_FILE))
    table: Any = pq.read_table(path, columns=["file", "positions"], filesystem=filesystem)
    files = table["file"].combine_chunks()
    names = files.dictionary.to_pylist() if isinstance(files, pa.DictionaryArray) else []
    codes = files.indices.to_numpy() if names else np.empty(0, np.int32)
    counts = table["positions"].to_numpy().astype(np.int64)
    return {name: counts[codes == code] for code, name in enumerate(names)}
