"""The table of `make bench`: each figure, the figure beside it, their ratio, the aim, and whether the aim is met."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rich.table import Table

from referee.sandbox.system import processors

COLUMNS = ("what", "ours", "beside it", "ratio", "aim", "")
BUSY_LOAD = 1.0
"""The maximum load of a quiet machine; if the load is higher at the start, the page warns about its figures."""


class Row(NamedTuple):
    """A row of the table; fields that do not apply are empty."""

    what: str
    ours: str
    beside: str = ""
    ratio: str = ""
    aim: str = ""
    verdict: str = ""
    """`OK`, `SHORT`, or empty without an aim."""


class Report:
    """The rows of the table, in sections.

    Attributes:
        quick: True if everything is measured only once, to check that it can be measured.
        sections: the rows, by the title of their section.
        judged: the number of rows that have an aim and were measured.
        short: the titles of the rows that miss their aim.
        missing: the titles of the rows with an aim that could not be measured, and the names of the steps that failed.
    """

    def __init__(self, *, quick: bool = False) -> None:
        """Begin without rows."""
        self.quick = quick
        self.sections: dict[str, list[Row]] = {}
        self.judged = 0
        self.short: list[str] = []
        self.missing: list[str] = []

    def rounds(self, usual: int) -> int:
        """Return the usual number of rounds, or one if the report is quick."""
        return 1 if self.quick else usual

    def section(self, title: str) -> None:
        """Begin a section, to which all rows that follow belong."""
        self.sections.setdefault(title, [])

    def _add(self, row: Row) -> None:
        if not self.sections:
            self.section("")
        list(self.sections.values())[-1].append(row)

    def figure(self, what: str, ours: str) -> None:
        """Add a row without a comparison."""
        self._add(Row(what, ours))

    def absent(self, what: str, why: str, least: float | None = None, *, most: float | None = None) -> None:
        """Add a row that could not be measured, with the reason and the remedy."""
        aim = _aim(least, most)
        self._add(Row(what, f"not measured: {why}", aim=aim))
        if aim:
            self.missing.append(what)

    def ratio(
        self, what: str, ours: str, other: str, ratio: float, least: float | None = None, *, most: float | None = None
    ) -> None:
        """Add a row with a ratio; if the row has an aim, its verdict is OK or SHORT."""
        aim = _aim(least, most)
        is_met = (least is None or ratio >= least) and (most is None or ratio <= most)
        self.judged += bool(aim)
        if not is_met:
            self.short.append(what)
        verdict = "" if not aim else "OK" if is_met else "SHORT"
        self._add(Row(what, ours, other, f"{ratio:.2f}", aim, verdict))

    def summary(self) -> str:
        """Return a line with the number of rows that miss their aim, and the number of rows that could not be measured."""
        said = ["all that was measured meets its aim"]
        if self.short:
            said = [f"short of their aim: {len(self.short)} of {self.judged} rows"]
        if self.missing:
            said.append(f"not measured: {len(self.missing)}")
        return "; ".join(said)

    def table(self) -> Table:
        """Return the table for a terminal."""
        table = Table(*COLUMNS)
        for title, rows in self.sections.items():
            table.add_section()
            table.add_row(f"[bold]{title}")
            for row in rows:
                table.add_row(*row)
        return table


def _aim(least: float | None, most: float | None) -> str:
    bounds = ((">=", least), ("<=", most))
    return " and ".join(f"{sign} {bound:g}" for sign, bound in bounds if bound is not None)


class Circumstances(NamedTuple):
    """The time and place of a measurement."""

    day: str
    commit: str
    """The short hash of the commit, followed by `-changed` if there were uncommitted changes."""
    machine: str
    compiled: bool
    """True if matches and ladders were played with compiled rules, as in an installed wheel."""
    load_before: float
    """The mean number of running processes in the minute before the measurement, as counted by Linux."""
    load_after: float
    minutes: float
    """The duration of the whole measurement."""


def machine() -> str:
    """Describe this machine: processors, system and Python."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    model = next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine()
    )
    system = f"{platform.system()} {platform.release()}"
    return f"{processors()} processors ({model}), {system}, Python {platform.python_version()}"


def page(report: Report, seen: Circumstances) -> str:
    """Return the table as a page in Markdown, which warns if the machine was busy or everything was measured once."""
    lines = [
        "# Speed in figures",
        "",
        "Written by `make bench`; do not edit. [Performance](performance.md) explains every figure.",
        f"Measured on {seen.day} at commit {seen.commit}; it took {seen.minutes:.0f} min.",
        f"Matches and ladders have {'compiled' if seen.compiled else 'pure'} rules.",
        f"Machine: {seen.machine}; load {seen.load_before:.1f} at the start and {seen.load_after:.1f} at the end.",
        "",
    ]
    if report.quick:
        lines += ["> **Everything was measured once only (`--quick`): no figure on this page is worth anything.**", ""]
    if seen.load_before > BUSY_LOAD:
        lines += [
            f"> **The machine was busy: its load was {seen.load_before:.1f} before anything was measured.**",
            "> Rates, times and scaling on this page are worth little; measure again on a quiet machine.",
            "",
        ]
    lines += [f"{report.summary()}.".capitalize(), "", *_line(COLUMNS), *_line(["---"] * len(COLUMNS))]
    for title, rows in report.sections.items():
        lines += _line([f"**{title}**", *[""] * (len(COLUMNS) - 1)])
        for row in rows:
            lines += _line(row)
    return "\n".join([*lines, ""])


def _line(cells: Sequence[str]) -> list[str]:
    # A pipe would end the cell, and a line break would end the row.
    return ["| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"]
