"""The commands of README and docs do what the pages say.

Commands of ours are run here, on small settings and few games in a home of their own: RUN, and RUN_SLOWLY for
whole pipelines and the servers. All of them, also those that another test runs (ELSEWHERE), are first parsed
as they are printed, and their parameters checked against the profile that they name. Programs of others are
only parsed (CHECKED), or left alone (OTHERS).
"""

from __future__ import annotations

import importlib.util
import io
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import documented
import pytest
from documented import Command

from flows.cli import app, run_app
from flows.experiments import EXPERIMENTS, experiment_params
from flows.params import parse_settings, stage_params
from flows.parse_games import bundled_games
from flows.run import asked_for
from flows.stages import STAGES
from tasks.bootstrap import SOURCE_ROOT

ALL = documented.commands()
OURS = [one for one in ALL if one.program == "alphago"]
# Said between backticks, often without what must follow: the name and the options given have to exist.
MENTIONED = [one for one in OURS if one.inline]
ELSEWHERE = {
    "ui": "tests/test_cli.py and tests/test_servers.py",
    "fetch": "tests/test_datasets_fetch.py, with a server of its own",
}
RUN = [
    one for one in OURS if not one.inline and one.words[1] not in ELSEWHERE and "pipeline" not in one.words
]
RUN_SLOWLY = [one for one in OURS if not one.inline and "pipeline" in one.words]
CHECKED = [one for one in ALL if one.program in ("make", "prefect", "python", "ray", "torchrun")]
OTHERS = ("python3", "pip", "apt-get", "docker", "kubectl", "envsubst")

NETWORK = ("filters=8", "layers=2", "batch_size=16", "steps=4", "log_every=2", "checkpoint_every=4")
SCORED = ("evaluation.every=0", "evaluation.rows=50", "evaluation.final_rows=50")
SMALL = {  # settings that make a stage short, laid over what a page says
    "parse-games": ("max_games=40", "test_positions=300", "keep_unranked=true", "runner=processes"),
    "train-rollout-policy": ("epochs=1", "evaluations=1", "evaluation_games=4"),
    "train-sl-policy": (*NETWORK, *SCORED),
    "train-rl-policy": ("iterations=1", "games=4", "evaluate_every=1", "evaluation_games=4"),
    "generate-value-set": (
        *("positions=24", "shard_positions=12", "parallel_games=24"),
        *("runner=threads", "compute.device=cpu"),  # Ray: tests/test_shards_on_ray.py
    ),
    "train-value-network": (*NETWORK, "hidden=8", *SCORED),
    "evaluate-tournament": (
        *("games=2", "search_games=2", "guest_games=0", "opening_plies=4"),
        "players.search=search:policy=sl_policy,value=value_network,rollout=rollout_policy,simulations=4",
    ),
}
SMALL["pipeline"] = tuple(
    f"{stage.section}.{setting}" for stage in STAGES.values() for setting in SMALL[stage.name]
)
SMALL |= {
    "accuracy-table": (*SMALL["train-sl-policy"], "grid=[{filters: 8, planes: 4}]", "ensembles=[1]"),
    "overfitting": SMALL["train-value-network"],
    "value-by-stage": ("games=2", "rollouts=2"),
    "variants": ("games=2", "search_games=2", "search=simulations=4"),
    "search-scaling": ("counts=[1, 2]", "seconds=0.01", "positions=1", "plies=4", "games=2"),
}
ANY_STAGE = "train-sl-policy"
SMALL_NETWORK = ("filters=8", "layers=2", "batch_size=16")
GENMOVE = b"boardsize %d\nclear_board\ngenmove b\nquit\n"


def parsed(command: Command) -> dict[str, Any]:
    """The arguments that a command line of ours gives; raises what Typer says of a wrong one."""
    import typer

    found: Any = typer.main.get_command(app)
    words = [ANY_STAGE if word == "STAGE" else word for word in command.words[1:]]
    while words and hasattr(found, "commands"):
        found = found.commands[words.pop(0)]
    missing_is_fine = command.inline
    context = found.make_context(found.name, words, resilient_parsing=missing_is_fine)
    return dict(context.params)


@pytest.mark.parametrize("command", OURS, ids=str)
def test_it_is_understood_as_printed(command: Command) -> None:
    given = parsed(command)
    settings, inputs = list(given.get("settings") or ()), list(given.get("inputs") or ())
    name = given.get("stage") or given.get("name")
    if command.words[1] == "run" and name:
        variants, _ = asked_for(name, given["profile"], settings, inputs, given["from_stage"])
        assert variants
    if command.words[1] == "experiment":
        assert name in EXPERIMENTS
        experiment_params(str(name), given["profile"], parse_settings(settings))
    if command.words[1] == "inspect" and name in STAGES:
        stage_params(str(name), given["profile"], parse_settings(settings))


@pytest.mark.parametrize("command", CHECKED, ids=str)
def test_it_is_understood_by_its_program(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    CHECKS[command.program](command, monkeypatch)


def check_make(command: Command, _: pytest.MonkeyPatch) -> None:
    subprocess.run(["make", "-n", *command.words[1:]], cwd=SOURCE_ROOT, check=True, capture_output=True)


def check_module(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """`python -m MODULE OPTIONS`: the module is there; options go through its own parser, and no further."""
    import argparse

    _, flag, module, *options = command.words
    assert flag == "-m"
    if module == "benchmarks.NAME":
        return
    assert importlib.util.find_spec(module)
    if not module.startswith("benchmarks.") or not options:
        return
    parse = argparse.ArgumentParser.parse_args

    def parse_and_leave(self: argparse.ArgumentParser, *arguments: Any) -> None:
        parse(self, *arguments)
        raise Understood

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", parse_and_leave)
    monkeypatch.setattr(sys, "argv", [module, *options])
    with pytest.raises(Understood):
        runpy.run_module(module, run_name="__main__")


class Understood(Exception):
    """Raised once the options have been parsed."""


def check_prefect(command: Command, _: pytest.MonkeyPatch) -> None:
    from prefect.cli._app import _app  # the one way to its parser without running anything

    words = [word for word in command.words[1:] if word != "--no-prompt"]  # an option of all its commands
    _app.parse_args(words, exit_on_error=False, print_error=False)


def check_ray(command: Command, _: pytest.MonkeyPatch) -> None:
    scripts = pytest.importorskip("ray.scripts.scripts")
    scripts.cli.commands[command.words[1]].make_context(command.words[1], list(command.words[2:]))


def check_torchrun(command: Command, _: pytest.MonkeyPatch) -> None:
    from torch.distributed.run import get_args_parser

    get_args_parser().parse_args(list(command.words[1:]))


CHECKS = {
    "make": check_make,
    "python": check_module,
    "prefect": check_prefect,
    "ray": check_ray,
    "torchrun": check_torchrun,
}


def test_nothing_is_left_out() -> None:
    known = [*OURS, *CHECKED]
    assert {one.program for one in ALL if one not in known} <= set(OTHERS)
    assert [one for one in OURS if one not in [*RUN, *RUN_SLOWLY, *MENTIONED]] == [
        one for one in OURS if not one.inline and one.words[1] in ELSEWHERE
    ]


@pytest.fixture(scope="module")
def workshop(prefect_server: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:  # noqa: ARG001
    """A folder with a home of its own, in which a small pipeline has run: `alphago run pipeline`."""
    folder = tmp_path_factory.mktemp("documented commands")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ALPHAGO_HOME", str(folder / "home"))
        patch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{folder / 'home' / 'mlflow.db'}")
        patch.chdir(folder)
        forget_store()
        few_games(folder)
        assert run_app(["run", "pipeline", "--profile", "demo", *small("pipeline")]) == 0
        yield folder
    forget_store()


def forget_store() -> None:
    """MLflow's client is made once a process; another home needs another."""
    from tasks import mlflow_store

    mlflow_store.experiment_id.cache_clear()
    mlflow_store.client.cache_clear()


def few_games(folder: Path) -> None:
    """One game as game.sgf and GAME.sgf, and a few 19x19 ones under the names that the pages use."""
    with tarfile.open(bundled_games(9)) as archive:
        member = next(one for one in archive if one.isfile() and one.size > 400)
        content = archive.extractfile(member)
        assert content is not None
        for name in ("game.sgf", "GAME.sgf"):
            (folder / name).write_bytes(content.read())
            content.seek(0)
    shutil.copy(bundled_games(19), folder / "kgs-19x19.tar.gz")


def small(name: str) -> list[str]:
    return [word for setting in SMALL[name] for word in ("--set", setting)]


def shortened(command: Command) -> list[str]:
    """A command with names in the place of placeholders, and settings that make it quick."""
    words = [_filled(word) for word in command.words[1:]]
    kind, name = words[0], words[1] if len(words) > 1 else ""
    if kind in ("run", "experiment"):
        words += small(name)
    if kind == "inspect" and name in ("row", "overfit", "learning-rates"):
        words += [word for setting in SMALL_NETWORK for word in ("--set", setting)]
        words += [] if name == "row" else ["--steps", "2"]
    return words


def _filled(word: str) -> str:
    word = re.sub(r"/path/to/[\w.-]+", "kgs-19x19.tar.gz", word)
    word = re.sub(r"simulations=\d+", "simulations=8", word)
    return {"STAGE": ANY_STAGE, "REF": "evaluate-tournament", "FOLDER": "a folder"}.get(word, word)


@pytest.mark.parametrize("command", RUN, ids=str)
def test_it_runs(command: Command, workshop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(command, workshop, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("command", RUN_SLOWLY, ids=str)
def test_it_runs_slowly(command: Command, workshop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(command, workshop, monkeypatch)


def run(command: Command, workshop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workshop)
    answers = io.BytesIO()
    size = 19 if any("pretrained" in word for word in command.words) else 9  # what ships searches on 19x19
    if command.words[1] == "gtp":
        answers.close = lambda: None  # type: ignore[method-assign]  # to be read below
        monkeypatch.setattr("flows.gtp.standard_streams", lambda: (io.BytesIO(GENMOVE % size), answers))
    assert run_app(shortened(command)) == 0
    if command.words[1] == "gtp":
        assert re.search(rb"^= [A-T]\d", answers.getvalue(), re.MULTILINE)
