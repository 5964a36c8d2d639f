"""Tables that are readable at 80 columns."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from rich.box import SIMPLE_HEAD
from rich.table import Table

from ladder.questions.rows import ConditionTerms, StandingRow
from referee.registry import games


def table(
    *heads: str,
    numbers: Collection[str] = (),
    whole: Collection[str] = (),
    widths: Mapping[str, int] | None = None,
    title: str | None = None,
) -> Table:
    """Return a table without borders; text that does not fit into its column is wrapped.

    Args:
        heads: the heads of the columns.
        numbers: the heads of the columns that contain numbers; these are never wrapped.
        whole: the heads of other columns that are never wrapped.
        widths: the fixed widths of some columns, in characters.
        title: the title of the table.
    """
    made = Table(box=SIMPLE_HEAD, pad_edge=False, padding=0, title=title, title_justify="left")
    fixed = widths or {}
    for head in heads:
        made.add_column(
            head,
            justify="right" if head in numbers else "left",
            no_wrap=head not in fixed and (head in numbers or head in whole),
            width=fixed.get(head),
            overflow="fold",  # Rich would cut long words
        )
    return made


def title_of(condition: ConditionTerms) -> str:
    """Return the title of a condition's table. A server with another version of Dogana may have games that are unknown here."""
    known = games().get(condition.game)
    return f"{condition.game if known is None else known.title} ({condition.terms})"


def status_of(standing: StandingRow) -> str:
    """Return the status of a version in a word."""
    return standing.status or ("at home" if standing.at_home else "active")


def moment(iso: str) -> str:
    """Return a time of the ladder for a table, as date, hour and minute in UTC."""
    return iso[:16].replace("T", " ")
