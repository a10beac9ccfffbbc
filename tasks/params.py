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
    precision: Literal["auto", "float32", "bfloat16"] = Field(
        "float32",
        description="bfloat16: mixed precision, weights stay float32; auto: bfloat16 where it is fast.",
    )
    channels_last: bool = Field(
        False, description="Memory layout with the planes innermost; faster, most of all with bfloat16."
    )
    compile: bool = Field(False, description="Compile the network with torch.compile (needs a C++ compiler).")
    processes: int = Field(
        1, ge=1, le=1024, description="Processes of this machine that share each batch; one a GPU, or a core."
    )


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


class ValueByStageParams(StageParams):
    """Fig. 2b: the error of the value network and of rollouts, by stage of the game."""

    games: int = Field(500, ge=1, description="Held-out games used; each gives one position of every stage.")
    stage_moves: int = Field(30, ge=1, description="Moves that make up one stage of the game.")
    rollouts: int = Field(100, ge=1, description="Rollouts that one position is judged by.")
    temperature: float = Field(
        1.0, gt=0.0, le=10.0, description="Temperature of the networks' moves in their rollouts."
    )
    compute: ComputeParams = ComputeParams()


class GridPoint(BaseModel):
    """A network of the accuracy table."""

    model_config = ConfigDict(frozen=True, extra="forbid")

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

    ko_rule: Literal["simple", "positional", "situational"] = Field(
        "simple", description="Rule under which recorded games are replayed."
    )
    keep_before_illegal: bool = Field(
        False,
        description="Keep the moves before an illegal one; the game stands in the quarantine either way.",
    )
    min_rank: Annotated[str, Field(pattern=r"^[1-9][0-9]?[dkp]$")] | None = Field(
        "6d", description="Weakest rank (6d, 3k, 1p); none: any. The paper: KGS, 6 to 9 dan."
    )
    both_ranks: bool = Field(False, description="Whether both players must have that rank, or the stronger.")
    keep_unranked: bool = Field(False, description="Keep games in which no player's rank is known.")
    min_moves: int = Field(10, ge=0, le=2000, description="Fewest moves of a game.")
    rules: tuple[str, ...] = Field(
        (), description="Rulesets that are kept, as the records write them; none: all."
    )
    results: tuple[Literal["resign", "points", "time", "forfeit", "won", "draw", "unknown"], ...] = Field(
        (), description="Kinds of result that are kept; none: all."
    )
    date_from: Annotated[str, Field(pattern=r"^\d{4}(-\d\d(-\d\d)?)?$")] | None = Field(
        None, description="First date that is kept (2001, 2001-06 or 2001-06-30)."
    )
    date_to: Annotated[str, Field(pattern=r"^\d{4}(-\d\d(-\d\d)?)?$")] | None = Field(
        None, description="Last date that is kept."
    )
    max_handicap: int | None = Field(
        None, ge=0, le=40, description="Most handicap stones of a game; none: any number."
    )
    max_handicap_share: float = Field(
        1.0, ge=0.0, le=1.0, description="Largest share of handicap games; the paper's corpus has 35.4%."
    )
    max_games: int = Field(0, ge=0, description="Most games that are kept, the first ones; 0: all.")
    duplicates: Literal["symmetry", "exact"] = Field(
        "symmetry",
        description="What counts as the same game: turned and mirrored ones too, or only exact copies.",
    )
    test_positions: int = Field(
        1_000_000, ge=0, description="Positions of the test split: the first of the corpus, whole games."
    )
    max_test_share: float = Field(
        0.1, ge=0.0, lt=1.0, description="Largest share of all positions that the test split may take."
    )
    symmetries: Literal[1, 8] = Field(
        8,
        description="Symmetries stored of each training position; the test split stores the board as played.",
    )
    games_per_file: int = Field(1024, ge=1, le=65_536, description="Games in one parquet file.")
    files_per_chunk: int = Field(
        1024, ge=1, le=65_536, description="Game files read between two points from which a run can go on."
    )


class TrainRolloutPolicyParams(StageParams):
    """Stage 2: the fast pattern policies of rollouts and of the tree (Methods; ED Table 4)."""

    max_games: int = Field(0, ge=0, description="Most games to learn from, the first ones; 0: all.")
    nakade_minimum: int = Field(
        2, ge=1, description="Moves that must match a nakade pattern for it to be kept."
    )
    response_minimum: int = Field(
        20, ge=1, description="Moves that must match a 12-point response pattern for it to be kept."
    )
    pattern_minimum: int = Field(
        20,
        ge=1,
        description="Moves that must match a 3x3 pattern for it to be kept, if it is not seen often.",
    )
    pattern_seen_minimum: int = Field(
        400,
        ge=0,
        description="Times a 3x3 pattern must come up, played or not, to be kept; 0: no matter.",
    )
    diamond_minimum: int = Field(
        20,
        ge=1,
        description="Moves that must match a 12-point pattern around them to keep it (tree policy).",
    )
    epochs: int = Field(3, ge=1, le=1000, description="Times that every training position is learnt.")
    step_size: float = Field(
        0.05,
        gt=0.0,
        le=1.0,
        description="Step of the gradient ascent on one position's log likelihood, at first.",
    )
    final_step_size: float = Field(
        0.005, gt=0.0, le=1.0, description="The step at the end; between the two it falls geometrically."
    )
    l2: float = Field(
        1e-6,
        ge=0.0,
        le=1.0,
        description="Weight decay: each position pulls a weight by step * l2 * weight to 0.",
    )
    shards: int = Field(
        4,
        ge=1,
        le=1024,
        description="Parts of a round that learn side by side; they decide the result, threads do not.",
    )
    games_per_shard: int = Field(
        8,
        ge=1,
        le=4096,
        description="Games that a shard learns from before the shards' weights are brought together.",
    )
    evaluations: int = Field(
        12, ge=1, le=1000, description="Times that the held-out moves are scored during a training."
    )
    evaluation_games: int = Field(
        1000, ge=1, description="Most held-out games scored during training; all of them are at the end."
    )


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
    workers: int = Field(
        1, ge=1, le=1024, description="Processes that make shards at the same time, each with `threads`."
    )


class GuestParams(BaseModel):
    """An external program that speaks GTP."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    command: str = Field(
        description="Command line, split into words, never given to a shell; {seed} and {size} are filled in."
    )
    env: dict[str, str] = Field({}, description="Environment variables added to ours.")
    move_seconds: float = Field(
        60.0, gt=0.0, le=86_400.0, description="Longest wait for one answer, in seconds; then it hangs."
    )


GNU_GO = "gnugo --mode gtp --chinese-rules --capture-all-dead --seed {seed} --level"


class RatingParams(BaseModel):
    """BayesElo's model; its default settings give the paper's numbers."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    advantage: float = Field(32.8, ge=-1000.0, le=1000.0, description="Elo points in favour of White.")
    drawelo: float = Field(97.3, ge=0.0, le=1000.0, description="Width of the range of draws, in Elo points.")
    prior: float = Field(2.0, ge=0.0, le=1000.0, description="Virtual draws of each player.")
    scale: bool = Field(True, description="Scale ratings as BayesElo prints them.")
    anchors: dict[str, float] = Field(
        {"random": 0.0}, description="Elo of players that are held; those that do not play are left aside."
    )


class EvaluateTournamentParams(StageParams):
    """Stage 7: the players meet and are rated."""

    players: dict[str, str] = Field(
        {
            "random": "random",
            "rollout policy": "rollout:rollout_policy",
            "SL policy": "policy:sl_policy",
            "RL policy": "policy:rl_policy",
            "search": "search:policy=sl_policy,value=value_network,rollout=rollout_policy,tree=tree_policy",
        },
        description="Name -> player (random, rollout:REF, policy:REF, search:...; empty text: left out). "
        "A player whose input is not there is left out, and said so.",
    )
    guests: dict[str, GuestParams] = Field(
        {
            "GNU Go level 1": GuestParams(command=f"{GNU_GO} 1"),
            "GNU Go level 10": GuestParams(command=f"{GNU_GO} 10"),
        },
        description="Name -> external program (empty command: left out); one that is not installed is left "
        "out, and said so.",
    )
    pairing: Literal["round-robin", "gauntlet"] = Field(
        "round-robin", description="Everybody meets everybody, or the challenger meets all others."
    )
    challenger: str = Field("", description="The player that meets all others in a gauntlet.")
    games: int = Field(
        200, ge=2, le=1_000_000, multiple_of=2, description="Games of each pair, half with each colour."
    )
    search_games: int = Field(
        100, ge=0, le=1_000_000, multiple_of=2, description="The same for pairs in which a search plays."
    )
    guest_games: int = Field(
        100, ge=0, le=1_000_000, multiple_of=2, description="The same for pairs with a guest; 0: none."
    )
    adaptive_games: int = Field(
        0,
        ge=0,
        le=1_000_000,
        multiple_of=2,
        description="Games added after these, between the pairs that say most about the ratings.",
    )
    adaptive_round: int = Field(
        64, ge=2, le=1_000_000, multiple_of=2, description="Games between two choices of such pairs."
    )
    komi: float = Field(7.5, ge=-1000.0, le=1000.0, description="Points that White is given.")
    opening_plies: int = Field(
        4,
        ge=0,
        le=100,
        description="Random moves that open a game; each opening is played with both colours.",
    )
    handicaps: dict[str, Annotated[int, Field(ge=2, le=9)]] = Field(
        {},
        description="Name -> stones of players that take Black and a handicap in all games; komi stays.",
    )
    lanes: int = Field(256, ge=1, le=65_536, description="Games played side by side.")
    guest_lanes: int = Field(
        4, ge=1, le=1024, description="Games with guests side by side; each is a process of the guest."
    )
    fault_limit: int = Field(
        5, ge=1, le=1_000_000, description="Forfeits after which a guest's remaining games are left out."
    )
    rating: RatingParams = RatingParams()
