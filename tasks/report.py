"""`alphago report`: the paper's tables and figures beside ours, from what the stages kept, on one page."""

from __future__ import annotations

from pathlib import Path

from tasks import bootstrap, paper
from tasks.lineage import stage_node, tree_lines
from tasks.report_choice import Chosen, choose
from tasks.report_document import Document, Section, paragraphs, table, write_markdown
from tasks.report_page import write_page
from tasks.report_sections import by_stage, data, percent, reinforced, rollout, supervised, value
from tasks.report_strength import players_by_parts, progress, scaling, tournament, variants
from tasks.reporting import clock
from tasks.tracking import find_model

FOLDER, PAGE, MARKDOWN = "report", "report.html", "report.md"
PAPER_BOARD = 19
TREE_LINES = 200  # of the lineage; the whole tree is printed by `alphago lineage`
DIGITS = 12


def write_report(reference: str = "", folder: Path | None = None) -> list[Path]:
    """Write page and Markdown into `folder` (default: data/report/<name> of the home) and return their paths.

    `reference` is a pipeline's or a stage's run, folder or model; see `tasks.report_choice.choose`. Raises
    UserError when nothing is finished or the reference leads nowhere.
    """
    chosen = choose(reference, find_model)
    folder = folder or bootstrap.data_root() / FOLDER / chosen.name
    document = make_document(chosen)
    page, markdown = folder / PAGE, folder / MARKDOWN
    write_page(page, document)
    write_markdown(markdown, document)
    return [page, markdown]


def page_of_pipeline(folder: Path) -> Path:
    """Write the page of the pipeline with that folder into it, and nothing beside it."""
    page = folder / PAGE
    write_page(page, make_document(choose(str(folder), find_model)))
    return page


def make_document(chosen: Chosen) -> Document:
    size = chosen.newest.board_size
    lead = f"{chosen.about}; profile {chosen.newest.profile}, {size}x{size} board."
    if size != PAPER_BOARD:
        lead += " The paper's numbers are of 19x19; beside those of a smaller board they show only the shape."
    sections = [
        glance(chosen),
        data(chosen),
        supervised(chosen),
        rollout(chosen),
        reinforced(chosen),
        value(chosen),
        by_stage(chosen),
        tournament(chosen),
        variants(chosen),
        scaling(chosen),
        position(),
        progress(chosen),
        costs(chosen),
        lineage(chosen),
    ]
    return Document("AlphaGo: the paper and this run", lead, sections)


def glance(chosen: Chosen) -> Section:
    """One line for each claim of the paper."""
    net, best = paper.MATCH_NETWORK, paper.BEST_NETWORK
    sl, eight = (chosen.metric("train-sl-policy", f"test/accuracy{end}") for end in ("", "_8"))
    mse = [chosen.metric("train-value-network", name) for name in ("train/final_mse", "test/mse")]
    wins = chosen.metric("train-rl-policy", "win_rate/sl_policy")
    fast = chosen.metric("train-rollout-policy", "test/accuracy")
    gain = _search_gain(chosen)
    theirs = paper.VARIANTS[0].elo - next(v.elo for v in paper.VARIANTS if v.parts == (True, False, False))
    rows: list[list[object]] = [
        ["SL policy: moves predicted, %", f"{net.test} ({net.filters} filters)", percent(sl)],
        ["the same, 8 symmetries", f"{best.test} ({best.filters} filters)", percent(eight)],
        ["rollout policy: moves predicted, %", paper.ROLLOUT_ACCURACY, percent(fast)],
        ["RL against SL policy: games won, %", f"more than {paper.RL_WINS:.0f}", percent(wins)],
        ["value network: MSE in training", paper.ONE_A_GAME.train, _three(mse[0])],
        ["value network: MSE held out", paper.ONE_A_GAME.test, _three(mse[1])],
        ["full search above the bare SL policy, Elo", theirs, None if gain is None else f"{gain:.0f}"],
    ]
    return Section("At a glance", "", table(["", "paper (19x19)", "ours"], rows))


def _three(number: float | None) -> str | None:
    return None if number is None else f"{number:.3f}"


def _search_gain(chosen: Chosen) -> float | None:
    """How far the best search with all parts stands above the best bare SL policy."""
    result = chosen.last("evaluate-tournament")
    ours = players_by_parts(result) if result else {}
    full, bare = ours.get((True, True, True)), ours.get((True, False, False))
    return max(bar.elo for bar in full) - max(bar.elo for bar in bare) if full and bare else None


def position() -> Section:
    how = (
        "Any position of any game: `alphago analyze GAME.sgf --move N --player search` draws the same panels."
    )
    return Section("One position in the eyes of the search", "Fig. 5", how)


def costs(chosen: Chosen) -> Section:
    """What each stage took; a reused stage's time is that of the run which did the work."""
    rows: list[list[object]] = []
    for stage, theirs in paper.COSTS.items():
        done = chosen.all(stage)
        rows += [[stage, theirs, clock(one.seconds), one.finished[:16].replace("T", " ")] for one in done]
        rows += [] if done else [[stage, theirs, "missing", f"`{chosen.command(stage)}`"]]
    rows += [[name, None, clock(one.seconds), one.finished[:16]] for name, one in chosen.experiments.items()]
    whole = sum(result.seconds for result in chosen.stages)
    told = f"All stages together: {clock(whole)}."
    if chosen.seconds is not None:
        told += f" The pipeline itself ran for {clock(chosen.seconds)}; what it reused had been done before."
    return Section(
        "Time and cost",
        "Methods",
        paragraphs(table(["stage", "paper", "ours", "finished (UTC)"], rows, 2), told),
    )


def lineage(chosen: Chosen) -> Section:
    """The tree of the newest stage, and of those that it did not come from."""
    seen: set[str] = set()
    lines: list[str] = []
    for result in reversed(chosen.stages):
        if f"{result.stage}/{Path(result.folder).name}" not in seen:
            lines += tree_lines(stage_node(result), check=False, seen=seen)
    if len(lines) > TREE_LINES:
        lines = [*lines[:TREE_LINES], f"... {len(lines) - TREE_LINES} lines more"]
    newest = chosen.newest
    told = f"`alphago lineage {newest.run_id or newest.folder}` checks the files and prints the same."
    codes = sorted({result.code[:DIGITS] for result in chosen.stages})
    text = paragraphs(
        "```\n" + "\n".join(lines) + "\n```", told, f"Versions of the code: {', '.join(codes)}."
    )
    return Section("Lineage", "", text)
