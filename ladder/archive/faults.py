"""The history of the seats in a record: their strikes, faults and times, and the decision at which each was put out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from referee.game import Points, Seat, State, label
from referee.match.plan import MatchPlan
from referee.match.result import Result
from referee.records.changes import describe
from referee.records.moments import lead_lost, lead_taken, place_on_page, round_of
from referee.records.record import RecordLine, read_lines
from referee.records.verify import Replay
from referee.registry import find


@dataclass(frozen=True, slots=True)
class Blame:
    """A strike, or the fault that put a seat out."""

    seat: Seat
    """The number of the seat, from 0."""
    at: int
    """The number of actions before the strike or fault; `dogana replay --at` shows the position."""
    is_out: bool
    """False for a strike."""
    reason: str
    """The kind of fault, in one word."""
    detail: str
    """The fault in words."""
    rule: str
    """The number of the broken rule; empty if there is none."""


@dataclass(frozen=True, slots=True)
class LostDecision:
    """The decision at which a seat was put out."""

    seat: Seat
    """The number of the seat, from 0."""
    at: int
    """The number of actions before the decision."""
    observation: tuple[str, ...]
    """The seat's observation in words, with an entry for each field."""
    legal: tuple[str, ...]
    """The legal actions; empty if it was not the seat's turn."""
    refused: tuple[str, ...]
    """The reasons for which answers to this decision were refused."""
    fault: str
    """The fault that put the seat out."""


@dataclass(frozen=True, slots=True)
class LongestDecision:
    """The decision for which a seat was charged the most time."""

    seconds: float
    """The charge, in seconds."""
    at: int
    """The number of actions before the end of the decision."""


@dataclass(frozen=True, slots=True)
class Lead:
    """The moment when the winner took the lead for good."""

    seat: Seat
    """The number of the seat, from 0."""
    at: int
    """The number of actions before that moment; 0 if the winner led from the start."""
    round: str
    """The round at that moment, such as `round 5`; empty if the game has no rounds."""
    of: int
    """The total number of actions in the match."""


@dataclass(frozen=True, slots=True)
class Account:
    """The history of a match from a valid record."""

    plan: MatchPlan
    result: Result
    blames: tuple[Blame, ...]
    """All strikes and faults, in order."""
    lost: tuple[LostDecision, ...]
    longest: dict[Seat, LongestDecision]
    """The longest decision of each seat that was charged for one."""
    moment: str
    """The most interesting moment, as a fragment in the address of the match's page.

    It is the time when the first seat was put out; if none was, the time when a seat last lost the lead; if none did,
    the end."""
    lead: Lead | None
    """The winner's lead; None if several seats have won."""
    breakdown: tuple[tuple[Points, ...], ...]
    """The sources of each seat's points."""


def read_account(path: Path, data: bytes) -> Account:
    """Replay a record, and collect the history of its seats.

    Args:
        path: the name of the record in error messages.
        data: its bytes.

    Raises:
        RecordError: if the record is not valid.
    """
    lines = read_lines(path, data)
    blames = _blames(lines)
    outs = {
        blame.seat: blame for blame in reversed(blames) if blame.is_out
    }  # a valid record has at most one for each seat
    replay = Replay(path, find, data=data)
    lost = _lost(replay.state, 0, outs, blames)
    places = [(0, replay.state.ranks())]
    rounds = {0: round_of(replay.state.observation(None))}
    ended = 0
    for step in replay:
        ended = step.n
        lost += _lost(replay.state, step.n, outs, blames)
        ranks = replay.state.ranks()
        if ranks != places[-1][1]:
            places.append((step.n, ranks))
            rounds[step.n] = round_of(replay.state.observation(None))
    assert replay.result is not None  # noqa: S101 the iteration has ended
    places.append((ended, [seat.rank for seat in replay.result.seats]))
    first_outs = [(blame.at, blame.seat) for blame in blames if blame.is_out]
    at, seat = (*first_outs, lead_lost(places) or (ended, None))[0]
    # Until the seed is revealed, a page shows no views of seats.
    moment = place_on_page(at, seat if replay.is_sealed else None)
    taken = lead_taken(places)
    seen = replay.state.observation(None)
    lead = None if taken is None else Lead(places[-1][1].index(1), taken, rounds.get(taken, round_of(seen)), ended)
    breakdown = replay.plan.game.breakdown(replay.plan.setup, seen)
    return Account(replay.plan, replay.result, tuple(blames), tuple(lost), _longest(lines), moment, lead, breakdown)


def _counted(lines: Iterable[RecordLine]) -> Iterable[tuple[int, RecordLine]]:
    """Yield each line with the number of actions before it."""
    played = 0
    for line in lines:
        yield played, line
        played += line.data.get("type") == "action"


def _blames(lines: Iterable[RecordLine]) -> list[Blame]:
    """Return the strikes and outs in unverified lines."""
    found = []
    for at, line in _counted(lines):
        data, seat = line.data, line.data.get("seat")
        if data.get("type") in ("strike", "out") and type(seat) is int:  # True is an int, too
            reason, detail, rule = (str(data.get(key) or "") for key in ("reason", "detail", "rule"))
            found.append(Blame(seat, at, data["type"] == "out", reason, detail, rule))
    return found


def _lost(state: State, at: int, outs: Mapping[Seat, Blame], blames: Sequence[Blame]) -> list[LostDecision]:
    """Return those decisions, in one state of a match, at which seats were put out."""
    return [
        LostDecision(
            seat=seat,
            at=at,
            observation=tuple(describe(state.observation(seat))),
            legal=tuple(map(label, state.legal_actions(seat))) if seat in state.seats_to_act() else (),
            refused=tuple(
                blame.detail + (f" ({blame.rule})" if blame.rule else "")
                for blame in blames
                if (blame.seat, blame.at, blame.is_out, blame.reason) == (seat, at, False, "illegal")
            ),
            fault=f"{out.reason}: {out.detail}",
        )
        for seat, out in outs.items()
        if out.at == at and 0 <= seat < state.setup.seats  # the replay has not checked this line yet
    ]


def _longest(lines: Iterable[RecordLine]) -> dict[Seat, LongestDecision]:
    found: dict[Seat, LongestDecision] = {}
    for at, line in _counted(lines):
        if "ms" in line.data:
            seat, seconds = line.data["seat"], line.data["ms"] / 1000
            if seat not in found or seconds > found[seat].seconds:
                found[seat] = LongestDecision(seconds, at)
    return found
