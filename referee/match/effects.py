"""What the match machine tells its driver to do, and what it says of a decision."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from referee.game import Action, Observation, Seat, State
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


class Decision:
    """A decision that is put to a seat.

    Attributes:
        number: names the decision; answers repeat it.
        seat: who is to decide.
        actions: the legal actions.
        played: what was played since the seat was last asked, as far as it may know.
        dropped: why the rest of its last answer was not played; empty if all of it was.
        asked_at: when the question went out, in seconds.
        is_sent: whether the question has gone out.
        budget: how long the decision may take, in seconds, without the window.
        bank: what is in the seat's bank, in seconds.
        credited: how long the referee itself was slow meanwhile, in seconds; the seat is not charged for it.
        charged: what its previous decision was charged, in seconds.
        window_left: what was left of the shared window when the decision was put, in seconds, or None.
    """

    __slots__ = (
        "_observation",
        "_state",
        "actions",
        "asked_at",
        "bank",
        "budget",
        "charged",
        "credited",
        "dropped",
        "is_sent",
        "number",
        "played",
        "seat",
        "window_left",
        "window_name",
    )

    def __init__(self, number: int, seat: Seat, state: State, actions: list[Action], clock: SeatClock) -> None:
        self.number = number
        self.seat = seat
        self.actions = actions
        self.played: list[Played] = []
        self.dropped = ""
        self.asked_at = 0.0
        self.is_sent = False
        self.budget = 0.0
        self.bank = clock.bank
        self.charged = clock.charged
        self.credited = 0.0
        self.window_left: float | None = None
        self.window_name = ""
        self._state = state
        self._observation: Observation | None = None

    @property
    def observation(self) -> Observation:
        """What the seat may know; written at the first use, which must come before the next action."""
        if self._observation is None:
            self._observation = self._state.observation(self.seat)
        return self._observation

    @property
    def deadline(self) -> float:
        """When the seat's own time for this decision is up."""
        return self.asked_at + self.budget


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
class Dismiss:
    """A seat is out: nothing more will be asked of it."""

    seat: Seat
    fault: Fault


@dataclass(slots=True)
class Show:
    """Something happened that spectators may see; `played` is what they may know was played."""

    played: tuple[Played, ...]


@dataclass(slots=True)
class Finish:
    """The match is over."""

    result: Result


Effect = Store | Ask | Reject | Withdraw | Dismiss | Show | Finish
