"""A whole match in this process, in one synchronous call."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from referee.live.matches.driver import MatchVoid
from referee.live.matches.in_process import InProcessError, play_in_process
from referee.match.house import HouseDecision
from referee.records.verify import verify
from referee.registry import find


def last(decision: HouseDecision) -> int:
    """A policy: the last action of the list."""
    return len(decision.actions) - 1


def test_policies_and_house_bots_play_and_the_record_verifies(tmp_path: Path) -> None:
    path = tmp_path / "match.jsonl"
    result = play_in_process("yunnan", [last, "greedy", "random"], seed=5, record=path)
    assert [seat.bot for seat in result.seats] == ["last", "greedy", "random"]
    assert verify(path, find).result.digest == result.digest


def test_the_same_seed_gives_the_same_match_and_another_seed_another() -> None:
    first, again, other = (play_in_process("cargo_noir", ["random", last], seed=seed).digest for seed in (1, 1, 2))
    assert first == again != other


def test_without_a_seed_no_two_matches_are_alike() -> None:
    assert len({play_in_process("venezia", ["random", "random"]).digest for _ in range(3)}) == 3


def test_options_are_those_of_the_game(tmp_path: Path) -> None:
    path = tmp_path / "match.jsonl"
    play_in_process("valparaiso", ["random", "random"], options={"max_rounds": 1}, record=path)
    assert b'"max_rounds":1' in path.read_bytes().splitlines()[0]


def test_it_can_be_called_where_an_event_loop_runs_as_in_a_notebook() -> None:
    async def cell() -> int:
        return len(play_in_process("yunnan", ["random", "random"], seed=1).seats)

    assert asyncio.run(cell()) == 2


@pytest.mark.parametrize(
    ("bots", "seed", "reason"),
    [
        (
            ["rnadom", "random"],
            1,
            "there is no house bot 'rnadom' .did you mean random.*; there are: greedy, random, search",
        ),
        (["random", "random"], -1, "the seed must be from 0 to"),
        (["random", "random"], 2**62 + 1, "the seed must be from 0 to"),
    ],
)
def test_what_cannot_be_played_is_said(bots: list[str], seed: int, reason: str) -> None:
    with pytest.raises(InProcessError, match=reason):
        play_in_process("yunnan", bots, seed=seed)


def broken(decision: HouseDecision) -> int:
    """A policy that fails."""
    raise ZeroDivisionError("oh")


def illegal(decision: HouseDecision) -> int:
    """A policy that answers out of range."""
    return len(decision.actions)


@pytest.mark.parametrize(
    ("policy", "reason"), [(broken, "broken in seat 1.*ZeroDivisionError: oh"), (illegal, "illegal in seat 1")]
)
def test_a_policy_that_fails_makes_the_match_void_and_leaves_no_record(
    tmp_path: Path, policy: object, reason: str
) -> None:
    with pytest.raises(MatchVoid, match=reason):
        play_in_process("yunnan", ["random", policy], seed=1, record=tmp_path / "match.jsonl")  # type: ignore[list-item]
    assert not list(tmp_path.iterdir())
