"""Every rule of every game has a test that bears its number; every number that code cites exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from referee.registry import games

GAMES = Path(__file__).resolve().parent.parent / "referee" / "games"
# A rule begins a line, `- C3.4 ...` or `S2. ...` or `- E5 ...`, in RULES.md.
RULE = re.compile(r"^(?:- )?(?:\*\*)?([A-Z]\d+(?:\.\d+)?[a-z]?)(?:\*\*)?[.:]? ", re.MULTILINE)
CITED = re.compile(r"(?<![A-Za-z0-9_])([A-Z]\d+\.\d+)(?!\d)")


def rules_of(game: str) -> list[str]:
    """The numbers of the rules and worked examples; rulings (R), invariants (I) are tested under the rules they concern."""
    text = (GAMES / game / "RULES.md").read_text()
    return [number for number in RULE.findall(text) if number[0] not in "RI"]


@pytest.mark.parametrize("game", games())
def test_every_rule_and_example_has_a_test_named_after_it(game: str) -> None:
    names = " ".join(
        re.findall(r"def (test_\w+)", "".join(path.read_text() for path in (GAMES / game / "tests").glob("test_*.py")))
    )
    numbers = rules_of(game)
    assert numbers, "RULES.md has no numbered rule"
    untested = [number for number in numbers if not re.search(rf"_{number.lower().replace('.', '_')}(?![0-9])", names)]
    assert untested == []


@pytest.mark.parametrize("game", games())
def test_every_rule_number_in_the_code_exists(game: str) -> None:
    known = set(RULE.findall((GAMES / game / "RULES.md").read_text()))
    cited = {
        number
        for path in [*(GAMES / game).glob("*.py"), *(GAMES / game / "tests").glob("*.py")]
        for number in CITED.findall(path.read_text())
    }
    letters = {number[0] for number in known}
    assert {number for number in cited if number[0] in letters} - known == set()
