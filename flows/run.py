"""`alphago run`: what was asked is checked as a whole before Prefect is started and any work begins."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, get_args

from flows.inputs import resolve_inputs
from flows.params import load_profile, pipeline_params, stage_params
from flows.params import parse_settings as parse
from flows.stages import PIPELINE, STAGES, StageName, stage
from flows.sweep import Variant, run_sweep, variants_of
from flows.temporary_server import start_temporary_server
from tasks.bootstrap import answers
from tasks.errors import UserError
from tasks.references import Scope

PARSE_GAMES = "parse-games"
PIPELINE_INPUTS = ("games",)
MANY = ("games",)  # game records may come from several places


def run_from_command_line(
    name: str, profile: str, settings: list[str], inputs: list[str], from_stage: str | None
) -> str:
    """Run a stage or the pipeline and return its summary; several times when a setting lists values.

    Raises UserError for what was asked wrongly.
    """
    variants, references = asked_for(name, profile, settings, inputs, from_stage)
    for variant in variants:
        _check_inputs(name, variant.arguments, references)
    flow = _flow(name)
    try:
        start_temporary_server()
        if len(variants) == 1:
            return str(flow(**variants[0].arguments, **references).summary)
        return run_sweep(name, variants, lambda arguments: flow(**arguments, **references))
    except Exception as error:
        api = os.environ.get("PREFECT_API_URL")
        if isinstance(error, UserError) or not (_refused(error) if api is None else not answers(api)):
            raise
        raise RuntimeError(
            f"Prefect's {f'server at {api}' if api else 'temporary server'} is away ({error}); "
            "finished work is kept, the same command goes on"
        ) from error


def asked_for(
    name: str, profile: str, settings: list[str], inputs: list[str], from_stage: str | None
) -> tuple[list[Variant], dict[str, str | list[str]]]:
    """The flow's arguments and its inputs' references, checked; nothing is looked up or run yet."""
    load_profile(profile)
    known: tuple[str, ...] = PIPELINE_INPUTS if name == PIPELINE else stage(name).all_inputs
    references = parse_inputs(inputs, name, known)
    variants = variants_of(settings, lambda texts: _arguments(name, profile, parse(texts), from_stage))
    return variants, references


def _refused(error: BaseException | None) -> bool:
    """Whether nobody listened at the other end, which for a temporary server means that it has died."""
    while error is not None:
        if isinstance(error, ConnectionRefusedError) or "ConnectError" in type(error).__name__:
            return True
        error = error.__cause__ or error.__context__
    return False


def _arguments(name: str, profile: str, values: dict[str, Any], from_stage: str | None) -> dict[str, Any]:
    if name == PIPELINE:
        return _pipeline_arguments(profile, values, from_stage)
    return _stage_arguments(name, profile, values, from_stage)


def _check_inputs(name: str, arguments: dict[str, Any], references: dict[str, str | list[str]]) -> None:
    """Complain about an input that is not there while it costs nothing: starting Prefect takes 20 s."""
    for place in references.get("games", ()) if name in (PIPELINE, PARSE_GAMES) else ():
        if not Path(place).expanduser().exists():
            raise UserError(f"input games: {place}: no such file or folder")
    if name in (PIPELINE, PARSE_GAMES):
        return
    scope = Scope(arguments["profile"], arguments["params"].board_size)
    given = {key: str(references.get(key, "")) for key in stage(name).all_inputs}
    resolve_inputs(name, given, scope)


def _stage_arguments(
    name: str, profile: str, values: dict[str, Any], from_stage: str | None
) -> dict[str, Any]:
    if from_stage not in (None, name):
        raise UserError(f"--from {from_stage}: here it can only name {name} itself, to do it again")
    params = stage_params(name, profile, values)
    return {"params": params, "profile": profile, "reuse": "never" if from_stage else "same-code"}


def _pipeline_arguments(profile: str, values: dict[str, Any], from_stage: str | None) -> dict[str, Any]:
    if from_stage is not None and from_stage not in STAGES:
        raise UserError(f"--from {from_stage}: no such stage; there are {', '.join(get_args(StageName))}")
    return {"params": pipeline_params(profile, values), "profile": profile, "from_stage": from_stage}


def parse_inputs(texts: list[str], name: str, known: tuple[str, ...]) -> dict[str, str | list[str]]:
    """`name=REF` texts as the flow's arguments; dashes in names mean underscores."""
    many = MANY if name in (PIPELINE, PARSE_GAMES) else ()
    references: dict[str, list[str]] = {}
    for text in texts:
        key, equals, reference = text.partition("=")
        key = key.strip().replace("-", "_")
        if not equals or not reference:
            raise UserError(f"--input {text}: not of the form name=REF")
        if key not in known:
            raise UserError(f"--input {key}: {name} takes {', '.join(known) or 'no inputs'}")
        references.setdefault(key, []).append(reference)
    return {key: _only(key, given) if key not in many else given for key, given in references.items()}


def _only(key: str, given: list[str]) -> str:
    if len(given) > 1:
        raise UserError(f"--input {key}: given {len(given)} times")
    return given[0]


def _flow(name: str) -> Any:
    if name == PIPELINE:
        from flows.pipeline import pipeline

        return pipeline
    return stage(name).flow()
