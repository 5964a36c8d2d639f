"""A record is proved by the key and the audit log of its ladder."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ladder.archive.key import LadderKey, ladder_key
from ladder.archive.sealing import seal_block
from ladder.facts.store import Store
from ladder.model.match import Match
from ladder.operation.home import Home
from referee.records.audit_book import ENTRIES, OF_MATCH
from referee.records.audit_log import check
from referee.records.chain import FIRST_HASH, link
from tests.commands.conftest import Dogana, dogana
from tests.ladder.archived import record_file
from tests.ladder.logged import Entries, begun, entries_of, forge, home, key_of, log, written
from tests.ladder.made import differences, ladder, next_matches, play
from tests.ladder.real_ladder import play_really

__all__ = ["begun", "dogana", "home", "log"]


def proved(home: Home, store: Store, number: int) -> list[Match]:
    """Play a block by the rules, with records, and seal it."""
    matches = next_matches(store, number)
    for match in matches:
        play_really(home, store, match)
    assert matches[0].block is not None
    assert seal_block(home, store, matches[0].block) == []
    return matches


def test_a_record_is_checked_against_the_key_and_the_log_of_its_ladder(
    dogana: Dogana, home: Home, log: Path, tmp_path: Path
) -> None:
    public = key_of(home).public
    home.records.mkdir()
    with Store(home.database, create=False) as store:
        one, other, *_ = proved(home, store, 5)
        assert differences(store) == []
    later = written(home, tmp_path / "later.jsonl")
    number = next(place for place, entry in enumerate(entries_of(later), 1) if one.match_id == entry.get("match"))
    record, wrong = (record_file(home, match.match_id, tmp_path) for match in (one, other))
    said = dogana("verify", record, wrong, "--key", public.text, "--audit-log", "later.jsonl").stdout
    assert f"signed by ladder {public.fingerprint}; its result is entry {number} of later.jsonl" in said
    for log_file, reason in {
        "log.jsonl": "was never scheduled by the log",
        "forged.jsonl": "has another record",
    }.items():
        if log_file == "forged.jsonl":
            entries = entries_of(later)
            result = next(entry for entry in entries if entry.get("match") == one.match_id)
            forge(
                tmp_path / log_file, [*entries[: entries.index(result)], {**result, "record": "0" * 64}], key_of(home)
            )
        ended = dogana("verify", record, "--key", public.text, "--audit-log", log_file, status=1)
        assert len(ended.stdout.splitlines()) == 1
        assert ended.stdout.startswith("not proved ")
        assert reason in ended.stdout
    assert "--audit-log needs --key" in dogana("verify", record, "--audit-log", "later.jsonl", status=1).stderr


OF_THE_LADDER = {"at", "block", "guests", "matches", "round", "schedule_seed", "due"}
COMMON = (set(ENTRIES["block"]) | set(OF_MATCH) | set(ENTRIES["result"])) - OF_THE_LADDER
"""What the entries of a match have that its record has, too; it has no times of day, and knows of no other matches."""
FORGED: dict[str, Callable[[Any], Any]] = {
    "match": lambda match: match[::-1],
    "game": lambda game: "yunnan",
    "options": lambda options: {"anything": 7},
    "clock": lambda clock: "3600+60/3600",
    "seats": lambda seats: seats[::-1],
    "seed_commitment": lambda committed: committed[::-1],
    "record": lambda record: record[::-1],
    "digest": lambda digest: digest[::-1],
    "ranks": lambda ranks: [1] * len(ranks) if max(ranks) > 1 else [*range(1, len(ranks) + 1)],
    "scores": lambda scores: [score + 1 for score in scores],
    "outcomes": lambda outcomes: ["crash"] * len(outcomes),
    "all_decisions": lambda count: count + 1,
    "decisions": lambda counts: [count + 1 for count in counts],
    "think_ms": lambda times: [time + 1.5 for time in times],
    "details": lambda details: ["it crashed"] * len(details),
}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Entries, LadderKey]:
    """A sealed record, the entries of its ladder up to its result, and the key."""
    home = Home(tmp_path_factory.mktemp("recorded"))
    with ladder(home.folder), Store(home.database, create=False) as store:
        key = ladder_key(home, store)
        [one, *_] = proved(home, store, 5)
    entries = entries_of(written(home, home.folder / "log.jsonl"))
    end = next(place for place, entry in enumerate(entries) if entry.get("match") == one.match_id)
    return record_file(home, one.match_id, home.folder), entries[: end + 1], key


@pytest.mark.parametrize("field", sorted(COMMON))
def test_a_log_that_says_anything_else_than_the_record_does_not_prove_it(
    dogana: Dogana, recorded: tuple[Path, Entries, LadderKey], tmp_path: Path, field: str
) -> None:
    """The organiser, who has the key, writes a log that holds by itself; who has the record is not deceived."""
    record, entries_before, key = recorded
    log = tmp_path / "log.jsonl"
    words = ("verify", record, "--key", key.public.text, "--audit-log", log)
    forge(log, entries_before, key)
    assert f"its result is entry {len(entries_before)} of" in dogana(*words).stdout
    entries = json.loads(json.dumps(entries_before))
    result, block = entries[-1], next(entry for entry in entries if entry["type"] == "block")
    planned = next(match for match in block["matches"] if match["match"] == result["match"])
    has_it = [place for place in (result, planned, block) if field in place]
    for place in has_it:
        place[field] = FORGED[field](place[field])
    if field in ENTRIES["condition"]:
        condition = next(entry for entry in entries if entry["type"] == "condition")
        entries.insert(entries.index(block), {**condition, field: block[field]})
    assert has_it
    forge(log, entries, key)
    check(log, key.public)
    ended = dogana(*words, status=1)
    assert ended.stdout.startswith("not proved ")
    assert len(ended.stdout.splitlines()) == 1
    assert {"match": "was never scheduled by the log", "record": "has another record"}.get(field, field) in ended.stdout


def test_signing_and_logging_are_a_small_part_of_a_match(home: Home) -> None:
    """Writing its record to the disk alone takes longer; a match takes some hundred milliseconds."""
    key = key_of(home)
    with Store(home.database, create=False) as store:
        matches = [match for number in range(10) for match in next_matches(store, number)]
        counts = [timed(lambda match=match: play(store, match, random.Random(1))) for match in matches]  # type: ignore[misc]
        with store.writing():
            results = [event for event in map(json.loads, store.log.lines()) if event["type"] == "result"]
            logged = [timed(partial(link, FIRST_HASH, result)) for result in results]
    signed = [timed(lambda: key.sign_record("0" * 64)) for _ in matches]
    assert sorted(logged)[len(logged) // 2] + sorted(signed)[len(signed) // 2] < sorted(counts)[len(counts) // 2]


def timed(step: Callable[[], object]) -> float:
    start = time.process_time()
    step()
    return time.process_time() - start
