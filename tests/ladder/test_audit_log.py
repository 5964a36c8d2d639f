"""The audit log of a ladder: what is done stands in it, and whoever changes, drops, adds or moves anything is seen."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import random
import re
import sqlite3
import stat
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime, timedelta
from functools import partial
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import pytest

from ladder.archive import audit_log
from ladder.archive import key as keys
from ladder.archive.audit_log import write
from ladder.archive.key import LadderKey, ladder_key, new_key
from ladder.archive.recompute import compare, repair
from ladder.archive.sealing import seal_block
from ladder.facts.store import Store
from ladder.model.match import Match
from ladder.operation.errors import LadderError
from ladder.operation.home import Home
from referee.kit.chance import commitment
from referee.records import audit_log as audit_logs
from referee.records.audit_book import ENTRIES, OF_MATCH, checkpoint_text
from referee.records.audit_log import AuditError, check
from referee.records.audit_log import compare as compare_logs
from referee.records.chain import FIRST_HASH, hash_of, link
from referee.records.signature import PublicKey
from tests.cases import mostly_long
from tests.commands.conftest import Dogana, dogana
from tests.growth import grows_in_proportion
from tests.ladder.archived import record_file
from tests.ladder.made import CONDITION, differences, ladder, next_matches, play
from tests.ladder.real_ladder import play_really

__all__ = ["dogana"]

Entries = list[dict[str, Any]]
AT = "2126-01-01T00:00:00.000+00:00"
"""When a forged log is signed."""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A ladder that has played two blocks, given up a match, and begun a third block."""
    home = Home(tmp_path / "home")
    home.make()
    with ladder(home.folder) as store:
        ladder_key(home, store)
        for number in range(2):
            play_block(store, number)
        third = next_matches(store, 2)
        play(store, third[0], random.Random(3))
        store.results.give_up(third[1], "the worker was killed")
    return home


def play_block(store: Store, number: int) -> None:
    matches = next_matches(store, number)
    for match in matches:
        play(store, match, random.Random(number))
    assert matches[0].block is not None
    store.evidence.note_sealed(matches[0].block)


@pytest.fixture
def log(home: Home, tmp_path: Path) -> Path:
    return written(home, tmp_path / "log.jsonl")


def written(home: Home, path: Path, previous: Path | None = None) -> Path:
    with Store(home.database, create=False) as store:
        write(home, store, path, previous)
    return path


def key_of(home: Home) -> LadderKey:
    with Store(home.database, create=False) as store:
        return ladder_key(home, store)


def entries_of(path: Path) -> Entries:
    """The entries of a log, without their hashes and without the checkpoint."""
    found = [json.loads(line) for line in path.read_text().splitlines()[:-1]]
    return [{name: value for name, value in entry.items() if name != "hash"} for entry in found]


def forge(path: Path, entries: Entries, key: LadderKey) -> Path:
    """A log of these entries, with a chain that is right, signed with a key."""
    previous, lines = FIRST_HASH, []
    for entry in entries:
        line, previous = link(previous, entry)
        lines.append(line)
    signature = key.sign(checkpoint_text(len(entries), previous, AT))
    checkpoint = {"type": "checkpoint", "at": AT, "entries": len(entries), "hash": previous, "signature": signature}
    path.write_bytes(
        b"".join(line + b"\n" for line in [*lines, json.dumps(checkpoint, separators=(",", ":")).encode()])
    )
    return path


def first(entries: Entries, kind: str) -> dict[str, Any]:
    return next(entry for entry in entries if entry["type"] == kind)


# --- what is in it --------------------------------------------------------------------------------------


def test_all_that_a_ladder_has_done_stands_in_its_log_and_holds_without_the_ladder(home: Home, log: Path) -> None:
    entries = entries_of(log)
    kinds = [entry["type"] for entry in entries]
    assert kinds[:6] == ["begin", "condition", "condition", "version", "qualification", "qualification"]
    assert list(dict.fromkeys(kinds[6:])) == ["version", "qualification", "key", "block", "result", "seed", "void"]
    found = check(log, key_of(home).public)
    with Store(home.database, create=False) as store:
        counted = list(store.results.counted())
        assert [entry["record"] for entry in entries if entry["type"] == "result"] == [
            match.count.record_hash for match in counted if match.count
        ]
    assert (found.entries, found.results, found.voids, found.given_up) == (len(entries), len(counted), 3, 1)
    assert found.seeds == 2
    [unfinished] = found.unfinished
    assert unfinished.startswith("block 3, scheduled at 20")


def test_a_block_commits_to_its_seed_for_every_match_and_does_not_tell_it(home: Home, log: Path) -> None:
    *_, last = [entry for entry in entries_of(log) if entry["type"] == "block"]
    with Store(home.database, create=False) as store:
        for match in last["matches"]:
            found = store.schedule.match(match["match"])
            assert found is not None
            assert match["seed_commitment"] == commitment(found.match_id, found.seed)
            assert match["seats"] == found.labels
            assert str(found.seed) not in log.read_text()


def test_a_reason_of_any_length_leaves_a_log_that_can_be_checked(home: Home, tmp_path: Path) -> None:
    with Store(home.database, create=False) as store:
        store.admission.qualify(1, CONDITION, passed=False, reason="x" * audit_logs.MAX_LINE_BYTES)
        store.results.void(store.schedule.unfinished(CONDITION)[0], "x" * audit_logs.MAX_LINE_BYTES)
    check(written(home, tmp_path / "log.jsonl"), key_of(home).public)


def test_a_log_tells_where_a_match_stands(home: Home, log: Path) -> None:
    entries = entries_of(log)
    number, entry = next((number, entry) for number, entry in enumerate(entries, 1) if entry["type"] == "result")
    standing = check(log, None, {entry["match"]}).standings[entry["match"]]
    assert (standing.counted, standing.result["record"]) == (number, entry["record"])
    assert entries[standing.scheduled - 1]["type"] == "block"
    assert standing.scheduled < standing.counted
    assert check(log, None, {"nothing"}).standings == {}


# --- by somebody who does not have the key ------------------------------------------------------------------


def changed(lines: list[bytes]) -> list[bytes]:
    place = next(number for number, line in enumerate(lines) if b'"type":"result"' in line)
    return [*lines[:place], lines[place].replace(b'"digest":"', b'"digest":"0'), *lines[place + 1 :]]


def new_chain(lines: list[bytes]) -> list[bytes]:
    """Somebody makes the chain right again, and corrects the checkpoint, but cannot sign it."""
    found = [json.loads(line) for line in changed(lines)]
    previous, made = FIRST_HASH, []
    for entry in found[:-1]:
        del entry["hash"]
        line, previous = link(previous, entry)
        made.append(line)
    return [*made, json.dumps({**found[-1], "hash": previous}, separators=(",", ":")).encode()]


TAMPERINGS: dict[str, tuple[Callable[[list[bytes]], list[bytes]], str]] = {
    "an entry is changed": (changed, "was changed, or does not follow"),
    "an entry is dropped": (lambda lines: [*lines[:5], *lines[6:]], r"entry 6: was changed, or does not follow"),
    "two entries change places": (lambda lines: [*lines[:5], lines[6], lines[5], *lines[7:]], "entry 6: was changed"),
    "an entry is inserted": (lambda lines: [*lines[:5], lines[4], *lines[5:]], "entry 6: was changed"),
    "the chain is made right again": (new_chain, "has not signed it"),
    "the end is cut off, the checkpoint left": (lambda lines: [*lines[:-3], lines[-1]], "the checkpoint is of another"),
    "the checkpoint is cut off": (lambda lines: lines[:-1], "is missing: the log is cut off"),
    "a line is cut off": (lambda lines: [*lines[:-1], lines[-1][:50] + b"\0"], "is not JSON"),
    "something follows the checkpoint": (lambda lines: [*lines, lines[0]], "comes after the checkpoint"),
    "the signature is made up": (
        lambda lines: [*lines[:-1], lines[-1].replace(b'"signature":"', b'"signature":"' + b"0" * 64)[:-66] + b'"}'],
        "has not signed it",
    ),
    "the time of the checkpoint is changed": (
        lambda lines: [*lines[:-1], lines[-1].replace(b'"at":"20', b'"at":"19')],
        "has not signed it",
    ),
    "the file is empty": (lambda lines: [], "entry 1: is missing"),
}


@pytest.mark.parametrize("tampering", TAMPERINGS)
def test_whoever_does_not_have_the_key_can_change_nothing(home: Home, log: Path, tampering: str) -> None:
    tamper, reason = TAMPERINGS[tampering]
    log.write_bytes(b"".join(line + b"\n" for line in tamper(log.read_bytes().splitlines())))
    with pytest.raises(AuditError, match=reason) as told:
        check(log, key_of(home).public)
    assert len(str(told.value).splitlines()) == 1


def test_every_line_that_is_cut_off_is_noticed(home: Home, log: Path) -> None:
    whole = log.read_bytes()
    for end in range(0, len(whole) - 1, 97):
        log.write_bytes(whole[:end])
        with pytest.raises(AuditError, match="cut off"):
            check(log, None)


def test_a_log_that_somebody_else_has_signed_is_not_that_of_the_ladder(home: Home, log: Path, tmp_path: Path) -> None:
    stranger = Home(tmp_path / "stranger")
    stranger.make()
    with ladder(stranger.folder) as store:
        other = ladder_key(stranger, store)
    entries = entries_of(log)
    first(entries, "key")["key"] = other.public.text
    forge(log, entries, other)
    with pytest.raises(
        AuditError, match=rf"is signed by ladder {other.public.fingerprint}, not by {key_of(home).public.fingerprint}"
    ):
        check(log, key_of(home).public)
    assert check(log, None).keys == [other.public]  # it agrees with itself


# --- by the organiser, who has the key ----------------------------------------------------------------------


def drop(kind: str) -> Callable[[Entries], object]:
    return lambda entries: entries.remove(first(entries, kind))


def twice(kind: str) -> Callable[[Entries], object]:
    return lambda entries: entries.insert(entries.index(first(entries, kind)) + 1, dict(first(entries, kind)))


def other_seed(entries: Entries) -> None:
    first(entries, "seed")["seed"] += 1


def other_commitment(entries: Entries) -> None:
    match = first(entries, "block")["matches"][1]
    match["seed_commitment"] = commitment(match["match"], 7)


def result_first(entries: Entries) -> None:
    result = first(entries, "result")
    entries.remove(result)
    entries.insert(entries.index(first(entries, "block")), result)


def seed_first(entries: Entries) -> None:
    seed = first(entries, "seed")
    entries.remove(seed)
    entries.insert(entries.index(first(entries, "result")), seed)


def at(time: str) -> Callable[[Entries], object]:
    return lambda entries: first(entries, "result").update(at=time)


CHEATS: dict[str, tuple[Callable[[Entries], object], str]] = {
    "the seed is another one than was committed to": (other_seed, r"is not the seed that entry \d+ committed to"),
    "the commitment is another one": (other_commitment, r"is not the seed that entry \d+ committed to for match"),
    "a match was never scheduled": (drop("block"), r"match \w+ was not scheduled before, or is over"),
    "a match is scheduled after it was played": (result_first, r"match \w+ was not scheduled before, or is over"),
    "a match has a second result": (twice("result"), r"match \w+ was not scheduled before, or is over"),
    "a result is dropped, and the seed revealed": (drop("result"), r"reveals the seed of block 1 while match \w+ is not over"),
    "the seed is revealed before the last match": (seed_first, r"reveals the seed of block 1 while match"),
    "a seed is revealed twice": (twice("seed"), "was not scheduled, or has revealed it"),
    "a block is scheduled twice": (twice("block"), "block 1 is scheduled, but the last one was 1"),
    "a version is taken in twice": (twice("version"), "bot0 v1 is taken in a second time"),
    "a version is missing": (drop("version"), "has 'bot0 v1', which was never taken in"),
    "a version is due that is not there": (
        lambda entries: first(entries, "block")["due"].update({"eve v1": 1}),
        "it has 'eve v1', which was never taken in",
    ),
    "a version is due at a text": (
        lambda entries: first(entries, "block")["due"].update({"bot0 v1": "x"}),
        "block 1 has a version that is due at no number",
    ),
    "a seat that never comes in sits in a block": (
        lambda entries: first(entries, "block")["matches"][0]["seats"].__setitem__(0, "eve v1"),
        "has 'eve v1', which was never taken in",
    ),
    "a condition is missing": (drop("condition"), "the condition .* was never added"),
    "a condition is added twice": (twice("condition"), "the condition .* is added a second time"),
    "a version qualifies somehow": (
        lambda entries: first(entries, "qualification").update(outcome="well"),
        "its outcome is 'well', not one of passed, failed, again",
    ),
    "a stranger qualifies": (
        lambda entries: first(entries, "qualification").update(version="eve v1"),
        "it has 'eve v1', which was never taken in",
    ),
    "a stranger retires": (
        lambda entries: entries.append({"type": "retirement", "at": AT, "version": "eve v1", "retired": True}),
        "it has 'eve v1', which was never taken in",
    ),
    "a stranger is tried": (
        lambda entries: entries.append(
            {"type": "trial", "at": AT, "match": "x", "version": "eve v1", "guilty": True}
        ),
        "it has 'eve v1', which was never taken in",
    ),
    "a stranger consents": (
        lambda entries: entries.append({"type": "consent", "at": AT, "bot": "eve", "given": True}),
        "it has bot 'eve', which was never taken in",
    ),
    "the records of a stranger are kept": (
        lambda entries: entries.append(
            {"type": "pruning", "at": AT, "records_before": AT, "logs_before": "", "kept_bots": ["eve"], "one_block_of": 0}
        ),
        "it has bot 'eve', which was never taken in",
    ),
    "a pruning of no time": (
        lambda entries: entries.append(
            {"type": "pruning", "at": AT, "records_before": "x", "logs_before": "", "kept_bots": [], "one_block_of": 0}
        ),
        "is no time in UTC",
    ),
    "a seat without its time": (
        lambda entries: first(entries, "result")["think_ms"].pop(),
        "seats, and each needs a value in think_ms",
    ),
    "a detail that is no text": (
        lambda entries: first(entries, "result")["details"].__setitem__(0, 7),
        "seats, and each needs a value in details",
    ),
    "a void attempt is dropped": (drop("void"), "is attempt 2, but attempt 1 comes here"),
    "the beginning is missing": (drop("begin"), "a log has one entry of type begin, and it is the first"),
    "the key is missing": (drop("key"), "names no key that could have signed it"),
    "a key that nobody has handed over to": (
        lambda entries: first(entries, "key").update(signature="00" * 64),
        "the key before it has not signed it",
    ),
    "more seats than the match has": (
        lambda entries: first(entries, "result")["ranks"].append(1),
        "seats, and each needs a rank",
    ),
    "an entry of an unknown type": (lambda entries: entries.append({"type": "joke"}), "is of type 'joke'; an entry is of"),
    "an entry with more than belongs to it": (
        lambda entries: first(entries, "seed").update(more=1),
        "does not have what belongs to seed",
    ),
    "true for a number": (lambda entries: first(entries, "version").update(number=True), "what belongs to version"),
    "a newer format": (lambda entries: first(entries, "begin").update(format=5), "is in format 5, written by Dogana .*; update this one"),
    "the format from before the first release": (
        lambda entries: first(entries, "begin").update(format=1),
        "is in format 1, written by Dogana .*; from before its first release, which no release reads",
    ),
    "ranks that no match can have": (
        lambda entries: first(entries, "result").update(ranks=[2] * len(first(entries, "result")["ranks"])),
        "has ranks that no match can have",
    ),
    "a seat without a score": (lambda entries: first(entries, "result")["scores"].pop(), "each needs a score"),
    "true for a score": (lambda entries: first(entries, "result")["scores"].__setitem__(0, True), "each needs a score"),
    "an outcome that there is not": (
        lambda entries: first(entries, "result")["outcomes"].__setitem__(0, "won"),
        "each needs an outcome: played, illegal",
    ),
    "an outcome that is no text": (
        lambda entries: first(entries, "result")["outcomes"].__setitem__(0, ["played"]),
        "each needs an outcome: played, illegal",
    ),
    "a version is left out": (lambda entries: first(entries, "version").update(number=2), "bot0 v2 is taken in, but v1 of that bot"),
    "a bot changes its author": (
        lambda entries: entries.append({**first(entries, "version"), "number": 2, "author": "eve"}),
        "bot0 v2 is of author 'eve', but the versions before it are of 'author0'",
    ),
    **{
        f"the time {time[:40]!r}": (at(time), "is no time in UTC")
        for time in (
            "never", "", "2026-02-30T12:00:00.000+00:00", "2026-01-01T25:00:00+00:00", "2026-01-01", "2026-01-01T12:00:00",
            "2026-01-01T12:00:00+02:00", "2026-01-01T12:00:00.000+00:00\n", "\u0662026-01-01T12:00:00+00:00", "9" * 5000,
        )
    },
    "escapes for the terminal": (
        lambda entries: first(entries, "version").update(type="\x1b[2J\n\u202e"),
        r"is of type '\\x1b\[2J\\n\\u202e'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("cheat", mostly_long(CHEATS, 13))
def test_even_with_the_key_nobody_writes_a_history_that_cannot_have_happened(home: Home, log: Path, cheat: str) -> None:
    change, reason = CHEATS[cheat]
    entries = entries_of(log)
    change(entries)
    forge(log, entries, key_of(home))
    with pytest.raises(AuditError, match=reason):
        check(log, None if cheat == "the key is missing" else key_of(home).public)


def cut(entries: Entries) -> None:
    del entries[-3:]


def another_winner(entries: Entries) -> None:
    first(entries, "result")["ranks"].reverse()


def another_author(entries: Entries) -> None:
    first(entries, "version")["author"] = "somebody"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (cut, r"later\.jsonl: entry \d+: is missing, though .*/log\.jsonl has it: entries were taken back"),
        (another_winner, r"later\.jsonl: entry \d+: is not the one that .*/log\.jsonl has: the past was changed"),
        (another_author, r"later\.jsonl: entry \d+: is not the one that .*/log\.jsonl has: the past was changed"),
    ],
    ids=["the end is cut off", "a result is changed", "a version is changed"],
)
def test_a_history_that_the_organiser_has_rewritten_shows_only_beside_an_earlier_log(
    home: Home, log: Path, tmp_path: Path, change: Callable[[Entries], object], reason: str
) -> None:
    entries = entries_of(log)
    change(entries)
    later = forge(tmp_path / "later.jsonl", entries, key_of(home))
    check(later, key_of(home).public)  # it holds by itself
    with pytest.raises(AuditError, match=reason):
        compare_logs(log, later)


def test_an_earlier_log_is_a_beginning_of_every_later_one(home: Home, log: Path, tmp_path: Path) -> None:
    before = len(entries_of(log))
    with Store(home.database, create=False) as store:
        play_block(store, 5)
    later = written(home, tmp_path / "later.jsonl", previous=log)
    assert compare_logs(log, later) == len(entries_of(later)) - before > 0
    assert compare_logs(log, log) == 0


@pytest.mark.parametrize("seconds", [0, 0.002, 3600])
def test_an_entry_with_a_time_before_that_of_an_earlier_one_is_named(home: Home, log: Path, seconds: float) -> None:
    entries = entries_of(log)
    result = first(entries, "result")
    place = entries.index(result)
    before = datetime.fromisoformat(entries[place - 1]["at"])
    result["at"] = (before - timedelta(seconds=seconds)).isoformat(timespec="milliseconds")
    told = check(forge(log, entries, key_of(home)), None).earlier
    assert told == [f"entry {place + 1}, at {result['at']}, is {seconds:,.3f} s earlier than one before it"] * (
        seconds > 0
    )


def test_a_signature_that_is_older_than_what_it_signs_is_named(home: Home, log: Path) -> None:
    entries = entries_of(log)
    entries[-1]["at"] = "2999-01-01T00:00:00.000+00:00"
    [told] = check(forge(log, entries, key_of(home)), None).earlier
    assert told.startswith(f"entry {len(entries) + 1}, at {AT}, is ")


def test_a_clock_that_steps_back_is_shown_by_the_command(
    home: Home, tmp_path: Path, dogana: Dogana, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ladder.facts.entries.now", lambda: "2001-01-01T00:00:00.000+00:00")
    with Store(home.database, create=False) as store:
        before = len(list(store.log.lines()))
        play_block(store, 5)
        added = len(list(store.log.lines())) - before
        assert differences(store) == []
    written(home, tmp_path / "log.jsonl")
    said = dogana("verify-log", "log.jsonl", "--key", key_of(home).public.text).stdout
    assert re.search(
        r"time: entry \d+, at 2001-01-01T00:00:00.000\+00:00, is [0-9,.]+ s earlier than one before it", said
    )
    document = json.loads(dogana("verify-log", "log.jsonl", "--key", key_of(home).public.text, "--json").stdout)
    assert len(document["earlier"]) == added


def test_a_block_that_is_played_and_never_told_is_named(home: Home, log: Path) -> None:
    entries = entries_of(log)
    seeds = [entry for entry in entries if entry["type"] == "seed"]
    block = seeds[-1]["block"]
    matches = {match["match"] for entry in entries if entry.get("block") == block for match in entry.get("matches", [])}
    hidden = [entry for entry in entries if entry.get("match") not in matches and entry is not seeds[-1]]
    found = check(forge(log, hidden, key_of(home)), None)
    assert f"{len(matches)} of {len(matches)} matches have neither a result nor been given up" in found.unfinished[0]
    untold = check(forge(log, [entry for entry in entries if entry is not seeds[-1]], key_of(home)), None)
    assert "all matches are over, but its seed is not revealed" in untold.unfinished[0]


# --- hostile files --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"x" * (audit_logs.MAX_LINE_BYTES + 1), "entry 1: has more than 262144 bytes"),
        (b"\x7fELF\n", "entry 1: does not end with its hash"),
        (link(FIRST_HASH, {"a": 1})[0] + b"\n", "entry 1: is of type None"),
        (link(FIRST_HASH, {"type": ["begin"]})[0] + b"\n", r"entry 1: is of type \['begin'\]"),
        (link(FIRST_HASH, {"type": "checkpoint"})[0] + b"\n", "entry 1: does not have what belongs to checkpoint"),
        (b'{"type":"checkpoint","at":' + b"[" * 100_000 + b"\n", "entry 1: is not JSON: .*nested too deeply"),
        (b'{"type":"checkpoint","at":NaN}\n', "entry 1: is not JSON: NaN"),
        (b'{"type":"checkpoint","type":"checkpoint"}\n', "entry 1: is not JSON: the name 'type' is there twice"),
        (b'{"type":"checkpoint","entries":' + b"9" * 10_000 + b"}\n", "entry 1: is not JSON"),
    ],
)
def test_a_file_that_is_no_log_is_refused_in_one_short_line(tmp_path: Path, data: bytes, reason: str) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(data)
    with pytest.raises(AuditError, match=reason) as told:
        check(path, None)
    assert len(told.value.reason) < 500


def test_a_folder_or_a_device_is_no_log(tmp_path: Path) -> None:
    for path in (tmp_path, Path("/dev/zero"), tmp_path / "nowhere"):
        with pytest.raises(OSError, match=str(path)):
            check(path, None)


def long_log(path: Path, blocks: int, key: LadderKey) -> None:
    """A log of four entries for each block, two of which are results."""
    entries: Entries = [
        {"type": "begin", "at": AT, "format": 4, "dogana": ""},
        {"type": "key", "at": AT, "key": key.public.text, "signature": ""},
        {"type": "version", "at": AT, "bot": "a", "number": 1, "author": "a", "content": "", "run": "", "games": [], "language": ""},
        {"type": "condition", "at": AT, "game": "", "options": {}, "clock": ""},
    ]  # fmt: skip
    for block in range(1, blocks + 1):
        ids = [f"{block}a", f"{block}b"]
        matches = [{"match": one, "seed_commitment": commitment(one, block), "seats": ["a v1"]} for one in ids]
        entries.append(
            {
                "type": "block",
                "at": AT,
                "block": block,
                "game": "",
                "options": {},
                "clock": "",
                "guests": False,
                "round": 1,
                "schedule_seed": 1,
                "due": {},
                "matches": matches,
            }
        )
        entries += [
            {
                "type": "result",
                "at": AT,
                "match": one,
                "record": one,
                "digest": "",
                "ranks": [1],
                "scores": [7],
                "outcomes": ["played"],
                "all_decisions": 1,
                "decisions": [1],
                "think_ms": [1.0],
                "details": [""],
            }
            for one in ids
        ]
        entries.append({"type": "seed", "at": AT, "block": block, "seed": block})
    forge(path, entries, key)


@pytest.mark.long
def test_a_log_is_checked_in_time_in_proportion_to_its_length(home: Home, tmp_path: Path) -> None:
    key = key_of(home)

    paths = {blocks: tmp_path / f"{blocks}.jsonl" for blocks in (400, 4000)}
    for blocks, path in paths.items():
        long_log(path, blocks, key)

    def both(blocks: int) -> None:
        assert check(paths[blocks], key.public).results == 2 * blocks
        compare_logs(paths[blocks], paths[blocks])

    assert grows_in_proportion(both, 400)


# --- the only facts ---------------------------------------------------------------------------------------


def test_a_block_is_on_the_disk_before_anybody_acts_on_it(home: Home) -> None:
    with Store(home.database, create=False) as store:
        full, wal = 2, "wal"
        assert store.file.db.conn.execute("pragma synchronous").fetchone() == (full,)
        assert store.file.db.conn.execute("pragma journal_mode").fetchone() == (wal,)


def test_a_transaction_that_is_killed_leaves_neither_a_fact_nor_its_entry(home: Home) -> None:
    with Store(home.database, create=False) as store:
        before = list(store.log.lines())
        with contextlib.suppress(ZeroDivisionError), store.writing():
            play_block(store, 7)
            assert len(list(store.log.lines())) > len(before)
            raise ZeroDivisionError
        assert list(store.log.lines()) == before
        assert differences(store) == []


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("delete from events where number = 5", "entry 5: was changed, or does not follow"),
        ("delete from events where line like '{\"type\":\"seed\"%'", r"entry \d+: was changed, or does not follow"),
        ("delete from events where number = 1", "entry 1: was changed, or does not follow"),
        ("update events set line = replace(line, 'bot1', 'bot2')", r"entry \d+: was changed, or does not follow"),
        ("update events set line = '{}' where number = 1", "entry 1: does not end with its hash"),
        ("update events set number = -number where number > 4", "its entries are not numbered one after another, from 1"),
        ("update events set number = 100 + number where number > 4", "its entries are not numbered one after another, from 1"),
    ],
)  # fmt: skip
def test_a_recomputation_names_the_first_event_that_does_not_follow_and_compares_nothing_else(
    home: Home, change: str, reason: str
) -> None:
    with Store(home.database, create=False) as store:
        assert compare(home, store).log == ""
        with sqlite3.connect(home.database) as database:
            database.execute(change)
        found = compare(home, store)
        assert found.problems == [found.log]
        assert re.match(f"audit log: {reason}", found.log)


def chained(store: Store, kind: str, event: dict[str, Any]) -> None:
    """Add an event that follows by its hash, without folding it."""
    lines = list(store.log.lines())
    line, _ = link(hash_of(lines[-1]), {"type": kind, "at": AT, **event})
    with store.writing():
        store.file.write("insert into events (number, line) values (?, ?)", [len(lines) + 1, line.decode()])


@pytest.mark.parametrize(
    ("kind", "event", "reason"),
    [
        ("seed", {"block": 1, "seed": 7}, "reveals the seed of block 1, which was not scheduled, or has revealed it"),
        ("joke", {}, "is of type 'joke'"),
        ("lost", {"match": "nowhere"}, "makes no sense here: FOREIGN KEY"),
        ("trial", {"match": "nowhere", "version": "bot0 v1", "guilty": True}, "makes no sense here: FOREIGN KEY"),
    ],
)
def test_a_recomputation_names_an_event_that_cannot_have_happened(
    home: Home, kind: str, event: dict[str, Any], reason: str
) -> None:
    with Store(home.database, create=False) as store:
        chained(store, kind, event)
        number = len(list(store.log.lines()))
        assert compare(home, store).log.startswith(f"audit log: entry {number}: {reason}")


def test_events_whose_views_are_missing_and_views_whose_events_are_missing_are_told(home: Home) -> None:
    with Store(home.database, create=False) as store:
        chained(store, "retirement", {"version": "bot0 v1", "retired": True})
        [told] = differences(store)
        assert told.startswith("retirements: lacks id 1, version 1, retired 1, ")
        with store.writing():
            store.file.write("delete from events where number > (select max(number) - 4 from events)")
        assert any(line.startswith("voids: has id 1, match ") for line in differences(store))


def test_a_log_is_never_repaired(home: Home) -> None:
    with sqlite3.connect(home.database) as database:
        database.execute("update events set line = replace(line, 'bot1', 'bot2')")
        database.execute("update tallies set wins = wins + 1")
    with Store(home.database, create=False) as store:
        told = list(store.log.lines())
        assert not repair(home, store, count_lost=True).repaired
        assert list(store.log.lines()) == told
        assert compare(home, store).log != ""


def _add(folder: Path, number: int, barrier: Barrier) -> None:
    home = Home(folder)
    barrier.wait()
    with Store(home.database, create=True) as store:
        for version in range(10):
            ladder_key(home, store)
            store.roster.add_version(f"bot{number}", "ann", f"{version}", ["./bot"], ["cargo_noir"])


@pytest.mark.long
def test_processes_that_write_at_once_have_one_key_and_one_log(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.make()
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(4)
    processes = [context.Process(target=_add, args=(home.folder, number, barrier)) for number in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    log = written(home, tmp_path / "log.jsonl")
    assert check(log, key_of(home).public).entries == 1 + 1 + 40
    with Store(home.database, create=False) as store:
        assert differences(store) == []


# --- the file ---------------------------------------------------------------------------------------------------


def test_a_log_replaces_its_own_beginning_and_nothing_else(home: Home, log: Path, tmp_path: Path) -> None:
    with Store(home.database, create=False) as store:
        store.roster.add_version("late", "ann", "x", ["./bot"], ["cargo_noir"])
        assert write(home, store, log)[1] == 1
        whole = log.read_bytes()
        for other in (b"mine\n", b"", whole[:-5], whole.replace(b"ann", b"eve")):
            log.write_bytes(other)
            with pytest.raises(AuditError):
                write(home, store, log)
            assert log.read_bytes() == other
        with pytest.raises(OSError, match="is not a regular file"):
            write(home, store, tmp_path)
    assert not list(tmp_path.glob("*.part"))


def test_a_ladder_that_was_set_back_does_not_take_the_place_of_its_later_log(home: Home, log: Path) -> None:
    with sqlite3.connect(home.database) as database:  # as if an older copy were restored
        database.execute("delete from events where number > 8")
    with pytest.raises(
        AuditError,
        match=r"^the log of this ladder: entry 9: is missing, though .*log\.jsonl has it: entries were taken",
    ):
        written(home, log)


def test_whoever_may_only_read_a_ladder_writes_its_log_if_they_may_read_its_key(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = key_of(home)
    monkeypatch.setattr("os.access", lambda path, mode: False)
    check(written(home, tmp_path / "log.jsonl"), key.public)


def test_a_log_that_was_begun_earlier_does_not_take_the_place_of_a_later_one(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second command begins while the first one writes, and waits for it."""
    log = tmp_path / "log.jsonl"
    with ThreadPoolExecutor() as pool, Store(home.database, create=False) as store:
        second: list[Future[tuple[int, int | None]]] = []

        def write_later() -> tuple[int, int | None]:
            with Store(home.database, create=False) as other:
                other.roster.add_version("late", "ann", "x", ["./bot"], ["cargo_noir"])
                return write(home, other, log)

        def meanwhile(*arguments: Any) -> str:
            if not second:
                second.append(pool.submit(write_later))
                with contextlib.suppress(TimeoutError):  # it would soon be done if it did not wait
                    second[0].result(timeout=1)
                assert not log.exists()
            return checkpoint_text(*arguments)

        monkeypatch.setattr(audit_log, "checkpoint_text", meanwhile)
        count, _ = write(home, store, log)
        assert second[0].result() == (count + 1, 1)
    assert len(entries_of(log)) == count + 1


def test_a_log_that_finds_no_room_says_so_in_one_line_and_leaves_the_earlier_one(
    dogana: Dogana, home: Home, log: Path
) -> None:
    before = log.read_bytes()
    with Store(home.database, create=False) as store:
        for number in range(100):
            next_matches(store, number)
    ended = dogana("ladder", "audit-log", log.name, "--home", "home", status=1, max_bytes=40_000)
    assert [line.split(": ")[1] for line in ended.stderr.splitlines()] == [log.name]
    assert log.read_bytes() == before
    assert not list(log.parent.glob("*.part"))


# --- the key -----------------------------------------------------------------------------------------------------


def test_only_its_owner_reads_the_private_key_and_anybody_the_public_one(home: Home) -> None:
    assert stat.S_IMODE(home.key.stat().st_mode) == 0o600
    public = key_of(home).public
    assert home.public_key.read_text() == f"{public.text} {public.fingerprint}\n"
    assert {path.name for path in home.folder.glob("key*")} == {"key.pem", "key.pub"}


@pytest.mark.parametrize("content", [None, b"", b"x", b"\xff" * 5000, b"x" * 20_000])
def test_a_key_that_is_lost_or_damaged_is_told_in_one_line(home: Home, content: bytes | None) -> None:
    home.key.unlink()
    if content is not None:
        home.key.write_bytes(content)
    with Store(home.database, create=False) as store, pytest.raises((LadderError, OSError), match=r"key\.pem"):
        ladder_key(home, store)


def test_the_key_of_another_ladder_signs_nothing(home: Home, tmp_path: Path) -> None:
    stranger = Home(tmp_path / "stranger")
    stranger.make()
    with ladder(stranger.folder) as store:
        ladder_key(stranger, store)
    home.key.write_bytes(stranger.key.read_bytes())
    with pytest.raises(LadderError, match=r"is not the key of this ladder"):
        key_of(home)


def test_a_key_that_is_there_already_is_taken_and_never_replaced_unasked(home: Home, tmp_path: Path) -> None:
    second = Home(tmp_path / "second")
    second.make()
    second.key.write_bytes(home.key.read_bytes())
    with ladder(second.folder) as store:
        assert ladder_key(second, store).public == key_of(home).public
        assert differences(store) == []
    assert second.public_key.read_text() == home.public_key.read_text()


def test_a_key_hands_over_to_the_next_one(home: Home, log: Path, tmp_path: Path) -> None:
    old = key_of(home).public
    with Store(home.database, create=False) as store:
        new_key(home, store, replace=True)
    new = key_of(home).public
    assert new != old
    later = written(home, tmp_path / "later.jsonl")
    assert check(later, old).keys == [old, new]  # whoever trusts the old key is led to the new one
    assert check(later, new).keys == [new]
    assert compare_logs(log, later) == 1


def test_a_key_that_is_lost_hands_over_to_nobody(home: Home, tmp_path: Path) -> None:
    old = key_of(home).public
    home.key.unlink()
    with Store(home.database, create=False) as store:
        new_key(home, store, replace=True)
    later = written(home, tmp_path / "later.jsonl")
    assert check(later, key_of(home).public).keys == [key_of(home).public]
    with pytest.raises(AuditError, match=f"not by {old.fingerprint}"):
        check(later, old)


@pytest.mark.parametrize("step", ["write_private", "sync_folder"])
def test_a_key_is_never_lost_whenever_its_making_is_interrupted(
    home: Home, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    known = key_of(home).public

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with Store(home.database, create=False) as store:
        with monkeypatch.context() as patch:
            patch.setattr(keys, step, killed)
            with pytest.raises(KeyboardInterrupt):
                new_key(home, store, replace=True)
        assert (store.log.key() == known.text) == (step == "write_private")
        assert ladder_key(home, store).public == PublicKey(store.log.key())
        assert home.public_key.read_text().startswith(store.log.key())
        assert differences(store) == []


# --- commands ------------------------------------------------------------------------------------------------------


def test_a_log_is_written_and_checked_by_commands(dogana: Dogana, home: Home, log: Path, tmp_path: Path) -> None:
    public = key_of(home).public
    assert dogana("ladder", "key", "--home", "home").stdout == f"{public.text} {public.fingerprint}\n"
    with Store(home.database, create=False) as store:
        store.roster.add_version("late", "ann", "x", ["./bot"], ["cargo_noir"])
    said = dogana("ladder", "audit-log", "later.jsonl", "--previous", "log.jsonl", "--home", "home").stdout
    assert "1 of them new" in said
    told = dogana("verify-log", "later.jsonl", "--key", public.text, "--previous", "log.jsonl").stdout
    assert f"signed by ladder {public.fingerprint}" in told
    assert "log.jsonl is a beginning of it; 1 entries were added" in told
    assert "unfinished: block 3" in told
    document = json.loads(dogana("verify-log", "later.jsonl", "--key", "home/key.pub", "--json").stdout)
    assert (document["holds"], document["fingerprint"], document["seeds"]) == (True, public.fingerprint, 2)
    ended = dogana("verify-log", "log.jsonl", "--key", "home/key.pub", "--previous", "later.jsonl", status=1)
    assert ended.stdout.startswith("broken log.jsonl: entry")
    assert len(ended.stdout.splitlines()) == 1
    (tmp_path / "cut.jsonl").write_bytes(log.read_bytes()[:-10])
    names = ["later.jsonl", "--key", "home/key.pub", "--previous", "cut.jsonl"]
    assert json.loads(dogana("verify-log", *names, "--json", status=1).stdout)["file"] == "cut.jsonl"
    for wrong, reason in {"ed25519:0": "is not a public key", "log.jsonl": "has more than 1000 bytes"}.items():
        assert reason in dogana("verify-log", "log.jsonl", "--key", wrong, status=1).stderr


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
    for told, reason in {"log.jsonl": "was never scheduled by the log", "forged.jsonl": "has another record"}.items():
        if told == "forged.jsonl":
            entries = entries_of(later)
            result = next(entry for entry in entries if entry.get("match") == one.match_id)
            forge(tmp_path / told, [*entries[: entries.index(result)], {**result, "record": "0" * 64}], key_of(home))
        ended = dogana("verify", record, "--key", public.text, "--audit-log", told, status=1)
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
    record, told, key = recorded
    log = tmp_path / "log.jsonl"
    words = ("verify", record, "--key", key.public.text, "--audit-log", log)
    forge(log, told, key)
    assert f"its result is entry {len(told)} of" in dogana(*words).stdout
    entries = json.loads(json.dumps(told))
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
