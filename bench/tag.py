"""Random playouts of games of TAG, the Java framework for modern board games: `TAG=FOLDER make bench`.

FOLDER is a checkout of https://github.com/GAIGResearch/TabletopGames that you have built as its README says (with its libraries in
`target/dependency`, unless `target/TAG.jar` has them). TAG is under the GPL: nothing of it is here, and nothing of it is built here.
`JAVA_HOME` says which Java runs it (21 or newer).
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

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
    """TAG cannot be run; the text gives the reason and the remedy."""


def measure(environment: Mapping[str, str], seconds: float = SECONDS) -> dict[str, float]:
    """Return the decisions of random playouts per second of processor time, by game of TAG.

    Args:
        environment: contains `TAG` and `JAVA_HOME`.
        seconds: the processor time of each of three measurements, after the rate has stopped improving.

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


def read(printed: str) -> dict[str, float]:
    """Read the lines of `Playouts.java` among the output of TAG itself."""
    lines = [line.split() for line in printed.splitlines()]
    return {line[0]: float(line[1]) for line in lines if len(line) == 2 and line[0] in SEATS}


def add_rows(report: Report) -> None:
    """Compare each game of TAG with the slowest of ours, with compiled rules."""
    report.section("Compiled rules beside TAG (Java), largest tables")
    try:
        theirs = measure(os.environ)
        if why_not := rules.compile_copy():
            raise CannotMeasure(why_not)
    except CannotMeasure as error:
        for name in AHEAD_OF:
            report.absent(f"{rules.PLAYOUTS}, beside {name}", str(error), 1.0)
        return
    rounds = rules.measure_in(rules.COPY, report.rounds(rules.ROUNDS))
    slowest, ours = min(((game, rules.rate(rounds, rules.PLAYOUTS, game)) for game in games()), key=lambda one: one[1])
    for name, other in theirs.items():
        beside = f"{name}, {SEATS[name]} players {other:,.0f}"
        aim = 1.0 if name in AHEAD_OF else None
        title = f"{rules.PLAYOUTS}, beside {name}"
        report.ratio(title, f"{ours:,.0f} (our slowest: {slowest})", beside, ours / other, aim)
