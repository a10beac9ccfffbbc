"""SGF to games: sgfmill reads the syntax, this module what real programs mean by it.

A game that is a plain list of moves after its header (nearly all of a server's archive) goes a short way: only
the header is given to sgfmill, the rest is checked by one regular expression that allows nothing but moves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from sgfmill import sgf_grammar

from go_engine import BLACK, WHITE

from .dialects import fixed_handicap_points, parse_date, parse_komi, parse_rank, parse_result
from .records import GameRecord, RejectedGame
from .text import decode_value, detect_encoding

PropertyMap = dict[str, list[bytes]]

MAX_SIZE = 19
MIN_SIZE = 2
TEXT_LIMIT = 80  # characters of an offending text that are kept
FOX_SIDE_POINTS_UNTIL = (
    "2018"  # before this, Fox put the 5th and 6th handicap stone on the top and bottom side
)

# One header node without escapes or inner brackets, then moves only. The groups do not overlap, so both are linear.
_PLAIN_HEAD = re.compile(rb"[^(\[\]]*\(\s*;(?:[^\[\]();\\]*\[[^\[\]\\]*\])*+\s*")
_PLAIN_MOVES = re.compile(rb"(?:;\s*[BW]\[(?:[a-s][a-s]|tt)?\]\s*)++\)\s*")
_MOVE = re.compile(rb"([BW])\[([a-t]{0,2})\]")
_FIRST_MOVE = re.compile(rb";\s*[BW]\[")
_NEXT_GAME = re.compile(rb"\(\s*;\s*(?:GM|FF|SZ|CA|AP|PB|PW)\s*\[")
_BLANKS = b" \t\r\n\v\f"


class SgfError(ValueError):
    """Why a game is refused."""

    def __init__(self, reason: str, move_number: int | None = None, text: str | bytes = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.move_number = move_number
        self.text = printable(text)


def printable(text: str | bytes) -> str:
    """A short piece of a record that can be shown on one line."""
    if isinstance(text, bytes):
        text = text[: TEXT_LIMIT * 4].decode("utf-8", errors="backslashreplace")
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)[:TEXT_LIMIT]


def read_sgf(data: bytes, source: str) -> Iterator[GameRecord | RejectedGame]:
    """All games of an SGF file or collection, main lines only, not yet replayed."""
    encoding = detect_encoding(data)
    if encoding not in ("ascii", "utf-8", "latin-1"):
        data = _to_utf8(data, encoding)
    plain = _read_plain(data)
    if plain is not None:
        yield _finish(plain[0], plain[1], source, 0, encoding, data)
        return
    position, index = 0, 0
    while True:
        tokens, end = sgf_grammar.tokenise(data, position)
        if not tokens:
            if index == 0:
                yield RejectedGame(source, 0, "no SGF data found", None, printable(data[:TEXT_LIMIT]))
            return
        start = data.find(b"(", position)
        try:
            nodes = _main_line(data[start:end] if start > 0 or end < len(data) else data)
        except ValueError as error:
            yield RejectedGame(
                source, index, f"not well-formed SGF: {error}", None, printable(data[end - 20 : end + 20])
            )
            follower = _NEXT_GAME.search(data, max(start + 1, position + 1))
            end = follower.start() if follower else len(data)
        else:
            yield _finish(nodes, None, source, index, encoding, data)
        position, index = end, index + 1


def _to_utf8(data: bytes, encoding: str) -> bytes:
    """Re-encodes, because the second byte of some encodings can be a bracket or a backslash."""
    try:
        return data.decode(encoding).encode("utf-8")
    except UnicodeError:
        return data


def _main_line(data: bytes) -> list[PropertyMap]:
    return list(sgf_grammar.main_sequence_iter(sgf_grammar.parse_sgf_game(data)))


def _read_plain(data: bytes) -> tuple[list[PropertyMap], bytes] | None:
    """(header node, the moves' bytes) if the file is one plain game, else None."""
    first = _FIRST_MOVE.search(data)
    if first is None:
        return None
    start = first.start()
    if _PLAIN_HEAD.fullmatch(data, 0, start) is None or _PLAIN_MOVES.fullmatch(data, start) is None:
        return None
    try:
        return _main_line(data[:start] + b")"), data[start:]
    except ValueError:
        return None


def _finish(
    nodes: list[PropertyMap], plain_moves: bytes | None, source: str, index: int, encoding: str, data: bytes
) -> GameRecord | RejectedGame:
    try:
        return _GameReader(nodes, plain_moves, encoding).record(source, index)
    except SgfError as error:
        return RejectedGame(source, index, error.reason, error.move_number, error.text)


class _GameReader:
    """Reads one game's main line. Raises SgfError for a game that cannot be used."""

    def __init__(self, nodes: list[PropertyMap], plain_moves: bytes | None, encoding: str) -> None:
        self.encoding = "utf-8" if encoding not in ("ascii", "latin-1") else encoding
        self.original_encoding = encoding
        self.nodes = nodes
        self.plain_moves = plain_moves
        self.notes: list[str] = []
        self.info: PropertyMap = {}
        for node in nodes:
            for name, values in node.items():
                self.info.setdefault(name, values)
            if "B" in node or "W" in node:
                break
        self.size = self._size()
        self.stones: dict[int, int] = {}
        self.moves: list[tuple[int, int]] = []

    def text(self, name: str) -> str | None:
        """A property's first value as text, None if absent or empty."""
        values = self.info.get(name)
        if not values:
            return None
        if not values[0]:
            return None
        text = decode_value(sgf_grammar.simpletext_value(values[0]), self.encoding).strip()
        return text or None

    def _size(self) -> int:
        game = self.text("GM")
        if game and game.isdigit() and int(game) != 1:
            raise SgfError(f"not a game of Go: GM[{printable(game)}]")
        text = self.text("SZ")
        if text is None:
            return MAX_SIZE
        parts = [part.strip() for part in re.split("[:xX]", text)]
        if not all(part.isascii() and part.isdigit() for part in parts) or len(parts) > 2:
            raise SgfError("board size is not a number", None, text)
        if len(set(map(int, parts))) > 1:
            raise SgfError(f"board is not square: {printable(text)}")
        size = int(parts[0])
        if not MIN_SIZE <= size <= MAX_SIZE:
            raise SgfError(f"board size {size} is outside {MIN_SIZE} to {MAX_SIZE}")
        return size

    def record(self, source: str, index: int) -> GameRecord:
        """The game; the moves' legality is not looked at here."""
        if self.plain_moves is None:
            self._read_nodes()
        else:
            self._read_setup(self.nodes[0])
            self.moves = plain_moves(self.plain_moves, self.size)
        handicap_text = self.text("HA")
        handicap = _whole_number(handicap_text)
        komi = parse_komi(self.text("KM"), self.size)
        fox = self._is_fox()
        if fox and handicap == 0 and komi == 0:
            komi = None  # Fox writes KM[0] with HA[0] where it does not tell
        self._place_missing_handicap(handicap, fox)
        self._note_colours()
        result, winner = parse_result(self.text("RE"))
        return GameRecord(
            size=self.size,
            komi=komi,
            handicap=handicap,
            black=sorted(point for point, colour in self.stones.items() if colour == BLACK),
            white=sorted(point for point, colour in self.stones.items() if colour == WHITE),
            moves=self.moves,
            result=result,
            winner=winner,
            black_rank=parse_rank(self.text("BR")),
            white_rank=parse_rank(self.text("WR")),
            black_player=self.text("PB"),
            white_player=self.text("PW"),
            rules=self.text("RU"),
            date=parse_date(self.text("DT")),
            encoding=self.original_encoding,
            source=source,
            index=index,
            first_player={"B": BLACK, "W": WHITE}.get((self.text("PL") or "").upper()[:1]),
            notes=tuple(self.notes),
        )

    def _read_nodes(self) -> None:
        """Setup until the first move, then moves; a setup later on ends the game there."""
        for place, node in enumerate(self.nodes):
            played = [name for name in node if name in ("B", "W")]
            setup = any(name in node for name in ("AB", "AW", "AE"))
            number = len(self.moves) + 1
            if len(played) > 1 and place + 1 < len(self.nodes):
                raise SgfError("one node holds a black and a white move", number)
            if len(played) > 1:
                self.notes.append(f"only the first move of the last node is taken (move {number})")
            if not played:
                if setup and self.moves:
                    self.notes.append(f"cut at the setup after move {len(self.moves)}")
                    return
                if setup:
                    self._read_setup(node)
                continue
            values = node[played[0]]
            if len(values) > 1:
                raise SgfError("one node holds several moves", number, b"][".join(values))
            move = self._point(values[0], number, pass_allowed=True)
            if setup and not self.moves and not self.stones:
                self._read_setup(node)
            elif setup:
                self.notes.append(f"cut at the setup in the node of move {number}")
            self.moves.append((BLACK if played[0] == "B" else WHITE, move))
            if setup and number > 1:
                return

    def _read_setup(self, node: PropertyMap) -> None:
        """AB, AW and AE of one node on top of what stands."""
        new: dict[int, int] = {}
        for name, colour in (("AB", BLACK), ("AW", WHITE), ("AE", 0)):
            for value in node.get(name, ()):
                for point in self._points(value):
                    if new.get(point, colour) != colour:
                        raise SgfError("a setup point is given twice in different colours", None, value)
                    new[point] = colour
        self.stones.update(new)
        self.stones = {point: colour for point, colour in self.stones.items() if colour}

    def _points(self, value: bytes) -> list[int]:
        """The points of one value of a point list: a point, a rectangle, or nothing."""
        value = value.strip(_BLANKS)
        if not value:
            return []
        first, colon, last = value.partition(b":")
        top, left = divmod(self._point(first, None), self.size)
        if not colon:
            return [top * self.size + left]
        bottom, right = divmod(self._point(last, None), self.size)
        if bottom < top or right < left:
            raise SgfError("a rectangle of setup points is upside down", None, value)
        return [
            row * self.size + column for row in range(top, bottom + 1) for column in range(left, right + 1)
        ]

    def _point(self, value: bytes, number: int | None, pass_allowed: bool = False) -> int:
        value = value.strip(_BLANKS)
        if pass_allowed and value in (b"", b"tt"):
            return self.size * self.size
        column, row = (value[0] - 97, value[1] - 97) if len(value) == 2 else (-1, -1)
        if not (0 <= column < self.size and 0 <= row < self.size):
            what = "move" if number else "setup point"
            raise SgfError(f"{what} is not on the {self.size}x{self.size} board", number, value)
        return row * self.size + column

    def _is_fox(self) -> bool:
        return "foxwq" in (self.text("AP") or "") or ("TC" in self.info and "TT" in self.info)

    def _place_missing_handicap(self, handicap: int | None, fox: bool) -> None:
        """Fox leaves its fixed handicap stones out: White moves first and no stone is there."""
        if not handicap or handicap < 2 or self.stones or not self.moves or self.moves[0][0] != WHITE:
            return
        if any(a[0] == b[0] for a, b in zip(self.moves, self.moves[1:], strict=False)):
            raise SgfError(f"handicap {handicap} without stones, and the colours do not alternate")
        old = (parse_date(self.text("DT")) or "9") < FOX_SIDE_POINTS_UNTIL
        try:
            points = fixed_handicap_points(handicap, self.size, side_points_on_top=fox and old)
        except ValueError as error:
            raise SgfError(f"handicap without stones: {error}") from None
        self.stones = dict.fromkeys(points, BLACK)
        self.notes.append(f"{handicap} handicap stones placed on the usual points")

    def _note_colours(self) -> None:
        for number in range(1, len(self.moves)):
            if self.moves[number][0] == self.moves[number - 1][0]:
                self.notes.append(f"colours do not alternate at move {number + 1}")
                return


def plain_moves(data: bytes, size: int) -> list[tuple[int, int]]:
    """The moves of a list that `_PLAIN_MOVES` has accepted. Raises SgfError for a point off the board."""
    packed = data.translate(None, _BLANKS)[:-1]
    if len(packed) % 6 == 0:  # ;B[dd]
        table = np.frombuffer(packed, np.uint8).reshape(-1, 6)
        if (table[:, 0] == ord(";")).all():
            columns, rows = table[:, 3].astype(np.int32) - 97, table[:, 4].astype(np.int32) - 97
            passes = (columns == 19) & (rows == 19)
            off = ((columns >= size) | (rows >= size)) & ~passes
            if off.any():
                number = int(off.argmax())
                raise SgfError(
                    f"move is not on the {size}x{size} board",
                    number + 1,
                    packed[number * 6 + 3 : number * 6 + 5],
                )
            moves = np.where(passes, size * size, rows * size + columns)
            colours = np.where(table[:, 1] == ord("B"), BLACK, WHITE)
            return list(zip(colours.tolist(), moves.tolist(), strict=True))
    result = []
    for number, (colour, point) in enumerate(_MOVE.findall(packed), 1):
        if point in (b"", b"tt"):
            move = size * size
        else:
            column, row = point[0] - 97, point[1] - 97
            if column >= size or row >= size:
                raise SgfError(f"move is not on the {size}x{size} board", number, point)
            move = row * size + column
        result.append((BLACK if colour == b"B" else WHITE, move))
    return result


def _whole_number(text: str | None) -> int | None:
    """A small number such as HA's, None if it is not one."""
    match = re.fullmatch(r"\s*\+?(\d{1,3})\s*(?:\.0*)?", text or "")
    return int(match[1]) if match else None
