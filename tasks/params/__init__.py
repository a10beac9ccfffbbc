"""The parameters of every stage: pydantic models with the paper's values as defaults.

Each field has a description (with its unit) and bounds: Prefect shows them as a form, the command line
refuses what lies outside, the stage's documentation page is made from them. `flows.params` re-exports these
and lays a profile and `--set` over them.
"""

from tasks.params.base import PARAMETERS, BoardSize, RayParams, StageParams, bounds
from tasks.params.games import ParseGamesParams, TrainRolloutPolicyParams
from tasks.params.networks import (
    AccuracyTableParams,
    ComputeParams,
    EvaluationParams,
    GridPoint,
    InferenceParams,
    LayoutParams,
    OptimizerParams,
    TrainingParams,
    TrainSlPolicyParams,
    TrainValueNetworkParams,
    ValueByStageParams,
)
from tasks.params.self_play import GenerateValueSetParams, SelfPlayParams, TrainRlPolicyParams
from tasks.params.tournament import (
    GNU_GO,
    EvaluateTournamentParams,
    GuestParams,
    RatingParams,
    SearchScalingParams,
    VariantsParams,
)

__all__ = [
    "GNU_GO",
    "PARAMETERS",
    "AccuracyTableParams",
    "BoardSize",
    "ComputeParams",
    "EvaluateTournamentParams",
    "EvaluationParams",
    "GenerateValueSetParams",
    "GridPoint",
    "GuestParams",
    "InferenceParams",
    "LayoutParams",
    "OptimizerParams",
    "ParseGamesParams",
    "RatingParams",
    "RayParams",
    "SearchScalingParams",
    "SelfPlayParams",
    "StageParams",
    "TrainRlPolicyParams",
    "TrainRolloutPolicyParams",
    "TrainSlPolicyParams",
    "TrainValueNetworkParams",
    "TrainingParams",
    "ValueByStageParams",
    "VariantsParams",
    "bounds",
]
