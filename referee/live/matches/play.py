"""Play matches: fill the seats, drive the match, write the record, and end all processes."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from referee.errors import DoganaError
from referee.game import Game, Seat, Setup, State
from referee.kit.chance import LiveChance
from referee.kit.document import Document
from referee.live.doors.door import SeatDoor
from referee.live.matches.driver import AgentConnection, MatchDriver, MatchVoid
from referee.live.matches.server import RefereeServer
from referee.live.matches.spectators import Showing
from referee.live.seats.agent import AgentSeat, Driver
from referee.live.seats.command import GRACE_SECONDS, AgentProcess, CannotStart
from referee.live.seats.last_words import why_it_ended
from referee.live.seats.pondering import NoPondering
from referee.live.seats.starvation import Watched
from referee.live.seats.telemetry import KeyValues
from referee.match.house import HouseBot
from referee.match.plan import MatchPlan
from referee.match.result import Fault, Outcome, Result
from referee.records.record import RecordWriter
from referee.registry import house_bot, house_bots
from referee.sandbox.box import NO_PROGRAM, CannotIsolate, Sandbox
from referee.sandbox.cgroup import Usage

NETWORK_KEY = "network_ms"
"""The telemetry key for the network round-trip time to a remote agent, in milliseconds per decision."""
EXIT_SECONDS = 3.0
"""The time to wait for a process to end after its connection is lost, to tell a crash from a disconnection."""


@dataclass(frozen=True, slots=True)
class House:
    """A seat for a house bot in this process."""

    bot: Callable[[Game, Setup, str, Seat], HouseBot]
    """A function that makes the bot; it takes the arguments of `HouseBot.__init__`."""


@dataclass(frozen=True, slots=True)
class Command:
    """A seat for an agent that the referee starts."""

    argv: Sequence[str]
    """The agent's program and its arguments."""
    environment: Mapping[str, str]
    """The agent's environment variables; DOGANA_ADDRESS and DOGANA_TOKEN are added."""
    folder: Path | None = None
    """The agent's working folder; None for the referee's own."""
    join_seconds: float = 10.0
    """The time allowed for the agent to join."""
    sandbox: Sandbox | None = None
    """The agent's sandbox; None to let the agent run with the rights of this process."""


@dataclass(frozen=True, slots=True)
class HouseProcess:
    """A seat for a house bot in a process of its own. It can be sent to other machines."""

    word: str
    """The name of the bot with its options, as in ``search:seconds=1``."""
    join_seconds: float = 10.0
    """The time allowed for the bot to join."""

    def command(self) -> Command:
        """Return the command that starts the bot with the Python and the environment of this process.

        Without ``-P``, a file in this process's folder that has a module's name would be imported instead of that
        module.
        """
        argv = [sys.executable, "-P", "-m", "house_bots", self.word]
        return Command(argv, dict(os.environ), None, self.join_seconds)


def house_player(word: str, join_seconds: float = 10.0) -> House | HouseProcess:
    """Return the player for a house bot: a bot that thinks plays in a process of its own, any other in this process.

    Args:
        word: the bot's name, with its options, as in `search:seconds=1`.
        join_seconds: the time allowed for the bot's own process to join.

    Raises:
        UnknownHouseBot: if there is no such house bot.
    """
    bot = house_bot(word)
    if house_bots()[word.partition(":")[0]].thinks:
        return HouseProcess(word, join_seconds)
    return House(bot)


@dataclass(frozen=True, slots=True)
class Remote:
    """A seat for a remote agent."""

    join_seconds: float = 600.0
    """The time allowed for the agent to join."""


class InProcess(AgentConnection, Protocol):
    """A player in this process that answers later, such as a person; its answers go to the driver."""

    def begin(self, driver: MatchDriver, seat: Seat) -> None:
        """Take a seat; pass the answers to `driver.answer`."""
        ...


Player = House | HouseProcess | Command | Remote | InProcess


@dataclass(frozen=True, slots=True)
class MatchReport:
    """The result of a match, with its logs and measurements."""

    result: Result
    record_hash: str
    """The hash of the record's last line; empty if there is no record."""
    logs: Mapping[Seat, str]
    """The output of started agents, by seat; it is for their authors only."""
    usages: Mapping[Seat, Usage]
    """The resources that confined agents used, by seat."""
    telemetry: Mapping[Seat, Mapping[str, KeyValues]]
    """The telemetry of started agents, and the network time of remote ones, by seat and key; for their authors only."""


NOT_RUN = "exited with status 127"
"""The description of a supervisor's end if it cannot run its agent's program; its output gives the reason."""


class StartFailed(DoganaError):
    """Agents did not start or join; `faults` gives the reasons by seat."""

    def __init__(self, faults: Mapping[Seat, Fault]) -> None:
        super().__init__("; ".join(f"seat {seat}: {fault.detail}" for seat, fault in faults.items()))
        self.faults = faults


@dataclass(slots=True)
class AgentSeats:
    """The seats of one match whose agents are outside this process, and the processes of these agents."""

    seats: dict[Seat, AgentSeat] = field(default_factory=dict)
    processes: dict[Seat, AgentProcess] = field(default_factory=dict)
    doors: list[SeatDoor] = field(default_factory=list)
    """The sockets of started agents."""
    faults: dict[Seat, Fault] = field(default_factory=dict)
    last_words: dict[Seat, Fault] = field(default_factory=dict)
    """Faults whose reasons come from the agents' own output. They must not be in records, which anybody may read."""
    starved: list[str] = field(default_factory=list)
    """Descriptions of the agents that did not start because other processes used the processors."""
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def later(self, work: asyncio.Task[None]) -> None:
        """Keep a reference to a task until it is done."""
        self.tasks.add(work)
        work.add_done_callback(self.tasks.discard)

    async def clear(self) -> None:
        """End all processes of the agents, and close their doors."""
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*(process.stop() for process in self.processes.values()))
        await asyncio.gather(*(door.close() for door in self.doors))


async def play_match(
    plan: MatchPlan,
    players: Sequence[Player],
    *,
    server: RefereeServer | None = None,
    record: Path | None = None,
    position_file: Path | None = None,
    announce: Callable[[Seat, str], None] = lambda seat, token: None,
    all_must_start: bool = False,
    starved_is_void: bool = False,
) -> MatchReport:
    """Play one match to its end.

    Args:
        plan: the plan of the match.
        players: the player of each seat.
        server: the server for remote agents and spectators.
        record: the file to write; it appears when the match is over.
        position_file: the file for the position if a house bot fails; None for a new file in the temporary folder.
        announce: a function called with the seat and its token when a remote agent can join.
        all_must_start: True to refuse the match if an agent does not start. Otherwise the seat of such an agent is out
            from the beginning.
        starved_is_void: True to void the match if an agent does not start because other processes use the processors.

    Returns:
        The result, logs and measurements. All processes of agents have ended.

    Raises:
        StartFailed: see `all_must_start`; in this case, no file has been written.
        MatchVoid: if the referee failed, or for the reason in `starved_is_void`; in this case, there is no record.
        OSError: if the record cannot be written.
    """
    chance = LiveChance(plan.seed)
    state = first_state(plan, chance)
    seated = [player.command() if isinstance(player, HouseProcess) else player for player in players]
    house = {
        seat: player.bot(plan.game, plan.setup, plan.match_id, seat)
        for seat, player in enumerate(seated)
        if isinstance(player, House)
    }
    here = {seat: player for seat, player in enumerate(seated) if not isinstance(player, House | Command | Remote)}
    table = AgentSeats()
    writer = None
    showing = None if server is None else server.showing(plan)
    try:
        await _fill_seats(table, seated, server, announce)
        if table.starved and starved_is_void:
            raise MatchVoid("; ".join(table.starved))
        if table.faults and all_must_start:
            raise StartFailed({**table.faults, **table.last_words})
        # The file is not opened before all seats are filled, so that a match that cannot begin leaves no file.
        writer = None if record is None else RecordWriter(record)
        driver = MatchDriver(plan, chance, state, house, {**table.seats, **here}, writer, position_file)
        for number, player in here.items():
            player.begin(driver, number)
        result = await _drive(driver, table, showing)
        # The record is safe before agents get their time to end.
        record_hash = "" if writer is None else writer.finish()
        writer = None
        await asyncio.gather(*(process.stop(GRACE_SECONDS) for process in table.processes.values()))
        logs = {seat: process.log.text() for seat, process in table.processes.items()}
        usages = {seat: process.box.usage() for seat, process in table.processes.items() if process.box is not None}
        telemetry = {seat: process.log.telemetry.series() for seat, process in table.processes.items()}
        for place in table.seats.values():
            if place.network is not None:
                telemetry[place.seat] = {**telemetry.get(place.seat, {}), NETWORK_KEY: place.network}
        return MatchReport(result, record_hash, logs, usages, telemetry)
    finally:
        if writer is not None:
            writer.discard()
        await table.clear()
        if server is not None:
            server.remove_match(plan)
            for seat in table.seats.values():
                server.remove_seat(seat)


def first_state(plan: MatchPlan, chance: LiveChance) -> State:
    """Return the first state of a match: the one that the rules set up, or the plan's position if it has one.

    The position must have been checked.
    """
    if plan.position is None:
        return plan.game.start(plan.setup, chance)
    return plan.game.read_state(plan.setup, Document(plan.position, "position"))


async def _fill_seats(
    table: AgentSeats,
    players: Sequence[Player],
    server: RefereeServer | None,
    announce: Callable[[Seat, str], None],
) -> None:
    """Start all agents at once, and wait until each has joined or failed.

    Raises:
        MatchVoid: if a box cannot be built; the starts of the other agents have then been cancelled.
    """
    joining = []
    for seat, player in enumerate(players):
        if not isinstance(player, Command | Remote):
            continue
        place = table.seats[seat] = AgentSeat(seat, may_come_back=isinstance(player, Remote))
        if isinstance(player, Command):
            joining.append(start_agent(table, place, player))
        elif server is None:
            raise ValueError("remote agents need a server to join")
        else:
            server.add_seat(place)
            announce(seat, place.token)
            joining.append(_wait_for_remote(table, place, player))
    try:
        async with asyncio.TaskGroup() as group:
            for start in joining:
                group.create_task(start)
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from errors


async def _wait_for_remote(table: AgentSeats, place: AgentSeat, player: Remote) -> None:
    try:
        # The future is shielded, because `wait_for` cancels its argument when the time is up.
        await asyncio.wait_for(asyncio.shield(place.joined), player.join_seconds)
    except TimeoutError:
        table.faults[place.seat] = Fault(Outcome.START, f"did not join within {player.join_seconds:g} s")


async def start_process(player: Command, socket: Path, token: str) -> AgentProcess:
    """Start the process of an agent, in a box or with the rights of this process.

    Args:
        player: the command that starts the agent.
        socket: the referee's socket; in a box, it has a different path.
        token: the agent's token for joining.

    Raises:
        CannotStart: if the process cannot be started.
        CannotIsolate: if the agent's box cannot be prepared, which is not the agent's fault.
    """
    if player.sandbox is not None:
        return await AgentProcess.start_in(player.sandbox.box(player.argv, player.folder or Path.cwd(), socket, token))
    seat = {"DOGANA_ADDRESS": f"unix:{socket}", "DOGANA_TOKEN": token}
    return await AgentProcess.start(player.argv, {**player.environment, **seat}, player.folder)


async def start_agent(table: AgentSeats, place: AgentSeat, player: Command) -> None:
    """Start an agent and wait until it has joined; if it does not join, add its fault to the table.

    Args:
        table: the seats of the match, to which the agent's process, its door and its fault are added.
        place: the agent's seat.
        player: the command that starts the agent.

    Raises:
        MatchVoid: if the agent's box cannot be built.
    """
    door = SeatDoor()
    table.doors.append(door)
    # The door opens before the process starts, because the process may connect at once.
    door.open(place)
    try:
        process = await start_process(player, door.socket, place.token)
    except CannotIsolate as error:
        raise MatchVoid(str(error)) from error
    except CannotStart as error:
        table.faults[place.seat] = Fault(Outcome.START, str(error))
        return
    table.processes[place.seat] = process
    ended = asyncio.ensure_future(process.ended())
    watched = Watched(process.supervisor)
    await watched.until_one_is_done((place.joined, ended), player.join_seconds)
    if place.joined.done():
        ended.cancel()
        if process.box is not None and not process.box.sandbox.limits.ponders:
            place.no_pondering = NoPondering(process.box)
        return
    if ended.done():  # by itself, so it is at fault, and was not starved
        box = process.box
        its_own_fault = box is None or box.was_built() or bool(box.why_killed())
        await process.stop()
        if not its_own_fault and not process.log.last_line().startswith(NO_PROGRAM):
            raise MatchVoid(f"the box of seat {place.seat} could not be built: {process.log.last_line()}")
        why = why_it_ended(ended.result(), process.log.text(), player.argv)
        could_run = ended.result() != NOT_RUN and not process.log.last_line().startswith(NO_PROGRAM)
        said = why_it_ended(ended.result(), "", player.argv) if could_run else why
        table.faults[place.seat] = Fault(Outcome.START, said)
        table.last_words[place.seat] = Fault(Outcome.START, why)
        return
    starved = watched.starved
    ended.cancel()
    await process.stop()
    detail = f"did not join within {player.join_seconds:g} s"
    table.faults[place.seat] = Fault(Outcome.START, detail)
    if starved:
        table.starved.append(
            f"seat {place.seat} {detail}; others used the processors: it had one for {watched.ran:.1f} s,"
            f" and waited {watched.waited:.1f} s for one"
        )


async def _drive(driver: MatchDriver, table: AgentSeats, showing: Showing | None) -> Result:
    try:
        for seat, place in table.seats.items():
            process = table.processes.get(seat)
            if process is not None and seat not in table.faults:
                watch_process(driver, table, place, process)
            place.begin(driver)
        if showing is not None:
            showing.begin(driver)
        driver.start(table.faults)
        # Not absent: in a record, only a seat that is out for `start` was never asked.
        for seat, place in table.seats.items():
            if place.early_fault is not None and seat not in table.faults:
                driver.fault(seat, place.early_fault)
        return await driver.done
    finally:
        driver.stop()


def watch_process(driver: Driver, table: AgentSeats, place: AgentSeat, process: AgentProcess) -> None:
    """Report the end of a started agent as its fault, and end its process when its seat is out."""
    seat = place.seat

    async def report_crash() -> None:
        ended = await process.ended()
        driver.fault(seat, Fault(Outcome.CRASH, ended))

    async def report_disconnect() -> None:
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(process.ended(), EXIT_SECONDS)
            return  # report_crash handles it
        driver.fault(seat, Fault(Outcome.DISCONNECT, "closed its connection"))

    table.later(asyncio.create_task(report_crash()))
    place.when_lost = lambda: table.later(asyncio.create_task(report_disconnect()))
    place.when_out = lambda: table.later(asyncio.create_task(process.stop()))
