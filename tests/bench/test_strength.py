"""The measurement of `search` against `greedy`: a match, its block, a changed recipe, and the page of all results."""

from __future__ import annotations

import json
import random
import xml.etree.ElementTree as ET
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from house_bots.search.recipe import TO_THE_END, Recipe
from house_bots.search.yunnan import RECIPE

from bench import strength_page
from bench.strength import play, play_missing, replay, verify
from bench.strength_changes import CHANGES
from bench.strength_page import interval, page, panels, row_of, trials, write_page
from bench.strength_plot import Line, Panel, Point, plot
from bench.strength_results import Cell, Played, blocks_of, read_matches
from referee.game import Action, Chance, RolloutPolicy, Seat, State
from referee.kit.chance import FastChance
from referee.registry import find, shipped_board

MATCH = Played("yunnan", 2, 0.1, 1, 0, 1.0, 12.0, 50, 500, {str(turn): [0] for turn in range(5)}, 5.0)
CELL = Cell("yunnan", 2, 0.1)


def two_blocks(change: str = "", difference: float = 12.0) -> list[Played]:
    return [
        replace(MATCH, seed=seed, seat=seat, change=change, difference=difference + seed)
        for seed in (1, 2)
        for seat in (0, 1)
    ]


def test_a_match_is_played_to_its_end() -> None:
    played = play(Cell("yunnan", 2, 0.001), seed=3, seat=1)
    assert (played.game, played.seats, played.seed, played.seat) == ("yunnan", 2, 3, 1)
    assert played.first in (0.0, 0.5, 1.0)
    assert played.decisions > 10


def test_only_whole_blocks_count_and_each_match_once() -> None:
    other = replace(MATCH, seat=1, first=0.0)
    blocks = blocks_of([MATCH, MATCH, other, replace(MATCH, seed=2), replace(MATCH, seat=1, change="margin")])
    assert blocks == {CELL: {1: [MATCH, other]}, CELL._replace(change="margin"): {}}


def test_a_block_is_kept_once_it_is_whole_and_not_played_again(tmp_path: Path) -> None:
    results = tmp_path / "strength.jsonl"
    cells = [Cell("yunnan", 2, 0.001), Cell("yunnan", 2, 0.001, "margin")]
    play_missing(cells, blocks=1, workers=1, results=results)
    assert [(match.cell, match.seed, match.seat) for match in read_matches(results)] == [
        (cell, 1, seat) for cell in cells for seat in (0, 1)
    ]
    play_missing(cells, blocks=1, workers=1, results=results)
    assert len(read_matches(results)) == 4


def test_a_row_says_how_sure_it_is() -> None:
    block = [MATCH, replace(MATCH, seat=1)]
    row = row_of(CELL, dict.fromkeys(range(10), block))
    assert row == "| Yunnan | 2 (50) | 0.1 | **100 %** (84 to 100) | 10 | +12.0 ± 0.0 | 10 | 10 % |"


def test_a_single_block_has_no_error_of_its_difference() -> None:
    assert "| 1 | +12.0 | 10 |" in row_of(CELL, {1: [MATCH, replace(MATCH, seat=1)]})


@pytest.mark.parametrize(
    ("blocks", "expected"),
    [
        ([[1.0, 0.0]] * 8, 16),  # all equal, as in matches of equals
        ([[1.0, 1.0]] * 8, 16),
        ([[1.0, 1.0], [0.0, 0.0]] * 4, 8),  # the matches of a block repeat each other
        ([[1.0, 1.0], [1.0, 0.0]], 2),  # two blocks do not say how much they vary
        ([[1.0, 0.0]] * 7 + [[1.0, 1.0]], 16),  # vary less than independent matches
        ([[1.0, 0.0, 0.0]], 1),
    ],
)
def test_blocks_tell_as_much_as_independent_matches_at_most_and_as_one_match_each_at_least(
    blocks: list[list[float]], expected: float
) -> None:
    assert trials(blocks) == expected


def test_between_the_bounds_blocks_tell_the_less_the_more_they_vary_and_the_fewer_they_are() -> None:
    alike = [[1.0, 1.0, 0.0]] * 6 + [[1.0, 0.0, 0.0]] * 6
    varied = [[1.0, 1.0, 1.0]] * 3 + [[1.0, 1.0, 0.0]] * 3 + [[1.0, 0.0, 0.0]] * 3 + [[0.0, 0.0, 0.0]] * 3
    assert 12 < trials(varied) < trials(alike) == 36
    assert 2 * trials(varied) < trials(2 * varied) < 72


@pytest.mark.parametrize("alike", [0.0, 0.5, 1.0])
def test_the_interval_contains_the_truth_as_often_as_it_says_however_alike_the_matches_of_a_block_are(
    alike: float,
) -> None:
    dice, share, contained = random.Random(1), 0.7, 0

    def block(seed: int) -> list[Played]:
        common = dice.random() < share
        firsts = [common if dice.random() < alike else dice.random() < share for _ in range(3)]
        return [replace(MATCH, seats=3, seed=seed, seat=seat, first=float(first)) for seat, first in enumerate(firsts)]

    for _ in range(300):
        low, high = interval({seed: block(seed) for seed in range(12)})
        contained += low < share < high
    assert contained > 0.93 * 300


# --- verification --------------------------------------------------------------------------------------------------


def test_a_match_follows_from_its_seed_and_the_rows_in_which_search_departed() -> None:
    played = play(Cell("venezia", 3, 0.005), seed=4, seat=1)
    assert played.departed
    assert replay(played) == (played.first, played.difference)


def test_results_that_do_not_follow_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    played = play(Cell("yunnan", 2, 0.001), seed=3, seat=1)
    assert verify([played, MATCH]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "2 matches, 1 of them with another result"
    impossible = [replace(played, departed=departed) for departed in ({"0": [999]}, {"9999": [0]})]
    assert verify([replace(played, difference=500.0), replace(played, seat=0, departed={"0": [0]}), *impossible]) == 1
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("yunnan, 2 seats, 0.001 s, seed 3, seat 1: first ")
    assert [line.split(": ")[1] for line in printed[1:4]] == [
        "seat 1 is to act in turn 0, which is noted for seat 0",
        "there is no action 999 in turn 0",
        "the match ends before turn 9999, which is noted",
    ]
    assert printed[4] == "4 matches, 4 of them with another result"


# --- changed recipes -----------------------------------------------------------------------------------------------


def changed(name: str) -> tuple[Recipe, Recipe, State]:
    """Return Yunnan's recipe, the changed one, and a state of the middle of a match."""
    game, chance, dice = find("yunnan"), FastChance(1), random.Random(1)
    setup = game.setup(2, {}, shipped_board(game))
    state = game.start(setup, chance)
    while state.stage() < 3:
        seat = state.seats_to_act()[0]
        state.apply(seat, dice.choice(state.legal_actions(seat)), chance)
    own = RECIPE(setup)
    return own, CHANGES[name][0](own), state


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_changes_its_part_alone(name: str) -> None:
    own, other, state = changed(name)
    seat = state.seats_to_act()[0]
    rows, stored_rows = own.candidates(state, seat), other.candidates(state, seat)
    if name == "candidates":
        assert stored_rows == rows[: (len(rows) + 1) // 2]
        assert len(stored_rows) > 1
    else:
        assert stored_rows == rows
    assert other.margin == (0.0 if name == "margin" else own.margin)
    assert other.stages(state) == (1 if name == "stage" else TO_THE_END)
    assert (other.policy is own.policy) == (name != "chance")
    assert (other.win, other.has_secrets, other.value(state)) == (own.win, own.has_secrets, own.value(state))


class Noting(RolloutPolicy):
    """Draws once a rollout, and notes it."""

    def __init__(self) -> None:
        self.drawn: list[int] = []

    def row(self, state: State, seat: Seat, chance: Chance) -> list[Action]:
        self.drawn.append(chance.stream("rules").below(1000))
        return []


def test_without_common_random_numbers_rollouts_of_the_same_seed_differ() -> None:
    own, _, state = changed("chance")
    policy = Noting()
    own.policy = policy
    unpaired = CHANGES["chance"][0](own).policy
    for _ in range(5):
        chance = FastChance(7)
        unpaired.row(state, 0, chance)
        unpaired.row(state, 0, chance)
    assert len(set(policy.drawn[::2])) == 5


# --- the page -------------------------------------------------------------------------------------------------------


def test_a_changed_recipe_has_a_row_in_the_second_table_beside_the_same_seeds() -> None:
    matches = [*two_blocks(), *two_blocks("margin", 10.0), replace(MATCH, seed=3), replace(MATCH, seed=3, seat=1)]
    text = page(blocks_of(matches))
    assert "| Yunnan | 2 (50) | 0.1 | no margin | 100 % | 100 % | +2.0 ± 0.0 | 10, 10 | 2 |" in text
    assert text.count("| Yunnan |") == 2


def test_a_changed_recipe_without_a_seed_in_common_has_no_row() -> None:
    assert "What each part gives" not in page(blocks_of(two_blocks("margin")))


def test_the_page_and_the_plot_depend_on_the_matches_alone(tmp_path: Path) -> None:
    matches = [*two_blocks(), *two_blocks("margin", 10.0), *(replace(one, seconds=1.0) for one in two_blocks())]
    written = set()
    for seed in range(4):
        random.Random(seed).shuffle(matches)
        results = tmp_path / "strength.jsonl"
        results.write_text("".join(json.dumps(asdict(match)) + "\n" for match in matches))
        write_page(blocks_of(read_matches(results)), tmp_path / "PAGE", tmp_path / "PLOT")
        written.add(((tmp_path / "PAGE").read_text(), (tmp_path / "PLOT").read_text()))
    assert len(written) == 1


def test_the_plot_has_a_line_with_its_interval_for_each_number_of_seats_and_is_well_formed() -> None:
    line = Line(3, [Point(0.1, 0.5, 0.25, 0.75), Point(1.0, 1.0, 0.8, 1.0)])
    drawing = ET.fromstring(plot([Panel("Yunnan", [line]), Panel("Venezia", [Line(2, line.points[:1])])]))  # noqa: S314 our own drawing
    texts = [element.text for element in drawing.iter() if element.tag.endswith("text")]
    assert {"Yunnan", "Venezia", "2 seats", "3 seats", "0.1 s", "1 s", "50 %"} <= set(texts)
    [vertical] = [path.get("d", "") for path in drawing.iter() if path.get("d", "").endswith("112.5V37.5")][:1]
    assert vertical.startswith("M")


def test_the_plot_is_of_recipes_as_they_are() -> None:
    [panel] = panels(blocks_of([*two_blocks(), *two_blocks("margin")]))
    assert panel.title == "Yunnan"
    assert [(line.seats, [point.seconds for point in line.points]) for line in panel.lines] == [(2, [0.1])]


def test_the_page_and_the_plot_are_made_from_the_results() -> None:
    found = blocks_of(read_matches())
    assert strength_page.PAGE.read_text() == page(found)
    assert strength_page.PLOT.read_text() == plot(panels(found))
