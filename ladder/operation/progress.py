"""The progress of a run, and its remarks."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Remark:
    """An event of a run, in words and for a journal."""

    text: str = ""
    """The event in words; empty if all is well."""
    event: str = "remark"
    level: int = logging.INFO
    fields: Mapping[str, object] = field(default_factory=dict)
    """The fields of the event in a journal, instead of the text."""


NOTHING = Remark()


@dataclass(frozen=True, slots=True)
class Progress:
    """The numbers of played and planned matches of a run."""

    remark: Remark
    played: int
    """The number of counted matches of this run."""
    planned: int
    """The number of all matches of this run, as far as it is known."""
