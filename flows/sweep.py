"""`--set learning_rate=0.001,0.003`: the same command once for each value, as runs side by side in MLflow."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime
from itertools import product
from typing import Any, NamedTuple

from tasks.bootstrap import LOGGER, data_root
from tasks.errors import UserError

LISTED = ","
QUOTES = "[{\"'"  # a value that opens with one of these is YAML's own list, mapping or text

log = logging.getLogger(f"{LOGGER}.flows")


class Variant(NamedTuple):
    """One run of a sweep: the settings in which it differs, and the flow's arguments."""

    settings: tuple[str, ...]
    arguments: dict[str, Any]


def variants_of(settings: list[str], arguments_for: Callable[[list[str]], dict[str, Any]]) -> list[Variant]:
    """One variant, or one for each combination of the listed values.

    A value with commas is a list only if it does not fit its parameter as it stands. Raises UserError as
    `arguments_for` does.
    """
    listed = [text for text in settings if _values(text)]
    try:
        return [Variant((), arguments_for(settings))]
    except UserError:
        if not listed:
            raise
    fixed = [text for text in settings if text not in listed]
    combinations = product(*(_values(text) for text in listed))
    return [Variant(chosen, arguments_for([*fixed, *chosen])) for chosen in combinations]


def _values(text: str) -> list[str]:
    """`key=a,b` as `key=a` and `key=b`; empty when there is nothing listed."""
    key, _, value = text.partition("=")
    if LISTED not in value or value.lstrip()[:1] in QUOTES:
        return []
    return [f"{key}={one.strip()}" for one in value.split(LISTED)]


def run_sweep(name: str, variants: list[Variant], call: Callable[[dict[str, Any]], Any]) -> str:
    """Run the variants one after the other under one MLflow run; returns a table of their metrics."""
    from tasks.tracking import parent_run

    folder = data_root() / "sweep" / datetime.now().strftime("%Y%m%d-%H%M%S-%f")
    rows = []
    with parent_run(f"{name} sweep", folder, {"stage": "sweep", "sweep.of": name}) as run:
        for number, variant in enumerate(variants, 1):
            log.info("%s: %d of %d, %s", name, number, len(variants), " ".join(variant.settings))
            result = call(variant.arguments)
            metrics = getattr(result, "metrics", None) or result.stages[-1].metrics
            rows.append((variant.settings, metrics))
        table = _table(rows)
        run.log_text("sweep.md", table)
        run.log_tags({"mlflow.note.content": table})
    return table


def _table(rows: list[tuple[tuple[str, ...], dict[str, float]]]) -> str:
    names = list(dict.fromkeys(name for _, metrics in rows for name in metrics))
    lines = [f"| settings | {' | '.join(names)} |", f"|---|{'---:|' * len(names)}"]
    for settings, metrics in rows:
        values = (f"{metrics[name]:.4g}" if name in metrics else "" for name in names)
        lines.append(f"| {' '.join(settings)} | {' | '.join(values)} |")
    return "\n".join(lines)
