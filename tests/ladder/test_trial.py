"""Who is to blame for workers that died: a version is tried among house bots, and nobody is for having met a culprit."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from ladder.match import HOUSE, Match, Version
from ladder.trial import MAX_DEATHS, TRIAL_MATCHES, Trial
from tests.commands.conftest import Dogana, dogana
from tests.ladder.test_pool import PLAIN, WORKER

__all__ = ["dogana"]


def version(number: int, author: str = "") -> Version:
    return Version(number, f"bot{number}", author or f"author{number}", 1, f"hash{number}", ("./bot",), ("toy",), None)


GREEDY = version(1, HOUSE)
KILLER, VICTIM, FRIEND = version(2), version(3), version(4)
CAUSE = Match("cause", 1, "toy", (VICTIM, GREEDY, KILLER), 77, {}, "60+0.5/10")


def held(trial: Trial, dies: Any) -> list[Match]:
    """Hold a trial; `dies` says whether a worker dies in a match."""
    played = []
    while (match := trial.next()) is not None:
        played.append(match)
        assert trial.has(match)
        trial.settle(match, worker_died=dies(match))
        assert not trial.has(match)
    assert trial.is_over
    return played


def test_each_suspect_plays_among_house_bots_in_every_seat_and_first_from_the_seed_of_the_cause() -> None:
    trial = Trial(CAUSE, GREEDY, [])
    assert trial.suspects == [VICTIM, KILLER]
    played = held(trial, lambda match: False)
    assert len({match.match_id for match in played}) == len(played) == 3 * TRIAL_MATCHES
    assert [match.seats for match in played[:TRIAL_MATCHES]] == [(GREEDY,) * 3] * TRIAL_MATCHES
    for party, first in ((VICTIM, CAUSE.seats.index(VICTIM)), (KILLER, CAUSE.seats.index(KILLER))):
        own = [match for match in played if party in match.seats]
        assert len(own) == TRIAL_MATCHES
        assert (own[0].seed, own[0].seats.index(party)) == (CAUSE.seed, first)
        assert {match.seats.index(party) for match in own} == {0, 1, 2}
        assert all(set(match.seats) == {party, GREEDY} and match.block is None for match in own)
    assert len({match.seed for match in played}) > 2 * TRIAL_MATCHES


def test_who_kills_its_worker_among_house_bots_is_guilty_and_who_met_it_is_not() -> None:
    trial = Trial(CAUSE, GREEDY, [])
    played = held(trial, lambda match: KILLER in match.seats)
    assert trial.guilty == [KILLER]
    assert sum(KILLER in match.seats for match in played) == MAX_DEATHS  # more would prove no more


@pytest.mark.parametrize("deaths", range(MAX_DEATHS + 1))
def test_a_few_deaths_are_no_proof(deaths: int) -> None:
    died: list[Match] = []

    def dies(match: Match) -> bool:
        if VICTIM in match.seats and len(died) < deaths:
            died.append(match)
            return True
        return False

    trial = Trial(CAUSE, GREEDY, [])
    held(trial, dies)
    assert trial.guilty == ([VICTIM] if deaths >= MAX_DEATHS else [])


def test_if_workers_die_among_house_bots_too_the_machine_is_at_fault() -> None:
    trial = Trial(CAUSE, GREEDY, [])
    first = [match for match in (trial.next() for _ in range(MAX_DEATHS)) if match is not None]
    for match in first:
        assert not trial.machine_is_at_fault
        trial.settle(match, worker_died=True)
    assert trial.machine_is_at_fault


def test_who_is_excused_is_not_tried() -> None:
    assert Trial(CAUSE, GREEDY, [KILLER]).suspects == [VICTIM]


LOSING = (
    "import os, signal\nfrom dogana.sdk import play\n"
    "def choose(decision):\n"
    "    match, known = decision.match, os.path.exists({marker!r})\n"
    "    if not match.match_id.startswith('qualify'):\n"
    "        if not known:\n"
    "            open({marker!r}, 'w').write(match.match_id)\n"
    "        elif match.seat and open({marker!r}).read() != match.match_id:\n"
    "            os.kill({WORKER}, signal.SIGKILL)\n"
    "            signal.pause()\n"
    "    return 0\n"
    "play(choose)\n"
).replace("{WORKER}", WORKER)
"""Plays its first match; of the others those in which it does not sit first, which stands for those it is losing, kill."""


def run(dogana: Dogana, matches: int) -> str:
    return dogana(
        *(
            "ladder",
            "run",
            "--game",
            "cargo_noir",
            "--matches",
            matches,
            "--workers",
            2,
            "--home",
            "home",
            "--unconfined",
        ),
    ).stderr


def test_a_bot_that_kills_its_worker_when_it_is_losing_is_suspended_and_nobody_it_met_is(
    dogana: Dogana, tmp_path: Path
) -> None:
    for name, program in (
        ("killer", LOSING.replace("{marker!r}", repr(str(tmp_path / "marker")))),
        ("mybot", PLAIN),
        ("other", PLAIN + "# other\n"),
    ):
        (tmp_path / f"{name}.py").write_text(program)
        dogana("ladder", "submit", f"{name}.py", "--name", name, "--author", name, "--home", "home")
    said = ""
    for _ in range(20):  # who meets whom is drawn
        said += run(dogana, 4)
        if "killer v1 is suspended" in said:
            break
    entries = {
        entry["bot"]: entry
        for entry in json.loads(dogana("ladder", "top", "cargo_noir", "--home", "home", "--json").stdout)
    }
    assert entries["killer"]["status"].startswith("suspended: ")
    assert entries["killer"]["matches"] > 0  # it is not excused for that
    assert "killer v1 is suspended: workers died in its matches against house bots" in said
    assert "and is given up: the worker was killed by SIGKILL" in said
    run(dogana, 4)
    for name in ("mybot", "other"):
        assert "suspended" not in entries[name]["status"]
    with sqlite3.connect(tmp_path / "home" / "ladder.db") as database:
        [(unfinished,)] = database.execute(
            "select count(*) from matches where id not in (select match from results)"
            " and id not in (select match from voids group by match having count(*) >= 3)"
        ).fetchall()
    assert unfinished == 0
    assert "agree to the last digit" in dogana("ladder", "recompute", "--home", "home").stdout
