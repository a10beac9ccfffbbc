"""Parameters of the stages that play games with the networks: reinforcement learning, the value set."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tasks.params.base import RayParams, StageParams
from tasks.params.networks import InferenceParams, LayoutParams


class SelfPlayParams(StageParams):
    """What the stages that play games between networks have in common."""

    komi: float = Field(7.5, ge=-361.0, le=361.0, description="Points that White gets for playing second.")
    network_batch: int = Field(
        256,
        ge=1,
        le=65_536,
        description="Positions in one network call; games are evaluated in full batches.",
    )


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
    compute: LayoutParams = LayoutParams()


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
        1.25, gt=0.0, le=10.0, description="Temperature of the SL policy before move U; above 1 is noisier."
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
    runner: Literal["threads", "processes", "ray"] = Field(
        "processes",
        description="Who makes shards: the threads of this process, one shard after the other; `workers` "
        "processes of this machine; or tasks on a Ray cluster.",
    )
    workers: int = Field(
        1,
        ge=1,
        le=1024,
        description="Shards that are made at the same time, each with `threads`; a Ray cluster that is not "
        "this machine alone makes as many as it has room for.",
    )
    ray: RayParams = RayParams()
    compute: InferenceParams = InferenceParams()
