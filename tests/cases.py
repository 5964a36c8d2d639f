"""The cases of a test that every run tries, those of `make test-all` alone, and those for compiled rules."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import pytest

from referee.registry import rules_are_compiled


def mostly_long(cases: Iterable[Any], quick: int = 1) -> list[Any]:
    """The cases of a test, of which all but the first few, or all, are for `make test-all`."""
    made = [
        case if hasattr(case, "marks") else pytest.param(*(case if isinstance(case, tuple) else (case,)))
        for case in cases
    ]
    return [*made[:quick], *(case._replace(marks=(*case.marks, pytest.mark.long)) for case in made[quick:])]


def need_compiled_rules(purpose: str) -> None:
    """Skip the test where the rules are not compiled; `make compiled` says that they should be, so there it fails."""
    if not rules_are_compiled():
        assert "DOGANA_COMPILED" not in os.environ, "the rules should be compiled here"
        pytest.skip(f"the rules are not compiled here; to {purpose}: make compiled")
