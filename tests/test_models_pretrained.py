"""The policies that come with the project: they load, fit their card and know more than chance."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from datasets import GameRecord, read_games
from go_engine import Board, RolloutPolicy, _core
from tasks.rollout_data import to_rollout_games

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "models" / "pretrained"
SIZES = (9, 19)


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
