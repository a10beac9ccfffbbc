"""The flows on a real Prefect server and a real MLflow store, with small stand-ins for the stages' work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import standins
import yaml

from flows.params import (
    COMMON,
    PROFILES,
    PipelineParams,
    TrainSlPolicyParams,
    load_profile,
    over_profile,
    pipeline_params,
    stage_params,
)
from flows.stages import STAGES, dependents
from tasks.bootstrap import SOURCE_ROOT
from tasks.errors import UserError

ALL = [one.section for one in STAGES.values()]


@pytest.fixture
def stand_ins(data_home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Stages that take no time; returns a file of games."""
    for module in ("flows.pipeline", "flows.sweep"):
        monkeypatch.setattr(f"{module}.data_root", lambda: data_home)
    standins.install(monkeypatch)
    games = tmp_path / "games.sgf"
    games.write_text("(;SZ[9])")
    return games


def run_pipeline(games: Path, **options: Any) -> Any:
    from flows.pipeline import pipeline

    standins.calls.clear()
    return pipeline(games=[str(games)], profile="demo", **options)


@pytest.mark.usefixtures("prefect_server")
def test_the_pipeline_runs_reuses_and_redoes(stand_ins: Path) -> None:
    from tasks.mlflow_store import client, experiment_id

    in_order: dict[str, Any] = {"side_by_side": False}
    params = pipeline_params("demo", in_order)
    first = run_pipeline(stand_ins, params=params)
    assert standins.calls == ALL
    assert "table of evaluate_tournament" in first.summary
    nested = client().search_runs([experiment_id()], f"tags.`mlflow.parentRunId` = '{first.run_id}'")
    assert {run.data.tags["stage"] for run in nested} == set(STAGES)
    assert all(run.data.tags["prefect.flow_run_id"] for run in nested)

    reused_before = flow_runs_in_state("Reused")  # by other tests on the same server
    again = run_pipeline(stand_ins, params=params)
    assert standins.calls == []
    assert all(stage.reused for stage in again.stages)
    assert flow_runs_in_state("Reused") - reused_before == len(STAGES)
    told = client().search_runs([experiment_id()], f"tags.`mlflow.parentRunId` = '{again.run_id}'")
    assert {run.info.run_name for run in told} == {f"{name} (reused)" for name in STAGES}
    assert again.stages[-1].outputs == first.stages[-1].outputs

    redone = run_pipeline(stand_ins, params=params, from_stage="train-rl-policy")
    assert standins.calls == [name for name in ALL if name in dependents_sections("train-rl-policy")]
    assert [stage.reused for stage in redone.stages] == [True, True, True, False, False, False, False]

    faster = {"train_sl_policy": {"learning_rate": 0.01}}
    changed = run_pipeline(stand_ins, params=pipeline_params("demo", in_order | faster))
    assert changed.stages[2].params["learning_rate"] == 0.01
    assert standins.calls == [name for name in ALL if name in dependents_sections("train-sl-policy")]


@pytest.mark.usefixtures("prefect_server")
def test_a_second_pass_uses_the_value_network_and_stages_run_side_by_side(stand_ins: Path) -> None:
    result = run_pipeline(stand_ins, params=pipeline_params("demo", {"passes": 2, "side_by_side": True}))
    (page,) = stand_ins.parent.glob("data/pipeline/*/report.html")
    assert "At a glance" in page.read_text(encoding="utf-8")
    assert sorted(standins.calls) == sorted(
        [*ALL, "train_rl_policy", "generate_value_set", "train_value_network"]
    )
    second = [stage for stage in result.stages if stage.stage == "train-rl-policy"][1]
    assert second.inputs["value_network"].stage == "train-value-network"
    assert result.stages[-1].inputs["rl_policy"].folder == Path(second.folder).name


@pytest.mark.usefixtures("prefect_server")
def test_one_stage_takes_the_newest_inputs_or_those_named(stand_ins: Path) -> None:
    from flows.parse_games import parse_games
    from flows.train_sl_policy import train_sl_policy

    with pytest.raises(UserError, match="no finished parse-games of profile demo on 9x9"):
        train_sl_policy(profile="demo")
    parsed = parse_games(games=[str(stand_ins)], profile="demo")
    newest = train_sl_policy(TrainSlPolicyParams(learning_rate=0.5), profile="demo")
    assert newest.inputs["positions"].folder == Path(parsed.folder).name
    assert (newest.params["learning_rate"], newest.params["board_size"]) == (0.5, 9)
    named = train_sl_policy(
        TrainSlPolicyParams(learning_rate=0.5), positions=str(parsed.run_id), profile="demo"
    )
    assert named.reused
    assert (
        train_sl_policy(TrainSlPolicyParams(learning_rate=0.5), profile="demo", reuse="never").reused is False
    )


@pytest.mark.usefixtures("prefect_server")
def test_a_sweep_is_runs_side_by_side(stand_ins: Path) -> None:
    from flows.run import run_from_command_line
    from tasks.mlflow_store import client, experiment_id

    run_from_command_line("parse-games", "demo", [], [f"games={stand_ins}"], None)
    table = run_from_command_line("train-sl-policy", "demo", ["learning_rate=0.1,0.2", "steps=3"], [], None)
    assert "| learning_rate=0.1 | 0.5 |" in table
    (above,) = client().search_runs([experiment_id()], "tags.`sweep.of` = 'train-sl-policy'")
    below = client().search_runs([experiment_id()], f"tags.`mlflow.parentRunId` = '{above.info.run_id}'")
    assert {run.data.params["learning_rate"] for run in below} == {"0.1", "0.2"}
    assert {run.data.params["steps"] for run in below} == {"3"}


def flow_runs_in_state(name: str) -> int:
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import FlowRunFilter

    wanted = FlowRunFilter.model_validate({"state": {"name": {"any_": [name]}}})
    return len(get_client(sync_client=True).read_flow_runs(flow_run_filter=wanted))


def dependents_sections(name: str) -> set[str]:
    return {STAGES[other].section for other in dependents(name)}


def test_dependents() -> None:
    assert dependents("train-value-network") == ["train-value-network", "evaluate-tournament"]
    assert dependents("train-rollout-policy") == ["train-rollout-policy", "evaluate-tournament"]
    assert dependents("parse-games") == list(STAGES)
    assert dependents("evaluate-tournament") == ["evaluate-tournament"]


@pytest.mark.parametrize("profile", PROFILES)
def test_profiles_are_valid(profile: Any) -> None:
    whole = pipeline_params(profile, {})
    for one in STAGES.values():
        assert stage_params(one.name, profile, {}) == whole.of(one.name).model_copy(), one.name


def test_the_paper_is_the_default() -> None:
    assert pipeline_params("paper", {}) == PipelineParams()


def test_common_settings_reach_every_stage() -> None:
    params = pipeline_params("demo", {"seed": 5, "train_sl_policy": {"seed": 7}})
    seeds = {one.section: params.of(one.name).seed for one in STAGES.values()}
    assert seeds.pop("train_sl_policy") == 7
    assert set(seeds.values()) == {5}
    larger = pipeline_params("demo", {"board_size": 19})
    assert {larger.of(name).board_size for name in STAGES} == {19}
    assert set(COMMON) <= set(PipelineParams.model_fields)


def test_what_a_caller_sets_lies_over_the_profile() -> None:
    given = TrainSlPolicyParams(learning_rate=0.25)
    laid = over_profile(given, "train-sl-policy", "demo")
    assert laid.learning_rate == 0.25
    assert laid.steps == load_profile("demo")["train_sl_policy"]["steps"]
    assert over_profile(laid, "train-sl-policy", "demo") == laid
    pipeline = over_profile(
        PipelineParams.model_validate({"train_sl_policy": {"steps": 3}}), "pipeline", "demo"
    )
    assert (pipeline.train_sl_policy.steps, pipeline.board_size) == (3, 9)


def test_deployments_show_the_demo_values() -> None:
    from flows.deployments import deployments_yaml

    text = (SOURCE_ROOT / "prefect.yaml").read_text(encoding="utf-8")
    assert text == deployments_yaml(), "run: python -m flows.deployments > prefect.yaml"
    entries = yaml.safe_load(text)["deployments"]
    assert len(entries) == len(STAGES) + 1
    assert {entry["name"] for entry in entries} == {"local"}
