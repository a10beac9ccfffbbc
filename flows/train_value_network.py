"""Stage 6: train the value network to predict the outcome of self-play."""

from __future__ import annotations

from prefect import flow, task
from prefect.cache_policies import NO_CACHE

from flows.params import Profile, Reuse, TrainValueNetworkParams
from flows.stage import OpenStage, open_stage
from tasks.store import StageResult

NAME = "train-value-network"


@task(name="train-value-network: train", cache_policy=NO_CACHE)
def train(stage: OpenStage[TrainValueNetworkParams]) -> None:
    from tasks.train_value_network import run_train_value_network

    stage.finish(run_train_value_network(stage.params, stage.paths, stage.folder, stage.run))


@flow(name=NAME)
def train_value_network(
    params: TrainValueNetworkParams = TrainValueNetworkParams(),  # noqa: B008  frozen
    value_set: str = "",
    profile: Profile = "paper",
    reuse: Reuse = "same-code",
) -> StageResult:
    """Stage 6: train the value network to predict the outcome of self-play.

    Args:
        params: The stage's parameters; what is not given comes from the profile.
        value_set: The positions with outcomes: run id, work folder or dataset folder; empty: the newest.
        profile: Gives the parameters not set here, and says whose newest results are taken as inputs.
        reuse: Whether identical finished work is taken instead of done again.
    """
    with open_stage(NAME, params, {"value_set": value_set}, profile, reuse) as stage:
        if not stage.reused:
            train(stage)
    return stage.returned()
