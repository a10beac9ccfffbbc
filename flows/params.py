"""Parameters: the stages' models, the profiles laid over them, and `--set` laid over both.

The models' defaults are the paper's numbers. A profile is a YAML file with the common settings and a section
a stage; it names only what differs.
"""

from __future__ import annotations

import difflib
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

import yaml
from pydantic import BaseModel, Field, ValidationError, model_validator

from flows.stages import STAGES, stage
from tasks.errors import UserError
from tasks.params import (
    PARAMETERS,
    BoardSize,
    EvaluateTournamentParams,
    GenerateValueSetParams,
    ParseGamesParams,
    StageParams,
    TrainRlPolicyParams,
    TrainRolloutPolicyParams,
    TrainSlPolicyParams,
    TrainValueNetworkParams,
)

Profile = Literal["demo", "laptop", "paper"]
Reuse = Literal["same-code", "any-code", "never"]
PROFILES: tuple[Profile, ...] = get_args(Profile)
PROFILE_FOLDER = Path(__file__).parent / "profiles"
COMMON = ("board_size", "seed", "threads")  # settings of the pipeline that apply to all stages

Model = TypeVar("Model", bound=BaseModel)


class PipelineParams(BaseModel):
    """All stages' parameters. A common setting given here counts for each stage that has none of its own."""

    model_config = PARAMETERS

    board_size: BoardSize = 19
    seed: int = Field(
        default=0, ge=0, lt=2**31, description="Seed of every stage that is given none of its own."
    )
    threads: int = Field(default=0, ge=0, le=1024, description="Threads of every stage; 0 takes every core.")
    passes: Literal[1, 2] = Field(
        default=2,
        description="2: after the first pass, policy and value network are trained once more with the value "
        "network as the baseline of REINFORCE.",
    )
    side_by_side: bool = Field(
        default=False, description="Train the rollout and the SL policy at the same time; pays on many cores."
    )
    parse_games: ParseGamesParams = ParseGamesParams()
    train_rollout_policy: TrainRolloutPolicyParams = TrainRolloutPolicyParams()
    train_sl_policy: TrainSlPolicyParams = TrainSlPolicyParams()
    train_rl_policy: TrainRlPolicyParams = TrainRlPolicyParams()
    generate_value_set: GenerateValueSetParams = GenerateValueSetParams()
    train_value_network: TrainValueNetworkParams = TrainValueNetworkParams()
    evaluate_tournament: EvaluateTournamentParams = EvaluateTournamentParams()

    @model_validator(mode="before")
    @classmethod
    def _spread_common(cls, data: Any) -> Any:
        """Hand the common settings down. Forms send every field, so a default counts as not given."""
        if not isinstance(data, dict):
            return data
        spread = dict(data)
        for one in STAGES.values():
            given = data.get(one.section, {})
            own = given.model_dump(exclude_unset=True) if isinstance(given, BaseModel) else given
            if not isinstance(own, dict):
                continue  # the field's own validation says what is wrong
            own = dict(own)
            for name in COMMON:
                if name in data and own.get(name) in (None, one.params.model_fields[name].default):
                    own[name] = data[name]
            spread[one.section] = own
        return spread

    @model_validator(mode="after")
    def _one_board(self) -> PipelineParams:
        for one in STAGES.values():
            size = self.of(one.name).board_size
            if size != self.board_size:
                raise ValueError(
                    f"{one.section}.board_size is {size}, but the pipeline's is {self.board_size}"
                )
        return self

    def of(self, name: str) -> StageParams:
        """The parameters of one stage."""
        found: StageParams = getattr(self, stage(name).section)
        return found


@cache
def load_profile(name: str) -> dict[str, Any]:
    """What a profile sets. Raises UserError for an unknown one."""
    if name not in PROFILES:
        raise UserError(f"no profile {name!r}; there are {', '.join(PROFILES)}")
    text = (PROFILE_FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
    return dict(yaml.safe_load(text) or {})


def stage_params(name: str, profile: str, settings: dict[str, Any]) -> StageParams:
    """A stage's parameters: `settings` over the profile over the paper's. Raises UserError with one line."""
    one = stage(name)
    base = load_profile(profile)
    common = {key: base[key] for key in COMMON if key in base}
    profiled = merge(merge(one.params().model_dump(), common), base.get(one.section) or {})
    return validated(one.params, merge(profiled, settings))


def pipeline_params(profile: str, settings: dict[str, Any]) -> PipelineParams:
    """The same for the pipeline; settings are its own or dotted with a stage's section."""
    defaults = {one.section: one.params().model_dump() for one in STAGES.values()}
    return validated(PipelineParams, merge(merge(defaults, load_profile(profile)), settings))


def over_profile(params: Model, name: str, profile: str) -> Model:
    """What a flow works with: the parameters that its caller set, over the profile.

    So a deployment run that is given one parameter has the rest from its profile, not from the paper.
    """
    given = params.model_dump(exclude_unset=True)
    made = (
        pipeline_params(profile, given)
        if isinstance(params, PipelineParams)
        else stage_params(name, profile, given)
    )
    assert isinstance(made, type(params))
    return made


def merge(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """`over` laid over `base`, key by key down through nested mappings."""
    merged = dict(base)
    for key, value in over.items():
        old = merged.get(key)
        merged[key] = merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


def parse_settings(texts: list[str]) -> dict[str, Any]:
    """`a.b=value` texts as a nested mapping; values are YAML, dashes in names mean underscores."""
    settings: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        path = [part.strip().replace("-", "_") for part in name.split(".")]
        if not equals or not all(path):
            raise UserError(f"--set {text}: not of the form key=value")
        try:
            nested: Any = yaml.safe_load(value)
        except yaml.YAMLError:
            raise UserError(f"--set {text}: the value is not valid YAML") from None
        for part in reversed(path):
            nested = {part: nested}
        settings = merge(settings, nested)
    return settings


def validated(model: type[Model], values: dict[str, Any]) -> Model:
    """Validate, with the first complaint as one line that names the field and its bound."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
        raise UserError(_complaint(model, first) + more) from None


def _complaint(model: type[BaseModel], error: Any) -> str:
    path = [str(part) for part in error["loc"]]
    name = ".".join(path)
    if error["type"] == "extra_forbidden":
        known = _fields_at(model, path[:-1])
        near = difflib.get_close_matches(path[-1], known, n=1)
        return f"no parameter {name}" + (
            f"; did you mean {near[0]}?" if near else f"; there are {', '.join(known)}"
        )
    message = str(error["msg"]).removeprefix("Value error, ")
    message = message.removeprefix("Input ")
    return f"parameter {name} {message} (given: {error['input']!r})" if name else message


def _fields_at(model: type[BaseModel], path: list[str]) -> list[str]:
    for part in path:
        field = model.model_fields.get(part)
        inner = field.annotation if field else None
        if not (isinstance(inner, type) and issubclass(inner, BaseModel)):
            break
        model = inner
    return list(model.model_fields)
