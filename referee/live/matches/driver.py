"""The driver of a match carries out the match machine's effects, and passes events with their times to the machine.

Its duties, in the order of each effect list (`referee/match/effects.py`):

1. `AppendLine`: all lines of the list are in the record file before any other effect is carried out.
2. `Ask`, `Reject`, `Withdraw`, `NewDeadline`, `Dismiss`: these are passed to the seat. The seat calls
   `MatchDriver.sent` when it passes a question to the transport; the agent's time runs from then on.
3. `Show`: spectators get each action and observation that is new to them.
4. `Finish`: all seats and spectators get the result, and the match is done.

Times are those of the event loop's monotonic clock. `referee/live/seats/lateness.py` measures how long an answer may
have waited unread. An exception in this module or in the rules is the referee's fault: the match is void, whatever the
agents did.
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
from referee.game import Observation, Seat, State
from referee.kit.chance import LiveChance
from referee.live.messages.codec import Codec, codec
from referee.live.seats.house import HouseBotFailed
from referee.live.seats.lateness import Lateness, ThreadTimes
from referee.match.clock import TRANSIT_SECONDS
from referee.match.effects import (
    AppendLine,
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
    Withdraw,
)
from referee.match.house import HouseBot
from referee.match.judging import Answer
from referee.match.machine import MatchMachine
from referee.match.plan import MatchPlan
from referee.match.result import Fault, Result
from referee.records.record import RecordWriter, header

_log = logging.getLogger(__name__)
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""The error codes for a full disk, which is not the referee's fault."""

_READING_SECONDS = 0.3
"""The time for which the referee reads on after a deadline, because an answer that arrived in time may still be unread."""


class MatchVoid(DoganaError):
    """The referee failed; the match has no result and must be played again."""


class AgentConnection(Protocol):
    """The connection to an agent outside the referee's process. No method blocks.

    Attributes:
        may_come_back: True for a remote agent, which may reconnect.
    """

    may_come_back: bool

    def ask(self, decision: Decision) -> None:
        """Send a decision to the agent, and call `MatchDriver.sent` when the transport gets it."""
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
        """Send the waiting messages."""
        ...


Watcher = Callable[[Happened], None]
"""A spectator's callback, which is called when the spectator arrives, and after each event that spectators may see."""


class MatchDriver:
    """One live match.

    Attributes:
        plan: the plan of the match.
        done: a future with the result of the match, or with `MatchVoid` as its exception.
    """

    def __init__(
        self,
        plan: MatchPlan,
        chance: LiveChance,
        state: State,
        house: Mapping[Seat, HouseBot],
        connections: Mapping[Seat, AgentConnection],
        record: RecordWriter | None,
        position_file: Path | None = None,
    ) -> None:
        """Prepare a match; nothing happens before `start`.

        Args:
            plan: the plan of the match.
            chance: the source of the match's chance, after the draws for the set-up.
            state: the first state of the match.
            house: the house bots by seat.
            connections: the connections of all other seats.
            record: the writer of the record; None for a match without one.
            position_file: the file for the position if a house bot fails; None for a new file in the temporary folder.
        """
        self.plan = plan
        self.codec: Codec = codec(plan.game)
        self._loop = asyncio.get_running_loop()
        self.done: asyncio.Future[Result] = self._loop.create_future()
        self._match = MatchMachine(plan, state, chance, transit=TRANSIT_SECONDS)
        self._house = house
        self._connections = connections
        self._record = record
        self._position_file = position_file
        self._house_asks: deque[Decision] = deque()
        self._watchers: list[Watcher] = []
        self._observation: Observation | None = None
        self._step = 0
        self._timer: asyncio.TimerHandle | None = None
        self._last_reading: asyncio.TimerHandle | None = None
        self._lateness: Lateness | None = None
        self._heard: dict[Seat, ThreadTimes] = {}  # of each seat's last question or judged message

    # events

    def start(self, absent: Mapping[Seat, Fault]) -> None:
        """Begin the match without the `absent` seats; return when all seats that must act have been asked.

        Raises:
            NoStatistics: if there are agents, and this kernel lacks the statistics for timing them.
        """
        if self._connections:
            polls = any(connection.may_come_back for connection in self._connections.values())
            self._lateness = Lateness(self._match.lagged, polls=polls)
        if self._record is not None:
            self._record.append(header(self.plan))
        self._handle(lambda now: self._match.start(now, absent))

    def sent(self, seat: Seat, number: int) -> None:
        """Start timing a seat, because its question is about to be passed to the transport."""
        self._match.sent(seat, number, self._loop.time())
        if self._lateness is not None:
            self._heard[seat] = self._lateness.sample()

    def answer(self, seat: Seat, number: int, choice: Answer) -> None:
        """Judge an answer that has just been read."""
        waited = 0.0
        heard = self._heard.get(seat)
        if self._lateness is not None and heard is not None:
            now = self._lateness.sample()
            # The answer may have been read before the delayed beat; the delay belongs to the decision that it closes.
            self._lateness.notice(now.at)
            waited = self._lateness.waited(now, heard)
        self._handle(lambda now: self._match.choose(seat, number, choice, now, waited))
        if self._lateness is not None and not self.done.done() and self._heard.get(seat) is heard:  # not asked again
            self._heard[seat] = self._lateness.sample()  # the work on one answer gives no credit to the next

    def fault(self, seat: Seat, fault: Fault) -> None:
        """Put a seat out because of a fault."""
        self._handle(lambda now: self._match.fault(seat, fault, now))

    def lost(self, seat: Seat) -> None:
        """Note that a remote seat has lost its connection; it may reconnect."""
        self._match.lost(seat)

    def back(self, seat: Seat) -> None:
        """Ask a remote seat again after it has reconnected."""
        self._handle(lambda now: self._match.back(seat))

    def is_deciding(self, seat: Seat) -> bool:
        """Return True if a seat has an open decision."""
        return self._match.is_deciding(seat)

    def is_open(self, seat: Seat, number: int) -> bool:
        """Return True if the seat's open decision has this number."""
        return self._match.is_deciding(seat, number)

    def is_out(self, seat: Seat) -> bool:
        """Return True if a seat is out."""
        return self._match.is_out(seat)

    def void(self, reason: str, hint: str = "", cause: Exception | None = None) -> None:
        """End the match without a result; the fault is the referee's.

        Args:
            reason: the reason; the agents get it, too.
            hint: advice for the person who started the match; nobody else gets it, as it may name files.
            cause: the exception that caused the failure; None if there is none.
        """
        if self.done.done():
            return
        error = MatchVoid(f"{reason}; {hint}" if hint else reason)
        error.__cause__ = cause
        # The match is over before the connections end, because a seat whose match is over reports no loss.
        self.done.set_exception(error)
        self.stop()
        for connection in self._connections.values():
            connection.void(reason)

    def watch(self, watcher: Watcher) -> Callable[[], None]:
        """Show a spectator the current state and all later events.

        Returns:
            A function that stops showing the match to the spectator.
        """
        self._watchers.append(watcher)
        self._match.is_watched = True
        seen = self._match.state.observation(None)
        self._observation = seen
        watcher(Happened((), seen, self._match.seats_now(), self._match.result, self._step))

        def leave() -> None:
            with contextlib.suppress(ValueError):
                self._watchers.remove(watcher)
            self._match.is_watched = bool(self._watchers)

        return leave

    # effects

    def _handle(self, event: Callable[[float], list[Effect]]) -> None:
        if self.done.done():
            return
        try:
            self._carry_out(event(self._loop.time()))
            # This is a loop because each answer leads to the next question, and recursion would overflow the stack.
            while self._house_asks and not self.done.done():
                self._ask_house(self._house_asks.popleft())
            for connection in self._connections.values():
                # This comes after the house bots' thinking: an agent's time begins when its question is flushed.
                connection.flush()
            self._set_timer()
        except Exception as error:  # a fault of ours, whatever it is, must not look like an agent's
            if isinstance(error, OSError) and error.errno in _FULL:
                self.void(str(error.strerror), f"make room for {error.filename}", cause=error)
                return
            _log.exception("the match is void")
            if isinstance(error, HouseBotFailed):
                self.void(str(error), error.hint)
            else:
                self.void(f"{type(error).__name__}: {error}", cause=error)

    def _carry_out(self, effects: list[Effect]) -> None:
        # All lines are written at once, before any other effect.
        if self._record is not None:
            self._record.append(*(effect.line for effect in effects if isinstance(effect, AppendLine)))
        shows: list[Show] = []
        for effect in effects:
            match effect:
                case Ask(decision):
                    if decision.seat in self._house:
                        self._house_asks.append(decision)
                    else:
                        self._connections[decision.seat].ask(decision)
                case Show():
                    shows.append(effect)
                case Reject(seat=seat):
                    if seat in self._connections:
                        self._connections[seat].reject(effect)
                    else:
                        raise self._house_bot_failed(seat, effect.number, effect.message)
                case Withdraw(seat=seat):
                    if seat in self._connections:
                        self._connections[seat].withdraw(effect)
                    else:  # another seat's answer has made it void
                        self._house_asks = deque(question for question in self._house_asks if question.seat != seat)
                case NewDeadline(decision):
                    if decision.seat in self._connections:
                        self._connections[decision.seat].new_deadline(decision)
                case Dismiss(seat, fault):
                    if seat in self._connections:
                        self._connections[seat].dismiss(fault)
                case Finish(result):
                    self._finish(result, shows)
                    return
        self._show(shows, None)

    def _ask_house(self, decision: Decision) -> None:
        seat = decision.seat
        self.sent(seat, decision.number)
        try:
            choice = self._house[seat].choose(decision)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise self._house_bot_failed(seat, decision.number, reason) from error
        # A house bot thinks in the referee's process, so it is not at fault if that process is stopped or suspended.
        now = min(self._loop.time(), decision.deadline)
        self._carry_out(self._match.choose(seat, decision.number, choice, now))

    def _house_bot_failed(self, seat: Seat, number: int, reason: str) -> HouseBotFailed:
        return HouseBotFailed(self.plan, self._match.state, seat, number, reason, self._position_file)

    def _show(self, shows: Sequence[Show], result: Result | None) -> None:
        """Show spectators each action that they may know of, with their observation after the action."""
        seats = self._match.seats_now() if self._watchers else ()
        played: list[Played] = []
        for at, show in enumerate(shows, 1):
            self._step += len(show.played)
            played += show.played
            if at < len(shows) and show.seen is not None and (played or show.seen != self._observation):
                self._observation = show.seen
                self._tell(Happened(played, show.seen, seats, None, self._step))
                played = []
        if not self._watchers:
            return
        seen = self._match.state.observation(None)
        if played or result is not None or seen != self._observation:
            self._observation = seen
            self._tell(Happened(played, seen, seats, result, self._step))

    def _finish(self, result: Result, shows: Sequence[Show]) -> None:
        self.stop()
        for seat, connection in self._connections.items():
            if not self._match.is_out(seat):
                connection.finish(result)
        self._show(shows, result)
        self.done.set_result(result)

    def _tell(self, happened: Happened) -> None:
        for watcher in self._watchers[:]:  # a watcher may leave when it gets the news
            watcher(happened)

    # time

    def _set_timer(self) -> None:
        """Set the timer for all deadlines. Only an earlier deadline moves it; it is set again after it has fired."""
        deadline = self._match.next_deadline()
        if deadline is None or not self._connections or self._last_reading is not None or self.done.done():
            return
        if self._timer is None or deadline < self._timer.when():
            if self._timer is not None:
                self._timer.cancel()
            # This is a moment after the deadline, because `tick` closes decisions that ended before a time, not at it.
            self._timer = self._loop.call_at(deadline + 0.001, self._read_on)

    def _read_on(self) -> None:
        """Handle a deadline that may have passed: read all messages up to now, then call time."""
        self._timer = None
        self._last_reading = self._loop.call_later(_READING_SECONDS, self._call_time, self._loop.time())

    def _call_time(self, read_until: float) -> None:
        self._last_reading = None
        self._handle(lambda now: self._match.tick(now, read_until))

    def stop(self) -> None:
        """Stop the timers; a match that is abandoned before its end must be stopped, too."""
        for handle in (self._timer, self._last_reading):
            if handle is not None:
                handle.cancel()
        self._timer = self._last_reading = None
        if self._lateness is not None:
            self._lateness.close()
            self._lateness = None
