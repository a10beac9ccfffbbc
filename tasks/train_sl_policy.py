"""Stage 3: the policy network learns to predict experts' moves (Methods: policy network, classification)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from models.checkpoint import save_checkpoint
from models.describe import describe
from models.networks import Network, PolicyNet
from tasks.distributed import torch_threads
from tasks.evaluation import score_policy
from tasks.objectives import policy_objective
from tasks.params import TrainSlPolicyParams
from tasks.processes import train_in_processes
from tasks.reporting import Reporter
from tasks.trainer import train
from tasks.training_data import open_positions
from tasks.training_plots import policy_curves
from tasks.training_state import Point, TrainingState, remove_state

STAGE = "train-sl-policy"
CHECKPOINT = "sl-policy.safetensors"


def run_train_sl_policy(
    params: TrainSlPolicyParams, inputs: dict[str, Path], folder: Path, run: Reporter
) -> dict[str, Any]:
    """Train on inputs["positions"], a folder of positions or of games; write the checkpoint into `folder`.

    A training that was interrupted in `folder` goes on. Raises UserError for data of another board size or
    for no data at all.
    """
    if params.compute.processes > 1:
        train_in_processes(STAGE, params, inputs, folder, run)
    state = train_policy(params, inputs, folder, run)
    with torch_threads(params.threads):
        metrics = held_out_metrics(state.net, params, inputs["positions"])
    finish(state, metrics, params, folder, run)
    return {
        "outputs": {"sl_policy": {"path": folder / CHECKPOINT, "kind": "model"}},
        "metrics": metrics,
        "summary": summary(metrics),
    }


def train_policy(
    params: TrainSlPolicyParams, inputs: dict[str, Path], folder: Path, run: Reporter
) -> TrainingState:
    """Train a fresh network, or go on with the one whose state is in `folder`, to the last step."""
    training, held_out = (open_positions(params, inputs["positions"], split) for split in ("train", "test"))
    torch.manual_seed(params.seed)
    net = PolicyNet(params.board_size, params.planes, params.filters, params.layers)
    run.log_text("network.txt", describe(net).text() + "\n")

    def evaluate(current: Network) -> dict[str, float]:
        rows = held_out.iterate_once(params.evaluation.rows or None)
        return score_policy(policy(current), rows, params.compute).metrics()

    return train(net, policy_objective, training, params, folder, run, evaluate)


def policy(net: Network) -> PolicyNet:
    assert isinstance(net, PolicyNet)
    return net


def held_out_metrics(net: Network, params: TrainSlPolicyParams, positions: Path) -> dict[str, float]:
    """Accuracy and likelihood on the test split with each ensemble, named as in test/accuracy_8."""
    held_out = open_positions(params, positions, "test")
    metrics: dict[str, float] = {"test/rows": 0.0}
    for symmetries in params.evaluation.symmetries:
        rows = held_out.iterate_once(params.evaluation.final_rows or None)
        score = score_policy(policy(net), rows, params.compute, symmetries)
        metrics["test/rows"] = float(score.rows)
        metrics |= {f"test/{name}": value for name, value in score.metrics(symmetries).items()}
    return metrics


def finish(
    state: TrainingState,
    metrics: dict[str, float],
    params: TrainSlPolicyParams,
    folder: Path,
    run: Reporter,
) -> None:
    """Write the checkpoint and the figures; only then is the state of the training needed no more."""
    run.log_metrics(metrics, step=state.step)
    last: Point = {"step": float(state.step)}
    last |= {name.removeprefix("test/"): value for name, value in metrics.items()}
    run.log_figure("curves.png", policy_curves(state.history, [*state.tests, last]))
    extra = {"stage": STAGE, "steps": state.step, "seed": params.seed, "metrics": metrics}
    save_checkpoint(folder / CHECKPOINT, state.net, extra)
    remove_state(folder)


def summary(metrics: dict[str, float]) -> str:
    """The result in a line."""
    if not metrics["test/rows"]:
        return "no held-out positions to score"
    ensembles = {name.removeprefix("test/"): value for name, value in metrics.items() if "/accuracy" in name}
    parts = [
        f"{value:.1%}" + (f" with {name.removeprefix('accuracy_')} symmetries" if "_" in name else "")
        for name, value in ensembles.items()
    ]
    return f"predicts {', '.join(parts)} of {metrics['test/rows']:,.0f} held-out moves"
