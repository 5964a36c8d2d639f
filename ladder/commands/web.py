"""`dogana ladder web`."""

from __future__ import annotations

import signal
from typing import Annotated

import typer

from ladder.commands.options import (
    PAGES_ADDRESS,
    CorsOption,
    HomeOption,
    HostNameOption,
    ProxyOption,
    TablesOption,
    TablesPerAddressOption,
)
from ladder.facts.store import Store
from ladder.http.requests.visit import Site
from ladder.operation import journal
from ladder.operation.home import Home
from ladder.tables.open_tables import TABLES, check_free
from referee.commands.output import out

INTERRUPTED = 128 + signal.SIGINT


def web(
    home: HomeOption,
    web: Annotated[
        str, typer.Option("--listen", help="The address for browsers.", metavar="HOST:PORT")
    ] = PAGES_ADDRESS,
    play: Annotated[
        bool,
        typer.Option(
            "--play", help="Let people play against house bots; their matches are stored in the ladder's folder."
        ),
    ] = False,
    tables: TablesOption = TABLES,
    tables_per_address: TablesPerAddressOption = None,
    proxy: ProxyOption = "",
    host_name: HostNameOption = None,
    cors_origin: CorsOption = None,
) -> None:
    """Show the pages of a ladder to browsers.

    They show standings, bots, matches, and running matches.

    They are read-only; with `dogana ladder serve --web`, authors can also submit there, and people can play. The ladder
    may be run or served meanwhile. With --play, people can play here, too, but only against house bots, and only one
    program at a time can offer this.

    Examples:

      dogana ladder web --home ./ladder

      dogana ladder web --home ./ladder --listen 0.0.0.0:8780

      dogana ladder web --home ./ladder --play
    """
    from ladder.http.publishing.serving import listening, serve_pages, url_of
    from ladder.http.requests.hosts import names_of, origins_of  # no other command needs a web server

    place = Home(home)
    with Store(place.database, create=False) as store:
        # A folder that is not a readable ladder is refused before anybody connects.
        store.results.count_of_matches()
    if play:
        # Later, only the people at the pages would see the error.
        check_free(place.tables)
    site = Site(
        has_tables=play,
        tables=tables,
        tables_per_address=tables_per_address,
        proxy=proxy,
        host_names=names_of([web], host_name or ()),
        cors_origins=origins_of(cors_origin or ()),
    )
    with listening(web, tables if play else 0) as bound:
        journal.begin(journal.Form.TEXT)
        out.print(f"the ladder is at {url_of(web, bound)} (Ctrl-C ends it)", soft_wrap=True)
        serve_pages(place, site, bound)
    raise typer.Exit(INTERRUPTED)  # uvicorn has handled the signal and returned
