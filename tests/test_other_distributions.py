"""Dogana beside other distributions that have packages or commands of the same names: it works, or says in one line why not.

Stand-ins are laid out like those on PyPI, and installed by pip. `make wheel-test` installs the real `openai-agents`.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

import dogana_arena
from referee.version import DISTRIBUTION, installed_version
from tests.test_packaging import build, copy_sources


def stand_in(folder: Path, name: str, files: Mapping[str, str], command: str = "") -> Path:
    """Write a wheel."""
    info = f"{name.replace('-', '_')}-0.1.0.dist-info"
    content = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": f"[console_scripts]\n{command}\n",
    }
    wheel = folder / f"{name.replace('-', '_')}-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in content.items():
            archive.writestr(path, text)
        archive.writestr(f"{info}/RECORD", "".join(f"{path},,\n" for path in [*content, f"{info}/RECORD"]))
    return wheel


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Dogana's wheel, and the others."""
    folder = tmp_path_factory.mktemp("wheels")
    copy_sources(folder / "source")
    theirs = "from {0}.api import hello\n"
    return {
        DISTRIBUTION: build(folder / "source", folder / "built", "wheel"),
        "dogana": stand_in(
            folder,
            "dogana",
            {
                "dogana/__init__.py": theirs.format("dogana"),
                "dogana/api.py": "hello = 1\n",
                "dogana/cli.py": "def main():\n    print('theirs')\n",
            },
            "dogana = dogana.cli:main",
        ),
        "ladder": stand_in(
            folder, "ladder", {"ladder/__init__.py": theirs.format("ladder"), "ladder/api.py": "hello = 1\n"}
        ),
        "openai-agents": stand_in(
            folder,
            "openai-agents",
            {"agents/__init__.py": theirs.format("agents"), "agents/api.py": "hello = 'from agents'\n"},
        ),
    }


class Environment:
    """An environment of its own, which has what Dogana needs from the one of the tests, but not Dogana."""

    def __init__(self, folder: Path, wheels: Mapping[str, Path]) -> None:
        venv.create(folder, with_pip=False)
        self.bin = folder / "bin"
        self._wheels = wheels
        [site] = folder.glob("lib/python3.*/site-packages")
        self.site = site
        (site / "needed.pth").write_text(sysconfig.get_path("purelib") + "\n")

    def pip(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "pip", "--python", str(self.bin / "python"), "--disable-pip-version-check"]
        subprocess.run([*command, *arguments], check=True, capture_output=True)

    def install(self, *names: str) -> None:
        for name in names:  # one after the other
            self.pip(
                "install", "--no-index", "--no-deps", "--ignore-installed", "--no-compile", str(self._wheels[name])
            )

    def run(self, *words: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
        env = {"COLUMNS": "200"} if path is None else {"COLUMNS": "200", "PYTHONPATH": str(path)}
        command = [str(self.bin / words[0]), *words[1:]]
        return subprocess.run(command, capture_output=True, text=True, cwd=self.bin, env=env, check=False)

    def works(self, command: str) -> None:
        """Check that a command is ours, and runs."""
        for arguments, said in ((["--version"], f"dogana {installed_version()} (rules: "), (["games"], "cargo_noir")):
            ended = self.run(command, *arguments)
            assert (ended.returncode, ended.stderr) == (0, "")
            assert said in ended.stdout

    def refuses(self, why: str) -> None:
        """Check that our command says in one line why it does not begin."""
        ended = self.run("dogana-arena", "games")
        assert (ended.returncode, ended.stdout) == (1, "")
        assert ended.stderr == (
            f"dogana: {why}install dogana-arena in an environment of its own (pipx install dogana-arena, or python3 -m venv)\n"
        )


@pytest.fixture
def environment(tmp_path: Path, wheels: Mapping[str, Path]) -> Environment:
    return Environment(tmp_path / "environment", wheels)


@pytest.mark.long
def test_dogana_works_after_the_others_and_says_so_when_they_take_its_files_away(environment: Environment) -> None:
    environment.install("dogana", "ladder", "openai-agents", DISTRIBUTION)
    for command in ("dogana", "dogana-arena"):
        environment.works(command)
    assert environment.run("python", "-c", "import agents; print(agents.hello)").stdout == "from agents\n"
    environment.pip("uninstall", "--yes", "ladder")
    environment.refuses("files of Dogana's package ladder are missing, as after another distribution was removed; ")


@pytest.mark.long
def test_dogana_names_the_distribution_that_has_replaced_a_package(environment: Environment) -> None:
    environment.install(DISTRIBUTION, "openai-agents")
    for command in ("dogana", "dogana-arena"):
        environment.works(command)
    assert environment.run("python", "-c", "import agents; print(agents.hello)").stdout == "from agents\n"
    environment.install("ladder")
    environment.refuses("the distribution ladder has replaced Dogana's package ladder; ")
    environment.install("dogana")
    environment.refuses("the distribution dogana has replaced Dogana's package dogana; ")
    assert environment.run("dogana").stdout == "theirs\n"  # of a command that is theirs we know nothing


def test_a_folder_that_hides_a_package_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "referee").mkdir()
    (tmp_path / "referee" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(SystemExit) as end:
        dogana_arena.main()
    assert str(end.value) == (
        f"dogana: {tmp_path}/referee/__init__.py hides Dogana's package referee; move it, or install dogana-arena"
        " in an environment of its own (pipx install dogana-arena, or python3 -m venv)"
    )


def test_before_it_looks_the_command_imports_nothing_that_takes_time() -> None:
    program = (
        "import sys; before = set(sys.modules); import dogana_arena; dogana_arena._is_ours(dogana_arena.__file__)\n"
        "print(*sorted(sys.modules.keys() - before))"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert set(ended.stdout.split()) <= {"dogana_arena", "importlib", "importlib.machinery", "importlib._bootstrap",
                                         "importlib._bootstrap_external", "warnings", "_warnings"}  # fmt: skip
