"""The script that makes a release refuses, before it builds anything, what must not be released."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


class Project:
    """A repository with the script and what it reads first; it has no tools, so that building ends the script."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / ".ci").mkdir(parents=True)
        shutil.copy(ROOT / ".ci" / "release", folder / ".ci")
        self.git("init", "--quiet")

    def git(self, *words: str) -> None:
        who = [
            "-c",
            "user.name=tests",
            "-c",
            "user.email=tests@example.org",
            "-c",
            "commit.gpgsign=false",
            "-c",
            "tag.gpgsign=false",
        ]
        subprocess.run(["git", *who, *words], cwd=self.folder, check=True, capture_output=True)  # noqa: S607

    def commit(self, version: str, heading: str) -> None:
        (self.folder / "pyproject.toml").write_text(f'[project]\nname = "x"\nversion = "{version}"\n')
        (self.folder / "CHANGELOG.md").write_text(f"# Changes\n\n## {heading}\n\n- New.\n\n## 0.0.1 (2001-01-01)\n")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "Change")

    def release(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.folder / ".ci" / "release"), *words], capture_output=True, text=True, cwd="/", check=False
        )

    def refuses(self, *words: str) -> str:
        """Return the one line that says why."""
        ended = self.release(*words)
        assert ended.returncode == 1
        assert (ended.stdout, ended.stderr.count("\n")) == ("", 1), ended
        assert not (self.folder / "build").exists()
        return ended.stderr


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project")


def test_a_tree_with_changes_is_not_released(project: Project) -> None:
    project.commit("1.2.3", "1.2.3 (2030-04-01)")
    (project.folder / "new").touch()
    assert project.refuses() == "release: there are changes that are not committed: git status\n"


@pytest.mark.parametrize(
    "heading", ["1.2.4 (2030-04-01)", "1.2.3", "1.2.30 (2030-04-01)", "1.2.3 (soon)", "1.2.4 (unreleased)"]
)
def test_version_and_changes_must_agree(project: Project, heading: str) -> None:
    project.commit("1.2.3", heading)
    said = f'release: pyproject.toml says version 1.2.3, CHANGELOG.md begins with "## {heading}": they must agree\n'
    assert project.refuses() == said
    assert project.refuses("--rehearse") == said


def test_what_is_released_has_a_date_and_a_rehearsal_needs_none(project: Project) -> None:
    project.commit("1.2.3", "1.2.3 (unreleased)")
    assert re.fullmatch(
        r'release: CHANGELOG\.md begins with "## 1\.2\.3 \(unreleased\)": write the date, as in "## 1\.2\.3 \(\d{4}-\d\d-\d\d\)"\n',
        project.refuses(),
    )
    assert project.release("--rehearse").stdout == "release: building the sdist\n"


def test_a_version_is_released_once(project: Project) -> None:
    project.commit("1.2.3", "1.2.3 (2030-04-01)")
    project.git("tag", "--annotate", "v1.2.3", "--message", "1.2.3")
    assert project.release().stdout == "release: building the sdist\n"  # as the workflow does, which a tag starts
    shutil.rmtree(project.folder / "build")
    project.commit("1.2.3", "1.2.3 (2030-04-02)")
    assert project.refuses() == "release: v1.2.3 is the tag of another commit: choose another version\n"


def test_an_unknown_argument_is_named(project: Project) -> None:
    project.commit("1.2.3", "1.2.3 (2030-04-01)")
    assert project.refuses("--upload") == "release: unknown argument --upload; the only one is --rehearse\n"
