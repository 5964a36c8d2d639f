"""What is said of TAG, whether it is there or not; its speed is measured by `make bench`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bench.tag import CannotMeasure, measure, read


def test_rates_are_read_among_what_tag_prints_itself() -> None:
    printed = "a warning of TAG\nCatan 105685.3\nSolitaire 1\nPowerGrid 73294.3\n"
    assert read(printed) == {"Catan": 105685.3, "PowerGrid": 73294.3}


def test_without_tag_or_java_it_is_said_what_is_needed(tmp_path: Path) -> None:
    (tmp_path / "target").mkdir()
    for environment in ({}, {"TAG": str(tmp_path / "nothing")}, {"TAG": str(tmp_path), "JAVA_HOME": str(tmp_path)}):
        with pytest.raises(CannotMeasure, match="needs Java 21 or newer, and TAG built"):
            measure(environment)


def test_a_java_that_fails_is_quoted(tmp_path: Path) -> None:
    (tmp_path / "target").mkdir()
    (tmp_path / "bin").mkdir()
    java = tmp_path / "bin" / "java"
    java.write_text(f"#!{sys.executable}\nimport sys\nsys.exit('class file has wrong version 65.0')\n")
    java.chmod(0o755)
    with pytest.raises(CannotMeasure, match=r"wrong version 65\.0"):
        measure({"TAG": str(tmp_path), "JAVA_HOME": str(tmp_path)})
