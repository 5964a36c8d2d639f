"""What a test finds in the journal of this process."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from ladder.operation import journal


class Noted(logging.Handler):
    """Keeps the events, their fields, and the lines in both forms."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[tuple[str, dict[str, object]]] = []
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        event, fields = record.getMessage(), record.__dict__["fields"]
        self.events.append((event, fields))
        for form in journal.Form:
            self.lines.append(journal.line(form, record.created, record.levelname, event, fields).decode())


@pytest.fixture
def noted() -> Iterator[Noted]:
    handler, log = Noted(), logging.getLogger(journal.__name__)
    before = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    yield handler
    log.setLevel(before)
    log.removeHandler(handler)
