"""Whoever changes, drops, adds or moves anything in an audit log is seen, and a file that is no log is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.ladder import make
from ladder.archive.audit_log import write
from ladder.archive.key import ladder_key
from ladder.operation.home import Home
from referee.kit.chance import commitment
from referee.records import audit_log as audit_logs
from referee.records.audit_log import AuditError, check
from referee.records.audit_log import compare as compare_logs
from referee.records.chain import FIRST_HASH, hash_of, link
from tests.cases import mostly_long
from tests.growth import grows_in_proportion
from tests.ladder.archived import chained
from tests.ladder.logged import AT, Entries, begun, entries_of, first, forge, home, key_of, log
from tests.ladder.made import ladder

__all__ = ["begun", "home", "log"]


# --- by somebody who does not have the key -------------------------------------------------------------------------


def changed(lines: list[bytes]) -> list[bytes]:
    place = next(number for number, line in enumerate(lines) if b'"type":"result"' in line)
    return [*lines[:place], lines[place].replace(b'"digest":"', b'"digest":"0'), *lines[place + 1 :]]


def new_chain(lines: list[bytes]) -> list[bytes]:
    """Somebody makes the chain right again, and corrects the checkpoint, but cannot sign it."""
    found = [json.loads(line) for line in changed(lines)]
    made = chained(found[:-1])
    checkpoint = {**found[-1], "hash": hash_of(made[-1].decode())}
    return [*made, json.dumps(checkpoint, separators=(",", ":")).encode()]


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
    with pytest.raises(AuditError, match=reason) as caught:
        check(log, key_of(home).public)
    assert len(str(caught.value).splitlines()) == 1


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


# --- by the organiser, who has the key -----------------------------------------------------------------------------


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


def thought_for(milliseconds: float) -> Callable[[Entries], object]:
    return lambda entries: first(entries, "result")["think_ms"].__setitem__(0, milliseconds)


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
            {"type": "pruning", "at": AT, "records_before": AT, "logs_before": "", "retained_bots": ["eve"], "one_block_of": 0}
        ),
        "it has bot 'eve', which was never taken in",
    ),
    "a pruning of no time": (
        lambda entries: entries.append(
            {"type": "pruning", "at": AT, "records_before": "x", "logs_before": "", "retained_bots": [], "one_block_of": 0}
        ),
        "is not a time in UTC",
    ),
    "a seat without its time": (
        lambda entries: first(entries, "result")["think_ms"].pop(),
        "seats, and each needs a value in think_ms",
    ),
    **{
        f"a seat that thought for {time} ms": (thought_for(time), "seats, and each needs a value in think_ms")
        for time in (-1, 1e300, True)
    },
    "a negative number of decisions": (
        lambda entries: first(entries, "result")["decisions"].__setitem__(0, -1),
        "seats, and each needs a value in decisions",
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
        f"the time {time[:40]!r}": (at(time), "is not a time in UTC")
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


# --- hostile files -------------------------------------------------------------------------------------------------


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
        (b'{"type":"checkpoint","type":"checkpoint"}\n', "entry 1: is not JSON: the name 'type' occurs twice"),
        (b'{"type":"checkpoint","entries":' + b"9" * 10_000 + b"}\n", "entry 1: is not JSON"),
    ],
)
def test_a_file_that_is_no_log_is_refused_in_one_short_line(tmp_path: Path, data: bytes, reason: str) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(data)
    with pytest.raises(AuditError, match=reason) as caught:
        check(path, None)
    assert len(caught.value.reason) < 500


def test_a_folder_or_a_device_is_no_log(tmp_path: Path) -> None:
    for path in (tmp_path, Path("/dev/zero"), tmp_path / "nowhere"):
        with pytest.raises(OSError, match=str(path)):
            check(path, None)


@pytest.mark.long
def test_a_log_is_checked_in_time_in_proportion_to_its_length(tmp_path: Path) -> None:
    paths, keys = {}, {}
    for matches in (400, 4000):
        paths[matches] = tmp_path / f"{matches}.jsonl"
        with make(tmp_path, matches, 8) as store:
            home = Home(store.file.path.parent)
            keys[matches] = ladder_key(home, store).public
            write(home, store, paths[matches])

    def both(matches: int) -> None:
        assert check(paths[matches], keys[matches]).results > 0.9 * matches
        compare_logs(paths[matches], paths[matches])

    assert grows_in_proportion(both, 400)
