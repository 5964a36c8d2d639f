"""Text of strangers on the organiser's terminal: nothing in it moves the cursor, hides, or reorders what is shown."""

from __future__ import annotations

import json
import os
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.kit.chance import commitment
from referee.live.matches.in_process import play_in_process
from referee.match.result import Fault, Outcome
from referee.records.record import header
from referee.terminal import counted, visible, visible_lines
from tests.commands.conftest import Dogana
from tests.referee.test_records import chained
from tests.tables import Table, plan_of

CLEAR = "\x1b[2J\x1b[H"
CONTROLS = "".join(map(chr, [*range(1, 32), *range(127, 160)]))
MARKS = (
    "\u061c\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"
)
UNSEEN = "\u00ad\u034f\u115f\u3164\ufe0f\U000e0041"
HOSTILE = f"evil{CLEAR}{CONTROLS}{MARKS}{UNSEEN}end"
HOSTILE_NAME = f"e{CLEAR}\x9b31m\x07\u202e\u200bend"  # short enough for a file's name


def check(text: str) -> None:
    """Every character is seen as itself, or is a line's end."""
    wrong = {
        char
        for char in text
        if (char != "\n" and unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")) or char in MARKS + UNSEEN
    }
    assert not wrong, (wrong, text)


Output = Callable[..., str]
"""Runs a command that ends with the status; returns all it printed, which is safe to print."""


def checked(dogana: Dogana) -> Output:
    def run(*arguments: object, status: int = 0) -> str:
        ended = dogana(*arguments, status=status)
        check(ended.stdout)
        check(ended.stderr)
        return ended.stdout + ended.stderr

    return run


@pytest.fixture
def output(dogana: Dogana) -> Output:
    return checked(dogana)


@pytest.fixture
def output_here(here: Dogana) -> Output:
    """The same in this process, for what is said before anything begins."""
    return checked(here)


@given(st.text(alphabet=st.characters(), max_size=50))
def test_whatever_is_made_visible_is_safe_and_one_line(text: str) -> None:
    check(visible(text))
    assert "\n" not in visible(text)
    check(visible_lines(text).replace("\t", ""))
    assert visible_lines(text).count("\n") == text.count("\n")


def test_letters_of_all_scripts_and_pictures_stay_as_they_are() -> None:
    text = "Ægir, Ørsted & Søn: 日本語 العربية עברית हिन्दी 🎲 e\u0301 <[/b]> \\"
    assert visible(text) == text


def test_what_is_not_seen_is_written_as_an_escape() -> None:
    assert visible("a\x1b[31m\u202e\n\x9b\U000e0041") == r"a\x1b[31m\u202e\n\x9b\U000e0041"
    assert visible("x" * 100, 10) == "xxxxxxx..."
    assert visible("x" * 10, 10) == "x" * 10


# --- records ------------------------------------------------------------------------------------------------


@pytest.fixture
def lines(tmp_path: Path) -> list[dict[str, Any]]:
    record = tmp_path / "match.jsonl"
    play_in_process("cargo_noir", ["random", "random"], seed=5, options={"last_turn": 3}, record=record)
    return [json.loads(line) for line in (tmp_path / "match.jsonl").read_bytes().splitlines()]


def rename(lines: list[dict[str, Any]], match_id: str) -> None:
    lines[0].update(match=match_id, seed_commitment=commitment(match_id, lines[-1]["seed"]))


def crashed() -> list[dict[str, Any]]:
    """The record of a match in which seat 1 says something hostile and crashes; it holds."""
    plan = plan_of(options={"last_turn": 3, "first_player": 0})
    table = Table(plan)
    table.answer(0, 0)
    table.fault(1, Fault(Outcome.CRASH, HOSTILE))
    table.play_out()
    return [header(plan), *table.lines]


BROKEN: list[Callable[[list[dict[str, Any]]], Any]] = [
    lambda lines: lines[0].update(type=HOSTILE),
    lambda lines: lines[0].update({HOSTILE: 1}),
    lambda lines: lines[0].update(format=HOSTILE, dogana=HOSTILE),
    lambda lines: lines[0].update(game=HOSTILE),
    lambda lines: lines[0].update(clock=HOSTILE),
    lambda lines: lines[0].update(seats=HOSTILE),
    lambda lines: lines[0].update(bots=HOSTILE),
    lambda lines: lines[0].update(seed_commitment=HOSTILE),
    lambda lines: lines[0]["options"].update({HOSTILE: 1}),
    lambda lines: lines[0]["options"].update(last_turn=HOSTILE),
    lambda lines: lines[0]["board"].update({HOSTILE: 1}),
    lambda lines: lines[0]["board"]["cards"].update({HOSTILE: HOSTILE}),
    lambda lines: lines[0].update(position={HOSTILE: HOSTILE}),
    lambda lines: lines[1].update(type=HOSTILE),
    lambda lines: lines[1].update(state=HOSTILE),
    lambda lines: lines[1].update(chance=[[HOSTILE, 1]]),
    lambda lines: lines[2].update(type=HOSTILE),
    lambda lines: lines[2].update({HOSTILE: 1}),
    lambda lines: lines[2].update(n=HOSTILE),
    lambda lines: lines[2].update(seat=HOSTILE),
    lambda lines: lines[2].update(action=HOSTILE),
    lambda lines: lines[2].update(action=f"send({HOSTILE})"),
    lambda lines: lines[2].update(by=HOSTILE),
    lambda lines: lines[2].update(chance=[[HOSTILE, 1]]),
    lambda lines: lines[-2].update({HOSTILE: 1}),
    lambda lines: lines[-2].update(digest=HOSTILE),
    lambda lines: lines.insert(2, {"type": "strike", "seat": 0, "reason": HOSTILE}),
    lambda lines: lines.insert(2, {"type": "out", "seat": 0, "reason": HOSTILE}),
]


def test_every_field_of_a_record_that_verify_prints_is_made_visible(
    output: Output, lines: list[dict[str, Any]], tmp_path: Path
) -> None:
    names = []
    for number, change in enumerate(BROKEN):
        broken = json.loads(json.dumps(lines))
        change(broken)
        names.append(f"{number}{HOSTILE_NAME}.jsonl")
        (tmp_path / names[-1]).write_bytes(chained(broken))
    said = output("verify", *names, "nothing" + HOSTILE_NAME, status=1).splitlines()
    assert [line.split()[0] for line in said] == ["broken"] * (len(BROKEN) + 1)
    as_json = output("verify", *names, "--json", status=1).splitlines()
    assert {json.loads(line)["file"] for line in as_json} == set(names)


def test_names_and_details_of_a_record_are_made_visible_in_a_replay(output: Output, tmp_path: Path) -> None:
    lines = crashed()
    lines[0]["bots"] = [HOSTILE, HOSTILE]
    rename(lines, HOSTILE)
    (tmp_path / HOSTILE_NAME).write_bytes(chained(lines))
    output("verify", HOSTILE_NAME)
    said = output("replay", HOSTILE_NAME)
    assert r"match evil\x1b[2J" in said
    assert r"seat 1: evil\x1b[2J" in said
    assert r"out (crash): evil\x1b[2J" in said
    output("replay", HOSTILE_NAME, "--json")
    for change in (BROKEN[3], BROKEN[20]):
        broken = json.loads(json.dumps(lines))
        change(broken)
        (tmp_path / "broken.jsonl").write_bytes(chained(broken))
        assert r"\x1b[2J" in output("replay", "broken.jsonl", status=1)


# --- positions ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        lambda position: position["state"].update({HOSTILE: 1, "phase": HOSTILE, "turn": HOSTILE}),
        lambda position: position.update({HOSTILE: 1, "game": HOSTILE}),
        lambda position: position["options"].update({HOSTILE: 1, "last_turn": HOSTILE}),
        lambda position: position.update({HOSTILE: 1, "seats": HOSTILE}),
    ],
    ids=["state", "game", "options", "seats"],
)
def test_everything_that_is_said_of_a_position_is_made_visible(
    output_here: Output, lines: list[dict[str, Any]], tmp_path: Path, change: Callable[[dict[str, Any]], Any]
) -> None:
    position = json.loads(output_here("replay", "match.jsonl", "--at", 12, "--json"))
    change(position)
    (tmp_path / HOSTILE_NAME).write_text(json.dumps(position))
    assert r"\x1b[2J" in output_here("position", HOSTILE_NAME, status=1)
    output_here("position", HOSTILE_NAME, "--json", status=1)
    assert r"\x1b[2J" in output_here("play", "cargo_noir", "random", "random", "--from", HOSTILE_NAME, status=1)


# --- play, usage, the ladder ----------------------------------------------------------------------------------


def last_words(folder: Path) -> str:
    """A bot that says something hostile and dies; its seat on the command line, with a hostile name."""
    (folder / "bot.py").write_text(
        "import sys\n"
        "from dogana.sdk import play\n"
        f"text = {HOSTILE!r}\n"
        "def choose(decision):\n"
        "    sys.stderr.reconfigure(encoding='utf-8')\n"
        "    sys.exit(text)\n"
        "play(choose)\n"
    )
    return f"cmd:{sys.executable} bot.py {HOSTILE_NAME}"


def test_last_words_and_names_of_bots_are_made_visible(output: Output, tmp_path: Path) -> None:
    seat = last_words(tmp_path)
    said = output("play", "cargo_noir", seat, "random", "-o", "last_turn=3", "--record", HOSTILE_NAME, status=3)
    assert r"  | evil\x1b[2J" in said
    assert r"\x9b31m" in said  # in the bot's name
    output("play", "cargo_noir", seat, "random", "-o", "last_turn=3", "--rotate", status=3)
    (tmp_path / "bot.py").write_text(f"import sys\nsys.stderr.buffer.write({HOSTILE!r}.encode())\nsys.exit(1)\n")
    assert r"the last it wrote: " in output("play", "cargo_noir", seat, "random", status=1)


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["games", HOSTILE], 1),
        ([HOSTILE], 2),
        (["games", "--" + HOSTILE], 2),
        (["play", "cargo_noir", HOSTILE, "random"], 1),
        (["play", "cargo_noir", "random", "random", "-o", f"{HOSTILE}=1"], 1),
        (["play", "cargo_noir", "random", "random", "--clock", HOSTILE], 1),
        (["play", "cargo_noir", "random", "random", "--board", HOSTILE_NAME], 1),
        (["play", "cargo_noir", "random", "random", "--record", f"{HOSTILE_NAME}/x"], 1),
        (["play", "cargo_noir", "random", "remote", "--listen", HOSTILE], 1),
        (["ladder", "top", "--home", HOSTILE_NAME], 1),
        (["ladder", "submit", HOSTILE_NAME, "--name", "bot", "--author", "me"], 1),
        (["ladder", "submit", "bot.py", "--name", HOSTILE, "--author", "me"], 1),
    ],
)
def test_what_is_wrong_with_a_command_is_said_visibly(output_here: Output, arguments: list[str], status: int) -> None:
    assert r"\x1b[2J" in output_here(*arguments, status=status)


def test_file_names_that_are_no_text_are_shown(dogana: Dogana, output: Output) -> None:
    assert r"\udcff" in output("verify", os.fsdecode(b"\xff.jsonl"), status=1)


def test_last_words_of_submitted_bots_are_made_visible(output: Output, tmp_path: Path) -> None:
    last_words(tmp_path)
    output("ladder", "submit", "bot.py", "--name", "bot", "--author", "me")
    said = output("ladder", "run", "--game", "cargo_noir", "--matches", 1, "--workers", 1, "--unconfined")
    assert "bot v1" in said
    output("ladder", "top")
    output("ladder", "recompute")


def test_output_for_an_encoding_that_lacks_a_letter_is_no_traceback(
    apart: Dogana, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    assert r"broken ?.jsonl".replace("?", r"\xe4") in apart("verify", "ä.jsonl", status=1).stdout


def test_what_is_counted_has_the_right_number() -> None:
    assert [counted(number, "line") for number in (0, 1, 2_000)] == ["0 lines", "1 line", "2,000 lines"]
    assert [counted(number, "match", "matches") for number in (1, 2)] == ["1 match", "2 matches"]
