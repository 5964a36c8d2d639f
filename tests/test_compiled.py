"""Compiled rules are the same rules: whatever can be known of a match, step by step, is what the sources say.

`make compiled` runs this where the rules are compiled. A match that the sources play beside it is played by `tests/traces.py`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.kit.chance import FastChance, LiveChance
from referee.live.matches.in_process import play_in_process
from referee.playout import random_playout
from referee.records.verify import verify
from referee.registry import find, games, shipped_board
from tests.cases import need_compiled_rules
from tests.test_contract import setups
from tests.traces import ROOT, trace

AT = [(game, seats) for game in games() for seats in games()[game].seat_counts]


@pytest.fixture(scope="module")
def sources() -> Iterator[subprocess.Popen[str]]:
    """A process that plays with the sources of the rules."""
    need_compiled_rules("compare them")
    with subprocess.Popen(
        [sys.executable, "-m", "tests.traces"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'agents'}"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def reported_by(process: subprocess.Popen[str], **match: object) -> list[str]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(match) + "\n")
    process.stdin.flush()
    answer: list[str] = json.loads(process.stdout.readline())
    return answer


@pytest.mark.compiled
@pytest.mark.parametrize(("game", "seats"), AT)
def test_a_match_is_the_same_at_every_step(sources: subprocess.Popen[str], game: str, seats: int) -> None:
    @settings(max_examples=5)
    @given(st.integers(0, 2**32))
    def at_every_step(seed: int) -> None:
        assert trace(game, seats, {}, seed) == reported_by(sources, game=game, seats=seats, options={}, seed=seed)

    at_every_step()


@pytest.mark.compiled
@pytest.mark.parametrize("game", games())
def test_a_match_is_the_same_with_every_option(sources: subprocess.Popen[str], game: str) -> None:
    for number, setup in enumerate(setups(find(game))):
        match = {"game": game, "seats": setup.seats, "options": dict(setup.options), "seed": number}
        assert trace(game, setup.seats, dict(setup.options), number) == reported_by(sources, **match), match


@pytest.mark.compiled
@pytest.mark.parametrize("game", games())
def test_a_record_that_compiled_rules_have_made_is_verified_by_the_sources(
    sources: subprocess.Popen[str], game: str, tmp_path: Path
) -> None:
    record = tmp_path / "match.jsonl"
    play_in_process(game, ["random"] * find(game).seat_counts[-1], seed=5, record=record)
    program = (
        "import sys; from tests.traces import _find_sources_only; sys.path_hooks.insert(0, _find_sources_only);"
        "sys.path_importer_cache.clear(); from pathlib import Path; from referee.records.verify import verify;"
        "from referee.registry import find, rules_are_compiled; assert not rules_are_compiled();"
        f"print(verify(Path({str(record)!r}), find).result.digest)"
    )
    said = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'agents'}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.strip() == verify(record, find).result.digest


# --- the playout, which holds compiled or not -----------------------------------------------------------------------


@pytest.mark.parametrize(("game", "seats"), AT)
def test_a_playout_is_the_plain_loop(game: str, seats: int) -> None:
    rules = find(game)
    setup = rules.setup(seats, {}, shipped_board(rules))
    for chance_type in (FastChance, LiveChance):
        ours, theirs = chance_type(7), chance_type(7)
        played, plain = rules.start(setup, ours), rules.start(setup, theirs)
        decisions = 0
        while not plain.is_over():
            seat = plain.seats_to_act()[0]
            legal = plain.legal_actions(seat)
            plain.apply(seat, legal[theirs.stream("playout").below(len(legal))], theirs)
            decisions += 1
        assert random_playout(played, ours) == decisions
        assert played.to_json() == plain.to_json()
        assert ours.stream("x").below(10**6) == theirs.stream("x").below(10**6)
        assert random_playout(played, ours) == 0
