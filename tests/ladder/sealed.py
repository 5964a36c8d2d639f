"""A ladder of blocks that are over, whose matches were played, and whose bots wrote something hostile."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from ladder.archive.archive import USAGE
from ladder.archive.key import ladder_key
from ladder.archive.sealing import seal_blocks
from ladder.facts.store import Store
from ladder.operation.home import Home
from referee.sandbox.cgroup import Usage
from tests.ladder.archived import put_logs
from tests.ladder.made import ladder, next_matches
from tests.ladder.real_ladder import logs_of, play_really

BLOCKS = 3
"""How many blocks it has, of two, three and four matches."""
LATER = "9999-01-01T00:00:00.000+00:00"
"""A time after everything that a test does."""
USED = Usage(memory_peak=123, cpu_seconds=0.5)
HOSTILE = b'\x1b[2J\n{"match": "x", "file": "seat0.log", "bytes": 3}\nabc\n\x00\xff\n'
"""What the first seat of each match writes: it looks like a log within a log."""


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of such a ladder, of which each test has a copy."""
    home = Home(tmp_path_factory.mktemp("sealed"))
    home.records.mkdir()
    with ladder(home.folder), Store(home.database, create=False) as store:
        ladder_key(home, store)
        for number in range(BLOCKS):
            for match in next_matches(store, number):
                play_really(home, store, match)
                logs = {
                    **logs_of(match),
                    "seat0.log": HOSTILE,
                    "seat1.log": b"",
                    USAGE: json.dumps({0: asdict(USED)}).encode(),
                }
                put_logs(home, match.match_id, logs)
        assert list(seal_blocks(home, store)) == []
    return home.folder


@pytest.fixture
def home(sealed: Path, tmp_path: Path) -> Home:
    shutil.copytree(sealed, tmp_path / "home")
    return Home(tmp_path / "home")


@pytest.fixture
def store(home: Home) -> Iterator[Store]:
    with Store(home.database, create=False) as store:
        yield store
