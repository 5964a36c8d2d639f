"""The caller of a question: an author, the organiser, or anybody."""

from __future__ import annotations

from dataclasses import dataclass

from ladder.model.names import ORGANISER_NAME


@dataclass(frozen=True, slots=True)
class Caller:
    """The organiser, an author, or anybody."""

    author: str = ""
    """The author of whose bots they may read logs; empty without a token."""
    is_organiser: bool = False
    """True if the ladder is a folder of theirs."""

    @property
    def name(self) -> str:
        """Their name in the list of changes."""
        return ORGANISER_NAME if self.is_organiser else self.author

    def counted_as(self, address: str) -> str:
        """Return the key by which limits count the caller: the author, or else the address."""
        # With the word, an author who is called like an address is not counted as that.
        return f"author {self.author}" if self.author else address


ORGANISER = Caller(is_organiser=True)
ANYBODY = Caller()
