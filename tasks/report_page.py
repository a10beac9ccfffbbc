"""The report as one HTML file that needs nothing beside it: no script, no font, no address outside."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from tasks.report_document import Document, Picture, Section
from tasks.store import write_text

STYLE = """
:root { --ink: #1c1b19; --soft: #6b6862; --line: #d9d6cf; --paper: #fdfcfa; --band: #f3f1ec;
  --bar: #3b6ea5; --mark: #1c1b19; color-scheme: light dark; }
@media (prefers-color-scheme: dark) { :root { --ink: #ecebe8; --soft: #a5a29b; --line: #44423e;
  --paper: #181716; --band: #242220; --bar: #6fa3d8; --mark: #ecebe8; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 62rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.7rem; margin: 0 0 .4rem; } h2 { font-size: 1.25rem; margin: 2.6rem 0 .4rem; }
h2 small { font-weight: 400; font-size: .85rem; color: var(--soft); margin-left: .5rem; }
h3 { font-size: 1rem; margin: 1.4rem 0 .3rem; } p, ul { max-width: 48rem; }
nav { color: var(--soft); font-size: .9rem; } nav a { color: inherit; margin-right: .9rem; }
.wide { overflow-x: auto; margin: .6rem 0 1rem; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .22rem .6rem; text-align: left; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 600; border-bottom-color: var(--soft); } tr.ours td { background: var(--band); }
.right { text-align: right; } .center { text-align: center; }
code, pre { font-family: ui-monospace, monospace; font-size: .85em; }
code { background: var(--band); padding: .05rem .3rem; border-radius: 3px; }
pre { background: var(--band); padding: .8rem; overflow-x: auto; line-height: 1.35; }
.figures { display: flex; flex-wrap: wrap; gap: .2rem 1.6rem; align-items: flex-start; }
figure { margin: .6rem 0; max-width: 100%; } figcaption { font-size: .9rem; color: var(--soft); }
figure img { max-width: 100%; max-height: 19rem; height: auto; background: #fff; border-radius: 4px; }
figure svg { max-width: 100%; height: auto; }
"""
OURS = "**ours**"  # a row of a table that begins so is ours among the paper's
MARKS = {(True, True): "center", (False, True): "right"}  # by the colons of a table's second line
FENCE = "```"


def write_page(path: Path, document: Document) -> None:
    """Write the page; pictures go into it. A PNG file that has been lost is said to be so."""
    links = " ".join(f'<a href="#{one.anchor}">{escape(one.title)}</a>' for one in document.sections)
    text = f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(document.title)}</title><style>{STYLE}</style></head><body>
<h1>{escape(document.title)}</h1>
{html_of(document.lead)}
<nav>{links}</nav>
{"".join(_section(section) for section in document.sections)}
</body></html>
"""
    write_text(path, text)


def _section(section: Section) -> str:
    source = f"<small>{escape(section.source)}</small>" if section.source else ""
    figures = "".join(_figure(picture) for picture in section.pictures)
    return (
        f'<section><h2 id="{section.anchor}">{escape(section.title)}{source}</h2>\n{html_of(section.text)}\n'
        + (f'<div class="figures">{figures}</div>' if figures else "")
        + "</section>\n"
    )


def _figure(picture: Picture) -> str:
    caption = escape(picture.caption)
    if picture.svg:
        drawn = picture.svg
    elif picture.file and picture.file.is_file():
        data = base64.b64encode(picture.file.read_bytes()).decode("ascii")
        drawn = f'<img alt="{caption}" src="data:image/png;base64,{data}">'
    else:
        drawn = f"<p>{escape(str(picture.file))} is gone.</p>"
    return f"<figure><figcaption>{caption}</figcaption>{drawn}</figure>\n"


def html_of(text: str) -> str:
    """Markdown as HTML, as much of it as the reports use: headings, paragraphs, lists, tables, fences."""
    return "\n".join(_block(block) for block in _blocks(text.splitlines()))


def _blocks(lines: Sequence[str]) -> Iterator[list[str]]:
    """Lines that belong together: of a fence, else of one kind up to an empty line."""
    block: list[str] = []
    fenced = False
    for line in [*lines, ""]:
        starts, ends = line.startswith(FENCE) and not fenced, line.startswith(FENCE) and fenced
        if block and not fenced and (starts or not line.strip() or _kind(line) != _kind(block[0])):
            yield block
            block = []
        if fenced or line.strip():
            block.append(line)
        fenced = (fenced or starts) and not ends
        if ends:
            yield block
            block = []
    if block:  # a fence that nobody closed
        yield block


def _kind(line: str) -> str:
    return next((mark for mark in ("|", "- ", "#", FENCE) if line.startswith(mark)), "")


def _block(block: list[str]) -> str:
    kind = _kind(block[0])
    if kind == FENCE:
        inside = [line for line in block[1:] if not line.startswith(FENCE)]
        return f"<pre>{escape(chr(10).join(inside))}</pre>"
    if kind == "|":
        return _table(block)
    if kind == "- ":
        return f"<ul>{''.join(f'<li>{_inline(line[2:])}</li>' for line in block)}</ul>"
    if kind == "#":
        return "\n".join(f"<h3>{_inline(line.lstrip('# '))}</h3>" for line in block)
    return f"<p>{_inline(' '.join(block))}</p>"


def _table(lines: list[str]) -> str:
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    sides = [MARKS.get((mark.startswith(":"), mark.endswith(":")), "") for mark in rows[1]]
    head = _row(rows[0], sides, "th")
    body = "".join(_row(row, sides, "td") for row in rows[2:])
    return f'<div class="wide"><table><thead>{head}</thead><tbody>{body}</tbody></table></div>'


def _row(cells: list[str], sides: list[str], tag: str) -> str:
    told = "".join(
        f'<{tag} class="{side}">{_inline(cell)}</{tag}>' if side else f"<{tag}>{_inline(cell)}</{tag}>"
        for cell, side in zip(cells, sides, strict=False)
    )
    return f'<tr class="ours">{told}</tr>' if cells[0].startswith(OURS) else f"<tr>{told}</tr>"


def _inline(text: str) -> str:
    """Escaped, then code and bold marks. Links are not made: the page leads nowhere outside."""
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text, quote=False))
    return re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", text)
