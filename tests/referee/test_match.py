"""The match machine (`referee/match/machine.py`): answers, refusals, faults, connections, simultaneous and overtaken decisions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from referee.game import Action, Seat
from referee.games.cargo_noir.actions import Casino, Send, Stake
from referee.games.cargo_noir.names import Destination
from referee.match.effects import AppendLine, Ask, Dismiss, Finish, Played, Refusal, Reject, Show, Withdraw, Withdrawal
from referee.match.judging import Answer, Unreadable
from referee.match.machine import STRIKES_ALLOWED
from referee.match.result import Fault, Outcome, final_ranks
from tests.tables import Table, cargo_noir, plan_of, sealed
from tests.toy.games.sealed import Commit, Lay, SealedState

CASINO = Send(Destination.CASINO)
MARKET = Send(Destination.BLACK_MARKET)
CRASH = Fault(Outcome.CRASH, "exited with status 1")


class TestAnswers:
    def test_the_seat_to_act_is_asked_with_its_legal_actions(self) -> None:
        table = cargo_noir()
        assert list(table.open) == [0]
        assert table.open[0].actions == table.match.state.legal_actions(0)

    def test_an_index_plays_the_action_at_that_place(self) -> None:
        table = cargo_noir()
        table.answer(0, 1)
        assert table.actions()[0]["action"] == "send(black_market)"
        assert table.actions()[0]["by"] == "agent"

    def test_an_action_plays_itself(self) -> None:
        table = cargo_noir()
        table.answer(0, [MARKET])
        assert table.actions()[0]["action"] == "send(black_market)"

    def test_several_actions_play_a_whole_turn(self) -> None:
        table = cargo_noir()
        table.answer(0, [CASINO, Send(Destination.ROTTERDAM), Stake(2), MARKET])
        assert [line["action"] for line in table.actions()] == [
            "send(casino)",
            "send(rotterdam)",
            "stake(2)",
            "send(black_market)",
        ]
        assert list(table.open) == [1]

    def test_what_is_not_legal_any_more_is_dropped_without_a_strike(self) -> None:
        table = cargo_noir()
        table.answer(0, [CASINO, Stake(2), CASINO])
        assert [line["action"] for line in table.actions()] == ["send(casino)"]
        assert "2 of 3 actions dropped: stake(2) is not legal" in table.open[0].dropped
        assert table.open[0].dropped.endswith(" (C6.3)")
        assert table.match.strikes(0) == 0
        table.answer(0, [CASINO, Lay(3)])
        assert "1 of 2 actions dropped: lay(3) is not legal" in table.open[0].dropped
        assert table.open[0].dropped.endswith(" is not an action of cargo_noir")

    def test_what_is_left_when_the_turn_is_over_is_dropped(self) -> None:
        table = cargo_noir()
        table.answer(0, [CASINO] * 5)
        assert len(table.actions()) == 3
        table.answer(1, [CASINO] * 3)
        assert "2 of 5 actions dropped: the seat is not to act any more" in table.open[0].dropped

    def test_a_decision_with_one_legal_action_is_played_without_asking(self) -> None:
        table = cargo_noir()
        table.answer(0, [CASINO] * 3)
        table.answer(1, [CASINO] * 3)
        forced = [line for line in table.actions() if line["by"] == "forced"]
        assert [line["action"] for line in forced] == ["casino"] * 3
        assert forced[0]["seat"] == 0

    def test_a_forced_action_within_an_answer_may_be_named_or_left_out(self) -> None:
        digests = []
        for middle in ([Stake(7)], []):
            table = cargo_noir(seed=3)
            table.answer(0, [Send(Destination.ROTTERDAM), Stake(6), CASINO, CASINO])
            table.answer(1, [Send(Destination.ROTTERDAM), *middle, MARKET, CASINO])
            assert [(line["action"], line["by"]) for line in table.actions() if line["seat"] == 1] == [
                ("send(rotterdam)", "agent"),
                ("stake(7)", "forced"),
                ("send(black_market)", "agent"),
                ("send(casino)", "agent"),
            ]
            digests.append(table.play_out().digest)
        assert digests[0] == digests[1]

    def test_a_forced_action_may_be_the_last_that_an_answer_names(self) -> None:
        table = cargo_noir(seed=3)
        table.answer(0, [Send(Destination.ROTTERDAM), Stake(6), CASINO, CASINO])
        table.answer(1, [Send(Destination.ROTTERDAM), Stake(7)])
        assert (table.open[1].number, table.open[1].dropped) == (2, "")
        table = sealed()
        table.answer(1, [Commit()])
        table.answer(0, [*table.open[0].actions[:2], Commit()])
        assert (table.open[0].number, table.open[0].dropped) == (2, "")
        table.answer(1, [Commit()])
        table.answer(
            0, [*table.open[0].actions[:2], Commit()]
        )  # its last cards: it can only commit in the next round, too
        assert [line["by"] for line in table.actions()[-2:]] == ["forced", "forced"]

    def test_the_same_action_forced_on_another_seat_takes_nothing_from_an_answer(self) -> None:
        table = sealed(2)
        table.answer(1, [Commit()])
        for _ in range(2):
            table.answer(0, table.open[0].actions[:2])  # its whole hand, so that it can only commit in the last round
        table.answer(1, [Commit(), Commit()])
        decided = [(line["seat"], line["action"], line["by"]) for line in table.actions()]
        assert decided[-3:] == [(1, "commit", "agent"), (0, "commit", "forced"), (1, "commit", "agent")]
        assert table.finished

    def test_every_line_is_stored_before_anything_is_sent_on(self) -> None:
        table = cargo_noir()
        kinds = [type(effect) for effect in table.answer(0, [CASINO] * 3)]
        assert kinds.index(Ask) > max(place for place, kind in enumerate(kinds) if kind is AppendLine)

    def test_each_seat_learns_what_was_played_since_it_was_last_asked(self) -> None:
        table = cargo_noir()
        table.answer(0, [CASINO, MARKET, CASINO])
        assert [(entry.seat, entry.action) for entry in table.open[1].played] == [
            (0, CASINO),
            (0, MARKET),
            (0, CASINO),
        ]
        table.answer(1, 0)
        assert [(entry.seat, entry.action) for entry in table.open[1].played] == [(1, CASINO)]

    def test_each_seats_decisions_are_numbered_from_one_so_that_no_number_tells_of_others(self) -> None:
        table = sealed(3)
        assert [table.open[seat].number for seat in range(3)] == [1, 1, 1]
        table.answer(0, 0)
        table.answer(2, 0)
        assert [table.open[seat].number for seat in range(3)] == [2, 1, 2]


class TestRefusals:
    @pytest.mark.parametrize(
        ("choice", "refusal", "rule", "text"),
        [
            (99, Refusal.ILLEGAL, "", "index 99 is not in the list"),
            ([Stake(2)], Refusal.ILLEGAL, "C6.3", "stake(2) is not legal"),
            ([Stake(2), CASINO], Refusal.ILLEGAL, "C6.3", "stake(2) is not legal"),
            ([Casino()], Refusal.ILLEGAL, "C2.4", "casino is not legal"),
            ([Lay(3)], Refusal.ILLEGAL, "", "not an action of cargo_noir"),
            ([], Refusal.MALFORMED, "", "names no action"),
            (Unreadable("what is that"), Refusal.MALFORMED, "", "what is that"),
        ],
    )
    def test_a_wrong_answer_is_refused_with_the_reason_and_the_rule(
        self, choice: Answer, refusal: Refusal, rule: str, text: str
    ) -> None:
        table = cargo_noir()
        table.wait(2)
        table.answer(0, choice)
        [reject] = table.said(Reject)
        assert (reject.refusal, reject.rule, reject.strikes) == (refusal, rule, 1)
        assert text in reject.message
        assert reject.left == pytest.approx(8)
        assert not table.actions()

    def test_an_index_just_outside_of_the_list_is_refused_with_what_is_in_it(self) -> None:
        table = cargo_noir()
        count = len(table.open[0].actions)
        for index in (-1, count):
            table.answer(0, index)
            [reject] = table.said(Reject)
            said = f"index {index} is not in the list of {count} legal actions (0 to {count - 1})"
            assert (reject.refusal, reject.message) == (Refusal.ILLEGAL, said)
        table.answer(0, count - 1)
        assert [line["by"] for line in table.actions()] == ["agent"]

    def test_the_decision_stays_open_and_its_time_runs_on(self) -> None:
        table = cargo_noir()
        number = table.open[0].number
        table.wait(4)
        table.answer(0, 99)
        table.wait(3)
        table.answer(0, 0, number)
        assert table.actions()[0]["ms"] == pytest.approx(7000)

    def test_at_the_third_strike_the_seat_is_out_and_the_rules_play_on_for_it(self) -> None:
        table = cargo_noir()
        for _ in range(STRIKES_ALLOWED):
            table.answer(0, 99)
        [dismiss] = table.said(Dismiss)
        assert dismiss.fault.outcome is Outcome.ILLEGAL
        assert [line["by"] for line in table.actions()] == ["default"] * 3
        assert list(table.open) == [0, 1] or list(table.open) == [1]
        table.open.pop(0, None)
        result = table.play_out()
        assert [seat.outcome for seat in result.seats] == [Outcome.ILLEGAL, Outcome.PLAYED]
        assert [seat.rank for seat in result.seats] == [2, 1]

    @pytest.mark.parametrize(
        ("choice", "end"), [([Stake(2)], " (C6.3)"), ([Lay(3)], " is not an action of cargo_noir")]
    )
    def test_why_a_seat_is_out_names_the_rule_if_there_is_one(self, choice: list[Action], end: str) -> None:
        table = cargo_noir()
        for _ in range(STRIKES_ALLOWED):
            table.answer(0, choice)
        [dismiss] = table.said(Dismiss)
        assert dismiss.fault.detail.endswith(end)

    @pytest.mark.parametrize("number", [0, 77, 2**63])
    def test_an_answer_to_a_decision_that_never_was_is_stale(self, number: int) -> None:
        table = cargo_noir()
        table.answer(0, 0, number)
        [reject] = table.said(Reject)
        assert (reject.refusal, reject.strikes) == (Refusal.STALE, 0)
        assert not table.actions()

    def test_a_second_answer_to_the_same_decision_is_stale(self) -> None:
        table = cargo_noir()
        number = table.open[0].number
        table.answer(0, 0)
        table.answer(0, 1, number)
        [reject] = table.said(Reject)
        assert reject.refusal is Refusal.STALE
        assert len(table.actions()) == 1
        assert f"decision {table.open[0].number} is open" in reject.message

    def test_an_answer_of_a_seat_that_is_not_asked_is_stale(self) -> None:
        table = cargo_noir()
        table.answer(1, 0, table.open[0].number)
        assert table.said(Reject)[0].refusal is Refusal.STALE


class TestFaults:
    def test_a_seat_that_crashes_is_out_and_the_others_match_still_counts(self) -> None:
        table = Table(plan_of(seats=3, options={"first_player": 0}))
        table.answer(0, [CASINO] * 3)
        table.fault(1, CRASH)
        result = table.play_out()
        assert [seat.outcome for seat in result.seats] == [Outcome.PLAYED, Outcome.CRASH, Outcome.PLAYED]
        assert result.seats[1].rank == 3
        assert result.seats[1].detail == "exited with status 1"

    def test_a_seat_can_crash_when_it_is_not_to_act(self) -> None:
        table = cargo_noir()
        table.fault(1, CRASH)
        assert list(table.open) == [0]
        assert table.play_out().seats[1].outcome is Outcome.CRASH

    def test_who_is_asked_because_another_crashed_is_asked_from_that_moment(self) -> None:
        table = cargo_noir()
        table.now += 5
        table.fault(0, CRASH)
        table.now += 2
        table.answer(1, 0)
        assert (table.actions()[-1]["ms"], table.actions()[-1]["wall_ms"]) == (2000, 2000)

    def test_who_is_out_first_is_last(self) -> None:
        table = Table(plan_of(seats=4, options={"first_player": 0}))
        table.fault(2, CRASH)
        table.fault(0, Fault(Outcome.DISCONNECT, "gone"))
        table.fault(2, Fault(Outcome.PROTOCOL, "too late to matter"))
        result = table.play_out()
        assert (result.seats[2].rank, result.seats[0].rank) == (4, 3)
        assert result.seats[2].outcome is Outcome.CRASH

    def test_when_all_are_out_the_rules_play_the_match_to_its_end(self) -> None:
        table = cargo_noir()
        table.fault(0, CRASH)
        table.fault(1, CRASH)
        assert table.finished
        assert [seat.rank for seat in table.said(Finish)[0].result.seats] == [2, 1]

    def test_seats_that_never_joined_are_out_from_the_start(self) -> None:
        table = Table(plan_of(seats=2), {0: Fault(Outcome.START, "did not join")})
        result = table.play_out()
        assert result.seats[0].outcome is Outcome.START

    def test_an_answer_of_a_seat_that_is_out_is_stale(self) -> None:
        table = cargo_noir()
        number = table.open[0].number
        table.fault(0, CRASH)
        table.answer(0, 0, number)
        assert table.said(Reject)[0].refusal is Refusal.STALE

    def test_nothing_that_comes_after_the_end_has_any_effect(self) -> None:
        table = cargo_noir()
        table.play_out()
        assert table.answer(0, 0, 1) == []
        assert table.fault(0, CRASH) == []
        assert table.wait(1000) == []

    def test_out_seats_rank_behind_all_others_whatever_their_score(self) -> None:
        assert final_ranks([1, 2, 2, 4], [None, None, None, None]) == [1, 2, 2, 4]
        assert final_ranks([1, 2, 2, 4], [0, None, None, None]) == [4, 1, 1, 3]
        assert final_ranks([1, 2, 2, 4], [1, None, 0, None]) == [3, 1, 4, 2]


class TestEnd:
    def test_the_seed_is_revealed(self) -> None:
        table = Table(plan_of(seed=7))
        assert table.play_out().seed == 7
        assert [line["type"] for line in table.lines[-2:]] == ["result", "seed"]
        assert table.lines[-1]["seed"] == 7

    def test_a_seed_that_other_matches_need_is_kept(self) -> None:
        table = Table(replace(plan_of(seed=7), reveals_seed=False))
        assert table.play_out().seed is None
        assert table.lines[-1]["type"] == "result"


class TestRemoteSeats:
    def test_a_lost_seat_that_comes_back_is_asked_the_same_again(self) -> None:
        table = cargo_noir("0+10/10")
        number = table.open[0].number
        table.match.lost(0)
        table.wait(6)
        table.back(0)
        assert table.said(Ask)[0].decision.number == number
        table.wait(1)
        table.answer(0, 0, number)
        assert table.actions()[0]["by"] == "agent"
        assert table.actions()[0]["ms"] == pytest.approx(7000)

    def test_coming_back_again_and_again_gains_no_time(self) -> None:
        table = cargo_noir("0+10/10")
        for _ in range(11):
            table.match.lost(0)
            table.wait(0.95)
            table.back(0)
        assert table.match.is_out(0)

    def test_a_seat_that_has_come_back_and_is_late_gets_a_strike_like_any_other(self) -> None:
        table = cargo_noir("0+10/10")
        table.match.lost(0)
        table.wait(3)
        table.back(0)
        table.wait(7.001)
        assert (table.match.is_out(0), table.match.strikes(0)) == (False, 1)

    def test_a_lost_seat_that_stays_away_until_its_deadline_is_out(self) -> None:
        table = cargo_noir("0+10/10")
        table.match.lost(0)
        table.wait(10.001)
        assert table.said(Dismiss)[0].fault.outcome is Outcome.DISCONNECT
        assert [line["by"] for line in table.actions()] == ["default"] * 3
        assert [line["type"] for line in table.lines if line["type"] in ("strike", "out")] == ["out"]

    def test_a_seat_may_be_away_while_it_is_not_its_turn(self) -> None:
        table = cargo_noir("0+10/10")
        table.match.lost(1)
        table.answer(0, [CASINO] * 3)
        table.wait(5)
        table.back(1)
        table.answer(1, [CASINO] * 3)
        assert not table.match.is_out(1)


class TestSimultaneousDecisions:
    def test_all_seats_to_act_are_asked_at_once(self) -> None:
        assert list(sealed(3).open) == [0, 1, 2]

    def test_nobody_but_its_own_seat_is_told_of_a_secret_decision(self) -> None:
        table = sealed(2)
        lay = table.open[0].actions[0]
        table.answer(0, 0)
        assert list(table.open) == [1, 0]
        assert table.open[1].played == []
        assert table.open[0].played == [Played(0, lay)]
        table.answer(0, [Commit()])
        table.answer(1, [Commit()])
        assert [(entry.seat, type(entry.action)) for entry in table.open[1].played] == [
            (0, Commit),
            (1, Commit),
        ]

    def test_spectators_are_shown_every_action_but_told_of_public_ones_only(self) -> None:
        table = sealed(2)
        table.answer(0, 0)
        assert [effect.played for effect in table.said(Show)] == [()]
        table.answer(0, [Commit()])
        assert [effect.played for effect in table.said(Show)] == [(Played(0, Commit()),)]

    def test_a_decision_is_not_taken_back_because_others_have_decided(self) -> None:
        table = sealed(3)
        number = table.open[2].number
        table.answer(0, 0)
        table.answer(1, [Commit()])
        assert table.open[2].number == number

    def test_the_order_of_arrival_changes_neither_the_outcome_nor_the_digest(self) -> None:
        digests = set()
        for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
            table = sealed(3)
            while table.match.result is None:
                for seat in order:
                    if seat in table.open and table.match.result is None:
                        lays = [action for action in table.open[seat].actions if isinstance(action, Lay)]
                        table.answer(seat, [*lays[:1], Commit()])
            digests.add(table.match.result.digest)
        assert len(digests) == 1

    def test_an_observation_shows_the_moment_of_asking(self) -> None:
        table = sealed(2)
        table.answer(0, [Commit()])
        assert not table.open[1].observation.seats[0].committed


def legal_after_a_commit(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Once a seat has committed, only the last few actions of each are legal."""
    legal = SealedState.legal_actions

    def fewer(state: SealedState, seat: Seat) -> list[Action]:
        return legal(state, seat)[-count:] if any(state.committed) else legal(state, seat)

    monkeypatch.setattr(SealedState, "legal_actions", fewer)


class TestOvertakenDecisions:
    """What one seat does changes what another, which has been asked, may do. No game that comes with Dogana does it."""

    def test_a_decision_whose_legal_actions_change_is_withdrawn_and_put_anew(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        legal_after_a_commit(monkeypatch, 2)
        table = sealed(3, clock="60+0/60")
        table.answer(2, [Lay(table.match.state.hands[2][0])])  # type: ignore[attr-defined]
        table.now += 3
        table.answer(0, [Commit()])
        assert [(effect.seat, effect.number, effect.reason) for effect in table.said(Withdraw)] == [
            (1, 1, Withdrawal.OVERTAKEN),
            (2, 2, Withdrawal.OVERTAKEN),
        ]
        assert [(ask.decision.seat, ask.decision.number) for ask in table.said(Ask)] == [(1, 2), (2, 3)]
        assert [len(table.open[seat].actions) for seat in (1, 2)] == [2, 2]
        withdrawn = [line for line in table.lines if line["type"] == "withdrawn"]
        assert [(line["seat"], line["ms"], line["wall_ms"], line["lag_ms"]) for line in withdrawn] == [
            (1, 3000, 3000, 0),
            (2, 3000, 3000, 0),
        ]
        assert [table.open[seat].bank for seat in (1, 2)] == [57, 57]
        assert [table.match.strikes(seat) for seat in (1, 2)] == [0, 0]

    def test_a_decision_that_is_overtaken_as_its_own_time_is_up_is_charged_no_more_than_it_may_take(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        legal_after_a_commit(monkeypatch, 2)
        table = sealed(2, clock="60+0/10")
        table.wait(10.3)
        [withdrawn] = [line for line in table.lines if line["type"] == "withdrawn"]
        assert (withdrawn["ms"], withdrawn["wall_ms"], withdrawn["lag_ms"]) == (10_000, 10_300, 300)

    def test_what_is_then_the_only_legal_action_is_played_without_asking(self, monkeypatch: pytest.MonkeyPatch) -> None:
        legal_after_a_commit(monkeypatch, 1)
        table = sealed(2)
        table.answer(0, [Commit()])
        assert [(line["seat"], line["by"]) for line in table.actions()] == [(0, "agent"), (1, "forced")]
        assert [table.open[seat].number for seat in (0, 1)] == [2, 2]

    def test_a_seat_that_is_not_to_act_any_more_is_not_asked_again(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(SealedState, "legal_actions", lambda state, seat: [Lay(state.hands[seat][0]), Commit()])
        monkeypatch.setattr(SealedState, "seats_to_act", lambda state: (1,) if state.committed[0] else (0, 1, 2))
        table = sealed(3)
        table.answer(0, [Commit()])
        assert [(effect.seat, effect.number) for effect in table.said(Withdraw)] == [(2, 1)]
        assert [(seat, decision.number) for seat, decision in table.open.items()] == [(1, 1)]

    def test_a_match_that_ends_withdraws_what_is_open(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(SealedState, "is_over", lambda state: any(state.committed))
        table = sealed(2, clock="60+0/60")
        table.now += 3
        table.answer(0, [Commit()])
        assert [(effect.seat, effect.reason) for effect in table.said(Withdraw)] == [(1, Withdrawal.OVERTAKEN)]
        assert [line["type"] for line in table.lines][-4:] == ["action", "withdrawn", "result", "seed"]
        assert [seat.think_seconds for seat in table.said(Finish)[0].result.seats] == [3, 3]
