"""What a run tells while it goes on."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Remark:
    """Something that has happened in a run, in words and for a journal."""

    text: str = ""
    """In words; empty for what is as it should be."""
    event: str = "remark"
    level: int = logging.INFO
    fields: Mapping[str, object] = field(default_factory=dict)
    """What belongs to the event, instead of the text."""


NOTHING = Remark()


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run has come."""

    remark: Remark
    played: int
    """Matches of this run that count."""
    planned: int
    """All matches of this run, as far as they are known."""
