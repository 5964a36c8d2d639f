"""Strangers' programs that attack: each must gain nothing, and leave nothing behind. `hostile.py` has the table."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from house_bots.random_bot import RandomBot

from referee.live.matches.play import Command, House, MatchReport, Player, play_match
from referee.live.matches.server import RefereeServer
from referee.live.seats.command import LOG_HEAD_BYTES, LOG_TAIL_BYTES
from referee.match.result import Outcome
from referee.records.verify import verify
from referee.registry import find
from referee.sandbox.box import Sandbox
from referee.sandbox.system import descendants, set_adopting
from tests.cases import mostly_long
from tests.sandbox import attackers, attacks
from tests.sandbox.conftest import needs_bubblewrap
from tests.sandbox.hostile import AGENTS, ATTACKS, CALLS, OUT_OF_MEMORY, attack, clues, probed, program, table
from tests.tables import plan_of

pytestmark = needs_bubblewrap
ROOT = Path(__file__).resolve().parents[2]
AGENTS_OF_A_MATCH = 4


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """A folder for everything temporary, with a name that is short enough for sockets."""
    folder = Path(tempfile.mkdtemp(prefix="dogana-hostile-", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@contextlib.contextmanager
def unharmed(sandbox: Sandbox, place: Path) -> Iterator[None]:
    """Check that whatever happens meanwhile leaves no process, file, mount, control group, descriptor or object of the kernel."""
    temporary = place / "t"
    temporary.mkdir()
    before = tempfile.tempdir
    tempfile.tempdir = str(temporary)
    set_adopting(adopting=True)  # whoever has lost its parents becomes our child
    nice = os.getpriority(os.PRIO_PROCESS, 0)
    processes, mounts, files = set(descendants(os.getpid())), mounts_now(place), open_files()
    try:
        yield
        assert set(descendants(os.getpid())) <= processes
        assert [path.name for path in temporary.iterdir()] == []
        assert mounts_now(place) == mounts
        assert open_files() - files == set()
        assert os.getpriority(os.PRIO_PROCESS, 0) == nice
        folders = {one.folder for one in sandbox.groups.found.values()}
        assert [group for one in folders for group in one.glob(f"dogana-{os.getpid()}-*")] == []
        objects = [
            line.split() for path in Path("/proc/sysvipc").iterdir() for line in path.read_text().splitlines()[1:]
        ]
        objects += [line.replace(":", " ").split() for line in Path("/proc/key-users").read_text().splitlines()]
        assert [words for words in objects if any(word.isdigit() and int(word) // 10**8 == 19 for word in words)] == []
    finally:
        set_adopting(adopting=False)
        tempfile.tempdir = before
        shutil.rmtree(temporary)


def mounts_now(place: Path) -> list[str]:
    """What is mounted, but for where containers of others come and go meanwhile."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    points = [line.split()[4] for line in lines]
    return [
        line
        for line, point in zip(lines, points, strict=True)
        if point.startswith(str(place)) or not point.startswith(("/tmp/", "/var/", "/run/"))  # noqa: S108
    ]


def open_files() -> set[str]:
    """What this process has open that has a name or an end: gRPC keeps others for its next call."""
    found = set()
    for number in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):  # the one by which the folder is read
            found.add(str(number.readlink()))
    return {name for name in found if name.startswith("/") and not name.startswith("/dev/") and "/proc/" not in name}


# --- programs in a box ----------------------------------------------------------------------------------------


@functools.cache
def together(sandbox: Sandbox, place: Path) -> dict[str, dict[str, str]]:
    """All attacks that do not disturb each other, in one box."""
    with unharmed(sandbox, place), clues(place, sandbox) as known:
        return attack(sandbox, place, [name for name, one in ATTACKS.items() if not one.alone], known)


def held(name: str, found: dict[str, str]) -> None:
    """Check what came of the attempts of an attack."""
    allowed = set(ATTACKS[name].ends.split()) | ({"ENOMEM"} if name in OUT_OF_MEMORY else set())
    assert found, name
    assert {attempt: came for attempt, came in found.items() if came not in allowed} == {}


@pytest.mark.parametrize("name", [name for name, one in ATTACKS.items() if not one.alone])
def test_a_program_in_its_box_gains_nothing(name: str, sandbox: Sandbox, place: Path) -> None:
    held(name, together(sandbox, place)[name])


@pytest.mark.parametrize("name", [name for name, one in ATTACKS.items() if one.alone])
def test_a_program_in_its_box_harms_nobody(name: str, sandbox: Sandbox, place: Path) -> None:
    if name in OUT_OF_MEMORY and "memory" not in sandbox.groups.found:
        pytest.skip("no control group for memory can be made here: run as root, or see dogana doctor")
    for _ in range(2 if name == "memory_of_matches" else 1):
        with unharmed(sandbox, place), clues(place, sandbox) as known:
            held(name, attack(sandbox, place, [name], known)[name])


OURS = (
    "bwrap",
    "_signal.py",
    "ctypes.py",
    "enter.py",
    "marshal.py",
    "prlimit",
    "select.py",
    "sitecustomize.py",
    "supervise.py",
    "usercustomize.py",
)


def test_files_that_are_named_like_ours_are_not_run_outside_of_the_box(sandbox: Sandbox, place: Path) -> None:
    folder, fooled = place / "named", place / "fooled"
    for name in OURS:
        (program(folder / "bot", attacks) / name).write_text(f"#!/usr/bin/python3\nopen({str(fooled)!r}, 'w')\n")
        (folder / "bot" / name).chmod(0o755)
    os.mkfifo(folder / "bot" / "a pipe\n\x1b[2J")
    with contextlib.chdir(folder / "bot"), unharmed(sandbox, place), clues(place, sandbox) as known:
        held("inherited", attack(sandbox, folder, ["inherited"], known)["inherited"])
    assert not fooled.exists()


@functools.cache
def calls(sandbox: Sandbox) -> dict[str, str]:
    return probed(sandbox)


@pytest.mark.parametrize("name", CALLS)
def test_system_calls_of_attackers_are_refused(name: str, sandbox: Sandbox) -> None:
    beginnings = tuple(word.replace("_", " ") if word.endswith(":_") else word for word in CALLS[name].attempts.split())
    found = {attempt: said for attempt, said in calls(sandbox).items() if attempt.startswith(beginnings)}
    found = {attempt: said for attempt, said in found.items() if not attempt.endswith("family 1")}  # the seat's own
    assert found
    assert {attempt: said for attempt, said in found.items() if said in ("ok", "hangs")} == {}


def test_every_call_that_the_probe_tries_is_in_the_table(sandbox: Sandbox) -> None:
    words = tuple(
        word.replace("_", " ") if word.endswith(":_") else word
        for one in CALLS.values()
        for word in one.attempts.split()
    )
    harmless = ("clone", "memfd_create", "futex_waitv", "process_m")
    assert [attempt for attempt in calls(sandbox) if not attempt.startswith((*words, *harmless))] == []


# --- with one wall less, and as another user ------------------------------------------------------------------


def as_child(names: Sequence[str], place: Path, *before: str, filtered: bool = True) -> dict[str, Any]:
    """Run attacks from a process of its own, as `before` says, and return what it prints."""
    temporary = place / "child"
    temporary.mkdir()
    temporary.chmod(0o777)
    python = [*before, "/usr/bin/python3"] if before else [sys.executable]
    paths = [str(ROOT), str(ROOT / "agents"), *(path for path in sys.path if path.endswith("site-packages"))]
    try:
        ended = subprocess.run(
            [*python, "-m", "tests.sandbox.hostile", "filtered" if filtered else "unfiltered", *names],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": ":".join(paths), "TMPDIR": str(temporary), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        shutil.rmtree(temporary)
    assert ended.returncode == 0, ended.stderr
    said: dict[str, Any] = json.loads(ended.stdout)
    return said


WITHOUT_FILTER = {
    "priorities": {"cores"},  # of those that its control group lets it use
    "parents_of_namespaces": {"user of user of self", "user of user of 1"},  # whom they belong to: itself
    "terminals": {"other end"},  # of its own terminal
    "network": {"udp to 127.0.0.1", "udp to ::1", "netlink"},  # on a loopback of its own, where nobody listens
}


def test_without_the_filter_the_other_measures_hold(place: Path) -> None:
    """What the filter refuses first, the kernel then refuses for another reason; the listeners of the test hear nothing."""
    names = [
        name for name, one in ATTACKS.items() if not one.alone and name != "first_process"
    ]  # it would trace, and hang
    found = as_child(names, place, filtered=False)["found"]
    gained = {name: {label for label, came in found[name].items() if came.startswith("ok")} for name in names}
    assert {name: labels for name, labels in gained.items() if labels} == WITHOUT_FILTER


@functools.cache
def why_nobody() -> str:
    """Why the suite cannot be run as an ordinary user here; empty if it can."""
    if os.geteuid() != 0:
        return "this is an ordinary user already"
    if shutil.which("setpriv") is None:
        return "needs setpriv: apt-get install util-linux"
    version = f"import sys; sys.exit(sys.version_info[:2] != {tuple(sys.version_info[:2])})"
    program = f"{version}; open({__file__!r}).close()"
    tried = subprocess.run([*NOBODY, "/usr/bin/python3", "-c", program], capture_output=True, check=False)
    return (
        "" if tried.returncode == 0 else "needs /usr/bin/python3 of the same version, and a folder that others can read"
    )


NOBODY = ("setpriv", "--reuid", "1000", "--regid", "1000", "--clear-groups")


@pytest.fixture(scope="module")
def as_ordinary_user(place: Path) -> dict[str, Any]:
    if reason := why_nobody():
        pytest.skip(reason)
    return as_child([name for name in ATTACKS if name not in OUT_OF_MEMORY], place, *NOBODY)


@pytest.mark.parametrize("name", [name for name in ATTACKS if name not in OUT_OF_MEMORY])
def test_a_program_in_the_box_of_an_ordinary_user_gains_nothing(name: str, as_ordinary_user: dict[str, Any]) -> None:
    held(name, as_ordinary_user["found"][name])


def test_an_ordinary_user_is_told_which_limits_are_lost(as_ordinary_user: dict[str, Any]) -> None:
    assert any("memory" in loss for loss in as_ordinary_user["losses"])
    assert as_ordinary_user["nice"] == os.getpriority(
        os.PRIO_PROCESS, 0
    )  # a bot has slowed down all of its user that it can reach


# --- agents in a match ----------------------------------------------------------------------------------------


def matches() -> Iterator[tuple[str, ...]]:
    """Divide the agents into matches: those that wait for their time to run out play among themselves."""
    kinds: dict[tuple[bool, bool], list[str]] = {}
    for name, agent in AGENTS.items():
        kinds.setdefault((agent.outcome is Outcome.TIMEOUT, agent.outcome is Outcome.START), []).append(name)
    for names in kinds.values():
        for first in range(0, len(names), AGENTS_OF_A_MATCH):
            yield tuple(names[first : first + AGENTS_OF_A_MATCH])


MATCHES = {name: names for names in matches() for name in names}


@functools.cache
def played(sandbox: Sandbox, place: Path, names: Sequence[str]) -> MatchReport:
    """A match of these agents against each other and a house bot; its record must hold."""
    record = place / f"{names[0]}.jsonl"
    folder = program(place / "bot", attackers)

    async def match() -> MatchReport:
        async with RefereeServer() as server:
            players: list[Player] = [House(RandomBot)]
            for name in names:
                agent = AGENTS[name]
                argv = [sys.executable, "-I", "attackers.py", name, *([] if agent.joins else ["instead"])]
                players.append(Command(argv, {}, folder, 4 if agent.outcome is Outcome.START else 60, sandbox))
            clock = "1+0.1/0.5" if AGENTS[names[0]].outcome is Outcome.TIMEOUT else "60+0.5/10"
            plan = plan_of(seats=len(players), options={"last_turn": 3}, clock=clock)
            return await play_match(plan, players, server=server, record=record)

    with unharmed(sandbox, place):
        report = asyncio.run(match())
    assert verify(record, find, 1).last_hash == report.record_hash
    return report


@pytest.mark.parametrize("name", mostly_long(AGENTS, 4))
def test_an_agent_that_attacks_gains_nothing(name: str, sandbox: Sandbox, place: Path) -> None:
    agent = AGENTS[name]
    if agent.wall == "limits" and "memory" not in sandbox.groups.found:
        pytest.skip("no control group for memory can be made here: run as root, or see dogana doctor")
    report = played(sandbox, place, MATCHES[name])
    seat = MATCHES[name].index(name) + 1
    result = report.result.seats[seat]
    assert result.outcome is agent.outcome, (result.detail, report.logs[seat][-3000:])
    assert re.search(agent.detail, result.detail)
    assert re.search(agent.log, report.logs[seat], re.MULTILINE)
    assert len(report.logs[seat]) <= LOG_HEAD_BYTES + LOG_TAIL_BYTES + 100
    assert report.result.seats[0].outcome is Outcome.PLAYED  # the neighbour


# --- what the docs say of it ----------------------------------------------------------------------------------


def test_the_docs_have_the_table_and_explain_each_measure() -> None:
    text = (ROOT / "docs" / "security.md").read_text()
    rows = [line for line in text.splitlines() if line.startswith(("| `", "| behaviour", "|---|---|---|---|---|"))]
    assert rows == table(), "write this table into docs/security.md:\n" + "\n".join(table())
    measures = {one.wall for one in ATTACKS.values()} | {agent.wall for agent in AGENTS.values()} | {"system calls"}
    assert measures <= set(re.findall("^### (.*)$", text, re.MULTILINE))
    tests = {name for line in table() for name in re.findall("`(test_[a-z_]+)`", line)}
    assert tests <= set(globals())
