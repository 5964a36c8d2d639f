"""Temporary folders of referees: none is left by a referee that was killed, and nobody else's is touched."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from referee.live.matches.server import RefereeServer
from referee.sandbox.limits import ResourceLimits
from referee.sandbox.measures import inspect
from referee.sandbox.socket_folder import SOCKET, PathTooLong, SocketFolder, sweep
from referee.sandbox.system import MAX_SOCKET_PATH_BYTES
from tests.sandbox.conftest import needs_bubblewrap

REFEREE = (
    "import asyncio, sys\nfrom referee.live.matches.server import RefereeServer\n"
    "async def main():\n"
    "    async with RefereeServer() as server:\n"
    "        print(server.local_address, flush=True)\n"
    "        await asyncio.sleep(600)\n"
    "asyncio.run(main())\n"
)


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def start_referee() -> tuple[subprocess.Popen[str], Path]:
    process = subprocess.Popen([sys.executable, "-c", REFEREE], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip().removeprefix("unix:")).parent


def end(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


def test_the_next_referee_sweeps_the_folder_of_one_that_was_killed_but_not_of_one_that_lives(temporary: Path) -> None:
    living, folder = start_referee()
    dead, left = start_referee()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    end(dead)
    assert left.exists()

    async def serve() -> None:
        async with RefereeServer():
            assert folder.exists()
            assert not left.exists()
            sweep()
            assert len(list(temporary.iterdir())) == 2

    asyncio.run(serve())
    assert list(temporary.iterdir()) == [folder]
    end(living)
    sweep()
    assert list(temporary.iterdir()) == []


PROBE = (
    "import sys\nfrom pathlib import Path\n"
    "from referee.sandbox.limits import ResourceLimits\nfrom referee.sandbox.measures import build, run\n"
    "sandbox = build(ResourceLimits())\nprint('built', flush=True)\n"
    "run(sandbox, ['/usr/bin/sleep', '600'], Path('/usr'))\n"
)


@needs_bubblewrap
def test_the_next_start_sweeps_what_one_has_left_that_was_killed_while_it_tried_the_sandbox(temporary: Path) -> None:
    def start() -> tuple[subprocess.Popen[str], Path]:
        before = set(temporary.iterdir())
        process = subprocess.Popen([sys.executable, "-c", PROBE], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "built\n"
        while not (found := [one for one in temporary.iterdir() if one not in before and (one / SOCKET).exists()]):
            assert process.poll() is None
            time.sleep(0.01)
        return process, found[0]

    living, folder = start()
    dead, left = start()
    end(dead)
    assert left.exists()
    assert inspect(ResourceLimits())[0] is not None
    assert list(temporary.iterdir()) == [folder]
    end(living)
    sweep()
    assert list(temporary.iterdir()) == []


def test_what_is_no_referee_s_is_never_swept(temporary: Path) -> None:
    (temporary / "elsewhere").mkdir()
    (temporary / "dogana-sock-link").symlink_to(temporary / "elsewhere")
    (temporary / "dogana-sock-file").write_text("mine")
    (temporary / "dogana-sock-mine").mkdir()
    (temporary / "dogana-sock-mine" / "notes.txt").write_text("mine")
    (temporary / "dogana-sock-named").mkdir()
    (temporary / "dogana-sock-named" / SOCKET).write_text("not a socket")
    before = sorted(temporary.rglob("*"))
    sweep()
    assert sorted(temporary.rglob("*")) == before


def test_a_folder_that_is_swept_before_it_is_locked_is_made_again(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, opened = tempfile.mkdtemp, os.open
    swept: list[str] = []

    def make(prefix: str) -> str:
        folder = made(prefix=prefix)
        if not swept:
            swept.append(folder)
            monkeypatch.setattr(os, "open", open_and_be_swept)
        return folder

    def open_and_be_swept(path: Path, flags: int) -> int:
        monkeypatch.setattr(os, "open", opened)
        lock = opened(path, flags)
        sweep()
        return lock

    monkeypatch.setattr(tempfile, "mkdtemp", make)
    folder = SocketFolder()
    assert not Path(swept[0]).exists()
    assert folder.socket.parent.exists()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(folder.socket))
    folder.remove()
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("moment", ["mkdtemp", "open"])
def test_a_folder_that_a_neighbour_sweeps_before_it_is_locked_is_made_again(
    moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = tempfile if moment == "mkdtemp" else os
    real = getattr(owner, moment)
    swept: list[str] = []

    def sweep_once(*arguments: object, **options: object) -> object:
        made = real(*arguments, **options)
        if not swept:
            [folder] = Path(tempfile.gettempdir()).glob("dogana-sock-*")
            folder.rmdir()
            swept.append(str(folder))
        return made

    monkeypatch.setattr(owner, moment, sweep_once)
    folder = SocketFolder()
    monkeypatch.undo()
    assert swept
    assert folder.socket.parent.exists()
    assert str(folder.socket.parent) not in swept
    folder.remove()


def test_a_temporary_folder_that_is_too_deep_for_a_socket_is_reported_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("x" * MAX_SOCKET_PATH_BYTES)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    with pytest.raises(PathTooLong, match="set TMPDIR to a shorter one"):
        SocketFolder()
    assert not list(deep.iterdir())
