"""What every stage's parameters share."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

BoardSize = Annotated[int, Field(ge=5, le=19, description="Points on a side of the board.")]


class StageParams(BaseModel):
    """What all stages have. Frozen, so that a run's parameters cannot drift from what was logged."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: int = Field(
        0, ge=0, lt=2**31, description="Seed of every random choice; the same seed gives the same result."
    )
    board_size: BoardSize = 19
    threads: int = Field(0, ge=0, le=1024, description="Threads for engine and network; 0 takes every core.")


# --- training of the networks (train-sl-policy, train-value-network) ---
