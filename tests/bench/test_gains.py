"""What a decision of `search` gains: that better rows gain, and that a line counts all decisions alike."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from house_bots.search.recipe import Variant
from house_bots.search.yunnan import RECIPE
from typing_extensions import override

from bench.gains import MARGINS, Gain, gain, gains_of_match, line, main
from referee.game import Action, Seat, State
from referee.kit.chance import FastChance
from referee.registry import find, shipped_board

GAME = find("yunnan")


class LastFirst(Variant):
    """The recipe, but the row to beat is the last of its candidates."""

    @override
    def candidates(self, state: State, seat: Seat) -> list[Sequence[Action]]:
        return self.own.candidates(state, seat)[::-1]


def test_a_better_row_than_a_bad_one_gains_and_none_is_no_gain() -> None:
    setup = GAME.setup(2, {}, shipped_board(GAME))
    state = GAME.start(setup, FastChance(1))
    seat = state.seats_to_act()[0]
    found = gain(GAME, LastFirst(RECIPE(setup)), state.observation(seat), seat, 1, 0.5, 4)
    assert found.errors > 0
    assert found.points > 0
    assert gain(GAME, RECIPE(setup), state.observation(seat), seat, 1, 1e-9, 4) == Gain(0.0, 0.0)


def test_a_share_of_the_decisions_of_a_match_is_searched() -> None:
    assert gains_of_match(GAME, 2, (1, 0.0), 1, 0.0, 0.001, 2) == []
    assert 3 < len(gains_of_match(GAME, 2, (1, 0.0), 1, 1.0, 0.001, 2)) < 60


def test_a_margin_counts_what_it_lets_through_in_all_decisions() -> None:
    matches = [[Gain(0.7, 2.0), Gain(3.0, 4.0)], [Gain(0.0, 0.0), Gain(math.inf, -1.0)], []]
    assert line(0.0, matches).startswith("margin 0: departs in 75%, gains +1.25 ± ")
    assert line(2.0, matches).startswith("margin 2: departs in 50%, gains +0.75 ± ")
    assert line(1.0, matches[:1]) == "margin 1: departs in 50%, gains +2.00 points a decision"


@pytest.mark.parametrize("matches", [[[Gain(1.0, 3.0)], [Gain(1.0, 0.0)] * 3]])
def test_a_match_with_more_decisions_has_more_weight(matches: list[list[Gain]]) -> None:
    assert "gains +0.75" in line(0.0, matches)


def test_the_command_prints_the_gain_with_each_margin(capsys: pytest.CaptureFixture[str]) -> None:
    words = "yunnan --seconds 0.01 --stages 1 --long-samples 50 --matches 2 --share 0.1 --samples 2"
    main(words.split())
    first, *margins = capsys.readouterr().out.splitlines()
    assert first.endswith(" decisions of 2 matches")
    assert [printed.partition(":")[0] for printed in margins] == [f"margin {margin:g}" for margin in MARGINS]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("yunnan --seconds 0", "seconds must be a number from 0.001 to 3600, not '0'"),
        ("yunnan --matches 0", "it must be a whole number from 1 to 1000000, not '0'"),
        ("yunnan --share 2", "--share must be more than 0, and at most 1"),
        ("venezia --seats 5", "venezia cannot be played with 5 seats"),
        ("yunnan --share 0.000001 --matches 1", "no decision was searched: take more matches, or a larger --share"),
    ],
)
def test_a_wrong_word_is_answered_in_one_line(words: str, why: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words.split())
    assert why in f"{ended.value.code} {capsys.readouterr().err}"
