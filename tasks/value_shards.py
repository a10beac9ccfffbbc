"""A shard of the value set on disk: two parquet files, the positions' hashes, and a report written last.

A shard with a report is whole; one without is made anew. What it holds depends on nothing but the
parameters, the digests of the two policies and its number.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from datasets.store import write_bytes
from datasets.value import ValueRows, write_value_shard
from models.checkpoint import load_policy
from models.evaluators import PolicyEvaluator
from tasks.digests import file_digest, json_digest
from tasks.distributed import pick_device, thread_count, torch_threads
from tasks.params import GenerateValueSetParams
from tasks.store import write_text
from tasks.value_games import ShardGames, play_shard

DATASET_FOLDER = "value-set"
SHARD_FOLDER = "shards"
LENGTH_BIN = 10  # plies

# Parameters that change who works how, but nothing in a shard.
WITHOUT_EFFECT = {"threads", "workers", "parallel_games", "positions", "runner", "ray"}

Report = dict[str, Any]


def shard_sizes(params: GenerateValueSetParams) -> list[int]:
    """Positions of each shard; only the last may be smaller."""
    whole, rest = divmod(params.positions, params.shard_positions)
    return [params.shard_positions] * whole + ([rest] if rest else [])


def shard_key(params: GenerateValueSetParams, inputs: Mapping[str, Path]) -> str:
    """Digest of all that a shard's content depends on, but for its number and size."""
    policies = {name: file_digest(inputs[name]) for name in ("sl_policy", "rl_policy")}
    return json_digest({"params": params.model_dump(mode="json", exclude=WITHOUT_EFFECT), **policies})


def make_shard(
    params: GenerateValueSetParams, inputs: Mapping[str, Path], folder: Path, shard: int
) -> Report:
    """Play the games of one shard and write it under `folder`, whole; returns its report.

    Raises CheckpointError for a policy that is missing or for another board.
    """
    device = str(pick_device(params.compute.device))

    def evaluator(name: str) -> PolicyEvaluator:
        net = load_policy(inputs[name], params.board_size)
        return PolicyEvaluator(net, 1, params.compute.precision, params.network_batch, device)

    sl, rl = evaluator("sl_policy"), evaluator("rl_policy")
    count = shard_sizes(params)[shard]
    with torch_threads(params.threads):
        games = play_shard(params, sl, rl, shard, count, thread_count(params.threads))
    files = write_rows(params, folder, shard, games)
    write_hashes(hashes_path(folder, shard), games)
    report = describe(games) | {"key": shard_key(params, inputs), "shard": shard, "files": files}
    write_text(report_path(folder, shard), json.dumps(report) + "\n")
    return report


def finished_report(folder: Path, shard: int, key: str, positions: int) -> Report | None:
    """The report of a shard that is on disk whole and is the one wanted; None if it has to be made."""
    try:
        report: Report = json.loads(report_path(folder, shard).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    files = [folder / DATASET_FOLDER / name for name in report.get("files", [])]
    wanted = report.get("key") == key and report.get("positions") == positions
    whole = all(path.exists() for path in [*files, hashes_path(folder, shard)])
    return report if wanted and whole else None


def write_rows(params: GenerateValueSetParams, folder: Path, shard: int, games: ShardGames) -> list[str]:
    """The shard's parquet files: its last games are the test split. Returns their names."""
    held_out = round(len(games) * params.test_share)
    parts = {"train": slice(0, len(games) - held_out), "test": slice(len(games) - held_out, len(games))}
    names = []
    for split, rows in parts.items():
        if rows.start == rows.stop:
            continue
        numbers = np.arange(rows.start, rows.stop, dtype=np.int64) + shard * params.shard_positions
        values = ValueRows(
            games.planes[rows],
            games.outcomes[rows],
            games.to_play[rows],
            games.u[rows].astype(np.int16),
            numbers,
        )
        names.append(write_value_shard(folder / DATASET_FOLDER, split, shard, params.board_size, values))
    return names


def write_hashes(path: Path, games: ShardGames) -> None:
    """Whole, through a name of its own: on a cluster two machines may end up with the same shard."""
    file = BytesIO()
    np.save(file, games.hashes)
    write_bytes(path, file.getvalue())


def describe(games: ShardGames) -> Report:
    """What statistics need of a shard: counts that add up over shards."""
    black_won = games.outcomes * games.to_play > 0
    return {
        "positions": len(games),
        "redrawn": int(games.draws.sum()) - len(games),
        "without_legal_point": games.without_legal_point,
        "capped": int(games.capped.sum()),
        "plies": int(games.plies.sum()),
        "black_won": int(black_won.sum()),
        "mover_won": int((games.outcomes > 0).sum()),
        "drawn": int((games.outcomes == 0).sum()),
        "u": np.bincount(games.u).tolist(),
        "lengths": np.bincount(games.plies // LENGTH_BIN).tolist(),
    }


def report_path(folder: Path, shard: int) -> Path:
    return folder / SHARD_FOLDER / f"{shard:05d}.json"


def hashes_path(folder: Path, shard: int) -> Path:
    return folder / SHARD_FOLDER / f"{shard:05d}.npy"
