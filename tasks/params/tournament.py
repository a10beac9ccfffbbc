"""Parameters of tournaments and ratings."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, Field

from tasks.params.base import PARAMETERS, StageParams

# `--set players.NAME=` and `--set guests.NAME.command=` give none
EmptyIfNone = BeforeValidator(lambda given: "" if given is None else given)
Player = Annotated[str, EmptyIfNone]


class GuestParams(BaseModel):
    """An external program that speaks GTP."""

    model_config = PARAMETERS

    command: Annotated[str, EmptyIfNone] = Field(
        description="Command line, split into words, never given to a shell; {seed} and {size} are filled in."
    )
    env: dict[str, str] = Field({}, description="Environment variables added to ours.")
    move_seconds: float = Field(
        60.0, gt=0.0, le=86_400.0, description="Longest wait for one answer, in seconds; then it hangs."
    )


GNU_GO = "gnugo --mode gtp --chinese-rules --capture-all-dead --seed {seed} --level"


class RatingParams(BaseModel):
    """BayesElo's model; its default settings give the paper's numbers."""

    model_config = PARAMETERS

    advantage: float = Field(32.8, ge=-1000.0, le=1000.0, description="Elo points in favour of White.")
    drawelo: float = Field(97.3, ge=0.0, le=1000.0, description="Width of the range of draws, in Elo points.")
    prior: float = Field(2.0, ge=0.0, le=1000.0, description="Virtual draws of each player.")
    scale: bool = Field(True, description="Scale ratings as BayesElo prints them.")
    anchors: dict[str, float] = Field(
        {"random": 0.0}, description="Elo of players that are held; those that do not play are left aside."
    )


class EvaluateTournamentParams(StageParams):
    """Stage 7: the players meet and are rated."""

    players: dict[str, Player] = Field(
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
    neighbour_games: int = Field(
        0,
        ge=0,
        le=1_000_000,
        multiple_of=2,
        description="Games added last, until players next to each other in the ratings have met so often.",
    )
    komi: float = Field(7.5, ge=-1000.0, le=1000.0, description="Points that White is given.")
    opening_plies: int = Field(
        4,
        ge=0,
        le=100,
        description="Random moves that open a game, or the most that are taken from a record of the opening "
        "set; each opening is played with both colours.",
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


WITHOUT_POLICY = "search:value=value_network,rollout=rollout_policy,tree=tree_policy"
FULL_SEARCH = f"{WITHOUT_POLICY},policy=sl_policy"


class VariantsParams(EvaluateTournamentParams):
    """ED Table 7: AlphaGo with and without its policy network, value network and rollouts."""

    players: dict[str, Player] = Field(
        {
            "policy, value, rollouts": FULL_SEARCH,
            "policy, rollouts": "search:policy=sl_policy,rollout=rollout_policy,tree=tree_policy",
            "policy, value": "search:policy=sl_policy,value=value_network,tree=tree_policy",
            "tree policy, value, rollouts": WITHOUT_POLICY,
            "tree policy, value": "search:value=value_network,tree=tree_policy",
            "policy alone": "policy:sl_policy",
            "tree policy, rollouts": "search:rollout=rollout_policy,tree=tree_policy",
        },
        description="Name -> player, as in a tournament. Without the policy network the tree policy gives "
        "the priors; the policy network alone plays its likeliest move.",
    )
    guests: dict[str, GuestParams] = Field({}, description="Name -> external program, as in a tournament.")
    search: str = Field(
        "simulations=400",
        description="Settings that each player which searches is given besides its own, such as "
        "simulations=400,n_thr=4; the paper's players think for 5 seconds a move.",
    )


class SearchScalingParams(StageParams):
    """ED Table 8 and Fig. 4c: what more threads make of the search."""

    player: str = Field(FULL_SEARCH, description="The search, as a player of a tournament.")
    counts: tuple[Annotated[int, Field(ge=1, le=256)], ...] = Field(
        (1, 2, 4, 8, 16, 32, 40), min_length=1, description="Numbers of search threads."
    )
    seconds: float = Field(2.0, gt=0.0, le=3600.0, description="Of thought for a move.")
    positions: int = Field(8, ge=1, le=10_000, description="Positions on which simulations are counted.")
    plies: int = Field(30, ge=0, le=300, description="Random moves that lead to each position.")
    komi: float = Field(7.5, ge=-1000.0, le=1000.0, description="Points that White is given.")
    games: int = Field(
        0,
        ge=0,
        le=1_000_000,
        multiple_of=2,
        description="Games of each pair of thread counts, for Elo ratings; 0: none.",
    )
