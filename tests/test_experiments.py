"""`alphago experiment` and `alphago inspect`: on small data, through the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from training_helpers import SIZE, write_positions, write_values

from flows.cli import run_app
from flows.experiments import EXPERIMENTS, experiment_params, run_experiment
from models.checkpoint import save_checkpoint
from models.networks import PolicyNet, ValueNet
from tasks import paper
from tasks.errors import UserError
from tasks.params import AccuracyTableParams, TrainSlPolicyParams
from tasks.players import PRETRAINED_FOLDER
from tasks.report_choice import EXPERIMENTS as REPORTED
from tasks.report_choice import Chosen
from tasks.report_strength import players_by_parts, scaling
from tasks.store import results

SMALL = [f"board_size={SIZE}", "threads=1", "filters=4", "layers=2", "steps=4", "evaluation.every=2"]
SETTINGS = [part for text in SMALL for part in ("--set", text)]

pytestmark = pytest.mark.usefixtures("data_home")


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture
def positions(tmp_path: Path) -> Path:
    return write_positions(tmp_path / "corpus")


def test_an_experiment_is_tracked_and_reused(
    positions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    values = write_values(tmp_path / "values")
    inputs = [f"positions={positions}", f"value-set={values}"]
    first = run_experiment("overfitting", "demo", SMALL, inputs)
    (result,) = results("overfitting")
    assert result.run_id
    assert result.folder in first
    assert set(result.metrics) >= {"all-positions/test", "one-a-game/test"}
    assert (Path(result.folder) / "overfitting.png").is_file()
    assert run_experiment("overfitting", "demo", SMALL, inputs) == first
    assert "reused" in capsys.readouterr().err
    assert len(results("overfitting")) == 1


def test_others_run_too(positions: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grid = ["--set", "grid=[{filters: 4, planes: 4}]", "--set", "ensembles=[1]"]
    command = ["experiment", "accuracy-table", *SETTINGS, *grid, "--input", f"positions={positions}"]
    assert run_app(command) == 0
    few = ["--set", f"board_size={SIZE}", "--set", "games=2", "--set", "rollouts=2", "--set", "threads=1"]
    command = ["experiment", "value-by-stage", *few, "--input", f"games={positions.parent / 'games'}"]
    assert run_app(command) == 0
    assert "uniform rollouts" in capsys.readouterr().out
    assert {result.stage for result in results()} == {"accuracy-table", "value-by-stage"}


@pytest.fixture
def parts(tmp_path: Path) -> list[str]:
    """What a search is made of, as inputs."""
    policy = save_checkpoint(tmp_path / "p.safetensors", PolicyNet(SIZE, filters=4, layers=2))
    value = save_checkpoint(tmp_path / "v.safetensors", ValueNet(SIZE, filters=4, layers=2, hidden=4))
    shipped = {
        f"{name}-policy": PRETRAINED_FOLDER / f"{name}-9x9.safetensors" for name in ("rollout", "tree")
    }
    files = {"sl-policy": policy, "value-network": value} | shipped
    return [f"{name}={file}" for name, file in files.items()]


def test_the_seven_variants_meet(parts: list[str]) -> None:
    few = [f"board_size={SIZE}", "threads=1", "search=simulations=3", "games=2", "search_games=2"]
    run_experiment("variants", "demo", few, parts)
    (result,) = results("variants")
    assert result.metrics["games"] == 2 * 21
    assert set(players_by_parts(result)) == {variant.parts for variant in paper.VARIANTS}


def test_more_threads_are_measured_and_play(parts: list[str]) -> None:
    few = [f"board_size={SIZE}", "counts=[1, 2]", "seconds=0.01", "positions=2", "plies=4", "games=2"]
    run_experiment("search-scaling", "demo", few, parts)
    (result,) = results("search-scaling")
    assert {f"{name}/{n}" for name in ("simulations_per_second", "elo") for n in (1, 2)} <= set(
        result.metrics
    )
    assert result.metrics["simulations_per_second/2"] > 0
    told = scaling(Chosen("", "", [result], experiments={"search-scaling": result}))
    assert "simulations/s" in told.text
    assert [picture.file for picture in told.pictures] == [Path(result.folder) / "scaling.png"]


@pytest.mark.parametrize(
    ("settings", "said"),
    [([], "there is no sl_policy, no value_network"), (["player=random"], "only a search has threads")],
)
def test_scaling_needs_a_search_and_its_parts(settings: list[str], said: str) -> None:
    with pytest.raises(UserError, match=said):
        run_experiment("search-scaling", "demo", settings, [])


def test_the_report_knows_every_experiment() -> None:
    assert tuple(EXPERIMENTS) == REPORTED


def test_the_grid_follows_the_profiles_network() -> None:
    paper = experiment_params("accuracy-table", "paper", {})
    assert paper == AccuracyTableParams()
    small = experiment_params("accuracy-table", "paper", {"filters": 48})
    assert isinstance(small, AccuracyTableParams)
    share = 48 / TrainSlPolicyParams().filters
    assert [point.filters for point in small.grid] == [
        point.filters * share for point in AccuracyTableParams().grid
    ]


@pytest.mark.parametrize("stage", ["train-sl-policy", "train-value-network"])
def test_a_training_can_be_looked_into(
    stage: str, positions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = positions if stage == "train-sl-policy" else write_values(tmp_path / "values")
    common = [stage, *SETTINGS, "--input", str(data)]
    assert run_app(["inspect", "row", *common, "--number", "2"]) == 0
    assert "outcome for the player to move" in capsys.readouterr().out
    assert run_app(["inspect", "overfit", *common, "--steps", "3"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4
    drawn = tmp_path / "rates.png"
    rates = ["--rates", "0.01,0.02", "--steps", "2", "--figure", str(drawn)]
    assert run_app(["inspect", "learning-rates", *common, *rates]) == 0
    assert "best" in capsys.readouterr().out
    assert drawn.is_file()


def test_a_checkpoint_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = save_checkpoint(tmp_path / "p.safetensors", PolicyNet(SIZE, filters=4, layers=2))
    assert run_app(["inspect", "checkpoint", str(path)]) == 0
    assert "policy network, 5x5" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["experiment", "nothing"], "no experiment 'nothing'; there are accuracy-table, overfitting"),
        (["experiment", "overfitting"], "no finished parse-games of profile demo"),
        (["experiment", "overfitting", "--set", "step=1"], "did you mean steps?"),
        (["experiment", "overfitting", "--input", "games=x"], "overfitting takes positions, value_set"),
        (["inspect", "row", "nothing"], "no training 'nothing'; there are train-sl-policy"),
        (["inspect", "row", "train-sl-policy"], "no finished parse-games"),
        (["inspect", "overfit", "train-sl-policy", "--set", "x=1"], "no parameter x"),
        (["inspect", "learning-rates", "train-sl-policy", "--rates", "0.1,a"], "not numbers"),
        (["inspect", "learning-rates", "train-sl-policy", "--rates", "0"], "above 0"),
        (["inspect", "checkpoint", "/nowhere"], "no file or folder"),
    ],
)
def test_mistakes_are_told_in_one_line(
    capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert run_app(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert said in printed.err


@pytest.mark.parametrize("arguments", [[], ["inspect"]])
def test_a_command_without_arguments_shows_its_help(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert run_app(arguments) == 2
    assert "Commands:" in capsys.readouterr().out
