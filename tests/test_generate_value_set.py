"""Stage 5: U, the uniform move, whose outcome it is, and shards that depend on their number alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from numpy.typing import NDArray

from datasets.loader import ValueLoader
from datasets.store import verify_dataset
from go_engine import BLACK, WHITE
from models.checkpoint import CheckpointError, save_checkpoint
from models.networks import PolicyNet
from tasks.generate_value_set import run_generate_value_set
from tasks.params import GenerateValueSetParams
from tasks.reporting import NullReporter
from tasks.value_games import largest_u, play_shard
from tasks.value_shards import Report, make_shard, shard_sizes

SIZE = 5


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def small_params(**changes: Any) -> GenerateValueSetParams:
    values: dict[str, Any] = {
        "board_size": SIZE,
        "threads": 1,
        "komi": 0.5,
        "positions": 70,
        "shard_positions": 30,
        "test_share": 0.1,
        "largest_u": 200,
        "network_batch": 16,
        "parallel_games": 48,
    }
    return GenerateValueSetParams(**(values | changes))


@pytest.fixture
def policies(tmp_path: Path) -> dict[str, Path]:
    found = {}
    for seed, name in enumerate(("sl_policy", "rl_policy")):
        torch.manual_seed(seed)
        net = PolicyNet(SIZE, filters=8, layers=2)
        with torch.no_grad():
            net.head.weight *= 20
        found[name] = save_checkpoint(tmp_path / f"{name}.safetensors", net)
    return found


class Uniform:
    accelerated = False

    def probabilities(self, planes: NDArray[np.uint8]) -> NDArray[np.float32]:
        return np.full((len(planes), planes.shape[2] ** 2), 0.04, dtype=np.float32)


class Watching(Uniform):
    """Uniform, and remembers the number of stones of every position that it saw."""

    def __init__(self) -> None:
        self.saw: list[NDArray[np.int64]] = []

    def probabilities(self, planes: NDArray[np.uint8]) -> NDArray[np.float32]:
        self.saw.append(planes[:, :2].sum((1, 2, 3)))
        return super().probabilities(planes)


def unpacked(planes: NDArray[np.uint8], size: int = SIZE) -> NDArray[np.uint8]:
    cells = np.unpackbits(planes, axis=1, count=49 * size * size)
    return cells.reshape(-1, 49, size, size)


def parquet_bytes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "value-set").glob("*.parquet")}


def test_u_goes_from_1_to_its_end_evenly() -> None:
    """Trap T2: both ends of the range occur, one U a game."""
    params = small_params(largest_u=72, shard_positions=2000, network_batch=256, parallel_games=1000)
    assert largest_u(params) == 5
    games = play_shard(params, Uniform(), Uniform(), 0, 2000, 1)
    counts = np.bincount(games.u, minlength=6)
    assert counts[0] == 0
    assert len(counts) == 6
    assert counts[1:] / 2000 == pytest.approx([0.2] * 5, abs=0.03)


@pytest.mark.parametrize(("size", "end"), [(19, 450), (9, 101), (5, 31)])
def test_the_range_of_u_is_scaled_to_the_board(size: int, end: int) -> None:
    assert largest_u(GenerateValueSetParams(board_size=size)) == end


def test_the_policies_play_their_phases() -> None:
    """SL sees positions before move U, RL those after it; stones are counted where few are taken yet."""
    params = small_params(largest_u=58, network_batch=1)  # U up to 4; no padding that would be seen, too
    sl, rl = Watching(), Watching()
    games = play_shard(params, sl, rl, 0, 60, 1)
    assert games.u.max() == 4
    assert np.concatenate(sl.saw).max() <= 2  # before move U - 1, which is at most the third
    assert len(sl.saw) == (games.u - 1).sum()
    assert len(rl.saw) == (games.plies - games.u).sum()
    planes = unpacked(games.planes)
    stones = planes[:, :2].sum((1, 2, 3))
    assert (stones <= games.u).all()
    assert (stones >= games.u - 1).all()
    assert (planes[:, 4].sum((1, 2)) == 1).all()  # the uniform move is the last one, a stone
    assert (games.to_play == np.where(games.u % 2 == 0, BLACK, WHITE)).all()
    assert (planes[:, 48, 0, 0] == (games.to_play == BLACK)).all()


def test_the_uniform_move_is_uniform_over_the_legal_points() -> None:
    params = small_params(largest_u=15, network_batch=256, parallel_games=2000)  # U = 1: the first move
    games = play_shard(params, Uniform(), Uniform(), 0, 2000, 1)
    first = unpacked(games.planes)[:, 1].reshape(2000, -1).mean(axis=0)
    assert first == pytest.approx([1 / 25] * 25, abs=0.018)


@pytest.mark.parametrize(("komi", "winner"), [(100.5, WHITE), (-100.5, BLACK)])
def test_the_outcome_is_for_the_player_to_move(komi: float, winner: int) -> None:
    """Trap T3: komi decides these games, so whoever is to move has won just when he is the winner."""
    games = play_shard(small_params(komi=komi), Uniform(), Uniform(), 0, 30, 1)
    assert set(games.to_play.tolist()) == {BLACK, WHITE}
    assert (games.outcomes == np.where(games.to_play == winner, 1, -1)).all()
    assert (unpacked(games.planes)[:, 48, 0, 0] == (games.to_play == BLACK)).all()


def test_games_that_end_before_move_u_are_drawn_again_and_counted() -> None:
    games = play_shard(small_params(largest_u=700), Uniform(), Uniform(), 0, 60, 1)  # U up to 48 of 50 plies
    assert games.draws.sum() > 60
    assert (games.plies > games.u).all()


@pytest.mark.parametrize(("boards", "batch", "threads"), [(30, 16, 1), (5, 16, 1), (17, 32, 3)])
def test_a_shard_is_the_same_however_it_is_played(
    policies: dict[str, Path], tmp_path: Path, boards: int, batch: int, threads: int
) -> None:
    make_shard(small_params(), policies, tmp_path / "a", 1)
    other = small_params(parallel_games=boards, network_batch=batch, threads=threads)
    make_shard(other, policies, tmp_path / "b", 1)
    assert parquet_bytes(tmp_path / "a") == parquet_bytes(tmp_path / "b")


def test_the_set_is_whole_and_split_by_game(policies: dict[str, Path], tmp_path: Path) -> None:
    run, params = NullReporter(), small_params()
    assert shard_sizes(params) == [30, 30, 10]
    made = run_generate_value_set(params, policies, tmp_path / "work", run)
    folder = tmp_path / "work" / made["outputs"]["value_set"]["path"]
    verify_dataset(folder)
    games = {
        split: np.concatenate(
            [pq.read_table(path)["game"].to_numpy() for path in sorted(folder.glob(f"{split}-*.parquet"))]
        )
        for split in ("train", "test")
    }
    assert sorted(np.concatenate(list(games.values())).tolist()) == list(range(70))
    assert len(games["test"]) == 7
    assert made["metrics"]["set/positions"] == 70
    assert 0 <= made["metrics"]["set/duplicates"] < 35
    assert "70 positions, one a game" in made["summary"]
    assert "value-set.png" in run.figures
    loader = ValueLoader(folder, batch_size=8, split="train")
    assert loader.rows == 63
    batch = next(iter(loader))
    assert batch.planes.shape == (8, 49, SIZE, SIZE)
    assert set(batch.outcomes.tolist()) <= {-1.0, 1.0}


def test_the_same_seed_gives_the_same_set_and_another_another(
    policies: dict[str, Path], tmp_path: Path
) -> None:
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        run_generate_value_set(small_params(seed=seed), policies, tmp_path / name, NullReporter())
    assert parquet_bytes(tmp_path / "a") == parquet_bytes(tmp_path / "b")
    assert parquet_bytes(tmp_path / "a") != parquet_bytes(tmp_path / "c")
    manifests = [(tmp_path / name / "value-set" / "manifest.json").read_bytes() for name in "ab"]
    assert manifests[0] == manifests[1]


class Killed(Exception):
    pass


def test_missing_and_broken_shards_are_made_and_whole_ones_kept(
    policies: dict[str, Path], tmp_path: Path
) -> None:
    params, folder = small_params(), tmp_path / "work"
    run_generate_value_set(params, policies, tmp_path / "whole", NullReporter())
    made: list[int] = []

    def dying_after(count: int) -> Callable[[Callable[[int], Report], Sequence[int]], Iterable[Report]]:
        def mapped(make: Callable[[int], Report], shards: Sequence[int]) -> Iterator[Report]:
            for shard in shards[:count]:
                made.append(shard)
                yield make(shard)
            if len(shards) > count:
                raise Killed

        return mapped

    for _ in range(2):
        with pytest.raises(Killed):
            run_generate_value_set(params, policies, folder, NullReporter(), dying_after(1))
        assert not (folder / "value-set" / "manifest.json").exists()
    (folder / "shards" / "00000.json").write_text("{half", encoding="utf-8")
    (folder / "value-set" / "train-00002.parquet.abc.part").write_bytes(b"half a file")
    run_generate_value_set(params, policies, folder, NullReporter(), dying_after(9))
    assert made == [0, 1, 0, 2]
    assert parquet_bytes(folder) == parquet_bytes(tmp_path / "whole")
    assert not list(folder.rglob("*.part"))


def test_shards_of_other_policies_are_not_taken(policies: dict[str, Path], tmp_path: Path) -> None:
    params = small_params(positions=30)
    run_generate_value_set(params, policies, tmp_path / "work", NullReporter())
    before = parquet_bytes(tmp_path / "work")
    swapped = {"sl_policy": policies["rl_policy"], "rl_policy": policies["sl_policy"]}
    run_generate_value_set(params, swapped, tmp_path / "work", NullReporter())
    assert parquet_bytes(tmp_path / "work") != before


def test_processes_make_the_same_set(policies: dict[str, Path], tmp_path: Path) -> None:
    run_generate_value_set(small_params(), policies, tmp_path / "one", NullReporter())
    run_generate_value_set(small_params(workers=2), policies, tmp_path / "two", NullReporter())
    assert parquet_bytes(tmp_path / "one") == parquet_bytes(tmp_path / "two")


def test_a_policy_for_another_board_is_one_clear_line(policies: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="is for a 5x5 board, not for 9x9"):
        run_generate_value_set(small_params(board_size=9), policies, tmp_path / "work", NullReporter())
    missing = policies | {"rl_policy": tmp_path / "none.safetensors"}
    with pytest.raises(CheckpointError, match="there is no such checkpoint"):
        run_generate_value_set(small_params(), missing, tmp_path / "work", NullReporter())
    assert not (tmp_path / "work").exists()
