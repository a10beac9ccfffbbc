"""`alphago experiment`: the paper's side studies, tracked and reused like stages, without Prefect."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from flows.params import COMMON, load_profile, merge, parse_settings, validated
from flows.remake import command_line
from flows.run import parse_inputs
from tasks.errors import UserError
from tasks.params import (
    AccuracyTableParams,
    SearchScalingParams,
    StageParams,
    TrainSlPolicyParams,
    TrainValueNetworkParams,
    ValueByStageParams,
    VariantsParams,
)
from tasks.references import Scope, resolve
from tasks.reporting import Reporter
from tasks.store import Input
from tasks.tracking import find_model, stage_run

PARTS = ("sl_policy", "value_network", "rollout_policy", "tree_policy")  # of the search

Function = Callable[[Any, dict[str, Path], Path, Reporter], dict[str, Any]]


class Experiment(NamedTuple):
    """A study. `section` names the part of a profile that its parameters begin with."""

    name: str
    about: str
    params: type[StageParams]
    section: str
    inputs: tuple[str, ...]
    optional: tuple[str, ...] = ()

    def function(self) -> Function:
        """Its main loop; imports torch."""
        module = self.name.replace("-", "_")
        found: Function = getattr(import_module(f"tasks.{module}"), f"run_{module}")
        return found


EXPERIMENTS = {
    one.name: one
    for one in (
        Experiment(
            "accuracy-table",
            "Policy networks of several sizes and inputs (ED Table 3)",
            AccuracyTableParams,
            "train_sl_policy",
            ("positions",),
        ),
        Experiment(
            "overfitting",
            "The value network on all positions of games, and on one of each (Methods)",
            TrainValueNetworkParams,
            "train_value_network",
            ("positions", "value_set"),
        ),
        Experiment(
            "value-by-stage",
            "The value network against rollouts by stage of the game (Fig. 2b)",
            ValueByStageParams,
            "value_by_stage",
            ("games",),
            ("rollout_policy", "sl_policy", "rl_policy", "value_network"),
        ),
        Experiment(
            "variants",
            "The search with and without its parts, with equal simulations (ED Table 7)",
            VariantsParams,
            "variants",
            (),
            PARTS,
        ),
        Experiment(
            "search-scaling",
            "The search with more and more threads (ED Table 8, Fig. 4c)",
            SearchScalingParams,
            "search_scaling",
            (),
            PARTS,
        ),
    )
}


def experiment(name: str) -> Experiment:
    """Raises UserError, listing them, when there is none of that name."""
    if name not in EXPERIMENTS:
        raise UserError(f"no experiment {name!r}; there are {', '.join(EXPERIMENTS)}")
    return EXPERIMENTS[name]


def experiment_params(name: str, profile: str, settings: dict[str, Any]) -> StageParams:
    """`settings` over the profile over the paper's, as for a stage. Raises UserError with one line.

    The grid of the accuracy table has the paper's sizes relative to the profile's network.
    """
    one = experiment(name)
    base = load_profile(profile)
    common = {key: base[key] for key in COMMON if key in base}
    values = merge(merge(merge(one.params().model_dump(), common), base.get(one.section) or {}), settings)
    if one.params is AccuracyTableParams and "grid" not in settings:
        values["grid"] = _scaled(values["grid"], values["filters"])
    return validated(one.params, values)


def _scaled(grid: Any, filters: Any) -> Any:
    """The grid's filters in the proportion of the network's to the paper's."""
    paper = TrainSlPolicyParams().filters
    if not isinstance(filters, int):
        return grid  # the field's own validation says what is wrong
    return [point | {"filters": max(1, round(point["filters"] * filters / paper))} for point in grid]


def run_experiment(name: str, profile: str, settings: list[str], inputs: list[str]) -> str:
    """Run an experiment, or find it done, and return its summary and where its files lie.

    What is no named input is the newest of the profile. Raises UserError for what was asked wrongly.
    """
    one = experiment(name)
    params = experiment_params(name, profile, parse_settings(settings))
    given = parse_inputs(inputs, name, one.inputs + one.optional)
    taken = _inputs(one, {key: str(reference) for key, reference in given.items()}, profile, params)
    base = experiment_params(name, profile, {})
    command = command_line(["alphago", "experiment", name], profile, params, base, taken)
    with stage_run(name, params, taken, profile=profile, command=command) as run:
        if run.result is None:
            paths = {key: Path(found.path) for key, found in taken.items()}
            run.finish(one.function()(params, paths, run.folder, run))
    assert run.result is not None
    return f"{run.result.summary}\n{run.result.folder}"


def _inputs(
    one: Experiment, references: dict[str, str], profile: str, params: StageParams
) -> dict[str, Input]:
    scope = Scope(profile, params.board_size)
    found = {key: resolve(key, references.get(key, ""), scope, find_model) for key in one.inputs}
    for key in one.optional:
        try:
            found[key] = resolve(key, references.get(key, ""), scope, find_model)
        except UserError:
            if key in references:
                raise
    return found
