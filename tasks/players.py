"""Players from a line of text, the same for the tournament, the GTP server and the analysis.

    random
    rollout[:REF][,temperature=1]
    policy[:REF][,temperature=0][,symmetries=1]
    search[:REF][,policy=REF][,value=REF][,rollout=REF][,tree=REF][,lambda=0.5][,simulations=...][,...]
    gtp:COMMAND LINE             any program that speaks GTP; {seed} and {size} are filled in

A REF is a path, a registered model, an MLflow run, the name of an input (sl_policy, rl_policy,
value_network, rollout_policy, tree_policy: what the caller gave under that name, else the newest result),
`newest`, or `pretrained` (what ships for the board size). A bare `search` takes the newest of everything and
`search:pretrained` all that ships; otherwise what is not named is not used, which makes the paper's variants.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from go_engine.players import Player, RandomPlayer, RolloutPlayer
from tasks.bootstrap import SOURCE_ROOT
from tasks.errors import UserError

if TYPE_CHECKING:
    from models.networks import PolicyNet, ValueNet

KINDS = ("random", "rollout", "policy", "search", "gtp")
NEWEST = "newest"
PRETRAINED = "pretrained"
PRETRAINED_FOLDER = SOURCE_ROOT / "models" / "pretrained"
PRETRAINED_SIZE = 19  # when no board size is asked for
INPUTS = ("sl_policy", "rl_policy", "value_network", "rollout_policy", "tree_policy")
# What `newest` and an empty REF mean for each argument.
DEFAULT_INPUT = {
    "policy": "sl_policy",
    "value": "value_network",
    "rollout": "rollout_policy",
    "tree": "tree_policy",
}
REFERENCES = tuple(DEFAULT_INPUT)
MOVE_SECONDS = 60.0


class PlayerSpec(NamedTuple):
    """A parsed line: `arguments` maps keys to texts, `command` holds the words of a gtp command line."""

    kind: str
    arguments: dict[str, str]
    command: list[str]


class Setting(NamedTuple):
    """Where a player is made: board, seed of its choices, threads, and the inputs that REFs may name."""

    size: int | None = None  # None: the networks' own
    seed: int = 0
    threads: int = 1
    inputs: Mapping[str, Path] = {}


def parse_spec(spec: str) -> PlayerSpec:
    """Raises UserError with one line for anything that is no player."""
    kind, _, rest = spec.strip().partition(":")
    kind = kind.strip()
    if kind not in KINDS:
        raise UserError(f"player {spec!r}: the kind is one of {', '.join(KINDS)}")
    if kind == "gtp":
        try:
            words = shlex.split(rest)
        except ValueError as error:
            raise UserError(f"player {spec!r}: {error}") from error
        if not words:
            raise UserError(f"player {spec!r}: no command line after gtp:")
        return PlayerSpec(kind, {}, words)
    arguments: dict[str, str] = {}
    for place, part in enumerate(part.strip() for part in rest.split(",") if part.strip()):
        key, equals, value = (text.strip() for text in part.partition("="))
        if not equals:
            if place or kind == "random":
                raise UserError(f"player {spec!r}: {part!r} is no key=value")
            key, value = ("policy" if kind == "search" else kind), key
        if key in arguments:
            raise UserError(f"player {spec!r}: {key} is given twice")
        arguments[key] = value
    return PlayerSpec(kind, arguments, [])


def needed_inputs(spec: PlayerSpec) -> list[str]:
    """The inputs that a player takes by name, so that one that lacks them can be left out of a tournament."""
    if spec.kind == "search" and not spec.arguments:
        return [DEFAULT_INPUT["policy"]]
    found = [spec.arguments[key] for key in REFERENCES if spec.arguments.get(key) in INPUTS]
    if spec.kind in ("rollout", "policy") and not _named(spec.arguments.get(spec.kind, "")):
        found.append(DEFAULT_INPUT[spec.kind])
    return found


def make_player(spec: str, setting: Setting = Setting(), name: str | None = None) -> Player:  # noqa: B008
    """The player that a line describes. Raises UserError, or CheckpointError for a file that does not fit."""
    parsed = parse_spec(spec)
    name = name or spec
    arguments = dict(parsed.arguments)
    if parsed.kind == "gtp":
        player: Player = _gtp(parsed.command, setting, name)
    elif parsed.kind == "random":
        player = RandomPlayer(setting.seed, name)
    elif parsed.kind == "rollout":
        policy = load_rollout(find("rollout", arguments.pop("rollout", ""), setting))
        player = RolloutPlayer(policy, setting.seed, _number(spec, arguments, "temperature", 1.0), name)
    elif parsed.kind == "policy":
        player = _policy(spec, arguments, setting, name)
    else:
        return _search(spec, arguments, setting, name)
    if arguments:
        raise UserError(f"player {spec!r}: {next(iter(arguments))} is no setting of {parsed.kind}")
    return player


def find(argument: str, reference: str, setting: Setting) -> Path:
    """The file behind a REF of the argument policy, value, rollout or tree."""
    inputs = setting.inputs
    if reference == PRETRAINED:
        return pretrained(argument, setting.size or PRETRAINED_SIZE)
    name = reference if reference in INPUTS else DEFAULT_INPUT[argument]
    if reference in (*INPUTS, NEWEST, ""):
        if name in inputs:
            return Path(inputs[name])
        reference = ""
    elif Path(reference).expanduser().is_file():
        return Path(reference).expanduser()
    from tasks.references import resolve
    from tasks.tracking import find_model

    return Path(resolve(name, reference, None, find_model).path)


def pretrained(argument: str, size: int) -> Path:
    """The shipped policy, value, rollout or tree of a board size. Raises UserError when none ships."""
    path = PRETRAINED_FOLDER / f"{argument}-{size}x{size}.safetensors"
    if not path.is_file():
        raise UserError(f"no pretrained {argument} on {size}x{size} comes with the product")
    return path


def shipped(size: int) -> dict[str, str]:
    """`pretrained` for each argument that something ships for, besides the policy, which must."""
    found = [key for key in REFERENCES if (PRETRAINED_FOLDER / f"{key}-{size}x{size}.safetensors").is_file()]
    return dict.fromkeys(["policy", *found], PRETRAINED)


def command_line(words: list[str], setting: Setting) -> list[str]:
    """The words of a program's command line with {seed} and {size} filled in."""
    return [w.replace("{seed}", str(setting.seed)).replace("{size}", str(setting.size or "")) for w in words]


def _named(reference: str) -> bool:
    return reference not in ("", NEWEST)


def _gtp(words: list[str], setting: Setting, name: str) -> Player:
    from go_engine.gtp_client import GtpPlayer

    return GtpPlayer(command_line(words, setting), name, MOVE_SECONDS)


def _policy(spec: str, arguments: dict[str, str], setting: Setting, name: str) -> Player:
    from models.evaluators import PolicyEvaluator
    from models.players import PolicyPlayer

    net = load_policy_net(find("policy", arguments.pop("policy", ""), setting), setting.size)
    symmetries = int(_number(spec, arguments, "symmetries", 1))
    temperature = _number(spec, arguments, "temperature", 0.0)
    evaluator = PolicyEvaluator(net, symmetries)
    return PolicyPlayer(evaluator, setting.seed, temperature, name, setting.threads)


def _search(spec: str, arguments: dict[str, str], setting: Setting, name: str) -> Player:
    from tasks.search_players import make_search_player

    if not arguments:
        arguments = dict.fromkeys(REFERENCES, NEWEST)
    if arguments.get("policy") == PRETRAINED and not set(arguments) & (set(REFERENCES) - {"policy"}):
        arguments |= shipped(setting.size or PRETRAINED_SIZE)
    files = {key: find(key, arguments.pop(key), setting) for key in REFERENCES if key in arguments}
    return make_search_player(spec, files, arguments, setting.size, setting.seed, setting.threads, name)


def _number(spec: str, arguments: dict[str, str], key: str, default: float) -> float:
    text = arguments.pop(key, None)
    try:
        return default if text is None else float(text)
    except ValueError:
        raise UserError(f"player {spec!r}: {key}={text} is no number") from None


@cache
def load_policy_net(path: Path, size: int | None) -> PolicyNet:
    from models.checkpoint import load_policy

    return load_policy(path, size)


@cache
def load_value_net(path: Path, size: int | None) -> ValueNet:
    from models.checkpoint import load_value

    return load_value(path, size)


@cache
def load_rollout(path: Path) -> Any:
    from go_engine import RolloutPolicy

    return RolloutPolicy.load(path)
