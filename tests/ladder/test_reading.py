"""A ladder that somebody may read, but not write: it can be looked at, checked and copied."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ladder.facts.store import Store
from ladder.operation.home import Home
from tests.commands.conftest import ROOT
from tests.ladder.made import ladder, next_matches

NOBODY = 65534


def as_reader(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder as another user; if this one is not root, it may not write to the ladder either."""
    drop = f"setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups".split() if os.getuid() == 0 else []
    return subprocess.run(
        [*drop, sys.executable, *arguments],
        cwd=folder,
        env={"PATH": os.defpath, "PYTHONPATH": str(ROOT), "COLUMNS": "200", "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that others may enter and write to; those of pytest are closed to them."""
    if os.getuid() == 0 and not shutil.which("setpriv"):
        pytest.skip("there is no setpriv to become another user with: apt-get install util-linux")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        if as_reader(folder, "-c", "import ladder, dogana.sdk").returncode:
            pytest.skip(f"user {NOBODY} cannot read this installation: run the tests as another user than root")
        yield folder
        (folder / "home").chmod(0o700)


@pytest.mark.long
@pytest.mark.parametrize("in_use", [False, True])
def test_who_may_only_read_a_ladder_can_look_at_it_check_it_and_copy_it(folder: Path, in_use: bool) -> None:
    home = Home(folder / "home")
    home.folder.mkdir()
    with ladder(home.folder) as store:
        next_matches(store)
    home.database.chmod(0o644)  # the files that SQLite puts beside it get the same
    with contextlib.ExitStack() as stack:
        if in_use:
            writer = stack.enter_context(Store(home.database, create=False))
            writer.roster.condition("yunnan", {}, "60+0.5/10")
            assert (home.folder / "ladder.db-wal").exists()
        home.database.chmod(0o444)
        home.folder.chmod(0o555)
        said = as_reader(folder, "-m", "ladder", "ladder", "top", "--home", "home")
        assert (said.returncode, said.stderr) == (0, "")
        assert "bot2 v1" in said.stdout
        said = as_reader(folder, "-m", "ladder", "ladder", "recompute", "--home", "home")
        assert (said.returncode, said.stderr) == (0, "")
        assert "agree to the last digit" in said.stdout
        said = as_reader(folder, "-m", "ladder", "ladder", "backup", "copy.tar", "--home", "home")
        assert (said.returncode, said.stderr) == (0, "")
        with tarfile.open(folder / "copy.tar") as copy:
            assert copy.getnames() == ["ladder.db"]
