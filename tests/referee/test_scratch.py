"""A folder that several processes share: it stays as long as one of them lives, and no longer than until the next one comes."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from referee.files import private_folder
from referee.live.seats import scratch
from referee.live.seats.scratch import Scratch

HOLD = """
import sys
from pathlib import Path
from referee.live.seats.scratch import Scratch
scratch = Scratch("killed", Path(sys.argv[1]))
inside = scratch.folder / "read-only"
inside.mkdir()
(inside / "file").write_text("")
inside.chmod(0o500)
print("held", flush=True)
sys.stdin.read()
"""


def test_the_last_who_leaves_removes_the_folder(tmp_path: Path) -> None:
    first, second = Scratch("shared", tmp_path), Scratch("shared", tmp_path)
    (first.folder / "file").write_text("")
    first.leave()
    assert (second.folder / "file").exists()
    second.leave()
    assert list(tmp_path.iterdir()) == []


def test_the_folder_of_processes_that_were_killed_is_removed_by_the_next_and_no_other(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        Scratch("other", tmp_path).leave()
        assert (tmp_path / "killed" / "read-only" / "file").exists()
        process.send_signal(signal.SIGKILL)
    other = Scratch("other", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["other"]
    other.leave()


@pytest.mark.parametrize("moment", ["before it was found", "before it was opened"])
def test_a_folder_that_another_process_sweeps_while_it_is_made_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    made: list[Path] = []

    def swept_once(folder: Path) -> None:
        private_folder(folder)
        made.append(folder)
        if len(made) == 1:
            folder.rename(tmp_path / ".gone-1")
            if moment == "before it was found":
                raise FileExistsError(folder)  # as `mkdir` says of a folder that is gone when it looks again

    monkeypatch.setattr(scratch, "private_folder", swept_once)
    one = Scratch("shared", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["shared"]
    assert len(made) == 2
    one.leave()


def test_a_file_in_place_of_the_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "shared").touch()
    with pytest.raises(FileExistsError):
        Scratch("shared", tmp_path)
