"""Ratings and intervals against closed forms, against a plain likelihood, and against the paper's tables."""

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from tasks.elo import agresti_coull, bayes_elo, wilson, win_probability

CASES = Path(__file__).parents[2] / "shared" / "cases"
PAPER = CASES / "bayeselo" / "paper"
HANDICAP = ("CS4", "ZN4", "PC4")
needs_cases = pytest.mark.skipif(
    not CASES.is_dir(), reason="the folder of cases, ../shared/cases, is not here"
)
Row = tuple[str, str, float, float, float]


def table(rows: Iterable[Row]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["program_a", "program_b", "wins_a", "wins_b", "draws"])


def ratings(rows: Iterable[Row], **options: Any) -> Any:
    return bayes_elo(table(rows), **options).set_index("program")["elo"]


def test_two_programs_have_the_closed_form() -> None:
    """Without advantage, draws and prior the maximum is where the model gives the observed share."""
    elo = ratings([("a", "b", 30, 10, 0)], advantage=0, drawelo=0, prior=0)
    assert elo["a"] - elo["b"] == pytest.approx(400 * np.log10(3))
    assert elo.mean() == pytest.approx(0, abs=1e-9)


def test_the_advantage_explains_what_it_should() -> None:
    """Each side wins all the games in which it has the advantage: equal strength."""
    elo = ratings([("a", "b", 9, 0, 0), ("b", "a", 9, 0, 0)])
    assert elo["a"] == pytest.approx(0, abs=1e-6)
    handicapped = ratings([("a", "b", 10, 10, 0)], advantage=50)
    assert handicapped["b"] > handicapped["a"]


def negative_posterior(
    x: npt.NDArray[np.float64], rows: list[Row], names: list[str], advantage: float, drawelo: float
) -> float:
    """The model written down as plainly as it can be, the prior's draws among `rows` already."""
    total = 0.0
    elo = dict(zip(names, x, strict=True))
    for a, b, won, lost, drawn in rows:
        d = elo[a] - elo[b] + advantage
        first = 1 / (1 + 10 ** ((drawelo - d) / 400))
        second = 1 / (1 + 10 ** ((drawelo + d) / 400))
        total += won * np.log(first) + lost * np.log(second) + drawn * np.log(1 - first - second)
    return -total


def test_agrees_with_a_plain_maximum() -> None:
    rows: list[Row] = [("a", "b", 7, 3, 2), ("b", "c", 6, 1, 0), ("c", "a", 1, 4, 1), ("c", "d", 5, 5, 0)]
    names = ["a", "b", "c", "d"]
    played = {n: sum(w + x + d for a, b, w, x, d in rows if n in (a, b)) for n in names}
    drawn = list(rows)
    for a, b, w, x, d in rows:
        virtual = 0.25 * 2.0 * (w + x + d) * (1 / played[a] + 1 / played[b])
        drawn += [(a, b, 0, 0, virtual), (b, a, 0, 0, virtual)]
    best = minimize(negative_posterior, np.zeros(4), (drawn, names, 32.8, 97.3), method="BFGS", tol=1e-9)
    expected = best.x - best.x.mean()
    assert ratings(rows, scale=False)[names].to_numpy() == pytest.approx(expected, abs=0.05)


def test_scale_is_a_factor() -> None:
    rows: list[Row] = [("a", "b", 7, 3, 2), ("b", "c", 6, 1, 0)]
    x = 10 ** (-97.3 / 400)
    assert ratings(rows)["a"] == pytest.approx(ratings(rows, scale=False)["a"] * 4 * x / (1 + x) ** 2)


def test_one_anchor_shifts_and_several_hold() -> None:
    rows: list[Row] = [("a", "b", 7, 3, 0), ("b", "c", 6, 1, 0)]
    free, one = ratings(rows), ratings(rows, anchor=("b", 1500.0))
    assert one["b"] == pytest.approx(1500)
    assert (one - one["b"])[free.index].to_numpy() == pytest.approx((free - free["b"]).to_numpy())
    two = bayes_elo(table(rows), anchor={"a": 1600.0, "b": 1500.0}).set_index("program")
    assert two.elo["a"] == pytest.approx(1600)
    assert two.elo["b"] == pytest.approx(1500)
    assert two.lower["a"] == pytest.approx(1600)
    assert two.upper["c"] > two.elo["c"]
    assert two.elo["c"] == pytest.approx(one["c"], abs=1e-3)  # b's games with a tell nothing about c


def test_intervals_and_superiority_of_two() -> None:
    """n even games have information n/4 a squared nat; each rating moves by half the difference."""
    out = bayes_elo(table([("a", "b", 50, 50, 0)]), advantage=0, drawelo=0, prior=0).set_index("program")
    half = 1.959964 * 400 / np.log(10) * 0.5 / np.sqrt(100 / 4)
    assert out.upper["a"] == pytest.approx(half, rel=1e-5)
    assert out.lower["a"] == pytest.approx(-half, rel=1e-5)
    los = bayes_elo(table([("a", "b", 60, 40, 0)])).attrs["los"]
    assert 0.95 < los.loc["a", "b"] < 1
    assert los.loc["a", "b"] + los.loc["b", "a"] == pytest.approx(1)
    covariance = bayes_elo(table([("a", "b", 60, 40, 0)])).attrs["covariance"]
    assert covariance == pytest.approx(covariance[0, 0] * np.array([[1, -1], [-1, 1]]))


def test_games_and_scores() -> None:
    out = bayes_elo(table([("a", "b", 3, 1, 2), ("b", "a", 0, 1, 0)])).set_index("program")
    assert list(out.index) == ["a", "b"]
    assert out.games["a"] == 7
    assert out.score["a"] == pytest.approx(5 / 7)
    assert out.score["b"] == pytest.approx(2 / 7)


def test_groups_without_games_between_them() -> None:
    out = bayes_elo(table([("a", "b", 3, 1, 0), ("c", "d", 1, 3, 0)]), anchor={"a": 1000.0})
    elo = out.set_index("program")["elo"]
    assert out.attrs["groups"] == 2
    assert np.isnan(out.attrs["los"].loc["a", "c"])
    assert elo["a"] == pytest.approx(1000)
    assert elo["c"] + elo["d"] == pytest.approx(0, abs=1e-6)


def test_a_long_chain_of_programs() -> None:
    rows: list[Row] = [(f"p{i:03}", f"p{i + 1:03}", 6, 4, 0) for i in range(600)]
    elo = ratings(rows, advantage=0).sort_index()
    steps = -np.diff(elo.to_numpy())
    assert steps[5:-5] == pytest.approx(np.full(590, steps[300]), rel=1e-3)
    assert steps[300] > 0


def test_no_games_and_bad_input() -> None:
    assert bayes_elo(table([])).empty
    for row, why in (
        (("a", "a", 1, 0, 0), "row 0: a plays itself"),
        (("a", "b", -1, 0, 0), "negative"),
        (("a", "b", np.nan, 0, 0), "no number"),
        (("a", None, 1, 0, 0), "without a program's name"),
    ):
        with pytest.raises(ValueError, match=why):
            bayes_elo(table([row]))  # type: ignore[list-item]
    with pytest.raises(ValueError, match="lack the columns draws"):
        bayes_elo(table([("a", "b", 1, 0, 0)]).drop(columns="draws"))
    with pytest.raises(ValueError, match="'z' has played no game"):
        bayes_elo(table([("a", "b", 1, 0, 0)]), anchor=("z", 0.0))
    with pytest.raises(ValueError, match="prior > 0"):
        bayes_elo(table([("a", "b", 5, 0, 0)]), prior=0)


counts = st.integers(0, 30)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd"), counts, counts, counts), max_size=9)
)
def test_any_results_give_ordered_intervals(rows: list[Row]) -> None:
    out = bayes_elo(table([r for r in rows if r[0] != r[1]]))
    assert np.isfinite(out[["elo", "lower", "upper"]].to_numpy(dtype=float)).all()
    assert (out.lower <= out.elo).all()
    assert (out.elo <= out.upper).all()
    assert out.elo.is_monotonic_decreasing


def test_intervals_of_a_share() -> None:
    """Worked by hand from the formulae, z = 1.959964."""
    assert agresti_coull(8, 10) == pytest.approx((0.4794, 0.9541), abs=1e-3)
    assert wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert agresti_coull(0, 0) == wilson(0, 0) == (0.0, 1.0)
    low, high = agresti_coull(0, 20)
    assert low == 0.0
    assert 0.1 < high < 0.25
    for interval in (agresti_coull, wilson):
        with pytest.raises(ValueError, match="3 wins of 2 games"):
            interval(3, 2)


def test_the_papers_example_is_base_ten() -> None:
    assert win_probability(230) == pytest.approx(0.79, abs=0.001)


def paper_games(tables: tuple[int, ...], renamed: dict[str, str] | None = None) -> list[Row]:
    """Tables 9-11: colours alternate, but a program that takes handicap is always the second-named side."""
    rows: list[Row] = []
    with (PAPER / "crosstable.csv").open() as file:
        for game in csv.DictReader(file):
            if int(game["table"]) not in tables:
                continue
            a, b = ((renamed or {}).get(game[k], game[k]) for k in ("program_a", "program_b"))
            won, lost = float(game["wins_a"]), float(game["games"]) - float(game["wins_a"])
            if b in HANDICAP:
                rows.append((a, b, won, lost, 0))
            elif a in HANDICAP:
                rows.append((b, a, lost, won, 0))
            else:
                rows += [(a, b, won / 2, lost / 2, 0), (b, a, lost / 2, won / 2, 0)]
    return rows


def printed_ratings(name: str) -> dict[str, dict[str, str]]:
    with (PAPER / name).open() as file:
        return {row["program"]: row for row in csv.DictReader(file)}


@needs_cases
@pytest.mark.parametrize(("number", "tolerance"), [(10, 15), (11, 21)])
def test_the_papers_scalability_tables(number: int, tolerance: float) -> None:
    rows = printed_ratings(f"scalability_table{number}_fit.csv")
    printed = {name: float(row["paper_elo"]) for name, row in rows.items()}
    elo = ratings(paper_games((number,)))
    shift = sum(printed.values()) / len(printed)
    assert {name: elo[name] + shift for name in printed} == pytest.approx(printed, abs=tolerance)


@needs_cases
def test_the_papers_ratings_in_one_pool() -> None:
    printed = printed_ratings("ratings.csv")
    names = {row["name_in_scalability_table"]: name for name, row in printed.items()}
    names |= {"40/8": "a_rvp", "40/8/48": "a_rvp"}
    games = paper_games((9, 10, 11), names)
    elo = ratings([*games, ("d40", "FanHui", 8, 2, 0)], anchor=("a_rvp", 2890.0))
    for name in ("ZN", "FG", "GG"):  # the paper does not print the games between these
        del printed[name]
    expected = {name: float(row["paper_elo"]) for name, row in printed.items()}
    assert {name: elo[name] for name in printed} == pytest.approx(expected, abs=40)
