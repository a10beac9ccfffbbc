"""How good a network is on held-out rows: accuracy and likelihood of a policy, squared error of values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.evaluators import PolicyEvaluator, ValueEvaluator
from models.networks import PolicyNet, ValueNet
from tasks.batches import Batch
from tasks.distributed import pick_device
from tasks.objectives import TOP
from tasks.params import InferenceParams

SMALLEST_PROBABILITY = 1e-12  # what a probability of 0 counts as in a likelihood


@dataclass(frozen=True)
class PolicyScore:
    """Means over `rows`: move is the net's first, is in its first five, its log probability (nats)."""

    rows: int
    accuracy: float
    top5_accuracy: float
    log_likelihood: float

    def metrics(self, symmetries: int = 1) -> dict[str, float]:
        """By name; an ensemble's names end in its size, as in accuracy_8."""
        end = "" if symmetries == 1 else f"_{symmetries}"
        return {
            f"accuracy{end}": self.accuracy,
            f"top5_accuracy{end}": self.top5_accuracy,
            f"log_likelihood{end}": self.log_likelihood,
        }


def score_policy(
    net: PolicyNet, batches: Iterable[Batch], compute: InferenceParams, symmetries: int = 1
) -> PolicyScore:
    """Score a policy on all rows of the batches; all zero when there are none."""
    device = str(pick_device(compute.device))
    evaluator = PolicyEvaluator(net, symmetries, compute.precision, device=device)
    first, five, likelihood, seen = 0, 0, 0.0, 0
    for batch in batches:
        probabilities = evaluator.probabilities(batch.planes)
        of_move = probabilities[np.arange(len(batch.moves)), batch.moves]
        better = (probabilities > of_move[:, None]).sum(axis=1)
        first += int((better == 0).sum())
        five += int((better < TOP).sum())
        likelihood += float(np.log(np.maximum(of_move, SMALLEST_PROBABILITY)).sum(dtype=np.float64))
        seen += len(batch.moves)
    count = max(seen, 1)
    return PolicyScore(seen, first / count, five / count, likelihood / count)


@dataclass(frozen=True)
class ValuePredictions:
    """A value network's answers beside what happened, row by row, both from the player to move's view."""

    values: NDArray[np.float32]
    outcomes: NDArray[np.float32]

    @property
    def mse(self) -> float:
        """Mean squared error, (z - v)^2; a net that always says 0 has 1."""
        if not len(self.values):
            return 0.0
        return float(np.mean((self.values.astype(np.float64) - self.outcomes) ** 2))

    @property
    def sign_accuracy(self) -> float:
        """Share of rows in which the winner is foretold."""
        return float(np.mean(self.values * self.outcomes > 0)) if len(self.values) else 0.0


def predict_values(
    net: ValueNet, batches: Iterable[Batch], compute: InferenceParams, symmetries: int = 1
) -> ValuePredictions:
    """A value network's answers on all rows of the batches."""
    device = str(pick_device(compute.device))
    evaluator = ValueEvaluator(net, symmetries, compute.precision, device=device)
    values: list[NDArray[np.float32]] = []
    outcomes: list[NDArray[np.float32]] = []
    for batch in batches:
        values.append(evaluator.values(batch.planes))
        outcomes.append(batch.outcomes)
    if not values:
        return ValuePredictions(np.zeros(0, np.float32), np.zeros(0, np.float32))
    return ValuePredictions(np.concatenate(values), np.concatenate(outcomes))
