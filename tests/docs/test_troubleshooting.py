"""docs/troubleshooting.md: each message that it quotes is one that the sources can print."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "troubleshooting.md").read_text()
QUOTED = re.findall(r"^### (.*)$", PAGE, re.MULTILINE)
ANYTHING = "\0"
"""Stands for what differs from case to case: a pair of braces in the sources, of angle brackets on the page."""


@cache
def texts() -> list[str]:
    """All texts of the program, each in one piece however many lines it has in the sources."""
    found = []
    for room in ("dogana", "ladder", "referee"):
        for path in (ROOT / room).rglob("*.py"):
            if "tests" in path.relative_to(ROOT).parts or path.name.endswith("_pb2.py"):
                continue
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.JoinedStr):
                    parts = [part.value if isinstance(part, ast.Constant) else ANYTHING for part in node.values]
                    found.append("".join(map(str, parts)))
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found.append(node.value)
    return found


def fixed_parts(message: str) -> list[str]:
    return [part for part in re.split(r"<[^<>]*>", message) if part]


def is_said(message: str) -> bool:
    """Tell whether a text of the sources has the fixed parts of a message in their order, with something between them."""
    # What differs may itself have fixed words in the sources, such as the hint at the end of a message.
    pattern = re.compile(".+?".join(map(re.escape, fixed_parts(message))), re.DOTALL)
    return any(pattern.search(text) for text in texts())


@pytest.mark.parametrize("quoted", QUOTED)
def test_each_message_of_the_page_is_one_of_the_program(quoted: str) -> None:
    assert re.fullmatch(r"`[^`]+`", quoted), "a message is quoted as code"
    assert max(map(len, fixed_parts(quoted.strip("`")))) >= 8, "too little of it is fixed to find it by"
    assert is_said(quoted.strip("`"))


def test_a_message_that_nobody_says_any_more_is_noticed() -> None:
    assert not is_said("there is no casa bot <name>")
    assert not is_said("; the games are: <names> there is no game")


def test_the_page_has_the_messages_that_users_meet_most() -> None:
    assert len(QUOTED) == len(set(QUOTED)) >= 25
