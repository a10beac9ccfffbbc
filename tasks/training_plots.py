"""Figures of a training: its curves, and how a value network's answers compare with what happened."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tasks.evaluation import ValuePredictions
from tasks.training_state import Point

matplotlib.use("Agg")  # figures go to files; no display is needed

CALIBRATION_BINS = 10
PERCENT = 100.0


def policy_curves(history: Sequence[Point], tests: Sequence[Point]) -> Figure:
    """Loss, accuracy and learning rate over the steps; `tests` are the held-out points, drawn as dots."""
    figure = Figure(figsize=(12, 3.6), layout="constrained")
    loss, accuracy, rate = figure.subplots(1, 3)
    _curve(loss, history, "loss", "training")
    _curve(loss, tests, "log_likelihood", "held out", scale=-1.0)
    _label(loss, "cross entropy (nats)")
    _curve(accuracy, history, "accuracy", "training", scale=PERCENT)
    _curve(accuracy, tests, "accuracy", "held out", scale=PERCENT)
    _curve(accuracy, tests, "top5_accuracy", "held out, first five", scale=PERCENT)
    _label(accuracy, "moves predicted (%)")
    _curve(rate, history, "learning_rate", "learning rate")
    _label(rate, "learning rate")
    return figure


def value_curves(history: Sequence[Point], tests: Sequence[Point]) -> Figure:
    """Squared error and learning rate over the steps."""
    figure = Figure(figsize=(8, 3.6), layout="constrained")
    error, rate = figure.subplots(1, 2)
    _curve(error, history, "mse", "training")
    _curve(error, tests, "mse", "held out")
    _label(error, "mean squared error")
    _curve(rate, history, "learning_rate", "learning rate")
    _label(rate, "learning rate")
    return figure


def calibration_plot(predictions: ValuePredictions) -> Figure:
    """Mean outcome of the rows in each bin of predicted value; on the diagonal a value means what it says.

    The bars' height is twice the standard error of the mean; the histogram below counts the rows.
    """
    figure = Figure(figsize=(5, 6), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1])
    edges = np.linspace(-1, 1, CALIBRATION_BINS + 1)
    bins = np.clip(np.digitize(predictions.values, edges) - 1, 0, CALIBRATION_BINS - 1)
    upper.plot([-1, 1], [-1, 1], color="grey", linestyle="--", label="perfect")
    for index in np.unique(bins):
        inside = bins == index
        outcomes = predictions.outcomes[inside]
        error = 2 * outcomes.std() / np.sqrt(len(outcomes))
        upper.errorbar(predictions.values[inside].mean(), outcomes.mean(), error, fmt="o", color="C0")
    upper.set_ylabel("mean outcome")
    upper.set_title(f"value network on {len(predictions.values):,} held-out positions")
    lower.hist(predictions.values, bins=edges, color="C0")
    lower.set_xlabel("predicted value")
    lower.set_ylabel("positions")
    return figure


def strength_plot(points: Sequence[tuple[float, ...]], reference: float) -> Figure:
    """Fig. 2a: games won against one network over the accuracy, all in percent.

    `points` are (accuracy, won, low, high); `reference` is the accuracy of the network that all play against.
    """
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    accuracy, won, low, high = (np.array(column) for column in zip(*points, strict=True))
    axes.errorbar(accuracy, won, (won - low, high - won), fmt="o", capsize=2, label="networks, 95% intervals")
    axes.plot([reference], [50], marker="*", markersize=12, linestyle="", label="the network they meet")
    axes.set_ylim(0, 100)
    axes.set_xlabel("held-out moves predicted (%)")
    axes.set_ylabel("games won (%)")
    axes.grid(alpha=0.3)
    axes.legend()
    return figure


def _curve(axes: Axes, points: Sequence[Point], name: str, label: str, scale: float = 1.0) -> None:
    known = [point for point in points if name in point]
    if known:
        values = [scale * point[name] for point in known]
        marker = "o" if len(known) <= 2 or label.startswith("held out") else None
        axes.plot([point["step"] for point in known], values, marker=marker, markersize=3, label=label)


def _label(axes: Axes, name: str) -> None:
    axes.set_xlabel("step")
    axes.set_ylabel(name)
    axes.grid(alpha=0.3)
    if axes.lines:
        axes.legend()
