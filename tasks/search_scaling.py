"""What more threads make of the search (ED Table 8, Fig. 4c): simulations a second, and Elo if wanted.

Every number of threads thinks about the same positions for the same time, each time from an empty tree.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from go_engine import Board
from go_engine.players import RandomPlayer
from models.search_player import SearchPlayer
from tasks import paper
from tasks.errors import UserError
from tasks.evaluate_tournament import run_evaluate_tournament
from tasks.params import EvaluateTournamentParams, SearchScalingParams
from tasks.players import Setting, make_player, needed_inputs, parse_spec
from tasks.prefixed import PrefixedReporter
from tasks.reporting import Reporter
from tasks.store import write_text
from tasks.variants import with_settings

matplotlib.use("Agg")

TABLE, FIGURE, TOURNAMENT = "scaling.md", "scaling.png", "tournament"


class Rate(NamedTuple):
    """Of one number of threads: simulations by the clock, and the processors that were busy with them."""

    simulations: float
    processors: float


def run_search_scaling(
    params: SearchScalingParams, inputs: dict[str, Path], folder: Path, run: Reporter
) -> dict[str, Any]:
    """Measure every number of threads; write table and figure into `folder`.

    Raises UserError when the player is no search or lacks an input.
    """
    parsed = parse_spec(params.player)
    missing = [need for need in needed_inputs(parsed) if need not in inputs]
    if parsed.kind != "search" or missing:
        why = f"there is no {', no '.join(missing)}" if missing else "only a search has threads"
        raise UserError(f"player {params.player!r}: {why}")
    boards = positions(params)
    rates: dict[int, Rate] = {}
    for number, threads in enumerate(params.counts):
        rates[threads] = measured(params, threads, boards, inputs)
        told = f"{threads} threads: {rates[threads].simulations:,.0f} simulations/s"
        run.log_metrics({"simulations_per_second": rates[threads].simulations}, step=threads)
        run.progress(number + 1, len(params.counts), told)
    elo = ratings(params, inputs, folder / TOURNAMENT, run) if params.games and len(rates) > 1 else {}
    text = table(rates, elo)
    write_text(folder / TABLE, text)
    run.log_text(TABLE, text)
    run.log_figure(FIGURE, figure(rates, elo))
    metrics = {f"simulations_per_second/{n}": rate.simulations for n, rate in rates.items()}
    best = max(rates, key=lambda n: rates[n].simulations)
    return {
        "outputs": {"scaling": {"path": folder / TABLE, "kind": "artifact"}},
        "metrics": metrics | {f"elo/{n}": rating for n, rating in elo.items()},
        "summary": f"most simulations, {rates[best].simulations:,.0f}/s, with {best} threads\n\n{text}",
    }


def positions(params: SearchScalingParams) -> list[Board]:
    """Boards after random moves; a pass ends them early."""
    boards = []
    for number in range(params.positions):
        board = Board(params.board_size, params.komi)
        mover = RandomPlayer(int(np.random.default_rng([params.seed, number]).integers(2**63)))
        while board.move_number < params.plies and (move := mover.choose(board)) != board.pass_move:
            board.play(move)
        boards.append(board)
    return boards


def measured(params: SearchScalingParams, threads: int, boards: list[Board], inputs: dict[str, Path]) -> Rate:
    setting = Setting(params.board_size, params.seed, threads, inputs)
    player = make_player(with_settings(params.player, f"seconds={params.seconds:g}"), setting)
    assert isinstance(player, SearchPlayer)
    think(player, boards[0])  # what is made at the first call does not count
    simulations, clock, processor = np.sum([think(player, board) for board in boards], axis=0)
    player.close()
    return Rate(simulations / clock, processor / clock)


def think(player: SearchPlayer, board: Board) -> tuple[float, float, float]:
    """Simulations, seconds by the clock and processor seconds of one move."""
    player.new_game(board.size, board.komi)
    clock, processor = time.perf_counter(), time.process_time()
    player.choose(board)
    spent = time.perf_counter() - clock, time.process_time() - processor
    search = player.search_of()
    assert search is not None
    return float(search.stats().simulations), *spent


def ratings(
    params: SearchScalingParams, inputs: dict[str, Path], folder: Path, run: Reporter
) -> dict[int, float]:
    """Elo of each number of threads, the first at 0, from games among them one at a time."""
    names = {threads: f"{threads} threads" for threads in params.counts}
    thinking = f"seconds={params.seconds:g},threads="
    tournament = EvaluateTournamentParams(
        seed=params.seed,
        board_size=params.board_size,
        threads=params.threads,
        komi=params.komi,
        players={name: with_settings(params.player, f"{thinking}{n}") for n, name in names.items()},
        guests={},
        search_games=params.games,
        lanes=1,
    )
    result = run_evaluate_tournament(tournament, inputs, folder, PrefixedReporter(run, TOURNAMENT))
    elo = {threads: result["metrics"][f"elo/{name}"] for threads, name in names.items()}
    return {threads: rating - elo[params.counts[0]] for threads, rating in elo.items()}


def table(rates: dict[int, Rate], elo: dict[int, float]) -> str:
    """The rates, and the ratings where there are games, beside the paper's ratings."""
    first, base = next(iter(rates.values())), paper.THREADS[1]
    lines = [
        "| threads | simulations/s | times the first | processors busy | Elo above the first "
        "| paper: Elo above 1 thread |",
        "|---:|---:|---:|---:|---:|---:|",
    ]
    for threads, rate in rates.items():
        ours = f"{elo[threads]:.0f}" if threads in elo else ""
        theirs = str(paper.THREADS[threads] - base) if threads in paper.THREADS else ""
        lines.append(
            f"| {threads} | {rate.simulations:,.0f} | {rate.simulations / first.simulations:.2f} "
            f"| {rate.processors:.2f} | {ours} | {theirs} |"
        )
    return "\n".join(lines) + "\n"


def figure(rates: dict[int, Rate], elo: dict[int, float]) -> Figure:
    """Simulations over threads, and Elo beside it where there are games."""
    drawn = Figure(figsize=(9 if elo else 5, 3.6), layout="constrained")
    panels = drawn.subplots(1, 2 if elo else 1, squeeze=False)[0]
    panels[0].plot(list(rates), [rate.simulations for rate in rates.values()], marker="o")
    panels[0].set_ylabel("simulations a second")
    panels[0].set_ylim(bottom=0)
    if elo:
        panels[1].plot(list(elo), list(elo.values()), marker="o")
        panels[1].set_ylabel("Elo above the first")
    for axes in panels:
        axes.set_xlabel("search threads")
        axes.grid(alpha=0.3)
    return drawn
