"""Pictures as tokens and splices: whatever they are made of, they come out as they went in."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from referee.pages.payload import Reel, apply, frames, join, reel, splice, tokens_of, written
from tests.pages.payloads import pictures_of, read

NUMBERS = st.lists(st.integers(0, 5), max_size=200)
TEXTS = st.text(alphabet="<>ab. ", max_size=40) | st.text(max_size=40).filter(str.isprintable)


def decoded(made: Reel, seat: int | None) -> list[str]:
    return list(pictures_of(read(written(frames(made) | {"clocks": [[]]})), seat))


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
    made = Reel(TABLE, public, seats)
    for view, seat in enumerate((None, 0, 1)):
        assert decoded(made, seat) == ["".join(TABLE[token] for token in views[view]) for views in steps]


def test_equal_data_gives_equal_text_without_markup() -> None:
    data = {"match": "</script>&", "seats": [], "clocks": [[]]}
    assert written(data) == written(dict(data))
    assert read(written(data))["match"] == "</script>&"
    for letter in "<>&\"'\\":  # without "<", a "/" is no markup
        assert letter not in "".join(written(data | {"match": str(number)}) for number in range(50))
