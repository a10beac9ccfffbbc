"""The games of the value set: SL policy to move U - 1, a uniform move at U, RL policy to the end.

Exactly one position comes out of a game: s_{U+1}, the one after the uniform move, with the outcome for the
player to move in it. A game that ends before move U, or has no legal point for it, is drawn again from the
start with another U, and counted. What a game becomes depends on the seed, the shard, its number in the
shard and how often it has been drawn, so a shard's content is the same however many boards or threads play
it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from go_engine import GameBatch
from tasks.params import GenerateValueSetParams
from tasks.self_play import NOBODY, Games, Policy, Seat, SelfPlay

SL, RL = 0, 1  # seats
FULL_BOARD = 361  # points of the board that the paper's range of U is for
PLANES = 49
GAME_STREAM = 4  # of random numbers
DRAWS_AT_MOST = 1000  # of one game; more means that no game reaches its move U
FREE = -1  # a board without a game
WHITE_TO_PLAY = 0x9E3779B97F4A7C15  # laid over the hash of a position with White to move


def largest_u(params: GenerateValueSetParams) -> int:
    """The end of U's range on this board."""
    return max(1, round(params.largest_u * params.board_size**2 / FULL_BOARD))


@dataclass(frozen=True)
class ShardGames:
    """n games of a shard in order; one entry each.

    `planes` uint8[n, ceil(49 * N * N / 8)] are s_{U+1}, bit-packed; `outcomes` int8[n] are for `to_play`
    int8[n], the player to move in it; `hashes` uint64[n] tell positions (stones and who is to move) apart;
    `u`, `plies` int32[n] are U and the length of the game; `draws` int32[n] counts how often it was begun.
    """

    planes: NDArray[np.uint8]
    outcomes: NDArray[np.int8]
    to_play: NDArray[np.int8]
    hashes: NDArray[np.uint64]
    u: NDArray[np.int32]
    plies: NDArray[np.int32]
    capped: NDArray[np.bool_]
    draws: NDArray[np.int32]
    without_legal_point: int  # draws that had no legal point for the uniform move

    def __len__(self) -> int:
        return len(self.outcomes)


def play_shard(
    params: GenerateValueSetParams, sl: Policy, rl: Policy, shard: int, count: int, threads: int
) -> ShardGames:
    """Play `count` games of a shard. Raises RuntimeError when a game never gets as far as its move U."""
    dealer = _Dealer(params, shard, count)
    seats = Seat(sl, params.sl_temperature), Seat(rl, params.rl_temperature)
    play = SelfPlay(dealer.games, seats, params.network_batch, dealer.on_moved, threads=threads)
    dealer.begin(play)
    play.run()
    return dealer.result()


class _Dealer:
    """Gives every board its next game, makes the uniform moves, and keeps what comes out."""

    def __init__(self, params: GenerateValueSetParams, shard: int, count: int) -> None:
        boards = min(params.parallel_games, count)
        self.games = GameBatch(boards, size=params.board_size, komi=params.komi)
        self._stream = (params.seed, GAME_STREAM, shard)
        self._count, self._dealt = count, 0
        self._largest_u = largest_u(params)
        # One entry a board: which game of the shard it plays, that game's U, whether its position is kept.
        self._game = np.full(boards, FREE, dtype=np.int64)
        self._u = np.zeros(boards, dtype=np.int32)
        self._kept = np.zeros(boards, dtype=bool)
        # One entry a game of the shard.
        self._planes = np.zeros((count, -(-PLANES * params.board_size**2 // 8)), dtype=np.uint8)
        self._to_play = np.zeros(count, dtype=np.int8)
        self._outcomes = np.zeros(count, dtype=np.int8)
        self._hashes = np.zeros(count, dtype=np.uint64)
        self._plies = np.zeros(count, dtype=np.int32)
        self._final_u = np.zeros(count, dtype=np.int32)
        self._capped = np.zeros(count, dtype=bool)
        self._draws = np.zeros(count, dtype=np.int32)
        self._without_legal_point = 0

    def begin(self, play: SelfPlay) -> None:
        self._play = play
        boards = np.arange(len(self.games), dtype=np.int32)
        self._deal(boards)
        self._route(boards)

    def on_moved(self, moved: Games) -> None:
        over = moved[self.games.over[moved]]
        finished, early = over[self._kept[over]], over[~self._kept[over]]
        self._finish(finished)
        self._deal(finished)
        self._draw(early)
        self._route(moved)

    def result(self) -> ShardGames:
        return ShardGames(
            self._planes,
            self._outcomes,
            self._to_play,
            self._hashes,
            self._final_u,
            self._plies,
            self._capped,
            self._draws,
            self._without_legal_point,
        )

    def _deal(self, boards: Games) -> None:
        """The next games of the shard for these boards, as long as there are any."""
        following = np.arange(self._dealt, self._dealt + len(boards))
        self._dealt = min(self._count, self._dealt + len(boards))
        self._game[boards] = np.where(following < self._count, following, FREE)
        self._draw(boards[following < self._count])

    def _draw(self, boards: Games) -> None:
        """Begin the games of these boards (again), with a new U."""
        self.games.reset(boards)
        self._kept[boards] = False
        for board in boards:
            game = int(self._game[board])
            generator = np.random.default_rng([*self._stream, game, int(self._draws[game])])
            self._u[board] = generator.integers(1, self._largest_u, endpoint=True)
            self._play.seed_of[board] = generator.integers(0, 2**64, dtype=np.uint64)
            self._draws[game] += 1
            if self._draws[game] > DRAWS_AT_MOST:
                raise RuntimeError(
                    f"game {game} of the shard ended {DRAWS_AT_MOST} times before its move U; "
                    f"U goes up to {self._largest_u}"
                )

    def _route(self, boards: Games) -> None:
        """Make the uniform moves that are due, then say whose turn it is on each board."""
        while len(due := boards[self._uniform_due(boards)]):  # a game drawn again may have U = 1
            self._move_uniformly(due)
        turn = np.where(self._kept[boards], RL, SL)
        self._play.seat_of[boards] = np.where(self._game[boards] == FREE, NOBODY, turn)

    def _uniform_due(self, boards: Games) -> NDArray[np.bool_]:
        at_u = self.games.move_numbers[boards] == self._u[boards] - 1
        due: NDArray[np.bool_] = at_u & ~self._kept[boards] & (self._game[boards] != FREE)
        return due

    def _move_uniformly(self, boards: Games) -> None:
        moves = self.games.sample_legal(boards, self._play.seed_of[boards])
        possible = moves >= 0
        self._without_legal_point += int((~possible).sum())
        self._draw(boards[~possible])
        boards = boards[possible]
        self.games.play(boards, moves[possible])
        self._keep(boards)

    def _keep(self, boards: Games) -> None:
        """Take down s_{U+1}."""
        numbers = self._game[boards]
        planes = self.games.planes(boards, player_colour=True)
        self._planes[numbers] = np.packbits(planes.reshape(len(boards), self._cells), axis=1)
        self._to_play[numbers] = self.games.to_play[boards]
        self._final_u[numbers] = self._u[boards]
        self._kept[boards] = True
        for board, number in zip(boards, numbers, strict=True):
            position = self.games.board(int(board))
            self._hashes[number] = np.uint64(position.hash ^ (0 if position.to_play > 0 else WHITE_TO_PLAY))

    @property
    def _cells(self) -> int:
        return PLANES * self.games.size**2

    def _finish(self, boards: Games) -> None:
        numbers = self._game[boards]
        self._outcomes[numbers] = self.games.winners[boards] * self._to_play[numbers]
        self._plies[numbers] = self.games.move_numbers[boards]
        self._capped[numbers] = self.games.capped[boards]
