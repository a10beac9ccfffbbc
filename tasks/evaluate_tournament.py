"""Stage 7: the players meet, every pair over many games, and are rated.

Openings are random or of an opening set, the same for all pairs, and each is played with both colours.
Scoring is by area. A game is written to the journal as soon as it ends, so that an interrupted tournament
goes on where it stopped.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, cast

from go_engine.gtp_client import GtpPlayer, find_program
from go_engine.gtp_text import most_handicap
from go_engine.players import BatchPlayer
from tasks.digests import path_digest
from tasks.errors import UserError
from tasks.openings import read_openings
from tasks.params import EvaluateTournamentParams
from tasks.players import Setting, command_line, make_player, needed_inputs, parse_spec
from tasks.reporting import Reporter
from tasks.store import write_text
from tasks.tournament_games import Game, GameResult, Journal, Meeting, more_games, neighbour_games, schedule
from tasks.tournament_play import Clock, Entrant, Guests, Rules, play_apart, play_games
from tasks.tournament_report import (
    conduct,
    crosstable,
    crosstable_markdown,
    elo_chart,
    rate,
    ratings_markdown,
    superiority_markdown,
    write_games,
)

OPENINGS = "openings"  # an input
JOURNAL, GAMES, CROSSTABLE, RATINGS = "journal.jsonl", "games", "crosstable.json", "ratings.csv"
DOES_NOT_MATTER = {"threads", "lanes", "guest_lanes"}  # parameters that change no game
SEED_STEP = 1_000_003  # between players, so that no two share their random numbers


def run_evaluate_tournament(
    params: EvaluateTournamentParams, inputs: Mapping[str, Path], folder: Path, run: Reporter
) -> dict[str, Any]:
    """Play what is not in the folder's journal yet, rate everything, and report.

    Raises UserError when fewer than two players are left, or a name or setting makes no sense.
    """
    setting = Setting(params.board_size, params.seed, params.threads or os.cpu_count() or 1, inputs)
    specs, left_out = present_players(params, inputs)
    guests, absent = present_guests(params)
    left_out += absent
    meetings = pair_up(params, specs, guests, left_out)
    entrants = make_entrants(specs, guests, params, setting)
    identity = {
        "params": params.model_dump(mode="json", exclude=DOES_NOT_MATTER),
        "inputs": {name: path_digest(path) for name, path in inputs.items()},
    }
    openings: list[list[int]] = []
    if OPENINGS in inputs:
        openings = read_openings(inputs[OPENINGS], params.board_size, params.opening_plies, params.seed)
        run.log_metrics({"openings": len(openings)})
    rules = Rules(params.board_size, params.komi, params.opening_plies, params.seed, openings)
    tournament = Tournament(params, entrants, meetings, set(guests), rules, run)
    try:
        with Journal(folder / JOURNAL, identity | {"players": [*specs, *guests]}) as journal:
            tournament.play(journal)
            results = journal.results
    finally:
        for entrant in entrants.values():
            if isinstance(entrant, Guests):
                entrant.close()
    left_out += tournament.not_played()
    return report(params, results, left_out, tournament.clock, folder, run)


class Tournament:
    """Games of the meetings, then of adaptive pairing, then between neighbours. None is played twice."""

    def __init__(
        self,
        params: EvaluateTournamentParams,
        entrants: Mapping[str, Entrant],
        meetings: Sequence[Meeting],
        guests: set[str],
        rules: Rules,
        run: Reporter,
    ) -> None:
        self.params, self.entrants, self.meetings = params, entrants, meetings
        self.guests, self.rules, self.run = guests, rules, run
        self.clock = Clock()
        self._faults: Counter[str] = Counter()
        self._skipped: Counter[str] = Counter()
        self._total = sum(meeting.games for meeting in meetings) + params.adaptive_games

    def play(self, journal: Journal) -> None:
        self._faults.update(r.loser or "" for r in journal.results if r.ending == "forfeit")
        games = schedule(self.meetings)
        self._play_missing(games, journal)
        number, opening = len(games), max((game.opening for game in games), default=-1) + 1
        most = number + self.params.adaptive_games
        while number < most and (candidates := self._candidates()):
            count = min(self.params.adaptive_round, most - number)
            ratings = rate(known_before(number, journal), self.params.rating)
            self._play_missing(more_games(candidates, ratings, count, number, opening), journal)
            number, opening = number + count, opening + count // 2
        while self.params.neighbour_games:
            known = known_before(number, journal)
            order = list(rate(known, self.params.rating)["program"])
            games = neighbour_games(
                self._candidates(), order, known, self.params.neighbour_games, number, opening
            )
            if not games:
                break
            self._total = max(self._total, number + len(games))
            self._play_missing(games, journal)
            number, opening = number + len(games), opening + len(games) // 2

    def _candidates(self) -> list[Meeting]:
        return [meeting for meeting in self.meetings if not self._retired(meeting.first, meeting.second)]

    def not_played(self) -> list[str]:
        return [f"{name}: {n} games were not played after its forfeits" for name, n in self._skipped.items()]

    def _play_missing(self, games: Sequence[Game], journal: Journal) -> None:
        """Those that the journal lacks: first the games among our own players, then those with guests."""
        done = {result.number for result in journal.results}
        missing = [game for game in games if game.number not in done]
        self.run.progress(len(done), self._total, "games")
        for guests in (False, True):
            mine = [game for game in missing if (self._guest(game) is not None) == guests]
            play, lanes = (play_apart, self.params.guest_lanes) if guests else (play_games, self.params.lanes)
            for ended in play(mine, self.entrants, self.rules, lanes, self.clock, self._drop):
                journal.add(ended)
                self._faults.update(r.loser or "" for r in ended if r.ending == "forfeit")
                self.run.progress(len(journal.results), self._total, "games")

    def _drop(self, game: Game) -> bool:
        """Whether a game is left out because its guest has forfeited too often."""
        if not self._retired(game.black, game.white):
            return False
        self._skipped[max((game.black, game.white), key=lambda name: self._faults[name])] += 1
        return True

    def _retired(self, *names: str) -> bool:
        return any(self._faults[name] >= self.params.fault_limit for name in names)

    def _guest(self, game: Game) -> str | None:
        return next((name for name in (game.black, game.white) if name in self.guests), None)


def known_before(number: int, journal: Journal) -> list[GameResult]:
    """The results that games from this number on are chosen by."""
    return sorted((r for r in journal.results if r.number < number), key=lambda r: r.number)


def present_players(
    params: EvaluateTournamentParams, inputs: Mapping[str, Path]
) -> tuple[dict[str, str], list[str]]:
    """Name -> spec of the players whose inputs are there, and a line for each that is left out."""
    specs, left_out = {}, []
    for name, spec in params.players.items():
        if not spec:
            continue
        missing = [need for need in needed_inputs(parse_spec(spec)) if need not in inputs]
        if missing:
            left_out.append(f"{name} is left out: there is no {', no '.join(missing)}")
        else:
            specs[name] = spec
    return specs, left_out


def present_guests(params: EvaluateTournamentParams) -> tuple[dict[str, list[str]], list[str]]:
    """Name -> words of the command line of the guests that are installed, and a line for each that is not."""
    guests, left_out = {}, []
    for name, guest in params.guests.items() if params.guest_games else ():
        if name in params.players:
            raise UserError(f"{name} is the name of a player and of a guest")
        if not guest.command:
            continue
        words = parse_spec(f"gtp:{guest.command}").command
        if find_program(words[0]):
            guests[name] = words
        else:
            left_out.append(f"{name} is left out: {words[0]} is not installed")
    return guests, left_out


def pair_up(
    params: EvaluateTournamentParams,
    specs: Mapping[str, str],
    guests: Mapping[str, list[str]],
    left_out: Sequence[str] = (),
) -> list[Meeting]:
    names = [*specs, *guests]
    if len(names) < 2:
        reasons = dict.fromkeys(line.partition(": ")[2] for line in left_out)
        raise UserError(
            f"a tournament needs two players or more; there is {', '.join(names) or 'none'}: "
            f"{'; '.join(reasons) or 'all are empty'} (inputs are the newest of this profile and board size)"
        )
    if params.pairing == "gauntlet" and params.challenger not in names:
        raise UserError(f"challenger {params.challenger!r} is none of the players: {', '.join(names)}")

    def count(pair: tuple[str, str]) -> int:
        if any(name in guests for name in pair):
            return params.guest_games
        searches = any(parse_spec(specs[name]).kind == "search" for name in pair)
        return params.search_games if searches else params.games

    pairs = combinations(names, 2)
    if params.pairing == "gauntlet":
        pairs = cast(Any, (pair for pair in combinations(names, 2) if params.challenger in pair))
    unknown = [name for name in params.handicaps if name not in names]
    if unknown:
        raise UserError(f"handicap for {unknown[0]!r}, who is none of the players: {', '.join(names)}")
    return [meeting for pair in pairs if (meeting := _meeting(pair, count(pair), params))]


def _meeting(pair: tuple[str, str], games: int, params: EvaluateTournamentParams) -> Meeting | None:
    """A player with handicap takes Black in all its games; two of them do not meet."""
    stones = {name: params.handicaps[name] for name in pair if name in params.handicaps}
    if not stones:
        return Meeting(*pair, games)
    if len(stones) == 2:
        return None
    (black, handicap), *_ = stones.items()
    if handicap > most_handicap(params.board_size):
        raise UserError(f"{black}: {handicap} handicap stones do not fit on the board")
    white = pair[0] if black == pair[1] else pair[1]
    return Meeting(black, white, games, handicap)


def make_entrants(
    specs: Mapping[str, str],
    guests: Mapping[str, list[str]],
    params: EvaluateTournamentParams,
    setting: Setting,
) -> dict[str, Entrant]:
    entrants: dict[str, Entrant] = {}
    for place, (name, spec) in enumerate(specs.items()):
        own = setting._replace(seed=params.seed + SEED_STEP * (place + 1))
        player = make_player(spec, own, name)
        if isinstance(player, BatchPlayer):
            entrants[name] = player
        else:
            raise UserError(f"player {name}: external programs are guests (params.guests), not players")
    for name, words in guests.items():
        entrants[name] = _guest(name, words, params, setting)
    return entrants


def _guest(name: str, words: list[str], params: EvaluateTournamentParams, setting: Setting) -> Guests:
    guest = params.guests[name]

    def make(game: int) -> GtpPlayer:
        argv = command_line(words, setting._replace(seed=params.seed + game))
        return GtpPlayer(argv, name, guest.move_seconds, guest.env)

    return Guests(name, make)


def report(
    params: EvaluateTournamentParams,
    results: Sequence[GameResult],
    left_out: list[str],
    clock: Clock,
    folder: Path,
    run: Reporter,
) -> dict[str, Any]:
    """Write tables, chart and records; the same results give the same files."""
    results = sorted(results, key=lambda result: result.number)
    ratings = rate(results, params.rating)
    order = list(ratings["program"])
    cells = crosstable(results, order)
    write_games(folder / GAMES, results, params.board_size, params.komi)
    write_text(folder / CROSSTABLE, json.dumps(cells, indent=1) + "\n")
    write_text(folder / RATINGS, ratings.to_csv(index=False, float_format="%.3f"))
    board = f"{params.board_size}x{params.board_size}"
    run.log_figure("elo.png", elo_chart(ratings, f"Tournament on {board}, komi {params.komi:g}"))
    notes = [*left_out, *conduct(results)]
    tables = [
        ratings_markdown(ratings),
        crosstable_markdown(cells, order),
        *(["\n".join(f"- {note}" for note in notes)] if notes else []),
    ]
    run.log_text("crosstable.md", "\n\n".join(tables) + "\n")
    run.log_text("superiority.md", superiority_markdown(ratings) + "\n")
    for name, milliseconds in clock.milliseconds_per_move().items():
        run.log_metrics({f"ms_per_move/{metric_name(name)}": milliseconds})
    return {
        "outputs": {
            "games": {"path": GAMES, "kind": "artifact"},
            "crosstable": {"path": CROSSTABLE, "kind": "artifact"},
            "ratings": {"path": RATINGS, "kind": "artifact"},
        },
        "metrics": metrics(results, ratings),
        "summary": "\n\n".join(tables),
    }


def metrics(results: Sequence[GameResult], ratings: Any) -> dict[str, float]:
    found = {f"elo/{metric_name(r.program)}": float(r.elo) for r in ratings.itertuples()}
    plies = [len(result.moves) for result in results]
    return found | {
        "games": float(len(results)),
        "games/length_cap": float(sum(r.ending == "length" for r in results)),
        "games/forfeits": float(sum(r.ending == "forfeit" for r in results)),
        "games/disputed": float(sum(bool(r.claims) for r in results)),
        "games/mean_plies": sum(plies) / len(plies) if plies else 0.0,
    }


def metric_name(player: str) -> str:
    """A player's name with nothing in it that MLflow refuses in the name of a metric."""
    return "".join(c if c.isalnum() or c in "_-. /" else "_" for c in player)
