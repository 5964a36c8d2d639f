"""What counts on a ladder, and when seeds are revealed: whole runs, with planted records and changed programs."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from house_bots.random_bot import RandomBot

from ladder.archive.sealing import seal_block, seal_blocks
from ladder.facts.store import Store
from ladder.model.match import Match
from ladder.operation.home import Home
from ladder.play.blocks import Blocks
from ladder.play.running import count
from referee.live.matches.play import House, play_match
from referee.records.verify import Verified, verify
from referee.registry import find
from tests.commands.conftest import Dogana
from tests.commands.conftest import dogana as dogana_process
from tests.ladder.archived import lines_of, put_record, record_of, remove_record, rewrite_events
from tests.ladder.in_process import dogana
from tests.ladder.made import CONDITION, ladder, next_matches
from tests.ladder.real_ladder import plan_of
from tests.ladder.sealed import BLOCKS, home, sealed
from tests.ladder.test_pool import PLAIN

__all__ = ["dogana", "dogana_process", "home", "sealed"]


def run(dogana: Dogana, matches: int) -> str:
    words = ("--game", "cargo_noir", "--matches", matches, "--workers", 2, "--home", "home", "--unconfined")
    return str(dogana("ladder", "run", *words).stderr)


@pytest.fixture
def played(dogana_process: Dogana, tmp_path: Path) -> Home:
    """A ladder with one bot that has qualified and played a block."""
    (tmp_path / "mybot.py").write_text(PLAIN)
    dogana_process("ladder", "submit", "mybot.py", "--name", "mybot", "--author", "me", "--home", "home")
    run(dogana_process, 1)
    return Home(tmp_path / "home")


def scheduled(home: Home) -> list[Match]:
    with Store(home.database, create=False) as store:
        return Blocks(store, CONDITION, [2, 3, 4, 5]).add(1)


def plant(home: Home, match: Match) -> Verified:
    """Put a record of a match that was not played into the archive; it holds in every way."""
    path = home.record(match.match_id)
    asyncio.run(play_match(plan_of(match), [House(RandomBot)] * len(match.seats), record=path))
    put_record(home, match.match_id, path.read_bytes())
    found = verify(path, find, match.seed)
    path.unlink()
    return found


@pytest.mark.long
def test_complete_records_that_no_worker_of_the_ladder_wrote_never_count(dogana_process: Dogana, played: Home) -> None:
    matches = scheduled(played)
    hashes = {}
    for match in matches:
        hashes[match.match_id] = plant(played, match).last_hash
    run(dogana_process, 1)
    with Store(played.database, create=False) as store:
        counted = {match.match_id: match.record_hash for match in store.history.all_played()}
    for match_id, planted in hashes.items():
        assert counted[match_id] != planted
        assert planted not in [line.hash for line in lines_of(played, match_id)]
    assert "agree to the last digit" in dogana_process("ladder", "recompute", "--home", "home").stdout


def test_a_block_reveals_its_seed_when_its_last_match_is_over_and_not_before(home: Home) -> None:
    matches = scheduled(home)
    block = matches[0].block
    assert block is not None
    with Store(home.database, create=False) as store:
        for match in matches:
            assert not store.schedule.is_over(block)
            assert block not in store.evidence.blocks_to_seal()
            result = plant(home, match)
            if match is matches[-1]:
                store.results.give_up(match, "given up")  # over, though it does not count
            else:
                store.results.count(match, result.result, result.last_hash)
            assert str(match.seed).encode() not in record_of(home, match.match_id)
        assert store.evidence.blocks_to_seal() == [block]
        assert seal_block(home, store, block) == []
        assert store.evidence.blocks_to_seal() == []
    for match in matches[:-1]:
        assert revealed(home, match.match_id) == match.seed


def test_a_run_that_was_killed_while_it_sealed_is_taken_up_by_the_next(dogana: Dogana, home: Home) -> None:
    with Store(home.database, create=False) as store:
        first, *others = (one for block in range(1, BLOCKS + 1) for one in store.evidence.records_of(block))
    with sqlite3.connect(home.database) as database:  # as if killed after the first was sealed
        database.execute("insert into seeds (block, seed) select id, seed from blocks")
        database.execute("update blocks set sealed_at = null, seed = null")
        database.execute('delete from events where line like \'{"type":"seed"%\'')
    for match_id, _, _ in others:
        put_record(home, match_id, b"".join(record_of(home, match_id).splitlines(keepends=True)[:-2]))
    with Store(home.database, create=False) as store:
        assert list(seal_blocks(home, store)) == []
        assert store.evidence.blocks_to_seal() == []
    for match_id, seed, _ in (first, *others):
        assert revealed(home, match_id) == seed
    assert "agree to the last digit" in dogana("ladder", "recompute", "--home", "home").stdout


def revealed(home: Home, match_id: str) -> object:
    """The seed in a sealed record; the signature comes after it."""
    seed, signature = lines_of(home, match_id)[-2:]
    assert signature.data["type"] == "signature"
    return seed.data["seed"]


def test_a_record_that_was_exchanged_is_not_sealed_and_said(home: Home) -> None:
    *counted, last = scheduled(home)
    with Store(home.database, create=False) as store:
        for match in counted:
            result = plant(home, match)
            store.results.count(match, result.result, result.last_hash)
        store.results.give_up(last, "given up")
        plant(home, counted[0])
        [problem] = seal_blocks(home, store)
        assert f"cannot reveal the seed of match {counted[0].match_id}" in problem
        assert "is not the record that was written" in problem
        assert store.evidence.blocks_to_seal() == [last.block]


def test_a_block_with_a_record_that_is_lost_for_good_reveals_its_seed_when_that_is_noted(
    dogana: Dogana, home: Home
) -> None:
    matches = scheduled(home)
    with Store(home.database, create=False) as store:
        for match in matches:
            result = plant(home, match)
            count(store, match, result.result, result.last_hash)
        remove_record(home, matches[0].match_id)
        [problem] = seal_blocks(home, store)
        assert f"cannot reveal the seed of match {matches[0].match_id}" in problem
        dogana("ladder", "recompute", "--repair", "--count-lost", "--home", "home", status=1)
        assert list(seal_blocks(home, store)) == []
        assert store.evidence.blocks_to_seal() == []
    for match in matches[1:]:
        assert revealed(home, match.match_id) == match.seed


@pytest.mark.long
def test_a_version_whose_program_was_changed_is_named_never_plays_and_comes_back(
    dogana_process: Dogana, played: Home, tmp_path: Path
) -> None:
    [folder] = [path for path in played.versions.iterdir() if path.is_dir()]
    matches = [match for match in scheduled(played) if any(version.bot == "mybot" for version in match.seats)]
    folder.chmod(0o700)
    (folder / "mybot.py").chmod(0o600)
    (folder / "mybot.py").write_text("from pathlib import Path\nPath('/nonexistent').touch()\n")
    os.utime(folder / "mybot.py", ns=(0, 0))
    said = run(dogana_process, 2)
    assert "the files of mybot v1 are not those that were submitted" in said
    with Store(played.database, create=False) as store:
        counted = {match.match_id for match in store.history.all_played()}
        assert store.schedule.unfinished(CONDITION) == []
        before = store.results.ratings(CONDITION)
    assert not counted & {match.match_id for match in matches}
    dogana_process("ladder", "submit", "mybot.py", "--name", "mybot", "--author", "me", "--home", "home")
    for _ in range(10):  # who meets whom is drawn
        assert "are not those" not in run(dogana_process, 2)
        with Store(played.database, create=False) as store:
            [mybot] = [version.id for version in store.roster.versions().values() if version.bot == "mybot"]
            if store.results.ratings(CONDITION).get(mybot) != before.get(mybot):
                return
    raise AssertionError("mybot never played again")


def test_no_seed_of_a_block_follows_from_what_others_may_know(tmp_path: Path) -> None:
    seeds = set()
    for number in range(20):
        (tmp_path / str(number)).mkdir()
        with ladder(tmp_path / str(number)) as store:
            seeds |= {match.seed for match in next_matches(store, seed=1)}  # who meets whom is the same in all of them
    assert len(seeds) == 20
    assert 55 < max(seeds).bit_length() <= 62


def test_a_match_that_counts_for_another_condition_than_it_was_played_under_is_found(
    dogana: Dogana, home: Home
) -> None:
    for name, old, new in (("clock", CONDITION.clock, "1+0/1"), ("options", {}, {"last_turn": 3})):
        before = home.database.read_bytes()

        def change(event: dict[str, Any], name: str = name, old: object = old, new: object = new) -> None:
            if event.get(name) == old:
                event[name] = new

        rewrite_events(home, change)
        said = dogana("ladder", "recompute", "--home", "home", status=1).stdout
        assert "was not played under the condition for which it counts" in said
        home.database.write_bytes(before)
    assert "agree to the last digit" in dogana("ladder", "recompute", "--home", "home").stdout
