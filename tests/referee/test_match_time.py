"""The match machine (`referee/match/machine.py`) under a clock that the test moves: deadlines, charges, lag, windows."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.games.cargo_noir.actions import Send
from referee.games.cargo_noir.names import Destination
from referee.match.effects import Ask, NewDeadline, Refusal, Reject, Timing, Withdraw, Withdrawal
from referee.match.machine import STRIKES_ALLOWED
from referee.match.result import MAX_LAG_SHARE, MAX_MEAN_LAG, Fault, Outcome, Result, SeatResult, milliseconds
from tests.tables import Table, cargo_noir, plan_of, sealed
from tests.toy.games.sealed import Commit, SealedState

CASINO = Send(Destination.CASINO)


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

    def test_a_question_that_is_handed_over_after_its_decision_was_closed_starts_the_time_of_no_other(self) -> None:
        table = cargo_noir("0+10/10")
        [second] = [effect.decision for effect in table.match.choose(0, 1, 0, table.now) if isinstance(effect, Ask)]
        table.match.sent(0, 1, table.now + 0.03)
        assert (second.is_sent, second.sent_at) == (False, table.now)
        table.match.sent(0, 2, table.now + 0.05)
        assert (second.is_sent, second.sent_at) == (True, table.now + 0.05)

    def test_a_question_may_be_handed_over_after_its_decision_was_closed_and_none_is_open(self) -> None:
        table = cargo_noir("0+10/10")
        table.answer(0, [CASINO] * 3)
        before = table.match.next_deadline()
        table.match.sent(0, 1, table.now + 0.03)
        assert table.match.next_deadline() == before

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

    def test_the_referee_was_late_for_no_decision_before_it_was_put(self) -> None:
        table = cargo_noir("0+10/10")
        table.now += 1
        table.match.lagged(5, table.now)
        table.now += 6
        table.answer(0, 0)
        [line] = table.actions()
        assert (line["wall_ms"], line["lag_ms"]) == (7000, 1000)

    def test_times_are_charged_and_recorded_to_the_microsecond(self) -> None:
        table = cargo_noir("5+0/5")
        table.now += 1.2345678
        table.answer(0, 0, waited=0.1111112)
        [line] = table.actions()
        assert (line["ms"], line["wall_ms"], line["lag_ms"]) == (1123.457, 1234.568, 111.111)
        assert table.open[0].bank == 5 - 1.123457
        assert milliseconds(1.2345678) == 1234.568

    def test_an_answer_that_arrived_too_late_is_late_however_long_it_waited(self) -> None:
        table = cargo_noir("0+10/10")
        number = table.open[0].number
        table.now += 15
        table.answer(0, 0, number, waited=4.999)
        assert table.actions()[0]["by"] == "clock"
        assert table.said(Reject)[0].refusal is Refusal.STALE

    def test_a_stale_answer_calls_no_time_for_the_right_one_may_have_arrived_before(self) -> None:
        table = cargo_noir("0+10/10")
        right = table.open[0].number
        table.now += 11
        table.answer(0, 0, number=77)
        assert [type(effect) for effect in table.effects] == [Reject]
        table.answer(0, 0, right, waited=1.5)
        assert [line["by"] for line in table.actions()] == ["agent"]

    def test_nothing_is_said_to_a_late_answer_that_ends_the_match(self) -> None:
        table = sealed(2, clock="0+10/10")
        for _ in range(2):
            table.answer(0, [Commit()])
            table.answer(1, [Commit()])
        table.answer(0, [Commit()])
        table.now += 11
        table.answer(1, [Commit()])
        assert table.finished
        assert not table.said(Reject)

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
        [strike] = [line for line in table.lines if line["type"] == "strike"]
        assert strike["detail"] == "decision 2 had no time: the bank was empty"

    @pytest.mark.parametrize(
        ("clock", "seconds", "had"),
        [
            ("5+2/6", 7, "6 s"),
            ("0+0.05/10", 1, "0.05 s"),
            ("60+0/1000", 61, "60 s"),
            ("0+0.0001/10", 1, "less than 0.001 s"),
        ],
    )
    def test_a_time_out_names_what_the_decision_had(self, clock: str, seconds: float, had: str) -> None:
        table = cargo_noir(clock)
        table.wait(seconds)
        [strike, *_] = [line for line in table.lines if line["type"] == "strike"]
        assert strike["detail"] == f"decision 1 was not answered within its {had}"

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

    def test_a_match_that_took_no_time_was_not_late_for_any_of_it(self) -> None:
        result = cargo_noir().play_out()
        assert (result.lag_share, result.lagged) == (0, False)

    @pytest.mark.parametrize(
        ("wall", "lag", "decisions", "lagged"),
        [
            (10, 10 * MAX_LAG_SHARE, 1, False),
            (10, 10 * MAX_LAG_SHARE + 0.01, 1, True),
            (2, 200 * MAX_MEAN_LAG, 200, False),
            (2, 200 * MAX_MEAN_LAG + 0.01, 200, True),
        ],
    )
    def test_a_match_is_flagged_only_beyond_both_limits(
        self, wall: float, lag: float, decisions: int, lagged: bool
    ) -> None:
        seat = SeatResult(0, "bot0", 1, 0, Outcome.PLAYED, decisions, wall, wall, lag, "")
        assert Result((seat,), decisions, digest="", seed=None).lagged is lagged

    def test_the_next_deadline_is_returned(self) -> None:
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


class TestWindows:
    """Rule T4: the first seat that commits starts a sand timer for the others."""

    def test_the_window_opens_for_all_others_and_they_get_the_new_deadline(self) -> None:
        table = sealed(3, timer=20, clock="600+0/600")
        table.wait(30)
        numbers = [table.open[seat].number for seat in (1, 2)]
        table.answer(0, [Commit()])
        decisions = [effect.decision for effect in table.said(NewDeadline)]
        assert [(decision.seat, decision.number) for decision in decisions] == [(1, numbers[0]), (2, numbers[1])]
        assert [decision.deadline for decision in decisions] == [table.now + 20] * 2
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

    def test_at_its_end_defaults_are_played_until_the_plan_is_closed_and_no_further(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(SealedState, "default_action", lambda state, seat: state.legal_actions(seat)[0])
        table = sealed(2, timer=20, clock="600+0/600")
        table.answer(0, [Commit()])
        table.wait(20.001)
        closed = [line for line in table.actions() if line["seat"] == 1]
        assert [line["by"] for line in closed] == ["clock"] * 3
        assert [line["action"].partition("(")[0] for line in closed] == ["lay", "lay", "commit"]
        assert sorted(table.open) == [0, 1]
        assert table.match.strikes(1) == 0

    def test_who_goes_on_planning_inside_the_window_gains_no_time_by_it(self) -> None:
        table = sealed(2, timer=20, clock="600+0/600")
        table.answer(0, [Commit()])
        end = table.now + 20
        table.now += 15
        table.answer(1, 0)
        assert (table.open[1].number, table.open[1].deadline) == (2, end)

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
        table.fault(1, Fault(Outcome.CRASH, "exited with status 1"))
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

    def test_a_window_that_opens_as_another_closes_has_its_whole_time(self) -> None:
        table = sealed(2, timer=20, clock="600+0/600")
        table.answer(1, [Commit()])
        for _ in range(2):
            table.answer(
                0, table.open[0].actions[:2]
            )  # its whole hand, so that it is forced to commit in the last round
        table.now += 15
        assert table.open[1].window is not None
        table.answer(1, [Commit()])
        assert table.open[1].deadline == table.now + 20

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
