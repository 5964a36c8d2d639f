"""The command line as a user has it, without starting a process for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ladder.commands import cli
from tests.commands.conftest import Dogana


@pytest.fixture
def dogana(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Dogana:
    """Runs `dogana ...` in this process, with a configuration of its own."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("DOGANA_LADDER", raising=False)
    return in_process(tmp_path, monkeypatch, capfd)


def in_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Dogana:
    """Runs `dogana ...` as a user does, but in this process, which saves the time to start one."""

    def run(*arguments: object, status: int = 0) -> subprocess.CompletedProcess[str]:
        words = ["dogana", *map(str, arguments)]
        with monkeypatch.context() as patch:
            patch.chdir(tmp_path)
            patch.setattr(sys, "argv", words)
            patch.setattr(sys, "stderr", sys.stderr)  # to have it back afterwards
            patch.setattr(cli, "stop_cleanly", lambda _: None)
            ended = 0
            try:
                cli.main()
            except SystemExit as end:
                ended = int(end.code or 0)
        printed = capfd.readouterr()
        assert ended == status, printed
        return subprocess.CompletedProcess(words, ended, printed.out, printed.err)

    return run
