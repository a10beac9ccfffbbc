"""Search players from the words after `search:` in a player's line (see `tasks.players`).

Besides the networks: lambda (weight of rollouts against values), simulations, leaves (of one game in a
network batch), seconds (of thought per move instead, with search threads and thus not reproducible),
threads, resign=1, ponder=1, precision=bfloat16, evaluator=torch (what computes the networks, see
`models.backends`; auto takes OpenVINO where it is installed), and the search's parameters by name: c_puct,
beta, virtual_loss, n_thr or expansion_threshold, resign_threshold, memory_mb and so on. Rollouts are played
when a rollout policy is named; rollouts=1 plays uniform ones without, as does a search that names no value
network either.

network_workers=2 and rollout_workers=8 have the networks and the rollouts computed by so many workers on Ray,
of the cluster at ray=ADDRESS or without of this machine, with gpus=0.5 of one for each network worker.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

from go_engine import SearchParams
from models.backends import BackendName
from models.evaluators import PolicyEvaluator, ValueEvaluator
from models.precision import Precision
from models.search_cluster import SearchCluster, WorkerPlan
from models.timed_player import TimedSearchPlayer
from tasks.errors import UserError
from tasks.players import load_policy_net, load_rollout, load_value_net

PLAYER_SETTINGS: dict[str, Callable[[str], Any]] = {
    "simulations": int,
    "leaves": int,
    "threads": int,
    "seconds": float,
    "rollouts": lambda text: bool(int(text)),
    "resign": lambda text: bool(int(text)),
    "ponder": lambda text: bool(int(text)),
}
WORKERS: dict[str, Callable[[str], Any]] = {
    "network_workers": int,
    "rollout_workers": int,
    "gpus": float,
    "ray": str,
}
SPELLINGS = {"lambda": "mixing", "n_thr": "expansion_threshold", "n_vl": "virtual_loss"}


def make_search_player(
    spec: str,
    files: dict[str, Path],
    arguments: dict[str, str],
    size: int | None,
    seed: int,
    threads: int,
    name: str,
) -> TimedSearchPlayer:
    """`files` names what the search is to use: policy, value, rollout, tree. UserError for a bad setting."""
    texts = dict(arguments)
    network = {
        "precision": _choice(spec, texts, "precision", get_args(Precision)),
        "backend": _choice(spec, texts, "evaluator", get_args(BackendName)),
    }
    player: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    workers: dict[str, Any] = {}
    for key, text in texts.items():
        try:
            if key in WORKERS:
                workers[key] = WORKERS[key](text)
            elif key in PLAYER_SETTINGS:
                player[key] = PLAYER_SETTINGS[key](text)
            else:
                known = SPELLINGS.get(key, key)
                settings[known] = type(getattr(SearchParams(), known))(float(text))
        except AttributeError:
            raise UserError(f"player {spec!r}: {key} is no setting of search") from None
        except ValueError:
            raise UserError(f"player {spec!r}: {key}={text} is no number") from None
    for key in ("rollout", "tree"):
        if key in files:
            player[key] = load_rollout(files[key])
    player.setdefault("threads", threads)
    player.setdefault("rollouts", "rollout" in files or "value" not in files)
    try:
        if "policy" in files:
            player["policy"] = PolicyEvaluator(load_policy_net(files["policy"], size), **network)
        if "value" in files:
            player["value"] = ValueEvaluator(load_value_net(files["value"], size), **network)
        player["cluster"] = _cluster(workers, files, size, network, player["rollouts"])
        return TimedSearchPlayer(**player, seed=seed, name=name, settings=settings)
    except (TypeError, ValueError) as error:
        raise UserError(f"player {spec!r}: {error}") from error


def _choice(spec: str, texts: dict[str, str], key: str, known: tuple[str, ...]) -> Any:
    """The setting taken out of `texts`; the first of those known when it is not there."""
    given = texts.pop(key, known[0])
    if given not in known:
        raise UserError(f"player {spec!r}: {key}={given} is none of {', '.join(known)}")
    return given


def _cluster(
    workers: dict[str, Any], files: dict[str, Path], size: int | None, network: dict[str, Any], rollouts: bool
) -> SearchCluster | None:
    """The workers that were asked for; None when none were. Raises ValueError for those without work."""
    networks, players = workers.get("network_workers", 0), workers.get("rollout_workers", 0)
    if min(networks, players) < 0:
        raise ValueError("there are no fewer than 0 workers")
    if networks and not {"policy", "value"} & set(files):
        raise ValueError("network_workers have nothing to do without policy and value network")
    if players and not rollouts:
        raise ValueError("rollout_workers have nothing to do without rollouts")
    if not networks and not players:
        if workers:
            raise ValueError(f"{next(iter(workers))} is of no use without network_workers or rollout_workers")
        return None
    return SearchCluster(
        WorkerPlan(
            networks=networks,
            rollouts=players,
            address=workers.get("ray", ""),
            gpus=workers.get("gpus", 0.0),
            policy=files.get("policy"),
            value=files.get("value"),
            rollout=files.get("rollout"),
            size=size,
            **network,
        )
    )
