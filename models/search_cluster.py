"""The distributed search on Ray: the tree in this process, network workers and rollout workers elsewhere.

Workers are actors. One that dies is started again by Ray wherever there is room, and what it was asked goes
to the others (`go_engine.shared_search`). All machines need the same package and see the models' files at
the same paths. Without an address the workers are processes of this machine, and Ray listens on loopback.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from go_engine import RolloutPolicy
from go_engine.search import Evaluators, Floats, Planes, Search
from go_engine.shared_search import Here, Root, SharedDrive, WorkerGone, WorkerLost, play_rollouts
from models.backends import BackendName
from models.checkpoint import load_policy, load_value
from models.evaluators import PolicyEvaluator, ValueEvaluator
from models.precision import Precision
from models.ray_connection import connected

START_SECONDS = 120.0  # for the workers of a cluster to load their models
ANSWER_SECONDS = 30.0  # a worker that takes longer counts as lost until it answers again


@dataclass(frozen=True)
class WorkerPlan:
    """How many workers of each kind, where, and with what; `gpus` is what a network worker takes of one."""

    networks: int = 0
    rollouts: int = 0
    address: str = ""  # of a Ray cluster that this machine is part of; empty: this machine alone
    gpus: float = 0.0
    policy: Path | None = None
    value: Path | None = None
    rollout: Path | None = None  # None: uniform rollouts
    size: int | None = None
    precision: Precision = "auto"
    backend: BackendName = "auto"


class SearchCluster:
    """The workers of a player, which all its games share one after the other.

    Raises ValueError when Ray is not installed, or the workers cannot be started.
    """

    def __init__(self, plan: WorkerPlan) -> None:
        self.plan = plan
        ray = connected(plan.address)
        cores = 1 if plan.address else 0  # on this machine alone nobody else is served
        keeps = {"max_restarts": -1, "num_cpus": cores}
        networks = ray.remote(_Networks).options(**keeps, num_gpus=plan.gpus)
        rollouts = ray.remote(_Rollouts).options(**keeps)
        self.networks = [RayWorker(networks.remote(plan)) for _ in range(plan.networks)]
        self.rollouts = [RayWorker(rollouts.remote(plan.rollout)) for _ in range(plan.rollouts)]
        self._wait_until_ready()

    def drive(self, search: Search, evaluators: Evaluators, threads: int, leaves: int) -> SharedDrive:
        """Search threads here, the rest there; `evaluators` answer when there are no network workers."""
        here = [Here(evaluators)] if evaluators.policy is not None or evaluators.value is not None else []
        return SharedDrive(search, self.networks or here, self.rollouts, threads, leaves)

    def close(self) -> None:
        """End the workers."""
        import ray

        for worker in (*self.networks, *self.rollouts):
            ray.kill(worker.actor, no_restart=True)

    def _wait_until_ready(self) -> None:
        end = time.monotonic() + START_SECONDS
        workers = [*self.networks, *self.rollouts]
        try:
            late = [w for w in workers if not w.back(max(0.0, end - time.monotonic()))]
        except WorkerGone as error:
            raise ValueError(f"a search worker does not start: {error}") from error
        if late:
            self.close()
            raise ValueError(
                f"{len(late)} of {len(workers)} search workers were not ready after {START_SECONDS:g} s: "
                "has the cluster room for them?"
            )


class RayWorker:
    """An actor, as network worker or rollout worker of `go_engine.shared_search`."""

    def __init__(self, actor: Any) -> None:
        self.actor = actor

    def answer(self, policy_planes: Planes, value_planes: Planes) -> tuple[Floats | None, Floats | None]:
        answer: tuple[Floats | None, Floats | None] = self._ask("answer", policy_planes, value_planes)
        return answer

    def winners(self, root: Root, paths: Sequence[Sequence[int]], seed: int) -> list[int]:
        winners: list[int] = self._ask("winners", root, paths, seed)
        return winners

    def back(self, seconds: float) -> bool:
        import ray
        from ray.exceptions import ActorDiedError, ActorUnavailableError, GetTimeoutError

        try:
            ray.get(self.actor.ready.remote(), timeout=seconds)
        except ActorDiedError as error:
            raise WorkerGone(str(error).strip().splitlines()[-1]) from error
        except (ActorUnavailableError, GetTimeoutError):
            return False
        return True

    def _ask(self, method: str, *arguments: Any) -> Any:
        import ray
        from ray.exceptions import GetTimeoutError, RayActorError

        try:
            return ray.get(getattr(self.actor, method).remote(*arguments), timeout=ANSWER_SECONDS)
        except (RayActorError, GetTimeoutError) as error:
            raise WorkerLost(str(error)) from error


class _Networks:
    """Body of a network worker."""

    def __init__(self, plan: WorkerPlan) -> None:
        how: dict[str, Any] = {"precision": plan.precision, "backend": plan.backend}
        how["device"] = "cuda" if plan.gpus else "cpu"
        policy = value = None
        if plan.policy is not None:
            policy = PolicyEvaluator(load_policy(plan.policy, plan.size), **how)
        if plan.value is not None:
            value = ValueEvaluator(load_value(plan.value, plan.size), **how)
        self.evaluators = Evaluators(policy, value)

    def ready(self) -> int:
        return os.getpid()

    def answer(self, policy_planes: Planes, value_planes: Planes) -> tuple[Floats | None, Floats | None]:
        return self.evaluators.answer(np.array(policy_planes), np.array(value_planes))  # Ray's are read-only


class _Rollouts:
    """Body of a rollout worker."""

    def __init__(self, policy: Path | None) -> None:
        self.policy = None if policy is None else RolloutPolicy.load(policy)

    def ready(self) -> int:
        return os.getpid()

    def winners(self, root: Root, paths: Sequence[Sequence[int]], seed: int) -> list[int]:
        return play_rollouts(root, paths, self.policy, seed)
