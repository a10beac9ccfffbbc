"""The pages: their links lead somewhere, headings included, and they name no place of one machine."""

from __future__ import annotations

import re
from pathlib import Path

import documented
import pytest

from tasks.bootstrap import SOURCE_ROOT

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
# Homes and the like; paths of a container and those that say "put yours here" are not of one machine.
ABSOLUTE = re.compile(r"(?<![\w.:/$}*-])/(?:home|root|work|tmp|srv|mnt|Users)/[\w.-]+")
CONTAINERS = ("/home/alphago",)
PAGES = documented.pages()


def anchors(page: Path) -> set[str]:
    """The headings' names in links: lower case, no punctuation, dashes for blanks."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    names = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in HEADING.findall(text))
    return {name.strip().replace(" ", "-") for name in names}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(SOURCE_ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(SOURCE_ROOT).as_posix())
def test_no_place_of_one_machine(page: Path) -> None:
    found = ABSOLUTE.findall(page.read_text(encoding="utf-8"))
    assert [path for path in found if not path.startswith(CONTAINERS)] == []


def test_every_image_is_shown_and_every_page_is_linked() -> None:
    shown = {
        (page.parent / link.partition("#")[0]).resolve()
        for page in documented.pages()
        for link in LINK.findall(page.read_text(encoding="utf-8"))
        if "://" not in link
    }
    made = [*(SOURCE_ROOT / "docs").rglob("*.md"), *(SOURCE_ROOT / "docs/images").iterdir()]
    assert {path.relative_to(SOURCE_ROOT) for path in made if path.resolve() not in shown} == set()
