"""The distributed search on a real Ray cluster of this machine: workers are killed, the search goes on."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest
import torch

from go_engine import Board, Search
from go_engine.search import Evaluators
from models.checkpoint import save_checkpoint
from models.networks import PolicyNet, ValueNet
from models.ray_connection import keep_on_loopback
from models.search_cluster import RayWorker, SearchCluster, WorkerPlan
from tasks.errors import UserError
from tasks.players import PRETRAINED_FOLDER, Setting, make_player

keep_on_loopback()
ray = pytest.importorskip("ray", reason="Ray is not installed: pip install '.[cluster]'")

SIZE = 9
BUSY_SECONDS = 60.0


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("networks")
    torch.manual_seed(0)
    return {
        "policy": save_checkpoint(folder / "p.safetensors", PolicyNet(SIZE, filters=8, layers=2)),
        "value": save_checkpoint(folder / "v.safetensors", ValueNet(SIZE, filters=8, layers=2, hidden=8)),
        "rollout": PRETRAINED_FOLDER / "rollout-9x9.safetensors",
    }


@pytest.fixture(scope="module")
def cluster(files: dict[str, Path]) -> Iterator[SearchCluster]:
    made = SearchCluster(WorkerPlan(networks=2, rollouts=2, size=SIZE, backend="torch", **files))
    yield made
    made.close()
    ray.shutdown()


def process(worker: RayWorker) -> int:
    number: int = ray.get(worker.actor.ready.remote())
    return number


def until(fulfilled: object) -> None:
    end = time.monotonic() + BUSY_SECONDS
    while not fulfilled():  # type: ignore[operator]
        assert time.monotonic() < end
        time.sleep(0.01)


def answered(search: Search) -> bool:
    """Whether the policy network's priors of the root are there."""
    return any(edge.prior != edge.placeholder for edge in search.edges())


def test_killed_workers_cost_what_they_were_asked_and_come_back(cluster: SearchCluster) -> None:
    search = Search(Board(SIZE), expansion_threshold=4, queue_limit=64)
    drive = cluster.drive(search, Evaluators(), threads=2, leaves=8)
    victims = [cluster.networks[0], cluster.rollouts[0]]
    before = [process(worker) for worker in victims]
    drive.start()
    until(lambda: search.stats().simulations > 200)
    for number in before:
        os.kill(number, signal.SIGKILL)
    reached = search.stats().simulations
    until(lambda: search.stats().simulations > reached + 500)  # the others go on
    until(lambda: answered(search))  # if the worker that died had the root, another is asked
    drive.stop()
    edges = search.edges()
    assert sum(edge.visits for edge in edges) > 500
    assert all(abs(edge.wins) <= edge.visits for edge in edges)  # no virtual loss is left behind
    assert 0 < sum(edge.values for edge in edges) <= sum(edge.visits for edge in edges)
    for worker, number in zip(victims, before, strict=True):
        until(lambda w=worker: w.back(1.0))
        assert process(worker) != number
    drive.think(simulations=100)
    drive.close()


def test_answers_are_those_of_this_process(cluster: SearchCluster, files: dict[str, Path]) -> None:
    spec = "search:policy={policy},value={value},evaluator=torch".format(**files)
    here = make_player(spec, Setting(SIZE))
    planes = np.random.default_rng(0).integers(0, 2, (3, 49, SIZE, SIZE), np.uint8)
    priors, values = cluster.networks[1].answer(planes[:, :48], planes)
    mine = here._evaluators.answer(planes[:, :48], planes)  # type: ignore[attr-defined]
    np.testing.assert_allclose(priors, mine[0], rtol=1e-5)
    np.testing.assert_allclose(values, mine[1], rtol=1e-5)


def test_ray_listens_to_this_machine_alone(cluster: SearchCluster) -> None:  # noqa: ARG001
    me = psutil.Process()
    sockets = [s for p in (me, *me.children(recursive=True)) for s in p.net_connections("tcp")]
    heard = {s.laddr.ip.removeprefix("::ffff:") for s in sockets if s.status == psutil.CONN_LISTEN}
    assert heard == {"127.0.0.1"}


def test_a_player_has_its_work_done_by_workers(files: dict[str, Path]) -> None:
    parts = "policy={policy},value={value},rollout={rollout}".format(**files)
    player = make_player(f"search:{parts},simulations=50,network_workers=1,rollout_workers=1", Setting(SIZE))
    player.new_game(SIZE, 7.5)
    board = Board(SIZE)
    for _ in range(3):
        board.play(player.choose(board))
    assert player.search_of().stats().simulations >= 50  # type: ignore[attr-defined]
    player.close()  # type: ignore[attr-defined]
    player.cluster.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("rollout=pretrained,network_workers=1", "nothing to do without policy and value"),
        ("value={value},rollouts=0,rollout_workers=1", "nothing to do without rollouts"),
        ("rollout=pretrained,ray=127.0.0.1:1", "of no use without network_workers"),
        ("rollout=pretrained,rollout_workers=-1", "no fewer than 0"),
    ],
)
def test_workers_without_work_are_refused(settings: str, said: str, files: dict[str, Path]) -> None:
    with pytest.raises(UserError, match=said):
        make_player("search:" + settings.format(**files), Setting(SIZE))
