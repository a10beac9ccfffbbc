"""The policies that come with the project: they load, fit their card and know more than chance."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from datasets import GameRecord, read_games
from go_engine import Board, RolloutPolicy, _core, planes
from models.checkpoint import load_policy
from models.evaluators import PolicyEvaluator
from tasks.rollout_data import to_rollout_games

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "models" / "pretrained"
SIZES = (9, 19)
CORNER = np.arange(2, 6)  # lines of a corner, from 0
EVERY = 7  # positions of a game that are looked at


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", ["rollout", "tree"])
def test_the_file_is_what_its_card_says(kind: str, size: int) -> None:
    path = FOLDER / f"{kind}-{size}x{size}.safetensors"
    policy = RolloutPolicy.load(path)
    assert policy.kind == kind
    assert policy.info["size"] == size
    card = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert hashlib.sha256(path.read_bytes()).hexdigest()[:16] in card
    probabilities = policy.probabilities(Board(size))
    assert probabilities.sum() == pytest.approx(1, abs=1e-4)
    turned = np.rot90(probabilities.reshape(size, size))
    np.testing.assert_allclose(turned, probabilities.reshape(size, size), atol=1e-6)


@pytest.mark.parametrize("size", SIZES)
def test_they_predict_bundled_games_better_than_chance(size: int) -> None:
    archive = ROOT / "datasets" / "sample" / f"gnugo-{size}x{size}.tar.gz"
    games = [game for game in read_games(archive) if isinstance(game, GameRecord)][:40]
    store = to_rollout_games(games, size)
    accuracy = {}
    for kind in ("rollout", "tree"):
        policy = RolloutPolicy.load(FOLDER / f"{kind}-{size}x{size}.safetensors")
        positions, _, correct = _core.RolloutTrainer(policy, store).evaluate(list(range(len(games))))
        accuracy[kind] = correct / positions
    assert accuracy["tree"] > accuracy["rollout"] > 0.2


def test_the_policy_network_is_what_its_card_says_and_knows_openings() -> None:
    path = FOLDER / "policy-19x19.safetensors"
    card = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert hashlib.sha256(path.read_bytes()).hexdigest()[:16] in card
    net = load_policy(path, 19)
    assert net.planes == 48
    # People open in a corner: on the 3-4, 4-4 and 3-3 points and their neighbours.
    board = Board(19)
    probabilities = PolicyEvaluator(net).probabilities(planes(board)[None]).reshape(19, 19)
    corners = sum(probabilities[a][:, b].sum() for a in (CORNER, -CORNER - 1) for b in (CORNER, -CORNER - 1))
    assert corners > 0.95


def test_the_policy_network_predicts_bundled_games_better_than_the_tree_policy() -> None:
    archive = ROOT / "datasets" / "sample" / "gnugo-19x19.tar.gz"
    games = [game for game in read_games(archive) if isinstance(game, GameRecord)]
    games = [game for game in games if not (game.black or game.white)][:20]
    net = PolicyEvaluator(load_policy(FOLDER / "policy-19x19.safetensors", 19))
    tree = RolloutPolicy.load(FOLDER / "tree-19x19.safetensors")
    hits = np.zeros(2, dtype=int)
    for game in games:
        board = Board(19)
        for number, (colour, move) in enumerate(game.moves):
            board.to_play = colour
            if move != board.pass_move and number % EVERY == 0:
                predictions = net.probabilities(planes(board)[None])[0], tree.probabilities(board)
                hits += [int(given.argmax() == move) for given in predictions]
            board.play(move)
    assert hits[0] > hits[1] > 0
