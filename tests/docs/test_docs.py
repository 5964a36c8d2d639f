"""The docs say what is there: every command, option, entry and file that they name or should name."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import typer
from house_bots.random_bot import RandomBot

from ladder.commands.cli import app
from referee.live.matches.play import House
from referee.records.audit_book import ENTRIES
from referee.registry import games
from tests import matches
from tests.ladder.in_process import dogana
from tests.tables import plan_of

__all__ = ["dogana"]

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
TEXT = "\n".join(page.read_text() for page in PAGES)


def commands(group: Any) -> list[tuple[str, ...]]:
    """Every command there is, such as ("ladder", "top")."""
    return [
        (name, *inner)
        for name, command in group.commands.items()
        for inner in (commands(command) if hasattr(command, "commands") else [()])
    ]


@pytest.mark.parametrize("command", commands(typer.main.get_command(app)), ids=" ".join)
def test_every_command_is_in_the_docs(command: tuple[str, ...]) -> None:
    assert f"dogana {' '.join(command)}" in TEXT


def test_every_link_leads_to_a_file() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
            assert target.startswith("http") or (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_path_that_is_named_exists() -> None:
    for page in PAGES:
        if page.name in ("adding_a_game.md", "adding_a_question.md"):
            continue
        for path in re.findall(r"`((?:referee|agents|ladder|tests|proto|bench|docs)/[\w/.<>-]*)`", page.read_text()):
            assert "<" in path or (ROOT / path).exists(), f"{page.name}: {path}"


def test_every_make_target_is_explained() -> None:
    makefile = (ROOT / "Makefile").read_text()
    [targets] = re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    assert targets.split() == re.findall(r"^([a-z-]+):.*## \w", makefile, re.MULTILINE)
    printed = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=True).stdout  # noqa: S607
    for text in re.findall(r"^[a-z-]+:.*## (.*)$", makefile, re.MULTILINE):
        assert f" {text}\n" in printed


@pytest.mark.parametrize("game", games())
def test_every_option_of_a_game_is_in_its_rules(game: str) -> None:
    rules = (ROOT / "referee" / "games" / game / "RULES.md").read_text()
    for option in games()[game].options:
        assert f"`{option.name}`" in rules
        assert option.rule in rules


def test_every_entry_of_a_record_is_described(tmp_path: Path) -> None:

    record = tmp_path / "match.jsonl"
    matches.play(plan_of(options={"last_turn": 4}), [House(RandomBot)] * 2, record=record)
    page = (ROOT / "docs" / "records.md").read_text()
    for line in map(json.loads, record.read_text().splitlines()):
        row = next(row for row in page.splitlines() if row.startswith(f"| `{line['type']}` |"))
        link = re.search(r": \[(.+)\]\(#", row)  # a table of its own
        described = row if link is None else page.lower().split(f"\n## {link[1]}\n")[1].partition("\n#")[0]
        for entry in line.keys() - {"type", "hash"}:
            assert f"`{entry}`" in described, (line["type"], entry)


@pytest.mark.parametrize("kind", ENTRIES)
def test_every_entry_of_an_audit_log_is_described(kind: str) -> None:
    page = (ROOT / "docs" / "audit_log.md").read_text()
    row = next(row for row in page.splitlines() if row.startswith(f"| `{kind}` |"))
    assert all(f"`{name}`" in row for name in ENTRIES[kind])
