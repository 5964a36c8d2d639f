"""Who asks a ladder something, or wants to change something of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ladder.archive.archive import NoRecord
from ladder.model.names import ORGANISER_NAME
from ladder.operation.errors import NotFound
from referee.records.record import RecordError


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


@contextmanager
def without_path(what: str, asker: Asker) -> Iterator[None]:
    """Tell others than the organiser that a file is damaged, but not its path; `what` is what is, with its verb."""
    try:
        yield
    except NoRecord:
        raise
    except RecordError as error:
        if asker.is_organiser:
            raise
        raise NotFound(f"{what} damaged; tell the organiser") from error
