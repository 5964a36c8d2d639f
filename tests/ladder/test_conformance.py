"""`dogana check`: every step can be failed, by a bot that does just that wrong; good bots pass all."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import shutil
import subprocess
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import pytest

from ladder.commands import check as command
from ladder.conformance.exercises import exercises_for, run
from ladder.conformance.instructions import at_place, has_no_orphans, terminate
from ladder.conformance.matches import other_options
from ladder.conformance.package import take
from ladder.conformance.rehearsal import (
    CLOCK,
    JOIN_SECONDS,
    Course,
    Failed,
    Rehearsal,
    Skipped,
    Step,
    StepOutcome,
    Verdict,
    WaitingTimes,
)
from ladder.conformance.rehearsal_match import places
from ladder.conformance.scripts import STEPS, steps_for
from referee.live.matches.play import Command
from referee.registry import find, games, shipped_board
from referee.sandbox.box import Sandbox
from referee.sandbox.limits import ResourceLimits
from referee.sandbox.measures import build
from tests.ladder import double
from tests.sandbox import attackers
from tests.sandbox.conftest import needs_bubblewrap

pytestmark = pytest.mark.ladders
ROOT = Path(__file__).resolve().parents[2]
GAME = find("cargo_noir")
BRIEF = WaitingTimes(join=20.0, answer=1.0, end=2.0, idle=4.0)
"""Doubles that hang are not waited for as long as others; but they may be slow to start."""
AT_A_TIME = 3
PLAYS = "plays-cargo_noir-2"


@dataclass(frozen=True)
class Wrong:
    """What a double does wrong: the steps that it fails, and which are tried if these are not all."""

    fails: str
    tried: str = ""
    said: str = ""
    patience: WaitingTimes = BRIEF


SINS = {
    "start": {
        "never joins": Wrong("joins", said="nothing came within", patience=WaitingTimes(join=2.0)),
        "ends before joining": Wrong("joins", said="exited with status 3"),
        "sends no message": Wrong("joins", said="not a dogana.v1.AgentMessage"),
        "good, but slow": Wrong("joins", said="only after", patience=WaitingTimes(join_well=0.0)),
        "choose first": Wrong("join-first"),
        "other protocol": Wrong("protocol-number", said="protocol 2"),
        "wrong token": Wrong("token", said="another token"),
        "hasty": Wrong("silent-before-welcome", said="a Choose that nobody asked for"),
        "two streams": Wrong("one-stream", said="2 streams"),
        "never answers": Wrong("answers", said="nothing came"),
        "wrong number": Wrong("its-number", said="decision 2; number 1"),
        "cheats": Wrong("legal", said=r"decision 1: index (\d+) is not in the list of \1 legal actions"),
        "answers twice": Wrong("once", said="a Choose that nobody asked for"),
        "stops answering": Wrong("goes-on"),
        "fails at the end": Wrong("exits", said="status 1"),
        "stays": Wrong("exits", said="still ran"),
    },
    "answers": {
        "never alone": Wrong("single-action-cargo_noir", said="exited with status 1"),
        "short lists": Wrong("largest-list-cargo_noir"),
        "small messages": Wrong("largest-observation-cargo_noir"),
        "ignores illegal": Wrong(
            "again-after-illegal-cargo_noir otherwise-after-illegal", said="nothing came .* instead of answering"
        ),
        "ignores malformed": Wrong("again-after-malformed"),
        "answers what is stale": Wrong("stale withdrawn-timeout"),
        "answers withdrawals": Wrong("stale withdrawn-timeout"),
        "is never overtaken": Wrong("withdrawn-overtaken"),
        "hopes": Wrong("two-decisions", patience=WaitingTimes(answer=1.0, quiet=2.0)),
        "answers deadlines": Wrong("new-deadline"),
        "hates what is dropped": Wrong("dropped", said="exited with status 1"),
    },
    "time": {
        "slow with a small budget": Wrong("small-budget", said="the fastest of 5 answers took"),
        "slow with a low bank": Wrong("low-bank"),
        "slow": Wrong("tight-clock", said="it was late 1 times"),
    },
    "compatibility": {
        "knows all messages": Wrong("unknown-message"),
        "knows all of Welcome": Wrong("unknown-in-welcome"),
        "knows all of Decide": Wrong("unknown-in-decide"),
        "knows all of the observation": Wrong("unknown-in-observation"),
        "knows all values": Wrong("unknown-value"),
    },
    "end": {
        "wants the seed": Wrong("no-seed", said="exited with status 1"),
        "stays at the end of the stream": Wrong("stream-ends", said="still ran"),
        "stays when void": Wrong("void", said="still ran"),
        "stays when unavailable": Wrong("unavailable", said="still ran"),
        "stays when cut off": Wrong("socket-vanishes", said="still ran"),
        "stays when refused": Wrong("refused", said="still ran"),
    },
    "matches": {
        "only for three": Wrong(
            PLAYS, said="put out .crash.: .*; the last it wrote: ValueError: I did not think of this$"
        ),
        "other options": Wrong("options-cargo_noir"),
        "not for long": Wrong("long-match-cargo_noir side-by-side"),
        "cheats once": Wrong("no-strikes", tried=f"{PLAYS} no-strikes", said="1 strikes; the first in plays"),
    },
    "manners": {
        "tells its token": Wrong("token-stays"),
        "leaves a child": Wrong("no-leftovers", said="1 of its processes"),
        "impatient": Wrong("idle", said="exited with status 4"),
    },
}


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    return build(ResourceLimits())


def of(
    folder: Path, run: list[str], sandbox: Sandbox, patience: WaitingTimes = BRIEF, records: Path | None = None
) -> Course:
    return Course(Command(run, {}, folder, JOIN_SECONDS, sandbox), [GAME], patience, records or folder)


def course_of(sin: str, tmp_path: Path, sandbox: Sandbox, patience: WaitingTimes = BRIEF) -> Course:
    folder = tmp_path / sin.replace(" ", "-")
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    shutil.copy(double.__file__, folder / "bot.py")
    return of(folder, ["python", "bot.py", sin], sandbox, patience)


async def verdicts(course: Course, wanted: Collection[str] | None) -> dict[str, Verdict]:
    found: dict[str, Verdict] = {}

    def note(verdict: Verdict) -> None:
        assert verdict.step.name not in found
        found[verdict.step.name] = verdict

    await run(course, note, wanted)
    return found


def failed(found: dict[str, Verdict]) -> set[str]:
    return {name for name, verdict in found.items() if verdict.outcome is StepOutcome.FAILED}


def why(found: dict[str, Verdict]) -> str:
    return "\n".join(
        f"{name}: {one.said}\n{one.transcript}\n{one.wrote}" for name, one in found.items() if name in failed(found)
    )


@needs_bubblewrap
@pytest.mark.parametrize("heading", SINS)
def test_each_step_is_failed_by_a_bot_that_does_just_that_wrong(heading: str, tmp_path: Path, sandbox: Sandbox) -> None:
    slots = asyncio.Semaphore(AT_A_TIME)

    async def sins(sin: str, wrong: Wrong) -> str:
        async with slots:
            course = course_of(sin, tmp_path, sandbox, wrong.patience)
            found = await verdicts(course, (wrong.tried or wrong.fails).split())
        problem = "" if failed(found) == set(wrong.fails.split()) else f"{sin}: it failed {sorted(failed(found))}"
        first = found[wrong.fails.split()[0]]
        if not problem and not re.search(wrong.said, first.said):
            problem = f"{sin}: {first.said!r}"
        return f"{problem}\n{why(found)}" if problem else ""

    async def all_of_them() -> list[str]:
        return await asyncio.gather(*(sins(sin, wrong) for sin, wrong in SINS[heading].items()))

    problems = [problem for problem in asyncio.run(all_of_them()) if problem]
    assert not problems, "\n".join(problems)


@needs_bubblewrap
def test_the_repetition_of_a_refused_answer_is_reported(tmp_path: Path, sandbox: Sandbox) -> None:
    """It is no fault: who chooses legal actions only is never refused as illegal."""
    course = course_of("stubborn", tmp_path, sandbox)
    found = asyncio.run(verdicts(course, ["otherwise-after-illegal"]))["otherwise-after-illegal"]
    assert found.outcome is StepOutcome.REPORTED
    assert "the same 3 times" in found.said


def test_a_bot_that_has_ended_fails_the_step_that_looks_at_its_processes(tmp_path: Path) -> None:
    async def looks() -> None:
        course = Course(Command(["/bin/true"], {}, tmp_path), [GAME], BRIEF, tmp_path)
        async with contextlib.AsyncExitStack() as stack:
            rehearsal = Rehearsal(course, GAME, 2, stack)
            bot = await rehearsal.start()
            await bot.process.ended()
            await has_no_orphans(rehearsal)

    with pytest.raises(Failed, match="it had already ended"):
        asyncio.run(looks())


def test_a_bot_that_ends_just_before_it_is_told_to_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = subprocess.Popen(["/bin/true"])
    gone.wait()
    monkeypatch.setattr("ladder.conformance.instructions.processes_of", lambda _: [gone.pid])

    async def tells() -> str:
        course = Course(Command(["/bin/true"], {}, tmp_path), [GAME], BRIEF, tmp_path)
        async with contextlib.AsyncExitStack() as stack:
            rehearsal = Rehearsal(course, GAME, 2, stack)
            await (await rehearsal.start()).process.ended()
            return await terminate(rehearsal)

    assert "exited" in asyncio.run(tells())


def test_every_step_that_can_be_failed_has_a_double_that_fails_it() -> None:
    failable = {step.name.format(game=GAME.name, seats=2) for step in STEPS if step.fix}
    doubles = {name for sins in SINS.values() for wrong in sins.values() for name in wrong.fails.split()}
    elsewhere = {"files", "bot-toml", "program", "architecture", "runs"}
    assert failable == doubles | elsewhere


def test_every_step_is_judged_once() -> None:
    for chosen in ([GAME], list(games().values())):
        judged = [step.name for exercise in exercises_for(chosen) for step in exercise.steps]
        package = [step.name for step in STEPS if step.heading == "package"]
        assert sorted([*judged, *package]) == sorted(step.name for step in steps_for(chosen))


def test_there_are_more_than_forty_steps_each_with_a_way_to_mend_it_in_a_section_that_exists() -> None:
    assert len(STEPS) > 40
    for step in STEPS:
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*(-\{game\})?(-\{seats\})?", step.name)
        if step.fix:
            file, section = step.see
            assert re.search(rf"^#+ {re.escape(section)}$", (ROOT / file).read_text(), re.MULTILINE), step


@pytest.mark.parametrize(
    ("name", "content", "manifest", "step", "said"),
    [
        ("bot", b"#!/bin/sh\n", "games = [", "bot-toml", "is not TOML"),
        ("bot", b"#!/bin/sh\n", 'games = ["poker"]', "bot-toml", "not 'poker'"),
        ("bot", b"#!/bin/sh\n", 'run = ["./other"]', "program", "no file ./other"),
        ("readme", b"", "", "program", "not executable"),
        ("bot", b"\x7fELF\x01\x02" + bytes(12) + b"\x00\x08", "", "architecture", "another kind of processor"),
        (
            "bot",
            b"\x7fELF\x01\x02" + bytes(12) + b"\x00\x08",
            'run = ["env", "X=1", "./bot"]',
            "architecture",
            "./bot is for another kind of processor",
        ),
        ("bot", None, "", "files", "leads out"),
    ],
    ids=["no TOML", "unknown game", "no program", "not executable", "other processor", "env", "link out"],
)
def test_a_bot_that_a_ladder_refuses_fails_at_the_step_that_says_why(
    tmp_path: Path, name: str, content: bytes | None, manifest: str, step: str, said: str
) -> None:
    bot = tmp_path / "bot"
    bot.mkdir()
    if content is None:
        (bot / name).symlink_to("/etc/hostname")
    else:
        (bot / name).write_bytes(content)
        (bot / name).chmod(0o755 if content else 0o644)
    (bot / "bot.toml").write_text(manifest)
    found: dict[str, Verdict] = {}
    assert take(bot, tmp_path / "versions", (), lambda verdict: found.update({verdict.step.name: verdict})) is None
    assert failed(found) == {step}
    assert said in found[step].said
    assert set(found) == {one.name for one in STEPS if one.heading == "package"}


@needs_bubblewrap
def test_a_program_that_cannot_run_in_the_sandbox_fails_there(tmp_path: Path, sandbox: Sandbox) -> None:
    program = tmp_path / "bot"
    program.write_text("#!/bin/sh\nexec ./what-is-not-here\n")
    program.chmod(0o755)
    taken = take(program, tmp_path / "versions", (), lambda verdict: None)
    assert taken is not None
    artefact, folder = taken
    tmp_path.chmod(0o711)
    found = asyncio.run(verdicts(of(folder, list(artefact.run), sandbox, records=tmp_path), ["runs"]))
    assert failed(found) == {"runs"}
    assert "status 127" in found["runs"].said
    assert "what-is-not-here" in found["runs"].said


@needs_bubblewrap
def test_what_bots_may_do_in_several_ways_is_reported(tmp_path: Path, sandbox: Sandbox) -> None:
    reported = {
        "ignores SIGTERM": ("sigterm", "it runs on"),
        "wants protocol 1": ("newer-protocol", "it exited with status 1"),
        "shouts": ("output", "the log drops"),
        "large": ("memory", "more than half"),
        "good": ("same-digest", "not the same"),
    }
    tried = {"memory": f"{PLAYS} memory", "output": "token-stays output"}

    async def tells(sin: str) -> Verdict:
        name = reported[sin][0]
        return (await verdicts(course_of(sin, tmp_path, sandbox), tried.get(name, name).split()))[name]

    async def all_of_them() -> list[Verdict]:
        return await asyncio.gather(*map(tells, reported))

    for verdict, (name, said) in zip(asyncio.run(all_of_them()), reported.values(), strict=True):
        if verdict.outcome is StepOutcome.SKIPPED and name == "memory":
            continue  # this machine does not tell
        assert (verdict.outcome, verdict.step.name) == (StepOutcome.REPORTED, name)
        assert said in verdict.said


@needs_bubblewrap
def test_bots_that_attack_the_referee_fail_a_step_and_stop_no_check(
    tmp_path: Path, sandbox: Sandbox, capfd: pytest.CaptureFixture[str]
) -> None:
    attacks = {"resets": "joins", "guesses_tokens": "token", "sends_a_giant": "answers", "sends_too_much": "its-number"}

    async def fails(attack: str) -> set[str]:
        folder = tmp_path / attack
        folder.mkdir()
        folder.chmod(0o755)
        shutil.copy(attackers.__file__, folder)
        course = of(folder, ["python", "attackers.py", attack, "instead"], sandbox, WaitingTimes(join=5.0, answer=1.0))
        return failed(await verdicts(course, ["joins"]))

    async def all_of_them() -> list[set[str]]:
        return await asyncio.gather(*map(fails, attacks))

    assert asyncio.run(all_of_them()) == [{name} for name in attacks.values()]
    assert not capfd.readouterr().err


@needs_bubblewrap
def test_nothing_else_is_tried_of_a_bot_that_does_not_play(tmp_path: Path, sandbox: Sandbox) -> None:
    course = course_of("ends before joining", tmp_path, sandbox)
    found = asyncio.run(verdicts(course, None))
    assert failed(found) == {"joins"}
    assert found[PLAYS].outcome is StepOutcome.SKIPPED
    assert "has to join" in found[PLAYS].said


KIT = ROOT / "agents" / "kits" / "python"
REPEATED_ACTIONS = """
import random
from dogana.sdk import play

def choose(decision):
    return [random.choice(decision.actions)] * 2

play(choose, labels=True)
"""


@needs_bubblewrap
def test_the_kit_passes_all_steps_and_the_command_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "WaitingTimes", lambda: WaitingTimes(idle=0.5))
    command.check(KIT, GAME.name, as_json=True)
    report = json.loads(capsys.readouterr().out)
    assert report["failed"] == 0
    assert [step["step"] for step in report["steps"] if step["outcome"] == "skipped"] == ["architecture", "dropped"]
    assert [step["step"] for step in report["steps"]] == [step.name for step in steps_for([GAME])]
    assert report["passed"] + report["reported"] + 2 == len(report["steps"])


def scripted() -> list[str]:
    """The steps that need no match of the whole length."""
    return [
        step.name
        for step in steps_for([GAME])
        if step.heading not in ("package", "matches")
        and step.name not in ("memory", "processor", "idle", "tight-clock")
    ]


@needs_bubblewrap
def test_a_bot_that_plays_whole_turns_and_asks_for_labels_passes(tmp_path: Path, sandbox: Sandbox) -> None:
    (tmp_path / "bot.py").write_text(REPEATED_ACTIONS)
    tmp_path.chmod(0o755)
    found = asyncio.run(verdicts(of(tmp_path, ["python", "bot.py"], sandbox), scripted()))
    assert not failed(found), why(found)
    assert found["dropped"].outcome is StepOutcome.PASSED
    assert found["labels"].said == "it asks for them"
    assert re.fullmatch(r"\d+ legal actions, 2 seats", found["largest-list-cargo_noir"].said)


def test_the_places_of_every_game_are_what_they_are_called() -> None:
    for game in games().values():
        found = places(game, CLOCK)
        for place, least in ((found.single_action, 1), (found.largest_list, 10), (found.largest_observation, 100)):
            assert place is not None
            assert place.count >= least
            actions = place.state.legal_actions(place.seat)
            assert actions
            if place is found.single_action:
                assert len(actions) == 1
            elif place is found.largest_list:
                assert len(actions) == place.count


def test_a_place_that_no_match_of_a_game_comes_to_skips_its_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ladder.conformance.rehearsal.places", lambda game, control: places(game, control, ()))

    async def go_there(name: str) -> None:
        course = Course(Command(["/bin/true"], {}, tmp_path), [GAME], BRIEF, tmp_path)
        async with contextlib.AsyncExitStack() as stack:
            await at_place(name)(Rehearsal(course, GAME, 2, stack))

    for name in ("single_action", "largest_list", "largest_observation"):
        with pytest.raises(Skipped, match="comes to such a place"):
            asyncio.run(go_there(name))


def test_every_game_has_another_option_that_goes_with_its_smallest_table() -> None:
    for game in games().values():
        options = other_options(game, game.seat_counts[0])
        assert options
        game.setup(game.seat_counts[0], options, shipped_board(game))


def page() -> list[str]:
    """The table of the steps as `docs/check.md` has it."""
    lines: list[str] = []
    for heading in dict.fromkeys(step.heading for step in STEPS):
        lines += [f"### {heading}", "", "| step | expected | fix |", "|---|---|---|"]
        for step in STEPS:
            if step.heading == heading:
                name, expects = (
                    text.replace("{game}", "GAME").replace("{seats}", "SEATS") for text in (step.name, step.expects)
                )
                lines.append(f"| `{name}` | {expects} | {mending(step)} |")
        lines.append("")
    return lines


def mending(step: Step) -> str:
    if not step.fix:
        return "*reported*"
    page, section = step.see
    file = page.removeprefix("docs/")
    anchor = section.lower().replace("`", "").replace(".", "").replace(" ", "-")
    return f"{step.fix} ([{section.replace('`', '')}]({file}#{anchor}))"


def test_the_page_lists_the_steps_as_they_are() -> None:
    text = (ROOT / "docs" / "check.md").read_text()
    wanted = "\n".join(page()).rstrip()
    assert text.endswith(wanted + "\n"), f"write this at the end of docs/check.md:\n{wanted}"
