"""A ladder that has played some blocks, its audit log, and logs that somebody has forged."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from ladder.archive.audit_log import write
from ladder.archive.key import LadderKey, ladder_key
from ladder.facts.store import Store
from ladder.operation.home import Home
from referee.records.audit_book import checkpoint_text
from referee.records.chain import hash_of
from tests.ladder.archived import chained
from tests.ladder.made import ladder, next_matches, play

Entries = list[dict[str, Any]]
AT = "2126-01-01T00:00:00.000+00:00"
"""When a forged log is signed."""


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a ladder that has played two blocks, given up a match, and begun a third block."""
    home = Home(tmp_path_factory.mktemp("begun") / "home")
    home.make()
    with ladder(home.folder) as store:
        ladder_key(home, store)
        for number in range(2):
            play_block(store, number)
        third = next_matches(store, 2)
        play(store, third[0], random.Random(3))
        store.results.give_up(third[1], "the worker was killed")
    return home.folder


@pytest.fixture
def home(begun: Path, tmp_path: Path) -> Home:
    """A copy of that ladder."""
    shutil.copytree(begun, tmp_path / "home")
    return Home(tmp_path / "home")


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
    lines = chained(entries)
    last = hash_of(lines[-1].decode())
    signature = key.sign(checkpoint_text(len(entries), last, AT))
    checkpoint = {"type": "checkpoint", "at": AT, "entries": len(entries), "hash": last, "signature": signature}
    path.write_bytes(
        b"".join(line + b"\n" for line in [*lines, json.dumps(checkpoint, separators=(",", ":")).encode()])
    )
    return path


def first(entries: Entries, kind: str) -> dict[str, Any]:
    return next(entry for entry in entries if entry["type"] == kind)
