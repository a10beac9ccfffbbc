"""The page on scale shows the tables that the measured rates give, and they follow the page's formulas."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.scale import PAPER, Rates, tables, training, value_set
from tasks.bootstrap import SOURCE_ROOT


def test_the_page_has_the_tables() -> None:
    page = (SOURCE_ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    for table in tables(Rates()).split("\n\n"):
        assert table in page, "run: python -m benchmarks.scale"
    assert f"{PAPER.flops / 1e9:.2f} GFLOP, {PAPER.parameters:,} parameters" in page


def hours(line: str, column: int) -> float:
    return float(line.split("|")[column].replace(",", ""))


def test_twice_the_rate_is_half_the_hours_but_not_of_the_exchange() -> None:
    rates = Rates()
    faster = replace(rates, gpu_flops=2 * rates.gpu_flops)
    for before, after in zip(list(value_set(rates))[3:], list(value_set(faster))[3:], strict=True):
        assert hours(after, 5) == pytest.approx(hours(before, 5) / 2, abs=0.1)
    one_gpu, fifty = (list(training(faster))[line] for line in (2, 6))
    assert hours(one_gpu, 5) == pytest.approx(63.5, abs=0.1)
    assert hours(fifty, 5) > 63.5 / 50
