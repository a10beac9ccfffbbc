"""Players that think with networks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from go_engine import Board, planes_batch
from go_engine.players import SamplingPlayer
from models.evaluators import PolicyEvaluator


class PolicyPlayer(SamplingPlayer):
    """Plays by a policy network alone, without search; all boards of a call are one batch."""

    def __init__(
        self,
        evaluator: PolicyEvaluator,
        seed: int = 0,
        temperature: float = 0.0,
        name: str = "policy",
        threads: int = 1,
    ) -> None:
        super().__init__(name, seed, temperature)
        self.evaluator, self.threads = evaluator, threads
        self.size = evaluator.size

    def new_game(self, size: int, komi: float) -> None:
        if size != self.size:
            raise ValueError(f"{self.name} plays on {self.size}x{self.size}, not on {size}x{size}")
        super().new_game(size, komi)

    def probabilities(self, boards: Sequence[Board]) -> NDArray[np.float32]:
        return self.evaluator.probabilities(planes_batch(list(boards), threads=self.threads))
