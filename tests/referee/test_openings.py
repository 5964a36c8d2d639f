"""Matches that begin with random decisions, so that bots without chance do not repeat them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from house_bots.greedy import GreedyBot
from house_bots.random_bot import RandomBot

from referee.game import label
from referee.kit.chance import LiveChance
from referee.live.matches.in_process import play_in_process
from referee.live.matches.play import House
from referee.match.result import Fault, Outcome
from referee.records.past_decisions import past_decisions
from referee.records.record import RecordError, header
from referee.records.verify import Replay, verify
from referee.registry import find, games
from tests import matches
from tests.cases import mostly_long
from tests.referee.test_records import chained
from tests.tables import Table, plan_of

Lines = list[dict[str, Any]]


def opening(lines: Lines) -> list[tuple[int, str]]:
    """The seats and actions of the opening."""
    return [(line["seat"], line["action"]) for line in lines if line.get("by") == "opening"]


@pytest.mark.parametrize("game", games())
@pytest.mark.parametrize("openings", mostly_long([7, 1]))
def test_the_first_decisions_are_drawn_recorded_and_verified(game: str, openings: int, tmp_path: Path) -> None:
    seats = max(find(game).seat_counts)
    table = Table(plan_of(game, seats, options={"openings": openings}))
    table.play_out()
    actions = [line for line in table.lines if line["type"] == "action"]
    assert [line["by"] == "opening" for line in actions] == [n < openings for n in range(len(actions))]
    assert verify(table.record(tmp_path / "match.jsonl"), find).result.decisions == len(actions)


@pytest.mark.parametrize("game", games())
def test_the_opening_follows_from_the_seed_whoever_plays(game: str) -> None:
    tables = [Table(plan_of(game, seed=seed, options={"openings": 5})) for seed in (1, 1, 2)]
    first, same, other = (opening(table.lines) for table in tables)
    assert first == same
    assert first != other


def test_an_opening_is_played_for_seats_that_did_not_start(tmp_path: Path) -> None:
    plan = plan_of("yunnan", 3, options={"openings": 6})
    table = Table(plan, {1: Fault(Outcome.START, "did not join")})
    table.play_out()
    assert opening(table.lines) == opening(Table(plan).lines)
    assert verify(table.record(tmp_path / "match.jsonl"), find).result.seats[1].outcome is Outcome.START


def test_a_match_that_ends_in_its_opening_has_no_questions(tmp_path: Path) -> None:
    plan = plan_of("cargo_noir", options={"openings": 50, "last_turn": 2})
    table = Table(plan)
    while not table.match.result:
        table.play_out()
    assert verify(table.record(tmp_path / "match.jsonl"), find).result == table.match.result


def test_a_match_from_a_position_has_no_opening() -> None:
    state = Table(plan_of("yunnan", options={"openings": 4})).match.state
    plan = plan_of("yunnan", options={"openings": 4}, position=state.to_json())
    assert not opening(Table(plan).lines)


def _drawn(lines: Lines) -> Lines:
    return [line for line in lines if line.get("by") == "opening"]


FORGERIES: list[tuple[str, Callable[[Lines], Any], str]] = [
    ("an agent's instead", lambda lines: _drawn(lines)[0].update(by="agent"), "first 4 decisions are drawn"),
    ("one too many", lambda lines: lines[6].update(by="opening"), "and no others"),
    (
        "other draws",
        lambda lines: _drawn(lines)[1].update(chance=[["opening", 0], ["opening", 0]]),
        "but the seed gives",
    ),
    ("no draws", lambda lines: _drawn(lines)[0].pop("chance"), "nothing more is recorded"),
    ("times", lambda lines: _drawn(lines)[2].update(ms=1.0, wall_ms=1.0, lag_ms=0.0), "decided without asking"),
]


@pytest.mark.parametrize(
    ("change", "reason"), [entry[1:] for entry in FORGERIES], ids=[entry[0] for entry in FORGERIES]
)
def test_a_forged_opening_is_found_out(change: Callable[[Lines], Any], reason: str, tmp_path: Path) -> None:
    table = Table(plan := plan_of("yunnan", options={"openings": 4}, seed=3))
    table.play_out()
    lines = [header(plan), *table.lines]
    change(lines)
    path = tmp_path / "forged.jsonl"
    path.write_bytes(chained(lines))
    with pytest.raises(RecordError, match=reason):
        verify(path, find)


def test_another_legal_action_than_the_drawn_one_is_found_out(tmp_path: Path) -> None:
    table = Table(plan := plan_of("yunnan", options={"openings": 1}, seed=3))
    table.play_out()
    lines = [header(plan), *table.lines]
    [drawn] = _drawn(lines)
    start = plan.game.start(plan.setup, LiveChance(plan.seed))
    drawn["action"] = next(
        label(action) for action in start.legal_actions(drawn["seat"]) if label(action) != drawn["action"]
    )
    path = tmp_path / "forged.jsonl"
    path.write_bytes(chained(lines))
    with pytest.raises(RecordError, match="is not the decision that was drawn"):
        verify(path, find)


def test_the_decisions_after_an_opening_can_be_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "match.jsonl"
    matches.play(plan_of("yunnan", options={"turn_limit": 1, "openings": 4}), [House(RandomBot)] * 2, record=path)
    record, decisions = past_decisions(path, find, 0)
    assert decisions
    assert decisions[0].at >= 4
    assert isinstance(record, Replay)


def test_yunnan_has_an_opening_unless_agreed_otherwise() -> None:
    assert {game: find(game).setup(2, {}, plan_of(game).setup.board_data).options["openings"] for game in games()} == {
        "cargo_noir": 0,
        "valparaiso": 0,
        "venezia": 0,
        "yunnan": 4,
    }


def test_bots_without_chance_repeat_their_matches_without_an_opening() -> None:
    def different(openings: int) -> int:
        bots = [House(GreedyBot)] * 2
        plans = [plan_of("yunnan", seed=seed, options={"openings": openings, "turn_limit": 3}) for seed in range(20)]
        return len({matches.play(plan, bots).result.digest for plan in plans})

    assert different(0) <= 8  # the initial orders of two seats with two colours each
    assert different(4) == 20


def test_a_match_in_process_has_the_same_opening(tmp_path: Path) -> None:
    found = []
    for bots in (["greedy", "random"], ["random", "greedy"]):
        path = tmp_path / f"{bots[0]}.jsonl"
        play_in_process("yunnan", bots, seed=5, record=path)
        found.append(opening([json.loads(line) for line in path.read_text().splitlines()]))
    assert found[0] == found[1]
    assert len(found[0]) == 4
