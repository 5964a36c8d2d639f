"""Bots that attack a real ladder, whose bots run in a sandbox: none gains anything, and the ladder's facts stay right."""

from __future__ import annotations

import json
import re
import shutil
import stat
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ladder.operation.home import Home
from tests.commands.conftest import ROOT, Dogana, dogana
from tests.ladder.archived import find_logs, logged, recorded
from tests.sandbox.conftest import needs_bubblewrap

__all__ = ["dogana"]
pytestmark = [needs_bubblewrap, pytest.mark.ladders]

BEGINNING = """
import os, signal, sys
from dogana.sdk import play
HOME, CHECKOUT, gained = {home!r}, {checkout!r}, []
def gains(what, action):
    try:
        if action():
            gained.append(what)
    except OSError:
        pass
def put(path):
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    os.write(descriptor, b"forged")
    os.close(descriptor)
    return True
"""
END = """
waiting = [attack]
def choose(decision):
    if waiting:
        waiting.pop()(decision)
        print("gained:", gained, flush=True)
    return 0
play(choose)
"""
ATTACKERS = {
    # Looks for the seed, and for records of others, in the ladder's folder and everywhere else.
    "seeker": """
def attack(decision):
    gains("the database", lambda: open(HOME + "/ladder.db", "rb").read())
    for folder in ("records", "versions", "positions"):
        gains(folder, lambda: os.listdir(HOME + "/" + folder))
    for top in ("/bot", "/work", "/home", "/root", "/run", "/tmp", "/var", "/dev", "/mnt", "/srv", "/opt"):
        for folder, _, files in os.walk(top):
            found = [name for name in files if name.endswith((".db", ".jsonl", ".jsonl.zst", ".jsonl.part"))]
            gains(folder, lambda: found and not folder.startswith(CHECKOUT))  # which a bot may read, wherever it is
""",
    # Steals the token of a rival from its environment, and speaks in its place.
    "thief": """
def attack(decision):
    own = os.environ["DOGANA_TOKEN"].encode()
    for pid in os.listdir("/proc"):
        if pid.isdigit():
            for name in ("environ", "cmdline"):
                gains(pid, lambda: any(
                    b"DOGANA_TOKEN" in word and own not in word
                    for word in open("/proc/" + pid + "/" + name, "rb").read().split(b"\\0")
                ))
""",
    # Writes records of matches: the one that it plays, and others.
    "forger": """
def attack(decision):
    name = decision.match.match_id
    for path in (HOME + "/records/" + name + ".jsonl", HOME + "/records/forged.jsonl", HOME + "/ladder.db", HOME + "/archive.db"):
        gains(path, lambda: put(path))
    gains("a link", lambda: os.symlink("/bot", HOME) is None)
""",
    # Stops and kills worker and referee, whatever their numbers are.
    "killer": """
def attack(decision):
    own = set(map(int, os.listdir("/proc/self/task")))
    for sign in (signal.SIGSTOP, signal.SIGKILL):
        for pid in range(2, 10_000):
            if pid not in own:
                gains(pid, lambda: os.kill(pid, sign) is None)
        gains("its parent", lambda: os.getppid() != 1 and os.kill(os.getppid(), sign) is None)
""",
    # Overwrites the programs of rivals, and its own.
    "vandal": """
def attack(decision):
    for folder in (HOME + "/versions", "/bot", os.path.dirname(sys.modules["dogana"].__path__[0])):
        gains(folder, lambda: put(folder + "/bot.py"))
        gains(folder, lambda: [put(folder + "/" + name + "/bot.py") for name in os.listdir(folder)])
""",
    # Remembers what was drawn in one match of a block, for the other rotations, which have the same seed.
    "rememberer": """
def attack(decision):
    for folder in ("/tmp", "/var/tmp", "/dev/shm", "/bot", "/run", "/dev", "/", "/etc"):
        gains("memory in " + folder, lambda: open(folder + "/drawn").read())
        try:
            put(folder + "/drawn")
        except OSError:
            pass
""",
}


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for sockets, with a short name."""
    folder = Path(tempfile.mkdtemp(prefix="dogana-hostile-", dir="/tmp"))
    monkeypatch.setenv("TMPDIR", str(folder))
    yield folder
    shutil.rmtree(folder)


def test_bots_that_attack_their_ladder_gain_nothing(dogana: Dogana, tmp_path: Path, short: Path) -> None:
    home = Home(tmp_path / "home")
    for name, text in ATTACKERS.items():
        (tmp_path / "bot.py").write_text(BEGINNING.format(home=str(home.folder), checkout=str(ROOT)) + text + END)
        if name == "seeker":
            program = tmp_path / "bot.tar"
            with tarfile.open(program, "w") as archive:
                archive.add(tmp_path / "bot.py", "bot.py", filter=with_setuid_bit)
        else:
            program = tmp_path / "bot.py"
        dogana("ladder", "submit", program, "--name", name, "--author", name, "--home", "home")
    before = {path: path.stat() for path in home.versions.rglob("*")}
    assert [path for path, about in before.items() if about.st_mode & (stat.S_ISUID | stat.S_ISGID)] == []
    arguments = ["--game", "cargo_noir", "--matches", 6, "--workers", 2, "--option", "last_turn=2", "--home", "home"]
    said = dogana("ladder", "run", *arguments).stderr
    for name in ATTACKERS:
        assert f"{name} v1 qualifies for cargo_noir" in said
    voids = [line for line in said.splitlines() if "is void" in line]
    assert [line for line in voids if "others used the processors" not in line] == []  # other tests may do that
    assert "died" not in said
    assert {path: path.stat() for path in home.versions.rglob("*")}.keys() == before.keys()
    assert {path: path.stat().st_mtime_ns for path in before} == {path: one.st_mtime_ns for path, one in before.items()}

    gained = [
        found
        for match_id in logged(home)
        for log in find_logs(home, match_id).values()
        for found in re.findall("^gained: .*$", log.decode(), re.M)
    ]
    assert len(gained) >= 2 * len(ATTACKERS)
    if ROOT.is_relative_to("/tmp"):  # noqa: S108 - the folder in which a box has the checkout is then in the /tmp of that box
        assert not (ROOT / "bot.py").exists()
        gained = [line.replace(repr(str(ROOT)), "") for line in gained]
    assert set(gained) == {"gained: []"}
    assert "agree to the last digit" in dogana("ladder", "recompute", "--home", "home").stdout
    printed = json.loads(dogana("ladder", "matches", "--json", "--home", "home").stdout)
    assert {match_id for match_id in recorded(home) if "qualify" not in match_id} == set(
        re.findall(r'"([0-9a-f]{12,})"', json.dumps(printed))
    )
    assert list(short.iterdir()) == []


def with_setuid_bit(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.mode = 0o6755
    return entry
