"""A visit to a page, and its answer. Neither depends on HTTP, so that the pages can also be written to files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ladder.operation.errors import LadderError
from ladder.questions.caller import Caller
from ladder.questions.desk import Desk
from ladder.tables.hosts import Isolation
from ladder.tables.open_tables import TABLES

Listed = TypeVar("Listed")


class BadQuestion(LadderError):
    """A part of the address is invalid; the text lists the valid values."""


class TooSlow(LadderError):
    """The rest of a request did not arrive in time."""


class Gone(LadderError):
    """The client has disconnected, so nobody would read an answer."""


class NoPage(LadderError):
    """There is no such page."""


@dataclass(frozen=True, slots=True)
class Site:
    """The settings that all pages of a ladder share."""

    takes_bots: bool = False
    """True if authors can log in and submit here."""
    has_tables: bool = False
    """True if people can play here."""
    tables: int = TABLES
    """The maximum number of matches that people may play at a time."""
    tables_per_address: int | None = None
    """The maximum number of matches that people from one address may play at a time; None if there is no such limit."""
    isolation: Isolation | None = None
    """The sandbox of authors' bots at tables; None if people play against house bots alone."""
    is_static: bool = False
    """True if the pages are files, without queries and changes."""
    address: str = ""
    """The gRPC address for bots at home and spectators, as `HOST:PORT`; empty if there is none."""
    url: str = ""
    """The URL of the pages for commands, as in `--server`; empty if it is not known."""
    public_url: str = ""
    """The public URL of the pages, without a slash at the end; empty if it is not known."""
    proxy: str = ""
    """The address of a proxy in front of the pages, which is trusted to name the client and its use of TLS; empty without one."""
    host_names: frozenset[str] = frozenset()
    """The names with dots by which browsers may reach the pages, in addition to that of `public_url`; `*` for any (`hosts.py`)."""
    cors_origins: frozenset[str] = frozenset()
    """The other sites whose pages may read the answers of the API, such as https://charts.example; `*` for any."""
    matches: frozenset[str] | None = None
    """The matches that have a page; None for all."""
    rows: int = 100
    """The maximum number of versions on a page."""
    listed: int = 25
    """The maximum number of matches on a page."""


@dataclass(frozen=True, slots=True)
class Visit:
    """A request for a page: the visitor, the path and the query."""

    desk: Desk
    """The desk of the ladder, for this visitor."""
    caller: Caller
    """The visitor, as the caller of questions."""
    site: Site
    path: str = ""
    """The path of the page, without slashes at its ends: `games/yunnan`."""
    names: Mapping[str, str] = field(default_factory=dict)
    """The names in the path: `{"game": "yunnan"}`."""
    query: Mapping[str, str] = field(default_factory=dict)
    """The parameters after the question mark."""

    def number(self, name: str, default: int, most: int) -> int:
        """Return a number from 1 to `most` in the query; `default` if it is missing.

        Raises:
            BadQuestion: if it is not a number, or too large.
        """
        text = self.query.get(name, "")
        if not text:
            return default
        # `int` also reads digits of other alphabets.
        if not (text.isascii() and text.isdigit() and len(text) <= 9 and 1 <= int(text) <= most):
            raise BadQuestion(f"{name} is a number from 1 to {most}")
        return int(text)

    def paged(self, rows: Sequence[Listed], what: str) -> tuple[Sequence[Listed], int, int]:
        """Return the rows of the page that the query names, its number, and the number of pages; a file contains all rows.

        Raises:
            BadQuestion: if the page in the query is not a valid number.
            NoPage: if there is no such page of `what`.
        """
        number, size = self.number("page", 1, 1_000_000), self.site.rows
        pages = 1 if self.site.is_static else max(1, -(-len(rows) // size))
        if number > pages:
            raise NoPage(f"there is no page {number} of {what}; the last one is {pages}")
        return rows if self.site.is_static else rows[(number - 1) * size : number * size], number, pages

    def choice(self, name: str, choices: Mapping[str, object]) -> str:
        """Return the choice in the query, or the first of the choices if the query contains none.

        Raises:
            BadQuestion: if it is not one of the choices.
        """
        word = self.query.get(name, "") or next(iter(choices))
        if word not in choices:
            raise BadQuestion(f"{name} is one of: {', '.join(choices)}")
        return word


@dataclass(frozen=True, slots=True)
class Page:
    """The response of a page: a template with its values, the HTTP status and further headers."""

    template: str
    """The file in `templates/`."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """The values for the template."""
    status: int = 200
    """The HTTP status."""
    headers: Mapping[str, str] = field(default_factory=dict)


PageFunction = Callable[[Visit], Page]
