"""Games side by side give what single boards give, and draws depend on the seed and the ply alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from go_engine import BLACK, WHITE, Board, GameBatch, IllegalMoveError


def ints(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int32)


def seeds_of(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2**64, n, dtype=np.uint64)


def flat(n: int, size: int) -> np.ndarray:
    return np.full((n, size * size), 1.0 / (size * size), dtype=np.float32)


def finish(games: GameBatch, seeds: np.ndarray, group: int) -> None:
    """Play every game to its end with uniform sensible moves, `group` games at a time."""
    while (live := np.flatnonzero(~games.over)).size:
        for start in range(0, live.size, group):
            some = live[start : start + group].astype(np.int32)
            games.play(some, games.sample(some, flat(some.size, games.size), 1.0, seeds[some]))


def test_new_games() -> None:
    games = GameBatch(3, size=5)
    assert len(games) == 3
    assert games.size == 5
    assert games.max_plies == 50
    assert games.to_play.tolist() == [BLACK] * 3
    assert not games.over.any()
    assert not games.capped.any()
    assert games.move_numbers.tolist() == games.winners.tolist() == [0, 0, 0]
    assert games.over.dtype == bool
    assert games.to_play.dtype == np.int8
    assert games.move_numbers.dtype == np.int32


def test_only_the_named_games_move() -> None:
    games = GameBatch(3, size=5)
    games.play(ints(2, 0), ints(12, 25))
    assert games.move_numbers.tolist() == [1, 0, 1]
    assert games.to_play.tolist() == [WHITE, BLACK, WHITE]
    assert games.moves(2).tolist() == [12]
    assert games.moves(0).tolist() == [25]
    assert games.moves(1).size == 0
    games.reset(ints(2))
    assert games.move_numbers.tolist() == [1, 0, 0]
    assert games.moves(2).size == 0


def test_the_views_cannot_be_written() -> None:
    games = GameBatch(2, size=5)
    with pytest.raises(ValueError, match="read-only"):
        games.over[0] = True


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32), size=st.integers(2, 7))
def test_agrees_with_single_boards(seed: int, size: int) -> None:
    games = GameBatch(3, size=size)
    boards = [Board(size=size) for _ in range(3)]
    seeds = seeds_of(3, seed)
    for _ in range(2 * size * size):
        live = np.flatnonzero(~games.over).astype(np.int32)
        if not live.size:
            break
        legal, sensible = games.legal(live), games.sensible(live)
        moves = games.sample(live, flat(live.size, size), 1.0, seeds[live])
        for row, (game, move) in enumerate(zip(live, moves, strict=True)):
            assert (legal[row] == boards[game].legal_mask()).all()
            assert (sensible[row] == boards[game].sensible_mask()).all()
            assert sensible[row, move] if sensible[row].any() else move == size * size
            boards[game].play(int(move))
        games.play(live, moves)
    for number, board in enumerate(boards):
        assert games.board(number).hash == board.hash
        assert games.to_play[number] == board.to_play
        assert games.over[number]
        assert games.winners[number] == np.sign(board.area_score())
        assert games.capped[number] == (not board.is_over)


def test_planes_of_many_games_are_the_planes_of_each() -> None:
    games = GameBatch(40, size=7)
    everyone = np.arange(40, dtype=np.int32)
    seeds = seeds_of(40)
    for ply in range(25):
        some = everyone[ply % 3 :]
        games.play(some, games.sample(some, flat(some.size, 7), 1.0, seeds[some]))
    for player_colour, channels in ((False, 48), (True, 49)):
        planes = games.planes(everyone, player_colour=player_colour)
        assert planes.shape == (40, channels, 7, 7)
        assert planes.dtype == np.uint8
        assert (planes == games.planes(everyone, player_colour=player_colour, threads=4)).all()
        assert (planes[[17]] == games.planes(ints(17), player_colour=player_colour)).all()
    sensible = games.sensible(everyone)
    assert (planes[:, 46].reshape(40, -1) == sensible).all()
    assert (planes[:, 48, 0, 0] == (games.to_play == BLACK)).all()
    out = np.full((64, 48, 7, 7), 7, dtype=np.uint8)
    assert games.planes(ints(3, 5), out=out).ctypes.data == out.ctypes.data
    assert (out[:2] == planes[[3, 5], :48]).all()
    assert (out[2:] == 7).all()


def test_the_same_games_whatever_the_group() -> None:
    seeds = seeds_of(30)
    batches = [GameBatch(30, size=5) for _ in range(3)]
    for games, group in zip(batches, (1, 7, 30), strict=True):
        finish(games, seeds, group)
    for game in range(30):
        assert len({tuple(games.moves(game)) for games in batches}) == 1
    assert len({tuple(batches[0].moves(game)) for game in range(30)}) == 30
    games = GameBatch(30, size=5)
    everyone = np.arange(30, dtype=np.int32)
    one = games.sample(everyone, flat(30, 5), 1.0, seeds, threads=1)
    assert (one == games.sample(everyone, flat(30, 5), 1.0, seeds, threads=5)).all()


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_the_draws_follow_the_tempered_distribution(temperature: float) -> None:
    n = 20_000
    games = GameBatch(n, size=2)
    probabilities = np.tile(np.array([0.1, 0.2, 0.3, 0.4], dtype=np.float32), (n, 1))
    moves = games.sample(np.arange(n, dtype=np.int32), probabilities, temperature, seeds_of(n))
    expected = probabilities[0] ** (1.0 / temperature)
    expected /= expected.sum()
    assert np.bincount(moves, minlength=4) / n == pytest.approx(expected, abs=0.015)


def test_temperature_zero_takes_the_most_probable_sensible_move() -> None:
    games = GameBatch(2, size=5)
    games.play(ints(0), ints(12))
    probabilities = flat(2, 5)
    probabilities[:, 12] = 0.9
    probabilities[:, 7] = 0.5
    assert games.sample(ints(0, 1), probabilities, 0.0, seeds_of(2)).tolist() == [7, 12]


def test_zero_probabilities_leave_the_sensible_moves_equally_likely() -> None:
    n = 4_000
    games = GameBatch(n, size=2)
    everyone = np.arange(n, dtype=np.int32)
    moves = games.sample(everyone, np.zeros((n, 4), dtype=np.float32), 0.7, seeds_of(n))
    assert np.bincount(moves, minlength=4) / n == pytest.approx(0.25, abs=0.03)


def test_not_a_number_is_refused() -> None:
    with pytest.raises(ValueError, match="not a number"):
        GameBatch(1, size=5).sample(ints(0), np.full((1, 25), np.nan, dtype=np.float32), 1.0, seeds_of(1))


def test_passes_when_no_sensible_move_is_left() -> None:
    # Black fills the board but for two eyes; White then has no legal point at all.
    games = GameBatch(1, size=3, komi=0.5)
    for black in (0, 1, 3, 4, 5, 7, 8):
        games.play(ints(0), ints(black))
        games.play(ints(0), ints(9)) if black != 8 else None
    assert games.to_play[0] == WHITE
    assert not games.sensible(ints(0)).any()
    assert games.sample_legal(ints(0), seeds_of(1)).tolist() == [-1]
    games.play(ints(0), games.sample(ints(0), flat(1, 3), 1.0, seeds_of(1)))
    assert games.sample(ints(0), flat(1, 3), 1.0, seeds_of(1)).tolist() == [9]  # only own eyes are left
    assert set(games.sample_legal(ints(0), seeds_of(1)).tolist()) <= {2, 6}
    games.play(ints(0), ints(9))
    assert games.over[0]
    assert games.winners[0] == BLACK
    assert not games.capped[0]


def test_uniform_legal_moves_hit_every_point() -> None:
    n = 5_000
    games = GameBatch(n, size=2)
    everyone = np.arange(n, dtype=np.int32)
    games.play(everyone, np.zeros(n, dtype=np.int32))
    moves = games.sample_legal(everyone, seeds_of(n))
    assert np.bincount(moves, minlength=4) / n == pytest.approx([0, 1 / 3, 1 / 3, 1 / 3], abs=0.03)


def test_the_cap_ends_a_game_as_it_stands() -> None:
    games = GameBatch(1, size=5, max_plies=1)
    games.play(ints(0), ints(12))
    assert games.over[0]
    assert games.capped[0]
    assert games.winners[0] == BLACK
    with pytest.raises(ValueError, match="game 0 is over"):
        games.play(ints(0), ints(3))


@pytest.mark.parametrize("rule", ["positional", "situational", "simple"])
def test_games_keep_the_ko_rule_that_they_were_made_with(rule: str) -> None:
    games = GameBatch(1, size=5, komi=3.5, ko_rule=rule)
    games.reset(ints(0))
    assert games.board(0).ko_rule == rule
    assert games.board(0).komi == games.komi == 3.5


@pytest.mark.parametrize(
    ("indices", "moves", "message"),
    [
        (ints(5), ints(0), "game 5 is not in a batch of 2"),
        (ints(-1), ints(0), "game -1 is not in a batch of 2"),
        (ints(0, 1), ints(0), "2 games but 1 moves"),
    ],
)
def test_bad_lists_are_refused(indices: np.ndarray, moves: np.ndarray, message: str) -> None:
    with pytest.raises((ValueError, IndexError), match=message):
        GameBatch(2, size=5).play(indices, moves)


def test_an_illegal_move_names_its_game() -> None:
    games = GameBatch(4, size=5)
    games.play(ints(3), ints(12))
    with pytest.raises(IllegalMoveError, match="game 3: illegal move W C3 at move 2: the point is occupied"):
        games.play(ints(3), ints(12))
