"""What pictures of a match say besides the board: points just scored, what decided the places, the words of strangers."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from referee.kit import scene
from referee.kit.svg import element

MARKS = [element("circle", r=8)] * 3
BEFORE = [[("houses", 2), ("cards", 0)], [("houses", 1), ("cards", 5)], [("houses", 0), ("cards", 0)]]
AFTER = [[("houses", 3), ("cards", 2)], [("houses", 1), ("cards", 5)], [("houses", 0), ("cards", -4)]]


def said(**changes: object) -> scene.Strip:
    usual = scene.Strip(12, 99, ["red bot", "blue bot", "green bot"], 1, "sails to the East", [])
    return usual._replace(**changes)  # type: ignore[arg-type]


def words(svg: str) -> list[str]:
    root = ET.fromstring(f"<svg>{svg}</svg>")  # noqa: S314 our own drawing
    return [found.text or "" for found in root.iter("text")]


def test_points_just_scored_are_the_difference_of_two_breakdowns() -> None:
    assert scene.gains(BEFORE, AFTER) == [(0, "houses", 1), (0, "cards", 2), (2, "cards", -4)]
    assert scene.gains(AFTER, AFTER) == []


def test_the_strip_names_step_bot_action_and_the_points_with_their_reasons() -> None:
    found = words(scene.strip(1000, said(gained=scene.gains(BEFORE, AFTER)), MARKS))
    assert found == [
        "Step 12 of 99",
        "blue bot",
        "sails to the East",
        "+3 points: houses +1, cards +2",
        "−4 points: cards",
    ]
    assert "Step 12" in words(scene.strip(1000, said(steps=None), MARKS))
    assert "no points" in words(scene.strip(1000, said(), MARKS))
    assert words(scene.strip(1000, said(step=0, seat=None, what="The match begins"), MARKS)) == [
        "Step 0 of 99",
        "The match begins",
    ]


def test_what_the_strip_shows_is_said_in_words_too() -> None:
    assert scene.strip_in_words(said(gained=scene.gains(BEFORE, AFTER))) == [
        "Step 12 of 99: seat 1 sails to the East",
        "Seat 0: +3 points: houses +1, cards +2",
        "Seat 2: −4 points: cards",
        "Seat 0 is red bot",
        "Seat 1 is blue bot",
        "Seat 2 is green bot",
    ]
    level = [scene.Gain(0, "houses", 1), scene.Gain(0, "cards", -1)]
    assert scene.strip_in_words(said(gained=level))[1] == "Seat 0: +0 points: houses +1, cards −1"


def test_names_of_strangers_neither_break_the_picture_nor_leave_their_place() -> None:
    hostile = ["</svg><script>", "\x1b[31m\u202eevil\u0000", "漢" * 60]
    for seat in range(3):
        found = scene.strip(1000, said(bots=hostile, seat=seat), MARKS)
        assert "\x1b" not in found
        assert "\u202e" not in found
        clipped = ET.fromstring(f"<svg>{found}</svg>").find("svg")  # noqa: S314 our own drawing
        assert clipped is not None
        assert float(clipped.get("width", "0")) > 0  # what is wider is not shown
    table = scene.end_table(400, 300, list(zip(MARKS, hostile, strict=True)), [1, 2, 3], AFTER, [("points", [9, 5, 1])])
    assert "<script" not in table
    assert "\u202e" not in table


@pytest.mark.parametrize(
    ("ranks", "criteria", "verdict"),
    [
        ([1, 2, 3], [("points", [9, 5, 1])], "Decided by points"),
        ([2, 1, 3], [("points", [5, 9, 5]), ("pesos left", [3, 0, 2])], "2nd and 3rd: decided by pesos left"),
        ([1, 1, 3], [("points", [9, 9, 5]), ("best card", [4, 4, 0])], "seats 0 and 1 share the 1st place"),
        ([1, 2], [("victory by majorities", [1, 0]), ("points", [3, 48])], "Decided by victory by majorities"),
    ],
)
def test_the_tie_break_that_decided_is_named(
    ranks: list[int], criteria: list[tuple[str, list[int]]], verdict: str
) -> None:
    assert scene.what_decided(ranks, criteria) == verdict


def test_the_table_at_the_end_adds_up_and_leaves_out_what_gave_nobody_anything() -> None:
    breakdown = [[("houses", 3), ("cards", 2), ("gifts", 0)], [("houses", 4), ("cards", 1), ("gifts", 0)]]
    criteria = [("points", [5, 5]), ("pesos left", [7, 2])]
    found = words(scene.end_table(400, 300, [(MARKS[0], "a"), (MARKS[1], "b")], [1, 2], breakdown, criteria))
    rows = [found[at : at + 3] for at in range(5, len(found) - 1, 3)]
    assert rows == [["houses", "3", "4"], ["cards", "2", "1"], ["total", "5", "5"], ["pesos left", "7", "2"]]
    assert found[-1] == "1st and 2nd: decided by pesos left"


def test_clocks_are_read_at_a_glance() -> None:
    assert [scene.clock(seconds) for seconds in (-0.3, 9.46, 10, 65.9, 3600)] == [
        "0.0 s", "9.5 s", "0:10", "1:05", "60:00",
    ]  # fmt: skip


def test_attributes_are_written_alike_whatever_was_written_before() -> None:
    assert element("circle", r=0.0) == element("circle", r=-0.0) == element("circle", r=-0.001) == '<circle r="0"/>'
