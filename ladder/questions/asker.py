"""Who asks a ladder something, or wants to change something of it."""

from __future__ import annotations

from dataclasses import dataclass

from ladder.model.names import ORGANISER_NAME


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks."""

    author: str = ""
    """The author of whose bots they may read logs; empty if they have shown no token."""
    is_organiser: bool = False
    """Whether the ladder is a folder of theirs."""

    @property
    def name(self) -> str:
        """What the list of changes calls them."""
        return ORGANISER_NAME if self.is_organiser else self.author


ORGANISER = Asker(is_organiser=True)
ANYBODY = Asker()
