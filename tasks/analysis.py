"""What a search player thinks of a position of a game: the paper's Fig. 5, as PNG and as one HTML page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from datasets import GameRecord, RejectedGame, read_games
from go_engine import BLACK, Board, planes_batch, vertex
from go_engine._core import EdgeReport
from go_engine.search import Search
from go_engine.search_export import principal_variation, to_sgf, tree
from models.evaluators import ValueEvaluator
from models.search_player import SearchPlayer
from tasks.analysis_page import write_page
from tasks.analysis_plot import Analysis, Panel, write_image
from tasks.errors import UserError
from tasks.players import Setting, make_player

DEFAULT_KOMI = 7.5
PERCENT = 100.0


def analyze(
    game_path: Path, move_number: int, player_spec: str, out_dir: Path, seed: int = 0, threads: int = 1
) -> dict[str, Path]:
    """Analyse the position after `move_number` moves; writes analysis.{png,html,json,sgf} to `out_dir`.

    `player_spec` is the line of a search player. Returns the files by their kind. UserError when the game
    cannot be read, has fewer moves, or the player does not search.
    """
    board, title = position(game_path, move_number)
    found, search = think(board, player_spec, seed, threads, title)
    out_dir.mkdir(parents=True, exist_ok=True)
    files = {kind: out_dir / f"analysis.{kind}" for kind in ("png", "html", "json", "sgf")}
    write_image(files["png"], found)
    write_page(files["html"], found)
    files["json"].write_text(json.dumps(tree(search), indent=1) + "\n")
    files["sgf"].write_text(to_sgf(search))
    return files


def position(game_path: Path, move_number: int) -> tuple[Board, str]:
    """The board after so many moves of the first game of a file, and a title for it."""
    if not game_path.is_file():
        raise UserError(f"{game_path}: no such file")
    game = next(iter(read_games(game_path)), None)
    if game is None or isinstance(game, RejectedGame):
        reason = "it holds no game" if game is None else game.reason
        raise UserError(f"{game_path}: {reason}")
    if not 0 <= move_number <= len(game.moves):
        raise UserError(f"{game_path}: the game has moves 0..{len(game.moves)}, not {move_number}")
    return replay(game, move_number), f"{game_path.name}, after move {move_number}"


def replay(game: GameRecord, moves: int) -> Board:
    komi = DEFAULT_KOMI if game.komi is None else game.komi
    board = Board(size=game.size, komi=komi, ko_rule="simple")
    first = game.moves[0][0] if game.moves else (game.first_player or BLACK)
    if game.black or game.white:
        board.setup(black=game.black, white=game.white, to_play=first)
    board.to_play = first
    for colour, move in game.moves[:moves]:
        board.play(move, colour)
    if moves < len(game.moves):
        board.to_play = game.moves[moves][0]
    return board


def think(board: Board, spec: str, seed: int, threads: int, title: str) -> tuple[Analysis, Search]:
    """Let a player search the position. UserError when it does not search."""
    player = make_player(spec, Setting(size=board.size, seed=seed, threads=threads))
    if not isinstance(player, SearchPlayer):
        raise UserError(f"player {spec!r} does not search; use search:...")
    player.new_game(board.size, board.komi)
    player.choose(board)
    search = player.search_of()
    assert search is not None
    return look(search, player.value, player.name, title), search


def look(search: Search, value: ValueEvaluator | None, name: str, title: str = "") -> Analysis:
    """The figure's numbers from a finished search."""
    board = search.board
    edges = search.edges()
    visits = max(sum(edge.visits for edge in edges), 1)
    panels = [
        Panel("a", "Value network: every move's position", successor_values(board, edges, value)),
        Panel(
            "b",
            "Tree, value network alone",
            {e.move: chance(e.value_sum / e.values) for e in edges if e.values},
        ),
        Panel("c", "Tree, rollouts alone", rollout_chances(search, edges)),
        Panel(
            "d", "Policy network", {e.move: PERCENT * e.prior for e in edges if e.prior >= 0.001}, digits=1
        ),
        Panel(
            "e",
            "Share of the visits",
            {e.move: PERCENT * e.visits / visits for e in edges if e.visits},
            digits=1,
        ),
    ]
    return Analysis(
        board=board,
        player=name,
        best=search.best_move(),
        panels=panels,
        line=principal_variation(search),
        simulations=search.stats().simulations,
        title=title,
        candidates=[
            row(search, edge) for edge in sorted(edges, key=lambda e: (-e.visits, -e.prior)) if edge.visits
        ],
    )


def chance(value: float) -> float:
    """From -1..1 to a winning chance in per cent."""
    return PERCENT * (value + 1) / 2


def rollout_chances(search: Search, edges: list[EdgeReport]) -> dict[int, float]:
    if not search.params.use_rollouts:
        return {}
    return {edge.move: chance(edge.wins / edge.visits) for edge in edges if edge.visits}


def successor_values(board: Board, edges: list[EdgeReport], value: ValueEvaluator | None) -> dict[int, float]:
    """What the value network says of the position after each move, for the player who makes it."""
    if value is None:
        return {}
    moves = [edge.move for edge in edges]
    successors = []
    for move in moves:
        after = board.copy()
        after.play(move)
        successors.append(after)
    answers = value.values(planes_batch(successors, player_colour=True))
    return {move: chance(-float(answer)) for move, answer in zip(moves, np.asarray(answers), strict=True)}


def row(search: Search, edge: EdgeReport) -> dict[str, Any]:
    """A line of the table of candidates."""
    size = search.board.size
    line = [edge.move, *principal_variation(search, [edge.move])]
    return {
        "move": vertex(edge.move, size),
        "visits": edge.visits,
        "q": chance(edge.q),
        "value": chance(edge.value_sum / edge.values) if edge.values else None,
        "rollouts": chance(edge.wins / edge.visits) if search.params.use_rollouts else None,
        "prior": PERCENT * edge.prior,
        "placeholder": PERCENT * edge.placeholder,
        "line": " ".join(vertex(move, size) for move in line[:8]),
    }
