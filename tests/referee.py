"""A slow referee that is right by being plain: whole boards, flood fills and copies, nothing kept up to date.

It is written from the rules alone and shares nothing with the engine, which the tests compare with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

BLACK, WHITE, EMPTY = 1, -1, 0


class IllegalError(Exception):
    """The message is one of: occupied, ko, suicide, superko."""


class TooDeepError(Exception):
    """A ladder has more lines than the caller wants to wait for."""


def neighbours(point: int, size: int) -> list[int]:
    row, col = divmod(point, size)
    steps = ((row - 1, col), (row, col - 1), (row, col + 1), (row + 1, col))
    return [r * size + c for r, c in steps if 0 <= r < size and 0 <= c < size]


def diagonals(point: int, size: int) -> list[int]:
    row, col = divmod(point, size)
    steps = ((row - 1, col - 1), (row - 1, col + 1), (row + 1, col - 1), (row + 1, col + 1))
    return [r * size + c for r, c in steps if 0 <= r < size and 0 <= c < size]


@dataclass
class Stones:
    """The stones on a board of a size and nothing else."""

    size: int
    grid: list[int]

    def copy(self) -> Stones:
        return Stones(self.size, self.grid[:])

    def region(self, point: int) -> tuple[set[int], set[int]]:
        """The connected points of the same colour, and the points next to them."""
        colour = self.grid[point]
        inside, border, todo = {point}, set(), [point]
        while todo:
            for q in neighbours(todo.pop(), self.size):
                if self.grid[q] != colour:
                    border.add(q)
                elif q not in inside:
                    inside.add(q)
                    todo.append(q)
        return inside, border

    def liberties(self, point: int) -> set[int]:
        return {q for q in self.region(point)[1] if self.grid[q] == EMPTY}

    def put(self, point: int, colour: int) -> set[int]:
        """Plays a stone, takes what has no liberties and returns it; a suicide stays on the board."""
        self.grid[point] = colour
        taken: set[int] = set()
        for q in neighbours(point, self.size):
            if self.grid[q] == -colour and not self.liberties(q):
                chain = self.region(q)[0]
                taken |= chain
                for s in chain:
                    self.grid[s] = EMPTY
        return taken

    def eye(self, point: int, colour: int) -> bool:
        if self.grid[point] != EMPTY or any(self.grid[q] != colour for q in neighbours(point, self.size)):
            return False
        corners = diagonals(point, self.size)
        enemies = sum(self.grid[q] == -colour for q in corners)
        return enemies <= (1 if len(corners) == 4 else 0)

    def area(self) -> int:
        total, seen = 0, set()
        for point, colour in enumerate(self.grid):
            if colour != EMPTY:
                total += colour
            elif point not in seen:
                inside, border = self.region(point)
                seen |= inside
                colours = {self.grid[q] for q in border}
                if len(colours) == 1:
                    total += colours.pop() * len(inside)
        return total


@dataclass
class Referee:
    size: int
    ko_rule: str = "positional"
    to_play: int = BLACK
    stones: Stones = field(init=False)
    ko: tuple[int, int] | None = None  # point and the colour that may not play there now
    history: set[tuple[tuple[int, ...], int]] = field(default_factory=set)
    played_at: dict[int, int] = field(default_factory=dict)
    move_number: int = 0
    passes: int = 0

    def __post_init__(self) -> None:
        self.stones = Stones(self.size, [EMPTY] * self.size**2)
        self._remember()

    def _situation(self, stones: Stones, to_play: int) -> tuple[tuple[int, ...], int]:
        return tuple(stones.grid), to_play if self.ko_rule == "situational" else 0

    def _remember(self) -> None:
        self.history.add(self._situation(self.stones, self.to_play))

    def after(self, point: int, colour: int) -> tuple[Stones, set[int]]:
        """The stones after a move and the points taken; raises IllegalError."""
        if self.stones.grid[point] != EMPTY:
            raise IllegalError("occupied")
        if self.ko == (point, colour):
            raise IllegalError("ko")
        stones = self.stones.copy()
        taken = stones.put(point, colour)
        if not stones.liberties(point):
            raise IllegalError("suicide")
        if self.ko_rule != "simple" and self._situation(stones, -colour) in self.history:
            raise IllegalError("superko")
        return stones, taken

    def legal(self, move: int, colour: int) -> bool:
        if move == self.size**2:
            return True
        try:
            self.after(move, colour)
        except IllegalError:
            return False
        return True

    def play(self, move: int, colour: int) -> int:
        """Plays a move or a pass and returns the number of stones taken; IllegalError changes nothing."""
        taken: set[int] = set()
        ko = None
        if move == self.size**2:
            self.passes += 1
        else:
            self.stones, taken = self.after(move, colour)
            if (
                len(taken) == 1
                and len(self.stones.region(move)[0]) == 1
                and len(self.stones.liberties(move)) == 1
            ):
                ko = (next(iter(taken)), -colour)
            self.played_at[move] = self.move_number + 1
            self.passes = 0
        self.move_number += 1
        self.ko = ko
        self.to_play = -colour
        self._remember()
        return len(taken)


# ladders and features


class LadderReferee:
    """Reads ladders by copying boards, every line to its end; TooDeepError after `limit` moves."""

    def __init__(self, limit: int = 3000) -> None:
        self.left = limit

    def _after(self, referee: Referee, point: int, colour: int) -> Referee | None:
        self.left -= 1
        if self.left < 0:
            raise TooDeepError
        copy = Referee(referee.size, "simple")
        copy.stones, copy.ko = referee.stones, referee.ko
        try:
            copy.play(point, colour)
        except IllegalError:
            return None
        return copy

    def captures(self, board: Referee, move: int, target: int) -> bool:
        hunted = board.stones.grid[target]
        after = self._after(board, move, -hunted)
        if after is None:
            return False
        return not any(self.escapes(after, m, target) for m in rescues(after.stones, target))

    def escapes(self, board: Referee, move: int, target: int) -> bool:
        after = self._after(board, move, board.stones.grid[target])
        if after is None:
            return False
        liberties = sorted(after.stones.liberties(target))
        if len(liberties) != 2:
            return len(liberties) > 2
        return not any(self.captures(after, m, target) for m in liberties)


def rescues(stones: Stones, target: int) -> list[int]:
    """The last liberty of a chain in atari and those of the chains in atari next to it."""
    moves = set(stones.liberties(target))
    for q in stones.region(target)[1]:
        if stones.grid[q] == -stones.grid[target] and len(stones.liberties(q)) == 1:
            moves |= stones.liberties(q)
    return sorted(moves)


def chains(stones: Stones) -> Iterator[tuple[int, set[int], set[int]]]:
    """Every chain once: one of its stones, all of them, its liberties."""
    seen: set[int] = set()
    for point, colour in enumerate(stones.grid):
        if colour != EMPTY and point not in seen:
            inside, border = stones.region(point)
            seen |= inside
            yield point, inside, {q for q in border if stones.grid[q] == EMPTY}


def feature_maps(board: Referee) -> dict[str, dict[int, int]]:
    """The features of the paper as integers, point -> value, for the side to move, by their definitions."""
    player, stones = board.to_play, board.stones
    maps: dict[str, dict[int, int]] = {
        name: {}
        for name in (
            "turns",
            "liberties",
            "capture",
            "self_atari",
            "after",
            "sensible",
            "own",
            "enemy",
            "empty",
        )
    }
    for point, colour in enumerate(stones.grid):
        if colour != EMPTY:
            maps["own" if colour == player else "enemy"][point] = 1
            maps["liberties"][point] = len(stones.liberties(point))
            if point in board.played_at:
                maps["turns"][point] = board.move_number - board.played_at[point] + 1
            continue
        maps["empty"][point] = 1
        if not board.legal(point, player):
            continue
        after, taken = board.after(point, player)
        liberties = len(after.liberties(point))
        maps["capture"][point] = len(taken)
        maps["after"][point] = liberties
        if liberties == 1:
            maps["self_atari"][point] = len(after.region(point)[0])
        if not stones.eye(point, player):
            maps["sensible"][point] = 1
    return maps


def ladder_maps(board: Referee) -> tuple[set[int], set[int]]:
    """The points of the ladder capture and of the ladder escape plane."""
    captures: set[int] = set()
    escapes: set[int] = set()
    for target, inside, liberties in chains(board.stones):
        own = board.stones.grid[next(iter(inside))] == board.to_play
        if own and len(liberties) == 1:
            moves = [m for m in rescues(board.stones, target) if board.legal(m, board.to_play)]
            escapes |= {m for m in moves if LadderReferee().escapes(board, m, target)}
        elif not own and len(liberties) == 2:
            moves = [m for m in sorted(liberties) if board.legal(m, board.to_play)]
            captures |= {m for m in moves if LadderReferee().captures(board, m, target)}
    return captures, escapes
