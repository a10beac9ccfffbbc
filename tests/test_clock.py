"""The clock: no game is lost on time, the middle game gets most, byoyomi is used and kept."""

from __future__ import annotations

import pytest

from go_engine import BLACK, WHITE
from go_engine.clock import Clock


def play(
    clock: Clock, moves: int, points: int = 361, overhead: float = 0.05, extend: bool = True
) -> list[float]:
    """Think for the whole budget at every move; a referee's clock runs beside it. Returns the times."""
    main, period, stones = clock.main, clock.period, 0
    left, times = main, []
    for number in range(moves):
        budget = clock.budget(BLACK, 2 * number, points)
        assert 0 < budget.planned <= budget.limit
        used = (budget.limit if extend else budget.planned) + overhead
        times.append(used)
        left -= used
        if left < 0 and stones == 0 and period > 0:
            left, stones = left + period, clock.stones
        assert left >= 0, f"time is up at move {number}"
        if stones > 0:
            stones -= 1
            if stones == 0:
                left, stones = period, clock.stones
        clock.set_left(BLACK, left, stones)
    return times


@pytest.mark.parametrize("main", [60.0, 600.0, 3600.0])
@pytest.mark.parametrize("points", [81, 361])
def test_absolute_time_is_never_used_up(main: float, points: int) -> None:
    play(Clock(main), 150 if points == 361 else 45, points)


@pytest.mark.parametrize("settings", [(0.0, 30.0, 1), (0.0, 300.0, 25), (600.0, 30.0, 1), (60.0, 120.0, 10)])
@pytest.mark.parametrize("extend", [True, False])
def test_byoyomi_is_kept(settings: tuple[float, float, int], extend: bool) -> None:
    times = play(Clock(*settings), 150, extend=extend)
    period, stones = settings[1:]
    assert sum(times[-60:]) > 0.6 * 60 * period / stones  # and used


def test_most_time_goes_to_the_middle_game() -> None:
    times = play(Clock(3600.0), 125, extend=False)
    opening, middle, end = sum(times[:15]), sum(times[25:65]), sum(times[85:])
    assert middle > opening * 40 / 15 * 1.1
    assert middle / 40 > end / 40


def test_the_own_clock_runs_without_a_referee() -> None:
    clock = Clock(10.0, 5.0, 2)
    clock.spend(WHITE, 4.0)
    assert clock.remaining(WHITE) == (6.0, 0)
    assert clock.remaining(BLACK) == (10.0, 0)
    clock.spend(WHITE, 7.0)
    assert clock.remaining(WHITE) == (4.0, 1)
    clock.spend(WHITE, 1.0)
    assert clock.remaining(WHITE) == (5.0, 2)


def test_no_clock_means_no_limit() -> None:
    assert Clock().unlimited
    assert not Clock(0.0, 30.0, 1).unlimited
