"""docs/adding_a_question.md works: the test does what the page says, in a copy of the project."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from ladder.facts.store import Store
from ladder.http.api.api import PREFIX
from ladder.operation.home import Home
from tests.docs.test_adding_a_game import ROOT, run
from tests.patience import patient

PAGE = (ROOT / "docs" / "adding_a_question.md").read_text()
FILES = re.findall(r"^`([\w/.]+)`:\n\n```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
[(CHANGED, CHANGE)] = re.findall(r"^`([\w/.]+)`, among .*?:\n\n```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
PACKAGES = ("dogana", "referee", "agents", "ladder")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with the files of the page, and a ladder."""
    folder = tmp_path_factory.mktemp("copy")
    for name in PACKAGES:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for path, text in FILES:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    first, _ = CHANGE.splitlines(keepends=True)
    commands = (folder / CHANGED).read_text()
    assert commands.count(first) == 1
    (folder / CHANGED).write_text(commands.replace(first, CHANGE))
    home = Home(folder / "home")
    home.make()
    with Store(home.database, create=True) as store:
        store.roster.add_version("swift", "ann", "one", ["./bot"], ["yunnan"], "Rust")
        store.roster.add_version("slow", "eve", "two", ["./bot"], ["yunnan"])
    return folder


@pytest.fixture(scope="module")
def url(copy: Path) -> Iterator[str]:
    """Where the ladder of the copy is served."""
    words = ["-m", "ladder", "ladder", "web", "--home", "home", "--listen", "127.0.0.1:0"]
    environment = {"PYTHONPATH": str(copy), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        [sys.executable, *words], cwd=copy, env=environment, stdout=subprocess.PIPE, text=True
    ) as web:
        assert web.stdout is not None
        [place] = re.findall(r"http://[0-9.]+:[0-9]+", web.stdout.readline())
        yield place
        web.terminate()


def test_a_question_touches_four_files() -> None:
    assert [path for path, _ in FILES] + [CHANGED] == [
        "ladder/questions/languages.py",
        "ladder/commands/languages.py",
        "tests/ladder/test_languages.py",
        "ladder/commands/cli.py",
    ]


def test_the_command_asks_a_folder_and_a_server_alike(copy: Path, url: str) -> None:
    for words in (["languages", "--author", "ann"], ["languages", "--json"]):
        here = run(copy, "-m", "ladder", "ladder", *words, "--home", "home")
        assert here == run(copy, "-m", "ladder", "ladder", *words, "--server", url)
        assert "Rust" in here
    assert json.loads(here) == {"languages": [{"language": "Rust", "bots": 1}, {"language": "", "bots": 1}]}


def test_programs_ask_by_http_and_read_what_it_means(url: str) -> None:
    with httpx.Client(base_url=f"{url}{PREFIX}", timeout=patient(60)) as client:
        answer = client.get("/languages", params={"author": "ann"}).json()
        assert answer == {"languages": [{"language": "Rust", "bots": 1}]}
        assert client.get("/languages", params={"author": "x" * 201}).status_code == 400
        described = client.get("/openapi.json").json()
    operation = described["paths"]["/languages"]["get"]
    assert operation["summary"] == "Count the bots that are written in each language."
    assert [one["description"] for one in operation["parameters"]] == [
        "Only bots of this author; those of all if empty."
    ]
    assert described["components"]["schemas"]["LanguageRow"]["properties"]["bots"]["description"].startswith(
        "The number"
    )


def test_its_test_passes(copy: Path) -> None:
    assert "1 passed" in run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/ladder/test_languages.py")


def test_its_code_is_in_the_projects_style(copy: Path) -> None:
    shutil.copy(ROOT / "pyproject.toml", copy)
    paths = [path for path, _ in FILES]
    run(copy, "-m", "ruff", "format", "--check", *paths)
    run(copy, "-m", "ruff", "check", *paths)
