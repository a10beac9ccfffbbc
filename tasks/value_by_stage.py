"""Fig. 2b of the paper: how well positions of human games are judged, by stage of the game.

Judges are the value network, with one evaluation, and rollouts to the end of the game, by uniformly random
moves, the rollout policy, the SL and the RL policy. The judgement is compared with the outcome of the game.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from datasets.records import GameRecord
from datasets.store import DatasetError
from datasets.tables import iterate_games
from go_engine import BLACK, Board, GameBatch, RolloutPolicy, planes_batch, random_playouts
from models.checkpoint import load_policy, load_value
from models.evaluators import PolicyEvaluator, ValueEvaluator
from tasks.distributed import pick_device, thread_count, torch_threads
from tasks.errors import UserError
from tasks.params import ValueByStageParams
from tasks.reporting import Reporter
from tasks.self_play import NOBODY, Games, Seat, SelfPlay, game_seeds

matplotlib.use("Agg")

TABLE = "value-by-stage.md"
FIGURE = "value-by-stage.png"
DEFAULT_KOMI = 7.5  # of games that do not name theirs

# A judge looks at a position and says what outcome it expects, -1..1, for the player to move.
Judge = Callable[["Position"], float]


@dataclass(frozen=True)
class Position:
    """A position of a game. `outcome` is the game's for the player to move, `seed` that of its rollouts."""

    board: Board
    moves: tuple[int, ...]  # from the empty board, Black first
    stage: int
    outcome: int
    seed: int


def run_value_by_stage(
    params: ValueByStageParams, inputs: dict[str, Path], folder: Path, run: Reporter
) -> dict[str, Any]:
    """Judge positions of the held-out games of inputs["games"]; write table and figure into `folder`.

    Judges are those of value_network, rollout_policy, sl_policy and rl_policy that `inputs` has, and uniform
    rollouts. Raises UserError when there is no game to judge.
    """
    positions = choose_positions(params, inputs["games"])
    judges = make_judges(params, inputs)
    errors: dict[str, dict[int, list[float]]] = {name: {} for name in judges}
    with torch_threads(params.threads):
        for number, position in enumerate(positions):
            for name, judge in judges.items():
                error = (position.outcome - judge(position)) ** 2
                errors[name].setdefault(position.stage, []).append(error)
            run.progress(number + 1, len(positions), f"stage {position.stage}")
    means = {name: {stage: float(np.mean(part)) for stage, part in of.items()} for name, of in errors.items()}
    text = table(means, params.stage_moves)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / TABLE).write_text(text, encoding="utf-8")
    run.log_text(TABLE, text)
    run.log_figure(FIGURE, figure(means, params.stage_moves))
    whole = {name: float(np.mean([e for part in of.values() for e in part])) for name, of in errors.items()}
    return {
        "outputs": {"value_by_stage": {"path": folder / TABLE, "kind": "artifact"}},
        "metrics": {f"mse/{name}": value for name, value in whole.items()},
        "summary": ", ".join(f"{name} {value:.3f}" for name, value in whole.items()),
    }


def choose_positions(params: ValueByStageParams, games: Path) -> list[Position]:
    """One position of every stage of each game; games of the test split without setup, with a winner."""
    try:
        fit = (game for game in iterate_games(games, "test") if is_plain(game, params.board_size))
        chosen = list(islice(fit, params.games))
    except DatasetError as error:
        raise UserError(str(error)) from error
    if not chosen:
        raise UserError(f"{games}: no held-out game that begins on the empty board and has a winner")
    return [position for number, game in enumerate(chosen) for position in positions_of(game, number, params)]


def is_plain(game: GameRecord, size: int) -> bool:
    """Whether a game begins on the empty board, goes on in turn, and was won by somebody."""
    in_turn = all(colour == (BLACK if n % 2 == 0 else -BLACK) for n, (colour, _) in enumerate(game.moves))
    return game.size == size and bool(game.winner) and in_turn and not game.black and not game.white


def positions_of(game: GameRecord, number: int, params: ValueByStageParams) -> Iterator[Position]:
    """A random position of each stage, before anybody passes."""
    assert game.winner
    moves = [move for _, move in game.moves]
    passing = game.size * game.size
    end = moves.index(passing) if passing in moves else len(moves)
    generator = np.random.default_rng([params.seed, number])
    for first in range(0, end, params.stage_moves):
        ply = int(generator.integers(first, min(first + params.stage_moves, end)))
        board = Board(game.size, game.komi if game.komi is not None else DEFAULT_KOMI, "simple")
        for move in moves[:ply]:
            board.play(move)
        seed = int(generator.integers(2**31))
        stage = first // params.stage_moves
        yield Position(board, tuple(moves[:ply]), stage, game.winner * board.to_play, seed)


def make_judges(params: ValueByStageParams, inputs: dict[str, Path]) -> dict[str, Judge]:
    """The judges by name, in the paper's order. Raises CheckpointError for a file that does not fit."""
    threads = thread_count(params.threads)
    device, precision = str(pick_device(params.compute.device)), params.compute.precision
    judges: dict[str, Judge] = {
        "uniform rollouts": lambda at: mean_winner(
            at, random_playouts(at.board, params.rollouts, at.seed, threads)[0]
        )
    }
    if "rollout_policy" in inputs:
        fast = RolloutPolicy.load(inputs["rollout_policy"])
        judges["rollout policy"] = lambda at: mean_winner(
            at, fast.playouts(at.board, params.rollouts, at.seed, threads)[0]
        )
    for name, title in (("sl_policy", "SL policy"), ("rl_policy", "RL policy")):
        if name in inputs:
            net = load_policy(inputs[name], params.board_size)
            seat = Seat(PolicyEvaluator(net, 1, precision, params.rollouts, device), params.temperature)
            judges[title] = lambda at, seat=seat: judged_by_games(at, seat, params.rollouts, threads)  # type: ignore[misc]
    if "value_network" in inputs:
        value = ValueEvaluator(
            load_value(inputs["value_network"], params.board_size), 1, precision, 1, device
        )
        judges["value network"] = lambda at: float(
            value.values(planes_batch([at.board], player_colour=True))[0]
        )
    return judges


def mean_winner(at: Position, winners: np.ndarray) -> float:
    """The mean outcome of rollouts for the player to move."""
    return float(np.mean(winners)) * at.board.to_play


def judged_by_games(at: Position, seat: Seat, count: int, threads: int) -> float:
    """The mean outcome of `count` games that a network plays on from the position against itself."""
    games = GameBatch(count, size=at.board.size, komi=at.board.komi, ko_rule="simple")
    everyone = np.arange(count, dtype=np.int32)
    for move in at.moves:
        games.play(everyone, np.full(count, move, np.int32))

    def on_moved(moved: Games) -> None:
        play.seat_of[moved] = np.where(games.over[moved], NOBODY, 0)

    play = SelfPlay(games, (seat,), count, on_moved, threads=threads)
    play.seed_of[:] = game_seeds(at.seed, count=count)
    on_moved(everyone)
    play.run()
    return mean_winner(at, games.winners)


def table(means: dict[str, dict[int, float]], stage_moves: int) -> str:
    """Mean squared error of every judge at every stage, as Markdown."""
    stages = sorted({stage for of in means.values() for stage in of})
    heads = [f"{stage * stage_moves}-{(stage + 1) * stage_moves - 1}" for stage in stages]
    lines = [f"| judge, moves | {' | '.join(heads)} |", f"|---|{'---:|' * len(stages)}"]
    for name, of in means.items():
        cells = [f"{of[stage]:.3f}" if stage in of else "" for stage in stages]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def figure(means: dict[str, dict[int, float]], stage_moves: int) -> Figure:
    drawn = Figure(figsize=(6, 4), layout="constrained")
    axes = drawn.subplots()
    for name, of in means.items():
        middles = [(stage + 0.5) * stage_moves for stage in sorted(of)]
        axes.plot(middles, [of[stage] for stage in sorted(of)], marker="o", markersize=3, label=name)
    axes.set_xlabel("move number")
    axes.set_ylabel("mean squared error")
    axes.grid(alpha=0.3)
    axes.legend()
    return drawn
