"""The learning rate as a pure function of the step."""

from __future__ import annotations

import math

from tasks.params import OptimizerParams


def learning_rate(base: float, optimizer: OptimizerParams, step: int, steps: int) -> float:
    """The rate for step `step` (0-based) of `steps`.

    It rises linearly over the warm-up steps, reaching `base` at their end, times what the schedule says.
    Linear and cosine fall over the steps after the warm-up and reach base * final_share with the last one;
    halving counts from step 0, as the paper does.
    """
    warmup = optimizer.warmup_steps
    rate = base * _decay(optimizer, step, steps)
    return rate * (step + 1) / (warmup + 1) if step < warmup else rate


def _decay(optimizer: OptimizerParams, step: int, steps: int) -> float:
    if optimizer.schedule == "constant":
        return 1.0
    if optimizer.schedule == "halving":
        return 0.5 ** (step // optimizer.halve_every)
    done = max(0, step - optimizer.warmup_steps) / max(1, steps - 1 - optimizer.warmup_steps)
    fallen = done if optimizer.schedule == "linear" else (1.0 - math.cos(math.pi * done)) / 2.0
    return 1.0 - (1.0 - optimizer.final_share) * min(1.0, fallen)
