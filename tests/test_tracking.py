"""Work folders, reuse, resume, MLflow on real SQLite, references and lineage; no Prefect."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from tasks import bootstrap, lineage, store, tracking
from tasks.ancestry import lineage_text
from tasks.errors import UserError
from tasks.outbox import Outbox
from tasks.params import EvaluateTournamentParams, TrainSlPolicyParams
from tasks.recording import is_best
from tasks.references import Scope, outside, resolve, resolve_any
from tasks.store import StageResult
from tasks.tracking import StageRun, stage_run

pytestmark = pytest.mark.usefixtures("data_home")
STAGE = "train-sl-policy"
PARAMS = TrainSlPolicyParams(board_size=9)


@pytest.fixture
def games(tmp_path: Path) -> Path:
    path = tmp_path / "games.sgf"
    path.write_text("(;SZ[9])")
    return path


def work(run: StageRun, value: int = 1) -> None:
    """What a stage function would do: curves, a model file, a return."""
    run.log_metrics({"train/loss": 0.5}, 1)
    save_file({"weights": np.array([value])}, run.folder / "sl.safetensors")
    run.finish(
        {
            "outputs": {"sl_policy": {"path": "sl.safetensors", "kind": "model"}},
            "metrics": {"test/accuracy": value / 100},
            "summary": "a table",
        }
    )


def train(games: Path, value: int = 1, profile: str = "demo", **options: Any) -> StageResult:
    inputs = {"positions": outside(games)}
    with stage_run(STAGE, PARAMS, inputs, profile=profile, **options) as run:
        if run.result is None:
            work(run, value)
    assert run.result is not None
    return run.result


def test_a_run_is_told_to_mlflow(games: Path) -> None:
    from tasks.mlflow_store import client

    result = train(games)
    assert result.run_id
    run = client().get_run(result.run_id)
    assert run.info.status == "FINISHED"
    assert run.data.params["optimizer.momentum"] == "0.0"
    assert run.data.metrics["train/loss"] == 0.5
    assert run.data.metrics["test/accuracy"] == pytest.approx(0.01)
    assert run.inputs.dataset_inputs[0].dataset.digest == outside(games).digest[:32]
    assert run.outputs.model_outputs[0].model_id == result.outputs["sl_policy"].model_id
    assert "graph LR" in run.data.tags["mlflow.note.content"]
    names = {file.path for file in client().list_artifacts(result.run_id)}
    assert {"lineage.json", "summary.md"} <= names
    assert store.read_result(Path(result.folder)) == result


def test_identical_work_is_reused_and_said_so(games: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from tasks.mlflow_store import client, experiment_id

    first = train(games)
    again = train(games, value=2)
    assert again.reused
    assert again.outputs == first.outputs
    assert "reused, finished" in capsys.readouterr().err
    query = f"tags.`reused.run` = '{first.run_id}'"
    (reuse,) = client().search_runs([experiment_id()], query)
    assert reuse.info.run_id != first.run_id
    assert "reused" not in client().get_run(str(first.run_id)).data.tags
    assert reuse.data.metrics["test/accuracy"] == pytest.approx(0.01)
    assert str(first.run_id) in reuse.data.tags["mlflow.note.content"]


def test_other_inputs_are_other_work(games: Path) -> None:
    first = train(games)
    games.write_text("(;SZ[9];B[aa])")
    assert train(games).key != first.key


def test_redo_keeps_the_first_result(games: Path) -> None:
    first = train(games)
    second = train(games, value=2, redo=True)
    assert second.folder == f"{first.folder}-2"
    assert Path(first.folder, store.RESULT).exists()
    assert train(games).folder == second.folder  # the newest counts


def test_other_code_is_accepted_only_when_asked(
    games: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = train(games)
    monkeypatch.setattr(tracking, "code_digest", lambda: "0" * 64)
    assert train(games, any_code=True).folder == first.folder
    assert "another version of the code" in capsys.readouterr().err
    assert train(games).folder != first.folder


def test_interrupted_work_goes_on_in_its_folder_and_run(games: Path) -> None:
    from tasks.mlflow_store import client

    inputs = {"positions": outside(games)}
    with pytest.raises(OSError, match="disk"), stage_run(STAGE, PARAMS, inputs, profile="demo") as run:  # noqa: PT012
        (run.folder / "state").write_text("half way")
        raise OSError("disk full")
    assert client().get_run(str(run.run_id)).info.status == "FAILED"
    assert store.read_result(run.folder) is None
    with stage_run(STAGE, PARAMS, inputs, profile="demo") as resumed:
        assert (resumed.folder / "state").read_text() == "half way"
        work(resumed)
    assert resumed.run_id == run.run_id
    assert client().get_run(str(run.run_id)).info.status == "FINISHED"


def test_finished_work_survives_a_failure_to_report_it(games: Path) -> None:
    with (  # noqa: PT012
        pytest.raises(ConnectionError),
        stage_run(STAGE, PARAMS, {"positions": outside(games)}, profile="demo") as run,
    ):
        work(run)
        raise ConnectionError("Prefect is away")
    again = train(games, value=2)
    assert again.reused
    assert again.metrics == {"test/accuracy": 0.01}
    assert again.run_id == run.run_id
    assert again.outputs["sl_policy"].version


def test_the_same_work_is_not_done_twice_at_once(games: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other: list[StageResult] = []
    thread = Thread(target=lambda: other.append(train(games, value=2)))
    with stage_run(STAGE, PARAMS, {"positions": outside(games)}, profile="demo") as run:
        thread.start()
        thread.join(0.5)
        assert thread.is_alive()
        work(run)
    thread.join()
    assert other[0].reused
    assert other[0].folder == str(run.folder)
    assert "another process does this; waiting" in capsys.readouterr().err


def test_ratings_stand_beside_the_models(games: Path) -> None:
    from tasks.mlflow_store import client

    trained = train(games)
    model = str(trained.outputs["sl_policy"].model_id)
    players = EvaluateTournamentParams(
        board_size=9, players={"the net": "policy:sl_policy", "random": "random"}
    )
    taken = {"sl_policy": resolve("sl_policy", trained.folder, None)}
    with stage_run("evaluate-tournament", players, taken, profile="demo") as run:
        (run.folder / "table.csv").write_text("")
        outputs = {"crosstable": {"path": "table.csv", "kind": "artifact"}}
        run.finish({"outputs": outputs, "metrics": {"elo/the net": 250.0, "elo/random": 0.0}})
    metrics = {metric.key: metric.value for metric in client().get_logged_model(model).metrics}
    assert metrics == {"test/accuracy": 0.01, "elo/the net": 250.0}


def test_what_the_user_must_mend_leaves_nothing_behind(games: Path) -> None:
    with (
        pytest.raises(UserError),
        stage_run(STAGE, PARAMS, {"positions": outside(games)}, profile="demo") as run,
    ):
        raise UserError("no games")
    assert not run.folder.exists()


def test_only_work_that_was_begun_is_kept_after_an_error(games: Path) -> None:
    def fail(begun: bool) -> None:
        with stage_run(STAGE, PARAMS, {"positions": outside(games)}, profile="demo") as run:
            folders.append(run.folder)
            if begun:
                (run.folder / "state.json").write_text("{}")
            raise ValueError("not a checkpoint")

    folders: list[Path] = []
    for begun in (False, True):
        with pytest.raises(ValueError, match="not a checkpoint"):
            fail(begun)
        assert folders[-1].exists() == begun


def test_a_lost_output_is_made_again(games: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = train(games)
    first.path("sl_policy").unlink()
    again = train(games)
    assert not again.reused
    assert again.path("sl_policy").exists()
    assert "sl_policy of an earlier run is gone" in capsys.readouterr().err


def test_mlflow_away_costs_no_work_and_is_told_later(
    games: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from tasks import mlflow_store

    def away(*_: Any) -> str:
        raise ConnectionError("no route to MLflow")

    with monkeypatch.context() as patch:
        patch.setattr(mlflow_store, "start_run", away)
        patch.setattr("tasks.outbox.LAST_PAUSE_SECONDS", 0.0)
        result = train(games)
    assert result.run_id is None
    assert "MLflow is away (no route to MLflow)" in capsys.readouterr().err
    told = train(games)
    assert told.reused
    assert told.run_id
    history = mlflow_store.client().get_metric_history(told.run_id, "train/loss")
    assert [(point.step, point.value) for point in history] == [(1, 0.5)]
    assert told.outputs["sl_policy"].version


def test_names_that_users_choose_are_fitted_to_mlflow(games: Path) -> None:
    from tasks.mlflow_store import client

    with stage_run(STAGE, PARAMS, {"positions": outside(games)}, profile="demo") as run:
        run.log_params({"players": {"policy, value (fast)": "random"}})
        run.log_metrics({"elo/policy, value (fast)": 3.0})
        work(run)
    assert run.run_id
    data = client().get_run(run.run_id).data
    assert data.params["players.policy_ value _fast_"] == "random"
    assert data.metrics["elo/policy_ value _fast_"] == 3.0


def test_the_outbox_keeps_order_and_gives_up_what_is_refused() -> None:
    sent: list[int] = []
    broken = [True]

    def second() -> None:
        if broken[0]:
            raise OSError("away")
        sent.append(2)

    def refused() -> None:
        raise ValueError("never")

    box = Outbox("store", lambda error: isinstance(error, ValueError))
    for call in (lambda: sent.append(1), refused, second, lambda: sent.append(3)):
        box.add(call)
    assert not box.flush()
    assert sent == [1]
    broken[0] = False
    assert box.flush()
    assert sent == [1, 2, 3]


def test_references(games: Path) -> None:
    first = train(games, value=1)
    scope = Scope("demo", 9)
    by_newest = resolve("sl_policy", "", scope)
    assert by_newest.path == str(first.path("sl_policy"))
    assert by_newest.run_id == first.run_id
    for reference in (str(first.run_id), first.folder, str(first.path("sl_policy"))):
        assert resolve("sl_policy", reference, scope) == by_newest
    assert resolve_any(STAGE, tracking.find_model) == first
    for reference in ("alphago-sl-policy", "alphago-sl-policy@latest"):
        assert resolve("sl_policy", reference, scope, tracking.find_model) == by_newest
    with pytest.raises(UserError, match="of profile paper on 9x9"):
        resolve("sl_policy", "", Scope("paper", 9))
    with pytest.raises(UserError, match="no file or folder"):
        resolve("sl_policy", "nowhere", scope)
    with pytest.raises(UserError, match="no finished stage with MLflow run"):
        resolve("sl_policy", "0" * 32, scope)
    with pytest.raises(UserError, match="alphago-nothing"):
        resolve("sl_policy", "alphago-nothing@best", scope, tracking.find_model)
    first.path("sl_policy").unlink()
    with pytest.raises(UserError, match=r"is gone; `alphago run train-sl-policy`"):
        resolve("sl_policy", "", scope)


def test_lineage_reaches_the_files_and_survives_a_lost_ancestor(games: Path) -> None:
    first = train(games, command="alphago run train-sl-policy --set steps=3")
    taken = {"sl_policy": resolve("sl_policy", first.folder, None)}
    with stage_run("train-rl-policy", PARAMS, taken, profile="demo") as run:
        work(run)
    text = "\n".join(
        lineage.tree_lines(lineage.stage_node(resolve_any(str(run.folder), tracking.find_model)))
    )  # type: ignore[arg-type]
    assert outside(games).digest[:12] in text
    assert "LOST" not in text
    first.path("sl_policy").unlink()
    Path(first.folder, store.RESULT).unlink()
    games.write_text("changed")
    assert run.result is not None
    text = "\n".join(lineage.tree_lines(lineage.stage_node(run.result)))
    assert "LOST; `alphago run train-sl-policy --set steps=3` makes it again" in text
    assert "games.sgf  CHANGED since it was used" in text


def test_a_lost_shard_is_noticed(games: Path) -> None:
    def parse() -> StageResult:
        with stage_run("parse-games", PARAMS, {"games": outside(games)}, profile="demo") as run:
            if run.result is None:
                made = {"positions": {"path": str(dataset(run.folder / "positions")), "kind": "dataset"}}
                run.finish({"outputs": made})
        assert run.result is not None
        return run.result

    made = parse()
    assert parse().reused
    (made.path("positions") / "train-0.parquet").unlink()
    with pytest.raises(UserError, match=r"train-0.parquet is gone; `alphago run parse-games` makes it again"):
        resolve("positions", "", Scope("demo", 9))
    assert "LOST: train-0.parquet; `alphago run parse-games`" in lineage_text(made.folder)
    assert parse().reused is False
    assert resolve("positions", "", Scope("demo", 9)).digest == made.outputs["positions"].digest


def dataset(folder: Path) -> Path:
    store.write_text(folder / "train-0.parquet", "rows")
    files = [{"name": "train-0.parquet", "rows": 1, "sha256": "0" * 64}]
    store.write_text(folder / "manifest.json", json.dumps({"files": files, "digest": "0" * 64}))
    return folder


def test_the_best_version() -> None:
    held = {"board_size": "9", "quality": "0.4"}
    assert is_best(None, 9, None, 1)
    assert is_best(held, 9, 0.5, 1)
    assert not is_best(held, 9, 0.5, -1)
    assert not is_best(held, 9, None, 1)
    assert is_best(held, 19, 0.1, 1)
    assert not is_best(held, 5, 0.9, 1)


def test_result_files_are_whole_or_absent(tmp_path: Path) -> None:
    store.write_text(tmp_path / "a" / "x.json", json.dumps({"a": 1}))
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["x.json"]


def test_only_one_module_imports_mlflow() -> None:
    found = set()
    for package in ("flows", "tasks", "models", "datasets", "go_engine"):
        for file in (bootstrap.SOURCE_ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                if any(name.split(".")[0] == "mlflow" for name in names):
                    found.add(file.name)
    assert found == {"mlflow_store.py"}
