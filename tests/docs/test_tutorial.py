"""docs/tutorial.md works: its programs are those of the files, its commands run, and the last step wins."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cases import mostly_long

ROOT = Path(__file__).parents[2]
FILES = ROOT / "docs" / "tutorial"
PAGE = (ROOT / "docs" / "tutorial.md").read_text()
SECTIONS = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
STEPS = [title for title in SECTIONS if title.startswith("Step ")]
SECONDS = 600.0


def blocks_of(section: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


def commands(section: str) -> list[str]:
    return [line.removeprefix("$ ") for block in blocks_of(section, "console") for line in block.splitlines()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the tutorial's folder."""
    return Path(shutil.copytree(FILES, tmp_path / "tutorial", ignore=shutil.ignore_patterns("__pycache__")))


def run(folder: Path, command: str) -> str:
    """Type a command of the page, which waits as long as a busy machine needs."""
    programs = folder.parent / "bin"
    programs.mkdir(exist_ok=True)
    for name, words in (("dogana", f"{sys.executable} -m ladder"), ("python", sys.executable)):
        (programs / name).write_text(f'#!/bin/sh\nexec {words} "$@"\n')
        (programs / name).chmod(0o755)
    if command.startswith("dogana play"):
        command = command.replace("dogana play", "dogana play --wait 300 --clock 600+10/600")
    ended = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],  # noqa: S607
        cwd=folder,
        env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert ended.returncode == 0, (command, ended.stdout, ended.stderr)
    assert "Traceback" not in ended.stderr
    return ended.stdout


def ahead(printed: str) -> tuple[int, int, int]:
    """Return in how many blocks the first bot was ahead, how many there were, and in how many it was behind."""
    [found] = re.findall(r"ahead in (\d+) of (\d+) blocks, level in \d+, behind in (\d+)", printed)
    ahead, blocks, behind = map(int, found)
    return ahead, blocks, behind


def test_the_page_has_a_section_for_each_file_and_a_row_for_each_step() -> None:
    assert sorted(path.name for path in FILES.glob("step*.py")) == [f"step{n + 1}.py" for n in range(len(STEPS))]
    assert len(re.findall(r"^\| step \d \|", PAGE, re.MULTILINE)) == len(STEPS) == 7


@pytest.mark.parametrize("title", STEPS)
def test_the_code_of_each_step_is_in_its_file(title: str) -> None:
    text = (FILES / f"step{title[5]}.py").read_text()
    pieces = blocks_of(SECTIONS[title], "python")
    assert pieces
    assert [piece for piece in pieces if piece not in text] == []


@pytest.mark.parametrize("title", mostly_long(title for title, section in SECTIONS.items() if commands(section)))
def test_the_commands_of_each_section_run(title: str, folder: Path) -> None:
    typed = commands(SECTIONS[title])
    if "replay match.jsonl" in "".join(typed) and "--record match.jsonl" not in "".join(typed):
        run(folder, "dogana play venezia step1.py greedy --seed 1 --record match.jsonl")
    for command in typed:
        if command != "cd docs/tutorial":  # we are there
            few = re.sub(r"--games \d+", "--games 1", command)
            run(folder, few)


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        ("the table of a series\n", "blocks.py: these are not matches in JSON; give --json to dogana play\n"),
        ("", "blocks.py: there is no match; see what dogana play has printed\n"),
    ],
)
def test_blocks_are_counted_only_if_there_are_matches_in_json(folder: Path, printed: str, said: str) -> None:
    count = [sys.executable, "blocks.py"]
    ended = subprocess.run(count, cwd=folder, input=printed, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, "", said)


def test_no_command_replaces_a_file_of_an_earlier_one() -> None:
    written = re.findall(r"--(?:record|html) (\S+)", " ".join(map(" ".join, map(commands, SECTIONS.values()))))
    assert len(written) == len(set(written)) >= 6


def test_the_figures_of_the_table_are_those_of_the_text() -> None:
    rows = re.findall(r"^\| step (\d) \| (\d*) \| (\d+) \| (\d+) \|$", PAGE, re.MULTILINE)
    for number, before, greedy, wins in rows:
        said = next(section for title, section in SECTIONS.items() if title.startswith(f"Step {number}"))
        assert not before or f"**Step {number} against step {int(number) - 1}: ahead in {before} of 50 blocks" in said
        assert greedy == "0" or int(number) < 6 or f"ahead in {greedy}" in said
        assert wins == "0" or f"{wins} of 100" in said or int(wins) == 55


SEARCH = "The last step: let it search"


def test_the_bot_that_searches_can_be_changed_as_the_page_says(folder: Path) -> None:
    [piece] = blocks_of(SECTIONS[SEARCH], "python")
    run(folder, "dogana new mybot --search")
    bot = folder / "mybot" / "bot.py"
    text = bot.read_text()
    assert f"has {len(text.splitlines())} lines" in SECTIONS[SEARCH]
    changed, count = re.subn(r"    def value\(.*?\n\n", lambda _: f"{piece}\n", text, count=1, flags=re.DOTALL)
    assert count == 1
    changed, count = re.subn(r"seconds=SECONDS", "rollouts=20", changed)
    assert count == 1
    bot.write_text(changed)
    [match] = map(json.loads, run(folder, "dogana play venezia mybot/bot.py greedy --seed 1 --json").splitlines())
    assert [seat["outcome"] for seat in match["seats"]] == ["played", "played"]


@pytest.mark.ladders
def test_the_bot_that_searches_beats_greedy(folder: Path) -> None:
    run(folder, "dogana new mybot --search")
    bot = folder / "mybot" / "bot.py"
    # As many rollouts on every machine, and so the same matches; a quiet one makes more of them in the bot's time.
    counted, count = re.subn(r"seconds=SECONDS", "rollouts=40", bot.read_text())
    assert count == 1
    bot.write_text(counted)
    series = "dogana play venezia mybot/bot.py greedy --games 4 --rotate --seed 1 --json"
    won, blocks, _ = ahead(run(folder, f"{series} | python blocks.py"))
    assert blocks == 4
    assert won > blocks / 2


def test_blocks_are_counted_by_places_and_then_by_points(folder: Path) -> None:
    def match(seed: int, *seats: tuple[str, int, int]) -> str:
        documents = ", ".join(f'{{"bot": "{bot}", "rank": {rank}, "score": {score}}}' for bot, rank, score in seats)
        return f'{{"seed": {seed}, "seats": [{documents}]}}\n'

    lines = (
        match(1, ("a", 1, 5), ("b", 2, 3)) + match(1, ("b", 2, 3), ("a", 1, 5))
        + match(2, ("a", 1, 5), ("b", 2, 3)) + match(2, ("b", 1, 9), ("a", 2, 3))
        + match(3, ("a", 1, 5), ("b", 2, 3)) + match(3, ("b", 1, 5), ("a", 2, 3))
    )  # fmt: skip
    (folder / "lines").write_text(lines)
    assert run(folder, "python blocks.py < lines") == "a: ahead in 1 of 3 blocks, level in 1, behind in 1\n"


@pytest.mark.ladders
def test_the_last_step_beats_greedy_and_each_step_the_one_before(folder: Path) -> None:
    def count(one: str, other: str, games: int) -> tuple[int, int, int]:
        series = f"dogana play venezia {one} {other} --games {games} --rotate --seed 1 --json"
        return ahead(run(folder, f"{series} | python blocks.py"))

    won, blocks, _ = count("step7.py", "greedy", 20)
    assert blocks == 20
    assert won > blocks / 2
    for number in range(2, 8):
        won, _, lost = count(f"step{number}.py", f"step{number - 1}.py", 10)
        assert won > lost, number
