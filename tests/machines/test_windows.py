"""On Windows, the first line of the command says what to use instead."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.machines.conftest import ROOT

ON_WINDOWS = """
import runpy, sys
for missing in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules[missing] = None
sys.platform = "win32"
sys.argv = ["dogana", *sys.argv[1:]]
runpy.run_module("ladder", run_name="__main__")
"""


@pytest.mark.parametrize("words", [[], ["--version"], ["play", "yunnan", "greedy", "random"]])
def test_on_windows_one_line_names_wsl2(words: list[str]) -> None:
    ended = subprocess.run([sys.executable, "-c", ON_WINDOWS, *words], cwd=ROOT, capture_output=True, text=True)
    assert ended.stderr == (
        "dogana: Windows is not supported; install Dogana in WSL2: run 'wsl --install', then see docs/installing.md\n"
    )
    assert ended.stdout == ""
    assert ended.returncode == 1
