"""The audit log of a ladder: what stands in it, and how it is written to a file."""

from __future__ import annotations

import contextlib
import json
import re
import sqlite3
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ladder.archive import audit_log
from ladder.archive.audit_log import keep, write
from ladder.facts.store import Store
from ladder.operation.home import Home
from referee.kit.chance import commitment
from referee.records import audit_log as audit_logs
from referee.records.audit_book import checkpoint_text
from referee.records.audit_log import AuditError, check
from referee.records.audit_log import compare as compare_logs
from tests.commands.conftest import Dogana, dogana
from tests.ladder.logged import AT, entries_of, first, forge, home, key_of, log, play_block, written
from tests.ladder.made import CONDITION, differences, next_matches

__all__ = ["dogana", "home", "log"]


# --- what is in it -------------------------------------------------------------------------------------------------


def test_all_that_a_ladder_has_done_stands_in_its_log_and_holds_without_the_ladder(home: Home, log: Path) -> None:
    entries = entries_of(log)
    kinds = [entry["type"] for entry in entries]
    assert kinds[:6] == ["begin", "condition", "condition", "version", "qualification", "qualification"]
    assert list(dict.fromkeys(kinds[6:])) == ["version", "qualification", "key", "block", "result", "seed", "void"]
    found = check(log, key_of(home).public)
    with Store(home.database, create=False) as store:
        counted = list(store.history.all_played())
        assert [entry["record"] for entry in entries if entry["type"] == "result"] == [
            match.record_hash for match in counted
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
    earlier = check(forge(log, entries, key_of(home)), None).earlier
    assert earlier == [f"entry {place + 1}, at {result['at']}, is {seconds:,.3f} s earlier than one before it"] * (
        seconds > 0
    )


def test_a_signature_that_is_older_than_what_it_signs_is_named(home: Home, log: Path) -> None:
    entries = entries_of(log)
    entries[-1]["at"] = "2999-01-01T00:00:00.000+00:00"
    [line] = check(forge(log, entries, key_of(home)), None).earlier
    assert line.startswith(f"entry {len(entries) + 1}, at {AT}, is ")


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


def test_a_block_that_is_played_and_never_reported_is_named(home: Home, log: Path) -> None:
    entries = entries_of(log)
    seeds = [entry for entry in entries if entry["type"] == "seed"]
    block = seeds[-1]["block"]
    matches = {match["match"] for entry in entries if entry.get("block") == block for match in entry.get("matches", [])}
    hidden = [entry for entry in entries if entry.get("match") not in matches and entry is not seeds[-1]]
    found = check(forge(log, hidden, key_of(home)), None)
    assert f"{len(matches)} of {len(matches)} matches have neither a result nor been given up" in found.unfinished[0]
    unreported = check(forge(log, [entry for entry in entries if entry is not seeds[-1]], key_of(home)), None)
    assert "all matches are over, but its seed is not revealed" in unreported.unfinished[0]


# --- the file ------------------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("is_there", [True, False])
def test_an_earlier_log_that_cannot_be_read_is_named(home: Home, log: Path, tmp_path: Path, is_there: bool) -> None:
    previous = tmp_path / "previous.jsonl"
    if is_there:
        previous.mkdir()
    with Store(home.database, create=False) as store, pytest.raises(OSError, match=r"previous\.jsonl"):
        write(home, store, log, previous)
    with pytest.raises(OSError, match=r"previous\.jsonl"):
        keep([log.read_bytes()], log, previous)


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


def test_a_log_is_written_and_checked_by_commands(dogana: Dogana, home: Home, log: Path, tmp_path: Path) -> None:
    public = key_of(home).public
    assert dogana("ladder", "key", "--home", "home").stdout == f"{public.text} {public.fingerprint}\n"
    with Store(home.database, create=False) as store:
        store.roster.add_version("late", "ann", "x", ["./bot"], ["cargo_noir"])
    said = dogana("ladder", "audit-log", "later.jsonl", "--previous", "log.jsonl", "--home", "home").stdout
    assert said.endswith("; check it: dogana verify-log later.jsonl --key home/key.pub\n")
    assert "1 of them new" in said
    printed = dogana("verify-log", "later.jsonl", "--key", public.text, "--previous", "log.jsonl").stdout
    assert f"signed by ladder {public.fingerprint}" in printed
    assert "log.jsonl is a beginning of it; added: 1 entry" in printed
    assert "unfinished: block 3" in printed
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
