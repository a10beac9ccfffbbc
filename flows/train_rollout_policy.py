"""Stage 2: fit the linear softmax policies of rollouts and of the tree on human moves."""

from __future__ import annotations

from prefect import flow, task
from prefect.cache_policies import NO_CACHE

from flows.params import Profile, Reuse, TrainRolloutPolicyParams
from flows.stage import OpenStage, open_stage
from tasks.store import StageResult

NAME = "train-rollout-policy"


@task(name="train-rollout-policy: fit", cache_policy=NO_CACHE)
def fit(stage: OpenStage[TrainRolloutPolicyParams]) -> None:
    from tasks.train_rollout_policy import run_train_rollout_policy

    stage.finish(run_train_rollout_policy(stage.params, stage.paths, stage.folder, stage.run))


@flow(name=NAME)
def train_rollout_policy(
    params: TrainRolloutPolicyParams = TrainRolloutPolicyParams(),  # noqa: B008  frozen
    games: str = "",
    profile: Profile = "paper",
    reuse: Reuse = "same-code",
) -> StageResult:
    """Stage 2: fit the linear softmax policies of rollouts and of the tree on human moves.

    Args:
        params: The stage's parameters; what is not given comes from the profile.
        games: The games to learn from: run id, work folder or dataset folder; empty: the newest.
        profile: Gives the parameters not set here, and says whose newest results are taken as inputs.
        reuse: Whether identical finished work is taken instead of done again.
    """
    with open_stage(NAME, params, {"games": games}, profile, reuse) as stage:
        if not stage.reused:
            fit(stage)
    return stage.returned()
