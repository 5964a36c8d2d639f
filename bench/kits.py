"""Measure the kits of all languages, and write the results to docs/kits.md: `make kits`, or `python -m bench.kits`.

A language whose tools are missing has no row; the page lists these tools.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench.matches import ROOT
from bench.sections import fill
from dogana.v1 import referee_pb2 as pb
from referee.commands.new import BUILDS, write_kit
from referee.live.matches.conversation import conversation
from referee.live.matches.play import Command
from referee.sandbox.system import processors

PAGE = ROOT / "docs" / "kits.md"
ROUND_TRIPS = 1000
"""The number of measured round trips; as many unmeasured ones before them warm up the runtime."""

WAIT_SECONDS = 60.0
"""The time allowed for a bot to join, to answer or to exit."""


class Kit(NamedTuple):
    """The facts about a kit that the measurements and the tests need."""

    submitted: tuple[str, ...]
    """The files to submit, according to its README.md."""
    bot: str
    """The file with the bot."""
    sdk: str
    """The file or folder with the connection to the referee; for Python it is outside the kit."""
    needs: dict[str, str]
    """The programs that build it, and the command that installs each."""


KITS = {
    "python": Kit(("bot.toml", "bot.py"), "bot.py", str(ROOT / "dogana" / "sdk.py"), {}),
    "typescript": Kit(("bot.toml", "bot.js"), "bot.ts", "dogana.ts", {"npm": "apt-get install nodejs npm"}),
    "go": Kit(
        ("bot.toml", "bot"), "bot.go", "dogana/dogana.go", {"go": "install Go 1.21 or newer from https://go.dev/dl"}
    ),
    "rust": Kit(
        ("bot.toml", "bot"),
        "src/main.rs",
        "src/dogana.rs",
        {"cargo": "install Rust 1.88 or newer from https://rustup.rs", "cc": "apt-get install gcc libc6-dev"},
    ),
    "java": Kit(
        ("bot.toml", "bot.jar"),
        "src/main/java/Bot.java",
        "src/main/java/Dogana.java",
        {"javac": "apt-get install default-jdk-headless", "mvn": "apt-get install maven"},
    ),
    "cpp": Kit(
        ("bot.toml", "bot"),
        "bot.cpp",
        "dogana.cpp",
        {
            "g++": "apt-get install g++",
            "cmake": "apt-get install cmake",
            "pkg-config": "apt-get install pkg-config",
            "protoc": "apt-get install protobuf-compiler",
            "grpc_cpp_plugin": "apt-get install protobuf-compiler-grpc libgrpc++-dev libprotobuf-dev",
        },
    ),
}


def missing(language: str) -> str:
    """Return the commands to install the missing build tools of a kit; empty if none is missing."""
    return " && ".join(command for program, command in KITS[language].needs.items() if shutil.which(program) is None)


def environment(home: Path | None = None) -> dict[str, str]:
    """Return the environment variables for builds and bots; a separate home folder hides earlier downloads."""
    own = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    own["CARGO_TARGET_DIR"] = str(ROOT / "build" / "kits" / "cargo")
    if home is not None:
        own |= {
            "HOME": str(home),
            # Rust's compilers stay where they are, because the kit does not download them.
            "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup")),
            "CARGO_TARGET_DIR": str(home / "target"),
            "MAVEN_OPTS": f"-Duser.home={home}",  # Java does not read HOME
        }
        # Each of these would bypass HOME and lead to earlier downloads.
        for name in ("CARGO_HOME", "GOPATH", "GOCACHE", "GOMODCACHE", "XDG_CACHE_HOME"):
            own.pop(name, None)
    return own


def make(language: str, folder: Path, home: Path | None = None) -> float:
    """Write a kit into a folder and build it; return the duration of the build, in seconds.

    Raises:
        AssertionError: if it cannot be built, with the output of the build.
    """
    write_kit(language, folder)
    begin = time.monotonic()
    ended = subprocess.run(
        ["/bin/sh", "-c", BUILDS[language]],
        cwd=folder,
        env=environment(home),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout
    return time.monotonic() - begin


def command(folder: Path) -> list[str]:
    """Return the command in the bot.toml of a folder."""
    return list(tomllib.loads((folder / "bot.toml").read_text())["run"])


async def start(folder: Path, address: str, token: str = "token", ca: str = "") -> asyncio.subprocess.Process:  # noqa: S107
    """Start the bot in a folder as a referee would, with all its output in one pipe.

    `ca` is the file of a certificate authority; empty for a connection without TLS.
    """
    return await asyncio.create_subprocess_exec(
        *command(folder),
        cwd=folder,
        env={**environment(), "DOGANA_ADDRESS": address, "DOGANA_TOKEN": token, "DOGANA_CA": ca},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )


def archive(language: str, folder: Path, target: Path) -> Path:
    """Pack the files of a built kit into an archive for submission, as its README.md describes."""
    with tarfile.open(target, "w:gz") as packed:
        for name in KITS[language].submitted:
            packed.add(folder / name, name)
    return target


def question(number: int, count: int = 10) -> pb.RefereeMessage:
    """Return a question with `count` actions, in a game that no bot knows."""
    decide = pb.Decide(decision=number, action_count=count, clock=pb.Clock(bank_ms=60_000, budget_ms=10_000))
    decide.observation.type_url = "type.googleapis.com/dogana.games.unheard_of.v1.Observation"
    decide.actions.type_url = "type.googleapis.com/dogana.games.unheard_of.v1.ActionList"
    return pb.RefereeMessage(decide=decide)


WELCOME = pb.RefereeMessage(welcome=pb.Welcome(protocol=1, match_id="1", game="unheard_of", seats=2))
OVER = pb.RefereeMessage(game_over=pb.GameOver(seats=[pb.SeatResult(seat=0, rank=1), pb.SeatResult(seat=1, rank=2)]))


class Figures(NamedTuple):
    """The figures of one kit."""

    lines: tuple[int, int]
    """The number of lines in the bot, and in the connection."""
    cold_seconds: float
    """The time taken by a build without earlier downloads."""
    warm_seconds: float
    """The time taken by a second build, which uses the downloads of the first."""
    start_seconds: float
    """The time from the start of the process to its first answer."""
    round_trip_seconds: float
    """The median time from a question to its answer."""
    memory_bytes: int
    """The peak memory of the process (VmHWM)."""
    tasks: int
    """The number of threads of the process at the end."""
    submitted_bytes: int
    """The size of the archive that is submitted."""


def measure(language: str) -> Figures:
    """Build a kit twice, and let it play against a script."""
    with tempfile.TemporaryDirectory(prefix="kits-") as scratch:
        folder, home = Path(scratch) / "cold", Path(scratch) / "home"
        home.mkdir()
        cold = make(language, folder, home)
        warm = make(language, Path(scratch) / "warm", home)
        kit = KITS[language]
        sizes = archive(language, folder, Path(scratch) / "bot.tar.gz").stat().st_size
        started, trip, memory, tasks = asyncio.run(_play(folder))
        lines = (_lines(folder / kit.bot), _lines(folder / kit.sdk))
        subprocess.run(["chmod", "-R", "u+w", scratch], check=True)  # noqa: S607 Go's cache is read-only
        return Figures(lines, cold, warm, started, trip, memory, tasks, sizes)


def _lines(path: Path) -> int:
    files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
    return sum(len(file.read_text().splitlines()) for file in files)


async def _play(folder: Path) -> tuple[float, float, int, int]:
    """Return a bot's seconds to the first answer, its median round trip, its peak memory and its number of tasks."""
    answered: list[float] = []
    trips: list[float] = []
    begin = time.monotonic()
    async with conversation(Command(command(folder), environment(), folder)) as talk:
        await talk.hear(WAIT_SECONDS)
        await talk.say(WELCOME)
        for number in range(1, 2 * ROUND_TRIPS + 1):
            sent = time.monotonic()
            await talk.say(question(number))
            assert await talk.hear(WAIT_SECONDS), talk.process.log.text()
            answered.append(time.monotonic())
            trips.append(answered[-1] - sent)
        text = Path(f"/proc/{talk.process.agent}/status").read_text()  # while it is still running
        status = {line.partition(":")[0]: line.partition(":")[2] for line in text.splitlines()}
        await talk.say(OVER)
        assert await talk.exit(WAIT_SECONDS) == "exited with status 0", talk.process.log.text()
    memory = int(status["VmHWM"].split()[0]) * 1024
    return answered[0] - begin, median(trips[ROUND_TRIPS:]), memory, int(status["Threads"])


def table(figures: dict[str, Figures], skipped: dict[str, str]) -> str:
    """Return the table with the day, the machine, and the languages that were not measured."""
    rows = [
        f"| {language} | {one.lines[0]} + {one.lines[1]} | {one.cold_seconds:.0f} s | {one.warm_seconds:.0f} s "
        f"| {one.start_seconds:.2f} s | {one.round_trip_seconds * 1000:.2f} ms | {one.memory_bytes / 2**20:.0f} MB "
        f"| {one.tasks} | {one.submitted_bytes / 1000:.0f} kB |"
        for language, one in figures.items()
    ]
    unmeasured = [f"- {language} was not measured: {install}" for language, install in skipped.items()]
    measured = f"{datetime.now(UTC):%Y-%m-%d} with Python {platform.python_version()} on {processors()} cores, load {os.getloadavg()[0]:.1f}"
    return "\n".join(
        [
            f"Measured on {measured}.",
            "",
            "| language | lines of bot and connection | build, cold | build, warm | start to first answer | round trip | memory | tasks"
            " | to submit |",
            "|---|---|---|---|---|---|---|---|---|",
            *rows,
            *(["", *unmeasured] if unmeasured else []),
        ]
    )


def main() -> None:
    """Measure the kits that can be built here, and write the page."""
    parser = argparse.ArgumentParser(description="Measure the kits and write the table of docs/kits.md.")
    parser.add_argument("languages", nargs="*", help="only print the figures of these")
    chosen = parser.parse_args().languages
    skipped = {language: missing(language) for language in KITS if missing(language)}
    figures = {}
    for language in chosen or KITS:
        if language not in skipped:
            figures[language] = measure(language)
            print(language, figures[language], flush=True)
    if not chosen:
        fill(PAGE, "make kits", {"": table(figures, skipped)})


if __name__ == "__main__":
    main()
