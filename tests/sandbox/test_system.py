"""Questions to the operating system."""

from __future__ import annotations

import os
import subprocess
import sys

from referee.sandbox.system import is_alive, parent


def test_a_process_runs_until_it_ends_even_if_nobody_reaps_it() -> None:
    """In a container, the first process often reaps no orphans. What they left behind must still be swept."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert is_alive(process.pid)
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and waits to be reaped
        assert not is_alive(process.pid)
        assert parent(process.pid) == os.getpid()  # an orphan that has ended is still one
    assert not is_alive(process.pid)


def test_a_process_of_somebody_else_runs() -> None:
    assert is_alive(1)
