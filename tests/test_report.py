"""The report: what it tells of, a page that needs nothing from outside, and what it says of missing parts."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from flows.cli import run_app
from tasks import paper
from tasks.errors import UserError
from tasks.report import write_report
from tasks.report_charts import Bar, elo_bars
from tasks.report_document import table
from tasks.report_page import html_of
from tasks.report_strength import parts_of
from tasks.store import Input, Output, StageResult, write_result, write_text

PIXEL = bytes.fromhex(  # a PNG of one point
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000 1f15c4890000000d49444154789c6360606060000000"
    "050001a5f645400000000049454e44ae426082".replace(" ", "")
)
RATINGS = """program,elo,lower,upper,games,score
search,900.000,800.000,1000.000,40.000,0.900
SL <policy>,400.000,300.000,500.000,40.000,0.600
random,0.000,-100.000,100.000,40.000,0.100
"""


def made(
    root: Path,
    stage: str,
    metrics: dict[str, float] | None = None,
    files: dict[str, str] | None = None,
    inputs: tuple[StageResult, ...] = (),
    **params: Any,
) -> StageResult:
    """A finished stage with an output "thing", as small as the report needs it."""
    folder = root / stage / "key"
    for name, text in ({"thing": stage} | (files or {})).items():
        write_text(folder / name, text)
    number = sum(1 for _ in root.glob("*/*/result.json"))
    taken = {
        f"input_{one.stage}": Input(
            path=str(one.path("thing")),
            digest=one.outputs["thing"].digest,
            stage=one.stage,
            folder="key",
            output="thing",
        )
        for one in inputs
    }
    result = StageResult(
        stage=stage,
        key="key",
        folder=str(folder),
        profile="demo",
        board_size=9,
        params=params,
        inputs=taken,
        outputs={"thing": Output(path="thing", kind="artifact", digest=f"{number:064x}")},
        metrics=metrics or {},
        summary=f"summary of {stage}",
        run_id=f"{number:032x}",
        code="c" * 64,
        started=f"2026-01-01T00:00:{number:02d}",
        finished=f"2026-01-01T00:00:{number:02d}",
        seconds=60.0,
    )
    write_result(result)
    return result


@pytest.fixture
def chain(data_home: Path) -> list[StageResult]:
    """Policy, its RL successor, and a tournament of both."""
    curve = "".join(json.dumps(["train/accuracy", 0.2 * n, 0, n]) + "\n" for n in (1, 2))
    sl = made(
        data_home,
        "train-sl-policy",
        {"test/accuracy": 0.431, "test/accuracy_8": 0.456},
        {"metrics.jsonl": curve + '["train/accuracy", 0.9'},
        filters=32,
        planes=48,
    )
    (Path(sl.folder) / "curves.png").write_bytes(PIXEL)
    wins = {"win_rate/sl_policy": 0.81, "win_rate/sl_policy_low": 0.75, "win_rate/sl_policy_high": 0.859}
    matches = "| iteration | win rate |\n|---:|---:|\n| 10 | 81.0% |\n"
    rl = made(data_home, "train-rl-policy", wins, {"matches.md": matches}, (sl,), iterations=30, games=64)
    players = {"random": "random", "SL <policy>": "policy:sl_policy", "search": "search"}
    final = made(
        data_home,
        "evaluate-tournament",
        {"games": 120.0},
        {"ratings.csv": RATINGS},
        (sl, rl),
        players=players,
        komi=7.5,
    )
    return [sl, rl, final]


class Page(HTMLParser):
    """Collects the words of a page and whatever it would load."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.open: list[str] = []
        self.words = ""
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        assert tag not in ("script", "link", "iframe", "object")
        self.loads += [value or "" for name, value in attributes if name in ("src", "href", "srcset")]
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        pass  # of an SVG drawing

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


@pytest.mark.usefixtures("chain")
def test_page_needs_nothing_from_outside() -> None:
    path, _ = write_report()
    page = Page(path)
    assert page.open == []
    assert all(link.startswith(("#", "data:image/png;base64,")) for link in page.loads)
    assert any(link.startswith("data:") for link in page.loads)
    text = path.read_text(encoding="utf-8").replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert "http" not in text
    assert not re.search(r"@import|url\(", text)


@pytest.mark.usefixtures("chain")
def test_our_numbers_stand_beside_the_papers() -> None:
    page, markdown = write_report()
    text = markdown.read_text(encoding="utf-8")
    assert "| SL policy: moves predicted, % | 55.4 (192 filters) | 43.1 |" in text
    assert "| **ours** | 32 | 1 | 48 | 43.1 | 40.0 |" in text
    assert "| **ours** | 32 | 8 | 48 | 45.6 | - |" in text
    assert "| RL against SL policy: games won, % | more than 80 | 81.0 |" in text
    assert "75.0 to 85.9" in text
    assert "| full search above the bare SL policy, Elo | 1373 | 500 |" in text
    assert "| yes | yes | yes | 2890 | 900 | search |" in text
    assert "summary of evaluate-tournament" in text
    words = Page(page).words
    assert "SL <policy>: 400, 95% interval 300 to 500" in words
    assert "|- input_train-sl-policy" in words  # the lineage
    for file in re.findall(r"!\[[^]]*\]\(([^)]*)\)", text):
        assert (markdown.parent / file).is_file()


@pytest.mark.usefixtures("chain")
def test_missing_parts_name_their_command() -> None:
    text = write_report()[1].read_text(encoding="utf-8")
    for stage in ("parse-games", "train-rollout-policy", "generate-value-set", "train-value-network"):
        assert f"`alphago run {stage} --profile demo --set board_size=9`" in text
    assert "`alphago experiment overfitting --profile demo --set board_size=9`" in text
    assert "alphago run train-sl-policy" not in text


def test_a_reference_means_a_stage_and_what_it_came_from(chain: list[StageResult]) -> None:
    rl = chain[1]
    for reference in (rl.folder, str(rl.run_id), "train-rl-policy"):
        page, markdown = write_report(reference)
        assert page.parent.name == "train-rl-policy-key"
        text = markdown.read_text(encoding="utf-8")
        assert "43.1" in text
        assert "alphago run evaluate-tournament" in text
    with pytest.raises(UserError, match="no finished stage"):
        write_report("f" * 32)


def test_a_pipeline_is_found_after_the_home_has_moved(chain: list[StageResult], data_home: Path) -> None:
    kept = {
        "stages": [
            json.loads(one.model_copy(update={"folder": f"/elsewhere/{one.stage}/key"}).model_dump_json())
            for one in chain
        ],
        "finished": "2026-01-01T00:00:03",
        "seconds": 100.0,
        "run_id": "e" * 32,
    }
    write_text(data_home / "pipeline" / "20260101" / "pipeline.json", json.dumps(kept))
    earlier = kept | {"finished": "2025-12-01T00:00:00", "run_id": "f" * 32, "stages": kept["stages"][:1]}
    write_text(data_home / "pipeline" / "20260102" / "pipeline.json", json.dumps(earlier))
    made(data_home, "parse-games")  # later, and no part of it
    for reference in ("", "e" * 32, str(data_home / "pipeline" / "20260101")):
        page, markdown = write_report(reference)
        assert page.parent.name == "20260101"
        text = markdown.read_text(encoding="utf-8")
        assert "81.0%" in text
        assert "summary of parse-games" not in text
        first, second = (line for line in text.splitlines() if line.startswith("| 2026010"))
        assert first == "| 20260102 | 2026-01-01 00:00 | demo | cccccccccc | 43.1 | - | - | - | - |"
        assert second.endswith("| 43.1 | 81.0 | - | search | 900 |")


def test_experiments_belong_to_what_they_were_made_from(chain: list[StageResult], data_home: Path) -> None:
    stranger = made(data_home, "parse-games")
    told = "| judge, moves | 0-29 |\n|---|---:|\n| value network | 0.250 |\n"
    made(data_home, "value-by-stage", files={"value-by-stage.md": told}, inputs=(chain[0],))
    assert "| value network | 0.250 |" in write_report("evaluate-tournament")[1].read_text(encoding="utf-8")
    made(data_home, "value-by-stage", files={"value-by-stage.md": told}, inputs=(stranger,))
    text = write_report("evaluate-tournament")[1].read_text(encoding="utf-8")
    assert "alphago experiment value-by-stage" in text


@pytest.mark.usefixtures("chain")
def test_command_prints_the_paths(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["report", "--out", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed == [str(tmp_path / "out" / "report.html"), str(tmp_path / "out" / "report.md")]


@pytest.mark.usefixtures("data_home")
def test_nothing_to_report_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["report"]) == 2
    assert "`alphago run pipeline` makes" in capsys.readouterr().err


def test_markdown_becomes_html() -> None:
    text = "A **b** `<c>`\nd\n- e\n- f\n| g | h |\n|---|---:|\n| i | 1 |\n```\n| no\n\ntable\n```\n### j"
    assert html_of(text) == (
        "<p>A <b>b</b> <code>&lt;c&gt;</code> d</p>\n<ul><li>e</li><li>f</li></ul>\n"
        '<div class="wide"><table><thead><tr><th>g</th><th class="right">h</th></tr></thead>'
        '<tbody><tr><td>i</td><td class="right">1</td></tr></tbody></table></div>\n'
        "<pre>| no\n\ntable</pre>\n<h3>j</h3>"
    )
    assert table(["a", "b"], [["x|y", None]]) == "| a | b |\n| --- | ---: |\n| x/y | - |"


def test_elo_bars_bear_any_ratings() -> None:
    for bars in ([], [Bar("a", 0)], [Bar("a <b>", -300, -400, -200), Bar("c", 50, -10, 110)]):
        assert elo_bars(bars, "label").count("<rect") == len(bars)


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        ("policy:sl_policy", (True, False, False)),
        ("policy:rl_policy", None),
        ("random", None),
        ("nonsense", None),
        ("search", (True, True, True)),
        ("search:policy=sl_policy,value=value_network", (True, True, False)),
        ("search:policy=a,value=b,rollout=c,lambda=1", (True, False, True)),
        ("search:policy=a,value=b,rollout=c,lambda=0", (True, True, False)),
        ("search:tree=a,rollout=b", (False, False, True)),
        ("search:sl_policy,simulations=10", (True, False, True)),
    ],
)
def test_parts_of_a_player(spec: str, parts: tuple[bool, bool, bool] | None) -> None:
    assert parts_of(spec) == parts


def test_variants_are_the_papers() -> None:
    assert len({variant.parts for variant in paper.VARIANTS}) == len(paper.VARIANTS)
    assert {variant.name for variant in paper.VARIANTS} >= {"policy network alone", "tree policy, rollouts"}
