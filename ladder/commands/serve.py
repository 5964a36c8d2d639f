"""`dogana ladder serve`."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from ladder.commands.options import HomeOption
from ladder.commands.run import confine
from ladder.condition import agree
from ladder.desk import sweep_uploads
from ladder.home import Home
from ladder.pool import JOIN_SECONDS
from ladder.running import RunPlan
from ladder.running import run as play
from ladder.service.beside import serving
from ladder.store import Store
from referee.commands.options import (
    DEFAULT_CLOCK,
    ClockOption,
    CpusOption,
    MemoryOption,
    NoPonderingOption,
    TasksOption,
    TlsCertificateOption,
    TlsKeyOption,
    read_clock,
    read_limits,
    read_tls,
)
from referee.commands.output import err
from referee.live.server import Listen
from referee.registry import find, games

DEFAULT_ADDRESS = "127.0.0.1:7800"


def serve(
    home: HomeOption,
    listen: Annotated[str, typer.Option(help="Where authors reach the ladder.", metavar="HOST:PORT")] = DEFAULT_ADDRESS,
    game: Annotated[
        list[str] | None,
        typer.Option(help="The game; several, taken in turn, if it is given several times.", show_default="all"),
    ] = None,
    workers: Annotated[int, typer.Option(help="How many matches to play at a time.", min=1, max=256)] = os.cpu_count()
    or 1,
    clock: ClockOption = DEFAULT_CLOCK,
    wait: Annotated[
        float, typer.Option(help="How long bots may take to join, in seconds.", min=1, max=3600)
    ] = JOIN_SECONDS,
    same_author: Annotated[bool, typer.Option("--same-author", help="Let bots of one author meet.")] = False,
    memory: MemoryOption = None,
    tasks: TasksOption = None,
    cpus: CpusOption = None,
    no_pondering: NoPonderingOption = False,
    unconfined: Annotated[
        bool, typer.Option("--unconfined", help="Run submitted bots with your rights on this machine.")
    ] = False,
    tls_cert: TlsCertificateOption = None,
    tls_key: TlsKeyOption = None,
) -> None:
    """Offer the ladder over the network, and play matches around the clock.

    What authors submit qualifies at once, and plays from then on. The ladder can be stopped at any moment, by Ctrl-C or by
    SIGTERM: it takes up what was left when it is started again. While no bot is there that somebody has submitted, it waits.

    Authors need a token: `dogana ladder author add NAME` prints one. They log in with `dogana login HOST:PORT`, and ask with
    the commands that the organiser has: `dogana ladder top --server HOST:PORT`. Without a token, standings and matches can be
    looked at.

    Examples:

      dogana ladder serve --home ./ladder

      dogana ladder serve --listen 0.0.0.0:7800 --tls-cert cert.pem --tls-key key.pem --game cargo_noir --workers 4
    """
    control, address = read_clock(clock), Listen(listen, *read_tls(tls_cert, tls_key))
    chosen = [agree(find(name), {}, None) for name in dict.fromkeys(game or games())]
    place = Home(home)
    place.make()
    sweep_uploads(place)
    with Store(place.database, create=True) as store:
        sandbox = confine(read_limits(memory, tasks, cpus, no_pondering=no_pondering), place, unconfined=unconfined)
        plan = RunPlan(chosen, None, workers, control, wait, same_author=same_author, sandbox=sandbox)
        with serving(place, address) as port:
            host = listen.rpartition(":")[0]
            err.print(f"the ladder in {home} is served at {host}:{port}", soft_wrap=True)
            if address.key is None and host not in ("127.0.0.1", "localhost", "[::1]"):
                err.print("the connections are not encrypted; see --tls-cert", style="yellow")
            for step in play(place, store, plan):
                if step.text:
                    err.print(step.text, soft_wrap=True)
