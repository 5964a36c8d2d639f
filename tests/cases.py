"""Which cases of a test every run tries, and which only `make test-all`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def mostly_long(cases: Iterable[Any], quick: int = 1) -> list[Any]:
    """The cases of a test, of which all but the first few are for `make test-all`."""
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=() if place < quick else pytest.mark.long)
        for place, case in enumerate(cases)
    ]
