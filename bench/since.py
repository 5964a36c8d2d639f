"""The change in speed since an older commit: `make bench SINCE=COMMIT STEPS='wire million'`.

The same steps are measured at both commits in turn, each with its own bench and with pure rules.
Therefore, the older bench must know these steps.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from rich.table import Table

from bench.matches import CHECKOUT

ROUNDS = 3
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e[+-]\d+)?")


class CannotCompare(Exception):
    """The older commit cannot be measured; the text gives the reason."""


@contextmanager
def checkout(commit: str) -> Iterator[Path]:
    """Check out an older commit, and generate the code of its messages.

    Raises:
        CannotCompare: if there is no git or no such commit, or the commit cannot be prepared.
    """
    with tempfile.TemporaryDirectory(prefix="older-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # bots in a sandbox read the SDK there
        archive = folder / "older.tar"
        _run(["git", "-C", str(CHECKOUT), "archive", "--format=tar", "--output", str(archive), commit], folder)
        _run(["tar", "-xf", str(archive)], folder)
        _run([sys.executable, "proto/generate.py"], folder)
        yield folder


def _run(command: list[str], folder: Path) -> None:
    """Run a command in a checkout, with its sources.

    Raises:
        CannotCompare: if it fails, with the last line that it printed.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(folder / "agents")])}
    try:
        ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    except OSError as error:
        raise CannotCompare(f"{command[0]}: {error.strerror}") from error
    if ended.returncode != 0:
        *_, last = ["it printed nothing", *(ended.stderr or ended.stdout).strip().splitlines()]
        raise CannotCompare(f"`{' '.join(command[:4])} ...` fails in {folder}: {last}")


def measured(folder: Path, words: Sequence[str]) -> dict[str, str]:
    """Run the bench of a checkout; return the figures of its rows, by section and title."""
    with tempfile.TemporaryDirectory() as scratch:
        page = Path(scratch) / "bench.md"
        _run([sys.executable, "-m", "bench", *words, "--pure", "--page", str(page)], folder)
        return read(page.read_text())


def read(page: str) -> dict[str, str]:
    """Return the figures of a page by section and title."""
    found: dict[str, str] = {}
    section = ""
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| **"):
            section = cells[0].strip("*")
        elif line.startswith("| ") and section:
            found[f"{section}: {cells[0]}"] = cells[1]
    return found


def ratios(before: Sequence[str], now: Sequence[str]) -> list[float]:
    """Return the median ratio over the rounds for each number in a figure.

    The list is empty if the two figures of a round have different counts of numbers, or if an old number is 0.
    """
    rounds = [(_numbers(old), _numbers(new)) for old, new in zip(before, now, strict=True)]
    if any(len(old) != len(new) or 0.0 in old for old, new in rounds):
        return []
    each = ([one / other for one, other in zip(new, old, strict=True)] for old, new in rounds)
    return [median(ratio) for ratio in zip(*each, strict=True)]


def _numbers(figure: str) -> list[float]:
    return [float(number.replace(",", "")) for number in _NUMBER.findall(figure)]


def compare(commit: str, words: Sequence[str], rounds: int = ROUNDS) -> Table:
    """Measure with an older commit and with this one, in turn; return the table.

    Args:
        commit: the older commit.
        words: the steps, and other words on the bench's command line.
        rounds: the number of measurements of each commit.

    Raises:
        CannotCompare: if one of the commits cannot be measured.
    """
    with checkout(commit) as older:
        pairs = [(measured(older, words), measured(CHECKOUT, words)) for _ in range(rounds)]
    table = Table("what", commit, "now", "now for one before")
    for what in pairs[0][1]:
        before, now = ([figures.get(what, "") for figures in side] for side in zip(*pairs, strict=True))
        table.add_row(what, before[-1], now[-1], ", ".join(f"{ratio:.2f}" for ratio in ratios(before, now)))
    return table
