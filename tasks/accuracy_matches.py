"""The networks of the accuracy table play against one of them, as bare policies: the wins of ED Table 3."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from models.evaluators import PolicyEvaluator
from models.networks import PolicyNet
from models.players import PolicyPlayer
from tasks.distributed import pick_device, thread_count
from tasks.evaluate_tournament import SEED_STEP, Tournament
from tasks.params import AccuracyTableParams, EvaluateTournamentParams
from tasks.prefixed import PrefixedReporter
from tasks.reporting import Reporter
from tasks.store import write_text
from tasks.tournament_games import Journal, Meeting
from tasks.tournament_play import Rules
from tasks.tournament_report import crosstable

JOURNAL, WINS = "matches.jsonl", "wins.json"
Member = tuple[int, int, int]  # filters, symmetries, planes


def member_name(member: Member) -> str:
    filters, symmetries, planes = member
    return f"{filters} filters, {planes} planes, {symmetries} symmetries"


def wins_against(
    reference: Member,
    nets: Mapping[Member, PolicyNet],
    digests: list[str],
    params: AccuracyTableParams,
    folder: Path,
    run: Reporter,
) -> dict[Member, tuple[float, float, float]]:
    """Share of `params.games` games that each other network wins against the reference, with the interval.

    All play the move that they hold for the likeliest; the games begin with random moves, each opening with
    both colours. `digests` are those of the networks' files: games that were played before count if these are
    the same.
    """
    match = EvaluateTournamentParams(board_size=params.board_size, seed=params.seed, games=params.games)
    threads = thread_count(params.threads)
    entrants = {}
    for place, (member, net) in enumerate(nets.items()):
        evaluator = PolicyEvaluator(
            net, member[1], params.compute.precision, device=str(pick_device(params.compute.device))
        )
        name = member_name(member)
        entrants[name] = PolicyPlayer(evaluator, match.seed + SEED_STEP * (place + 1), 0.0, name, threads)
    meetings = [Meeting(member_name(m), member_name(reference), match.games) for m in nets if m != reference]
    rules = Rules(match.board_size, match.komi, match.opening_plies, match.seed)
    tournament = Tournament(match, entrants, meetings, set(), rules, PrefixedReporter(run, "matches"))
    with Journal(folder / JOURNAL, {"games": match.games, "seed": match.seed, "nets": digests}) as journal:
        tournament.play(journal)
        cells = crosstable(journal.results, list(entrants))
    write_text(folder / WINS, json.dumps(cells, indent=1) + "\n")
    against = {
        c["row"]: (c["share"], c["low"], c["high"]) for c in cells if c["column"] == member_name(reference)
    }
    return {member: against[member_name(member)] for member in nets if member != reference}
