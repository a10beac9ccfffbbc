"""The stages' pages: what is generated in them is up to date, and the form says the bounds as they do."""

from __future__ import annotations

import pytest

from flows.params import PipelineParams
from flows.stage_pages import BEGIN, generated, page_path, with_generated
from flows.stages import PIPELINE, STAGES
from tasks.params import TrainSlPolicyParams


@pytest.mark.parametrize("name", [*STAGES, PIPELINE])
def test_a_page_is_what_the_generator_makes_of_it(name: str) -> None:
    text = page_path(name).read_text(encoding="utf-8")
    assert text == with_generated(text, name), "run: python -m flows.stage_pages"
    assert BEGIN in text


def test_a_table_has_types_bounds_and_the_profiles_values() -> None:
    table = generated("train-sl-policy")
    assert "| `learning_rate` | number, >0 <=10 | 0.003 | 0.03 |" in table
    assert "`sgd` or `muon`" in table
    assert "| input | `positions` | made by [parse-games](parse-games.md) |" in table
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    assert all(row.replace("\\|", "").count("|") == 7 for row in rows)


def test_the_form_tells_the_bounds() -> None:
    filters = TrainSlPolicyParams.model_json_schema()["properties"]["filters"]
    assert filters["description"] == "Filters of each convolution (k in the paper). (>=1 <=4,096)"
    nested = PipelineParams.model_json_schema()["$defs"]["OptimizerParams"]["properties"]["momentum"]
    assert nested["description"].endswith("(>=0 <1)")
