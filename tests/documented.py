"""The commands that README.md and docs/ show, found in blocks and between backticks, and taken apart."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tasks.bootstrap import SOURCE_ROOT

PAGES = ("README.md", "docs/**/*.md", "benchmarks/README.md", "models/pretrained/README.md")
SHELL = ("sh", "bash")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?<=\n\n)(?: {4}\S.*\n(?: {4}.*\n|\n(?= {4}))*)")
INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
OURS = re.compile(r"^(?:\S*/)?(?:alphago|make|prefect|ray|torchrun|python -m) ")
OPERATORS = re.compile(r"[;&|<>()]+")
KEYWORDS = ("export", "until", "do", "done", "cd", "rm", "git", "touch", "sleep")  # of the shell itself


class Command(NamedTuple):
    """A command of a page, without its program's folder; `inline` ones between backticks may be a name."""

    page: str
    words: tuple[str, ...]
    inline: bool

    @property
    def program(self) -> str:
        return self.words[0]

    def __str__(self) -> str:
        return f"{self.page}: {' '.join(self.words)}"


def pages() -> list[Path]:
    return sorted(path for pattern in PAGES for path in SOURCE_ROOT.glob(pattern))


def commands() -> list[Command]:
    """Every command of every page, each once for its page."""
    return list(dict.fromkeys(one for path in pages() for one in _of_page(path)))


def shell_blocks(page: str) -> list[str]:
    """The blocks of shell of a page, as they stand."""
    text = (SOURCE_ROOT / page).read_text(encoding="utf-8")
    return [block for language, block in FENCE.findall(text) if language in SHELL]


def _of_page(path: Path) -> Iterator[Command]:
    page = path.relative_to(SOURCE_ROOT).as_posix()
    text = path.read_text(encoding="utf-8")
    for language, block in FENCE.findall(text):
        if not language or language in SHELL:
            yield from _of_block(page, block, everything=language in SHELL)
    text = FENCE.sub("", text)
    for block in INDENTED.findall(text):
        yield from _of_block(page, re.sub("^ {4}", "", block, flags=re.MULTILINE), everything=False)
    for span in INLINE.findall(INDENTED.sub("", text)):
        if OURS.match(span):
            yield from (Command(page, words, inline=True) for words in _split(span))


def _of_block(page: str, block: str, everything: bool) -> Iterator[Command]:
    """All lines of a block of shell; of one without a language those that begin with a program of ours."""
    for line in block.replace("\\\n", " ").splitlines():
        if everything or OURS.match(line):
            yield from (Command(page, words, inline=False) for words in _split(line))


def _split(line: str) -> Iterator[tuple[str, ...]]:
    """The commands of a line; what is read from or written to a file is left out."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words: list[str] = []
    target = False  # the next word is the file of a redirection
    for word in [*lexer, ";"]:
        if not OPERATORS.fullmatch(word):
            words += [] if target else [word]
            target = False
        elif word in ("<", ">"):
            target = True
        else:
            if words and words[0] not in KEYWORDS and "=" not in words[0]:
                yield (Path(words[0]).name, *words[1:])
            words = []
