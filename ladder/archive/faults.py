"""What the record of a match says about its seats: strikes, faults, times, and the decision at which each was put out."""

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
    """A strike, or what put a seat out."""

    seat: Seat
    """The seat, counted from 0."""
    at: int
    """How many actions had been played; `dogana replay --at` shows the position."""
    is_out: bool
    """False for a strike."""
    reason: str
    """The kind of fault, in a word."""
    detail: str
    """What was wrong, in words."""
    rule: str
    """The number of the rule that was broken; empty if there is none."""


@dataclass(frozen=True, slots=True)
class LostDecision:
    """Where a seat was put out."""

    seat: Seat
    """The seat, counted from 0."""
    at: int
    """How many actions had been played."""
    observation: tuple[str, ...]
    """What the seat knew, in words, an entry for each field."""
    legal: tuple[str, ...]
    """The legal actions; none if it was not the seat's turn."""
    refused: tuple[str, ...]
    """Why each answer to this decision was refused."""
    fault: str
    """What put the seat out."""


@dataclass(frozen=True, slots=True)
class LongestDecision:
    """The decision for which a seat was charged most."""

    seconds: float
    """What it was charged, in seconds."""
    at: int
    """How many actions had been played when it ended."""


@dataclass(frozen=True, slots=True)
class Lead:
    """Where the winner took the lead for good."""

    seat: Seat
    """The seat, counted from 0."""
    at: int
    """How many actions had been played; 0 if it led from the beginning."""
    round: str
    """In which round that was, such as `round 5`; empty if the game has none."""
    of: int
    """How many actions were played in all."""


@dataclass(frozen=True, slots=True)
class Account:
    """What a record that holds says about how its match went."""

    plan: MatchPlan
    result: Result
    blames: tuple[Blame, ...]
    """In the order in which they happened."""
    lost: tuple[LostDecision, ...]
    longest: dict[Seat, LongestDecision]
    """For each seat that was charged for a decision."""
    moment: str
    """Where to look first on the page of the match, as the end of its address: where the first seat was put out, or else where
    the lead was lost for the last time; otherwise the end."""
    lead: Lead | None
    """None if several seats have won."""
    breakdown: tuple[tuple[Points, ...], ...]
    """For each seat what its points are for."""


def read_account(path: Path, data: bytes | None = None) -> Account:
    """Play a record again, and note what went wrong for its seats.

    Args:
        path: the record.
        data: its bytes, if they were read already; `path` is what errors call it then.

    Raises:
        RecordError: if the record cannot be read or does not hold.
    """
    lines = read_lines(path, data)
    blames = _blames(lines)
    outs = {blame.seat: blame for blame in reversed(blames) if blame.is_out}  # a record that holds has one for a seat
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
    assert replay.result is not None  # noqa: S101 the iteration came to its end
    places.append((ended, [seat.rank for seat in replay.result.seats]))
    first_outs = [(blame.at, blame.seat) for blame in blames if blame.is_out]
    at, seat = (*first_outs, lead_lost(places) or (ended, None))[0]
    moment = place_on_page(at, seat if replay.is_sealed else None)
    taken = lead_taken(places)
    seen = replay.state.observation(None)
    lead = None if taken is None else Lead(places[-1][1].index(1), taken, rounds.get(taken, round_of(seen)), ended)
    breakdown = replay.plan.game.breakdown(replay.plan.setup, seen)
    return Account(replay.plan, replay.result, tuple(blames), tuple(lost), _longest(lines), moment, lead, breakdown)


def _counted(lines: Iterable[RecordLine]) -> Iterable[tuple[int, RecordLine]]:
    """Yield each line with the number of actions that were played before it."""
    played = 0
    for line in lines:
        yield played, line
        played += line.data.get("type") == "action"


def _blames(lines: Iterable[RecordLine]) -> list[Blame]:
    """Return the strikes and outs of lines that nobody has checked yet."""
    found = []
    for at, line in _counted(lines):
        data, seat = line.data, line.data.get("seat")
        if data.get("type") in ("strike", "out") and type(seat) is int:
            reason, detail, rule = (str(data.get(key) or "") for key in ("reason", "detail", "rule"))
            found.append(Blame(seat, at, data["type"] == "out", reason, detail, rule))
    return found


def _lost(state: State, at: int, outs: Mapping[Seat, Blame], blames: Sequence[Blame]) -> list[LostDecision]:
    """Return the decisions at which seats were put out in a state."""
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
