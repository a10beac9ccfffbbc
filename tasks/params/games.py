"""Parameters of the stages that read game records: parsing, and the pattern policies."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tasks.params.base import RayParams, StageParams


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
    runner: Literal["processes", "ray"] = Field(
        "processes",
        description="Who reads: processes and threads of this machine, or tasks on a Ray cluster.",
    )
    ray: RayParams = RayParams()


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
