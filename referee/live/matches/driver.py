"""The one driver of a match: carries out what the match machine says, and tells it what happens, and when.

Its duties, in the order of each effect list (`referee/match/effects.py`):

1. `Store`: all lines of the list are in the record file before any other effect is carried out.
2. `Ask`, `Reject`, `Withdraw`, `NewDeadline`, `Dismiss`: handed to the seat. The seat calls `MatchDriver.sent` when it hands
   a question to the transport: from then on the agent's time runs.
3. `Show`: spectators get what they may see, one action after the other, if it is new to them.
4. `Finish`: everybody is told, and the match is done.

Times are those of the event loop's monotonic clock. `referee/live/seats/lateness.py` tells how long an answer may have waited to be
read. An exception in here or in the rules is the referee's fault: the match is void, whatever the agents did.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from referee.errors import DoganaError
from referee.game import Action, Observation, Seat, State
from referee.kit.chance import LiveChance
from referee.live.messages.codec import Codec, codec
from referee.live.seats.house import HouseBotFailed
from referee.live.seats.lateness import Lateness, Sample
from referee.match.clock import TRANSIT_SECONDS
from referee.match.effects import (
    Ask,
    Decision,
    Dismiss,
    Effect,
    Finish,
    Happened,
    NewDeadline,
    Played,
    Reject,
    Show,
    Store,
    Withdraw,
)
from referee.match.house import HouseBot
from referee.match.machine import Match
from referee.match.plan import MatchPlan
from referee.match.result import Fault, Result
from referee.records.record import RecordWriter, header

_log = logging.getLogger(__name__)

_READING_SECONDS = 0.3
"""How long after a deadline the referee reads on before it calls time: an answer may have arrived without having been read."""


class MatchVoid(DoganaError):
    """The referee failed; the match has no result and must be played again."""


class Connection(Protocol):
    """The way to an agent outside of the referee's process. No method blocks.

    Attributes:
        may_come_back: whether the agent is elsewhere.
    """

    may_come_back: bool

    def ask(self, decision: Decision) -> None:
        """Send a decision; call `MatchDriver.sent` when it is handed to the transport."""
        ...

    def reject(self, reject: Reject) -> None:
        """Send a refusal."""
        ...

    def withdraw(self, withdraw: Withdraw) -> None:
        """Send a withdrawal."""
        ...

    def new_deadline(self, decision: Decision) -> None:
        """Send the new deadline of an open decision."""
        ...

    def dismiss(self, fault: Fault) -> None:
        """End the connection of a seat that is out."""
        ...

    def finish(self, result: Result) -> None:
        """Send the result and end the connection."""
        ...

    def void(self, reason: str) -> None:
        """End the connection without a result."""
        ...

    def flush(self) -> None:
        """Let what was said go out."""
        ...


Watcher = Callable[[Happened], None]
"""Called at once, and whenever something has happened that spectators may know."""


class MatchDriver:
    """One match being played.

    Attributes:
        plan: what is fixed.
        done: becomes the result, or raises `MatchVoid`.
    """

    def __init__(
        self,
        plan: MatchPlan,
        chance: LiveChance,
        state: State,
        house: Mapping[Seat, HouseBot],
        connections: Mapping[Seat, Connection],
        record: RecordWriter | None,
        position_file: Path | None = None,
    ) -> None:
        """Prepare a match; nothing happens before `start`.

        Args:
            plan: what is fixed.
            chance: the chance of the match, as it is after the state was set up.
            state: where the match starts.
            house: the seats of house bots.
            connections: all other seats.
            record: where to write; None for a match without a record.
            position_file: where the position goes if a house bot fails; None for the temporary folder.
        """
        self.plan = plan
        self.codec: Codec = codec(plan.game)
        self._loop = asyncio.get_running_loop()
        self.done: asyncio.Future[Result] = self._loop.create_future()
        self._match = Match(plan, state, chance, transit=TRANSIT_SECONDS)
        self._house = house
        self._connections = connections
        self._record = record
        self._position_file = position_file
        self._house_asks: deque[Decision] = deque()
        self._watchers: list[Watcher] = []
        self._shown: Observation | None = None
        self._told = 0
        self._timer: asyncio.TimerHandle | None = None
        self._last_reading: asyncio.TimerHandle | None = None
        self._lateness: Lateness | None = None
        self._heard: dict[Seat, Sample] = {}  # taken when a seat was asked, or its last message had been judged

    # what happens

    def start(self, absent: Mapping[Seat, Fault]) -> None:
        """Begin to play without the seats that are `absent`; return when everybody who is to act has been asked.

        Raises:
            NoStatistics: if there are agents, and this kernel does not count what is needed to time them.
        """
        if self._connections:
            polls = any(connection.may_come_back for connection in self._connections.values())
            self._lateness = Lateness(self._match.lagged, polls=polls)
        if self._record is not None:
            self._record.append(header(self.plan))
        self._handle(lambda now: self._match.start(now, absent))

    def sent(self, seat: Seat, number: int) -> None:
        """Start the time of a seat: its question is handed to the transport now."""
        self._match.sent(seat, number, self._loop.time())
        if self._lateness is not None:
            self._heard[seat] = self._lateness.sample()

    def answer(self, seat: Seat, number: int, choice: int | Sequence[Action] | str) -> None:
        """Judge an answer that was read just now."""
        waited = 0.0
        heard = self._heard.get(seat)
        if self._lateness is not None and heard is not None:
            now = self._lateness.sample()
            self._lateness.notice(now.at)
            waited = self._lateness.waited(now, heard)
        self._handle(lambda now: self._match.choose(seat, number, choice, now, waited))
        if self._lateness is not None and not self.done.done() and self._heard.get(seat) is heard:  # not asked again
            self._heard[seat] = self._lateness.sample()  # what was done with one answer is no credit for the next

    def fault(self, seat: Seat, fault: Fault) -> None:
        """Put a seat out that cannot go on."""
        self._handle(lambda now: self._match.fault(seat, fault, now))

    def lost(self, seat: Seat) -> None:
        """Note that a remote seat has lost its connection; it may come back."""
        self._match.lost(seat)

    def back(self, seat: Seat) -> None:
        """Ask a remote seat again that has come back."""
        self._handle(lambda now: self._match.back(seat))

    def is_asked(self, seat: Seat) -> bool:
        """Tell whether a seat has an open decision."""
        return self._match.is_asked(seat)

    def is_open(self, seat: Seat, number: int) -> bool:
        """Tell whether a seat is asked the decision of this number."""
        return self._match.is_asked(seat, number)

    def is_out(self, seat: Seat) -> bool:
        """Tell whether a seat is out."""
        return self._match.is_out(seat)

    def void(self, reason: str, hint: str = "", cause: Exception | None = None) -> None:
        """End the match without a result; it is nobody's fault but the referee's.

        Args:
            reason: what went wrong; the agents are told, too.
            hint: what to look at; it may name files, so it is only for who started the match.
            cause: the error behind it, if there is one.
        """
        if self.done.done():
            return
        error = MatchVoid(f"{reason}; {hint}" if hint else reason)
        error.__cause__ = cause
        self.done.set_exception(error)
        self.stop()
        for connection in self._connections.values():
            connection.void(reason)

    def watch(self, watcher: Watcher) -> Callable[[], None]:
        """Show a spectator how the match stands and whatever happens from now on; return how to leave."""
        self._watchers.append(watcher)
        self._match.is_watched = True
        seen = self._match.state.observation(None)
        self._shown = seen
        watcher(Happened((), seen, self._match.seats_now(), self._match.result, self._told))

        def leave() -> None:
            with contextlib.suppress(ValueError):
                self._watchers.remove(watcher)
            self._match.is_watched = bool(self._watchers)

        return leave

    # carrying it out

    def _handle(self, event: Callable[[float], list[Effect]]) -> None:
        if self.done.done():
            return
        try:
            self._carry_out(event(self._loop.time()))
            while self._house_asks and not self.done.done():
                self._ask_house(self._house_asks.popleft())
            for connection in self._connections.values():
                connection.flush()
            self._set_timer()
        except Exception as error:  # a fault of ours, whatever it is, must not look like an agent's
            if not (isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)):
                _log.exception("the match is void")
            if isinstance(error, HouseBotFailed):
                self.void(str(error), error.hint)
            else:
                self.void(f"{type(error).__name__}: {error}", cause=error)

    def _carry_out(self, effects: list[Effect]) -> None:
        # All lines at once: each is then stored before what depends on it, and before what does not.
        if self._record is not None:
            self._record.append(*(effect.line for effect in effects if isinstance(effect, Store)))
        shown: list[Show] = []
        for effect in effects:
            match effect:
                case Ask(decision):
                    if decision.seat in self._house:
                        self._house_asks.append(decision)
                    else:
                        self._connections[decision.seat].ask(decision)
                case Show():
                    shown.append(effect)
                case Reject(seat=seat):
                    if seat in self._connections:
                        self._connections[seat].reject(effect)
                    else:
                        raise self._house_bot_failed(seat, effect.number, effect.message)
                case Withdraw(seat=seat):
                    if seat in self._connections:
                        self._connections[seat].withdraw(effect)
                    else:  # another has overtaken it before its turn came
                        self._house_asks = deque(asked for asked in self._house_asks if asked.seat != seat)
                case NewDeadline(decision):
                    if decision.seat in self._connections:
                        self._connections[decision.seat].new_deadline(decision)
                case Dismiss(seat, fault):
                    if seat in self._connections:
                        self._connections[seat].dismiss(fault)
                case Finish(result):
                    self._finish(result, shown)
                    return
        self._show(shown, None)

    def _ask_house(self, decision: Decision) -> None:
        seat = decision.seat
        self.sent(seat, decision.number)
        try:
            choice = self._house[seat].choose(decision)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise self._house_bot_failed(seat, decision.number, reason) from error
        # A house bot thinks in the referee's process: if that is stopped or suspended meanwhile, the bot is not at fault.
        now = min(self._loop.time(), decision.deadline)
        self._carry_out(self._match.choose(seat, decision.number, choice, now))

    def _house_bot_failed(self, seat: Seat, number: int, reason: str) -> HouseBotFailed:
        return HouseBotFailed(self.plan, self._match.state, seat, number, reason, self._position_file)

    def _show(self, shown: Sequence[Show], result: Result | None) -> None:
        """Tell spectators what they may know of each action, with what they saw then."""
        seats = self._match.seats_now() if self._watchers else ()
        played: list[Played] = []
        for at, show in enumerate(shown, 1):
            self._told += len(show.played)
            played += show.played
            if at < len(shown) and show.seen is not None and (played or show.seen != self._shown):
                self._shown = show.seen
                self._tell(Happened(played, show.seen, seats, None, self._told))
                played = []
        if not self._watchers:
            return
        seen = self._match.state.observation(None)
        if played or result is not None or seen != self._shown:
            self._shown = seen
            self._tell(Happened(played, seen, seats, result, self._told))

    def _finish(self, result: Result, shown: Sequence[Show]) -> None:
        self.stop()
        for seat, connection in self._connections.items():
            if not self._match.is_out(seat):
                connection.finish(result)
        self._show(shown, result)
        self.done.set_result(result)

    def _tell(self, happened: Happened) -> None:
        for watcher in self._watchers[:]:
            watcher(happened)

    # time

    def _set_timer(self) -> None:
        """Keep one timer for all deadlines; it moves only when an earlier deadline comes, and looks again when it fires."""
        deadline = self._match.next_deadline()
        if deadline is None or not self._connections or self._last_reading is not None or self.done.done():
            return
        if self._timer is None or deadline < self._timer.when():
            if self._timer is not None:
                self._timer.cancel()
            self._timer = self._loop.call_at(deadline + 0.001, self._read_on)

    def _read_on(self) -> None:
        """Deal with a deadline that may have passed: read whatever has arrived until now, then call time."""
        self._timer = None
        self._last_reading = self._loop.call_later(_READING_SECONDS, self._call_time, self._loop.time())

    def _call_time(self, read_until: float) -> None:
        self._last_reading = None
        self._handle(lambda now: self._match.tick(now, read_until))

    def stop(self) -> None:
        """Stop looking at the time; a match that is abandoned before its end must be stopped, too."""
        for handle in (self._timer, self._last_reading):
            if handle is not None:
                handle.cancel()
        self._timer = self._last_reading = None
        if self._lateness is not None:
            self._lateness.close()
            self._lateness = None
