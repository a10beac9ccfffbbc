"""The command that a result is made again with gives the very same parameters and inputs."""

from __future__ import annotations

import shlex

import pytest

from flows.params import stage_params
from flows.remake import command_line
from flows.run import asked_for
from tasks.params import StageParams
from tasks.store import Input


def command(name: str, profile: str, params: StageParams, **inputs: Input) -> list[str]:
    base = stage_params(name, profile, {})
    return shlex.split(command_line(["alphago", "run", name], profile, params, base, inputs))


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("parse-games", {"min_rank": "7d", "rules": ["Chinese", "Japanese"], "max_games": 3}),
        ("train-sl-policy", {"learning_rate": 1e-7, "optimizer": {"kind": "muon", "gradient_clip": None}}),
        ("train-sl-policy", {"evaluation": {"symmetries": [1, 2, 8]}, "compute": {"compile": True}}),
        ("evaluate-tournament", {"players": {"deep search": "search:policy=sl_policy,simulations=9"}}),
        ("evaluate-tournament", {"guests": {"no. 1": {"command": "gnugo --mode gtp --level 1"}}}),
    ],
)
def test_the_command_gives_the_same_parameters(name: str, settings: dict[str, object]) -> None:
    params = stage_params(name, "demo", settings)
    words = command(name, "demo", params)
    given = [words[i + 1] for i, word in enumerate(words) if word == "--set"]
    (variant,), _ = asked_for(name, "demo", given, [], None)
    assert variant.arguments["params"] == params


def test_it_names_the_inputs_and_nothing_that_the_profile_says() -> None:
    games = {name: Input(path=f"/a folder/{name}.zip", digest="") for name in ("games", "games_2")}
    assert command("parse-games", "demo", stage_params("parse-games", "demo", {}), **games) == [
        *("alphago", "run", "parse-games", "--profile", "demo"),
        *("--input", "games=/a folder/games.zip", "--input", "games=/a folder/games_2.zip"),
    ]
