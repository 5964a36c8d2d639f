"""Docstrings and docs name things with nouns. This guards the folders and pages that have been edited for it.

It finds the habits that a pattern can find, and no others: that a text is good English, only a reader can tell.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

ROOMS = [
    "agents/house_bots",
    "ladder/conformance",
    "ladder/model",
    "ladder/operation",
    "referee/bots",
    "referee/commands",
    "referee/contract",
    "referee/games",
    "referee/kit",
    "referee/live/matches",
    "referee/live/messages",
    "referee/live/seats",
    "referee/match",
    "referee/records",
    "referee/sandbox",
]
FILES = [
    *(path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py")) if "tests" not in path.parts),
    *(path for room in ("referee", "dogana", "proto") for path in sorted((ROOT / room).glob("*.py"))),
]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *(
        ROOT / "docs" / f"{name}.md"
        for name in (
            "adding_a_game",
            "architecture",
            "audit_log",
            "faq",
            "forward_model",
            "glossary",
            "index",
            "installing",
            "many_machines",
            "performance",
            "playing",
            "protocol",
            "records",
            "releasing",
            "replay",
            "running_a_ladder",
            "security",
            "troubleshooting",
            "tutorial",
            "where_is",
            "writing_a_bot",
        )
    ),
    *sorted((ROOT / "docs" / "decisions").glob("*.md")),
]

CLAUSE = re.compile(r"(?:What|Which|Who|Whom|Whose|How|Where|When|Why|Whether)\b")
"""The beginning of a noun clause: `What is sent` instead of `The message`."""
HABITS = re.compile(
    r"\bso (?:many|much|long)\b(?! [^.]*\bthat\b)"  # for a number or a maximum
    r"|\b(?:is|are|was|were) told\b"  # for a line that is printed
    r"|(?:^(?:- )?|[.:] )(?:What|Who|Whom|Whose)\b[^?]*$"  # a clause in the place of a noun, and no question
)
"""Habits in the sentences of a page."""


def docstrings(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each docstring, also of those below attributes."""
    for node in ast.walk(ast.parse(source)):
        for inner in ast.iter_child_nodes(node):
            match inner:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    yield inner.lineno, text.strip()


def prose(page: str) -> str:
    """Return a page without code blocks, tables and headings, in lines of the same numbers."""
    page = re.sub(r"^( *)```.*?^\1```", lambda block: "\n" * block[0].count("\n"), page, flags=re.M | re.S)
    return re.sub(r"^ *[|#].*", "", page, flags=re.M)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_docstring_begins_with_a_clause(path: Path) -> None:
    assert [(line, text) for line, text in docstrings(path.read_text()) if CLAUSE.match(text)] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_no_page_has_these_habits(path: Path) -> None:
    lines = enumerate(prose(path.read_text()).splitlines(), start=1)
    assert [(number, line) for number, line in lines if HABITS.search(line)] == []


def test_it_finds_what_it_should_find() -> None:
    source = 'SENT: bytes\n"""What is sent."""\n\n\ndef kept() -> bool:\n    """Whether it is kept."""\n'
    assert [line for line, text in docstrings(source) if CLAUSE.match(text)] == [2, 6]
    assert not CLAUSE.match("Whatever follows.")
    assert HABITS.search("It takes so many seconds.")
    assert HABITS.search("- What is sent is dropped.")
    assert HABITS.search("That is told on standard error.")
    assert not HABITS.search("Is it late? What did it send?")
    assert not HABITS.search("There are so many that a page is full.")
    assert prose("# So many\n\n```\nso many\n```\n| so many |\nText.\n") == "\n\n\n\n\n\nText.\n"
