"""docs/running_a_course.md works: its commands run as they stand, one after the other, and its units are units.

Only the host, the ports and the place of the program are others here. What is for root, and a running systemd, is not tried.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.ladder.rated_ladder import rated_ladder
from tests.patience import patient, wait_until
from tests.ports import kept_ports
from tests.sandbox.conftest import needs_bubblewrap

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "running_a_course.md").read_text()
UNITS = dict(re.findall(r"`/etc/systemd/system/([\w.-]+)`:\n\n```ini\n(.*?)```", PAGE, re.DOTALL))
PROGRAM = "/opt/dogana/bin/dogana"
SECONDS = patient(180)
BOT = "import random\nfrom dogana.sdk import play\nplay(lambda decision: random.randrange(decision.action_count))\n"


class Machine:
    """A home, the program in the path, and two ports."""

    def __init__(self, folder: Path, port: int, pages: int) -> None:
        self.home = folder / "srv"
        self.student = folder / "student"
        self.home.mkdir()
        self.student.mkdir()
        programs = folder / "bin"
        programs.mkdir()
        self.program = programs / "dogana"
        self.program.write_text(f'#!/bin/sh\nexec {sys.executable} -m ladder "$@"\n')
        self.program.chmod(0o755)
        path = f"{programs}:{os.environ['PATH']}"
        self.environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "XDG_CONFIG_HOME": str(folder)}
        self.environment.pop("DOGANA_LADDER", None)
        self.port, self.pages = port, pages

    def here(self, text: str) -> str:
        """A text of the page with the host, the port and the program of this machine."""
        return (
            text.replace("ladder.example", "localhost")
            .replace("7800", str(self.port))
            .replace("8443", str(self.pages))
            .replace(PROGRAM, str(self.program))
        )

    def run(self, script: str, folder: Path | None = None, status: int | None = 0) -> subprocess.CompletedProcess[str]:
        ended = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", self.here(script)],  # noqa: S607
            cwd=folder or self.home,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert "Traceback" not in ended.stderr
        assert status is None or ended.returncode == status, (script, ended.stdout, ended.stderr)
        return ended


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    with kept_ports(2) as (port, pages):
        yield Machine(tmp_path, port, pages)


def commands_of(unit: str) -> list[str]:
    """What a unit starts, as a shell has it: systemd takes `%%` for `%` and `$$` for `$`."""
    found = re.findall(r"^ExecStart=((?:.*\\\n)*.*)$", UNITS[unit], re.MULTILINE)
    return [command.replace("%%", "%").replace("$$", "$") for command in found]


@contextmanager
def service(machine: Machine) -> Iterator[str]:
    """The server as its unit starts it; yields where its figures are. It ends as systemd ends it."""
    [command] = commands_of("dogana.service")
    words = shlex.split(machine.here(command).replace("9100", "0").replace("\\\n", " "))
    journal = machine.home / "journal"
    with (
        journal.open("wb") as errors,
        subprocess.Popen(words, cwd=machine.home, env=machine.environment, stderr=errors) as process,
    ):
        try:
            wait_until(lambda: "/metrics" in journal.read_text() or process.poll() is not None, 180)
            assert process.poll() is None, journal.read_text()
            [figures] = re.findall(r"http://\S+/metrics", journal.read_text())
            yield figures
            process.send_signal(signal.SIGTERM)
            process.wait(SECONDS)
            assert f"SuccessExitStatus={process.returncode}\n" in UNITS["dogana.service"]
        finally:
            process.kill()


@pytest.mark.ladders
@needs_bubblewrap
@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is missing: apt-get install openssl")
def test_every_command_of_the_page_runs_from_the_first_week_to_the_last(machine: Machine) -> None:
    certificate, csv, tokens, *more, end, last = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    assert "OK" in machine.run(certificate).stdout
    with service(machine) as figures:
        machine.run(csv)
        (machine.home / "students.csv").write_text((machine.home / "students.csv").read_text().replace("\n", "\r\n"))
        machine.run(tokens)
        given = {path.name: path.read_text() for path in (machine.home / "tokens").iterdir()}
        assert given.keys() == {"ann", "bob"}
        machine.run(tokens)  # late enrolments: the others keep theirs
        assert {path.name: path.read_text() for path in (machine.home / "tokens").iterdir()} == given
        assert all(path.stat().st_mode & 0o077 == 0 for path in (machine.home / "tokens").iterdir())

        (machine.student / "mybot.py").write_text(BOT)
        (machine.student / "token").write_text(given["ann"])
        shutil.copy(machine.home / "ca.pem", machine.student)
        exports = ""
        for line in "".join(re.findall(r"```sh student\n(.*?)```", PAGE, re.DOTALL)).splitlines():
            if line.startswith("export"):
                exports += f"{line}\n"
            else:  # a bot has a log when it has played
                wait_until(lambda: machine.run(exports + line, machine.student, None).returncode == 0, 180)  # noqa: B023
        wait_until(lambda: "match_ended" in (machine.home / "journal").read_text(), 180)

        printed = urllib.request.urlopen(figures, timeout=patient(60)).read().decode()  # noqa: S310 our own address
        named = set(re.findall(r"dogana_ladder_\w+", PAGE))
        assert len(named) >= 4
        assert {name for name in named if f"{name}{{" not in printed and f"TYPE {name} " not in printed} == set()

        for unit in ("dogana-backup.service", "dogana-prune.service"):
            for command in commands_of(unit):
                machine.run(command)
        assert len(list((machine.home / "backups").glob("ladder-20*.tar"))) == 1
        for script in more:
            machine.run(script)
        assert "ann" in machine.run("dogana ladder author list --home restored").stdout
        token = (machine.home / "tokens" / "ann").read_text()
        assert token != given["ann"]
        assert "revoked" in machine.run(f"{exports}dogana ladder retire mybot", machine.student, 1).stderr
        machine.run(end)
        (machine.student / "token").write_text(token)
        login = "dogana login https://ladder.example:8443 --ca ca.pem --token-file token"
        assert "revoked" in machine.run(login, machine.student, 1).stderr
    if shutil.which("jq"):
        [journal_filter] = re.findall(r"jq -cR '.*?'", PAGE)
        beside = "echo Started Dogana ladder.; cat journal; echo Stopped Dogana ladder."
        assert all('"level":"' in line for line in machine.run(f"({beside}) | {journal_filter}").stdout.splitlines())
        everything = machine.run(f"({beside}) | {journal_filter.replace('!=', '==')}").stdout
        assert '"event":"match_ended"' in everything
    assert "agree to the last digit" in machine.run(last).stdout
    assert (machine.home / "final" / "matches.csv").read_text().count("\n") > 1


@pytest.mark.long
@needs_bubblewrap
def test_the_final_runs_among_the_best_of_the_ladder_and_as_its_unit_runs_it(tmp_path: Path, machine: Machine) -> None:
    tmp_path.chmod(0o755)
    machine.home.chmod(0o755)
    rated_ladder(machine.home / "ladder")
    [final] = re.findall(r"```sh final\n(.*?)```", PAGE, re.DOTALL)
    short = final.replace("--blocks 10", "--blocks 1 -o last_turn=2")  # with ten, it takes minutes
    made, *rest = short.partition("dogana tournament run")
    machine.run(made)
    [command] = commands_of("dogana-tournament.service")
    said = machine.run(command).stdout
    assert re.search(r"round1-table1-\S+: \d (ann|bob)-v1, \d (ann|bob)-v1", said)  # the best has a bye
    assert re.search(r"round2-table1-\S+: .*cem-v2", said)
    said = machine.run("".join(rest)).stdout
    assert re.search(r"holds  4 matches\n(cem|ann|bob)-v\d wins", said)
    assert "The final" in (machine.home / "cup-pages" / "index.html").read_text()
    assert "ConditionPathExists=!/srv/dogana/cup/result.json" in UNITS["dogana-tournament.service"]
    assert (machine.home / "cup" / "result.json").exists()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="units need systemd: apt-get install systemd")
def test_the_units_of_the_page_are_units(tmp_path: Path) -> None:
    assert len(UNITS) == 6
    for name, text in UNITS.items():
        (tmp_path / name).write_text(text.replace(PROGRAM, "/bin/true"))
    ended = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *(str(tmp_path / name) for name in UNITS)],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
