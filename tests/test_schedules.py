"""The learning rate at chosen steps."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.params import OptimizerParams
from tasks.schedules import learning_rate


def test_the_papers_rate_is_halved_every_80_million_steps() -> None:
    paper = OptimizerParams()
    steps = 340_000_000
    at = {step: learning_rate(0.003, paper, step, steps) for step in (0, 79_999_999, 80_000_000, 339_999_999)}
    assert list(at.values()) == pytest.approx([0.003, 0.003, 0.0015, 0.003 / 16])


def test_linear_falls_from_the_warm_up_to_the_last_step() -> None:
    linear = OptimizerParams(schedule="linear", warmup_steps=10, final_share=0.1)
    assert learning_rate(1.0, linear, 0, 111) == pytest.approx(1 / 11)
    assert learning_rate(1.0, linear, 10, 111) == pytest.approx(1.0)
    assert learning_rate(1.0, linear, 60, 111) == pytest.approx(0.55)
    assert learning_rate(1.0, linear, 110, 111) == pytest.approx(0.1)


def test_cosine_is_half_way_down_in_the_middle() -> None:
    cosine = OptimizerParams(schedule="cosine")
    assert learning_rate(1.0, cosine, 0, 101) == 1.0
    assert learning_rate(1.0, cosine, 50, 101) == pytest.approx(0.5)
    assert learning_rate(1.0, cosine, 100, 101) == pytest.approx(0.0)


@given(
    schedule=st.sampled_from(["halving", "linear", "cosine", "constant"]),
    warmup=st.integers(0, 50),
    steps=st.integers(1, 200),
    share=st.floats(0, 1),
)
def test_the_rate_never_rises_after_the_warm_up(schedule: str, warmup: int, steps: int, share: float) -> None:
    optimizer = OptimizerParams.model_validate(
        {"schedule": schedule, "warmup_steps": warmup, "final_share": share, "halve_every": 20}
    )
    rates = [learning_rate(0.5, optimizer, step, steps) for step in range(steps)]
    assert all(0 <= rate <= 0.5 for rate in rates)
    after = rates[warmup:]
    assert all(later <= earlier + 1e-12 for earlier, later in pairwise(after))
