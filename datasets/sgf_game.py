"""What one SGF game means: the properties of its main line as a `GameRecord`, whatever program wrote them."""

from __future__ import annotations

import re

from sgfmill import sgf_grammar

from go_engine import BLACK, WHITE

from .dialects import fixed_handicap_points, parse_date, parse_komi, parse_rank, parse_result
from .points import MAX_SIZE, MIN_SIZE, SgfError, move_point, plain_moves, point_list, printable
from .records import GameRecord
from .text import decode_value

PropertyMap = dict[str, list[bytes]]

FOX_SIDE_POINTS_UNTIL = "2018"  # before, Fox put stones 5 and 6 of a handicap on the top and bottom side


class GameReader:
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
        if game and re.fullmatch("[0-9]{1,4}", game) and int(game) != 1:
            raise SgfError(f"not a game of Go: GM[{printable(game)}]")
        text = self.text("SZ")
        if text is None:
            return MAX_SIZE
        parts = [part.strip() for part in re.split("[:xX]", text)]
        if not all(re.fullmatch("[0-9]{1,4}", part) for part in parts) or len(parts) > 2:
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
            move = move_point(values[0], self.size, number)
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
                for point in point_list(value, self.size):
                    if new.get(point, colour) != colour:
                        raise SgfError("a setup point is given twice in different colours", None, value)
                    new[point] = colour
        self.stones.update(new)
        self.stones = {point: colour for point, colour in self.stones.items() if colour}

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


def _whole_number(text: str | None) -> int | None:
    """A small number such as HA's, None if it is not one."""
    match = re.fullmatch(r"\s*\+?(\d{1,3})\s*(?:\.0*)?", text or "")
    return int(match[1]) if match else None
