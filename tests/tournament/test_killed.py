"""A tournament that is killed has the table of one that was left alone. `make soak` does it a hundred times."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tournament.soak import soak


@pytest.mark.parametrize("kills", [2, pytest.param(12, marks=pytest.mark.long)])
def test_no_kill_loses_a_match_or_plays_one_twice(tmp_path: Path, kills: int) -> None:
    assert soak(tmp_path, kills, seed=kills) >= 24
