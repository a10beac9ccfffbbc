"""Stage 6: the value network learns the outcomes of self-play (Methods: value network, regression)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from models.checkpoint import save_checkpoint
from models.describe import describe
from models.networks import Network, ValueNet
from tasks.distributed import torch_threads
from tasks.evaluation import ValuePredictions, predict_values
from tasks.objectives import value_objective
from tasks.params import TrainValueNetworkParams
from tasks.processes import train_in_processes
from tasks.reporting import Reporter
from tasks.trainer import train
from tasks.training_data import open_values
from tasks.training_plots import calibration_plot, value_curves
from tasks.training_state import Point, TrainingState, remove_state

STAGE = "train-value-network"
CHECKPOINT = "value-network.safetensors"


def run_train_value_network(
    params: TrainValueNetworkParams, inputs: dict[str, Path], folder: Path, run: Reporter
) -> dict[str, Any]:
    """Train on inputs["value_set"], a folder of values; write the checkpoint into `folder`.

    The error on training rows is measured on as many of them as there are held out, without augmentation, so
    that the two are comparable. A training that was interrupted in `folder` goes on. Raises UserError for
    data of another board size or for no data at all.
    """
    if params.compute.processes > 1:
        train_in_processes(STAGE, params, inputs, folder, run)
    state = train_value(params, inputs, folder, run)
    with torch_threads(params.threads):
        metrics, predictions = held_out_metrics(value_net(state.net), params, inputs["value_set"])
    finish(state, metrics, predictions, params, folder, run)
    return {
        "outputs": {"value_network": {"path": folder / CHECKPOINT, "kind": "model"}},
        "metrics": metrics,
        "summary": summary(metrics),
    }


def train_value(
    params: TrainValueNetworkParams, inputs: dict[str, Path], folder: Path, run: Reporter
) -> TrainingState:
    """Train a fresh network, or go on with the one whose state is in `folder`, to the last step."""
    training, held_out = (open_values(params, inputs["value_set"], split) for split in ("train", "test"))
    torch.manual_seed(params.seed)
    net = ValueNet(params.board_size, filters=params.filters, layers=params.layers, hidden=params.hidden)
    run.log_text("network.txt", describe(net).text() + "\n")

    def evaluate(current: Network) -> dict[str, float]:
        rows = held_out.iterate_once(params.evaluation.rows or None)
        return {"mse": predict_values(value_net(current), rows, params.compute).mse}

    return train(net, value_objective, training, params, folder, run, evaluate)


def value_net(net: Network) -> ValueNet:
    assert isinstance(net, ValueNet)
    return net


def held_out_metrics(
    net: ValueNet, params: TrainValueNetworkParams, value_set: Path
) -> tuple[dict[str, float], ValuePredictions]:
    """Errors on the test split, per ensemble, and on as many training rows; the last answers."""
    training, held_out = (open_values(params, value_set, split) for split in ("train", "test"))
    limit = params.evaluation.final_rows or held_out.rows
    metrics = {"train/final_mse": predict_values(net, training.iterate_once(limit), params.compute).mse}
    for symmetries in params.evaluation.symmetries:
        predictions = predict_values(net, held_out.iterate_once(limit), params.compute, symmetries)
        metrics |= named(predictions, symmetries)
    return metrics, predictions


def named(predictions: ValuePredictions, symmetries: int) -> dict[str, float]:
    """The held-out metrics by name; an ensemble's names end in its size."""
    end = "" if symmetries == 1 else f"_{symmetries}"
    return {
        "test/rows": float(len(predictions.values)),
        f"test/mse{end}": predictions.mse,
        f"test/sign_accuracy{end}": predictions.sign_accuracy,
    }


def finish(
    state: TrainingState,
    metrics: dict[str, float],
    predictions: ValuePredictions,
    params: TrainValueNetworkParams,
    folder: Path,
    run: Reporter,
) -> None:
    """Write the checkpoint and the figures; only then is the state of the training needed no more."""
    run.log_metrics(metrics, step=state.step)
    last: Point = {"step": float(state.step)}
    last |= {name.removeprefix("test/"): value for name, value in metrics.items() if name.startswith("test/")}
    run.log_figure("curves.png", value_curves(state.history, [*state.tests, last]))
    run.log_figure("calibration.png", calibration_plot(predictions))
    extra = {"stage": STAGE, "steps": state.step, "seed": params.seed, "metrics": metrics}
    save_checkpoint(folder / CHECKPOINT, state.net, extra)
    remove_state(folder)


def summary(metrics: dict[str, float]) -> str:
    """The result in a line."""
    if not metrics["test/rows"]:
        return f"mean squared error {metrics['train/final_mse']:.3f} on training positions, none held out"
    held_out = next(value for name, value in metrics.items() if name.startswith("test/mse"))
    return (
        f"mean squared error {held_out:.3f} on {metrics['test/rows']:,.0f} held-out positions, "
        f"{metrics['train/final_mse']:.3f} on training positions"
    )
