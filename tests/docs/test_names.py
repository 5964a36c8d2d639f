"""The distribution has one name, one version and one home: what pyproject.toml says. No text or message says another."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import dogana_arena
from referee.version import DISTRIBUTION, installed_version

pytestmark = pytest.mark.static
ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = "|".join(PROJECT["optional-dependencies"])

OF_ANOTHER = re.compile(
    r"\b(?:pipx?|uvx?)\b[^\n`]*[\s'\"=]dogana(?![\w./-])"  # pip install dogana
    r"|\b(?:install|update|upgrade|uninstall)\s+['\"`]?dogana(?![\w./-])"
    rf"|\bdogana\\?\[(?:{EXTRAS})\b"  # dogana[ray]
    r"|\b(?:version|distribution|metadata|requires|files)\(\s*['\"]dogana['\"]"
    r"|pypi\.org/(?:project|simple)/dogana(?![\w.-])"
)
"""What would fetch, or look up, the distribution that is called `dogana` on PyPI."""


def texts() -> dict[str, str]:
    """All that git tracks and that is text, by path."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S607
    found = {}
    for name in filter(None, listed.stdout.split("\0")):
        path = ROOT / name
        if path.is_file() and path != Path(__file__):
            content = path.read_bytes()
            if b"\0" not in content:
                found[name] = content.decode()
    return found


def test_nothing_tells_anybody_to_install_the_distribution_of_somebody_else() -> None:
    said = [f"{name}: {match[0]}" for name, text in texts().items() for match in OF_ANOTHER.finditer(text)]
    assert said == []


def test_the_search_finds_what_it_is_for() -> None:
    for text in (
        "pip install dogana", "pip install 'dogana[ray]'", "pipx install dogana", "pip install -U dogana==0.1", "uv tool install dogana",
        "python -m pip install\n    dogana\n", 'version("dogana")', "update `dogana`, and", "https://pypi.org/project/dogana/", "uvx dogana",
    ):  # fmt: skip
        assert OF_ANOTHER.search(text), text
    for text in (
        "pip install dogana-arena",
        "pipx install 'dogana-arena[ray]'",
        "/opt/dogana/bin/pip install ./dogana_arena-*.whl",
    ):
        assert not OF_ANOTHER.search(text), text


def test_the_name_is_that_of_the_project_everywhere() -> None:
    assert PROJECT["name"] == DISTRIBUTION
    assert DISTRIBUTION.replace("-", "_") == dogana_arena.__name__
    assert PROJECT["version"] == installed_version()


def test_the_version_is_in_one_place() -> None:
    """The first heading of CHANGELOG.md repeats it, which making a release checks."""
    version = re.escape(PROJECT["version"])
    written = re.compile(rf"\bdogana(?:[-_]arena)?['\"]?(?:\s*[=~<>]=?\s*|[ @-]+v?){version}\b", re.IGNORECASE)
    assert [f"{name}: {match[0]}" for name, text in texts().items() for match in written.finditer(text)] == []
    [heading] = re.findall(r"\A# Changes\n\n## (\S+)", (ROOT / "CHANGELOG.md").read_text())
    assert heading == PROJECT["version"]


def test_every_address_of_the_repository_is_the_projects() -> None:
    home = PROJECT["urls"]["Homepage"]
    for name, text in texts().items():
        for found in re.findall(r"https://github\.com/[\w-]*dogana[\w-]*/[\w-]+", text):
            assert found == home, name
