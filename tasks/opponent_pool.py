"""The pool of opponents of reinforcement learning: earlier weights of the policy, one checkpoint each."""

from __future__ import annotations

import shutil
from functools import lru_cache
from pathlib import Path

import numpy as np

from models.checkpoint import load_policy, save_checkpoint
from models.evaluators import PolicyEvaluator
from models.networks import PolicyNet
from tasks.params import TrainRlPolicyParams

OPPONENT_STREAM = 1  # of random numbers: which opponent an iteration meets
KEPT_READY = 8  # opponents whose networks stay in memory


class OpponentPool:
    """Weights after iterations 0 (the SL policy), k, 2k, ... in a folder of checkpoints.

    Who is in the pool, and whom an iteration meets, follow from the iteration alone, so that a resumed
    training goes on exactly.
    """

    def __init__(self, folder: Path, params: TrainRlPolicyParams, device: str) -> None:
        self.folder = folder
        self._params = params
        self._evaluator = lru_cache(KEPT_READY)(self._load)
        self._device = device

    def members(self, iteration: int) -> range:
        """Iterations whose weights are in the pool when `iteration` (0-based) is played."""
        return range(0, iteration + 1, self._params.pool_every)

    def add(self, iteration: int, net: PolicyNet) -> None:
        """Put the weights after `iteration` iterations into the pool."""
        save_checkpoint(self.path(iteration), net, {"rl_iterations": iteration})

    def draw(self, iteration: int) -> int:
        """The opponent of an iteration: uniform over the pool."""
        generator = np.random.default_rng([self._params.seed, OPPONENT_STREAM, iteration])
        members = self.members(iteration)
        return members[int(generator.integers(len(members)))]

    def evaluator(self, member: int) -> PolicyEvaluator:
        return self._evaluator(member)

    def path(self, member: int) -> Path:
        return self.folder / f"iteration-{member:06d}.safetensors"

    def clear(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def _load(self, member: int) -> PolicyEvaluator:
        net = load_policy(self.path(member), self._params.board_size)
        compute = self._params.compute
        return PolicyEvaluator(net, 1, compute.precision, self._params.network_batch, self._device)
