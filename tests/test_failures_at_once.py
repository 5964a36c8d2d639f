"""A run of tests names failures when they happen, not only at its end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cases import mostly_long

ROOT = Path(__file__).resolve().parents[1]
TESTS = """
import pytest

@pytest.fixture
def broken():
    raise RuntimeError("of the fixture")

def test_a_failure():
    assert 1 == 2, "of the test"

def test_an_error(broken):
    pass

def test_a_success():
    pass
"""


@pytest.mark.parametrize("processes", mostly_long([0, 1]))
def test_failures_are_named_before_the_run_ends(tmp_path: Path, processes: int) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_it.py").write_text(TESTS)
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "conftest", "-n", str(processes), "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 1, ended.stderr
    meanwhile, _, _ = ended.stdout.partition("= ERRORS =")
    assert [line for line in meanwhile.splitlines() if line.startswith("FAILED")] == [
        "FAILED test_it.py::test_a_failure - AssertionError: of the test",
        "FAILED test_it.py::test_an_error (setup) - RuntimeError: of the fixture",
    ]
