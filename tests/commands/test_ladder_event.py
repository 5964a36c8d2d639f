"""`dogana ladder event`: announce, look, cancel; and what cannot be announced, in one line each."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ladder.facts.store import Store
from referee.commands.output import out
from tests.commands.conftest import Dogana
from tests.ladder.announced import set_clock
from tests.ladder.in_process import dogana
from tests.ladder.made import ladder

__all__ = ["dogana"]

CLOSES = "2126-12-18T18:00Z"
NEW = ["--game", "cargo_noir", "--closes", CLOSES, "--top", "4", "--clock", "60+0.5/10", "--option", "last_turn=2"]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with ladder(tmp_path, 3):
        return tmp_path


def test_an_event_is_announced_listed_shown_and_cancelled(
    dogana: Dogana, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as narrow:
        narrow.setattr(out, "width", 20)
        said = dogana("ladder", "event", "new", "final", *NEW, "--home", home).stdout
    assert "event final closes at 2126-12-18 18:00 UTC" in said
    listed = json.loads(dogana("ladder", "event", "list", "--home", home, "--json").stdout)["events"]
    assert [(one["event"], one["phase"], [each["options"] for each in one["conditions"]]) for one in listed] == [
        ("final", "open", [{"last_turn": 2}])
    ]
    printed = dogana("ladder", "event", "show", "final", "--home", home).stdout
    assert "would be entered: 3" in printed
    assert "qualified, not rated" in printed
    bot = dogana("ladder", "show", "bot0", "--home", home).stdout
    assert "event final, open: v1 entered (v1: qualified, not rated)" in bot
    assert "final is cancelled" in dogana("ladder", "event", "cancel", "final", "--home", home).stdout
    assert "cancelled" in dogana("ladder", "event", "list", "--home", home).stdout


def test_from_its_closing_time_on_an_event_is_closed_though_nobody_plays(
    dogana: Dogana, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["final", *NEW, "--closes", "2126-12-18T18:00:25Z", "--home", home]
    assert "final closes at 2126-12-18 18:00:25 UTC" in dogana("ladder", "event", "new", *words).stdout
    clock = set_clock(monkeypatch)
    clock.at = datetime(2126, 12, 18, 18, 1, tzinfo=UTC)
    printed = dogana("ladder", "event", "show", "final", "--home", home).stdout
    assert "\nclosed at 2126-12-18 18:00:25 UTC for the best 4" in printed
    assert "would be entered: 3" in printed
    assert "its entrants are frozen when a run or a server next looks" in printed
    said = dogana("ladder", "event", "cancel", "final", "--home", home, status=1).stderr
    assert "event final is closed; it can be cancelled only before it closes" in said


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--closes", "2020-01-01T00:00Z"], "2020-01-01T00:00Z is in the past; an event must close in the future"),
        (["--closes", "2126-12-18T18:00"], "'2126-12-18T18:00' has no time zone; write 2126-12-18T18:00Z for UTC"),
        (["--closes", "at six"], "'at six' is not a time; write it as in 2026-12-18T18:00Z"),
        (["--game", "chess"], "chess"),
        (["--top", "2", "--seats", "3"], "--top 2 is fewer than sit at a table of 3"),
        (
            ["--top", "100", "--blocks", "11"],
            "a tournament has at most 100,000 matches, and this one at least 108,900: lower blocks, or leave out entrants",
        ),
        (["--format", "gauntlet"], "--format gauntlet is not for events; use round-robin, swiss, knockout"),
        (["--scoring", "score"], "--scoring score is not for events"),
        (["--rounds", "3"], "--rounds is for format swiss, not round-robin; leave it out"),
        (["--advance", "1"], "--advance is for format knockout, not round-robin; leave it out"),
        (
            ["--clock", "1+1/1"],
            "no standings of cargo_noir are under these terms; there are: --game cargo_noir --clock",
        ),
        (["--option", "no_such=1"], "no_such"),
    ],
)
def test_what_cannot_be_announced_is_refused_in_one_line(
    dogana: Dogana, home: Path, words: list[str], reason: str
) -> None:
    said = dogana("ladder", "event", "new", "final", *NEW, *words, "--home", home, status=1).stderr
    assert said.count("\n") == 1
    assert reason in said
    with Store(home / "ladder.db", create=False) as store:
        assert store.tournaments.all() == []


def test_names_are_taken_once_and_several_standings_have_to_be_told_apart(dogana: Dogana, home: Path) -> None:
    dogana("ladder", "event", "new", "final", *NEW, "--home", home)
    said = dogana("ladder", "event", "new", "final", *NEW, "--home", home, status=1).stderr
    assert "there is an event final already, open; choose another name" in said
    said = dogana("ladder", "event", "new", "no/name", *NEW, "--home", home, status=1).stderr
    assert "an event's name must be 1 to 40 letters" in said
    said = dogana("ladder", "event", "new", "cup", *NEW[:6], "--home", home, status=1).stderr
    assert "several standings of cargo_noir are under these terms" in said
    said = dogana("ladder", "event", "cancel", "cup", "--home", home, status=1).stderr
    assert "there is no event 'cup'" in said
