"""`alphago describe`: the stages and their parameters, told from the models themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from flows.params import PipelineParams, pipeline_params, stage_params
from flows.stages import PIPELINE, STAGES, stage
from tasks.params import bounds


def list_stages() -> str:
    width = max(len(name) for name in STAGES)
    lines = [f"{one.name:<{width}}  {one.about}" for one in STAGES.values()]
    lines.append(f"{PIPELINE:<{width}}  All of them in order")
    return "\n".join(lines)


def describe_stage(name: str, profile: str) -> str:
    """Inputs, outputs and parameters with their values under a profile."""
    if name == PIPELINE:
        model: BaseModel = pipeline_params(profile, {})
        head = [f"{PIPELINE}: all stages in order", "inputs: [games]"]
        skip = {one.section for one in STAGES.values()}
    else:
        one = stage(name)
        model = stage_params(name, profile, {})
        optional = [f"[{key}]" for key in one.optional]
        head = [f"{one.name}: {one.about}", f"inputs: {', '.join([*one.inputs, *optional]) or 'none'}"]
        head.append(f"outputs: {', '.join(one.outputs)}")
        skip = set()
    lines = [*head, f"parameters (profile {profile}):", *parameter_lines(model, "", skip)]
    if isinstance(model, PipelineParams):
        lines.append(f"and, dotted, those of {', '.join(sorted(skip))}")
    return "\n".join(lines)


def parameter_lines(model: BaseModel, prefix: str, skip: set[str]) -> Iterator[str]:
    """One line a parameter: name, value, bounds, meaning."""
    for name, field in type(model).model_fields.items():
        value: Any = getattr(model, name)
        if name in skip:
            continue
        if isinstance(value, BaseModel):
            yield from parameter_lines(value, f"{prefix}{name}.", set())
            continue
        limits = f"  ({found})" if (found := bounds(field)) else ""
        yield f"  {prefix}{name} = {value}{limits}  {field.description or ''}".rstrip()
