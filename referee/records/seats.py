"""The rules for the seats in a record: who decides each action, the time charged for it, and how a seat's play ends.

This module deliberately repeats rules of `referee/match/machine.py`, to find faults there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from referee.game import Action, Seat, State, label
from referee.match.clock import TRANSIT_SECONDS, SeatClock, TimeControl
from referee.match.effects import Decider
from referee.match.machine import STRIKES_ALLOWED
from referee.match.result import Outcome, SeatResult

TIMES = ("ms", "wall_ms", "lag_ms")
"""The time entries of a line that ends a decision."""
_FAULTS = {outcome.value: outcome for outcome in Outcome if outcome is not Outcome.PLAYED}
_MOST = 1 << 62
_ROUNDING = 0.00001
"""The tolerance for comparing times, in seconds: records give milliseconds to three decimal places."""


class Unsound(Exception):
    """A line of a record contradicts the lines before it; the text says why."""


@dataclass(slots=True)
class SeatRecord:
    """The clock, strikes and outcome of a seat so far."""

    clock: SeatClock
    strikes: int = 0
    last_strike: str = ""
    outcome: Outcome = Outcome.PLAYED
    out_order: int | None = None
    """The position of the seat in the order in which seats went out, counted from 0; None if the seat is not out."""
    detail: str = ""
    decisions: int = 0
    timed_out: bool = False
    """True if the seat's time ran out, and the default has not been played yet."""
    completing: str = ""
    """The larger decision (`State.part_of`) that defaults complete once the seat has run out of time; may be empty."""
    charged: float = 0.0
    """The time charged for the seat's decisions, in seconds."""
    wall: float = 0.0
    """The duration of the seat's decisions as measured by the referee's clock, in seconds."""
    lag: float = 0.0
    """The referee's own delay during the seat's decisions, in seconds."""


class Seats:
    """The seats of a match, updated line by line."""

    def __init__(self, control: TimeControl, count: int) -> None:
        self.records = [SeatRecord(SeatClock(control)) for _ in range(count)]
        self._outs = 0
        self._answering: tuple[Seat, Decider] | None = None  # the seat and the decider of the last action with times

    def check_decider(self, state: State, seat: Seat, action: Action, by: Decider) -> None:
        """Check that an action names the right decider.

        Raises:
            Unsound: if the decider is wrong.
        """
        if seat not in state.seats_to_act():
            raise Unsound(f"seat {seat} is not to act")
        record = self.records[seat]
        is_out = record.out_order is not None
        if record.strikes >= STRIKES_ALLOWED and not is_out:
            raise Unsound(f"seat {seat} plays on, but had its {STRIKES_ALLOWED}rd strike")
        # After a time-out the machine plays defaults until the larger decision is complete.
        must_be_clock = record.timed_out or record.completing
        if must_be_clock and by is not Decider.CLOCK:
            raise Unsound(f"the time of seat {seat} ran out, but {by.value} decided")
        # When a window closes, seats get defaults without a strike.
        if by is Decider.CLOCK and not must_be_clock and state.window() is None:
            raise Unsound(f"clock decided, but the time of seat {seat} had not run out")
        if is_out != (by is Decider.DEFAULT):
            raise Unsound(f"seat {seat} is {'out' if is_out else 'not out'}, but {by.value} decided")
        if by in (Decider.DEFAULT, Decider.CLOCK):
            default = state.default_action(seat)
            if action != default:
                raise Unsound(f"the default is {label(default)}, not {label(action)}")
        # The only legal action is always played without a question, even if an answer names it.
        elif (len(state.legal_actions(seat)) == 1) != (by is Decider.FORCED):
            raise Unsound(f"{by.value} decided, which does not fit the number of legal actions")

    def charge_action(self, data: Mapping[str, Any], seat: Seat, by: Decider) -> float:
        """Check the times of an action; return the time charged to the seat, in seconds.

        Only the action that ends a decision has times. Further actions of the same answer, or of the same default, have none.

        Raises:
            Unsound: if the times are not valid.
        """
        record = self.records[seat]
        if by in (Decider.FORCED, Decider.DEFAULT, Decider.OPENING) or record.completing:
            if _is_timed(data):
                raise Unsound(f"{by.value} decided without asking, so there are no times")
            return 0.0
        # A further action of an answer, or of the default that is played when a window closes.
        if self._answering == (seat, by) and not _is_timed(data):
            return 0.0
        self._answering = (seat, by)
        return _charge(record, data, expired=record.timed_out)

    def larger_decision(self, state: State, seat: Seat) -> str:
        """Return the larger decision that a default of the seat would now help to complete; empty if there is none."""
        record = self.records[seat]
        return record.completing or (state.part_of(seat) if record.timed_out else "")

    def note_action(self, state: State, seat: Seat, larger: str) -> None:
        """Note an action of a seat; `larger` is the larger decision that it helped to complete (empty for none)."""
        record = self.records[seat]
        record.decisions += 1
        record.timed_out = False
        goes_on = larger and seat in state.seats_to_act() and state.part_of(seat) == larger
        record.completing = larger if goes_on else ""

    def withdraw(self, data: Mapping[str, Any], seat: Seat) -> None:
        """Withdraw a decision of a seat.

        Raises:
            Unsound: if the seat is out, or the times are not valid.
        """
        record = self.records[seat]
        if record.out_order is not None:
            raise Unsound("withdraws a decision of a seat that is out")
        _charge(record, data, expired=False)
        self._answering = None

    def strike(self, data: Mapping[str, Any], seat: Seat) -> None:
        """Give a seat a strike.

        Raises:
            Unsound: if a strike is not possible at this point, or not for this reason.
        """
        record = self.records[seat]
        reason = data.get("reason")
        if reason not in ("illegal", "timeout"):
            raise Unsound("a strike is for illegal or timeout")
        if record.out_order is not None or record.strikes >= STRIKES_ALLOWED:
            raise Unsound("a strike for a seat that is out")
        record.strikes += 1
        record.last_strike = reason
        record.timed_out = reason == "timeout"
        self._answering = None

    def put_out(self, data: Mapping[str, Any], seat: Seat, *, has_begun: bool) -> None:
        """Put a seat out.

        Args:
            data: the line.
            seat: the seat.
            has_begun: True if an action has been played.

        Raises:
            Unsound: if the seat cannot go out at this point, or not for this reason.
        """
        record = self.records[seat]
        outcome = _FAULTS.get(str(data.get("reason")))
        if outcome is None or record.out_order is not None:
            raise Unsound("puts a seat out for an unknown reason, or a second time")
        if outcome is Outcome.START and has_begun:
            raise Unsound("out for start, but the match has begun")
        by_strikes = outcome in (Outcome.ILLEGAL, Outcome.TIMEOUT)
        if by_strikes and (record.strikes != STRIKES_ALLOWED or record.last_strike != outcome.value):
            raise Unsound(f"out for {outcome.value}, but that was not the {STRIKES_ALLOWED}rd strike")
        # A lost connection ends a decision only at the deadline, because the seat may reconnect before that.
        if outcome is Outcome.TIMEOUT or (outcome is Outcome.DISCONNECT and _is_timed(data)):
            _charge(record, data, expired=True)
        elif _is_timed(data):
            raise Unsound(f"ends no decision, so it has no times; the seat is out for {outcome.value}")
        record.timed_out = False
        record.completing = ""
        self._answering = None
        record.outcome = outcome
        record.detail = str(data.get("detail", ""))
        record.out_order = self._outs
        self._outs += 1

    def result(self, seat: Seat, bot: str, rank: int, score: int) -> SeatResult:
        """Return the result of a seat."""
        record = self.records[seat]
        return SeatResult(
            seat=seat,
            bot=bot,
            rank=rank,
            score=score,
            outcome=record.outcome,
            decisions=record.decisions,
            think_seconds=record.charged,
            wall_seconds=record.wall,
            lag_seconds=record.lag,
            detail=record.detail,
        )


def _charge(record: SeatRecord, data: Mapping[str, Any], *, expired: bool) -> float:
    """Read the times of an ended decision, and check them against each other and the seat's clock.

    Returns:
        The time charged to the seat, in seconds.

    Raises:
        Unsound: if the times are not valid.
    """
    charged, wall, lag = (seconds(data.get(key)) for key in TIMES)
    if charged is None or wall is None or lag is None:
        raise Unsound(f"ends a decision, so it needs the milliseconds: {', '.join(TIMES)}")
    budget = record.clock.ask()
    # As in the machine, an expired decision is charged its budget, and an empty bank has no grace period.
    transit = TRANSIT_SECONDS if budget > 0 and not expired else 0.0
    if charged > budget + transit + _ROUNDING:
        raise Unsound(f"{charged * 1000:.0f} ms were charged, more than the clock allows")
    if expired and charged < budget - _ROUNDING:
        raise Unsound(f"the time ran out after {charged * 1000:.0f} ms, but {budget * 1000:.0f} were left")
    if not wall - lag - _ROUNDING <= charged <= wall + _ROUNDING or lag > wall + _ROUNDING:
        raise Unsound("has times that do not fit: wall_ms - lag_ms <= ms <= wall_ms must hold")
    record.clock.charge(charged)
    record.charged += charged
    record.wall += wall
    record.lag += lag
    return charged


def seconds(milliseconds: Any) -> float | None:
    """Convert a recorded time to seconds; return None if it is not a possible number of milliseconds."""
    # The upper bound excludes infinity, because Python reads 1e999 as infinity.
    if type(milliseconds) in (int, float) and 0 <= milliseconds < _MOST:
        return float(milliseconds / 1000)
    return None


def _is_timed(data: Mapping[str, Any]) -> bool:
    return any(key in data for key in TIMES)
