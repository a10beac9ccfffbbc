"""Stage 7: let the players meet, and rate them."""

from __future__ import annotations

from prefect import flow, task
from prefect.cache_policies import NO_CACHE

from flows.params import EvaluateTournamentParams, Profile, Reuse
from flows.stage import OpenStage, open_stage
from tasks.store import StageResult

NAME = "evaluate-tournament"


@task(name="evaluate-tournament: play", cache_policy=NO_CACHE)
def play(stage: OpenStage[EvaluateTournamentParams]) -> None:
    from tasks.evaluate_tournament import run_evaluate_tournament

    stage.finish(run_evaluate_tournament(stage.params, stage.paths, stage.folder, stage.run))


@flow(name=NAME)
def evaluate_tournament(
    params: EvaluateTournamentParams = EvaluateTournamentParams(),  # noqa: B008  frozen
    sl_policy: str = "",
    rl_policy: str = "",
    value_network: str = "",
    rollout_policy: str = "",
    tree_policy: str = "",
    openings: str = "",
    profile: Profile = "paper",
    reuse: Reuse = "same-code",
) -> StageResult:
    """Stage 7: let the players meet, and rate them.

    Args:
        params: The stage's parameters; what is not given comes from the profile.
        sl_policy: The SL policy: run id, registered model, folder or file; empty: the newest, if any.
        rl_policy: The RL policy, likewise.
        value_network: The value network, likewise.
        rollout_policy: The rollout policy, likewise.
        tree_policy: The tree policy, likewise.
        openings: Game records (file, folder or archive) whose first moves open games; empty: random moves.
        profile: Gives the parameters not set here, and says whose newest results are taken as inputs.
        reuse: Whether identical finished work is taken instead of done again.
    """
    references = {
        "sl_policy": sl_policy,
        "rl_policy": rl_policy,
        "value_network": value_network,
        "rollout_policy": rollout_policy,
        "tree_policy": tree_policy,
        "openings": openings,
    }
    with open_stage(NAME, params, references, profile, reuse, newest_optional=True) as stage:
        if not stage.reused:
            play(stage)
    return stage.returned()
