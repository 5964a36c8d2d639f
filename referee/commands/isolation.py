"""The sandbox for the bots that a command starts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from referee.sandbox.box import CannotIsolate, Sandbox
from referee.sandbox.limits import ResourceLimits
from referee.sandbox.measures import build


def build_sandbox(limits: ResourceLimits, runtimes: Sequence[Path], otherwise: str) -> Sandbox:
    """Return a sandbox that confines bots to these limits.

    Raises:
        CannotIsolate: if this machine cannot build it; the text ends with `otherwise`, the user's alternative.
    """
    try:
        return build(limits, runtimes)
    except CannotIsolate as error:
        raise CannotIsolate(f"{error}; or {otherwise}") from error
