"""What the commands share: where tables and JSON go."""

from __future__ import annotations

import json
import sys
from typing import Any

from rich.console import Console

out = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
"""For what was asked for."""
err = Console(stderr=True, highlight=False)
"""For progress and remarks."""


def print_json(value: Any) -> None:
    """Prints one JSON value on a line of its own."""
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()
