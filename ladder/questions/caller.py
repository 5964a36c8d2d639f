"""The caller of a question: an author, the organiser, or anybody."""

from __future__ import annotations

from dataclasses import dataclass

from ladder.model.names import ORGANISER_NAME


@dataclass(frozen=True, slots=True)
class Caller:
    """The organiser, an author, or anybody."""

    author: str = ""
    """The name of the author to whom the caller's token belongs; empty without a token."""
    is_organiser: bool = False
    """True if the caller has access to the ladder's folder."""

    @property
    def name(self) -> str:
        """The caller's name in the list of changes."""
        return ORGANISER_NAME if self.is_organiser else self.author

    def counted_as(self, address: str) -> str:
        """Return the key under which limits count the caller: the author, or the address if there is no token."""
        # The word `author` keeps an author whose name looks like an address apart from that address.
        return f"author {self.author}" if self.author else address


ORGANISER = Caller(is_organiser=True)
ANYBODY = Caller()
