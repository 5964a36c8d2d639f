"""`dogana --version`."""

from __future__ import annotations

import tomllib

from referee.registry import rules_are_compiled
from tests.commands.conftest import ROOT, Dogana


def test_the_version_is_that_of_the_project_with_how_the_rules_run(dogana: Dogana) -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    rules = "compiled" if rules_are_compiled() else "pure Python"
    assert dogana("--version").stdout == f"dogana {version} (rules: {rules})\n"
