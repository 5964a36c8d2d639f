"""docs/scheduling.md: written by a command, the same from the same seed, and it names all rules."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench.rivals import RULES
from bench.scheduling import SETTINGS, Course, play
from tests.commands.conftest import ROOT

SMALL = replace(SETTINGS[1], bots=12, matches_each=20)


def check(page: Path) -> None:
    sections = page.read_text().split("\n## ")[1:]
    assert len(sections) == len(SETTINGS) + 1
    for setting, section in zip(SETTINGS, sections, strict=False):
        assert section.startswith(setting.name)
        assert all(f"\n| {rule} | " in section for rule in RULES)
    picture = ElementTree.parse(page.parent / "images" / "scheduling.svg")  # noqa: S314 it is ours
    assert len(picture.findall(".//{*}polyline")) == len(RULES) * (len(SETTINGS) + 1)  # with the key


def test_the_command_writes_the_page_and_its_picture(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bench.scheduling", "--bots", "10", "--page", str(tmp_path / "scheduling.md")]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    check(tmp_path / "scheduling.md")


def test_the_page_that_is_here_has_all_rules_in_all_settings() -> None:
    check(ROOT / "docs" / "scheduling.md")


@pytest.mark.parametrize("rule", RULES)
def test_a_season_is_the_same_from_the_same_seed(rule: str) -> None:
    def without_time(course: Course) -> Course:
        return replace(course, seconds=0.0)

    first, second = (without_time(play(SMALL, RULES[rule], 7)) for _ in range(2))
    assert first == second
    assert without_time(play(SMALL, RULES[rule], 8)) != first
