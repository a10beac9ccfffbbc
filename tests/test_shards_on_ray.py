"""Shards and parts of a corpus made on a real Ray cluster of two workers, one of which is killed."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import psutil
import pytest
import torch
from fault_helpers import Home, children, end_group, wait_until

from models.checkpoint import save_checkpoint
from models.networks import PolicyNet
from models.ray_connection import keep_on_loopback

keep_on_loopback()
pytest.importorskip("prefect_ray", reason="prefect-ray is not installed: pip install '.[cluster]'")

SIZE = 9
SHARDS = 6
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture
def policies(tmp_path: Path) -> list[str]:
    given = []
    for seed, name in enumerate(("sl_policy", "rl_policy")):
        torch.manual_seed(seed)
        net = PolicyNet(SIZE, filters=16, layers=3)
        given += ["--input", f"{name}={save_checkpoint(tmp_path / f'{name}.safetensors', net)}"]
    return given


def working_on_shards(pid: int) -> list[int]:
    return children(pid, "ray::generate-value-set: shard")


def test_a_killed_worker_costs_time_and_nothing_else(policies: list[str], tmp_path: Path) -> None:
    command = ["run", "generate-value-set", "--profile", "demo", *policies]
    for setting in (f"positions={SHARDS * 1000}", "shard_positions=1000", "threads=1", "workers=2"):
        command += ["--set", setting]
    here, there = Home(tmp_path / "here"), Home(tmp_path / "on ray")
    here.run(*command, "--set", "runner=threads")
    process = there.start(*command, "--set", "runner=ray")
    try:
        wait_until(lambda: len(working_on_shards(process.pid)) == 2)
        below = psutil.Process(process.pid).children(recursive=True)
        os.kill(working_on_shards(process.pid)[0], signal.SIGKILL)
        said, _ = process.communicate()
        assert process.returncode == 0, said
        psutil.wait_procs(below, timeout=30)
        assert not [one for one in below if one.is_running()]  # the cluster ends with the run
    finally:
        end_group(process)
    assert there.digests() == here.digests()
    assert len(list(there.folder.glob("data/generate-value-set/*/shards/*.json"))) == SHARDS


def test_records_are_read_on_ray_to_the_same_bytes(tmp_path: Path) -> None:
    command = ["run", "parse-games", "--profile", "demo", "--set", "threads=2"]
    for setting in ("max_games=300", "files_per_chunk=100", "games_per_file=50"):
        command += ["--set", setting]
    here, there = Home(tmp_path / "here"), Home(tmp_path / "on ray")
    here.run(*command)
    there.run(*command, "--set", "runner=ray")
    assert there.digests() == here.digests()


def test_a_cluster_that_does_not_answer_is_told_in_one_line(tmp_path: Path) -> None:
    process = Home(tmp_path).start(
        "run", "parse-games", "--profile", "demo", "--set", "runner=ray", "--set", "ray.address=127.0.0.1:1"
    )
    said, _ = process.communicate()
    assert process.returncode == 2
    last = said.strip().splitlines()[-1]
    assert last.startswith("alphago: runner=ray: no Ray cluster answers at 127.0.0.1:1")
