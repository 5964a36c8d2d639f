"""Tests that wait for a process wait no longer than it runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import wait_for_work


def process(code: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-I", "-c", code], stderr=subprocess.PIPE, text=True)


def test_a_process_that_ends_too_early_fails_at_once_with_its_last_words() -> None:
    with pytest.raises(AssertionError, match="it ended with status 1: no such option"):
        wait_for_work(process("import sys; sys.exit('no such option')"), lambda: False)


def test_what_a_process_did_before_it_ended_is_found(tmp_path: Path) -> None:
    does = process(f"open({str(tmp_path / 'done')!r}, 'w')")
    assert wait_for_work(does, (tmp_path / "done").exists)
    does.communicate()
