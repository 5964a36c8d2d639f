"""Pictures as tokens and splices: whatever they are made of, they come out as they went in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.pages.packing import pack, read_numbers, unpack, write_numbers
from referee.pages.payload import Reel, Splice, apply, join, pictures_of, reel, splice, tokens_of

NUMBERS = st.lists(st.integers(0, 5), max_size=200)
TEXTS = st.text(alphabet="<>ab. ", max_size=40) | st.text(max_size=40).filter(str.isprintable)


def decoded(made: Reel, seat: int | None) -> list[str]:
    return list(pictures_of(unpack(pack(payload(made.tokens, made.public, made.seats))), seat))


def payload(tokens: Sequence[str], public: list[Splice], seats: list[list[Splice]]) -> dict[str, Any]:
    return {"tokens": tokens, "public": public, "seats": seats, "texts": [], "log": [], "logs": [], "clocks": []}


@given(TEXTS)
def test_the_tokens_of_a_picture_are_the_picture(picture: str) -> None:
    assert "".join(tokens_of(picture)) == picture


def test_a_token_is_a_tag_with_what_follows_or_a_sentence() -> None:
    cut = tokens_of("<svg><desc>Seat 0 has 1.5. Seat 1 has none.</desc><text>a. b</text><g><rect/></g></svg>")
    expected = ["<svg>", "<desc>Seat 0 has 1.5. ", "Seat 1 has none.</desc>", "<text>a. ", "b</text>", "<g>", "<rect/>"]
    expected += ["</g>", "</svg>"]
    assert cut == expected


@given(NUMBERS, NUMBERS)
def test_a_splice_makes_the_one_of_the_other(before: list[int], after: list[int]) -> None:
    assert apply(before, splice(before, after)) == after


@given(st.lists(st.integers(0, 500), min_size=1, max_size=100, unique=True), st.data())
def test_a_splice_of_a_small_change_is_small(before: list[int], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(before) - 1))
    after = [*before[:at], 1000, *before[at + 1 :]]
    assert splice(before, after) == [at, 1, 1, 1000]
    assert splice(before, before) == []


@given(st.lists(st.lists(TEXTS, min_size=3, max_size=3), min_size=1, max_size=12), st.integers(1, 5))
def test_reels_that_follow_each_other_join_to_the_whole_match(pictures: list[list[str]], length: int) -> None:
    starts = range(0, len(pictures), length)
    parts = [reel(pictures[at : at + length], pictures[at - 1][0] if at else "") for at in starts]
    whole = join(parts)
    for view, seat in enumerate((None, 0, 1)):
        assert decoded(whole, seat) == [step[view] for step in pictures]
    assert len(set(whole.tokens)) == len(whole.tokens)


TABLE = [f"<{kind}>{number}" for kind in "abc" for number in range(7)]


@given(st.lists(st.lists(NUMBERS, min_size=3, max_size=3), min_size=1, max_size=8))
def test_whatever_changes_comes_out_as_it_went_in(steps: list[list[list[int]]]) -> None:
    befores = [[], *(public for public, *_ in steps)]
    public = [splice(before, now) for before, (now, *_) in zip(befores, steps, strict=False)]
    seats = [[splice(now, views[seat]) for now, *views in steps] for seat in (0, 1)]
    data = unpack(pack(payload(TABLE, public, seats)))
    for view, seat in enumerate((None, 0, 1)):
        assert list(pictures_of(data, seat)) == ["".join(TABLE[token] for token in views[view]) for views in steps]


LOG = st.lists(st.lists(st.integers(-1, 9), min_size=2, max_size=4), min_size=1, max_size=9)


@given(st.lists(TEXTS, min_size=10, max_size=10, unique=True), LOG, LOG)
def test_words_of_logs_come_out_as_they_went_in(texts: list[str], log: list[list[int]], own: list[list[int]]) -> None:
    data = payload([], [], []) | {"texts": texts, "log": log, "logs": [[0, *own]]}

    def words(told: dict[str, Any], entries: list[Any]) -> list[Any]:
        return [entry and [told["texts"][text] if text >= 0 else None for text in entry] for entry in entries]

    found = unpack(pack(data))
    assert words(found, found["log"]) == words(data, log)
    assert words(found, found["logs"][0]) == words(data, [0, *own])


@pytest.mark.parametrize(
    "texts",
    [
        ["0", "00", "007", "1.05", "2:05", "12345", "-3", "٣", ""],
        ["<b>9</b>", "<b>10</b>", "10", "8</b>", "a < b", "<", "</b>"],
        ["1 of 2", "5 of 1", "9999 of 0"],
    ],
)
def test_numbers_in_texts_come_out_as_they_went_in(texts: list[str]) -> None:
    data = payload([], [], []) | {"texts": texts, "log": [[number] for number in range(len(texts))]}
    assert unpack(pack(data))["texts"] == texts


@given(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 4), st.integers(0, 10**7), st.integers(-99, 10**6))))
def test_clocks_come_out_to_a_tenth_of_a_second(clocks: list[tuple[int, int, int, int]]) -> None:
    told = [(step, seat, tenths / 10, left / 10) for step, seat, tenths, left in sorted(clocks)]
    assert unpack(pack(payload([], [], []) | {"clocks": told}))["clocks"] == told


@given(st.lists(st.integers(0, 1_000_000)))
def test_numbers_are_written_as_characters(numbers: list[int]) -> None:
    assert read_numbers(write_numbers(numbers)) == numbers
    write_numbers(numbers).encode()


def test_equal_data_gives_equal_text_without_markup() -> None:
    data = payload(["ä \u2028 <", "b"], [[0, 0, 2, 1, 0]], []) | {"match": "</script>&"}
    assert pack(data) == pack(dict(data))
    assert unpack(pack(data))["match"] == "</script>&"
    for letter in "<>&\"'/\\":
        assert letter not in "".join(pack(data | {"match": str(number)}) for number in range(50))
