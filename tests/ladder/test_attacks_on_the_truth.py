"""Whoever has the ladder's files, its database and even its key tries to change what came out, and what tells it.

Each attack is made on a copy of a ladder with real, sealed and signed records. Before it somebody else has kept the log, a
record and the public key. What an attack says is found by one of the three that anybody can run: `recompute` with the ladder,
`verify-log` with the log that was kept, `verify` with the record that was kept.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trueskill
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from ladder.archive.audit_log import write
from ladder.archive.key import ladder_key, read_private_key
from ladder.archive.recompute import compare, repair
from ladder.archive.sealing import seal_block
from ladder.facts.entries import begin
from ladder.facts.store import Store
from ladder.model import rating
from ladder.operation.errors import LadderError
from ladder.operation.home import Home
from ladder.questions.desk import Desk
from ladder.questions.match import MatchRequest
from referee.kit.chance import commitment
from referee.records.audit_log import AuditError, check
from referee.records.audit_log import compare as compare_logs
from referee.records.chain import hash_of, link
from referee.records.signature import read_key
from referee.records.verify import verify
from referee.registry import find, shipped_board
from tests.commands.conftest import Dogana
from tests.ladder import real_ladder
from tests.ladder.archived import chained, lines_of, put_record, record_file, record_of, remove_record, rewrite_log
from tests.ladder.in_process import dogana
from tests.ladder.logged import AT, Entries, entries_of, first, forge
from tests.ladder.made import GAME, ladder, next_matches
from tests.ladder.real_ladder import play_really

__all__ = ["dogana"]


@dataclass(frozen=True)
class Attacked:
    """A copy of a ladder, and what others have kept of it."""

    home: Home
    saved_log: Path
    saved_record: Path
    """The record of the match that is counted first."""
    saved_key: Path
    ids: list[str]
    """The matches in the order in which they count."""

    def sql(self, *changes: str, **values: str) -> None:
        """Change the database as whoever has the file can; `:one` and `:other` are the matches that count first."""
        with sqlite3.connect(self.home.database) as file:
            for change in changes:
                file.execute(change, {"one": self.ids[0], "other": self.ids[1], **values})
        file.close()

    def rewrite(self, change: Callable[[Entries], object]) -> None:
        """Change the entries of the log, and chain them anew."""
        rewrite_log(self.home.database, change)

    def record(self, match_id: str, change: Callable[[list[dict[str, Any]]], object]) -> str:
        """Write a record anew, chained and signed with the ladder's key; return the hash of its result."""
        lines = [dict(line.data) for line in lines_of(self.home, match_id)][:-1]
        change(lines)
        written = chained(lines)
        result, last = (hash_of(line.decode()) for line in written[-2:])
        written.append(link(last, read_private_key(self.home).sign_record(last))[0])
        put_record(self.home, match_id, b"".join(line + b"\n" for line in written))
        return result

    # who finds it

    def recomputed(self) -> str:
        """What a comparison says, in its lines."""
        with Store(self.home.database, create=False) as store:
            try:
                return "\n".join(compare(self.home, store).problems)
            except LadderError as error:
                return str(error)

    def log_checked(self) -> str:
        """What is wrong with the log that the ladder publishes now, beside the one that was kept; empty if nothing."""
        later = self.home.folder / "later.jsonl"
        try:
            with Store(self.home.database, create=False) as store:
                write(self.home, store, later)
            check(later, read_key(str(self.saved_key)))
            compare_logs(self.saved_log, later)
        except (AuditError, LadderError) as error:
            return str(error)
        return ""

    def record_checked(self, dogana: Dogana, *, holds: bool) -> str:
        """What `dogana verify` says of the record that was kept, beside the log of now."""
        words = ("verify", self.saved_record, "--key", self.saved_key, "--audit-log", self.home.folder / "later.jsonl")
        ended = dogana(*words, status=0 if holds else 1)
        return ended.stdout + ended.stderr


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Attacked:
    while True:  # chance is that of a real ladder
        attacked = _play(tmp_path_factory.mktemp("whole"))
        ranks = first(entries_of(attacked.saved_log), "result")["ranks"]
        if ranks != ranks[::-1]:  # else nobody could reverse them
            return attacked


def _play(folder: Path) -> Attacked:
    home = Home(folder / "home")
    home.make()
    with ladder(home.folder, 4), Store(home.database, create=False) as store:
        ladder_key(home, store)
        for number in range(2):
            matches = next_matches(store, number)
            for match in matches:
                play_really(home, store, match)
            assert matches[0].block is not None
            assert seal_block(home, store, matches[0].block) == []
        write(home, store, folder / "kept.jsonl")
        ids = [match.match_id for match in store.history.all_played()]
    record = record_file(home, ids[0], folder)
    key = Path(shutil.copy(home.public_key, folder / "kept.pub"))
    return Attacked(home, folder / "kept.jsonl", record, key, ids)


@pytest.fixture
def ladder_(whole: Attacked, tmp_path: Path) -> Attacked:
    shutil.copytree(whole.home.folder, tmp_path / "home")
    return Attacked(Home(tmp_path / "home"), whole.saved_log, whole.saved_record, whole.saved_key, whole.ids)


def test_nothing_is_said_of_a_ladder_that_nobody_attacks(ladder_: Attacked, dogana: Dogana) -> None:
    assert ladder_.recomputed() == ""
    assert ladder_.log_checked() == ""
    assert "holds" in ladder_.record_checked(dogana, holds=True)


# --- each attack, and what `recompute`, `verify-log` and `verify` say -------------------------------------------------


def reverse_ranks(the: Attacked) -> None:
    """Another winner, in the database and in a log that is chained anew."""
    the.sql(
        """create temp table reversed as
            select (select max(seat) from seat_results where match = :one) - seat as seat, rank
            from seat_results where match = :one""",
        """update seat_results set rank = (select rank from temp.reversed where reversed.seat = seat_results.seat)
            where match = :one""",
    )

    def change(entries: Entries) -> None:
        first(entries, "result")["ranks"].reverse()

    the.rewrite(change)


def reverse_ranks_and_lose_the_record(the: Attacked) -> None:
    """The same, and the record is noted as lost, so that nothing contradicts it."""
    reverse_ranks(the)
    remove_record(the.home, the.ids[0])
    at = "2126-01-01T00:00:00.000+00:00"
    the.sql("insert into lost_records (match, at) values (:one, :at)", at=at)
    the.rewrite(lambda entries: entries.append({"type": "lost", "at": at, "match": the.ids[0]}))


def swap_records(the: Attacked) -> None:
    """Two records of a block change their names."""
    one, other = the.ids[:2]
    one_data, other_data = record_of(the.home, one), record_of(the.home, other)
    put_record(the.home, one, other_data)
    put_record(the.home, other, one_data)


def copy_a_result(the: Attacked) -> None:
    """A match that was won counts twice: a second match of the same block takes over its result and its record."""
    the.sql(
        """update seat_results set (rank, score, outcome, decisions, think_ms, detail) = (
            select rank, score, outcome, decisions, think_ms, detail
            from seat_results as won where won.match = :one and won.seat = seat_results.seat
        ) where match = :other""",
        """update results set (digest, record_hash) = (select digest, record_hash from results where match = :one)
            where match = :other""",
    )
    one, other = the.ids[:2]
    put_record(the.home, other, record_of(the.home, one))


def rename_a_seat(the: Attacked) -> None:
    """The record of the winner's match is written anew, with another bot in the seat, and signed."""

    def change(lines: list[dict[str, Any]]) -> None:
        lines[0]["bots"] = lines[0]["bots"][::-1]

    digest = the.record(the.ids[0], change)
    the.sql("update results set record_hash = :digest where match = :one", digest=digest)

    def change_log(entries: Entries) -> None:
        first(entries, "result")["record"] = digest

    the.rewrite(change_log)


def other_times(the: Attacked) -> None:
    """A record that differs in the times alone, which are the referee's word, takes the place of the one that was counted."""

    def change(lines: list[dict[str, Any]]) -> None:
        for line in lines:
            if "lag_ms" in line:
                line["wall_ms"] += 1000
                line["lag_ms"] += 1000
        for seat in lines[-2]["seats"]:
            ended = sum(1 for line in lines if "lag_ms" in line and line["seat"] == seat["seat"])
            seat["wall_ms"], seat["lag_ms"] = (round(seat[key] + 1000 * ended, 3) for key in ("wall_ms", "lag_ms"))

    the.record(the.ids[0], change)


def swap_the_key(the: Attacked) -> None:
    """Somebody puts a key of their own in the place of the ladder's, which then signs the log."""
    private = Ed25519PrivateKey.from_private_bytes(b"\7" * 32)
    public = f"ed25519:{private.public_key().public_bytes_raw().hex()}"
    the.home.key.write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    the.sql("update keys set key = :public", public=public)
    the.rewrite(lambda entries: first(entries, "key").update(key=public))


def forget_the_last_block(the: Attacked) -> None:
    """The ladder forgets a block that went badly, views included, and goes on as if it had never been."""
    the.sql(
        """delete from events where number >
            (select number from events where line like '{"type":"seed"%' order by number limit 1)"""
    )
    with Store(the.home.database, create=False) as store:
        repair(the.home, store)


def begin_anew(the: Attacked) -> None:
    """The log is begun anew, and says nothing of what came before."""
    the.sql("delete from events", "delete from keys")
    with Store(the.home.database, create=False) as store, store.writing():
        begin(store.file.db.conn)
        store.log.add_key(read_key(str(the.home.public_key)).text, "")


def guests_after_the_fact(the: Attacked) -> None:
    """Bots at home become guests, so that what they won changes nothing, in the database and in the log."""
    the.sql("update blocks set guests = 1")

    def change(entries: Entries) -> None:
        for entry in entries:
            if entry["type"] == "block":
                entry["guests"] = True

    the.rewrite(change)


def other_content(the: Attacked) -> None:
    """A version becomes another program."""
    the.sql(
        "update versions set content_hash = 'another' where id = 1",
        "update commands set run = '[\"./another\"]' where version = 1",
    )


def count_in_another_order(the: Attacked) -> None:
    """The order in which matches count, on which ratings depend, is another one."""
    the.sql(
        "update results set number = -number where number <= 2",
        "update results set number = 3 + number where number < 0",
    )


ATTACKS: dict[Callable[[Attacked], None], tuple[str, str, str]] = {
    reverse_ranks: ("has another result than the one that was counted", "the past was changed", ": ranks"),
    reverse_ranks_and_lose_the_record: ("which does not follow from the log", "the past was changed", ": ranks"),
    swap_records: ("is of another match", "", "holds"),
    copy_a_result: ("which does not follow from the log", "", "holds"),
    rename_a_seat: ("is of another match", "the past was changed", "has another record"),
    other_times: ("is not the one that was counted", "", "holds"),
    swap_the_key: ("", "is signed by ladder", "is signed by ladder"),
    forget_the_last_block: ("", "entries were taken back", "holds"),
    begin_anew: ("which does not follow from the log", "the past was changed", "was never scheduled by the log"),
    guests_after_the_fact: ("", "the past was changed", "holds"),
    other_content: ("which does not follow from the log", "", "holds"),
    count_in_another_order: ("which does not follow from the log", "", "holds"),
}
"""For each attack what the three say; empty for nothing. The log that is published is that of the database."""


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_an_attack_on_the_truth_is_found(ladder_: Attacked, dogana: Dogana, attack: Callable[[Attacked], None]) -> None:
    attack(ladder_)
    for said, expected in zip((ladder_.recomputed(), ladder_.log_checked()), ATTACKS[attack], strict=False):
        assert expected in said
        assert bool(said) == bool(expected)
    assert ATTACKS[attack][2] in ladder_.record_checked(dogana, holds=ATTACKS[attack][2] == "holds")
    assert any(ATTACKS[attack][:2])


def test_the_record_of_another_match_is_not_shown_as_that_of_a_match(ladder_: Attacked) -> None:
    swap_records(ladder_)
    answer = Desk(ladder_.home).ask(MatchRequest(match=ladder_.ids[0]))
    assert answer.problem.endswith("the record is of another match")
    assert not any(seat.breakdown for seat in answer.seats)
    assert answer.moment == ""


def test_ratings_of_other_constants_differ_for_whoever_has_a_dogana_they_trust(
    ladder_: Attacked, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = trueskill.TrueSkill(mu=25, sigma=25 / 3, beta=1, tau=0.1, draw_probability=0.02)
    monkeypatch.setattr(rating, "update", partial(rating.update, environment=other))
    with Store(ladder_.home.database, create=False) as store:
        assert repair(ladder_.home, store).repaired
    monkeypatch.undo()
    assert "ratings: lacks condition 1, version 1, mu " in ladder_.recomputed()


def test_a_match_on_another_board_does_not_count_as_one_of_the_ladder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A referee of the organiser's plays by other numbers: the record holds, is signed, and is the one that was counted."""
    board = deepcopy(shipped_board(GAME))
    board["macao"]["casino_income"] += 1
    monkeypatch.setattr(real_ladder, "shipped_board", lambda game: board)
    home = Home(tmp_path / "home")
    home.make()
    with ladder(home.folder), Store(home.database, create=False) as store:
        matches = next_matches(store)
        for match in matches:
            play_really(home, store, match)
        verify(home.archive, find, matches[0].seed, record_of(home, matches[0].match_id))
        found = compare(home, store)
        assert found.contradicting.count == len(matches)
        assert "has another board, or a position" in found.problems[0]


def test_a_repair_of_what_contradicts_its_record_is_refused(ladder_: Attacked) -> None:
    """And no other match counts without its record from then on."""
    reverse_ranks(ladder_)
    remove_record(ladder_.home, ladder_.ids[1])
    with Store(ladder_.home.database, create=False) as store:
        assert not repair(ladder_.home, store, count_lost=True).repaired
        assert not store.evidence.lost_at(ladder_.ids[1])


def test_a_ladder_of_which_two_copies_go_on_has_two_logs_of_which_neither_begins_the_other(
    ladder_: Attacked, whole: Attacked, tmp_path: Path
) -> None:
    logs = []
    for number, home in enumerate((ladder_.home, Home(tmp_path / "copy"))):
        if number:
            shutil.copytree(whole.home.folder, home.folder)
        with Store(home.database, create=False) as store:
            next_matches(store, 7 + number)
            write(home, store, tmp_path / f"{number}.jsonl")
        logs.append(tmp_path / f"{number}.jsonl")
        check(logs[-1], read_key(str(ladder_.saved_key)))
    for one, other in (logs, logs[::-1]):
        with pytest.raises(AuditError, match="the past was changed"):
            compare_logs(one, other)


# --- by the organiser, in a log that is all that others have ------------------------------------------------------------


def schedule_again(entries: Entries) -> None:
    """After the seed of a block was revealed, one of its matches is scheduled and counts once more."""
    block, result = first(entries, "block"), first(entries, "result")
    match = {**block["matches"][0], "match": result["match"]}
    entries += [
        {**block, "block": 900, "matches": [{**match, "seed_commitment": commitment(match["match"], 1)}]},
        {**result, "ranks": result["ranks"][::-1]},
    ]


def give_up_early(entries: Entries) -> None:
    """A match that went badly is given up at its first attempt."""
    result = first(entries, "result")
    void = {
        "type": "void",
        "at": result["at"],
        "match": result["match"],
        "attempt": 1,
        "given_up": True,
        "reason": "the worker died",
    }
    entries[entries.index(result)] = void


def give_up_after_the_end(entries: Entries) -> None:
    result = first(entries, "result")
    void = {
        "type": "void",
        "at": result["at"],
        "match": result["match"],
        "attempt": 1,
        "given_up": False,
        "reason": "x",
    }
    entries.insert(entries.index(result) + 1, void)


def let_one_who_was_out_win(entries: Entries) -> None:
    result = first(entries, "result")
    result["outcomes"][result["ranks"].index(1)] = "crash"


def name_a_match_by_half_a_character(entries: Entries) -> None:
    """JSON can name it, but no bytes can stand for it."""
    first(entries, "block")["matches"][0]["match"] = "\ud800"


def name_an_event_by_half_a_character(entries: Entries) -> None:
    block = first(entries, "block")
    terms = dict.fromkeys(("seats", "blocks", "rounds", "advance", "top", "share"), 1)
    texts = dict.fromkeys(("format", "scoring", "seed_commitment"), "")
    conditions = [{name: block[name] for name in ("game", "options", "clock")}]
    entries.append(
        {
            "type": "tournament",
            "at": block["at"],
            "closes": AT,
            "tournament": "\ud800",
            "conditions": conditions,
            "same_author": False,
            **terms,
            **texts,
        }
    )


@pytest.mark.parametrize(
    ("attack", "said"),
    [
        (name_a_match_by_half_a_character, "by an odd id"),
        (name_an_event_by_half_a_character, "by an odd id"),
        (schedule_again, "is scheduled a second time"),
        (give_up_early, "is given up after 3 attempts that were void, no sooner and no later"),
        (give_up_after_the_end, "was not scheduled before, or is over"),
        (let_one_who_was_out_win, "ranks a seat that was out before one that played to the end"),
    ],
)
def test_a_log_that_its_organiser_forges_does_not_hold(
    ladder_: Attacked, tmp_path: Path, attack: Callable[[Entries], None], said: str
) -> None:
    entries = entries_of(ladder_.saved_log)
    with Store(ladder_.home.database, create=False) as store:
        key = ladder_key(ladder_.home, store)
    attack(entries)
    forged = forge(tmp_path / "forged.jsonl", entries, key)
    with pytest.raises(AuditError, match=said):
        check(forged, key.public, {ladder_.ids[0]})
