"""Tables that can be read at 80 columns."""

from __future__ import annotations

from collections.abc import Collection

from rich.box import SIMPLE_HEAD
from rich.table import Table

MIN_NUMBER = 6
"""A column of numbers is no narrower than this, though the words above it may stand in several lines."""


def table(*heads: str, numbers: Collection[str] = (), whole: Collection[str] = (), title: str | None = None) -> Table:
    """Return a table without borders; text that does not fit into its column is folded.

    Args:
        heads: what stands above the columns.
        numbers: those of the heads that stand above numbers, which are never folded.
        whole: those of the heads that stand above other things that are never folded.
        title: what stands above the table.
    """
    made = Table(box=SIMPLE_HEAD, pad_edge=False, padding=0, title=title, title_justify="left")
    for head in heads:
        made.add_column(
            head,
            justify="right" if head in numbers else "left",
            no_wrap=(head in numbers and " " not in head) or head in whole,
            min_width=MIN_NUMBER if head in numbers and " " in head else None,
            overflow="fold",
        )
    return made


def moment(iso: str) -> str:
    """Return a time of the ladder for a table: day and minute, in UTC."""
    return iso[:16].replace("T", " ")
