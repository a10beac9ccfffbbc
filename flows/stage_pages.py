"""The generated part of docs/stages/*.md: `python -m flows.stage_pages` writes it into the pages anew.

What stands outside the two marks of a page is written by hand and kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from flows.params import PROFILES, PipelineParams, pipeline_params, stage_params
from flows.run import PARSE_GAMES
from flows.stages import PIPELINE, STAGES, stage
from tasks.bootstrap import SOURCE_ROOT
from tasks.params import bounds
from tasks.references import PRODUCERS
from tasks.store import write_text

FOLDER = SOURCE_ROOT / "docs" / "stages"
BEGIN = "<!-- made by `python -m flows.stage_pages`: do not edit below -->"
END = "<!-- made by `python -m flows.stage_pages`: do not edit above -->"
DEFAULT = "paper"  # the profile that is the models' defaults
SAME = object()  # stands where a profile says nothing
OTHERS = tuple(name for name in PROFILES if name != DEFAULT)


class Row(NamedTuple):
    """A parameter: its dotted name, its field, and its value under each profile."""

    name: str
    field: FieldInfo
    values: dict[str, Any]


def page_path(name: str) -> Path:
    return FOLDER / f"{name}.md"


def with_generated(text: str, name: str) -> str:
    """A page's text with the part between the marks made anew. Raises ValueError when they are missing."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n\n{generated(name)}\n\n{END}{after}"


def generated(name: str) -> str:
    """What the stage takes and gives, and the table of its parameters."""
    head = [] if name == PIPELINE else [*_inputs_and_outputs(name), ""]
    columns = ["parameter", "type and bounds", "default (paper)", *OTHERS, "meaning"]
    table = [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
    return "\n".join([*head, *table, *(_line(row) for row in _rows_of(name))])


def _inputs_and_outputs(name: str) -> Iterator[str]:
    one = stage(name)
    yield "| | name | |"
    yield "|---|---|---|"
    for key in one.all_inputs:
        maker = PRODUCERS.get(key) if name != PARSE_GAMES else None
        whence = f"made by {_link(maker)}" if maker else "files from outside"
        yield f"| input | `{key}` | {whence}{'; optional' if key in one.optional else ''} |"
    for key in one.outputs:
        takers = [
            _link(other.name)
            for other in STAGES.values()
            if key in other.all_inputs and PRODUCERS.get(key) == name and other.name != name
        ]
        use = f"taken by {', '.join(takers)}" if takers else "to look at"
        yield f"| output | `{key}` | {use} |"


def _link(name: str) -> str:
    return f"[{name}]({name}.md)"


def _rows_of(name: str) -> Iterator[Row]:
    """In the order of the models, those of nested models dotted."""
    if name == PIPELINE:
        found: dict[str, BaseModel] = {profile: pipeline_params(profile, {}) for profile in PROFILES}
    else:
        found = {profile: stage_params(name, profile, {}) for profile in PROFILES}
    yield from _rows("", found)


def _rows(prefix: str, models: dict[str, Any]) -> Iterator[Row]:
    model = type(models[DEFAULT])
    for name, field in model.model_fields.items():
        if model is PipelineParams and name in {one.section for one in STAGES.values()}:
            continue
        values = {profile: getattr(one, name) for profile, one in models.items()}
        if isinstance(values[DEFAULT], BaseModel):
            yield from _rows(f"{prefix}{name}.", values)
        else:
            yield Row(prefix + name, field, values)


def _line(row: Row) -> str:
    limits = bounds(row.field)
    kind = type_text(row.field.annotation) + (f", {limits}" if limits else "")
    default = row.values[DEFAULT]
    cells = [f"`{row.name}`", kind, _value(default)]
    cells += [_value(_difference(row.values[profile], default)) for profile in OTHERS]
    cells.append(row.field.description or "")
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _difference(value: Any, default: Any) -> Any:
    """What a profile sets otherwise: nothing, the value, or of a mapping those of its entries."""
    if value == default:
        return SAME
    if isinstance(value, dict):
        return {name: one for name, one in value.items() if default.get(name) != one}
    return value


def type_text(annotation: Any) -> str:
    """A field's type in words."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        limits = " ".join(bounds(one) for one in inner[1:] if isinstance(one, FieldInfo))
        return f"{type_text(inner[0])} {limits}".strip()
    if origin is Literal:
        return " or ".join(f"`{one}`" for one in inner)
    if origin in (Union, UnionType):
        return " or ".join("none" if one is NoneType else type_text(one) for one in inner)
    if origin is tuple:
        return f"list of {type_text(inner[0])}"
    if origin is dict:
        return f"{type_text(inner[1])} by name"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return ", ".join(f"`{name}`" for name in annotation.model_fields)
    return {"str": "text", "int": "integer", "float": "number", "bool": "true or false"}[annotation.__name__]


def _value(value: Any) -> str:
    if value is SAME:
        return ""
    if value is None or value == () or value == {}:
        return "none"
    if isinstance(value, dict):
        return "<br>".join(f"{name}: {_value(one)}" for name, one in value.items())
    if isinstance(value, BaseModel):
        given = value.model_dump(mode="json", exclude_defaults=True)
        return f"`{json.dumps(given)}`"
    if isinstance(value, tuple):
        return f"`{json.dumps([one.model_dump() if isinstance(one, BaseModel) else one for one in value])}`"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"{value:,}"
    return f"`{value}`" if isinstance(value, str) and value else str(value) or "empty"


def main() -> None:
    for name in (*STAGES, PIPELINE):
        path = page_path(name)
        write_text(path, with_generated(path.read_text(encoding="utf-8"), name))


if __name__ == "__main__":
    main()
