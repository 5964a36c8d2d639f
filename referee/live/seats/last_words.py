"""Find out from a local bot's last output why it has ended, and tell its author in one line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

MAX_CHARACTERS = 300
"""The maximum length of a line that is quoted from the output."""
_MAX_CODE = 80
_FRAME = re.compile(r'\s*File "([^"]+)", line (\d+)')
_RAISED = re.compile(r"(?:[A-Za-z_][\w.]*)?(?:Error|Exception)(?::| in thread|$)")
_NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_NOT_ITS_OWN = ("/dogana/", "/site-packages/", "/dist-packages/", "/lib/python", "<frozen ")
"""Parts of file names in tracebacks; a file whose name contains one is not the bot's own."""
_SYNTAX = ("SyntaxError", "IndentationError", "TabError")


def why_it_ended(ended: str, text: str, argv: Sequence[str]) -> str:
    """Describe a bot's termination before it joined, with the reason and a remedy if they are known.

    Args:
        ended: how its process ended, in words.
        text: its output; empty if people other than its author may see the description.
        argv: the command that started it.
    """
    what = f"{ended} before it joined"
    if reason := known_reason(ended, text, argv, joined=False):
        return f"{what}: {reason}"
    last = last_words(text)
    return f"{what}; the last it wrote: {last}" if last else what


def known_reason(ended: str, text: str, argv: Sequence[str], *, joined: bool) -> str:
    """Return the reason why a bot has ended: an error of its own, or a successful exit without joining; empty if unknown."""
    if raised := _raised(_lines(text)):
        return raised
    return _never_played(argv) if ended == "exited with status 0" and not joined else ""


def last_words(text: str) -> str:
    """Return the last error of a Python bot with its file and line; without an error, the last line of its output."""
    lines = _lines(text)
    return _raised(lines) or (lines[-1].strip()[-MAX_CHARACTERS:] if lines else "")


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def _raised(lines: Sequence[str]) -> str:
    """Return the last error in a Python program's output, with its file and line; empty if there is none."""
    at = next((number for number in reversed(range(len(lines))) if _RAISED.match(lines[number])), None)
    if at is None:
        return ""
    error = lines[at][:MAX_CHARACTERS]
    if module := _NO_MODULE.match(error):
        error += f"; {_missing(module[1])}"
    first = next((number for number in reversed(range(at)) if lines[number].startswith("Traceback ")), 0)
    frames = [(number, found) for number in range(first, at) if (found := _FRAME.match(lines[number]))]
    own = [frame for frame in frames if not any(part in frame[1][1] for part in _NOT_ITS_OWN)]
    if not frames:
        return error
    number, frame = (frames if error.startswith(_SYNTAX) or not own else own)[-1]
    code = lines[number + 1].strip()[:_MAX_CODE] if number + 1 < at else ""
    place = f"{frame[1][-MAX_CHARACTERS:]}, line {frame[2]}"
    return f"{place}: {error}" + (f", in: {code}" if code else "")


def _missing(module: str) -> str:
    name = module.partition(".")[0]
    if name == "dogana":
        return "the Python that runs it is not the one of `dogana`: give the file as the seat instead of a command"
    return (
        f"install the package that has {name} beside the bot, where ladders find it, too:"
        " python -m pip install --target . PACKAGE"
    )


def _never_played(argv: Sequence[str]) -> str:
    if any(PurePosixPath(word).suffix in (".py", ".pyz") for word in argv):
        return "it never called play; end the file with play(choose), after from dogana.sdk import play"
    return "it never joined; a bot connects to DOGANA_ADDRESS and sends Join, as docs/writing_a_bot.md says"
