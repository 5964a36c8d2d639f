"""The match machine: what follows from an answer, a deadline or a fault. Pure: no clock, socket, file or process.

Theory of operation
-------------------
The one driver (`referee/live/driver.py`) tells the machine what happened, with the time in seconds on a monotonic clock;
each of these methods returns *effects*, in the order in which the driver must carry them out:

    start       the match begins                    choose      an answer came in
    sent        a question has gone out             tick        time has passed
    fault       a seat cannot go on                 lost, back  a remote seat's connection
    credit      the referee itself was slow         void        the referee itself failed

    Store       append a line to the record: always before anything that depends on it is sent
    Ask         put a decision to a seat            Reject      refuse an answer
    Withdraw    take a decision back                Dismiss     a seat is out: end its connection
    Show        tell the spectators                 Finish      the match is over

A seat that is to act is in one of these conditions, and in no other once a method has returned:

    asked    it has an open decision, with a number and a deadline
    out      the rules' default has been played for it

A decision with one legal action is played without asking. All seats to act are asked at once.

What happens to an answer (first line that fits):

    the seat has no open decision of that number           Reject STALE, no strike
    it came after the deadline                             timeout (as by tick), then Reject STALE
    it names no action, or what is none of this game       Reject MALFORMED, a strike
    its (first) action is not legal                        Reject ILLEGAL, a strike
    otherwise                                              played; then its further actions while the seat stays to act and
                                                           each is legal; the rest is dropped without a strike

What happens at a deadline: the rules' default is played (`clock`), or several, if the rules say so (`State.default_goes_on`); a
strike, unless it was a shared window that closed. A seat that is away (lost its connection) at its deadline is out. At the last
strike a seat is out. An out seat stays out: its decisions are played by `default_action`, and it ranks behind all others, first
out last.

A fault of the referee's own voids the match: it has no result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from referee.game import Action, IllegalAction, Seat, State, Window, label
from referee.kit.chance import Draw, LiveChance
from referee.match.clock import SeatClock
from referee.match.effects import (
    Ask,
    Decider,
    Decision,
    Dismiss,
    Effect,
    Finish,
    Played,
    Refusal,
    Reject,
    Show,
    Store,
    Withdraw,
    Withdrawal,
)
from referee.match.plan import MatchDigest, MatchPlan, state_digest
from referee.match.result import Fault, Outcome, Result, SeatResult, closing_lines, final_ranks

STRIKES_ALLOWED = 3
"""At this strike a seat is out."""
MAX_SENDING_SECONDS = 0.1
"""Getting a question out takes the referee no longer than this."""
STATE_DIGEST_EVERY = 32
"""Every so many actions the record holds a digest of the state."""


@dataclass(slots=True)
class _SeatState:
    """What the machine keeps of one seat."""

    clock: SeatClock
    asked: int = 0
    """How many decisions it was asked for. Each seat's are numbered for itself: numbers of all would tell how often others are asked."""
    open: Decision | None = None
    strikes: int = 0
    fault: Fault | None = None
    out_order: int = 0
    """How many seats were out before this one."""
    away: bool = False
    decisions: int = 0
    played: list[Played] = field(default_factory=list)
    dropped: str = ""


class Match:
    """One match, from its first decision to its result.

    Attributes:
        state: the authoritative state; only the machine changes it.
        result: None until the match is over.
    """

    def __init__(self, plan: MatchPlan, state: State, chance: LiveChance) -> None:
        """Prepares a match.

        Args:
            plan: what is fixed.
            state: where the match starts; made with `chance`, whose draws so far are recorded as the start's.
            chance: the luck of the match.
        """
        self.plan = plan
        self.state = state
        self.result: Result | None = None
        self._chance = chance
        self._seats = [_SeatState(SeatClock(plan.control)) for _ in range(plan.setup.seats)]
        self._actions = 0
        self._digest = MatchDigest(plan)
        self._window: Window | None = None
        self._window_deadline = 0.0
        self._outs = 0
        self._legal: dict[Seat, list[Action]] = {}  # lists of the present state, kept from settling for asking
        self._effects: list[Effect] = []
        self._now = 0.0

    # what happened, told by the driver

    def start(self, now: float, absent: Mapping[Seat, Fault]) -> list[Effect]:
        """Begins the match, without the seats that are `absent` from the start; call it once."""
        draws = self._take_draws()
        self._effects.append(Store({"type": "start", "chance": draws, "state": state_digest(self.state)}))
        self._digest.note_draws(draws)
        self._now = now
        for seat, fault in absent.items():
            self._put_out(seat, fault)
        self._go_on()
        return self._take_effects()

    def sent(self, seat: Seat, number: int, now: float) -> None:
        """A question has gone out at `now`, for the first time: the seat's time runs from then on.

        But not from much later than it was put: an agent that does not read must not gain time by it.
        """
        decision = self._seats[seat].open
        if decision is not None and decision.number == number and not decision.is_sent:
            decision.is_sent = True
            decision.asked_at = min(now, decision.asked_at + MAX_SENDING_SECONDS)

    def choose(self, seat: Seat, number: int, choice: int | Sequence[Action] | str, now: float) -> list[Effect]:
        """An answer came in at `now`.

        Args:
            seat: who answers.
            number: the decision that is answered.
            choice: an index into the legal list, or actions to be played in a row, or (a text) why it is neither.
            now: when it came in.
        """
        self._now = now
        player = self._seats[seat]
        if player.open is not None and player.open.number == number and now > self.deadline(player.open):
            self._tick()
        if self.result is not None:
            return self._take_effects()
        decision = player.open
        if decision is None or decision.number != number:
            asked = f"; decision {decision.number} is open" if decision is not None else ""
            message = f"decision {number} is not open (any more){asked}"
            self._effects.append(self._reject(seat, number, Refusal.STALE, "", message))
            return self._take_effects()
        actions = self._read_choice(decision, choice)
        if actions is not None:
            self._play_answer(decision, actions)
        return self._take_effects()

    def tick(self, now: float) -> list[Effect]:
        """Time has passed: closes every decision whose deadline is before `now`."""
        self._now = now
        self._tick()
        return self._take_effects()

    def fault(self, seat: Seat, fault: Fault, now: float) -> list[Effect]:
        """A seat cannot go on: it is out from now on."""
        self._now = now
        if self.result is None and self._seats[seat].fault is None:
            self._put_out(seat, fault)
            self._go_on()
        return self._take_effects()

    def lost(self, seat: Seat) -> None:
        """A remote seat has lost its connection; its clock runs on, and it may come back."""
        self._seats[seat].away = True

    def back(self, seat: Seat) -> list[Effect]:
        """A remote seat has come back: its open decision is put again, with the time that is left."""
        player = self._seats[seat]
        player.away = False
        return [] if player.open is None else [Ask(player.open)]

    def credit(self, seconds: float) -> None:
        """The referee itself was slow for so long: nobody is charged for it.

        One decision is credited no more than its budget and a second, so that an agent which keeps the machine busy cannot
        think for ever.
        """
        for player in self._seats:
            decision = player.open
            if decision is not None:
                credit = min(seconds, decision.budget + 1 - decision.credited)
                decision.credited += credit
                decision.asked_at += credit
        self._window_deadline += seconds

    # what the driver may ask

    def deadline(self, decision: Decision) -> float:
        """Until when an open decision can be answered: its own clock's end, or that of the window."""
        return min(decision.deadline, self._window_deadline) if decision.window_name else decision.deadline

    def next_deadline(self) -> float | None:
        """When `tick` must be called at the latest, if nothing else happens; None if nobody's time runs."""
        deadlines = [self.deadline(player.open) for player in self._seats if player.open is not None]
        return min(deadlines, default=None)

    def is_out(self, seat: Seat) -> bool:
        """Whether a seat is out."""
        return self._seats[seat].fault is not None

    def strikes(self, seat: Seat) -> int:
        """How many strikes a seat has."""
        return self._seats[seat].strikes

    # answers

    def _read_choice(self, decision: Decision, choice: int | Sequence[Action] | str) -> list[Action] | None:
        """The actions of an answer, of which the first is legal; None if it was refused."""
        seat = decision.seat
        if isinstance(choice, str):
            self._strike(decision, Refusal.MALFORMED, "", choice)
            return None
        if isinstance(choice, int):
            if 0 <= choice < len(decision.actions):
                return [decision.actions[choice]]
            message = f"index {choice} is not in the list of {len(decision.actions)} legal actions (0 to {len(decision.actions) - 1})"
            self._strike(decision, Refusal.ILLEGAL, "", message)
            return None
        if not choice:
            self._strike(decision, Refusal.MALFORMED, "", "the answer names no action")
            return None
        if choice[0] in decision.actions:
            return list(choice)
        reason, rule = self._why_illegal(seat, choice[0])
        self._strike(decision, Refusal.ILLEGAL, rule, f"{label(choice[0])} is not legal: {reason}")
        return None

    def _why_illegal(self, seat: Seat, action: Action) -> tuple[str, str]:
        try:
            self.state.clone().apply(seat, action, LiveChance(0))
        except IllegalAction as error:
            return error.reason, error.rule
        raise AssertionError(f"{label(action)} is not listed, but the rules accept it")

    def _play_answer(self, decision: Decision, actions: list[Action]) -> None:
        seat = decision.seat
        player = self._seats[seat]
        seconds = self._close(decision)
        self._apply(seat, actions[0], Decider.AGENT, seconds)
        rest = actions[1:]
        while rest:
            self._settle(seat, rest)
            if not rest:
                break
            if seat not in self.state.seats_to_act():
                player.dropped = f"{len(rest)} of {len(actions)} actions dropped: the seat is not to act any more"
                break
            if rest[0] not in self.state.legal_actions(seat):
                reason, rule = self._why_illegal(seat, rest[0])
                rule = f" ({rule})" if rule else ""
                player.dropped = (
                    f"{len(rest)} of {len(actions)} actions dropped: {label(rest[0])} is not legal: {reason}{rule}"
                )
                break
            self._apply(seat, rest.pop(0), Decider.AGENT, 0.0)
        self._go_on()

    def _close(self, decision: Decision) -> float:
        """Ends an open decision and charges the seat; returns the seconds."""
        player = self._seats[decision.seat]
        player.open = None
        seconds = max(0.0, self._now - decision.asked_at)
        player.clock.charge(seconds)
        return seconds

    def _strike(self, decision: Decision, refusal: Refusal, rule: str, message: str) -> None:
        seat = decision.seat
        player = self._seats[seat]
        player.strikes += 1
        self._effects.append(
            Store({"type": "strike", "seat": seat, "reason": "illegal", "detail": message, "rule": rule})
        )
        self._effects.append(self._reject(seat, decision.number, refusal, rule, message))
        if player.strikes >= STRIKES_ALLOWED:
            self._put_out(seat, Fault(Outcome.ILLEGAL, message + (f" ({rule})" if rule else "")))
            self._go_on()

    def _reject(self, seat: Seat, number: int, refusal: Refusal, rule: str, message: str) -> Reject:
        player = self._seats[seat]
        left = max(0.0, self.deadline(player.open) - self._now) if player.open is not None else 0.0
        return Reject(seat, number, refusal, rule, message, player.strikes, left)

    # time

    def _tick(self) -> None:
        while self.result is None:
            late = [player.open for player in self._seats if player.open and self.deadline(player.open) < self._now]
            if not late:
                return
            decision = min(late, key=lambda decision: (self.deadline(decision), decision.seat))
            if decision.window_name and self._window_deadline <= decision.deadline:
                self._close_window()
            else:
                self._time_out(decision)
            self._go_on()

    def _time_out(self, decision: Decision) -> None:
        seat = decision.seat
        player = self._seats[seat]
        seconds = self._close(decision)
        self._effects.append(Withdraw(seat, decision.number, Withdrawal.TIMEOUT))
        if player.away:
            self._put_out(seat, Fault(Outcome.DISCONNECT, "lost its connection and did not come back in time"))
            return
        player.strikes += 1
        detail = f"decision {decision.number} took more than its {decision.budget:.3f} s"
        self._effects.append(Store({"type": "strike", "seat": seat, "reason": "timeout", "detail": detail, "rule": ""}))
        if player.strikes >= STRIKES_ALLOWED:
            self._put_out(seat, Fault(Outcome.TIMEOUT, detail))
            return
        self._apply(seat, self.state.default_action(seat), Decider.CLOCK, seconds)
        while seat in self.state.seats_to_act() and self.state.default_goes_on(seat):
            self._apply(seat, self.state.default_action(seat), Decider.CLOCK, 0.0)

    def _close_window(self) -> None:
        """Every seat that shares the window gets the rules' default until the window has closed for it."""
        window = self._window
        for seat, player in enumerate(self._seats):
            decision = player.open
            if decision is None or window is None or decision.window_name != window.name:
                continue
            seconds = self._close(decision)
            self._effects.append(Withdraw(seat, decision.number, Withdrawal.WINDOW))
            while seat in self.state.seats_to_act() and self.state.window() == window:
                self._apply(seat, self.state.default_action(seat), Decider.CLOCK, seconds)
                seconds = 0.0

    # going on

    def _put_out(self, seat: Seat, fault: Fault) -> None:
        player = self._seats[seat]
        player.open = None
        player.fault = fault
        player.out_order = self._outs
        self._outs += 1
        line = {"type": "out", "seat": seat, "reason": fault.outcome.value, "detail": fault.detail}
        self._effects += [Store(line), Dismiss(seat, fault)]

    def _go_on(self) -> None:
        """Plays what needs no answer, then asks every seat that is to act and not yet asked."""
        if self.result is not None:
            return
        overtaken = True
        while overtaken:
            self._settle()
            if self.state.is_over():
                self._finish()
                return
            self._look_at_window()
            overtaken = self._withdraw_overtaken()
        seats = self.state.seats_to_act()
        asked = [self._ask(seat) for seat in seats if self._seats[seat].open is None]
        if len(seats) > 1:
            for decision in asked:
                _ = decision.observation  # all are shown the same moment, whoever is faster
        self._effects += map(Ask, asked)

    def _look_at_window(self) -> None:
        window = self.state.window()
        if window is not None and (self._window is None or window.name != self._window.name):
            self._window_deadline = self._now + window.seconds
        self._window = window

    def _withdraw_overtaken(self) -> bool:
        """Withdraws what others have overtaken: the seat is not to act any more, or its list or window is another."""
        seats = self.state.seats_to_act()
        name = self._window.name if self._window is not None else ""
        found = False
        for seat, player in enumerate(self._seats):
            decision = player.open
            if decision is None:
                continue
            if seat in seats and name == decision.window_name and self.state.legal_actions(seat) == decision.actions:
                continue
            self._close(decision)
            self._effects.append(Withdraw(seat, decision.number, Withdrawal.OVERTAKEN))
            found = True
        return found

    def _settle(self, answering: Seat | None = None, rest: list[Action] | None = None) -> None:
        """Plays forced actions and the defaults of out seats until none is left.

        Actions of an answer that were forced anyway are taken off `rest`, which belongs to the seat `answering`.
        """
        while True:
            for seat in self.state.seats_to_act():
                player = self._seats[seat]
                if player.fault is not None:
                    self._apply(seat, self.state.default_action(seat), Decider.DEFAULT, 0.0)
                    break
                if player.open is None:
                    legal = self._legal[seat] = self.state.legal_actions(seat)
                    if len(legal) == 1:
                        if rest and seat == answering and rest[0] == legal[0]:
                            rest.pop(0)
                        self._apply(seat, legal[0], Decider.FORCED, 0.0)
                        break
            else:
                return

    def _ask(self, seat: Seat) -> Decision:
        player = self._seats[seat]
        player.asked += 1
        legal = self._legal.pop(seat, None) or self.state.legal_actions(seat)
        decision = Decision(player.asked, seat, self.state, legal, player.clock)
        decision.budget = player.clock.ask()
        decision.bank = player.clock.bank
        decision.asked_at = self._now
        decision.played, player.played = player.played, []
        decision.dropped, player.dropped = player.dropped, ""
        if self._window is not None:
            decision.window_name = self._window.name
            decision.window_left = max(0.0, self._window_deadline - self._now)
        player.open = decision
        return decision

    def _apply(self, seat: Seat, action: Action, by: Decider, seconds: float) -> None:
        public = self.state.is_public(seat, action)
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
            "ms": round(seconds * 1000, 3),
        }
        if draws:
            line["chance"] = draws
        if self._actions % STATE_DIGEST_EVERY == 0:
            line["state"] = state_digest(self.state)
        self._effects.append(Store(line))
        played = Played(seat, action)
        if public:
            for player in self._seats:
                player.played.append(played)
        else:
            self._seats[seat].played.append(played)
        self._effects.append(Show((played,) if public else ()))

    def _finish(self) -> None:
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
                    think_seconds=player.clock.total,
                    detail="" if fault is None else fault.detail,
                )
            )
            if player.open is not None:
                self._close(player.open)
        seed = self.plan.seed if self.plan.reveals_seed else None
        self.result = Result(tuple(seats), self._actions, digest, seed)
        self._effects += [Store(line) for line in closing_lines(self.result, state_digest(self.state))]
        self._effects.append(Finish(self.result))

    def _final_ranks(self) -> list[int]:
        return final_ranks(self.state.ranks(), [player.out_order if player.fault else None for player in self._seats])

    def _take_draws(self) -> list[tuple[str, Draw]]:
        draws = self._chance.draws[:]
        if draws:
            self._chance.draws.clear()
        return draws

    def _take_effects(self) -> list[Effect]:
        effects, self._effects = self._effects, []
        return effects
