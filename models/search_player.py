"""The paper's search as a player: APV-MCTS over any of policy network, value network and rollouts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from go_engine import Board, RolloutPolicy
from go_engine.players import RESIGN
from go_engine.search import Evaluators, Search, ThreadedDrive, run_lockstep
from go_engine.search_export import summary
from models.evaluators import PolicyEvaluator, ValueEvaluator
from models.search_cluster import SearchCluster

SIMULATIONS = 600
LEAVES = 8
EXPANSION_THRESHOLD = 6  # for some hundred simulations; the paper's 40 is for tens of thousands
ANY_SIZE = 9
MOST = 1_000_000_000  # simulations or seconds of one move
MOST_LEAVES = 4096
MOST_THREADS = 256  # the core's bound


@dataclass
class SearchPlayer:
    """Plays the most visited move; both a `Player` and a `BatchPlayer`, keeping a tree for every game.

    What is not given is not used, which makes the variants of Extended Data Table 7: without `policy` the
    placeholder priors of the `tree` policy stay (uniform without it), without `value` rollouts alone count,
    without `rollouts` values alone. With `simulations` 0 the policy's likeliest move is played.
    `settings` are the core's parameters by name (c_puct, mixing, beta, virtual_loss, ...).
    """

    policy: PolicyEvaluator | None = None
    value: ValueEvaluator | None = None
    rollout: RolloutPolicy | None = None  # None: uniform playouts
    tree: RolloutPolicy | None = None
    rollouts: bool = True
    simulations: int = SIMULATIONS
    seconds: float = 0.0  # of thought per move in place of simulations; not reproducible
    leaves: int = LEAVES  # of one game that share a network batch
    threads: int = 1
    seed: int = 0
    name: str = "search"
    resign: bool = False
    settings: dict[str, float] = field(default_factory=dict)
    cluster: SearchCluster | None = None  # who answers and plays rollouts in place of this process

    def __post_init__(self) -> None:
        self._searches: dict[int, Search] = {}
        self._drives: dict[int, ThreadedDrive] = {}
        self._game = -1
        self._check()
        self._evaluators = Evaluators(self.policy, self.value)
        self._size = next((net.size for net in (self.policy, self.value) if net is not None), None)
        self._search(Board(size=self.size), 0)  # refuses bad settings now

    def _check(self) -> None:
        if self.policy is not None and self.value is not None and self.policy.size != self.value.size:
            raise ValueError(
                f"the policy network is for {self.policy.size}x{self.policy.size}, "
                f"the value network for {self.value.size}x{self.value.size}"
            )
        limits = {
            "simulations": (self.simulations, 0, MOST),
            "seconds": (self.seconds, 0, MOST),
            "leaves": (self.leaves, 1, MOST_LEAVES),
            "threads": (self.threads, 1, MOST_THREADS),
        }
        for name, (given, least, most) in limits.items():
            if not least <= given <= most:
                raise ValueError(f"{name} must lie in {least:,}..{most:,}, not {given:g}")

    def new_game(self, size: int, komi: float) -> None:  # noqa: ARG002
        if self._size is not None and size != self._size:
            raise ValueError(f"{self.name} plays on {self._size}x{self._size}, not on {size}x{size}")
        self.end_game(self._game)
        self._game += 1

    def choose(self, board: Board) -> int:
        return self.choose_batch([self._game], [board])[0]

    def choose_batch(self, games: Sequence[int], boards: Sequence[Board]) -> list[int]:
        searches = [self._follow(game, board) for game, board in zip(games, boards, strict=True)]
        thinking = [search for search in searches if not search.decided]
        if self.seconds > 0 or (self.cluster is not None and self.simulations > 0):
            limit = (self.seconds, 0) if self.seconds > 0 else (None, self.simulations)
            for game, search in zip(games, searches, strict=True):
                if not search.decided:
                    self.drive(game).think(*limit)
        elif self.simulations > 0:
            run_lockstep(thinking, self._evaluators, self.simulations, self.leaves, self.threads)
        else:
            self._ask_priors(thinking)
        return [RESIGN if self.resign and search.should_resign else search.best_move() for search in searches]

    def end_game(self, game: int) -> None:
        if game in self._drives:
            self._drives.pop(game).close()
        self._searches.pop(game, None)

    @property
    def size(self) -> int:
        """The only board size it plays on, or the smallest usual one when it has no network."""
        return self._size or ANY_SIZE

    def comment(self, game: int) -> str:
        """What it thinks of the move that it has just chosen in a game."""
        search = self.search_of(game)
        return "" if search is None else summary(search)

    def close(self) -> None:
        """Forget all games and end their threads."""
        for game in list(self._searches):
            self.end_game(game)

    def drive(self, game: int | None = None) -> ThreadedDrive:
        """The threads behind a game's search (the current one without a number)."""
        game = self._game if game is None else game
        if game not in self._drives:
            make = ThreadedDrive if self.cluster is None else self.cluster.drive
            search = self._searches[game]
            self._drives[game] = make(search, self._evaluators, self.threads, self.leaves)
        return self._drives[game]

    def search_of(self, game: int | None = None) -> Search | None:
        """The search of a game (the current one without a number), to look at its tree."""
        return self._searches.get(self._game if game is None else game)

    def _ask_priors(self, searches: Sequence[Search]) -> None:
        """The root's own priors, for a player that does not search."""
        if self.policy is not None:
            for search in searches:
                search.ask_root()
            run_lockstep(searches, self._evaluators, 0, 1, self.threads)

    def _follow(self, game: int, board: Board) -> Search:
        search = self._searches.get(game)
        if search is None:
            search = self._searches[game] = self._search(board, game)
        else:
            search.follow(board)
        return search

    def _search(self, board: Board, game: int) -> Search:
        settings: dict[str, float] = {
            "expansion_threshold": EXPANSION_THRESHOLD
            if self.rollouts
            else 0,  # a second visit needs a rollout
            "wait_for_priors": self.policy is not None and self.tree is None,
            "use_policy": self.policy is not None,
            "use_value": self.value is not None,
            "use_rollouts": self.rollouts,
            "seed": _game_seed(self.seed, game),
        }
        return Search(board, self.rollout, self.tree, **(settings | self.settings))


def _game_seed(seed: int, game: int) -> int:
    """Different for every pair of small numbers; the core mixes it well."""
    return (seed * 0x9E3779B97F4A7C15 + game + 1) % 2**64
