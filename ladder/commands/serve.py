"""`dogana ladder serve`."""

from __future__ import annotations

import logging
import signal
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import replace
from enum import Enum
from pathlib import Path
from socket import gethostname
from typing import Annotated
from urllib.parse import urlsplit

import typer

from ladder.commands.options import (
    DEFAULT_WORKERS,
    PAGES_ADDRESS,
    SEARCH_SHARE,
    CorsOption,
    HomeOption,
    HostNameOption,
    JoinOption,
    ProxyOption,
    SameAuthorOption,
    SearchShareOption,
    TablesOption,
    TablesPerAddressOption,
    UnconfinedOption,
    WorkersOption,
)
from ladder.commands.run import chosen_limits, confine, isolation_report, working
from ladder.facts.store import Store
from ladder.http.requests.visit import Site
from ladder.intake.authors import Authors
from ladder.intake.upload import sweep_uploads
from ladder.model.condition import agree
from ladder.model.match import JOIN_SECONDS
from ladder.model.names import ORGANISER_NAME
from ladder.operation import journal
from ladder.operation.calls import reading
from ladder.operation.errors import LadderError
from ladder.operation.home import Home
from ladder.operation.journal import note
from ladder.operation.room import OPEN_BYTES, RESERVE_BYTES, is_for_want_of_room, lack_of_room, note_room
from ladder.operation.stopping import heeding_signals
from ladder.play.running import IDLE_SECONDS, RunPlan, only_run, run_locked
from ladder.service.at_home import AtHome
from ladder.service.beside import serving
from ladder.service.metrics import Metrics
from ladder.tables.hosts import Isolation
from ladder.tables.open_tables import TABLES
from referee.commands.options import (
    DEFAULT_CLOCK,
    ClockOption,
    CpusOption,
    MemoryOption,
    NoPonderingOption,
    RayOption,
    TasksOption,
    TlsCertificateOption,
    TlsKeyOption,
    read_clock,
    read_tls,
)
from referee.errors import DoganaError
from referee.files import in_words
from referee.live.matches.server import Listen
from referee.live.matches.worker import undisturbed
from referee.registry import find, games
from referee.version import installed_version

DEFAULT_ADDRESS = "127.0.0.1:7800"
HERE = {"127.0.0.1", "localhost", "[::1]"}
FULL_SECONDS = 5.0
"""The pause after a failed write to a full disk."""
INTERRUPTED = 128 + signal.SIGINT


class AtHomeMode(Enum):
    """The role of bots at home in a ladder."""

    GUESTS = "guests"
    RATED = "rated"
    NONE = "none"


@heeding_signals()
def serve(
    home: HomeOption,
    listen: Annotated[
        str, typer.Option(help="The address for bots at home and spectators, over gRPC.", metavar="HOST:PORT")
    ] = DEFAULT_ADDRESS,
    game: Annotated[
        list[str] | None,
        typer.Option(
            help="The game; may be given several times, and the games take turns.", metavar="GAME", show_default="all"
        ),
    ] = None,
    workers: WorkersOption = None,
    clock: ClockOption = DEFAULT_CLOCK,
    wait: JoinOption = JOIN_SECONDS,
    same_author: SameAuthorOption = False,
    search_share: SearchShareOption = SEARCH_SHARE,
    memory: MemoryOption = None,
    tasks: TasksOption = None,
    cpus: CpusOption = None,
    no_pondering: NoPonderingOption = False,
    unconfined: UnconfinedOption = False,
    at_home: Annotated[
        AtHomeMode,
        typer.Option(
            help="Whether authors may offer bots that run on their own machines: as guests (matches with them do not rate"
            " submitted bots), rated like all others, or not at all."
        ),
    ] = AtHomeMode.GUESTS,
    web: Annotated[
        str,
        typer.Option(
            help="The address for browsers and commands, over HTTP, or over HTTPS with --tls-cert.", metavar="HOST:PORT"
        ),
    ] = PAGES_ADDRESS,
    public_url: Annotated[
        str,
        typer.Option(help="The public URL of the pages, such as https://ladder.example.org.", metavar="URL"),
    ] = "",
    tables: TablesOption = TABLES,
    tables_per_address: TablesPerAddressOption = None,
    proxy: ProxyOption = "",
    host_name: HostNameOption = None,
    cors_origin: CorsOption = None,
    metrics: Annotated[
        str | None,
        typer.Option(help="Serve figures for Prometheus at this address, at /metrics over HTTP.", metavar="HOST:PORT"),
    ] = None,
    tls_cert: TlsCertificateOption = None,
    tls_key: TlsKeyOption = None,
    log_format: Annotated[
        journal.Form, typer.Option(help="The format of lines on standard error.")
    ] = journal.Form.TEXT,
    ray: RayOption = None,
) -> None:
    """Offer the ladder over the network, and play day and night.

    A submitted bot qualifies at once, and plays from then on. You can stop the ladder at any moment, with Ctrl-C or
    SIGTERM, and it continues at its next start. It waits until somebody submits a bot.

    Authors need a token: `dogana ladder author add NAME` prints one. They log in with `dogana login URL`, where URL is the
    address of the pages, and can use commands such as `dogana ladder top --server URL`. Standings and matches need no
    token.

    The journal is printed on standard error, a line for each event: time, level, event, and details. A new
    certificate needs a restart.

    Examples:

      dogana ladder serve --home ./ladder

      dogana ladder serve --listen 0.0.0.0:7800 --web 0.0.0.0:8780 --tls-cert cert.pem --tls-key key.pem --workers 4

      dogana ladder serve --home ./ladder --game cargo_noir --web 127.0.0.1:9000

      dogana ladder serve --home ./ladder --log-format json 2> serve.jsonl
    """
    with undisturbed():  # Python may drop or replace an exception amid imports; no other command needs a web server
        from ladder.http.requests.hosts import names_of, origins_of, public_url_of

    limits = chosen_limits(memory, tasks, cpus, no_pondering=no_pondering, unconfined=unconfined)
    if ray is not None and at_home is not AtHomeMode.NONE:
        raise LadderError("bots at home cannot join matches on other machines; add --at-home none, or leave out --ray")
    control, address = read_clock(clock), Listen(listen, *read_tls(tls_cert, tls_key))
    figures_at = None if metrics is None else Listen(metrics)
    pages_at = Listen(web).address
    site = Site(
        takes_bots=True,
        has_tables=True,
        tables=tables,
        tables_per_address=tables_per_address,
        public_url=public_url_of(public_url),
        proxy=proxy,
        host_names=names_of([web], host_name or []),
        cors_origins=origins_of(cors_origin or []),
    )
    tls = None if tls_cert is None or tls_key is None else (tls_cert, tls_key)
    chosen = [agree(find(name), {}, None) for name in dict.fromkeys(game or games())]
    names = [one.game.name for one in chosen]
    place = Home(home)
    # This comes only now, so that mistakes in the options are single lines on the terminal, as with all commands.
    journal.begin(log_format)
    began = time.monotonic()
    try:
        if place.make():
            note("new_ladder", home=str(home))
        # A server that was killed may have left some uploads.
        sweep_uploads(place)
        if lack := lack_of_room(place.folder, OPEN_BYTES):
            note_room(lack)
            _wait_for_room(place, OPEN_BYTES)
        with (
            # A server waits for as long as another command holds the database.
            Store(place.database, create=True, outwaits=True) as store,
            only_run(place, store),
            working(ray, place, workers, limits, wait, _note_machine) as (crew, sandbox),
        ):
            called = AtHome(
                is_open=at_home is not AtHomeMode.NONE,
                guests=at_home is AtHomeMode.GUESTS,
                # A served ladder plays with default options.
                plays=lambda one: (one.options, one.clock) == ({}, str(control)) and one.game in names,
            )
            plan = RunPlan(
                chosen,
                None,
                workers or DEFAULT_WORKERS,
                control,
                wait,
                same_author=same_author,
                search_share=search_share,
                sandbox=sandbox,
                guests=called.guests,
                invite=None if ray is not None else called.invite,
                crew=crew,
            )
            # None means as many as the cluster has room for.
            at_a_time = workers or (DEFAULT_WORKERS if ray is None else None)
            note(
                "start",
                dogana=installed_version(),
                home=str(home),
                games=names,
                workers=at_a_time,
                ray=ray,
                clock=clock,
            )
            for text, is_warning in isolation_report(limits, sandbox):
                note("sandbox", logging.WARNING if is_warning else logging.INFO, text=text)
            # People play on this machine, even if the cluster plays the matches.
            site = replace(site, isolation=Isolation(confine(place, limits) if ray is not None else sandbox))
            # This comes before the run, whose pool kills all unknown descendants of this process.
            with _listening(place, address, figures_at, called, pages_at, site, tls):
                _play(place, store, plan)
    except KeyboardInterrupt as stop:
        _note_stop(began, logging.INFO, str(stop) or "SIGINT")  # `heeding_signals` names the signal
        raise typer.Exit(INTERRUPTED) from None
    except (DoganaError, OSError) as error:
        _note_stop(began, logging.ERROR, in_words(error))
        raise typer.Exit(1) from None  # the journal contains the reason


def _note_machine(text: str) -> None:
    note("machine", logging.WARNING, text=text)


def _note_stop(began: float, level: int, reason: str) -> None:
    note("stop", level, reason=reason, seconds=time.monotonic() - began)


@contextmanager
def _listening(
    place: Home,
    listen: Listen,
    metrics: Listen | None,
    at_home: AtHome,
    pages_at: str,
    site: Site,
    tls: tuple[Path, Path] | None,
) -> Iterator[None]:
    """Serve the ladder and its pages while this context is open, and its metrics if there is an address for them.

    Raises:
        PortInUse: if a port cannot be used.
    """
    with undisturbed():  # as in `serve`
        from ladder.http.publishing.serving import EVERYWHERE, pages_beside

    figures = Metrics(place)
    with (
        serving(place, listen, figures, at_home) as port,
        nullcontext() if metrics is None else figures.serving(metrics) as port_of_figures,
    ):
        host = listen.address.rpartition(":")[0]
        note("listening", address=f"{host}:{port}", encrypted=listen.key is not None)
        if metrics is not None:
            note("metrics", address=f"http://{metrics.address.rpartition(':')[0]}:{port_of_figures}/metrics")
        reached = {host} if site.proxy else {host, pages_at.rpartition(":")[0]}  # a proxy can encrypt
        if listen.key is None and not reached <= HERE:
            note("unencrypted", logging.WARNING, text="the connections are not encrypted; see --tls-cert")
        # Nobody can connect to an address that stands for all addresses.
        known_as = urlsplit(site.public_url).hostname or (gethostname() if host in EVERYWHERE else host)
        site = replace(site, address=f"{known_as}:{port}")
        with reading(figures.count) as calls, pages_beside(place, site, pages_at, tls, calls) as url:
            note("pages", address=url)
            yield


def _play(place: Home, store: Store, plan: RunPlan) -> None:
    """Play until somebody stops the ladder; log the progress, and the organiser's changes by other commands.

    If the disk is full, a run ends; when there is room again, another run continues from there.
    """
    with Authors(place.database, create=False) as authors:
        # Only changes from now on are reported.
        last = max((act.number for act in authors.acts(1)), default=0)
        while True:
            try:
                # It is closed immediately if anything below fails, because its workers must end before the next run.
                with closing(run_locked(place, store, plan)) as steps:
                    for step in steps:
                        remark = step.remark
                        if remark.fields or remark.text:
                            note(remark.event, remark.level, **(remark.fields or {"text": remark.text}))
                        for act in authors.acts_since(last):
                            last = act.number
                            # Changes by authors are already in the journal, because the pages write them there.
                            if act.who == ORGANISER_NAME:
                                note("change", did=act.did, about=act.about, author=act.who)
            except (DoganaError, OSError) as error:
                if not is_for_want_of_room(error):
                    raise
                note_room(str(error))
                time.sleep(FULL_SECONDS)  # it may be another disk, whose free space is not known here
                _wait_for_room(place, RESERVE_BYTES)
                note_room("")


def _wait_for_room(place: Home, needed: int) -> None:
    while lack_of_room(place.folder, needed):
        time.sleep(IDLE_SECONDS)
