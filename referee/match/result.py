"""The result of a match, for each seat and as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from referee.game import Seat

MAX_LAG_SHARE = 0.1
"""A match is flagged (`Result.lagged`) only if the referee was late for a larger share of the time than this."""
MAX_MEAN_LAG = 0.005
"""A match is flagged only if the mean delay per decision also exceeds this, in seconds.

A share alone proves little where answers are fast.
"""


class Outcome(Enum):
    """The way in which a match ended for a seat; the values are the words used in records and tables."""

    PLAYED = "played"
    ILLEGAL = "illegal"
    TIMEOUT = "timeout"
    CRASH = "crash"
    DISCONNECT = "disconnect"
    PROTOCOL = "protocol"
    START = "start"


@dataclass(frozen=True, slots=True)
class Fault:
    """The reason why a seat is out."""

    outcome: Outcome
    detail: str
    """One line for people, without anything that only the bot's author may know."""


@dataclass(frozen=True, slots=True)
class SeatResult:
    """The result of one seat."""

    seat: Seat
    bot: str
    rank: int
    score: int
    outcome: Outcome
    decisions: int
    """The number of actions played for the seat."""
    think_seconds: float
    """The time charged for all decisions of the seat, in seconds."""
    wall_seconds: float
    """The duration of all decisions of the seat by the referee's clock, in seconds."""
    lag_seconds: float
    """The referee's own delay during the seat's decisions, in seconds."""
    detail: str
    """The detail of the fault; empty for a seat that played to the end."""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a match."""

    seats: tuple[SeatResult, ...]
    decisions: int
    digest: str
    seed: int | None
    """The seed if the end of the match reveals it; otherwise None."""

    @property
    def lag_share(self) -> float:
        """The referee's delay as a share of the seats' deciding time, from 0 to 1."""
        wall = sum(seat.wall_seconds for seat in self.seats)
        return min(1.0, sum(seat.lag_seconds for seat in self.seats) / wall) if wall else 0.0

    @property
    def lagged(self) -> bool:
        """True if the referee was late so often that the times of the match prove little."""
        lag = sum(seat.lag_seconds for seat in self.seats)
        return self.lag_share > MAX_LAG_SHARE and lag > MAX_MEAN_LAG * self.decisions


def final_ranks(ranks: Sequence[int], out_order: Sequence[int | None]) -> list[int]:
    """Rank the seats of a match in which some seats went out.

    Args:
        ranks: the rank of each seat under the rules of the game.
        out_order: for each seat, the number of seats that were out before it; None for a seat that played to the end.

    Returns:
        The rank of each seat: those that played to the end come first, in the order of the rules; among the
        others, the first to go out is last.
    """
    # Negative, so that the last to go out is the first of those who are out.
    keys = [(0, rank) if out is None else (1, -out) for rank, out in zip(ranks, out_order, strict=True)]
    return [1 + sum(other < key for other in keys) for key in keys]


def share_beaten(ranks: Sequence[int], seat: Seat) -> float:
    """Return the share of rivals behind a seat, from 0 to 1; ties count half."""
    own = ranks[seat]
    beaten = sum((rank > own) + (rank == own) / 2 for other, rank in enumerate(ranks) if other != seat)
    return beaten / (len(ranks) - 1)


def milliseconds(seconds: float) -> float:
    """Convert a time to the unit of records, milliseconds, with three decimal places."""
    return round(seconds * 1000, 3)


def closing_lines(result: Result, digest_of_state: str) -> list[dict[str, Any]]:
    """Return the last lines of a record: the result and, if it is revealed, the seed."""
    lines: list[dict[str, Any]] = [
        {
            "type": "result",
            "state": digest_of_state,
            "decisions": result.decisions,
            "seats": [
                {
                    "seat": seat.seat,
                    "rank": seat.rank,
                    "score": seat.score,
                    "outcome": seat.outcome.value,
                    "decisions": seat.decisions,
                    "think_ms": milliseconds(seat.think_seconds),
                    "wall_ms": milliseconds(seat.wall_seconds),
                    "lag_ms": milliseconds(seat.lag_seconds),
                }
                for seat in result.seats
            ],
            "digest": result.digest,
        }
    ]
    return lines if result.seed is None else [*lines, seed_line(result.seed)]


def seed_line(seed: int) -> dict[str, Any]:
    """Return the line of a record that reveals the seed."""
    return {"type": "seed", "seed": seed}
