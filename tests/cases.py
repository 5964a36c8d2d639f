"""Which cases of a test every run tries, and which only `make test-all`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def mostly_long(cases: Iterable[Any], quick: int = 1) -> list[Any]:
    """The cases of a test, of which all but the first few, or all, are for `make test-all`."""
    made = [
        case if hasattr(case, "marks") else pytest.param(*(case if isinstance(case, tuple) else (case,)))
        for case in cases
    ]
    return [*made[:quick], *(case._replace(marks=(*case.marks, pytest.mark.long)) for case in made[quick:])]
