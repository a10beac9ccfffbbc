"""The pipeline's report in markdown: what each stage did and how long it took, then the final ratings."""

from __future__ import annotations

from collections.abc import Iterator

from tasks.reporting import clock
from tasks.store import StageResult

SHOWN_METRICS = 3


def pipeline_markdown(stages: list[StageResult]) -> str:
    """The last stage, the tournament, has its summary shown whole."""
    lines = ["## Stages", "", "| stage | time | result | folder |", "|---|---:|---|---|"]
    lines += (_row(one) for one in stages)
    lines += ["", "## Tournament", "", stages[-1].summary or "No table.", ""]
    return "\n".join(lines)


def _row(one: StageResult) -> str:
    how = f"reused (took {clock(one.seconds)})" if one.reused else clock(one.seconds)
    return f"| {one.stage} | {how} | {', '.join(_headline(one))} | {one.key} |"


def _headline(one: StageResult) -> Iterator[str]:
    for name, value in list(one.metrics.items())[:SHOWN_METRICS]:
        yield f"{name} {value:,.4g}"
