"""The progress of a run, and its remarks."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Remark:
    """A remark on an event of a run, in words and as fields for a journal."""

    text: str = ""
    """The event in words; empty if all is well."""
    event: str = "remark"
    level: int = logging.INFO
    fields: Mapping[str, object] = field(default_factory=dict)
    """The fields of the event for a journal, which replace the text there."""
    log: str = ""
    """The id of a match whose logs explain the event; empty for none."""


NOTHING = Remark()


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a run: a remark, and the numbers of played and planned matches."""

    remark: Remark
    played: int
    """The number of matches that this run has counted."""
    planned: int
    """The number of all matches of this run that are known so far."""
