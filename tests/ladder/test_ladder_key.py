"""The key of a ladder: who reads it, what becomes of it when it is lost, damaged or replaced."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from ladder.archive import key as keys
from ladder.archive.key import ladder_key, new_key
from ladder.facts.store import Store
from ladder.operation.errors import LadderError
from ladder.operation.home import Home
from referee.records.audit_log import AuditError, check
from referee.records.audit_log import compare as compare_logs
from referee.records.signature import PublicKey
from tests.ladder.logged import begun, home, key_of, log, written
from tests.ladder.made import differences, ladder

__all__ = ["begun", "home", "log"]


def test_only_its_owner_reads_the_private_key_and_anybody_the_public_one(home: Home) -> None:
    assert stat.S_IMODE(home.key.stat().st_mode) == 0o600
    public = key_of(home).public
    assert home.public_key.read_text() == f"{public.text} {public.fingerprint}\n"
    assert {path.name for path in home.folder.glob("key*")} == {"key.pem", "key.pub"}


@pytest.mark.parametrize("content", [None, b"", b"x", b"\xff" * 5000, b"x" * 20_000])
def test_a_key_that_is_lost_or_damaged_is_reported_in_one_line(home: Home, content: bytes | None) -> None:
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
