"""A report as sections of Markdown with pictures, and as a Markdown file; the page is `report_page`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from tasks.store import write_text


class Picture(NamedTuple):
    """A figure: SVG text that we drew, or a PNG file that a stage kept."""

    caption: str
    svg: str = ""
    file: Path | None = None


class Section(NamedTuple):
    """`source` names the paper's figure or table; `text` is Markdown: paragraphs, lists, tables, fences."""

    title: str
    source: str
    text: str
    pictures: tuple[Picture, ...] = ()

    @property
    def anchor(self) -> str:
        return "".join(letter if letter.isalnum() else "-" for letter in self.title.lower())


class Document(NamedTuple):
    title: str
    lead: str
    sections: list[Section]


def table(head: Sequence[str], rows: Iterable[Sequence[object]], left: int = 1) -> str:
    """A Markdown table; the first `left` columns are words, the others numbers."""
    marks = ["---" if place < left else "---:" for place in range(len(head))]
    lines = [head, marks, *rows]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines)


def _cell(value: object) -> str:
    return "-" if value is None else str(value).replace("|", "/").replace("\n", " ")


def paragraphs(*parts: str) -> str:
    return "\n\n".join(part.strip("\n") for part in parts if part.strip())


def write_markdown(path: Path, document: Document) -> None:
    """Write the document beside its drawings; files of the stages are named by relative paths."""
    parts = [f"# {document.title}", document.lead]
    for section in document.sections:
        source = f" ({section.source})" if section.source else ""
        parts += [f"## {section.title}{source}", section.text]
        for number, picture in enumerate(section.pictures):
            file = picture.file or path.parent / f"{section.anchor}-{number + 1}.svg"
            if picture.svg:
                write_text(file, picture.svg)
            place = Path(os.path.relpath(file, path.parent)).as_posix().replace(" ", "%20")
            parts.append(f"![{picture.caption}]({place})")
    write_text(path, paragraphs(*parts) + "\n")
