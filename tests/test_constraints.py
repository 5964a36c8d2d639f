"""What `make` installs: one version of everything that pyproject.toml asks for, on every Python that Dogana is for."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.markers import Environment, default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.test_repository import PYTHONS

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
LINES = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.lstrip().startswith("#")]


def environment(python: str) -> dict[str, str]:
    usual: Environment = default_environment()
    return {
        **{name: str(value) for name, value in usual.items()},
        "python_version": python,
        "python_full_version": f"{python}.9",
    }


def constraints(python: str) -> dict[str, Requirement]:
    """What holds for a Python, by name."""
    found: dict[str, Requirement] = {}
    for line in LINES:
        one = Requirement(line)
        if one.marker is None or one.marker.evaluate(environment(python)):
            assert canonicalize_name(one.name) not in found, f"two versions of {one.name}"
            found[canonicalize_name(one.name)] = one
    return found


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("extra", ["", *EXTRAS])
def test_everything_that_is_asked_for_has_a_version_that_is_allowed(python: str, extra: str) -> None:
    held = constraints(python)
    for line in EXTRAS[extra] if extra else PROJECT["dependencies"]:
        wanted = Requirement(line)
        if wanted.marker is None or wanted.marker.evaluate(environment(python)):
            name = canonicalize_name(wanted.name)
            assert name in held, f"{line}: run `make constraints`"
            [one] = held[name].specifier
            assert one.operator == "=="
            assert wanted.specifier.contains(one.version), f"{line}: run `make constraints`"


def test_constraints_are_versions_and_nothing_else() -> None:
    """No host to fetch from and no hash: they hold wherever packages come from."""
    for line in LINES:
        assert re.fullmatch(r"[a-z0-9-]+==[\w.!+]+( ; [\w. <>=!'*]+)?", line), line
