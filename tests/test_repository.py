"""What the repository has for its visitors: workflows, templates, badges and pages that say what is true."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
HOME = PROJECT["urls"]["Homepage"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").iterdir())
FORMS = sorted(
    set((ROOT / ".github" / "ISSUE_TEMPLATE").iterdir()) - {ROOT / ".github" / "ISSUE_TEMPLATE" / "config.yml"}
)
PYTHONS = [
    found[1]
    for line in PROJECT["classifiers"]
    if (found := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", line))
]


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


def steps(workflow: Any) -> list[Any]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_read_and_no_more(path: Path) -> None:
    workflow = read(path)
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert "permissions" not in job
        assert job["timeout-minutes"] <= 90
    for step in steps(workflow):
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False
    assert "secrets." not in path.read_text()


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_the_actions_of_a_workflow_are_pinned(path: Path) -> None:
    used = re.findall(r"uses: (.*)", path.read_text())
    assert len(used) == sum("uses" in step for step in steps(read(path))) > 0
    for action in used:
        assert re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action)


def test_ci_runs_what_the_project_runs_and_the_readmes_test_command_on_every_python() -> None:
    jobs = read(ROOT / ".github" / "workflows" / "ci.yml")["jobs"]
    assert ".ci/run" in [step.get("run") for step in jobs["everything"]["steps"]]
    assert jobs["pythons"]["strategy"]["matrix"]["python"] == PYTHONS
    [test] = [step for step in jobs["pythons"]["steps"] if step.get("run") == "make test"]
    assert test["env"] == {"PYTHON": "python${{ matrix.python }}"}
    assert "$ make test " in (ROOT / "README.md").read_text()
    assert PYTHONS[0] == PROJECT["requires-python"].removeprefix(">=")


def test_the_workflow_of_a_release_calls_the_script_with_every_python() -> None:
    found = steps(read(ROOT / ".github" / "workflows" / "release.yml"))
    [release] = [step for step in found if step.get("run") == "make release"]
    assert release["env"]["PYTHONS"].split() == [f"python{python}" for python in PYTHONS]
    [pythons] = [
        step["with"]["python-version"] for step in found if step.get("uses", "").startswith("actions/setup-python")
    ]
    assert pythons.split() == PYTHONS


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_an_issue_form_asks_in_fields_that_have_names(path: Path) -> None:
    form = read(path)
    assert set(form) == {"name", "description", "labels", "body"}
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    assert len({field["id"] for field in fields}) == len(fields)
    assert all(field["attributes"]["label"] for field in fields)
    assert any(field.get("validations", {}).get("required") for field in fields)


def test_the_form_for_rules_knows_every_game() -> None:
    [games] = [
        field["attributes"]["options"]
        for field in read(ROOT / ".github/ISSUE_TEMPLATE/rules.yml")["body"]
        if field["type"] == "dropdown"
    ]
    titles = [
        re.findall(r"\A# (.+?)(?::.*)?$", path.read_text(), re.MULTILINE)[0].partition(" (")[0]
        for path in sorted((ROOT / "referee" / "games").glob("*/RULES.md"))
    ]
    assert sorted(games) == sorted(titles)


def test_the_badges_are_true() -> None:
    readme = (ROOT / "README.md").read_text()
    [runs] = re.findall(r"\(" + re.escape(HOME) + r"/actions/workflows/([\w.]+)/badge\.svg\)", readme)
    assert (ROOT / ".github" / "workflows" / runs).is_file()
    assert (
        f"[![Python {PYTHONS[0]} to {PYTHONS[-1]}](https://img.shields.io/badge/Python-{PYTHONS[0]}_to_{PYTHONS[-1]}-blue)]"
        in readme
    )
    licence = PROJECT["license"]
    assert (
        f"[![Licence {licence}](https://img.shields.io/badge/licence-{licence.replace('-', '--')}-blue)](LICENSE)"
        in readme
    )
    assert "Apache License\n                           Version 2.0" in (ROOT / "LICENSE").read_text()


def test_a_citation_says_what_the_project_says() -> None:
    citation = read(ROOT / "CITATION.cff")
    assert citation["cff-version"] == "1.2.0"
    assert citation["license"] == PROJECT["license"]
    assert citation["repository-code"] == HOME
    assert citation["authors"] == PROJECT["authors"]
    assert {"message", "title"} <= set(citation)
    assert "version" not in citation, "pyproject.toml has it"


def test_a_weakness_can_be_reported_in_private() -> None:
    assert f"<{HOME}/security/advisories/new>" in (ROOT / "SECURITY.md").read_text()
    [contact] = read(ROOT / ".github" / "ISSUE_TEMPLATE" / "config.yml")["contact_links"]
    assert contact["url"] == f"{HOME}/security/advisories/new"
