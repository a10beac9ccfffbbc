"""One trainer for the policy and the value network: gradient descent, as in the paper or as on a laptop.

`train` is the main loop of stages 3 and 6. It goes on from the state that an interrupted training left in the
folder and then computes exactly what the uninterrupted one would have (on a CPU, with as many threads).
Under torchrun each process takes its share of every batch and the gradients are averaged.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from models.networks import Network
from models.precision import number_type
from tasks import distributed
from tasks.batches import BatchSource, Placement, TensorBatch, TimedBatches
from tasks.errors import UserError
from tasks.interruption import Stop, TrainingInterrupted, stop_on_signal
from tasks.meter import Meter, note
from tasks.objectives import Objective
from tasks.optimizers import make_optimizer
from tasks.params import ComputeParams, InferenceParams, LayoutParams, TrainingParams
from tasks.reporting import Reporter
from tasks.schedules import learning_rate
from tasks.training_state import Point, TrainingState

STOP_CHECK_STEPS = 20  # several processes agree this often whether to stop

# Held-out metrics of the network as it is, by name; called by the leading process alone.
Evaluate = Callable[[Network], dict[str, float]]


def train(
    net: Network,
    objective: Objective,
    source: BatchSource,
    params: TrainingParams,
    folder: Path,
    run: Reporter,
    evaluate: Evaluate | None = None,
) -> TrainingState:
    """Train `net` in place for params.steps steps and return the final state with the curves.

    Metrics go to `run` as train/... and test/... Raises TrainingInterrupted after a SIGTERM or SIGINT,
    UserError when the loss is no longer finite or the state in `folder` is another network's.
    """
    device = distributed.pick_device(params.compute.device)
    step_net = prepare(net, params.compute, device)
    state = TrainingState(net, make_optimizer(net, params))
    state.resume(folder)
    with (
        distributed.torch_threads(params.threads),
        stop_on_signal() as stop,
        TimedBatches(source.batches(state.step), placement_for(params.compute, device)) as batches,
    ):
        meter = Meter(batches, state.pending)
        while state.step < params.steps:
            rate = learning_rate(params.learning_rate, params.optimizer, state.step, params.steps)
            meter.add(gradient_step(step_net, state, objective, batches.next(), rate, params))
            state.step += 1
            if due(state.step, params.log_every, params.steps):
                point = meter.point(state.step, rate, params.batch_size)
                check_finite(point)
                state.history.append(point)
                report(run, "train", point)
                run.progress(state.step, params.steps, note(point))
            if evaluate and due(state.step, params.evaluation.every, 0) and state.step < params.steps:
                with meter.paused():
                    state.tests.append(evaluated(net, evaluate, state.step))
                report(run, "test", state.tests[-1])
            stopping = stop_now(stop, state.step, device)
            if stopping or due(state.step, params.checkpoint_every, params.steps):
                with meter.paused():
                    state.pending = meter.pending()
                    save(state, folder)
            if stopping and state.step < params.steps:
                raise TrainingInterrupted(
                    f"stopped after step {state.step}; the same call goes on from there"
                )
    return state


def gradient_step(
    step_net: nn.Module,
    state: TrainingState,
    objective: Objective,
    batch: TensorBatch,
    rate: float,
    params: TrainingParams,
) -> dict[str, Tensor]:
    """One step down the loss at learning rate `rate`; returns the objective's means over the batch."""
    for group in state.optimizer.param_groups:
        group["lr"] = rate
    state.optimizer.zero_grad(set_to_none=True)
    with autocast(params.compute, batch.planes.device):
        outputs = step_net(batch.planes)
    loss, watched = objective(outputs, batch)
    loss.backward()
    if params.optimizer.gradient_clip is not None:
        nn.utils.clip_grad_norm_(state.net.parameters(), params.optimizer.gradient_clip)
    state.optimizer.step()
    return watched


def laid_out(net: Network, compute: LayoutParams, device: torch.device) -> Network:
    """The network on the device, in the layout asked for, ready to learn."""
    layout = torch.channels_last if compute.channels_last else torch.contiguous_format
    net.to(device, memory_format=layout)  # type: ignore[call-overload]
    return net.train()


def prepare(net: Network, compute: ComputeParams, device: torch.device) -> nn.Module:
    """The network as steps are taken with it: compiled and wrapped for several processes as asked."""
    step_net: nn.Module = laid_out(net, compute, device)
    if distributed.world() > 1:
        step_net = DistributedDataParallel(step_net, device_ids=[device] if device.type == "cuda" else None)
    if compute.compile:
        step_net.compile()
    return step_net


def placement_for(compute: ComputeParams, device: torch.device) -> Placement:
    return Placement(device, number_type(compute.precision, device), compute.channels_last)


def autocast(compute: InferenceParams, device: torch.device) -> torch.autocast:
    mixed = number_type(compute.precision, device) == torch.bfloat16
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=mixed)


def stop_now(stop: Stop, step: int, device: torch.device) -> bool:
    """Whether to stop after this step: all processes answer alike."""
    if distributed.world() > 1 and step % STOP_CHECK_STEPS:
        return False
    return distributed.any_process(stop.asked, device)


def due(step: int, every: int, last: int) -> bool:
    """Whether something done each `every` steps (0: never) is due after `step`; always after step `last`."""
    return (every > 0 and step % every == 0) or step == last


def evaluated(net: Network, evaluate: Evaluate, step: int) -> Point:
    """The held-out metrics at a step; empty but for the step in processes that do not lead."""
    return {"step": float(step), **(evaluate(net) if distributed.leads() else {})}


def report(run: Reporter, prefix: str, point: Point) -> None:
    if distributed.leads():
        metrics = {f"{prefix}/{name}": value for name, value in point.items() if name != "step"}
        run.log_metrics(metrics, step=int(point["step"]))


def save(state: TrainingState, folder: Path) -> None:
    if distributed.leads():
        state.save(folder)


def check_finite(point: Point) -> None:
    bad = [name for name, value in point.items() if not math.isfinite(value)]
    if bad:
        raise UserError(
            f"{bad[0]} is {point[bad[0]]} at step {int(point['step'])}; try a smaller learning_rate"
        )
