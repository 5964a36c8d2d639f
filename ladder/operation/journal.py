"""The journal of a served ladder: a line on standard error for each event, written for people or for programs.

The values may come from authors, bots, and failing programs, so each value is written as one text without hidden
characters. Each line is written whole or not at all. The journal contains no tokens, only names, ids and reasons.
"""

from __future__ import annotations

import json
import logging
import os
import re
import select
import sys
import threading
import traceback
from collections.abc import Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from enum import Enum
from typing import Any

from typing_extensions import override

from referee.terminal import visible

MAX_LINE_BYTES = 4096
"""The maximum length of a line, in bytes.

A pipe takes such a line in one piece (POSIX's PIPE_BUF on Linux), so lines from several processes do not mix."""
MAX_CHARACTERS = 1000
"""The maximum length of a value, in characters."""
_BARE = re.compile(r"[^\s\"'=]+")
"""The pattern of a value that needs no quotes in a line for people."""
_log = logging.getLogger(__name__)
_log.addHandler(logging.NullHandler())
_log.propagate = False  # only a journal prints these lines
_of_this_call: ContextVar[Mapping[str, object]] = ContextVar("_of_this_call", default={})  # noqa: B039 it is never changed
_form: Form | None = None


class Form(Enum):
    """The format of the journal's lines."""

    TEXT = "text"
    JSON = "json"


def begin(form: Form) -> None:
    """Write a journal from now on, including the errors and warnings that would otherwise go to standard error."""
    global _form
    _form = form
    handler = _Handler(form)
    logging.getLogger().addHandler(handler)
    _log.addHandler(handler)
    _log.setLevel(logging.INFO)
    logging.captureWarnings(capture=True)
    sys.excepthook = _note_failure
    threading.excepthook = lambda args: _note_failure(args.exc_type, args.exc_value, args.exc_traceback)


def form_of_this_process() -> Form | None:
    """Return the format of this process's journal; None if it writes none."""
    return _form


def of_this_call(**fields: object) -> None:
    """Add fields, such as the caller and the request, to all later lines of this task."""
    _of_this_call.set({**_of_this_call.get(), **fields})


def note(event: str, level: int = logging.INFO, **fields: object) -> None:
    """Write a line, if there is a journal.

    Args:
        event: the event, in one word.
        level: the severity of the event, as in `logging`.
        fields: the fields of the event; empty texts, empty lists and None are left out.
    """
    _log.log(level, event, extra={"fields": {**fields, **_of_this_call.get()}})


def _note_failure(kind: type[BaseException], error: BaseException | None, _: Any) -> None:
    if error is not None:
        note("failed", logging.ERROR, reason=f"{kind.__name__}: {error}", traceback=traceback_of(error))


def traceback_of(error: BaseException) -> str:
    """Return the end of an error's traceback, which names the error and its place."""
    return "".join(traceback.format_exception(error))[-MAX_CHARACTERS:]


class _Handler(logging.Handler):
    """Writes lines without ever waiting for a reader. When there is room again, a line reports the number of lost lines."""

    def __init__(self, form: Form) -> None:
        super().__init__()
        self._form = form
        self._lost = 0
        self._poll = select.poll()
        self._poll.register(sys.stderr.fileno(), select.POLLOUT)

    @override
    def emit(self, record: logging.LogRecord) -> None:
        if self._lost and self._write(line(self._form, record.created, "WARNING", "lost", {"lines": self._lost})):
            self._lost = 0
        event, fields = record.getMessage(), dict(getattr(record, "fields", {}))
        # The entry is a library's warning, not a `note`.
        if record.name != __name__:
            event, fields = "remark", {"text": event, "from": record.name}
        if record.exc_info and record.exc_info[1] is not None:
            fields["traceback"] = traceback_of(record.exc_info[1])
        if not self._write(line(self._form, record.created, record.levelname, event, fields)):
            self._lost += 1

    def _write(self, line: bytes) -> bool:
        """Write a line; return False if there is no room for it, or no reader any more."""
        # Linux reports a pipe as ready only if a whole page, PIPE_BUF, fits.
        if not any(event & select.POLLOUT for _, event in self._poll.poll(0)):
            return False
        try:
            # Not through `sys.stderr`, whose buffer may write a line in two parts.
            return os.write(sys.stderr.fileno(), line) == len(line)
        except OSError:
            return False


def line(form: Form, at: float, level: str, event: str, fields: Mapping[str, object]) -> bytes:
    """Format a line for the journal, and cut long values until the line fits."""
    time = datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    most = MAX_CHARACTERS
    while True:
        printed = {name: _shortened(value, most) for name, value in fields.items() if value not in (None, "", [], ())}
        if form is Form.JSON:
            text = json.dumps({"time": time, "level": level.lower(), "event": event, **printed})
        else:
            text = " ".join(
                [time, level.lower(), event, *(f"{name}={_quoted(value)}" for name, value in printed.items())]
            )
        whole = text.encode() + b"\n"
        if len(whole) <= MAX_LINE_BYTES:
            return whole
        most //= 2


def _shortened(value: object, most: int) -> object:
    """Return a value for the journal, without hidden characters and cut if it is too long."""
    if isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return round(value, 3)
    if isinstance(value, list | tuple):
        return [_shortened(one, most) for one in value[:most]]
    text = str(value)
    return visible(text if len(text) <= most else f"{text[:most]}...")


def _quoted(value: object) -> str:
    """Return a value for people to read, in quotes if necessary."""
    if isinstance(value, list):
        text = ", ".join(map(str, value))
    else:
        text = value if isinstance(value, str) else json.dumps(value)
    return text if _BARE.fullmatch(text) else json.dumps(text, ensure_ascii=False)
