"""The match machine (`referee/match/machine.py`) under a clock that the test moves: answers, deadlines, windows, faults."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.games.cargo_noir.actions import Casino, Send, Stake
from referee.games.cargo_noir.names import Destination
from referee.match.effects import (
    Ask,
    Dismiss,
    Finish,
    NewDeadline,
    Refusal,
    Reject,
    Store,
    Timing,
    Withdraw,
    Withdrawal,
)
from referee.match.machine import STRIKES_ALLOWED
from referee.match.result import MAX_LAG_SHARE, Fault, Outcome, final_ranks
from tests.tables import Table, plan_of, sealed
from tests.toy.games.sealed import Commit, Lay

CASINO = Send(Destination.CASINO)
MARKET = Send(Destination.BLACK_MARKET)
CRASH = Fault(Outcome.CRASH, "exited with status 1")


def cargo_noir(clock: str = "60+0.5/10", **arguments: object) -> Table:
    """Two seats; seat 0 begins and is to send three ships."""
    return Table(plan_of(clock=clock, options={"first_player": 0}, **arguments))  # type: ignore[arg-type]


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
        assert table.match.strikes(0) == 0

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
            table.answer(1, [Send(Destination.ROTTERDAM), *middle, CASINO, CASINO])
            assert [line["by"] for line in table.actions() if line["action"] == "stake(7)"] == ["forced"]
            digests.append(table.play_out().digest)
        assert digests[0] == digests[1]

    def test_every_line_is_stored_before_anything_is_sent_on(self) -> None:
        table = cargo_noir()
        kinds = [type(effect) for effect in table.answer(0, [CASINO] * 3)]
        assert kinds.index(Ask) > max(place for place, kind in enumerate(kinds) if kind is Store)

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
            ([Casino()], Refusal.ILLEGAL, "C2.4", "casino is not legal"),
            ([Lay(3)], Refusal.ILLEGAL, "", "not an action of cargo_noir"),
            ([], Refusal.MALFORMED, "", "names no action"),
            ("what is that", Refusal.MALFORMED, "", "what is that"),
        ],
    )
    def test_a_wrong_answer_is_refused_with_the_reason_and_the_rule(
        self, choice: object, refusal: Refusal, rule: str, text: str
    ) -> None:
        table = cargo_noir()
        table.wait(2)
        table.answer(0, choice)  # type: ignore[arg-type]
        [reject] = table.said(Reject)
        assert (reject.refusal, reject.rule, reject.strikes) == (refusal, rule, 1)
        assert text in reject.message
        assert reject.left == pytest.approx(8)
        assert not table.actions()

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


class TestClock:
    def test_an_answer_exactly_at_the_deadline_is_in_time(self) -> None:
        table = cargo_noir("0+10/10")
        table.wait(10)
        table.answer(0, 1)
        assert table.actions()[0]["by"] == "agent"

    def test_just_after_the_deadline_the_default_is_played_and_the_answer_is_stale(self) -> None:
        table = cargo_noir("0+10/10")
        number = table.open[0].number
        table.now += 10.001
        effects = table.answer(0, 1, number)
        assert [effect.reason for effect in effects if isinstance(effect, Withdraw)] == [Withdrawal.TIMEOUT]
        assert [effect.refusal for effect in effects if isinstance(effect, Reject)] == [Refusal.STALE]
        assert (table.actions()[0]["by"], table.actions()[0]["action"]) == ("clock", "send(casino)")
        assert table.match.strikes(0) == 1

    def test_late_and_illegal_is_late(self) -> None:
        table = cargo_noir("0+10/10")
        table.now += 11
        table.answer(0, 99)
        assert [line["reason"] for line in table.lines if line["type"] == "strike"] == ["timeout"]

    def test_three_timeouts_put_a_seat_out(self) -> None:
        table = cargo_noir("0+1/1")
        for _ in range(STRIKES_ALLOWED):
            table.wait(1.001)
        assert table.match.is_out(0)
        assert [line["by"] for line in table.actions()] == ["clock", "clock", "default"]

    def test_illegal_answers_and_timeouts_add_up(self) -> None:
        table = cargo_noir("0+1/1")
        table.answer(0, 99)
        table.wait(1.001)
        table.answer(0, 99)
        assert table.match.is_out(0)

    def test_the_increment_comes_with_each_decision_and_the_cap_bounds_it(self) -> None:
        table = cargo_noir("5+2/6")
        assert (table.open[0].bank, table.open[0].budget) == (7, 6)
        table.wait(4)
        table.answer(0, 0)
        assert (table.open[0].bank, table.open[0].budget) == (5, 5)
        assert table.open[0].previous == Timing(charged=4, wall=4, lag=0)

    def test_time_runs_from_when_the_question_is_handed_over(self) -> None:
        table = Table(plan_of(), send_seconds=0.05)
        table.now += 1
        table.answer(min(table.open), 0)
        assert table.actions()[0]["ms"] == pytest.approx(950)

    def test_an_agent_that_does_not_read_gains_no_time_by_it(self) -> None:
        table = Table(plan_of(clock="0+10/10"), send_seconds=9)
        table.wait(10.2)
        assert table.actions()[0]["by"] == "clock"

    def test_what_an_answer_waited_to_be_read_is_not_charged(self) -> None:
        table = cargo_noir("0+10/10")
        table.now += 12
        table.answer(0, 0, waited=5)
        [line] = table.actions()
        assert (line["by"], line["ms"], line["wall_ms"], line["lag_ms"]) == ("agent", 7000, 12_000, 5000)

    def test_nothing_but_the_wait_of_that_answer_is_given_back(self) -> None:
        table = cargo_noir("0+10/10")
        for _ in range(100):
            table.now += 0.1
            table.match.lagged(0.09, table.now)
        table.answer(0, 0, waited=0.25)
        [line] = table.actions()
        assert (line["ms"], line["wall_ms"], line["lag_ms"]) == (9750, pytest.approx(10_000), pytest.approx(9000))

    def test_an_answer_that_arrived_too_late_is_late_however_long_it_waited(self) -> None:
        table = cargo_noir("0+10/10")
        number = table.open[0].number
        table.now += 15
        table.answer(0, 0, number, waited=4.999)
        assert table.actions()[0]["by"] == "clock"
        assert table.said(Reject)[0].refusal is Refusal.STALE

    def test_a_late_answer_ends_only_its_own_decision_for_others_may_have_arrived_in_time(self) -> None:
        table = sealed(3, clock="0+10/10")
        numbers = {seat: table.open[seat].number for seat in range(3)}
        table.now += 10.5
        table.answer(0, 0, numbers[0], waited=0.1)
        table.answer(1, 0, numbers[1], waited=0.6)
        assert [(line["seat"], line["by"]) for line in table.actions()] == [(0, "clock"), (1, "agent")]

    def test_a_time_out_is_charged_what_the_decision_had(self) -> None:
        table = cargo_noir("5+2/6")
        table.wait(6.1)
        [line] = table.actions()
        assert (line["by"], line["ms"], line["wall_ms"]) == ("clock", 6000, 6000)
        assert table.open[0].bank == 3

    def test_an_answer_counts_until_the_transit_is_over_but_what_it_used_is_missing_afterwards(self) -> None:
        for late, by in ((0.049, "agent"), (0.051, "clock")):
            table = Table(plan_of(clock="0+1/1", options={"first_player": 0}), transit=0.05)
            table.now += 1 + late
            table.answer(0, 0, table.open[0].number)
            assert table.actions()[0]["by"] == by
            assert table.actions()[0]["ms"] == pytest.approx(1049 if by == "agent" else 1000)
            assert table.open[0].budget == pytest.approx(0.951 if by == "agent" else 1)

    def test_a_seat_without_any_time_left_gets_none_for_the_way_either(self) -> None:
        table = Table(plan_of(clock="1+0/1", options={"first_player": 0}), transit=0.05)
        table.now += 1.04
        table.answer(0, 0)
        assert table.open[0].budget == 0
        table.now += 0.001
        table.answer(0, 0, table.open[0].number)
        assert [line["by"] for line in table.actions()] == ["agent", "clock"]

    def test_time_is_called_only_for_what_would_have_been_read(self) -> None:
        table = cargo_noir("0+10/10")
        table.now += 11
        assert table.match.tick(table.now, read_until=table.now - 1.001) == []
        table.answer(0, 0, waited=1.001)
        assert table.actions()[0]["by"] == "agent"

    @settings(deadline=None)
    @given(
        sending=st.floats(0, 0.2),
        steps=st.lists(st.tuples(st.floats(0, 0.5), st.floats(0, 1)), max_size=5),
        waited=st.floats(0, 3),
    )
    def test_what_is_charged_lies_between_the_wall_less_the_lag_and_the_wall(
        self, sending: float, steps: list[tuple[float, float]], waited: float
    ) -> None:
        table = Table(plan_of(clock="600+0/600"), send_seconds=sending)
        table.now += sending
        for seconds, late in steps:
            table.now += seconds
            table.match.lagged(late, table.now)
        table.answer(min(table.open), 0, waited=min(waited, table.now - 100))
        line = table.actions()[0]
        assert line["wall_ms"] - line["lag_ms"] - 0.01 <= line["ms"] <= line["wall_ms"] + 0.01
        assert 0 <= line["lag_ms"] <= line["wall_ms"] + 0.01

    def test_a_referee_that_is_late_by_a_moment_is_not_flagged_however_fast_the_bots_are(self) -> None:
        table = cargo_noir("60+10/60")
        while table.match.result is None:
            table.now += 0.002
            table.answer(min(table.open), 0, waited=0.001)
        assert table.match.result.lag_share > MAX_LAG_SHARE
        assert not table.match.result.lagged

    def test_a_match_whose_referee_was_late_too_much_of_the_time_is_flagged(self) -> None:
        shares = {}
        for late in (0.09, 0.11):
            table = cargo_noir("60+10/60")
            while table.match.result is None:
                seat = min(table.open)
                table.now += 1
                table.answer(seat, 0, waited=late)
            assert table.match.result.lag_share == pytest.approx(late)
            shares[late] = table.match.result.lagged
        assert shares == {0.09: False, 0.11: True}

    def test_the_next_deadline_is_told(self) -> None:
        table = cargo_noir("0+10/10")
        assert table.match.next_deadline() == pytest.approx(110)

    def test_a_seat_that_is_not_asked_is_not_charged(self) -> None:
        table = cargo_noir()
        table.wait(9)
        table.answer(0, [CASINO] * 3)
        table.answer(1, [CASINO] * 3)
        result = table.play_out()
        assert result.seats[0].think_seconds == pytest.approx(9)
        assert result.seats[1].think_seconds == 0


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

    def test_a_lost_seat_that_stays_away_until_its_deadline_is_out(self) -> None:
        table = cargo_noir("0+10/10")
        table.match.lost(0)
        table.wait(10.001)
        assert table.said(Dismiss)[0].fault.outcome is Outcome.DISCONNECT

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

    def test_nobody_is_told_of_a_secret_decision(self) -> None:
        table = sealed(2)
        table.answer(0, 0)
        assert list(table.open) == [1, 0]
        assert table.open[1].played == []
        table.answer(0, [Commit()])
        table.answer(1, [Commit()])
        assert [(entry.seat, type(entry.action)) for entry in table.open[1].played] == [
            (0, Commit),
            (1, Commit),
        ]

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
        assert not table.open[1].observation.seats[0].committed  # type: ignore[attr-defined]


class TestWindows:
    """Rule T4: the first seat that commits starts a sand timer for the others."""

    def test_the_window_opens_for_all_others_and_they_are_told_the_new_deadline(self) -> None:
        table = sealed(3, timer=20, clock="600+0/600")
        table.wait(30)
        numbers = [table.open[seat].number for seat in (1, 2)]
        table.answer(0, [Commit()])
        told = [effect.decision for effect in table.said(NewDeadline)]
        assert [(decision.seat, decision.number) for decision in told] == [(1, numbers[0]), (2, numbers[1])]
        assert [decision.deadline for decision in told] == [table.now + 20] * 2
        assert not table.said(Withdraw)

    def test_a_question_whose_legal_list_is_unchanged_stays_open_when_the_window_opens(self) -> None:
        table = sealed(2, timer=20, clock="600+0/600")
        number = table.open[1].number
        table.answer(0, [Commit()])
        table.now += 1
        table.answer(1, [Commit()], number)
        assert [line["by"] for line in table.actions()] == ["agent", "agent"]
        assert not table.said(Reject)

    @pytest.mark.parametrize(("seconds", "by"), [(19.999, "agent"), (20.0, "agent"), (20.001, "clock")])
    def test_a_plan_counts_until_exactly_the_end_of_the_window(self, seconds: float, by: str) -> None:
        table = sealed(2, timer=20, clock="600+0/600")
        table.answer(0, [Commit()])
        table.now += seconds
        table.answer(1, [Commit()], table.open[1].number)
        assert table.actions()[1]["by"] == by

    def test_at_its_end_the_rules_close_every_plan_and_nobody_is_at_fault(self) -> None:
        table = sealed(3, timer=20, clock="600+0/600")
        table.answer(0, [Commit()])
        table.answer(1, 0)
        table.wait(20.001)
        assert {effect.reason for effect in table.said(Withdraw)} == {Withdrawal.WINDOW}
        assert [line["by"] for line in table.actions()[2:]] == ["clock", "clock"]
        assert table.match.strikes(1) == table.match.strikes(2) == 0
        assert sorted(table.open) == [0, 1, 2]
        assert table.open[0].window is None

    def test_a_seats_own_clock_goes_on_inside_the_window(self) -> None:
        table = sealed(2, timer=20, clock="0+5/5")
        table.answer(0, [Commit()])
        table.wait(5.001)
        assert table.match.strikes(1) == 1
        assert table.actions()[1]["by"] == "clock"

    def test_a_window_that_ends_together_with_a_clock_is_no_fault(self) -> None:
        table = sealed(2, timer=5, clock="0+5/5")
        table.answer(0, [Commit()])
        table.wait(5.001)
        assert table.match.strikes(1) == 0

    def test_two_seats_that_finish_together_are_both_in_time(self) -> None:
        table = sealed(3, timer=20, clock="600+0/600")
        table.answer(0, [Commit()])
        table.now += 20
        table.answer(1, [Commit()])
        table.answer(2, [Commit()])
        assert [line["by"] for line in table.actions()] == ["agent"] * 3

    def test_a_seat_that_crashes_inside_the_window_is_out_and_the_others_plan_on(self) -> None:
        table = sealed(3, timer=20, clock="600+0/600")
        table.answer(0, [Commit()])
        table.fault(1, CRASH)
        assert 2 in table.open
        table.now += 1
        table.answer(2, [Commit()])
        assert [line["by"] for line in table.actions()[:3]] == ["agent", "default", "agent"]

    def test_each_window_is_one_of_its_own(self) -> None:
        table = sealed(2, timer=20, clock="600+0/600")
        table.answer(0, [Commit()])
        table.wait(20.001)
        table.wait(50)
        table.answer(1, [Commit()])
        assert table.open[0].deadline == table.now + 20

    def test_the_referees_lag_does_not_lengthen_the_window(self) -> None:
        table = sealed(2, timer=20, clock="600+0/600")
        table.answer(0, [Commit()])
        for _ in range(200):
            table.now += 0.1
            table.match.lagged(0.1, table.now)
        assert table.match.next_deadline() == pytest.approx(table.now)
        table.wait(0.001)
        assert table.actions()[1]["by"] == "clock"

    def test_a_plan_that_arrived_before_the_end_of_the_window_counts_however_late_it_is_read(self) -> None:
        table = sealed(2, timer=20, clock="600+0/600")
        table.answer(0, [Commit()])
        table.now += 24
        table.answer(1, [Commit()], waited=4.001)
        assert table.actions()[1]["by"] == "agent"
