"""Stage 5: the value set, exactly one position from each of many self-play games (Methods, value networks).

The set is made in shards. Shards that are on disk whole are kept, missing ones are made, so that a run that
was interrupted, or a worker that broke, costs at most the shards it was working on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from datasets.store import remove_parts
from datasets.value import finish_value_set
from models.checkpoint import check, read_header
from tasks.distributed import thread_count
from tasks.params import GenerateValueSetParams
from tasks.reporting import Reporter
from tasks.shard_workers import MapShards, on_processes
from tasks.value_shards import (
    DATASET_FOLDER,
    Report,
    finished_report,
    make_shard,
    shard_key,
    shard_sizes,
)
from tasks.value_statistics import set_figure, set_metrics, summary


def run_generate_value_set(
    params: GenerateValueSetParams,
    inputs: dict[str, Path],
    folder: Path,
    run: Reporter,
    map_shards: MapShards | None = None,
) -> dict[str, Any]:
    """Make the missing shards with inputs["sl_policy"] and inputs["rl_policy"], then close the dataset.

    `map_shards`, when given, makes them (as Prefect tasks, on a cluster); without it `params.workers`
    processes do, or this one. Raises CheckpointError for a policy that is missing or for another board.
    """
    for name in ("sl_policy", "rl_policy"):
        check(inputs[name], read_header(inputs[name]), "policy", params.board_size)
    remove_parts(folder)
    key, sizes = shard_key(params, inputs), shard_sizes(params)
    found = [finished_report(folder, shard, key, size) for shard, size in enumerate(sizes)]
    missing = [shard for shard, report in enumerate(found) if report is None]
    done = sum(sizes) - sum(sizes[shard] for shard in missing)
    run.progress(done, params.positions, f"{len(missing)} of {len(sizes)} shards to make")
    make = partial(make_shard, shared_out(params), inputs, folder)
    made = map_shards(make, missing) if map_shards else on_processes(make, missing, processes(params))
    for report in watched(made, run):
        found[report["shard"]] = report
        done += report["positions"]
        run.progress(done, params.positions)
    return close(params, folder, [report for report in found if report is not None], run)


def processes(params: GenerateValueSetParams) -> int:
    """How many of this machine make shards at the same time."""
    return params.workers if params.runner == "processes" else 1


def shared_out(params: GenerateValueSetParams) -> GenerateValueSetParams:
    """Every core once: workers that were given no number of threads share them out; tasks on Ray take one."""
    if params.threads:
        return params
    threads = 1 if params.runner == "ray" else max(1, thread_count(0) // processes(params))
    return params.model_copy(update={"threads": threads})


def watched(reports: Iterable[Report], run: Reporter) -> Iterator[Report]:
    """Log every new shard as it comes."""
    for report in reports:
        run.log_metrics(
            {
                "shard/redrawn": float(report["redrawn"]),
                "shard/capped": float(report["capped"]),
                "shard/mean_plies": report["plies"] / report["positions"],
                "shard/mover_won": report["mover_won"] / report["positions"],
            },
            step=report["shard"],
        )
        yield report


def close(
    params: GenerateValueSetParams, folder: Path, reports: list[Report], run: Reporter
) -> dict[str, Any]:
    """Write the manifest over all shards and tell what the set is made of."""
    metrics = set_metrics(folder, reports)
    names = [name for report in reports for name in report["files"]]
    finish_value_set(folder / DATASET_FOLDER, params.board_size, names, statistics=metrics)
    run.log_metrics(metrics)
    run.log_figure("value-set.png", set_figure(reports))
    return {
        "outputs": {"value_set": {"path": DATASET_FOLDER, "kind": "dataset"}},
        "metrics": metrics,
        "summary": summary(metrics),
    }
