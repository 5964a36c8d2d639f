"""Random playouts of games of TAG, the Java framework for modern board games: `TAG=FOLDER python -m bench.tag`.

FOLDER is a checkout of https://github.com/GAIGResearch/TabletopGames that you have built as its README says (with its libraries in
`target/dependency`, unless `target/TAG.jar` has them). TAG is under the GPL: nothing of it is here, and nothing of it is built here.
`JAVA_HOME` says which Java runs it (21 or newer).
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import NamedTuple

from rich.console import Console

from bench import rules
from bench.matches import ROOT
from bench.report import Report
from referee.registry import games

SEATS = {"PowerGrid": 5, "Catan": 4, "PuertoRico": 5, "Dominion": 4, "ColtExpress": 5, "Wonders7": 5}
"""Their games, with as many players as ours have at most, or they."""
AHEAD_OF = ("PowerGrid", "Catan")
"""Those that our compiled rules are to outdo; beside the others there is no aim."""
SECONDS = 1.0
HOW = "needs Java 21 or newer, and TAG built: `bench/tag.py` says how"


class CannotMeasure(Exception):
    """TAG cannot be run; the text says why, and what to do."""


class Rates(NamedTuple):
    """What a game of TAG does in a second of processor time."""

    from_start: float
    """Decisions, where each playout sets its game up."""
    by_copy: float
    """Decisions, where each playout begins with a copy of one start."""
    copies: float


def measure(environment: Mapping[str, str], seconds: float = SECONDS) -> dict[str, Rates]:
    """Measure the games of TAG.

    Args:
        environment: where `TAG` and `JAVA_HOME` are looked for.
        seconds: of processor time that each is measured, three times, once its rate gets no better.

    Raises:
        CannotMeasure: if there is no TAG, or it does not run.
    """
    folder = Path(environment.get("TAG", ""))
    if not environment.get("TAG") or not (folder / "target").is_dir():
        raise CannotMeasure(HOW)
    java = Path(environment["JAVA_HOME"], "bin", "java") if environment.get("JAVA_HOME") else Path("java")
    classes = os.pathsep.join(str(folder / "target" / part) for part in ("TAG.jar", "classes", "dependency/*"))
    tables = [f"{name}:{seats}" for name, seats in SEATS.items()]
    source = ROOT / "bench" / "Playouts.java"
    command = [str(java), "-XX:+UseSerialGC", "-cp", classes, str(source), str(seconds), *tables]
    try:
        ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    except OSError as error:
        raise CannotMeasure(f"{HOW} ({java}: {error.strerror})") from error
    except subprocess.CalledProcessError as error:
        said = error.stderr.strip().splitlines() or [f"it ended with {error.returncode}"]
        raise CannotMeasure(f"{HOW} ({said[0]})") from error
    return read(ended.stdout)


def read(printed: str) -> dict[str, Rates]:
    """Read what `Playouts.java` has printed among what TAG prints itself."""
    lines = [line.split() for line in printed.splitlines()]
    return {line[0]: Rates(*map(float, line[1:])) for line in lines if len(line) == 4 and line[0] in SEATS}


def add_rows(report: Report) -> None:
    """Measure the games of TAG, and beside each the slowest of ours, with compiled rules."""
    report.section("Compiled rules beside TAG (Java), largest tables")
    try:
        theirs = measure(os.environ)
        if why_not := rules.compile_copy():
            raise CannotMeasure(why_not)
    except CannotMeasure as error:
        for name in AHEAD_OF:
            report.absent(f"{rules.PLAYOUTS}, beside {name}", str(error), 1.0)
        return
    rounds = rules.measure_in(rules.COPY, 3)
    for what, number in ((rules.PLAYOUTS, 0), (rules.BY_COPY, 1), (rules.CLONES, 2)):
        ours = {game: median(one[what][game] for one in rounds) for game in games()}
        slowest = min(ours, key=lambda game: ours[game])
        for name, rates in theirs.items():
            aim = 1.0 if what == rules.PLAYOUTS and name in AHEAD_OF else None
            beside = f"{name}, {SEATS[name]} players {rates[number]:,.0f}"
            mine = f"{ours[slowest]:,.0f} (our slowest: {slowest})"
            report.ratio(f"{what}, beside {name}", mine, beside, ours[slowest] / rates[number], aim)


def main() -> None:
    """Print the rows."""
    report = Report()
    add_rows(report)
    console = Console()
    console.print(report.table())


if __name__ == "__main__":
    main()
