"""The many spellings of komi, results, ranks and dates in game records, brought to one."""

from __future__ import annotations

import re

from go_engine import BLACK, WHITE

PRO_RANK_OFFSET = 9  # 1p counts as 10: above every amateur dan
MARGIN_STEP = 0.25  # real margins are multiples of this; Fox writes W+0.02 and the like
HUNDREDTHS_FROM = 100  # integer komi from here on are hundredths (Fox)

_RESULT = re.compile(r"(b|w|black|white)\s*\+\s*(.*)", re.IGNORECASE | re.DOTALL)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)?")
_RANK = re.compile(
    r"(p)?\s*(\d{1,2})\s*-?\s*(dan|d|kyu|k|pro|p|段|단|级|級|급)\s*(?:[?*+.]|pro)?", re.IGNORECASE
)
_DATE = re.compile(r"(\d{4})\s*[-./年]\s*(\d{1,2})(?:\s*[-./月]\s*(\d{1,2}))?")
_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)")

_ENDINGS = {  # what follows "B+" and means no number
    "r": "R", "resign": "R", "resignation": "R", "res": "R",
    "t": "T", "time": "T", "timeout": "T",
    "f": "F", "forfeit": "F", "offline": "F", "illegal": "F", "default": "F",
}  # fmt: skip
_DRAWS = {"0", "draw", "jigo", "tie", "和棋", "和", "持碁", "持棋", "무승부", "빅"}
_VOIDS = {"void", "no result", "noresult", "無勝負", "무효"}
_UNKNOWN = {"", "?", "unknown"}
_EAST = re.compile(r"(黑|黒|흑|白|백)")
_EAST_RESIGN = ("中盘", "中盤", "中押", "불계")
_EAST_TIME = ("超时", "超時", "时间", "時間", "時間切", "시간")
_EAST_HALF = re.compile(r"(\d+)?\s*(?:目|子|집)?\s*(半|반)")


def parse_result(text: str | None) -> tuple[str | None, int | None]:
    """Normalised result and winner. A text that is no result gives (None, None)."""
    clean = (text or "").strip()
    lowered = clean.lower().rstrip(".")
    if lowered in _UNKNOWN:
        return ("?" if clean else None), None
    if lowered in _DRAWS:
        return "0", 0
    if lowered in _VOIDS:
        return "Void", None
    match = _RESULT.fullmatch(clean)
    if match is None:
        return _parse_eastern_result(clean)
    letter = match[1][0].upper()
    winner = BLACK if letter == "B" else WHITE
    ending = match[2].strip().lower().rstrip(".")
    if ending in _ENDINGS:
        return f"{letter}+{_ENDINGS[ending]}", winner
    number = _NUMBER.match(ending)
    return f"{letter}+{_margin(number[0]) if number else ''}", winner


def _margin(number: str) -> str:
    value = float(number.replace(",", "."))
    if value == 0 or (value / MARGIN_STEP) % 1:
        return ""
    return f"{value:g}"


def _parse_eastern_result(text: str) -> tuple[str | None, int | None]:
    """Chinese, Japanese and Korean sentences that say who won ("白中盘胜", "흑 불계승")."""
    side = _EAST.search(text)
    if side is None or not any(sign in text for sign in ("胜", "勝", "승")):
        return None, None
    black = side[1] in "黑黒흑"
    letter, winner = ("B", BLACK) if black else ("W", WHITE)
    if any(word in text for word in _EAST_RESIGN):
        return f"{letter}+R", winner
    if any(word in text for word in _EAST_TIME):
        return f"{letter}+T", winner
    half = _EAST_HALF.search(text)
    if half:
        return f"{letter}+{float(half[1] or 0) + 0.5:g}", winner
    number = _NUMBER.search(text)
    return f"{letter}+{_margin(number[0]) if number else ''}", winner


def parse_komi(text: str | None, size: int) -> float | None:
    """Komi in points; None if it is missing, not a number, or larger than the board.

    Fox counts in hundredths (650 is 6.5), under Chinese rules in stones (375 is 3.75 stones = 7.5 points).
    """
    clean = (text or "").strip().replace(",", ".")
    try:
        value = float(clean)
    except ValueError:
        return None
    if value != value or abs(value) == float("inf"):
        return None
    if "." not in clean and "e" not in clean.lower() and abs(value) >= HUNDREDTHS_FROM:
        value /= 100
    if abs(value % 1 - 0.5) == 0.25:  # quarters are stones of area counting
        value *= 2
    return value if abs(value) <= size * size else None


def parse_rank(text: str | None) -> str | None:
    """ "6d", "3k" or "9p"; what is written if it is no such rank; None if nothing is known."""
    clean = (text or "").strip()
    if not clean or clean.strip("?-* ").upper() in ("", "NR"):
        return None
    match = _RANK.fullmatch(clean)
    if match is None:
        return clean
    kind = match[3].lower()
    if match[1] or kind in ("p", "pro") or clean.lower().endswith("pro"):
        letter = "p"
    else:
        letter = "d" if kind in ("d", "dan", "段", "단") else "k"
    return f"{int(match[2])}{letter}"


def rank_value(rank: str | None) -> int | None:
    """A number that grows with strength: 1d is 1, 1k is 0, 30k is -29, 1p is 10. None if not a rank."""
    if not rank or not rank[:-1].isdigit() or rank[-1] not in "dkp":
        return None
    number = int(rank[:-1])
    if rank[-1] == "k":
        return 1 - number
    return number + (PRO_RANK_OFFSET if rank[-1] == "p" else 0)


def parse_date(text: str | None) -> str | None:
    """The first date in the text, ISO, as far as it is known."""
    match = _DATE.search(text or "")
    if match is None:
        year = _YEAR.search(text or "")
        return year[0] if year else None
    month, day = int(match[2]), int(match[3] or 0)
    if not 1 <= month <= 12:
        return match[1]
    return f"{match[1]}-{month:02d}" + (f"-{day:02d}" if 1 <= day <= 31 else "")


def result_kind(result: str | None) -> str:
    """ "resign", "time", "forfeit", "points", "draw", "won" (no margin known) or "unknown"."""
    if result is None or result in ("?", "Void"):
        return "unknown"
    if result == "0":
        return "draw"
    ending = result[2:]
    return {"R": "resign", "T": "time", "F": "forfeit", "": "won"}.get(ending, "points")


def fixed_handicap_points(stones: int, size: int, side_points_on_top: bool = False) -> list[int]:
    """The usual points for 2 to 9 handicap stones, upper right and lower left first.

    `side_points_on_top`: six and seven stones use the middles of the upper and lower side (Fox before 2018)
    instead of those of the left and right. Raises ValueError where there are no such points.
    """
    if not 2 <= stones <= 9 or size < 7 or (stones > 4 and size % 2 == 0):
        raise ValueError(f"no usual points for {stones} handicap stones on {size}x{size}")
    low = 3 if size >= 13 else 2
    high, middle = size - 1 - low, size // 2
    corners = [(low, high), (high, low), (low, low), (high, high)]
    sides = [(middle, low), (middle, high)], [(low, middle), (high, middle)]
    points = corners[: min(stones, 4)]
    if stones >= 6:
        points = points + sides[1 if side_points_on_top and stones < 8 else 0]
    if stones >= 8:
        points = points + sides[1]
    if stones in (5, 7, 9):
        points = [*points, (middle, middle)]
    return [row * size + column for row, column in points]
