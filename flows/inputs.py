"""A stage's inputs, resolved; free of Prefect, so that the command line can check them before starting it."""

from __future__ import annotations

from contextlib import suppress

from flows.stages import stage
from tasks.errors import UserError
from tasks.references import Scope, resolve
from tasks.store import Input
from tasks.tracking import find_model


def resolve_inputs(
    name: str, references: dict[str, str], scope: Scope, newest_optional: bool = False
) -> dict[str, Input]:
    """An optional input without a reference is left out or, with `newest_optional`, taken if there is one.

    Raises UserError when an input cannot be found.
    """
    needed = stage(name).inputs
    found = {}
    for key, reference in references.items():
        if reference or key in needed:
            found[key] = resolve(key, reference, scope, find_model)
        elif newest_optional:
            with suppress(UserError):
                found[key] = resolve(key, "", scope)
    return found
