"""Stage 4: improve the policy network by self-play against a pool of its past (REINFORCE)."""

from __future__ import annotations

from prefect import flow, task
from prefect.cache_policies import NO_CACHE

from flows.params import Profile, Reuse, TrainRlPolicyParams
from flows.stage import OpenStage, open_stage
from tasks.store import StageResult

NAME = "train-rl-policy"


@task(name="train-rl-policy: train", cache_policy=NO_CACHE)
def train(stage: OpenStage[TrainRlPolicyParams]) -> None:
    from tasks.train_rl_policy import run_train_rl_policy

    stage.finish(run_train_rl_policy(stage.params, stage.paths, stage.folder, stage.run))


@flow(name=NAME)
def train_rl_policy(
    params: TrainRlPolicyParams = TrainRlPolicyParams(),  # noqa: B008  frozen
    sl_policy: str = "",
    value_network: str = "",
    profile: Profile = "paper",
    reuse: Reuse = "same-code",
) -> StageResult:
    """Stage 4: improve the policy network by self-play against a pool of its past (REINFORCE).

    Args:
        params: The stage's parameters; what is not given comes from the profile.
        sl_policy: The policy to start from: run id, registered model, folder or file; empty: the newest.
        value_network: The baseline of the second pass, named likewise; empty: no baseline.
        profile: Gives the parameters not set here, and says whose newest results are taken as inputs.
        reuse: Whether identical finished work is taken instead of done again.
    """
    references = {"sl_policy": sl_policy, "value_network": value_network}
    with open_stage(NAME, params, references, profile, reuse) as stage:
        if not stage.reused:
            train(stage)
    return stage.returned()
