"""The caller of a question or a change."""

from __future__ import annotations

from dataclasses import dataclass

from ladder.model.names import ORGANISER_NAME


@dataclass(frozen=True, slots=True)
class Asker:
    """The caller: an author, the organiser, or an anonymous visitor."""

    author: str = ""
    """The author of whose bots they may read logs; empty if they have shown no token."""
    is_organiser: bool = False
    """True if the ladder is a folder of theirs."""

    @property
    def name(self) -> str:
        """Their name in the list of changes."""
        return ORGANISER_NAME if self.is_organiser else self.author


ORGANISER = Asker(is_organiser=True)
ANYBODY = Asker()
