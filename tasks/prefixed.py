"""A reporter for one of several trainings in a stage."""

from __future__ import annotations

from typing import Any

from tasks.reporting import Reporter


class PrefixedReporter:
    """Tells `run` everything under a name of its own: metric "train/loss" becomes "NAME/train/loss".

    Progress is the stage's own affair and not passed on.
    """

    def __init__(self, run: Reporter, name: str) -> None:
        self.run, self.name = run, name

    def log_metrics(self, metrics: dict[str, float], step: int | None = None) -> None:
        self.run.log_metrics({f"{self.name}/{name}": value for name, value in metrics.items()}, step)

    def log_figure(self, name: str, figure: Any) -> None:
        self.run.log_figure(f"{self.name}/{name}", figure)

    def log_text(self, name: str, text: str) -> None:
        self.run.log_text(f"{self.name}/{name}", text)

    def progress(self, done: float, total: float, note: str = "") -> None:
        pass
