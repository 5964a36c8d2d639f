"""Running programs in real boxes."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.sandbox.box import Sandbox
from referee.sandbox.limits import MIB, ResourceLimits
from referee.sandbox.measures import Ran, build, run

needs_bubblewrap = pytest.mark.skipif(
    shutil.which("bwrap") is None, reason="needs bubblewrap: apt-get install bubblewrap"
)
LIMITS = ResourceLimits(memory_bytes=128 * MIB, tasks=24, tmp_bytes=4 * MIB)
Boxed = Callable[..., Ran]


@pytest.fixture(scope="session")
def sandbox() -> Sandbox:
    """What boxes of these tests share; their limits are tight, so that reaching them costs little."""
    return build(LIMITS)


@pytest.fixture
def boxed(sandbox: Sandbox, tmp_path: Path) -> Boxed:
    """Runs a program text of Python in a box, whose folder is that of the test."""

    def start(text: str) -> Ran:
        folder = tmp_path / "agent"
        folder.mkdir(exist_ok=True)
        (folder / "agent.py").write_text(text)
        return run(sandbox, [sys.executable, "-I", "-S", "agent.py"], folder)

    return start
