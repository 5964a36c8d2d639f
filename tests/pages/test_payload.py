"""Pictures as tokens and splices: whatever they are made of, they come out as they went in."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from referee.pages.payload import (
    Reel,
    apply,
    join,
    pack,
    pictures_of,
    reel,
    splice,
    tokens_of,
    unpack,
    without_repeats,
)

NUMBERS = st.lists(st.integers(0, 5), max_size=200)
TEXTS = st.text(alphabet="<>ab. ", max_size=40) | st.text(max_size=40).filter(str.isprintable)


def decoded(made: Reel, seat: int | None) -> list[str]:
    seats = [without_repeats(splices) for splices in made.seats]
    data = {"tokens": made.tokens, "public": made.public, "seats": seats}
    return list(pictures_of(unpack(pack(data)), seat))


@given(TEXTS)
def test_the_tokens_of_a_picture_are_the_picture(picture: str) -> None:
    assert "".join(tokens_of(picture)) == picture


def test_a_token_is_a_tag_with_what_follows_or_a_sentence() -> None:
    cut = tokens_of("<svg><desc>Seat 0 has 1.5. Seat 1 has none.</desc><text>a. b</text></svg>")
    expected = ["<svg>", "<desc>Seat 0 has 1.5. ", "Seat 1 has none.", "</desc>", "<text>a. ", "b", "</text>", "</svg>"]
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


def test_equal_data_gives_equal_text() -> None:
    data = {"a": [1, 2], "b": "ä \u2028 <"}
    assert pack(data) == pack(dict(data))
    assert unpack(pack(data)) == data
    assert "<" not in pack(data)
