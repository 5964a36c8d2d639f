"""Chance: live streams are fixed by seed and name, uniform, and independent of each other; draws that are given are checked."""

from __future__ import annotations

import hashlib
from collections import Counter, deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.kit.chance import ChanceError, FastChance, LiveChance, ReplayChance, ScriptedChance, commitment

SEEDS = st.integers(0, 2**62)


@given(SEEDS, st.lists(st.integers(1, 100), max_size=20))
def test_the_same_seed_gives_the_same_draws(seed: int, sizes: list[int]) -> None:
    one, two = LiveChance(seed), LiveChance(seed)
    assert [one.stream("bag").below(n) for n in sizes] == [two.stream("bag").below(n) for n in sizes]


@given(SEEDS, st.integers(0, 50))
def test_what_is_drawn_from_one_stream_never_changes_another(seed: int, draws: int) -> None:
    undisturbed, disturbed = LiveChance(seed), LiveChance(seed)
    for _ in range(draws):
        disturbed.stream("other").below(6)
    assert undisturbed.stream("bag").permutation(9) == disturbed.stream("bag").permutation(9)


def test_a_stream_is_the_documented_function_of_seed_and_name() -> None:
    key = hashlib.sha256(b"dogana chance 1:42:bag").digest()
    words = []
    for block in range(2):
        data = hashlib.sha256(key + block.to_bytes(8, "big")).digest()
        words += [int.from_bytes(data[at : at + 8], "big") for at in range(0, 32, 8)]
    stream = LiveChance(42).stream("bag")
    assert [stream.below(1000) for _ in words] == [word % 1000 for word in words]


@pytest.mark.parametrize("chance", [LiveChance(5), FastChance(5)], ids=["live", "fast"])
def test_draws_are_uniform(chance: LiveChance | FastChance) -> None:
    stream = chance.stream("x")
    below = Counter(stream.below(5) for _ in range(5000))
    picked = Counter(stream.pick([1, 0, 3]) for _ in range(4000))
    firsts = Counter(stream.permutation(4)[0] for _ in range(4000))
    assert all(850 < below[value] < 1150 for value in range(5))
    assert set(picked) == {0, 2}
    assert 2850 < picked[2] < 3150
    assert all(850 < firsts[value] < 1150 for value in range(4))


def test_every_draw_is_noted_with_its_stream() -> None:
    chance = LiveChance(1)
    chance.stream("bag").pick([0, 4])
    order = chance.stream("deck").permutation(3)
    assert chance.draws == [("bag", 1), ("deck", order)]


def test_replayed_chance_must_come_from_the_recorded_stream_and_be_possible() -> None:
    for draws, message in (
        ([], "nothing more is recorded"),
        ([("deck", 1)], "stream deck is recorded"),
        ([("bag", 5)], "a number below 3"),
        ([("bag", [0])], "a number below 3"),
        ([("bag", 1)], "cannot give 1"),
    ):
        chance = ReplayChance(None)
        chance.draws = deque(draws)
        with pytest.raises(ChanceError, match=message):
            chance.stream("bag").pick([1, 0, 1])


def test_replayed_chance_must_be_what_the_seed_gives() -> None:
    live = LiveChance(9)
    true = live.stream("bag").below(10)
    chance = ReplayChance(LiveChance(9))
    chance.draws = deque([("bag", true)])
    assert chance.stream("bag").below(10) == true
    forged = ReplayChance(LiveChance(9))
    forged.draws = deque([("bag", (true + 1) % 10)])
    with pytest.raises(ChanceError, match="but the seed gives"):
        forged.stream("bag").below(10)


def test_scripted_chance_is_given_in_order_and_runs_out() -> None:
    chance = ScriptedChance(bag=[2, 0], deck=[[1, 0]])
    assert chance.stream("bag").below(3) == 2
    assert chance.stream("deck").permutation(2) == [1, 0]
    assert chance.stream("bag").below(3) == 0
    with pytest.raises(ChanceError, match="no draw left"):
        chance.stream("bag").below(3)
    with pytest.raises(ChanceError, match="not in the script"):
        chance.stream("dice").below(6)


def test_nothing_can_be_drawn_from_nothing() -> None:
    with pytest.raises(ValueError, match="nothing to draw from"):
        LiveChance(1).stream("bag").pick([0, 0])


def test_the_commitment_is_sha256_of_match_id_and_seed() -> None:
    assert commitment("m1", 77) == hashlib.sha256(b"m1:77").hexdigest()
