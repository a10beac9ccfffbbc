"""The stage train-rollout-policy: gradients, what is kept, that it learns, that threads change nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_rollout_policy import random_game, random_policy

from datasets.records import GameRecord
from datasets.store import file_entry, write_manifest, write_table
from datasets.tables import game_row, games_table
from go_engine import Board, RolloutPolicy, _core
from tasks.errors import UserError
from tasks.params import TrainRolloutPolicyParams
from tasks.reporting import NullReporter
from tasks.rollout_data import to_rollout_games
from tasks.train_rollout_policy import FILES, run_train_rollout_policy

SIZE = 7
OPTIONS: dict[str, Any] = {
    "board_size": SIZE,
    "epochs": 4,
    "response_minimum": 4,
    "pattern_minimum": 4,
    "diamond_minimum": 4,
    "shards": 2,
    "games_per_shard": 4,
    "evaluations": 3,
    "threads": 1,
}


def record(moves: list[int], size: int = SIZE, **fields: Any) -> GameRecord:
    colours = [1 if ply % 2 == 0 else -1 for ply in range(len(moves))]
    return GameRecord(size=size, moves=list(zip(colours, moves, strict=True)), **fields)


def tied(policy: RolloutPolicy) -> RolloutPolicy:
    """The policy with one weight for the four neighbours beside a move and one for the diagonal ones."""
    tensors = policy.tensors()
    tensors["neighbour"] = tensors["neighbour"][[0, 0, 0, 0, 7, 7, 7, 7]]
    return RolloutPolicy(policy.tree, tensors)


def played_by(policy: RolloutPolicy, seed: int, size: int = SIZE) -> GameRecord:
    """A game of the policy against itself, sharpened so that there is something to predict."""
    board, moves = Board(size, ko_rule="simple"), []
    for ply in range(40):
        choices = _core.rollout_choices(policy, board, 1, seed * 1000 + ply)
        moves.append(int(choices[0]))
        board.play(moves[-1])
    return record(moves, size)


def games_folder(folder: Path, train: list[GameRecord], test: list[GameRecord], size: int = SIZE) -> Path:
    folder.mkdir()
    entries = []
    for split, games in (("test", test), ("train", train)):
        name = f"{split}-00000.parquet"
        write_table(folder / name, games_table([game_row(game, game.id, split) for game in games]))
        entries.append(file_entry(folder, name))
    splits = {
        split: [entry.name for entry in entries if entry.name.startswith(split)]
        for split in ("train", "test")
    }
    write_manifest(folder, "games", size, entries, splits=splits)
    return folder


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    policy = random_policy(True, size=SIZE)
    tensors = {
        name: values * 2 if values.dtype == np.float32 else values
        for name, values in policy.tensors().items()
    }
    teacher = RolloutPolicy(True, tensors)
    games = [played_by(teacher, seed) for seed in range(240)]
    return games_folder(tmp_path_factory.mktemp("corpus") / "games", games[40:], games[:40])


@pytest.mark.parametrize("tree", [False, True])
def test_the_trainer_scores_moves_as_the_policy_does(tree: bool) -> None:
    policy = tied(random_policy(tree))
    games = [record(random_game(9, seed, 110), 9) for seed in range(4)]
    total, likelihood = 0, 0.0
    for game in games:
        board = Board(9, ko_rule="simple")
        for _, move in game.moves:
            if move != board.pass_move:
                likelihood += float(np.log(policy.probabilities(board, slow=True)[move]))
                total += 1
            board.play(move)
    store = to_rollout_games(games, 9)
    positions, found, correct = _core.RolloutTrainer(policy, store).evaluate(list(range(4)))
    assert positions == total
    assert found == pytest.approx(likelihood, rel=1e-4)
    assert 0 < correct < positions


@pytest.mark.parametrize("tree", [False, True])
def test_a_small_step_follows_the_gradient(tree: bool) -> None:
    policy, step = tied(random_policy(tree)), 1e-3
    store = to_rollout_games([record([*random_game(9, 5, 40)[:1], 41], 9)], 9)
    trainer = _core.RolloutTrainer(policy, store)
    before = trainer.evaluate([0])[1]
    old = trainer.tensors()
    trainer.train_round([[0]], step, 0.0)
    gain = trainer.evaluate([0])[1] - before
    new = trainer.tensors()
    # To first order the gain is |change|^2 / step; the neighbours are tied in fours.
    squares = 0.0
    for name, values in new.items():
        if values.dtype == np.float32:
            change = float(((values.astype(float) - old[name]) ** 2).sum())
            squares += change / 4 if name == "neighbour" else change
    assert gain == pytest.approx(squares / step, rel=0.2)


def test_it_learns_writes_both_policies_and_reports(corpus: Path, tmp_path: Path) -> None:
    run = NullReporter()
    result = run_train_rollout_policy(TrainRolloutPolicyParams(**OPTIONS), {"games": corpus}, tmp_path, run)
    assert set(result["outputs"]) == {"rollout_policy", "tree_policy"}
    metrics = result["metrics"]
    curve = [
        values["held_out/accuracy"] for step, values in run.metrics if step and "held_out/accuracy" in values
    ]
    assert len(curve) >= 3
    assert metrics["test/accuracy"] > 0.1  # a uniform guess: about 0.03
    assert metrics["test/tree_accuracy"] > metrics["test/accuracy"]
    assert "8,192" in run.texts["patterns.md"]
    assert "curves.png" in run.figures
    for kind, name in FILES.items():
        policy = RolloutPolicy.load(tmp_path / name)
        assert policy.kind == kind
        assert policy.info["size"] == SIZE
        assert len(policy.tensors()["pattern.keys"]) == metrics["patterns/pattern"]
        assert policy.probabilities(Board(SIZE)).sum() == pytest.approx(1, abs=1e-5)


def test_threads_change_nothing_and_seeds_do(corpus: Path, tmp_path: Path) -> None:
    def bytes_of(name: str, **options: Any) -> list[bytes]:
        folder = tmp_path / name
        folder.mkdir()
        params = TrainRolloutPolicyParams(**OPTIONS | {"epochs": 1} | options)
        run_train_rollout_policy(params, {"games": corpus}, folder, NullReporter())
        return [(folder / file).read_bytes() for file in FILES.values()]

    one = bytes_of("one")
    assert one == bytes_of("three", threads=3)
    assert one != bytes_of("seed", seed=1)


def test_thresholds_decide_what_is_kept(corpus: Path, tmp_path: Path) -> None:
    def kept(minimum: int) -> float:
        options = OPTIONS | {"epochs": 1, "pattern_minimum": minimum, "pattern_seen_minimum": 0}
        params = TrainRolloutPolicyParams(**options)
        result = run_train_rollout_policy(params, {"games": corpus}, tmp_path, NullReporter())
        return float(result["metrics"]["patterns/pattern"])

    assert kept(2) > kept(20) > 0


def test_setup_stones_passes_and_repeated_colours_are_replayed() -> None:
    game = GameRecord(
        size=5, black=[12], moves=[(-1, 7), (1, 25), (-1, 11), (-1, 13), (1, 0), (-1, 17)], index=3
    )
    games = to_rollout_games([game], 5)
    found = games.harvest(True)
    assert found["positions"] == 5  # all but the pass
    assert found["nakade"][0].tolist() == []
    assert _core.RolloutTrainer(RolloutPolicy.uniform(), games).evaluate([0])[0] == 5


def test_wrong_games_are_named(tmp_path: Path) -> None:
    params = TrainRolloutPolicyParams(**OPTIONS)
    other = games_folder(tmp_path / "other", [record(random_game(9, 1, 20), 9, source="a.sgf")], [], 9)
    with pytest.raises(UserError, match=r"a\.sgf: a 9x9 game among 7x7 games"):
        run_train_rollout_policy(params, {"games": other}, tmp_path, NullReporter())
    empty = games_folder(tmp_path / "empty", [], [])
    with pytest.raises(UserError, match="no training games"):
        run_train_rollout_policy(params, {"games": empty}, tmp_path, NullReporter())
    with pytest.raises(ValueError, match="99 is no move"):
        to_rollout_games([record([99])], SIZE)
