"""What every stage's parameters share."""

from __future__ import annotations

from typing import Annotated, Any

from annotated_types import Ge, Gt, Le, Lt, MultipleOf
from pydantic import BaseModel, ConfigDict, Field
from pydantic.fields import FieldInfo

SIGNS = {
    Ge: (">=", "ge"),
    Gt: (">", "gt"),
    Le: ("<=", "le"),
    Lt: ("<", "lt"),
    MultipleOf: ("multiple of ", "multiple_of"),
}


def bounds(field: FieldInfo) -> str:
    """What a field's numbers must keep to, as text; empty without any."""
    return " ".join(
        sign + _number(getattr(limit, attribute))
        for limit in field.metadata
        for kind, (sign, attribute) in SIGNS.items()
        if isinstance(limit, kind)
    )


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def _show_bounds(schema: dict[str, Any], model: type[BaseModel]) -> None:
    """Prefect's form checks the bounds but does not show them: say them with the description."""
    for name, field in model.model_fields.items():
        if (limits := bounds(field)) and "description" in schema["properties"][name]:
            schema["properties"][name]["description"] += f" ({limits})"


# Frozen, so that a run's parameters cannot drift from what was logged.
PARAMETERS = ConfigDict(frozen=True, extra="forbid", json_schema_extra=_show_bounds)

BoardSize = Annotated[int, Field(ge=5, le=19, description="Points on a side of the board.")]


class RayParams(BaseModel):
    """The Ray cluster on which shards are made with `runner` ray."""

    model_config = PARAMETERS

    address: str = Field(
        "",
        description="Address of a running cluster that this machine belongs to (host:6379, auto) or of its "
        "client port (ray://host:10001); empty: a cluster of this machine alone, for the time of the stage.",
    )
    gpus: float = Field(
        0.0, ge=0.0, le=64.0, description="GPUs that each shard takes; with 0.25 four shards share one."
    )


class StageParams(BaseModel):
    """What all stages have."""

    model_config = PARAMETERS

    seed: int = Field(
        0, ge=0, lt=2**31, description="Seed of every random choice; the same seed gives the same result."
    )
    board_size: BoardSize = 19
    threads: int = Field(0, ge=0, le=1024, description="Threads for engine and network; 0 takes every core.")


# --- training of the networks (train-sl-policy, train-value-network) ---
