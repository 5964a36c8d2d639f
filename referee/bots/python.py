"""Check that Python can parse the first file of a Python bot. The bot is not run."""

from __future__ import annotations

import ast
import warnings
from pathlib import Path, PurePosixPath

from referee.bots.errors import BadBot
from referee.bots.files import where_it_is
from referee.files import read_file

_MAX_SOURCE_BYTES = 4 * 1024 * 1024
_MAX_TEXT = 80


def syntax_error(path: Path) -> str:
    """Return the syntax error in the first file of a bot, with its file and line; empty if there is none.

    This is for authors on their own machines: a parser is no protection against hostile files.

    Args:
        path: a program or a folder. The result is empty for a bot in another language, or one that cannot be started
            here.
    """
    try:
        manifest, folder = where_it_is(path)
    except BadBot:
        return ""
    if PurePosixPath(manifest.run[0]).name.rstrip("0123456789.") != "python":
        return ""
    file = next(
        (folder / word for word in manifest.run[1:] if word.endswith(".py") and (folder / word).is_file()), None
    )
    if file is None:
        return ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(read_file(file, _MAX_SOURCE_BYTES))
    except SyntaxError as error:
        text = "" if error.text is None else f", in: {error.text.strip()[:_MAX_TEXT]}"
        return f"{file.name}, line {error.lineno}: {type(error).__name__}: {error.msg}{text}"
    except (OSError, ValueError, RecursionError, MemoryError):  # an error of another kind
        return ""
    return ""
