"""What the match machine tells its driver to do, and what it says of a decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from referee.game import Action, Observation, Seat, State, Window
from referee.match.clock import SeatClock
from referee.match.result import Fault, Result


class Decider(Enum):
    """Who decided for an action; the values are the words of records."""

    AGENT = "agent"
    FORCED = "forced"
    """There was only one legal action."""
    CLOCK = "clock"
    """Time was up: the default."""
    DEFAULT = "default"
    """The seat is out: the default."""


class Refusal(Enum):
    """Why an answer is refused; the names are those of `Rejected.Reason` on the wire."""

    ILLEGAL = "illegal"
    STALE = "stale"
    MALFORMED = "malformed"


class Withdrawal(Enum):
    """Why a decision is withdrawn; the names are those of `Withdrawn.Reason` on the wire."""

    TIMEOUT = "timeout"
    WINDOW = "window"
    OVERTAKEN = "overtaken"


class Played(NamedTuple):
    """An action that a seat or a spectator may know of."""

    seat: Seat
    action: Action


class SeatNow(NamedTuple):
    """How a seat stands, as far as everybody may know it."""

    rank: int
    """Its place, were the match to end now."""
    score: int
    deciding: bool
    """Whether it is to decide."""
    thought: float
    """What its decisions were charged up to its last public action, in seconds; more would tell of a secret plan."""
    out: bool


@dataclass(frozen=True, slots=True)
class Happened:
    """What spectators are told at one moment."""

    played: Sequence[Played]
    """What was played since the last moment, as far as they may know."""
    seen: Observation
    seats: Sequence[SeatNow]
    result: Result | None
    """The result, at the end."""
    told: int
    """How many actions spectators could learn of since the match began, those of `played` included."""


@dataclass(frozen=True, slots=True)
class Timing:
    """What a decision took, in seconds: `wall - lag <= charged <= wall`."""

    charged: float
    """From handing the question to the transport to the arrival of the answer."""
    wall: float
    """From the moment that the seat was to be asked to the moment that its answer was read."""
    lag: float
    """How late the referee was meanwhile, given back or not."""


class Decision:
    """A decision that is put to a seat.

    Attributes:
        number: names the decision; answers repeat it.
        seat: who is to decide.
        actions: the legal actions.
        played: what was played since the seat was last asked, as far as it may know.
        dropped: why the rest of its last answer was not played; empty if all of it was.
        put_at: when the machine put the question, in seconds.
        asked_at: when the question was handed to the transport, in seconds; `put_at` until then.
        is_sent: whether the question has been handed to the transport.
        budget: how long the decision may take, in seconds, without the window.
        bank: what was in the seat's bank when it was asked, in seconds.
        previous: what the seat's previous decision took; None before the first.
        lag: how late the referee has been since the question was put, in seconds.
        window: the window that the decision shares with other seats, or None.
        window_deadline: when that window closes, in seconds.
    """

    __slots__ = (
        "_observation",
        "_state",
        "actions",
        "asked_at",
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
        """Put a decision at the time `now`; this starts the seat's clock."""
        self.number = number
        self.seat = seat
        self.actions = actions
        self.played = played
        self.dropped = dropped
        self.put_at = now
        self.asked_at = now
        self.is_sent = False
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
        """What the seat may know; written at the first use, which must come before the next action."""
        if self._observation is None:
            self._observation = self._state.observation(self.seat)
        return self._observation

    @property
    def ends_with_window(self) -> bool:
        """Whether the window closes no later than the seat's own time is up."""
        return self.window is not None and self.window_deadline <= self.asked_at + self.budget

    @property
    def deadline(self) -> float:
        """When the decision must have been answered: the end of the seat's own time, or of the window."""
        return self.window_deadline if self.ends_with_window else self.asked_at + self.budget


# --- effects ------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Store:
    """Append a line to the record."""

    line: dict[str, Any]


@dataclass(slots=True)
class Ask:
    """Put a decision to a seat; then call `Match.sent`."""

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
    """Seconds left for the open decision; 0 if none is open."""


@dataclass(slots=True)
class Withdraw:
    """Take a decision back."""

    seat: Seat
    number: int
    reason: Withdrawal


@dataclass(slots=True)
class NewDeadline:
    """Tell a seat that its open decision has another deadline; the decision itself is unchanged."""

    decision: Decision


@dataclass(slots=True)
class Dismiss:
    """A seat is out: nothing more will be asked of it."""

    seat: Seat
    fault: Fault


@dataclass(slots=True)
class Show:
    """Something happened that spectators may see."""

    played: tuple[Played, ...]
    """What they may know was played: an action, or nothing."""
    seen: Observation | None
    """What they saw then; None if the match has no spectators."""


@dataclass(slots=True)
class Finish:
    """The match is over."""

    result: Result


Effect = Store | Ask | Reject | Withdraw | NewDeadline | Dismiss | Show | Finish
