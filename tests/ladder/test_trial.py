"""Who is to blame for workers that died: a version is tried among house bots, and nobody is for having met a culprit."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from ladder.archive.recompute import compare
from ladder.facts.schema import MAX_VOIDS
from ladder.facts.standings import SCHEDULED, Status, statuses
from ladder.facts.store import Store
from ladder.intake.submission import submit
from ladder.model.condition import Condition, agree
from ladder.model.match import HOUSE, Match, Version
from ladder.model.trial import MAX_DEATHS, TRIAL_MATCHES, Trial
from ladder.operation.home import Home
from ladder.play.running import RunPlan
from referee.match.clock import TimeControl
from referee.match.result import Result
from tests.ladder.made import CONDITION, GAME
from tests.ladder.runs import run
from tests.ladder.test_pool import PLAIN, WORKER
from tests.referee.test_processes import STARVED, neighbours

pytestmark = pytest.mark.ladders

__all__ = ["neighbours"]


def version(number: int, author: str = "") -> Version:
    return Version(number, f"bot{number}", author or f"author{number}", 1, f"hash{number}", ("./bot",), ("toy",), None)


GREEDY = version(1, HOUSE)
KILLER, VICTIM = version(2), version(3)
CAUSE = Match("cause", 1, Condition(1, "toy", {}, "60+0.5/10"), (VICTIM, GREEDY, KILLER), 77)


def held(trial: Trial, dies: Any) -> list[Match]:
    """Hold a trial; `dies` says whether a worker dies in a match."""
    played = []
    for match in trial.matches():
        played.append(match)
        trial.settle(worker_died=dies(match))
    return played


def test_each_suspect_plays_among_house_bots_in_every_seat_and_first_in_that_of_the_cause() -> None:
    trial = Trial(CAUSE, GREEDY, [])
    assert trial.suspects == [VICTIM, KILLER]
    played = held(trial, lambda match: False)
    assert len({match.match_id for match in played}) == len(played) == 3 * TRIAL_MATCHES
    assert [match.seats for match in played[:TRIAL_MATCHES]] == [(GREEDY,) * 3] * TRIAL_MATCHES
    for party, first in ((VICTIM, CAUSE.seats.index(VICTIM)), (KILLER, CAUSE.seats.index(KILLER))):
        own = [match for match in played if party in match.seats]
        assert len(own) == TRIAL_MATCHES
        assert own[0].seats.index(party) == first
        assert {match.seats.index(party) for match in own} == {0, 1, 2}
        assert all(set(match.seats) == {party, GREEDY} and match.block is None for match in own)


def test_no_match_of_a_trial_is_played_from_the_seed_of_the_block_whose_other_matches_are_still_open() -> None:
    seeds = [match.seed for match in held(Trial(CAUSE, GREEDY, []), lambda match: False)]
    assert CAUSE.seed not in seeds
    assert len(set(seeds)) == len(seeds)


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
    for match in islice(trial.matches(), MAX_DEATHS):
        assert set(match.seats) == {GREEDY}
        assert not trial.machine_is_at_fault
        trial.settle(worker_died=True)
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


def played(home: Home, matches: int) -> str:
    """Run a ladder; return what it said."""
    with Store(home.database, create=False) as store:
        steps = run(home, store, RunPlan([agree(GAME, {}, None)], matches, 2, TimeControl.parse(CONDITION.clock)))
        return "\n".join(step.remark.text for step in steps if step.remark.text)


def test_a_bot_that_kills_its_worker_when_it_is_losing_is_suspended_and_nobody_it_met_is(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    killer = LOSING.replace("{marker!r}", repr(str(tmp_path / "marker")))
    for name, program in (("killer", killer), ("mybot", PLAIN)):
        (tmp_path / f"{name}.py").write_text(program)
        submit(home, tmp_path / f"{name}.py", name, name)
    said = ""
    for _ in range(20):  # who meets whom is drawn
        said += played(home, 1)
        if "killer v1 is suspended" in said:
            break
    assert "killer v1 is suspended: workers died in its matches against house bots" in said
    assert "and is given up: the worker was killed by SIGKILL" in said
    played(home, 1)
    with Store(home.database, create=False) as store:
        found = {standing.version.bot: standing for standing in statuses(store, CONDITION)}
        assert found["killer"].status is Status.SUSPENDED
        assert found["killer"].tally.matches > 0  # it is not excused for that
        assert found["mybot"].status in SCHEDULED
        assert store.schedule.unfinished(CONDITION) == []
        assert compare(home, store).problems == []


FRAMING = (
    "import os, signal, time\nfrom pathlib import Path\nfrom dogana.sdk import play\n"
    "from referee.sandbox.system import descendants\n"
    "def parent(pid):\n    return int(Path(f'/proc/{pid}/stat').read_text().rsplit(')', 1)[1].split()[1])\n"
    "ladder = parent(parent(os.getppid()))\n"
    "def plays_rival(pid):\n"
    "    try:\n        return b'rival.py' in Path(f'/proc/{pid}/cmdline').read_bytes()\n"
    "    except OSError:\n        return False\n"
    "def choose(decision):\n"
    "    here = Path({marker!r})\n"
    "    here.touch()\n"
    "    waited, killed = time.monotonic(), len(here.read_text())\n"
    "    while killed < 3 and time.monotonic() - waited < 15:\n"
    "        for worker in Path(f'/proc/{ladder}/task/{ladder}/children').read_text().split():\n"
    "            if any(map(plays_rival, descendants(int(worker)))):\n"
    "                os.kill(int(worker), signal.SIGKILL)\n"
    "                waited, killed = time.monotonic(), killed + 1\n"
    "                here.write_text('x' * killed)\n"
    "        time.sleep(0.01)\n"
    "    here.write_text('xxx')\n"
    "    return 0\n"
    "play(choose)\n"
)
"""Kills every worker that a rival's agent is seen below, for as long as it is asked."""
RIVAL = (
    "import os, time\nfrom dogana.sdk import play\n"
    "def choose(decision):\n"
    "    while not os.path.exists({marker!r}):\n"
    "        time.sleep(0.01)\n"
    "    return 0\n"
    "play(choose)\n"
)


def test_a_bot_that_kills_the_worker_of_a_rival_that_qualifies_beside_it_does_not_keep_it_out(tmp_path: Path) -> None:
    home, marker = Home(tmp_path / "home"), tmp_path / "marker"
    for name, program in (("framer", FRAMING), ("rival", RIVAL)):
        (tmp_path / f"{name}.py").write_text(program.replace("{marker!r}", repr(str(marker))))
        submit(home, tmp_path / f"{name}.py", name, name)
    plan = RunPlan([agree(GAME, {}, 2)], 1, 2, TimeControl.parse("60+0/60"))
    with Store(home.database, create=False) as store:
        said = [step.remark.text for step in run(home, store, plan)]
    assert sorted(filter(None, said)) == ["framer v1 qualifies for cargo_noir", "rival v1 qualifies for cargo_noir"]
    assert marker.read_text() == "xxx"  # it did what it could


def test_a_run_on_a_machine_that_is_too_busy_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = Home(tmp_path / "home")
    (tmp_path / "mybot.py").write_text(PLAIN)
    submit(home, tmp_path / "mybot.py", "mybot", "me")
    monkeypatch.setattr(Result, "lagged", False)
    assert "the referee was late" not in played(home, 1)
    monkeypatch.setattr(Result, "lagged", True)
    assert "matches the referee was late for more than" in played(home, 1)


@pytest.mark.usefixtures("neighbours")
def test_a_bot_that_starts_only_on_an_idle_machine_is_given_other_attempts_but_not_for_ever(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    (tmp_path / "mybot.py").write_text(STARVED)
    version, _ = submit(home, tmp_path / "mybot.py", "mybot", "me")
    plan = RunPlan([agree(GAME, {}, 2)], 1, 2, TimeControl.parse(CONDITION.clock), join_seconds=5)
    with Store(home.database, create=False) as store:
        condition = store.roster.condition(CONDITION.game, CONDITION.options, CONDITION.clock)
        store.admission.qualify(version.id, condition, passed=True, reason="")
        said = [step.remark.text for step in run(home, store, plan)]
        again = [text for text in said if "is void and is played again: seat" in text]
        assert all("did not join within 5 s; others used the processors" in text for text in again)
        assert len(again) == 2 * (MAX_VOIDS - 1)
        outcomes = [seat.outcome for match in store.history.all_played() for seat in match.seats]
        assert sorted(outcome.value for outcome in outcomes) == ["played", "played", "start", "start"]
        assert store.schedule.open_matches() == {}
