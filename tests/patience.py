"""How long tests wait for what must come. A limit ends a test that has failed; no test passes or fails by how fast the machine is."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_SLOWNESS = "DOGANA_TEST_SLOWNESS"
"""An environment variable: how slow the machine was at the start of the run; the first process of a run measures it for all."""
_QUIET_SECONDS = 0.1
"""How long a process takes to start and to end on a quiet machine."""
_RESERVE = 3.0
"""The load can grow after it was measured."""


def _slowness() -> float:
    if _SLOWNESS not in os.environ:
        began = time.monotonic()
        for _ in range(3):
            subprocess.run([sys.executable, "-I", "-S", "-c", "sum(range(3 * 10**6))"], check=True)
        os.environ[_SLOWNESS] = str(max(1.0, (time.monotonic() - began) / (3 * _QUIET_SECONDS)))
    return float(os.environ[_SLOWNESS])


SLOWNESS = _slowness()
"""How many times slower the machine is than a quiet one; at least 1."""


def patient(seconds: float) -> float:
    """How long to wait for what takes less than `seconds` on a quiet machine."""
    return seconds * SLOWNESS * _RESERVE


def wait_until(condition: Callable[[], T | None], seconds: float = 120) -> T:
    """Wait for what takes less than `seconds` on a quiet machine; return what the condition found."""
    deadline = time.monotonic() + patient(seconds)
    while not (found := condition()):
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(0.02)
    return found


async def until(condition: Callable[[], object]) -> None:
    """Wait in an event loop, as `wait_until` does without one."""
    async with asyncio.timeout(patient(120)):
        while not condition():
            await asyncio.sleep(0.01)
