"""The trainer: the paper's step, learning, exact resumption, signals, several processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import torch
from training_helpers import SIZE, MemorySource, policy_params, value_params

from models.networks import PolicyNet, ValueNet
from tasks.errors import UserError
from tasks.interruption import TrainingInterrupted
from tasks.objectives import policy_objective, value_objective
from tasks.params import ComputeParams, EvaluationParams, OptimizerParams
from tasks.reporting import NullReporter
from tasks.trainer import train
from tasks.training_state import STATE_FILE

ROOT = Path(__file__).resolve().parent.parent
MIXED = ComputeParams(precision="bfloat16", channels_last=True)


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def small_policy(seed: int = 0) -> PolicyNet:
    torch.manual_seed(seed)
    return PolicyNet(SIZE, filters=8, layers=2)


def losses(history: list[dict[str, float]]) -> list[float]:
    return [point["loss"] for point in history]


def test_the_papers_step_is_plain_gradient_descent(tmp_path: Path) -> None:
    net, source = small_policy(), MemorySource()
    weight = net.head.weight.detach().clone()
    batch = source.batch(0)
    loss = torch.nn.functional.cross_entropy(
        net(torch.from_numpy(batch.planes).float()), torch.from_numpy(batch.moves)
    )
    (gradient,) = torch.autograd.grad(loss, [net.head.weight])
    params = policy_params(steps=1, learning_rate=0.003, optimizer=OptimizerParams())
    state = train(net, policy_objective, source, params, tmp_path, NullReporter())
    torch.testing.assert_close(net.head.weight, weight - 0.003 * gradient)
    assert state.history[0]["loss"] == pytest.approx(loss.item(), rel=1e-6)


def test_the_value_step_is_half_the_squared_errors_gradient(tmp_path: Path) -> None:
    torch.manual_seed(0)
    net, source = ValueNet(SIZE, filters=4, layers=2, hidden=8), MemorySource(49)
    batch = source.batch(0)
    weight = net.output.weight.detach().clone()
    value = net(torch.from_numpy(batch.planes).float())
    slope = torch.autograd.grad(value, [net.output.weight], torch.from_numpy(batch.outcomes) - value)[0]
    params = value_params(steps=1, learning_rate=0.01, optimizer=OptimizerParams())
    train(net, value_objective, source, params, tmp_path, NullReporter())
    torch.testing.assert_close(net.output.weight, weight + 0.01 / len(value) * slope)


@pytest.mark.parametrize("compute", [ComputeParams(), MIXED], ids=["float32", "bfloat16"])
def test_a_policy_learns(tmp_path: Path, compute: ComputeParams) -> None:
    run = NullReporter()
    params = policy_params(steps=150, log_every=50, compute=compute)
    state = train(small_policy(), policy_objective, MemorySource(), params, tmp_path, run)
    assert state.history[0]["loss"] > state.history[-1]["loss"]
    assert state.history[-1]["accuracy"] > 0.9
    assert [step for step, _ in run.metrics] == [50, 100, 150]
    assert {"train/loss", "train/top5_accuracy", "train/learning_rate", "train/waiting_share"} <= set(
        run.metrics[0][1]
    )


def test_a_value_network_learns(tmp_path: Path) -> None:
    torch.manual_seed(0)
    net = ValueNet(SIZE, filters=8, layers=2, hidden=16)
    state = train(net, value_objective, MemorySource(49), value_params(steps=150), tmp_path, NullReporter())
    assert state.history[0]["mse"] == pytest.approx(1, abs=0.1)
    assert state.history[-1]["mse"] < 0.1


@pytest.mark.parametrize("compute", [ComputeParams(), MIXED], ids=["float32", "bfloat16"])
@pytest.mark.parametrize("log_every", [1, 5])
@pytest.mark.parametrize("kind", ["sgd", "muon"])
def test_resumed_losses_are_those_of_an_uninterrupted_training(
    tmp_path: Path, compute: ComputeParams, log_every: int, kind: Literal["sgd", "muon"]
) -> None:
    optimizer = OptimizerParams(kind=kind, momentum=0.9, nesterov=True)
    params = policy_params(compute=compute, log_every=log_every, checkpoint_every=4, optimizer=optimizer)
    whole = train(small_policy(), policy_objective, MemorySource(), params, tmp_path / "a", NullReporter())

    def fail(index: int) -> None:
        if index == 11:
            raise OSError("the disk is gone")

    source = MemorySource()
    source.before = fail
    with pytest.raises(OSError, match="the disk is gone"):
        train(small_policy(), policy_objective, source, params, tmp_path / "b", NullReporter())
    assert (tmp_path / "b" / STATE_FILE).exists()
    other = small_policy(seed=9)  # its weights must not matter
    resumed = train(other, policy_objective, MemorySource(), params, tmp_path / "b", NullReporter())
    assert losses(resumed.history) == losses(whole.history)
    for name, tensor in whole.net.state_dict().items():
        assert torch.equal(tensor, resumed.net.state_dict()[name]), name


def test_a_signal_saves_the_state_and_the_next_call_goes_on(tmp_path: Path) -> None:
    params = policy_params(log_every=5, checkpoint_every=1000)
    whole = train(small_policy(), policy_objective, MemorySource(), params, tmp_path / "a", NullReporter())
    before = signal.getsignal(signal.SIGTERM)
    source = MemorySource()
    source.before = lambda index: os.kill(os.getpid(), signal.SIGTERM) if index == 10 else None
    with pytest.raises(TrainingInterrupted, match=r"stopped after step \d+"):
        train(small_policy(), policy_objective, source, params, tmp_path / "b", NullReporter())
    assert signal.getsignal(signal.SIGTERM) is before
    run = NullReporter()
    resumed = train(small_policy(9), policy_objective, MemorySource(), params, tmp_path / "b", run)
    assert losses(resumed.history) == losses(whole.history)
    assert len(run.metrics) < 3


def test_held_out_metrics_on_the_way(tmp_path: Path) -> None:
    run = NullReporter()
    params = policy_params(steps=12, log_every=12, evaluation=EvaluationParams(every=5))
    state = train(
        small_policy(), policy_objective, MemorySource(), params, tmp_path, run, lambda _: {"accuracy": 0.5}
    )
    assert [point["step"] for point in state.tests] == [5, 10]
    assert (5, {"test/accuracy": 0.5}) in run.metrics


def test_a_loss_that_is_not_finite_is_one_clear_line(tmp_path: Path) -> None:
    params = policy_params(steps=60, learning_rate=10.0, optimizer=OptimizerParams(momentum=0.99))
    net = small_policy()
    with torch.no_grad():
        net.head.weight.fill_(float("inf"))
    with pytest.raises(UserError, match=r"loss is nan at step 1; try a smaller learning_rate"):
        train(net, policy_objective, MemorySource(), params, tmp_path, NullReporter())


def test_a_state_of_another_network_is_refused(tmp_path: Path) -> None:
    train(small_policy(), policy_objective, MemorySource(), policy_params(), tmp_path, NullReporter())
    other = PolicyNet(SIZE, filters=4, layers=2)
    with pytest.raises(UserError, match="belongs to another network"):
        train(other, policy_objective, MemorySource(), policy_params(), tmp_path, NullReporter())


def test_gradient_clipping_bounds_the_step(tmp_path: Path) -> None:
    net = small_policy()
    before = [parameter.detach().clone() for parameter in net.parameters()]
    params = policy_params(steps=1, learning_rate=1.0, optimizer=OptimizerParams(gradient_clip=0.01))
    train(net, policy_objective, MemorySource(), params, tmp_path, NullReporter())
    moved = sum(((a.detach() - b) ** 2).sum() for a, b in zip(net.parameters(), before, strict=True))
    assert float(moved) ** 0.5 == pytest.approx(0.01, rel=1e-3)


WORKER = """
    import sys
    from pathlib import Path
    import torch
    from training_helpers import MemorySource, policy_params
    from models.networks import PolicyNet
    from tasks.distributed import process_group, rank, world
    from tasks.objectives import policy_objective
    from tasks.reporting import NullReporter
    from tasks.trainer import train
    from safetensors.torch import save_file

    folder = Path(sys.argv[1])
    with process_group():
        torch.manual_seed(rank())  # rank 0's weights must reach everyone
        net, run = PolicyNet(5, filters=8, layers=2), NullReporter()
        source = MemorySource(rank=rank(), world=world())
        state = train(net, policy_objective, source, policy_params(), folder, run)
        save_file(net.state_dict(), folder / f"rank{rank()}.safetensors")
        (folder / f"metrics{rank()}").write_text(str(len(run.metrics)))
"""


def test_two_processes_train_as_one(tmp_path: Path) -> None:
    from safetensors.torch import load_file

    script = tmp_path / "worker.py"
    script.write_text(textwrap.dedent(WORKER), encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    done = subprocess.run(
        [*command, str(script), str(tmp_path)], env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr[-2000:]
    first, second = (load_file(tmp_path / f"rank{rank}.safetensors") for rank in (0, 1))
    single = small_policy(seed=0)
    train(single, policy_objective, MemorySource(), policy_params(), tmp_path / "single", NullReporter())
    for name, tensor in single.state_dict().items():
        assert torch.equal(first[name], second[name]), name
        torch.testing.assert_close(first[name], tensor, rtol=1e-4, atol=1e-6)
    assert (tmp_path / "metrics0").read_text() == "12"
    assert (tmp_path / "metrics1").read_text() == "0"


def test_memory_source_gives_the_same_batch_again() -> None:
    source: Any = MemorySource()
    assert np.array_equal(source.batch(3).planes, next(source.batches(3)).planes)
    assert json.dumps(source.batch(3).moves.tolist()) != json.dumps(source.batch(4).moves.tolist())
