"""Stage 3: train the policy network to predict the experts' moves."""

from __future__ import annotations

from prefect import flow, task
from prefect.cache_policies import NO_CACHE

from flows.params import Profile, Reuse, TrainSlPolicyParams
from flows.stage import OpenStage, open_stage
from tasks.store import StageResult

NAME = "train-sl-policy"


@task(name="train-sl-policy: train", cache_policy=NO_CACHE)
def train(stage: OpenStage[TrainSlPolicyParams]) -> None:
    from tasks.train_sl_policy import run_train_sl_policy

    stage.finish(run_train_sl_policy(stage.params, stage.paths, stage.folder, stage.run))


@flow(name=NAME)
def train_sl_policy(
    params: TrainSlPolicyParams = TrainSlPolicyParams(),  # noqa: B008  frozen
    positions: str = "",
    profile: Profile = "paper",
    reuse: Reuse = "same-code",
) -> StageResult:
    """Stage 3: train the policy network to predict the experts' moves.

    Args:
        params: The stage's parameters; what is not given comes from the profile.
        positions: The positions to learn from: run id, work folder or dataset folder; empty: the newest.
        profile: Gives the parameters not set here, and says whose newest results are taken as inputs.
        reuse: Whether identical finished work is taken instead of done again.
    """
    with open_stage(NAME, params, {"positions": positions}, profile, reuse) as stage:
        if not stage.reused:
            train(stage)
    return stage.returned()
