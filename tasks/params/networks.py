"""Parameters of the stages that train networks, and of the experiments on them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from tasks.params.base import PARAMETERS, StageParams


class OptimizerParams(BaseModel):
    """How the weights follow the gradient; the defaults are the paper's: no momentum, the rate halved."""

    model_config = PARAMETERS

    kind: Literal["sgd", "muon"] = Field(
        "sgd",
        description="sgd: gradient descent; muon: orthogonal steps for the convolutions, Adam for the rest.",
    )
    adam_share: float = Field(
        0.3, gt=0.0, le=100.0, description="Learning rate of Adam as a share of the convolutions' (muon)."
    )
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


class InferenceParams(BaseModel):
    """How networks that only answer are computed; changes speed and the last digits."""

    model_config = PARAMETERS

    device: Literal["auto", "cpu", "cuda"] = Field("auto", description="auto: a GPU when there is one.")
    precision: Literal["auto", "float32", "bfloat16"] = Field(
        "float32",
        description="bfloat16: mixed precision, weights stay float32; auto: bfloat16 where it is fast.",
    )


class LayoutParams(InferenceParams):
    """How a network that learns is computed in one process; not what it learns."""

    channels_last: bool = Field(
        False, description="Memory layout with the planes innermost; faster, most of all with bfloat16."
    )


class ComputeParams(LayoutParams):
    """How the trainer computes the network, in one process or several; not what it learns."""

    compile: bool = Field(False, description="Compile the network with torch.compile (needs a C++ compiler).")
    processes: int = Field(
        1, ge=1, le=1024, description="Processes of this machine that share each batch; one a GPU, or a core."
    )


class EvaluationParams(BaseModel):
    """When and on what the held-out test split is evaluated."""

    model_config = PARAMETERS

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


class ValueByStageParams(StageParams):
    """Fig. 2b: the error of the value network and of rollouts, by stage of the game."""

    games: int = Field(500, ge=1, description="Held-out games used; each gives one position of every stage.")
    stage_moves: int = Field(30, ge=1, description="Moves that make up one stage of the game.")
    rollouts: int = Field(100, ge=1, description="Rollouts that one position is judged by.")
    temperature: float = Field(
        1.0, gt=0.0, le=10.0, description="Temperature of the networks' moves in their rollouts."
    )
    compute: InferenceParams = InferenceParams()


class GridPoint(BaseModel):
    """A network of the accuracy table."""

    model_config = PARAMETERS

    filters: int = Field(192, ge=1, le=4096, description="Filters of each convolution.")
    planes: int = Field(48, ge=1, le=48, description="Input planes used, the first of the 48.")


class AccuracyTableParams(TrainSlPolicyParams):
    """ED Table 3: what filters, input planes and ensembles of symmetries do to the accuracy.

    Every network is trained with the parameters of stage 3, but for its filters and planes.
    """

    grid: tuple[GridPoint, ...] = Field(
        (
            GridPoint(filters=128),
            GridPoint(filters=192),
            GridPoint(filters=256),
            GridPoint(planes=4),
            GridPoint(planes=12),
            GridPoint(planes=20),
        ),
        min_length=1,
        description="The networks.",
    )
    ensembles: tuple[Annotated[int, Field(ge=1, le=8)], ...] = Field(
        (1, 2, 4, 8), min_length=1, description="Sizes of the symmetry ensembles."
    )
    games: int = Field(
        400,
        ge=0,
        le=1_000_000,
        multiple_of=2,
        description="Games of each network, as a bare policy, against the one of `filters` and `planes` (or "
        "else the first of the grid); 0: none.",
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
