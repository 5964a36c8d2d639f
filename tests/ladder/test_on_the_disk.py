"""A record is on the disk before its match counts: what a run asks of the kernel, in its order, as strace sees it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from ladder.archive.key import ladder_key
from ladder.facts.store import Store
from ladder.operation.home import Home

CALLS = "fsync,fdatasync,rename,renameat,renameat2,pwrite64"
_LINE = re.compile(r"(\d+) +(.*)")
_RESUMED = re.compile(r"<\.\.\. \w+ resumed>(.*)")
_UNFINISHED = " <unfinished ...>"


def calls(trace: Path) -> list[str]:
    """The system calls of all processes, each at the place where it had returned."""
    found, begun = [], {}
    for line in trace.read_text(errors="replace").splitlines():
        pid, text = _LINE.fullmatch(line).groups()  # type: ignore[union-attr]  # strace writes nothing else
        if text.endswith(_UNFINISHED):
            begun[pid] = text.removesuffix(_UNFINISHED)
        elif resumed := _RESUMED.fullmatch(text):
            found.append(begun.pop(pid) + resumed[1])
        else:
            found.append(text)
    return found


def place(found: Sequence[str], pattern: str, after: int = 0) -> int:
    """Where the first call is that is like this, after another one; all that are asked for must be there."""
    return next(number for number, call in enumerate(found) if number >= after and re.match(pattern, call))


@pytest.mark.skipif(
    shutil.which("strace") is None, reason="strace is not installed (Debian, Ubuntu: apt-get install strace)"
)
def test_a_record_is_on_the_disk_before_its_match_counts(tmp_path: Path) -> None:
    home, trace = Home(tmp_path / "home"), tmp_path / "trace"
    home.make()
    with Store(home.database, create=True) as store:
        ladder_key(home, store)
    chosen = ["--game", "cargo_noir", "--seats", "2", "--matches", "1", "--workers", "1", "--unconfined"]
    run = [sys.executable, "-m", "ladder", "ladder", "run", "--home", str(home.folder), *chosen]
    strace = [
        "strace",
        "--follow-forks",
        "--decode-fds=path",
        f"--trace={CALLS}",
        "--string-limit=100000",
        f"--output={trace}",
    ]
    subprocess.run([*strace, *run], check=True, capture_output=True)
    with Store(home.database, create=False) as store:
        counted = [match.match_id for match in store.history.all_played()]
    assert len(counted) == 2
    found = calls(trace)
    for match_id in counted:
        record = re.escape(str(home.record(match_id)))
        folder, archive = re.escape(str(home.records)), re.escape(str(home.archive))
        result = rf'\\"type\\":\\"result\\",\\"at\\":\\"[^"]*\\",\\"match\\":\\"{match_id}\\"'
        written = place(found, rf"fsync\(\d+<{record}\.\w+\.part>\) += 0")
        named = place(found, rf'rename\w*\(.*"{record}\.\w+\.part", .*"{record}"', written)
        recorded = place(found, rf"fsync\(\d+<{folder}>\) += 0", named)
        archived = place(found, rf"fdatasync\(\d+<{archive}-wal>\) += 0", recorded)
        counts = place(found, rf"pwrite64\(\d+<.*/ladder\.db-wal>.*{result}")
        assert archived < counts, match_id
        assert any(re.match(r"fdatasync\(\d+<.*/ladder\.db-wal>\) += 0", call) for call in found[counts:])
