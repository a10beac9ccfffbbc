"""GIB, the Tygem server's own format. 19x19 only; points count from the top left from 0."""

from __future__ import annotations

import re

from go_engine import BLACK, WHITE

from .dialects import fixed_handicap_points, parse_date, parse_rank
from .points import SgfError
from .records import GameRecord
from .text import decode_value, detect_encoding

SIZE = 19
FIRST_DAN_LEVEL = 18  # Tygem counts its levels upwards; 18 is 1 dan

_FIELD = re.compile(rb"\\\[([A-Z]+)=(.*?)\\\]", re.DOTALL)
_RESULTS = {0: ("B", ""), 1: ("W", ""), 3: ("B", "R"), 4: ("W", "R"), 7: ("B", "T"), 8: ("W", "T")}
_COORDINATES = re.compile(rb"\d{1,3} \d{1,3}")
_NAME = re.compile(r"(.*?)\s*\(\s*(\d+\s*\S+?)\s*\)\s*")
_RESULT_WORDS = re.compile(r"(black|white|흑|백|黑|白)\s*(.*)", re.IGNORECASE | re.DOTALL)


def read_gib(data: bytes, source: str) -> GameRecord:
    """The game of a GIB file, not yet replayed. Raises SgfError where it cannot be used."""
    encoding = detect_encoding(data)
    fields = {
        name.decode("ascii"): decode_value(value, encoding).strip() for name, value in _FIELD.findall(data)
    }
    tags = _tags(fields)
    setup, handicap, moves = _body(data)
    result, winner = _result(fields, tags)
    black_player, black_rank = _player(fields.get("GAMEBLACKNAME"), tags.get("BLV"))
    white_player, white_rank = _player(fields.get("GAMEWHITENAME"), tags.get("WLV"))
    notes = []
    if tags.get("DUM", "0") not in ("0", ""):
        notes.append(f"DUM is {tags['DUM'][:8]}, not used")
    return GameRecord(
        size=SIZE,
        komi=_komi(tags),
        handicap=handicap,
        black=sorted(setup),
        moves=moves,
        result=result,
        winner=winner,
        black_rank=black_rank,
        white_rank=white_rank,
        black_player=black_player,
        white_player=white_player,
        date=parse_date((tags.get("C") or fields.get("GAMEDATE", "")).replace(":", "-")),
        encoding=encoding,
        source=source,
        notes=tuple(notes),
    )


def _tags(fields: dict[str, str]) -> dict[str, str]:
    """GAMETAG's letters (S1,R3,D5,G65,W0,Z35 ...) and the named values of the other info fields."""
    tags: dict[str, str] = {}
    for part in fields.get("GAMETAG", "").split(","):
        part = part.strip()
        if part:
            tags[part[0]] = part[1:].lstrip(":").strip()
    for name in ("GAMEINFOMAIN", "WUSERINFO", "BUSERINFO"):
        for part in fields.get(name, "").split(","):
            key, colon, value = part.partition(":")
            if colon:
                tags[key.strip()] = value.strip()
    for key in ("DUM", "GONGJE", "ZIPSU"):
        if f"GAME{key}" in fields:
            tags.setdefault(key, fields[f"GAME{key}"])
    return tags


def _number(text: str | None) -> int | None:
    return int(text) if text and re.fullmatch(r"-?\d{1,6}", text) else None


def _komi(tags: dict[str, str]) -> float | None:
    tenths = _number(tags.get("GONGJE"))
    if tenths is None:
        tenths = _number(tags.get("G"))
    return None if tenths is None else tenths / 10


def _result(fields: dict[str, str], tags: dict[str, str]) -> tuple[str | None, int | None]:
    code = _number(tags.get("GRLT"))
    if code is None:
        code = _number(tags.get("W"))
    margin = _number(tags.get("ZIPSU"))
    if margin is None:
        margin = _number(tags.get("Z"))
    if code not in _RESULTS:
        return _result_in_words(fields.get("GAMERESULT", ""))
    letter, ending = _RESULTS[code]
    if not ending and margin:
        ending = f"{margin / 10:g}"
    return f"{letter}+{ending}", BLACK if letter == "B" else WHITE


def _result_in_words(text: str) -> tuple[str | None, int | None]:
    match = _RESULT_WORDS.match(text)
    if match is None:
        return None, None
    letter, winner = ("B", BLACK) if match[1].lower() in ("black", "흑", "黑") else ("W", WHITE)
    number = re.search(r"\d+(?:\.\d+)?", match[2])
    if number:
        return f"{letter}+{float(number[0]):g}", winner
    for word, ending in (("resign", "R"), ("time", "T"), ("불계", "R"), ("시간", "T")):
        if word in match[2].lower():
            return f"{letter}+{ending}", winner
    return f"{letter}+", winner


def _player(text: str | None, level: str | None) -> tuple[str | None, str | None]:
    """Name and rank: "Alfa (5D)", else the level number that stands elsewhere."""
    match = _NAME.fullmatch(text or "")
    name = (match[1] if match else text) or None
    rank = parse_rank(match[2]) if match else None
    number = _number(level)
    if rank is None and number is not None:
        dan = number - FIRST_DAN_LEVEL + 1
        rank = f"{dan}d" if dan >= 1 else f"{1 - dan}k"
    return name, rank


def _body(data: bytes) -> tuple[list[int], int, list[tuple[int, int]]]:
    """Handicap points, handicap and moves from the INI, STO and SKI lines."""
    setup: list[int] = []
    handicap: int | None = None
    moves: list[tuple[int, int]] = []
    for line in data.splitlines():
        words = line.split()
        if not words:
            continue
        number = len(moves) + 1
        if words[0] == b"INI" and len(words) >= 4 and handicap is None:
            if not re.fullmatch(rb"\d", words[3]):
                raise SgfError("handicap is not a number from 0 to 9", None, line)
            handicap = int(words[3])
            if handicap >= 2:
                setup = fixed_handicap_points(handicap, SIZE)
        elif words[0] == b"STO":
            moves.append(_stone(words, number, line))
        elif words[0] == b"SKI":
            colour = -moves[-1][0] if moves else (WHITE if handicap and handicap >= 2 else BLACK)
            moves.append((colour, SIZE * SIZE))
    if handicap is None and not moves:
        raise SgfError("no GIB data found", None, data[:40])
    return setup, handicap or 0, moves


def _stone(words: list[bytes], number: int, line: bytes) -> tuple[int, int]:
    if len(words) < 6 or words[3] not in (b"1", b"2") or not _COORDINATES.fullmatch(b" ".join(words[4:6])):
        raise SgfError("a STO line cannot be read", number, line)
    column, row = int(words[4]), int(words[5])
    if column >= SIZE or row >= SIZE:
        raise SgfError(f"move is not on the {SIZE}x{SIZE} board", number, line)
    return (BLACK if words[3] == b"1" else WHITE), row * SIZE + column
