"""The variants of the search of ED Table 7: a tournament among them, all with the same simulations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tasks.evaluate_tournament import run_evaluate_tournament
from tasks.params import EvaluateTournamentParams, VariantsParams
from tasks.players import parse_spec
from tasks.reporting import Reporter


def run_variants(
    params: VariantsParams, inputs: dict[str, Path], folder: Path, run: Reporter
) -> dict[str, Any]:
    """Play and rate; an interrupted one goes on. Raises UserError as a tournament does."""
    players = {name: with_settings(spec, params.search) for name, spec in params.players.items()}
    given = params.model_dump(exclude={"search"}) | {"players": players}
    return run_evaluate_tournament(EvaluateTournamentParams.model_validate(given), inputs, folder, run)


def with_settings(spec: str, settings: str) -> str:
    """A search with settings besides its own; any other player as it is."""
    if not spec or not settings or parse_spec(spec).kind != "search":
        return spec
    return f"{spec}{',' if ':' in spec else ':'}{settings}"
