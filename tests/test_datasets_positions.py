"""Games to positions and back through the loaders: the same rows by every way."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from random_games import SIZE, random_game

import go_engine
from datasets import GameRecord
from datasets.loader import PositionLoader, ValueLoader
from datasets.store import DatasetError, verify_dataset
from datasets.tables import iterate_games
from datasets.value import ValueRows, finish_value_set, write_value_shard
from tasks.params import ParseGamesParams
from tasks.parse_games import run_parse_games
from tasks.reporting import NullReporter


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished parse-games folder over random games."""
    root = tmp_path_factory.mktemp("corpus")
    records = root / "records"
    records.mkdir()
    for number in range(40):
        (records / f"{number:03d}.sgf").write_text(random_game(number, 20 + number % 9))
    params = ParseGamesParams(
        board_size=SIZE, min_rank=None, test_positions=150, max_test_share=0.5, games_per_file=12, threads=1
    )
    run_parse_games(params, {"games": records}, root, NullReporter())
    return root


def slow_rows(game: GameRecord, symmetries: int) -> list[tuple[np.ndarray, int, float]]:
    """(planes, move, outcome) of a game by way of the board, in the dataset's order."""
    rows = []
    for k in range(symmetries):
        board = go_engine.Board(game.size, 7.5, "simple")
        if game.black or game.white:
            board.setup(black=game.black, white=game.white, to_play=game.to_play_first)
        for colour, move in game.moves:
            board.to_play = colour
            if move != board.pass_move:
                turned = go_engine.symmetry(go_engine.planes(board), k)
                outcome = np.nan if game.winner is None else float(game.winner * colour)
                rows.append((turned, go_engine.symmetry_move(move, game.size, k), outcome))
            board.play(move, colour)
    return rows


@pytest.mark.parametrize(("split", "symmetries"), [("train", 8), ("test", 1)])
def test_rows_are_those_of_the_board(corpus: Path, split: str, symmetries: int) -> None:
    expected = [row for game in iterate_games(corpus / "games", split) for row in slow_rows(game, symmetries)]
    assert expected
    for folder in ("positions", "games"):
        loader = PositionLoader(corpus / folder, 64, split=split)
        found = list(loader.iterate_once())
        assert loader.rows == len(expected) == sum(len(batch) for batch in found)
        planes = np.concatenate([batch.planes for batch in found])
        np.testing.assert_array_equal(planes, np.stack([row[0] for row in expected]))
        moves = np.concatenate([batch.moves for batch in found])
        np.testing.assert_array_equal(moves, [row[1] for row in expected])
        outcomes = np.concatenate([batch.outcomes for batch in found])
        np.testing.assert_array_equal(outcomes, np.array([row[2] for row in expected], np.float32))


@pytest.mark.parametrize("symmetries", [True, False])
@pytest.mark.parametrize("planes", [4, 48, 49])
def test_both_modes_give_the_same_batches(corpus: Path, symmetries: bool, planes: int) -> None:
    options = {"seed": 5, "planes": planes, "symmetries": symmetries, "buffer_rows": 2048}
    disk = PositionLoader(corpus / "positions", 100, **options)  # type: ignore[arg-type]
    fly = PositionLoader(corpus / "games", 100, **options)  # type: ignore[arg-type]
    assert disk.rows == fly.rows
    count = disk.rows // 100 + 5  # into the second epoch
    for a, b in islice(zip(disk, fly, strict=True), count):
        assert a.planes.shape == (100, planes, SIZE, SIZE)
        np.testing.assert_array_equal(a.planes, b.planes)
        np.testing.assert_array_equal(a.moves, b.moves)
        np.testing.assert_array_equal(a.outcomes, b.outcomes)


def test_batch_depends_on_its_number_alone(corpus: Path) -> None:
    loader = PositionLoader(corpus / "positions", 96, seed=3, buffer_rows=2048)
    batches = list(islice(loader, 3 * loader.rows // 96))
    for start in (1, loader.rows // 96 - 1, loader.rows // 96, 2 * loader.rows // 96 + 3):
        resumed = next(
            iter(PositionLoader(corpus / "positions", 96, seed=3, buffer_rows=2048, start_batch=start))
        )
        np.testing.assert_array_equal(resumed.planes, batches[start].planes)
        np.testing.assert_array_equal(resumed.moves, batches[start].moves)


def test_an_epoch_has_every_row_once(corpus: Path) -> None:
    loader = PositionLoader(corpus / "positions", 1, seed=9)
    seen = sorted(batch.planes.tobytes() for batch in islice(loader, loader.rows))
    assert seen == sorted(batch.planes.tobytes() for batch in loader.iterate_once())


def test_a_limited_look_spreads_over_all_games(corpus: Path) -> None:
    loader = PositionLoader(corpus / "positions", 64, split="train")
    groups = len(loader.source.group_rows)
    assert groups >= 4
    limit = int(loader.source.group_rows[:2].sum())
    everything = [batch.moves for batch in loader.iterate_once()]
    some = np.concatenate([batch.moves for batch in loader.iterate_once(limit)])
    assert len(some) == limit
    assert not np.array_equal(some, np.concatenate(everything)[:limit])
    assert sum(len(batch.moves) for batch in loader.iterate_once(1)) == 1
    assert list(loader.iterate_once(0)) == []
    assert sum(len(batch.moves) for batch in loader.iterate_once(10**9)) == loader.rows


def test_processes_share_an_epoch(corpus: Path) -> None:
    loaders = [PositionLoader(corpus / "positions", 1, rank=rank, world_size=2) for rank in range(2)]
    shares = [set(loader.order.epoch_groups(0).tolist()) for loader in loaders]
    assert not shares[0] & shares[1]
    assert len(shares[0]) == len(shares[1]) == len(loaders[0].source.group_rows) // 2
    with pytest.raises(DatasetError, match="row groups for 1000 processes"):
        next(PositionLoader(corpus / "positions", 1, world_size=1000).batches())


def test_colour_plane(corpus: Path) -> None:
    for batch in islice(PositionLoader(corpus / "positions", 32, planes=49), 3):
        assert set(np.unique(batch.planes[:, 48].reshape(32, -1).mean(axis=1))) <= {0.0, 1.0}


def test_folders_verify_and_damage_is_found(corpus: Path, tmp_path: Path) -> None:
    verify_dataset(corpus / "positions")
    verify_dataset(corpus / "games")
    with pytest.raises(DatasetError, match="not a dataset folder"):
        PositionLoader(tmp_path, 8)
    with pytest.raises(DatasetError, match="not of value"):
        ValueLoader(corpus / "games", 8)


def test_addresses_work_as_paths_do(corpus: Path) -> None:
    address = (corpus / "positions").as_uri()
    verify_dataset(address)
    a = next(iter(PositionLoader(address, 16)))
    b = next(iter(PositionLoader(corpus / "positions", 16)))
    np.testing.assert_array_equal(a.planes, b.planes)


def test_value_set(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    planes = rng.integers(0, 2, (50, 49, SIZE, SIZE), dtype=np.uint8)
    outcomes = rng.choice(np.array([-1, 1], np.int8), 50)
    rows = ValueRows(planes, outcomes, np.ones(50, np.int8), np.arange(50, dtype=np.int16), np.arange(50))
    names = [write_value_shard(tmp_path, "train", 0, SIZE, rows)]
    finish_value_set(tmp_path, SIZE, names, seed=1)
    loader = ValueLoader(tmp_path, 16, seed=2)
    (first, *_) = loader.iterate_once()
    np.testing.assert_array_equal(first.planes, planes[:16])
    np.testing.assert_array_equal(first.outcomes, outcomes[:16])
    turned = {
        go_engine.symmetry(planes[row], k).tobytes(): outcomes[row] for row in range(50) for k in range(8)
    }
    for batch in islice(loader, 6):
        for row in range(16):
            assert turned[batch.planes[row].tobytes()] == batch.outcomes[row]
