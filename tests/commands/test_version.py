"""`dogana --version`."""

from __future__ import annotations

import tomllib

from tests.commands.conftest import ROOT, Dogana


def test_the_version_is_that_of_the_project(dogana: Dogana) -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert dogana("--version").stdout == f"dogana {version}\n"
