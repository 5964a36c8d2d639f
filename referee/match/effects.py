"""The instructions of the match machine to its driver, and its description of a decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from referee.game import Action, Observation, Seat, State, Window
from referee.match.clock import SeatClock
from referee.match.result import Fault, Result


class Decider(Enum):
    """The origin of an action; the values are the words used in records."""

    AGENT = "agent"
    FORCED = "forced"
    """The action was the only legal one."""
    CLOCK = "clock"
    """The seat's time was up, so the default was played."""
    DEFAULT = "default"
    """The seat is out, so the default was played."""
    OPENING = "opening"
    """The action was drawn, because the match begins with random decisions."""


class Refusal(Enum):
    """The reason for refusing an answer; the names are those of `Rejected.Reason` on the wire."""

    ILLEGAL = "illegal"
    STALE = "stale"
    MALFORMED = "malformed"


class Withdrawal(Enum):
    """The reason for withdrawing a decision; the names are those of `Withdrawn.Reason` on the wire."""

    TIMEOUT = "timeout"
    WINDOW = "window"
    OVERTAKEN = "overtaken"


class Played(NamedTuple):
    """An action known to a seat or a spectator."""

    seat: Seat
    action: Action


class SeatNow(NamedTuple):
    """The public standing of a seat."""

    rank: int
    """The rank of the seat if the match ended now."""
    score: int
    deciding: bool
    """True if the seat has a decision to make."""
    thought: float
    """The time charged up to the seat's last public action, in seconds. Later charges would betray a secret plan."""
    out: bool


@dataclass(frozen=True, slots=True)
class Happened:
    """One piece of news for spectators."""

    played: Sequence[Played]
    """The actions since the previous news, as far as spectators may know them."""
    seen: Observation
    seats: Sequence[SeatNow]
    result: Result | None
    """The result of the match; None until the match is over."""
    step: int
    """The number of actions that spectators could learn of since the match began, including those of `played`."""


@dataclass(frozen=True, slots=True)
class Timing:
    """The time that a decision took, in seconds: `wall - lag <= charged <= wall`."""

    charged: float
    """The time from when the question was handed to the transport until the answer arrived."""
    wall: float
    """The time from the moment when the referee had the question ready until it read the answer."""
    lag: float
    """The referee's own delay during `wall`, whether or not it was given back."""


class Decision:
    """A decision put to a seat.

    Attributes:
        number: the number that identifies the decision; answers repeat it.
        seat: the seat that is to decide.
        actions: the legal actions.
        played: the actions since the seat's last decision, as far as it may know them.
        dropped: the reason why the rest of its last answer was not played; empty if all of it was.
        put_at: the time at which the machine put the question, in seconds.
        sent_at: the time at which the question was handed to the transport, in seconds; `put_at` until then.
        is_sent: whether the question has been handed to the transport.
        budget: the time that the decision may take, in seconds, regardless of the window.
        bank: the seat's bank when the question was put, in seconds.
        previous: the time that the seat's previous decision took; None before the first.
        lag: the referee's delay since the question was put, in seconds.
        window: the window that the decision shares with other seats, or None.
        window_deadline: the time at which that window closes, in seconds.
    """

    __slots__ = (
        "_observation",
        "_state",
        "actions",
        "bank",
        "budget",
        "dropped",
        "is_sent",
        "lag",
        "number",
        "played",
        "previous",
        "put_at",
        "seat",
        "sent_at",
        "window",
        "window_deadline",
    )

    def __init__(
        self,
        number: int,
        seat: Seat,
        state: State,
        actions: list[Action],
        clock: SeatClock,
        now: float,
        *,
        previous: Timing | None = None,
        played: Sequence[Played] = (),
        dropped: str = "",
        window: Window | None = None,
        window_deadline: float = 0.0,
    ) -> None:
        """Put the decision to the seat at the time `now`; this adds the increment to its bank."""
        self.number = number
        self.seat = seat
        self.actions = actions
        self.played = played
        self.dropped = dropped
        self.put_at = now
        self.sent_at = now
        self.is_sent = False
        # `ask` adds the increment, so it must be called before the bank, which the seat sees, is read.
        self.budget = clock.ask()
        self.bank = clock.bank
        self.previous = previous
        self.lag = 0.0
        self.window = window
        self.window_deadline = window_deadline
        self._state = state
        self._observation: Observation | None = None

    @property
    def observation(self) -> Observation:
        """The seat's observation. It is computed on first use, which must come before the next action."""
        if self._observation is None:
            self._observation = self._state.observation(self.seat)
        return self._observation

    @property
    def ends_with_window(self) -> bool:
        """True if the window closes before the seat's own time ends, or at the same moment."""
        # If both end together, the window counts, because its end costs no strike.
        return self.window is not None and self.window_deadline <= self.sent_at + self.budget

    @property
    def deadline(self) -> float:
        """The time limit of the decision: the end of the seat's own time, or of the window."""
        return self.window_deadline if self.ends_with_window else self.sent_at + self.budget


# --- effects ------------------------------------------------------------------------------------------


@dataclass(slots=True)
class AppendLine:
    """Append a line to the record."""

    line: dict[str, Any]


@dataclass(slots=True)
class Ask:
    """Put a decision to a seat; then call `MatchMachine.sent`."""

    decision: Decision


@dataclass(slots=True)
class Reject:
    """Refuse an answer."""

    seat: Seat
    number: int
    refusal: Refusal
    rule: str
    message: str
    strikes: int
    left: float
    """The time left for the open decision, in seconds; 0 if none is open."""


@dataclass(slots=True)
class Withdraw:
    """Withdraw a decision from a seat."""

    seat: Seat
    number: int
    reason: Withdrawal


@dataclass(slots=True)
class NewDeadline:
    """Send a seat the new deadline of its open decision; the decision itself is unchanged."""

    decision: Decision


@dataclass(slots=True)
class Dismiss:
    """Put a seat out of the match, so that it gets no more decisions."""

    seat: Seat
    fault: Fault


@dataclass(slots=True)
class Show:
    """Show spectators an action, or a change that they may see."""

    played: tuple[Played, ...]
    """The action that spectators may know of; empty if there is none."""
    seen: Observation | None
    """The observation of spectators after the action or change; None if the match has no spectators."""


@dataclass(slots=True)
class Finish:
    """Report that the match is over."""

    result: Result


Effect = AppendLine | Ask | Reject | Withdraw | NewDeadline | Dismiss | Show | Finish
