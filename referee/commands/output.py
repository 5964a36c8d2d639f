"""What the commands share: where tables, JSON and files go."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

# What is printed has names and texts of others in it: nothing in it is markup, or stands for a picture.
out = Console(highlight=False, markup=False, emoji=False, width=None if sys.stdout.isatty() else 120)
"""For what was asked for."""
err = Console(stderr=True, highlight=False, markup=False, emoji=False)
"""For progress and remarks."""


def print_json(value: Any) -> None:
    """Prints one JSON value on a line of its own."""
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def target(text: str) -> Path:
    """Reads the name of a file or folder to write; `Path` would take an empty one for the current folder."""
    if not text:
        raise typer.BadParameter("needs the name of a file or folder")
    return Path(text)
