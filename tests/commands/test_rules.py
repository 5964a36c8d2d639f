"""`dogana rules`: every number that a message cites leads to its text."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys

import pytest

from ladder.http.rendering.rulebook import rules_of as on_the_page
from referee.commands.rules import NoSuchRule, chosen, places_of, rules_of
from referee.game import Game
from referee.registry import games
from tests.commands.conftest import ROOT, Dogana

GAMES = games().values()


def test_all_rules_of_a_game_are_printed_as_they_are_written(here: Dogana) -> None:
    written = (ROOT / "referee" / "games" / "yunnan" / "RULES.md").read_text()
    assert here("rules", "yunnan").stdout == written


def test_a_rule_is_printed_by_its_number(here: Dogana) -> None:
    printed = here("rules", "yunnan", "y4.2").stdout
    assert printed.startswith("- Y4.2 Order of one colour's buildings")
    assert printed.rstrip().endswith("then YARD (decision).")
    assert "Y4.3" not in printed
    section = here("rules", "yunnan", "Y4").stdout
    assert section.startswith("### Y4 Phase 1c")
    assert printed in section
    assert re.findall(r"^- (Y\d+\.\d+)", section, re.MULTILINE) == [f"Y4.{number}" for number in range(1, 7)]
    assert "### Y5" not in section
    assert section in here("rules", "yunnan", "4").stdout
    assert here("rules", "yunnan", "1.10").stdout.startswith("### 1.10")


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_every_rule_of_the_page_and_every_one_that_code_cites_is_found(game: Game) -> None:
    lines = rules_of(game)
    numbers = on_the_page(game).numbers
    assert numbers <= places_of(lines).keys()
    code = "".join(path.read_text() for path in (ROOT / "referee" / "games" / game.name).glob("*.py"))
    cited = set(re.findall(r"[\" ]([CVZY]\d+\.\d+[a-z]?)[\", )]", code))
    assert cited
    for number in numbers | cited:
        [first, *_] = chosen(game.name, lines, number)
        assert number.rstrip("abcdef") in first


def test_a_number_that_no_rule_has_is_answered_with_those_near_it_and_the_sections(here: Dogana) -> None:
    said = here("rules", "yunnan", "Y4.22", status=1).stderr
    assert "yunnan has no rule 'Y4.22'; did you mean Y4.2" in said
    assert "Its sections are: 0, 1, 1.1" in said
    assert "Y13" in said
    said = here("rules", "yunnan", "x\x1b[2J", status=1).stderr
    assert "\x1b" not in said
    assert "did you mean" not in said
    assert len(said.splitlines()) == 1
    assert "there is no game 'chess'" in here("rules", "chess", status=1).stderr


def test_a_number_in_a_block_of_code_is_no_rule() -> None:
    lines = ["## 4. Rules", "```", "Y1.1 in code", "## 5. no section", "```", "Y1.1 The rule", "goes on", "", "not it"]
    assert chosen("g", lines, "Y1.1") == ["Y1.1 The rule", "goes on"]
    assert chosen("g", lines, "4") == lines
    with pytest.raises(NoSuchRule):
        chosen("g", lines, "5")


def test_a_rule_keeps_its_lists_and_paragraphs() -> None:
    lines = ["- Y1.1 The rule", "  - a part", "", "  a paragraph", "- Y1.1a below it", "- Y1.2 another", "", "text"]
    assert chosen("g", lines, "Y1.1") == lines[:5]
    assert chosen("g", lines, "Y1.2") == ["- Y1.2 another"]


def test_on_a_terminal_the_rules_are_laid_out() -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "ladder", "rules", "yunnan", "Y4.2"]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "60"}
    with subprocess.Popen(command, cwd=ROOT, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        printed = b""
        try:
            while data := os.read(ours, 65536):
                printed += data
        except OSError:  # so a terminal says that nobody is at its other end
            pass
    os.close(ours)
    text = re.sub(r"\x1b\[[0-9;]*m", "", printed.decode())
    assert process.returncode == 0
    assert " • Y4.2 Order of one colour's buildings" in text
    assert all(len(line) <= 60 for line in text.splitlines())
