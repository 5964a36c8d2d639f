"""bench/mutants.py tells what tests hold from what they do not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bench.mutants import main, mutants

ROOT = Path(__file__).resolve().parents[2]
MODULE = '''"""Prices: 3 is cheap."""


def is_cheap(price: int) -> bool:
    """Return whether a price is at most 3."""
    if price < 0:
        raise ValueError(f"{price} is below 0")
    return price <= 3
'''
TESTS = """from prices import is_cheap


def test_three_is_cheap_and_four_is_not():
    assert is_cheap(3)
    assert not is_cheap(4)
"""


def test_what_only_people_read_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "prices.py"
    path.write_text(MODULE)
    found = mutants(path)
    assert {line for line in MODULE.splitlines() for mutant in found if line not in mutant.source.splitlines()} == {
        "    if price < 0:",
        '        raise ValueError(f"{price} is below 0")',
        "    return price <= 3",
    }
    assert len({mutant.source for mutant in found}) == len(found)


def test_survivors_are_printed_and_the_file_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "prices.py").write_text(MODULE)
    (tmp_path / "test_prices.py").write_text(TESTS)
    command = [sys.executable, "-m", "bench.mutants", f"{tmp_path}/prices.py", "--tests", str(tmp_path)]
    ended = subprocess.run(
        command, cwd=ROOT, env={"PYTHONPATH": f"{ROOT}:{tmp_path}"}, capture_output=True, text=True, check=True
    )
    survivors = [block.splitlines()[2] for block in ended.stdout.split("survived: ")[1:]]
    assert survivors == [
        "+    if (price <= 0):",
        "+    if price < (1):",
        "+    if price < (-1):",
        "+        pass",
    ]
    assert "4 of 8 caught (50.0%)" in ended.stdout
    assert (tmp_path / "prices.py").read_text() == MODULE


def test_what_takes_too_long_is_printed_too_for_the_machine_may_only_have_been_busy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "prices.py"
    path.write_text(MODULE)
    outcomes = iter(["passed", "timeout", *["failed"] * 7])  # of the module as it is, and of its eight mutants
    monkeypatch.setattr("bench.mutants.run", lambda mutant, tests, seconds: next(outcomes))
    monkeypatch.setattr(sys, "argv", ["bench.mutants", str(path), "--tests", str(tmp_path)])
    main()
    printed = capsys.readouterr().out
    assert f"timed out: {path}:6\n-    if price < 0:\n" in printed
    assert "survived" not in printed
    assert "8 of 8 caught (100.0%), 1 by the time limit" in printed


def test_tests_that_fail_anyway_measure_nothing(tmp_path: Path) -> None:
    (tmp_path / "prices.py").write_text(MODULE)
    (tmp_path / "test_prices.py").write_text(TESTS.replace("3", "5"))
    command = [sys.executable, "-m", "bench.mutants", f"{tmp_path}/prices.py", "--tests", str(tmp_path)]
    ended = subprocess.run(command, cwd=ROOT, env={"PYTHONPATH": f"{ROOT}:{tmp_path}"}, capture_output=True, text=True)
    assert ended.returncode == 1
    assert "the tests fail without any change" in ended.stderr
