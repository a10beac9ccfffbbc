"""The rollout and tree policies: fast evaluation against the definition, playouts, files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from go_engine import Board, RolloutPolicy, RolloutPolicyError, _core, random_playouts

KINDS = ("nakade", "response_pattern", "pattern", "diamond")


def random_game(size: int, seed: int, plies: int) -> list[int]:
    """Moves of a random game that likes to play near the last move, so that captures and ataris abound."""
    rng = np.random.default_rng(seed)
    board, moves = Board(size), []
    for _ in range(plies):
        sensible = np.flatnonzero(board.sensible_mask())
        if moves and rng.random() < 0.6:
            row, col = divmod(moves[-1], size)
            near = sensible[np.maximum(abs(sensible // size - row), abs(sensible % size - col)) <= 2]
            sensible = near if len(near) else sensible
        move = int(rng.choice(sensible)) if len(sensible) else board.pass_move
        board.play(move)
        moves.append(move)
    return moves


def random_policy(tree: bool, seed: int = 0, size: int = 9) -> RolloutPolicy:
    """Random weights for half of the patterns that some random games show."""
    rng = np.random.default_rng(seed)
    seen: dict[str, set[int]] = {kind: set() for kind in KINDS}
    for game in range(3):
        board = Board(size)
        for move in random_game(size, 1000 + game, 100):
            for candidate in rng.permutation(np.flatnonzero(board.sensible_mask()))[:8]:
                for kind, key in _core.rollout_features(board, int(candidate), True):
                    if kind in seen:
                        seen[kind].add(key)
            board.play(move)
    tensors: dict[str, NDArray[Any]] = {}
    for kind, keys in seen.items():
        kept = np.array(sorted(key for key in keys if rng.random() < 0.5), np.uint64)
        tensors[f"{kind}.keys"] = kept
        tensors[f"{kind}.weights"] = rng.normal(0, 1, len(kept)).astype(np.float32)
    counts = (("response", 1), ("save_atari", 1), ("neighbour", 8), ("self_atari", 1), ("distance", 34))
    for name, count in counts:
        tensors[name] = rng.normal(0, 1, count).astype(np.float32)
    return RolloutPolicy(tree, tensors, {"note": "random weights"})


@pytest.mark.parametrize("tree", [False, True])
@pytest.mark.parametrize(("size", "plies"), [(5, 60), (9, 130), (19, 90)])
def test_fast_probabilities_equal_the_definition(tree: bool, size: int, plies: int) -> None:
    policy = random_policy(tree)
    board = Board(size, ko_rule="positional")
    for move in random_game(size, size, plies):
        fast, slow = policy.probabilities(board), policy.probabilities(board, slow=True)
        np.testing.assert_allclose(fast, slow, atol=1e-5)
        assert (fast > 0).tolist() == board.sensible_mask().tolist()
        board.play(move)


@pytest.mark.parametrize("tree", [False, True])
@pytest.mark.parametrize("size", [5, 9, 13])
def test_incremental_probabilities_equal_the_definition_at_every_move(tree: bool, size: int) -> None:
    policy = random_policy(tree)
    for seed in range(3):
        board = Board(size, ko_rule="simple")
        moves = random_game(size, seed, 2 * size * size if size < 13 else 120)
        incremental = _core.rollout_trace(policy, board, moves)
        for row, move in zip(incremental, moves, strict=True):
            np.testing.assert_allclose(row, policy.probabilities(board, slow=True), atol=1e-5)
            board.play(move)


def test_moves_are_drawn_with_their_probabilities() -> None:
    policy = random_policy(False)
    board = Board(9)
    for move in random_game(9, 3, 40):
        board.play(move)
    expected = policy.probabilities(board)
    draws = 40_000
    counts = np.bincount(_core.rollout_choices(policy, board, draws, 7), minlength=82)[:81]
    error = np.abs(counts - draws * expected) / np.sqrt(draws * expected * (1 - expected) + 1)
    assert error.max() < 5


def test_playouts_do_not_depend_on_threads_and_end() -> None:
    policy = random_policy(False)
    board = Board(9)
    board.play(40)
    alone, together = policy.playouts(board, 40, 5), policy.playouts(board, 40, 5, threads=3)
    for a, b in zip(alone, together, strict=True):
        np.testing.assert_array_equal(a, b)
    winners, moves = alone
    assert winners.dtype == np.int8
    assert moves.dtype == np.int32
    assert set(winners) <= {-1, 1}
    assert moves.max() <= 2 * 81
    assert not np.array_equal(alone[1], policy.playouts(board, 40, 6)[1])


def test_uniform_policy_plays_like_uniform_playouts() -> None:
    board = Board(9)
    winners, moves = RolloutPolicy.uniform().playouts(board, 2000, 1)
    uniform_winners, uniform_moves = random_playouts(board, 2000, 2)
    assert abs(moves.mean() - uniform_moves.mean()) < 2
    assert abs(winners.mean() - uniform_winners.mean()) < 0.12


def test_a_finished_game_is_scored_as_it_stands() -> None:
    board = Board(5, komi=0.5)
    board.play(12)
    board.play(board.pass_move)
    board.play(board.pass_move)
    winners, moves = RolloutPolicy.uniform().playouts(board, 3, 1)
    assert winners.tolist() == [1, 1, 1]
    assert moves.tolist() == [0, 0, 0]


def test_superko_is_refused_in_probabilities() -> None:
    board = Board(5, ko_rule="positional")
    for move in random_game(5, 11, 50):
        board.play(move)
        mask = board.sensible_mask()
        assert ((RolloutPolicy.uniform().probabilities(board) > 0) == mask).all()


@pytest.mark.parametrize("tree", [False, True])
def test_a_file_holds_the_whole_policy(tree: bool, tmp_path: Path) -> None:
    policy = random_policy(tree)
    policy.save(tmp_path / "policy.safetensors")
    loaded = RolloutPolicy.load(tmp_path / "policy.safetensors")
    assert loaded.kind == policy.kind == ("tree" if tree else "rollout")
    assert loaded.info == {"note": "random weights"}
    for name, values in policy.tensors().items():
        np.testing.assert_array_equal(loaded.tensors()[name], values)
    assert [p.name for p in tmp_path.iterdir()] == ["policy.safetensors"]


def test_foreign_and_missing_files_are_named(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    with pytest.raises(RolloutPolicyError, match=r"gone\.safetensors: no such"):
        RolloutPolicy.load(tmp_path / "gone.safetensors")
    text = tmp_path / "text.safetensors"
    text.write_text("hello")
    with pytest.raises(RolloutPolicyError, match=r"text\.safetensors: not a rollout policy file"):
        RolloutPolicy.load(text)
    other = tmp_path / "other.safetensors"
    save_file({"a": np.zeros(3, np.float32)}, other, metadata={"alphago": '{"format": 1, "kind": "value"}'})
    with pytest.raises(RolloutPolicyError, match="holds a 'value'"):
        RolloutPolicy.load(other)
    save_file({"a": np.zeros(3, np.float32)}, other, metadata={"alphago": '{"format": 1, "kind": "tree"}'})
    with pytest.raises(RolloutPolicyError, match="tensor 'response' is missing"):
        RolloutPolicy.load(other)


def test_tables_out_of_order_are_refused() -> None:
    tensors = RolloutPolicy.uniform().tensors()
    tensors["pattern.keys"] = np.array([3, 2], np.uint64)
    tensors["pattern.weights"] = np.zeros(2, np.float32)
    with pytest.raises(ValueError, match="pattern: pattern keys are not in ascending order"):
        RolloutPolicy(False, tensors)
