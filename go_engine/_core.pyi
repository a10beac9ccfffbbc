"""C++ core of go_engine"""

from collections.abc import Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray


BLACK: int = 1

WHITE: int = -1

EMPTY: int = 0

class IllegalMoveError(ValueError):
    pass

class Board:
    """
    A game in progress: stones, whose turn it is, history for the ko rule, komi.
    """

    def __init__(self, size: int = 19, komi: float = 7.5, ko_rule: str = 'positional') -> None: ...

    @property
    def size(self) -> int: ...

    @property
    def komi(self) -> float: ...

    @komi.setter
    def komi(self, arg: float, /) -> None: ...

    @property
    def ko_rule(self) -> str: ...

    @property
    def to_play(self) -> int: ...

    @to_play.setter
    def to_play(self, arg: int, /) -> None: ...

    @property
    def move_number(self) -> int: ...

    @property
    def pass_move(self) -> int: ...

    @property
    def is_over(self) -> bool:
        """True after two passes in a row."""

    @property
    def last_move(self) -> int | None: ...

    def play(self, move: int, colour: int | None = None) -> int:
        """
        Plays a move (row * size + col, size * size passes); returns the number of stones captured. Raises IllegalMoveError.
        """

    def is_legal(self, move: int) -> bool: ...

    def legal_mask(self) -> Annotated[NDArray[numpy.bool_], dict(shape=(None,))]:
        """
        bool[size * size + 1]: the legal moves of to_play, pass last (always legal).
        """

    def sensible_mask(self) -> Annotated[NDArray[numpy.bool_], dict(shape=(None,))]:
        """bool[size * size]: legal moves that do not fill an own eye."""

    def setup(self, black: Sequence[int] = [], white: Sequence[int] = [], to_play: int = 1, empty: Sequence[int] = []) -> None:
        """
        Adds and removes stones (handicap, AB/AW/AE); the resulting position is the first of the game.
        """

    def grid(self) -> Annotated[NDArray[numpy.int8], dict(shape=(None, None))]:
        """int8[size, size]: BLACK, WHITE, EMPTY."""

    def liberties(self) -> Annotated[NDArray[numpy.int16], dict(shape=(None, None))]:
        """int16[size, size]: liberties of the chain on each point, 0 if empty."""

    @property
    def ko_point(self) -> int | None: ...

    @property
    def hash(self) -> int:
        """64-bit Zobrist hash of the stones."""

    def copy(self) -> Board: ...

    def __copy__(self) -> Board: ...

    def __deepcopy__(self, memo: object) -> Board: ...

    def __str__(self) -> str: ...

    @staticmethod
    def from_text(diagram: str, komi: float = 7.5, ko_rule: str = 'positional') -> Board:
        """Reads rows of X, O and . (spaces are skipped)."""

    def area_score(self) -> float:
        """Black's area - White's - komi, every stone alive as it stands."""

def vertex(move: int, size: int) -> str:
    """GTP's name of a move, e.g. 'E5' or 'pass'."""

LADDER_NODES: int = 10000

def read_ladder(board: Board, move: int, target: int, max_nodes: int = 10000) -> tuple[bool, int]:
    """
    Does a legal move of to_play catch the enemy chain of two liberties at `target` in a ladder, or save the own chain of one liberty there from one? Returns (works, moves tried). Beyond max_nodes moves the hunted is taken to get away.
    """

def planes(board: Board, player_colour: bool = False) -> NDArray[numpy.uint8]:
    """uint8[48 or 49, size, size]: the feature planes for the side to move."""

def planes_batch(boards: list[Board], out: object = None, threads: int = 1, player_colour: bool = False) -> NDArray[numpy.uint8]:
    """
    uint8[n, 48 or 49, size, size]; or written to `out` and that returned: an array of that shape of uint8, float32 or (a torch tensor) bfloat16.
    """

def symmetry_table(size: int) -> Annotated[NDArray[numpy.int16], dict(shape=(None, None))]:
    """
    int16[8, size * size + 1]: where each symmetry moves each move; the pass stays.
    """

def random_playouts(board: Board, n: int, seed: int, threads: int = 1) -> tuple:
    """
    n playouts, uniform over moves that fill no own eye, simple ko: (winners int8[n], plies int32[n]).
    """

def replay_planes_games(games: list, threads: int, player_colour: bool, packed: bool) -> NDArray[numpy.uint8]:
    """See go_engine.replay."""

def check_game(size: int, black: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], white: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], moves: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], colours: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], ko_rule: str, to_play: int) -> tuple[int, str]:
    """See go_engine.replay."""

class GameBatch:
    """
    Many games side by side, named by their numbers 0..n-1: positional superko by default, two passes or max_plies (0: 2 * size * size) end a game, which is then scored as it stands.
    """

    def __init__(self, n: int, size: int = 9, komi: float = 7.5, ko_rule: str = 'positional', max_plies: int = 0) -> None: ...

    def __len__(self) -> int: ...

    @property
    def size(self) -> int: ...

    @property
    def komi(self) -> float: ...

    @property
    def max_plies(self) -> int: ...

    @property
    def to_play(self) -> Annotated[NDArray[numpy.int8], dict(shape=(None,), writable=False)]:
        """
        int8[n]: BLACK or WHITE. These five are live views: copy what must not change.
        """

    @property
    def over(self) -> Annotated[NDArray[numpy.bool_], dict(shape=(None,), writable=False)]:
        """bool[n]"""

    @property
    def capped(self) -> Annotated[NDArray[numpy.bool_], dict(shape=(None,), writable=False)]:
        """bool[n]: over because max_plies was reached."""

    @property
    def winners(self) -> Annotated[NDArray[numpy.int8], dict(shape=(None,), writable=False)]:
        """int8[n]: sign of the area score of a game that is over, else 0."""

    @property
    def move_numbers(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), writable=False)]:
        """int32[n]: plies played."""

    def play(self, indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], moves: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Plays moves[k] in game indices[k]. Raises IllegalMoveError naming the game; games before it in the list have then been played.
        """

    def reset(self, indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Starts these games anew."""

    def planes(self, indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None, None), order='C', device='cpu')] | None = None, player_colour: bool = False, threads: int = 1) -> Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None, None))]:
        """
        uint8[m, 48 or 49, size, size] for the side to play; `out` may have more rows than there are games.
        """

    def sensible(self, indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int = 1) -> Annotated[NDArray[numpy.bool_], dict(shape=(None, None))]:
        """bool[m, size * size]: legal moves that do not fill an own eye."""

    def legal(self, indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int = 1) -> Annotated[NDArray[numpy.bool_], dict(shape=(None, None))]:
        """bool[m, size * size + 1]: legal moves, pass last."""

    def moves(self, game: int) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """int32[plies]: the moves of one game."""

    def sample(self, indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], probabilities: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], temperature: float, seeds: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int = 1) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """
        int32[m]: a move each, drawn with probability ~ p^(1/temperature) among the sensible moves (temperature 0: the most probable); the pass where none is sensible. A draw depends on the game's seed and move number alone. `probabilities` may have more rows than there are games.
        """

    def sample_legal(self, indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], seeds: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """
        int32[m]: a point drawn uniformly among the legal ones, -1 where none is legal.
        """

    def board(self, game: int) -> Board:
        """A copy of one game's board."""

class ReplyTable:
    """Replies of the search tree that rollouts may repeat in like contexts."""

    def __init__(self, bits: int = 13) -> None:
        """2^bits slots"""

    def clear(self) -> None: ...

    def store(self, board: Board, previous: int, move: int) -> None:
        """Remembers the move of board.to_play in reply to the previous one."""

    def find(self, board: Board, previous: int) -> int | None:
        """The reply to the previous move where both contexts match."""

class RolloutPolicy:
    """Linear softmax over pattern features (ED Table 4)."""

    def __init__(self, tree: bool, tensors: dict) -> None:
        """
        tree: with the tree policy's features; tensors: name -> uint64 pattern keys (ascending) or float32 weights.
        """

    @property
    def tree(self) -> bool: ...

    def tensors(self) -> dict: ...

    def probabilities(self, board: Board, slow: bool = False) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]:
        """
        float32[size * size]: probability of each sensible move of board.to_play, 0 elsewhere; all 0 when there is none. slow: straight from the definition of the features.
        """

    def playouts(self, board: Board, n: int, seed: int, threads: int = 1, replies: ReplyTable | None = None, reply_probability: float = 1.0) -> tuple:
        """
        Plays n games from the board to the end; (winners int8[n], moves int32[n]). Seeded per playout: the same for any number of threads.
        """

def rollout_trace(policy: RolloutPolicy, board: Board, moves: Sequence[int]) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None))]:
    """
    float32[len(moves), size * size]: the incremental probabilities before each of some legal moves.
    """

def rollout_choices(policy: RolloutPolicy, board: Board, n: int, seed: int, replies: ReplyTable | None = None, reply_probability: float = 1.0) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
    """int32[n]: n draws of a move for the board, as playouts make them."""

def rollout_features(board: Board, move: int, tree: bool = False) -> list[tuple[str, int]]:
    """
    The features of a legal move as (kind, index or pattern key), from their definition.
    """

def canonical_pattern(key: int) -> int:
    """The smallest of a pattern key's eight symmetric forms."""

class RolloutGames:
    """Games of one board size for harvesting and training."""

    def __init__(self, size: int, moves: Annotated[NDArray[numpy.int16], dict(shape=(None,), order='C', device='cpu', writable=False)], colours: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], black: Annotated[NDArray[numpy.int16], dict(shape=(None,), order='C', device='cpu', writable=False)], black_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], white: Annotated[NDArray[numpy.int16], dict(shape=(None,), order='C', device='cpu', writable=False)], white_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        moves int16, colours int8 (1, -1) and setup stones int16 of all games one after the other; int64 offsets have one entry more than there are games.
        """

    def __len__(self) -> int: ...

    def harvest(self, tree: bool, threads: int = 1, first: int | None = None) -> dict:
        """
        Of all games or the first ones: {'positions': n, kind: (keys uint64, played uint32, seen uint32)}; seen is counted for 3x3 patterns only.
        """

class RolloutTrainer:
    """Maximum likelihood by stochastic gradient ascent."""

    def __init__(self, start: RolloutPolicy, games: RolloutGames) -> None:
        """Starts from the patterns and weights of a policy."""

    def train_round(self, shards: Sequence[Sequence[int]], step_size: float, l2: float, threads: int = 1) -> tuple:
        """
        One round over the games of each shard; (positions, sum of log likelihood, moves predicted), each position scored before it was learnt. The result does not depend on the number of threads.
        """

    def evaluate(self, games: Sequence[int], threads: int = 1) -> tuple:
        """(positions, sum of log likelihood, moves predicted)"""

    def tensors(self) -> dict: ...

class SearchParams:
    """Parameters of a search, with the paper's values."""

    def __init__(self, **settings: float) -> None: ...

    @property
    def c_puct(self) -> float:
        """Weight of exploration."""

    @c_puct.setter
    def c_puct(self, arg: float, /) -> None: ...

    @property
    def beta(self) -> float:
        """Network priors are p^beta, normalised."""

    @beta.setter
    def beta(self, arg: float, /) -> None: ...

    @property
    def mixing(self) -> float:
        """Lambda: weight of rollouts against values, 0..1."""

    @mixing.setter
    def mixing(self, arg: float, /) -> None: ...

    @property
    def virtual_loss(self) -> int:
        """Lost games that a simulation under way counts for."""

    @virtual_loss.setter
    def virtual_loss(self, arg: int, /) -> None: ...

    @property
    def expansion_threshold(self) -> int:
        """More visits than this make a node."""

    @expansion_threshold.setter
    def expansion_threshold(self, arg: int, /) -> None: ...

    @property
    def max_threshold(self) -> int:
        """Bound of the threshold's adaptation (threads)."""

    @max_threshold.setter
    def max_threshold(self, arg: int, /) -> None: ...

    @property
    def use_policy(self) -> bool:
        """Ask the policy network for priors."""

    @use_policy.setter
    def use_policy(self, arg: bool, /) -> None: ...

    @property
    def use_value(self) -> bool:
        """Ask the value network."""

    @use_value.setter
    def use_value(self, arg: bool, /) -> None: ...

    @property
    def use_rollouts(self) -> bool:
        """Play rollouts."""

    @use_rollouts.setter
    def use_rollouts(self, arg: bool, /) -> None: ...

    @property
    def use_replies(self) -> bool:
        """Play the tree's moves in rollouts (with a policy)."""

    @use_replies.setter
    def use_replies(self, arg: bool, /) -> None: ...

    @property
    def wait_for_priors(self) -> bool:
        """Never descend by placeholder priors."""

    @wait_for_priors.setter
    def wait_for_priors(self, arg: bool, /) -> None: ...

    @property
    def resign_threshold(self) -> float:
        """Resign when no good move has a higher Q."""

    @resign_threshold.setter
    def resign_threshold(self, arg: float, /) -> None: ...

    @property
    def seed(self) -> int:
        """Seed of rollouts and symmetries."""

    @seed.setter
    def seed(self, arg: int, /) -> None: ...

    @property
    def memory_mb(self) -> int:
        """Bound of the tree's memory; a full tree stops growing."""

    @memory_mb.setter
    def memory_mb(self, arg: int, /) -> None: ...

    @property
    def queue_limit(self) -> int:
        """Leaves that may wait for evaluators (threads)."""

    @queue_limit.setter
    def queue_limit(self, arg: int, /) -> None: ...

    @property
    def max_plies(self) -> int:
        """Longer games are scored; 0 = 2 * size * size."""

    @max_plies.setter
    def max_plies(self, arg: int, /) -> None: ...

class LeafBatch:
    """Positions that wait for the networks."""

    def planes(self) -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None, None))], Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None, None))]]:
        """
        (uint8[n, 48, size, size] for the policy, uint8[m, 49, size, size] for the value network).
        """

    def paths(self) -> list[list[int]]:
        """
        Moves from the root to each position that a rollout is to be played from.
        """

    def __len__(self) -> int: ...

class EdgeReport:
    """One move of a node, seen by the player who chooses it."""

    @property
    def move(self) -> int: ...

    @property
    def placeholder(self) -> float:
        """Prior before the network answered."""

    @property
    def prior(self) -> float:
        """Prior now."""

    @property
    def visits(self) -> int:
        """N_r"""

    @property
    def wins(self) -> float:
        """W_r"""

    @property
    def values(self) -> int:
        """N_v"""

    @property
    def value_sum(self) -> float:
        """W_v"""

    @property
    def q(self) -> float:
        """Q, the mixed averages."""

    @property
    def expanded(self) -> bool:
        """There is a node behind this edge."""

class SearchStats:
    @property
    def simulations(self) -> int:
        """Since the last reset or advance."""

    @property
    def leaves(self) -> int:
        """Evaluations asked for, ever."""

    @property
    def skipped(self) -> int:
        """Values not asked for because the queue was full."""

    @property
    def nodes(self) -> int: ...

    @property
    def bytes(self) -> int:
        """Of the tree."""

    @property
    def threshold(self) -> int:
        """The expansion threshold as it is now."""

    @property
    def full(self) -> bool:
        """The memory bound was reached."""

    @property
    def max_depth(self) -> int: ...

class GroupBatch:
    """Positions of several searches that wait for the networks."""

    def take_planes(self) -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None, None))], Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None, None))]]:
        """As LeafBatch.planes, handed over without a copy: can be taken once."""

    def cancel(self) -> None: ...

    def __len__(self) -> int: ...

def collect_many(searches: Sequence[Search], max_leaves: int, max_simulations: int, threads: int = 1) -> GroupBatch: ...

def deliver_many(batch: GroupBatch, priors: Annotated[NDArray[numpy.float32], dict(order='C', device='cpu', writable=False)] | None = None, values: Annotated[NDArray[numpy.float32], dict(order='C', device='cpu', writable=False)] | None = None) -> None: ...

class Search:
    """APV-MCTS; see go_engine/search.py."""

    def __init__(self, board: Board, rollout_policy: RolloutPolicy | None = None, tree_policy: RolloutPolicy | None = None, **settings: float) -> None: ...

    @property
    def board(self) -> Board:
        """A copy of the root's board."""

    @property
    def params(self) -> SearchParams: ...

    @property
    def running(self) -> bool: ...

    @property
    def failure(self) -> str: ...

    def reset(self, board: Board) -> None: ...

    def advance(self, move: int) -> None: ...

    def follow(self, board: Board) -> bool: ...

    def ask_root(self) -> None: ...

    def collect(self, max_leaves: int, max_simulations: int) -> LeafBatch: ...

    def deliver(self, batch: LeafBatch, priors: Annotated[NDArray[numpy.float32], dict(order='C', device='cpu', writable=False)] | None = None, values: Annotated[NDArray[numpy.float32], dict(order='C', device='cpu', writable=False)] | None = None) -> None: ...

    def cancel(self, batch: LeafBatch) -> bool: ...

    def retry(self, batch: LeafBatch) -> None: ...

    def deliver_rollouts(self, batch: LeafBatch, winners: Sequence[int]) -> None:
        """The winner of each rollout of the batch: 1 Black, -1 White, 0 neither."""

    def start(self, threads: int, max_simulations: int = 0, hand_out_rollouts: bool = False) -> None: ...

    def wait(self, seconds: float) -> bool: ...

    def stop(self, grace: float = 0.0) -> None: ...

    def wait_batch(self, max_leaves: int, seconds: float) -> LeafBatch: ...

    def wait_rollouts(self, max_rollouts: int, seconds: float) -> LeafBatch: ...

    def interrupt(self) -> None: ...

    def fail(self, message: str) -> None: ...

    def best_move(self) -> int: ...

    @property
    def best_value(self) -> float: ...

    @property
    def should_resign(self) -> bool: ...

    @property
    def decided(self) -> bool: ...

    @property
    def disagreement(self) -> bool: ...

    def edges(self, path: Sequence[int] = []) -> list[EdgeReport]: ...

    def stats(self) -> SearchStats: ...
