"""The match machine: the consequences of an answer, a deadline or a fault, with no clock, socket, file or process.

Theory of operation
-------------------
The one driver (`referee/live/matches/driver.py`) reports each event to the machine, with the time in seconds on a
monotonic clock. Each of these methods returns *effects*, which the driver must carry out in their order:

  start       the match begins                    choose      an answer was read
  sent        a question was handed over          tick        time has passed
  fault       a seat cannot go on                 lost, back  a remote seat's connection
  lagged      the referee was late

  AppendLine  append a line to the record: always before anything that depends on it is sent
  Ask         put a decision to a seat            Reject      refuse an answer
  Withdraw    take a decision back                NewDeadline an open decision has another deadline
  Dismiss     a seat is out: end its connection   Show        inform the spectators
  Finish      the match is over

A seat that is to act is in one of two states once a method has returned:

  asked    it has an open decision, with a number and a deadline
  out      the rules' default has been played for it

A match may begin with random decisions (`opening.py`): `start` plays them without asking, for seats that are out, too.

A decision with one legal action is played without asking. All seats to act are asked at once. An open decision stays
open until it is answered, its deadline passes, or other seats change the seat's legal actions. A new deadline (a sand
timer that starts or stops) does not close it.

A decision is charged the time from the handover of its question to the transport until the answer arrives. The driver
says how long the answer waited to be read. The delay before handing over counts as the referee's for at most
`MAX_SENDING_SECONDS`, so that an agent that does not read gains no time. Nothing else is given back. An answer counts
until a moment after its deadline (`TRANSIT_SECONDS`), to allow for transmission; that time is charged, and missing from
the bank afterwards. The record also contains the referee's delay while the decision was open (`Timing`).

An answer is treated according to the first line that applies:

  the seat has no open decision of that number           Reject STALE, no strike
  it arrived after the deadline                          timeout (as by tick), then Reject STALE
  it names no action, or an action of another game       Reject MALFORMED, a strike
  its (first) action is not legal                        Reject ILLEGAL, a strike
  otherwise                                              played; then its further actions while the seat stays to act
                                                         and each is legal; the rest is dropped without a strike

At a deadline, the machine plays the rules' default (`clock`) for the expired decision. If that decision was a step of a
larger one (`State.part_of`), defaults complete that larger decision and nothing else. The seat gets a strike, unless a
shared window closed. A seat that is away (its connection is lost) at its deadline is out. At the last strike a seat is
out. A seat that is out stays out: `default_action` plays its decisions. It ranks behind all others; the first to go out
is last.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from referee.game import Action, Seat, State, Stream, Window, label
from referee.kit.chance import Draw
from referee.match.clock import SeatClock
from referee.match.effects import (
    AppendLine,
    Ask,
    Decider,
    Decision,
    Dismiss,
    Effect,
    Finish,
    NewDeadline,
    Played,
    Refusal,
    Reject,
    SeatNow,
    Show,
    Timing,
    Withdraw,
    Withdrawal,
)
from referee.match.judging import Answer, Refused, judge, why_dropped
from referee.match.opening import draw_opening
from referee.match.plan import MatchDigest, MatchPlan, state_digest
from referee.match.result import Fault, Outcome, Result, SeatResult, closing_lines, final_ranks, milliseconds

STRIKES_ALLOWED = 3
"""The number of strikes at which a seat is out."""
MAX_SENDING_SECONDS = 0.1
"""The maximum delay in handing over a question that counts as the referee's, in seconds."""
STATE_DIGEST_EVERY = 32
"""The number of actions between two digests of the state in a record."""


class DrawnChance(Protocol):
    """Live or recorded chance that keeps its draws for the record."""

    draws: list[tuple[str, Draw]]
    """The draws so far as (stream, draw), in order; the machine empties the list."""

    def stream(self, name: str) -> Stream:
        """Return a stream by name."""
        ...


@dataclass(slots=True)
class _SeatState:
    """The machine's data about one seat."""

    clock: SeatClock
    decision_count: int = 0
    """The number of the seat's decisions so far. A count shared by all seats would betray other seats' decisions."""
    open: Decision | None = None
    previous: Timing | None = None
    """The time that the seat's last closed decision took."""
    charged: float = 0.0
    """The sum of `Timing.charged` over the seat's closed decisions, in seconds."""
    charged_in_public: float = 0.0
    """The value of `charged` at the seat's last public action."""
    wall: float = 0.0
    """The sum of `Timing.wall` over the seat's closed decisions, in seconds."""
    lag: float = 0.0
    """The sum of `Timing.lag` over the seat's closed decisions, in seconds."""
    strikes: int = 0
    fault: Fault | None = None
    out_order: int = 0
    """The number of seats that went out before this one, if it is out."""
    away: bool = False
    decisions: int = 0
    played: list[Played] = field(default_factory=list)
    dropped: str = ""


class MatchMachine:
    """One match, from its first decision to its result.

    Attributes:
        state: the authoritative state; only the machine changes it.
        result: None until the match is over.
        is_watched: whether the match has spectators; the driver sets it.
    """

    def __init__(self, plan: MatchPlan, state: State, chance: DrawnChance, *, transit: float = 0.0) -> None:
        """Prepare a match.

        Args:
            plan: the terms of the match.
            state: the first state, made with `chance`; the draws so far are recorded with the start.
            chance: the chance of the match.
            transit: the time after its deadline in which an answer still counts, in seconds
                (`referee.match.clock.TRANSIT_SECONDS`).
        """
        self.plan = plan
        self.state = state
        self.result: Result | None = None
        self.is_watched = False
        self._chance = chance
        self._transit = transit
        self._seats = [_SeatState(SeatClock(plan.control)) for _ in range(plan.setup.seats)]
        self._actions = 0
        self._digest = MatchDigest(plan)
        self._window: Window | None = None
        self._window_deadline = 0.0
        self._outs = 0
        self._legal: dict[Seat, list[Action]] = {}  # legal actions in the current state, cached by `_settle` for `_ask`
        self._effects: list[Effect] = []
        self._now = 0.0

    # events reported by the driver

    def start(self, now: float, absent: Mapping[Seat, Fault]) -> list[Effect]:
        """Begin the match without the seats that are `absent` from the start; call this once."""
        draws = self._take_draws()
        self._effects.append(AppendLine({"type": "start", "chance": draws, "state": state_digest(self.state)}))
        self._digest.note_draws(draws)
        self._now = now
        for seat, fault in absent.items():
            self._put_out(seat, fault)
        while self._actions < self.plan.openings and not self.state.is_over():
            seat, action = draw_opening(self.state, self._chance)
            self._apply(seat, action, Decider.OPENING)
        self._go_on()
        return self._take_effects()

    def sent(self, seat: Seat, number: int, now: float) -> None:
        """Start timing a decision, because its question was handed to the transport for the first time.

        An agent that does not read can delay this. So at most `MAX_SENDING_SECONDS` of the delay count as the
        referee's.
        """
        decision = self._seats[seat].open
        # A question is handed over again to a seat that comes back, but its time has already begun.
        if decision is not None and decision.number == number and not decision.is_sent:
            decision.is_sent = True
            decision.sent_at = min(now, decision.put_at + MAX_SENDING_SECONDS)

    def lagged(self, seconds: float, now: float) -> None:
        """Record that the referee was late by `seconds` until `now`. No deadline moves."""
        for player in self._seats:
            decision = player.open
            if decision is not None:
                # A delay that began before the question was put is not part of this decision.
                decision.lag = min(decision.lag + seconds, now - decision.put_at)

    def choose(self, seat: Seat, number: int, choice: Answer, now: float, waited: float = 0.0) -> list[Effect]:
        """Judge an answer.

        Args:
            seat: the seat that answers.
            number: the number of the decision that it answers.
            choice: the answer.
            now: the time at which the answer was read, in seconds.
            waited: the time for which it had been waiting to be read, in seconds.
        """
        self._now = now
        if self.result is not None:
            return self._take_effects()
        player = self._seats[seat]
        arrived = now - waited
        # The answer may be read before the tick that would have closed the decision.
        if player.open is not None and player.open.number == number and arrived > self._end(player.open):
            self._expire(player.open)
            self._go_on()
        # If it expired above, the seat may have its next decision by now, and the answer is stale.
        decision = player.open
        if self.result is None and (decision is None or decision.number != number):
            remark = f"; decision {decision.number} is open" if decision is not None else ""
            message = f"decision {number} is not open (any more){remark}"
            self._effects.append(self._reject(seat, number, Refusal.STALE, "", message))
        elif self.result is None and decision is not None:
            judged = judge(self.state, seat, decision.actions, choice)
            if isinstance(judged, Refused):
                self._strike(decision, judged)
            else:
                self._play_answer(decision, judged, arrived)
        return self._take_effects()

    def tick(self, now: float, read_until: float) -> list[Effect]:
        """Close every decision that ended before `read_until`. All answers that arrived earlier must have been read."""
        self._now = now
        while self.result is None:
            late = [player.open for player in self._seats if player.open and self._end(player.open) < read_until]
            if not late:
                break
            # Only the earliest decision is closed each time: its default may withdraw others or change their meaning.
            decision = min(late, key=lambda decision: (decision.deadline, decision.seat))
            if decision.ends_with_window:
                for player in self._seats:  # together, so that no default depends on another
                    if player.open is not None and player.open.window == decision.window:
                        self._expire(player.open)
            else:
                self._expire(decision)
            self._go_on()
        return self._take_effects()

    def fault(self, seat: Seat, fault: Fault, now: float) -> list[Effect]:
        """Put out a seat that cannot go on."""
        self._now = now
        if self.result is None and self._seats[seat].fault is None:
            self._put_out(seat, fault)
            self._go_on()
        return self._take_effects()

    def lost(self, seat: Seat) -> None:
        """Note that a remote seat has lost its connection. Its clock runs on, and it may come back."""
        self._seats[seat].away = True

    def back(self, seat: Seat) -> list[Effect]:
        """Put the open decision again to a remote seat that has come back, with the remaining time."""
        player = self._seats[seat]
        player.away = False
        return [] if player.open is None else [Ask(player.open)]

    # queries by the driver

    def next_deadline(self) -> float | None:
        """Return the end of the open decision that ends first, in seconds; None if no decision is open."""
        deadlines = [self._end(player.open) for player in self._seats if player.open is not None]
        return min(deadlines, default=None)

    def is_deciding(self, seat: Seat, number: int | None = None) -> bool:
        """Return whether a seat has an open decision; if `number` is given, only a decision with that number counts."""
        decision = self._seats[seat].open
        return decision is not None and number in (None, decision.number)

    def is_out(self, seat: Seat) -> bool:
        """Return whether a seat is out."""
        return self._seats[seat].fault is not None

    def seats_now(self) -> list[SeatNow]:
        """Return the public standing of each seat."""
        deciding, ranks, scores = self.state.seats_to_act(), self._final_ranks(), self.state.scores()
        return [
            SeatNow(ranks[seat], scores[seat], seat in deciding, player.charged_in_public, player.fault is not None)
            for seat, player in enumerate(self._seats)
        ]

    def strikes(self, seat: Seat) -> int:
        """Return the number of strikes that a seat has."""
        return self._seats[seat].strikes

    # answers

    def _play_answer(self, decision: Decision, actions: list[Action], arrived: float) -> None:
        seat = decision.seat
        player = self._seats[seat]
        self._apply(seat, actions[0], Decider.AGENT, self._close(decision, arrived, self._now))
        rest = actions[1:]  # they take no time, because the first was charged for all
        while rest:
            self._settle(seat, rest)
            if not rest:
                break
            player.dropped = why_dropped(self.state, seat, actions, rest)
            if player.dropped:
                break
            self._apply(seat, rest.pop(0), Decider.AGENT)
        self._go_on()

    def _end(self, decision: Decision) -> float:
        """Return the latest time at which an answer counts. A seat without time left gets no transit time either."""
        return decision.deadline + (self._transit if decision.budget > 0 else 0.0)

    def _close(self, decision: Decision, arrived: float, now: float) -> Timing:
        """End an open decision and charge the seat.

        Args:
            decision: the decision.
            arrived: the time at which its answer arrived or its deadline passed, in seconds.
            now: the time at which the answer was read or the deadline noticed, in seconds.
        """
        player = self._seats[decision.seat]
        player.open = None
        # `waited` is an upper bound, so `arrived` may be before the question.
        charged, wall = max(0.0, arrived - decision.sent_at), now - decision.put_at
        # The lag is at least the time given back, so that `wall - lag <= charged` holds (`Timing`).
        lag = max(min(decision.lag, wall), wall - charged)
        # The charge is rounded as in the record, to the microsecond, so that the bank can be recomputed from the
        # record.
        timing = player.previous = Timing(round(charged, 6), round(wall, 6), round(lag, 6))
        player.clock.charge(timing.charged)
        player.charged += timing.charged
        player.wall += timing.wall
        player.lag += timing.lag
        return timing

    def _strike(self, decision: Decision, refused: Refused) -> None:
        seat = decision.seat
        rule, message = refused.rule, refused.message
        player = self._seats[seat]
        player.strikes += 1
        self._effects.append(
            AppendLine({"type": "strike", "seat": seat, "reason": "illegal", "detail": message, "rule": rule})
        )
        self._effects.append(self._reject(seat, decision.number, refused.refusal, rule, message))
        if player.strikes >= STRIKES_ALLOWED:
            self._put_out(seat, Fault(Outcome.ILLEGAL, message + (f" ({rule})" if rule else "")))
            self._go_on()

    def _reject(self, seat: Seat, number: int, refusal: Refusal, rule: str, message: str) -> Reject:
        player = self._seats[seat]
        left = max(0.0, player.open.deadline - self._now) if player.open is not None else 0.0
        return Reject(seat, number, refusal, rule, message, player.strikes, left)

    # time

    def _expire(self, decision: Decision) -> None:
        """Close a decision whose deadline has passed, and play the rules' default."""
        seat = decision.seat
        deadline = decision.deadline
        # The decision ends at the deadline, however late the referee notices it, so nobody is charged for that delay.
        timing = self._close(decision, deadline, deadline)
        if decision.ends_with_window:
            self._effects.append(Withdraw(seat, decision.number, Withdrawal.WINDOW))
            window = decision.window
            self._apply(seat, self.state.default_action(seat), Decider.CLOCK, timing)
            while seat in self.state.seats_to_act() and self.state.window() == window:
                self._apply(seat, self.state.default_action(seat), Decider.CLOCK)
            return
        self._effects.append(Withdraw(seat, decision.number, Withdrawal.TIMEOUT))
        player = self._seats[seat]
        if player.away:
            detail = "lost its connection and did not come back in time"
            self._put_out(seat, Fault(Outcome.DISCONNECT, detail), timing)
            return
        player.strikes += 1
        detail = _late(decision)
        self._effects.append(
            AppendLine({"type": "strike", "seat": seat, "reason": "timeout", "detail": detail, "rule": ""})
        )
        if player.strikes >= STRIKES_ALLOWED:
            self._put_out(seat, Fault(Outcome.TIMEOUT, detail), timing)
            return
        # This is read before the default is played; afterwards the seat may be in its next plan, with its full time.
        whole = self.state.part_of(seat)
        self._apply(seat, self.state.default_action(seat), Decider.CLOCK, timing)
        while whole and seat in self.state.seats_to_act() and self.state.part_of(seat) == whole:
            self._apply(seat, self.state.default_action(seat), Decider.CLOCK)

    # going on

    def _put_out(self, seat: Seat, fault: Fault, timing: Timing | None = None) -> None:
        player = self._seats[seat]
        player.open = None
        player.fault = fault
        player.out_order = self._outs
        self._outs += 1
        line = {"type": "out", "seat": seat, "reason": fault.outcome.value, "detail": fault.detail, **_times(timing)}
        self._effects += [AppendLine(line), Dismiss(seat, fault)]

    def _go_on(self) -> None:
        """Play everything that needs no answer; then ask every seat that is to act and has no open decision."""
        if self.result is not None:
            return
        overtaken = True
        while overtaken:
            self._settle()
            if self.state.is_over():
                self._finish()
                return
            self._look_at_window()
            # A seat that loses its decision may have one action left; it is played unasked and may overtake others.
            overtaken = self._withdraw_overtaken()
        seats = self.state.seats_to_act()
        decisions = [self._ask(seat) for seat in seats if self._seats[seat].open is None]
        if len(seats) > 1:
            for decision in decisions:
                _ = decision.observation  # all see the same moment, whoever answers first
        self._effects += map(Ask, decisions)

    def _look_at_window(self) -> None:
        window = self.state.window()
        # The name tells windows apart. While a window stays open, its deadline stays the same.
        if window is not None and (self._window is None or window.name != self._window.name):
            self._window_deadline = self._now + window.seconds
        self._window = window

    def _withdraw_overtaken(self) -> bool:
        """Withdraw every open decision of a seat that is no longer to act, or whose legal actions have changed.

        If a window has opened or closed, the open decisions that stay get their new deadline.
        """
        seats = self.state.seats_to_act()
        found = False
        for seat, player in enumerate(self._seats):
            decision = player.open
            if decision is None:
                continue
            # An answer may be an index, so the list has to be the one that the seat has.
            if seat in seats and self.state.legal_actions(seat) == decision.actions:
                if decision.window != self._window:
                    decision.window, decision.window_deadline = self._window, self._window_deadline
                    self._effects.append(NewDeadline(decision))
                continue
            self._withdraw(decision)
            found = True
        return found

    def _withdraw(self, decision: Decision) -> None:
        # This deadline may have passed together with the one that led here, but the charge never exceeds the budget.
        timing = self._close(decision, min(self._now, self._end(decision)), self._now)
        self._effects.append(AppendLine({"type": "withdrawn", "seat": decision.seat, **_times(timing)}))
        self._effects.append(Withdraw(decision.seat, decision.number, Withdrawal.OVERTAKEN))

    def _settle(self, answering: Seat | None = None, rest: list[Action] | None = None) -> None:
        """Play forced actions, and the defaults of seats that are out, until there are none left.

        Forced actions that an answer names are removed from `rest`, the remaining actions of the seat `answering`.
        """
        while True:
            # Begin with the first seat again after each action, since the action may change who is to act.
            for seat in self.state.seats_to_act():
                player = self._seats[seat]
                if player.fault is not None:
                    self._apply(seat, self.state.default_action(seat), Decider.DEFAULT)
                    break
                if player.open is None:
                    legal = self._legal[seat] = self.state.legal_actions(seat)
                    if len(legal) == 1:
                        if rest and seat == answering and rest[0] == legal[0]:
                            rest.pop(0)
                        self._apply(seat, legal[0], Decider.FORCED)
                        break
            else:
                return

    def _ask(self, seat: Seat) -> Decision:
        player = self._seats[seat]
        player.decision_count += 1
        legal = self._legal.pop(seat, None) or self.state.legal_actions(seat)
        decision = Decision(
            player.decision_count,
            seat,
            self.state,
            legal,
            player.clock,
            self._now,
            previous=player.previous,
            played=player.played,
            dropped=player.dropped,
            window=self._window,
            window_deadline=self._window_deadline,
        )
        player.played, player.dropped = [], ""  # a new list, because the decision keeps the old one
        player.open = decision
        return decision

    def _apply(self, seat: Seat, action: Action, by: Decider, timing: Timing | None = None) -> None:
        public = self.state.is_public(seat, action)  # before the action (sentence 13 of the contract)
        self._legal.clear()
        self.state.apply(seat, action, self._chance)
        draws = self._take_draws()
        self._actions += 1
        self._seats[seat].decisions += 1
        self._digest.note_action(seat, action)
        self._digest.note_draws(draws)
        line: dict[str, Any] = {
            "type": "action",
            "n": self._actions,
            "seat": seat,
            "action": label(action),
            "by": by.value,
            **_times(timing),
        }
        if draws:
            line["chance"] = draws
        if self._actions % STATE_DIGEST_EVERY == 0:
            line["state"] = state_digest(self.state)
        self._effects.append(AppendLine(line))
        played = Played(seat, action)
        if public:
            self._seats[seat].charged_in_public = self._seats[seat].charged
            for player in self._seats:
                player.played.append(played)
        else:
            self._seats[seat].played.append(played)
        seen = self.state.observation(None) if self.is_watched else None
        self._effects.append(Show((played,) if public else (), seen))

    def _finish(self) -> None:
        for player in self._seats:
            if player.open is not None:
                self._withdraw(player.open)  # other seats have ended the match; the time that this decision took counts
        ranks = self._final_ranks()
        scores = self.state.scores()
        digest = self._digest.close(ranks, scores)
        seats = []
        for seat, player in enumerate(self._seats):
            fault = player.fault
            seats.append(
                SeatResult(
                    seat=seat,
                    bot=self.plan.bots[seat],
                    rank=ranks[seat],
                    score=scores[seat],
                    outcome=Outcome.PLAYED if fault is None else fault.outcome,
                    decisions=player.decisions,
                    think_seconds=player.charged,
                    wall_seconds=player.wall,
                    lag_seconds=player.lag,
                    detail="" if fault is None else fault.detail,
                )
            )
        seed = self.plan.seed if self.plan.reveals_seed else None
        self.result = Result(tuple(seats), self._actions, digest, seed)
        self._effects += [AppendLine(line) for line in closing_lines(self.result, state_digest(self.state))]
        self._effects.append(Finish(self.result))

    def _final_ranks(self) -> list[int]:
        return final_ranks(self.state.ranks(), [player.out_order if player.fault else None for player in self._seats])

    def _take_draws(self) -> list[tuple[str, Draw]]:
        # The list is copied and cleared, not replaced, because the streams of the chance hold the list itself.
        draws = self._chance.draws[:]
        if draws:
            self._chance.draws.clear()
        return draws

    def _take_effects(self) -> list[Effect]:
        effects, self._effects = self._effects, []
        return effects


def _times(timing: Timing | None) -> dict[str, float]:
    """Return the times in milliseconds for the line that ends a decision; empty for other lines."""
    if timing is None:
        return {}
    return {
        "ms": milliseconds(timing.charged),
        "wall_ms": milliseconds(timing.wall),
        "lag_ms": milliseconds(timing.lag),
    }


def _late(decision: Decision) -> str:
    if decision.budget <= 0:
        return f"decision {decision.number} had no time: the bank was empty"
    budget = f"{decision.budget:.3f}".rstrip("0").rstrip(".") if decision.budget >= 0.001 else "less than 0.001"
    return f"decision {decision.number} was not answered within its {budget} s"
