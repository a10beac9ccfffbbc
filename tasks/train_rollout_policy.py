"""Stage 2: rollout policy p_pi and tree policy p_tau learn from human moves (Methods: rollout policy).

First the patterns that the training games show often enough are gathered; then the weights of each policy are
fitted by stochastic gradient ascent on the log likelihood of the moves among all sensible ones.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from datasets.records import GameRecord
from datasets.store import dataset_digest
from datasets.tables import iterate_games
from go_engine import RolloutPolicy, _core
from tasks.errors import UserError
from tasks.params import TrainRolloutPolicyParams
from tasks.reporting import Reporter
from tasks.rollout_data import to_rollout_games
from tasks.rollout_report import CurvePoint, Kept, curves, patterns_markdown

FILES = {"rollout": "rollout-policy.safetensors", "tree": "tree-policy.safetensors"}
PREFIXES = {"rollout": "", "tree": "tree_"}  # of the metrics' names


class Corpus(NamedTuple):
    """Training and held-out games in one store: the first `training` of `games` train."""

    games: _core.RolloutGames
    training: int
    held_out: list[int]


class Score(NamedTuple):
    """Moves predicted by a policy. Per position; log likelihood in nats."""

    positions: float
    log_likelihood: float
    accuracy: float

    @classmethod
    def of(cls, sums: Sequence[float] | NDArray[np.float64]) -> Score:
        """From sums over positions, as the trainer gives them."""
        positions = max(float(sums[0]), 1.0)
        return cls(float(sums[0]), float(sums[1]) / positions, float(sums[2]) / positions)


def run_train_rollout_policy(
    params: TrainRolloutPolicyParams, inputs: dict[str, Path], folder: Path, run: Reporter
) -> dict[str, Any]:
    """Learn from inputs["games"], a folder of games; write both policies into `folder`.

    The result depends on parameters and games alone, not on threads. Raises UserError for games of another
    board size or for none.
    """
    threads = params.threads or os.cpu_count() or 1
    corpus = read_corpus(params, inputs["games"])
    found = corpus.games.harvest(True, threads, corpus.training)
    kept = frequent(params, found)
    run.log_text("patterns.md", patterns_markdown(kept, found["positions"], params.board_size))
    metrics: dict[str, float] = {f"patterns/{one.kind}": float(len(one.keys)) for one in kept}
    points: dict[str, list[CurvePoint]] = {}
    for number, kind in enumerate(FILES):
        trainer = _core.RolloutTrainer(starting_policy(kind == "tree", kept), corpus.games)
        points[kind] = train(kind, trainer, corpus, params, threads, run, done=number / len(FILES))
        score = Score.of(trainer.evaluate(corpus.held_out, threads))
        name = PREFIXES[kind]
        metrics |= {
            f"test/{name}accuracy": score.accuracy,
            f"test/{name}log_likelihood": score.log_likelihood,
            "test/rows": score.positions,
        }
        info = {
            "size": params.board_size,
            "positions": int(found["positions"]),
            "patterns": {one.kind: len(one.keys) for one in kept},
            "held_out": score._asdict(),
            "games": dataset_digest(inputs["games"]),
            "params": params.model_dump(mode="json", exclude={"threads"}),
        }
        RolloutPolicy(kind == "tree", trainer.tensors(), info).save(folder / FILES[kind])
    run.log_metrics(metrics)
    run.log_figure("curves.png", curves(points))
    return {
        "outputs": {
            f"{kind}_policy": {"path": folder / name, "kind": "model"} for kind, name in FILES.items()
        },
        "metrics": metrics,
        "summary": summary(metrics),
    }


def read_corpus(params: TrainRolloutPolicyParams, folder: Path) -> Corpus:
    """All games that are used, those of the training first."""
    training = list(_games(params, folder, "train"))
    held_out = list(_games(params, folder, "test"))
    if not training:
        raise UserError(f"{folder}: no training games to learn the rollout policy from")
    try:
        games = to_rollout_games(training + held_out, params.board_size)
    except ValueError as error:
        raise UserError(str(error)) from error
    return Corpus(games, len(training), list(range(len(training), len(training) + len(held_out))))


def _games(params: TrainRolloutPolicyParams, folder: Path, split: str) -> Iterator[GameRecord]:
    limit = params.max_games if split == "train" and params.max_games else None
    return islice(iterate_games(folder, split), limit)


def frequent(params: TrainRolloutPolicyParams, found: dict[str, Any]) -> list[Kept]:
    """Of all patterns that were found, those that the parameters keep."""
    minima = {
        "nakade": (params.nakade_minimum, 0),
        "response_pattern": (params.response_minimum, 0),
        "pattern": (params.pattern_minimum, params.pattern_seen_minimum),
        "diamond": (params.diamond_minimum, 0),
    }
    return [Kept.of(kind, found[kind], *minimum) for kind, minimum in minima.items()]


def starting_policy(tree: bool, kept: list[Kept]) -> RolloutPolicy:
    """All weights zero, with the patterns that are kept."""
    tensors = RolloutPolicy.uniform(tree).tensors()
    for one in kept:
        if one.kind != "diamond" or tree:
            tensors[f"{one.kind}.keys"] = one.keys
            tensors[f"{one.kind}.weights"] = np.zeros(len(one.keys), np.float32)
    return RolloutPolicy(tree, tensors)


def train(
    kind: str,
    trainer: _core.RolloutTrainer,
    corpus: Corpus,
    params: TrainRolloutPolicyParams,
    threads: int,
    run: Reporter,
    done: float,
) -> list[CurvePoint]:
    """All rounds of one policy; returns its curve. `done` is the share of the stage that lies behind."""
    rounds = [
        shards for epoch in range(params.epochs) for shards in epoch_rounds(params, corpus.training, epoch)
    ]
    every = max(1, len(rounds) // params.evaluations)
    watched = corpus.held_out[: params.evaluation_games]
    falls = params.final_step_size / params.step_size
    points: list[CurvePoint] = []
    learnt, sums = 0.0, np.zeros(3)
    for number, shards in enumerate(rounds, 1):
        step_size = params.step_size * falls ** ((number - 1) / len(rounds))
        sums += trainer.train_round(shards, step_size, params.l2, threads)
        if number % every and number != len(rounds):
            continue
        learnt += sums[0]
        training, test = Score.of(sums), Score.of(trainer.evaluate(watched, threads))
        sums[:] = 0
        points.append(CurvePoint(learnt, training.accuracy, training.log_likelihood, *test[:0:-1]))
        name = PREFIXES[kind]
        metrics = {
            f"train/{name}accuracy": training.accuracy,
            f"train/{name}log_likelihood": training.log_likelihood,
            f"held_out/{name}accuracy": test.accuracy,
            f"held_out/{name}log_likelihood": test.log_likelihood,
            f"train/{name}step_size": step_size,
        }
        run.log_metrics(metrics, step=int(learnt))
        share = done + number / len(rounds) / len(FILES)
        run.progress(share, 1.0, f"{kind} policy {test.accuracy:.1%} of held-out moves")
    return points


def epoch_rounds(params: TrainRolloutPolicyParams, games: int, epoch: int) -> list[list[list[int]]]:
    """All games in an order of this epoch's own, cut into rounds of shards of games."""
    order = np.random.default_rng([params.seed, epoch]).permutation(games)
    count = max(1, games // (params.shards * params.games_per_shard))
    return [
        [_numbers(shard) for shard in np.array_split(part, params.shards)]
        for part in np.array_split(order, count)
    ]


def _numbers(values: NDArray[np.int64]) -> list[int]:
    return [int(value) for value in values]


def summary(metrics: dict[str, float]) -> str:
    if not metrics["test/rows"]:
        return "no held-out positions to score"
    return (
        f"the rollout policy predicts {metrics['test/accuracy']:.1%}, the tree policy "
        f"{metrics['test/tree_accuracy']:.1%} of {metrics['test/rows']:,.0f} held-out moves"
    )
