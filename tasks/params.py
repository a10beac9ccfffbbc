"""The parameters of every stage: pydantic models with the paper's values as defaults.

Each field has a description (with its unit) and bounds: Prefect shows them as a form, the command line
refuses what lies outside, the stage's documentation page is made from them. `flows.params` re-exports these
and lays a profile and `--set` over them.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

BoardSize = Annotated[int, Field(ge=5, le=19, description="Points on a side of the board.")]


class StageParams(BaseModel):
    """What all stages have. Frozen, so that a run's parameters cannot drift from what was logged."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: int = Field(
        0, ge=0, lt=2**31, description="Seed of every random choice; the same seed gives the same result."
    )
    board_size: BoardSize = 19
    threads: int = Field(0, ge=0, le=1024, description="Threads for engine and network; 0 takes every core.")


# --- training of the networks (train-sl-policy, train-value-network) ---


class OptimizerParams(BaseModel):
    """Stochastic gradient descent and its step size; the defaults are the paper's: no momentum, halving."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    momentum: float = Field(0.0, ge=0.0, lt=1.0, description="Momentum of the descent; 0 for none.")
    nesterov: bool = Field(False, description="Nesterov's form of the momentum.")
    weight_decay: float = Field(
        0.0, ge=0.0, le=1.0, description="Coefficient of the weights' square in the loss; 0 for none."
    )
    schedule: Literal["halving", "linear", "cosine", "constant"] = Field(
        "halving", description="How the learning rate falls: by halves, or to `final_share` over all steps."
    )
    halve_every: int = Field(
        80_000_000, ge=1, description="Steps after which the learning rate is halved (schedule halving)."
    )
    warmup_steps: int = Field(
        0, ge=0, description="Steps over which the learning rate rises linearly from 0."
    )
    final_share: float = Field(
        0.0,
        ge=0.0,
        le=1.0,
        description="Share of the learning rate left at the end (schedules linear, cosine).",
    )
    gradient_clip: float | None = Field(
        None, gt=0.0, description="Largest norm of a step's gradient; none: gradients are not clipped."
    )


class ComputeParams(BaseModel):
    """How the network is computed; changes speed and the last digits, not what is learnt."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    device: Literal["auto", "cpu", "cuda"] = Field("auto", description="auto: a GPU when there is one.")
    precision: Literal["float32", "bfloat16"] = Field(
        "float32", description="bfloat16: mixed precision, weights stay float32; faster where supported."
    )
    channels_last: bool = Field(
        False, description="Memory layout with the planes innermost; faster, most of all with bfloat16."
    )
    compile: bool = Field(False, description="Compile the network with torch.compile (needs a C++ compiler).")


class EvaluationParams(BaseModel):
    """When and on what the held-out test split is evaluated."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    every: int = Field(100_000, ge=0, description="Steps between evaluations on the way; 0: only at the end.")
    rows: int = Field(
        20_000, ge=0, description="Rows of the test split used for evaluations on the way; 0: all."
    )
    final_rows: int = Field(0, ge=0, description="Rows of the test split used at the end; 0: all.")
    symmetries: tuple[Annotated[int, Field(ge=1, le=8)], ...] = Field(
        (1, 8), min_length=1, description="Sizes of the symmetry ensembles evaluated at the end."
    )


class TrainingParams(StageParams):
    """What the training of the policy and of the value network have in common."""

    filters: int = Field(192, ge=1, le=4096, description="Filters of each convolution (k in the paper).")
    layers: int = Field(
        12,
        ge=1,
        le=100,
        description="Convolutions before the 1x1 convolution; the first is 5x5, the rest 3x3.",
    )
    learning_rate: float = Field(
        0.003, gt=0.0, le=10.0, description="Step size of the descent, before warm-up and decay."
    )
    batch_size: int = Field(16, ge=1, le=65_536, description="Positions a step, over all processes together.")
    steps: int = Field(340_000_000, ge=1, description="Steps in all.")
    log_every: int = Field(
        1_000, ge=1, description="Steps between two points of the training curves; each is a mean over them."
    )
    checkpoint_every: int = Field(
        10_000, ge=1, description="Steps between two states on disk from which training can go on."
    )
    optimizer: OptimizerParams = OptimizerParams()
    compute: ComputeParams = ComputeParams()
    evaluation: EvaluationParams = EvaluationParams()


class TrainSlPolicyParams(TrainingParams):
    """Stage 3: the policy network learns the experts' moves."""

    planes: int = Field(
        48,
        ge=1,
        le=48,
        description="Input planes used, the first of the 48 (ED Table 3 compares 4, 12, 20, 48).",
    )


class TrainValueNetworkParams(TrainingParams):
    """Stage 6: the value network learns the outcomes of self-play games."""

    batch_size: int = Field(32, ge=1, le=65_536, description="Positions a step, over all processes together.")
    steps: int = Field(50_000_000, ge=1, description="Steps in all.")
    hidden: int = Field(
        256, ge=1, le=65_536, description="Rectifiers of the fully connected layer before the output."
    )
    augment: bool = Field(
        False,
        description="Show each position in a random one of its 8 symmetries; the paper does not say so.",
    )


# --- the other stages ---


class ParseGamesParams(StageParams):
    """Stage 1: game records to training positions."""


class TrainRolloutPolicyParams(StageParams):
    """Stage 2: the fast pattern policies of rollouts and of the tree."""


class SelfPlayParams(StageParams):
    """What the stages that play games between networks have in common."""

    komi: float = Field(7.5, ge=-361.0, le=361.0, description="Points that White gets for playing second.")
    network_batch: int = Field(
        256,
        ge=1,
        le=65_536,
        description="Positions in one network call; games are evaluated in full batches.",
    )
    compute: ComputeParams = ComputeParams()


class TrainRlPolicyParams(SelfPlayParams):
    """Stage 4: the policy network improves by playing against a pool of its past."""

    iterations: int = Field(
        10_000, ge=1, description="Updates of the weights, each from one minibatch of games."
    )
    games: int = Field(
        128, ge=2, multiple_of=2, le=65_536, description="Games an iteration, half of them with each colour."
    )
    learning_rate: float = Field(
        0.001, gt=0.0, le=10.0, description="Step size alpha of the ascent; the paper does not give it."
    )
    pool_every: int = Field(
        500, ge=1, description="Iterations after which the current weights join the pool of opponents."
    )
    network_batch: int = Field(
        64, ge=1, le=65_536, description="Positions in one network call; half the games suits lock-step play."
    )
    replay_batch: int = Field(
        1024, ge=1, le=65_536, description="Positions replayed at once for the gradient; bounds the memory."
    )
    evaluate_every: int = Field(
        500, ge=0, description="Iterations between two matches against the SL policy; 0: only at the end."
    )
    evaluation_games: int = Field(
        400, ge=2, multiple_of=2, description="Games of such a match, half of them with each colour."
    )
    checkpoint_every: int = Field(
        20, ge=1, description="Iterations between two states on disk from which training can go on."
    )
    entropy_warning: float = Field(
        0.25,
        ge=0.0,
        le=1.0,
        description="Warn when the policy's entropy has fallen below this share of what it was at first.",
    )


class GenerateValueSetParams(SelfPlayParams):
    """Stage 5: one position of each of many games, with its outcome.

    The paper says that the first two phases sample from noisier distributions, not from which. Here the first
    samples at `sl_temperature`; the second, the uniform move, is as noisy as can be.
    """

    positions: int = Field(30_000_000, ge=1, description="Games, and so positions, in all.")
    shard_positions: int = Field(
        100_000, ge=1, le=10_000_000, description="Positions in a shard, the unit of work that can be lost."
    )
    test_share: float = Field(
        0.02,
        ge=0.0,
        le=0.5,
        description="Share of each shard's positions that is held out as the test split.",
    )
    largest_u: int = Field(
        450,
        ge=1,
        le=700,
        description="U is drawn from 1 to this on 19x19; scaled with the number of points on smaller boards.",
    )
    sl_temperature: float = Field(
        1.5, gt=0.0, le=10.0, description="Temperature of the SL policy before move U; above 1 is noisier."
    )
    rl_temperature: float = Field(
        1.0, gt=0.0, le=10.0, description="Temperature of the RL policy after move U; 1 is the policy itself."
    )
    network_batch: int = Field(
        512,
        ge=1,
        le=65_536,
        description="Positions in one network call; games are evaluated in full batches.",
    )
    parallel_games: int = Field(
        2048, ge=1, le=262_144, description="Games at once in a shard; three batches or more keep calls full."
    )


class EvaluateTournamentParams(StageParams):
    """Stage 7: the players meet and are rated."""
