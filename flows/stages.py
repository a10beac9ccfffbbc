"""The table of contents: every stage, what it takes and gives. Free of heavy imports."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Literal, NamedTuple, get_args

from tasks import params
from tasks.errors import UserError

StageName = Literal[
    "parse-games",
    "train-rollout-policy",
    "train-sl-policy",
    "train-rl-policy",
    "generate-value-set",
    "train-value-network",
    "evaluate-tournament",
]
PIPELINE = "pipeline"


class Stage(NamedTuple):
    """A stage. `inputs` are the outputs of others that it takes, `optional` those it can do without."""

    name: StageName
    about: str
    params: type[params.StageParams]
    inputs: tuple[str, ...]
    optional: tuple[str, ...]
    outputs: tuple[str, ...]

    @property
    def section(self) -> str:
        """Its name in Python: of its module, its flow function, and its part of a profile."""
        return self.name.replace("-", "_")

    @property
    def all_inputs(self) -> tuple[str, ...]:
        return self.inputs + self.optional

    def flow(self) -> Any:
        """Its Prefect flow; imports Prefect."""
        return getattr(import_module(f"flows.{self.section}"), self.section)


STAGES: dict[str, Stage] = {
    stage.name: stage
    for stage in (
        Stage(
            "parse-games",
            "Read game records and turn them into training positions",
            params.ParseGamesParams,
            inputs=(),
            optional=("games",),
            outputs=("games", "positions"),
        ),
        Stage(
            "train-rollout-policy",
            "Fit the fast pattern policies of rollouts and of the tree",
            params.TrainRolloutPolicyParams,
            inputs=("games",),
            optional=(),
            outputs=("rollout_policy", "tree_policy"),
        ),
        Stage(
            "train-sl-policy",
            "Train the policy network on the experts' moves",
            params.TrainSlPolicyParams,
            inputs=("positions",),
            optional=(),
            outputs=("sl_policy",),
        ),
        Stage(
            "train-rl-policy",
            "Improve the policy network by self-play against a pool of its past",
            params.TrainRlPolicyParams,
            inputs=("sl_policy",),
            optional=("value_network",),
            outputs=("rl_policy",),
        ),
        Stage(
            "generate-value-set",
            "Play games and keep one position of each with its outcome",
            params.GenerateValueSetParams,
            inputs=("sl_policy", "rl_policy"),
            optional=(),
            outputs=("value_set",),
        ),
        Stage(
            "train-value-network",
            "Train the value network on the outcomes of self-play",
            params.TrainValueNetworkParams,
            inputs=("value_set",),
            optional=(),
            outputs=("value_network",),
        ),
        Stage(
            "evaluate-tournament",
            "Let the players meet and rate them",
            params.EvaluateTournamentParams,
            inputs=(),
            optional=("sl_policy", "rl_policy", "value_network", "rollout_policy", "tree_policy", "openings"),
            outputs=("games", "crosstable", "ratings"),
        ),
    )
}
assert tuple(STAGES) == get_args(StageName)


def stage(name: str) -> Stage:
    """Raises UserError, listing the stages, when there is none of that name."""
    if name not in STAGES:
        raise UserError(f"no stage {name!r}; there are {', '.join([*STAGES, PIPELINE])}")
    return STAGES[name]


def dependents(name: str) -> list[str]:
    """A stage and the later stages that depend on it, in order.

    The second pass leads from the value network back to the RL policy; there the changed input itself is what
    makes new work.
    """
    order = list(STAGES)
    found, made = [name], set(STAGES[name].outputs)
    for later in order[order.index(name) + 1 :]:
        if made & set(STAGES[later].all_inputs):
            found.append(later)
            made |= set(STAGES[later].outputs)
    return found
