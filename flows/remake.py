"""The command line that does a piece of work again, kept with what it made."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from typing import Any

import yaml
from pydantic import BaseModel

from tasks.store import Input


def command_line(
    words: list[str], profile: str, params: BaseModel, base: BaseModel, inputs: dict[str, Input]
) -> str:
    """`words` (`alphago run STAGE`) with the settings in which `params` differ from the profile's, `base`.

    Inputs are named by their paths: what is the newest today is not tomorrow.
    """
    given = [*words, "--profile", profile]
    for setting in _settings(params, base, ""):
        given += ["--set", setting]
    for name, taken in inputs.items():
        given += ["--input", f"{_option(name)}={taken.path}"]
    return shlex.join(given)


def _settings(params: BaseModel, base: BaseModel, prefix: str) -> Iterator[str]:
    for name in type(params).model_fields:
        value, before = getattr(params, name), getattr(base, name)
        if value == before:
            continue
        if isinstance(value, BaseModel) and isinstance(before, BaseModel):
            yield from _settings(value, before, f"{prefix}{name}.")
        else:
            plain = params.model_dump(mode="json")[name]
            yield f"{prefix}{name}={_yaml(plain)}"


def _yaml(value: Any) -> str:
    """A value as `--set` reads it: text bare where it stays that text."""
    if isinstance(value, str) and yaml.safe_load(value) == value:
        return value
    return json.dumps(value, ensure_ascii=False)


def _option(name: str) -> str:
    """Games from several places are games, games_2, ... inside, and `games` more than once outside."""
    return "games" if name.startswith("games_") else name
