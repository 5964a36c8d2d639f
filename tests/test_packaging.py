"""The wheel and the sdist: the messages are built into both ways of installing, and nothing is left out."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from referee.registry import games
from tests.archives import unpack

ROOT = Path(__file__).resolve().parent.parent
KITS = ROOT / "agents" / "kits"


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what git tracks, without anything that was built."""
    folder = tmp_path_factory.mktemp("source")
    copy_sources(folder)
    return folder


def copy_sources(folder: Path) -> None:
    """Copies what git tracks."""
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S607
    for name in filter(None, tracked.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)


PURE = {"DOGANA_PURE": "1"}
"""Builds pure rules, which is quick; `tests/wheel.py` builds compiled ones, too."""


def build(source: Path, target: Path, kind: str, environment: Mapping[str, str] = PURE) -> Path:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(target)],
        cwd=source,
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
    )
    [built] = target.iterdir()
    return built


def check_wheel(wheel: Path, folder: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for wanted in (
        "dogana/v1/referee_pb2.py",
        "dogana/v1/referee_pb2.pyi",
        "dogana/v1/referee_pb2_grpc.py",
        "dogana/v1/referee_pb2_grpc.pyi",
        *(f"{package}/py.typed" for package in ("dogana", "house_bots", "ladder", "referee")),
        "dogana/games/cargo_noir/v1/cargo_noir_pb2.py",
        *(f"referee/games/{game}/{part}" for game in games() for part in ("board.toml", "RULES.md")),
        *(
            str(path.relative_to(ROOT))
            for folder in ("templates", "static")
            for path in (ROOT / "ladder" / "http" / folder).iterdir()
        ),
        *(f"referee/sandbox/{part}" for part in ("calls.txt", "enter.py", "look_around.py", "supervise.py")),
        *(f"referee/pages/{part}" for part in ("decode.js", "match.html", "match.css", "match.js")),
        "dogana/remote.py",
        "dogana/sdk.py",
        "dogana/started.py",
        *(f"dogana/kits/{path.relative_to(KITS)}" for path in KITS.rglob("*") if path.is_file()),
        "ladder/commands/cli.py",
    ):
        assert wanted in names, wanted
    assert {name.split("/")[0] for name in names} == {
        "dogana",
        "dogana_arena.py",
        "house_bots",
        "ladder",
        "referee",
        f"{wheel.name.partition('-py3')[0]}.dist-info",
    }
    protos = {name.removeprefix("dogana/") for name in names if name.endswith(".proto")}
    assert protos == {str(path.relative_to(ROOT)) for path in (ROOT / "proto").rglob("*.proto")}
    assert not [name for name in names if "/tests/" in name or name.startswith(("tests/", "bench/", "proto/"))]
    zipfile.ZipFile(wheel).extractall(folder)  # noqa: S202 we have just built it
    program = "from dogana.v1 import referee_pb2, referee_pb2_grpc; from ladder.commands.cli import app; import dogana; print(dogana.__file__)"
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, env={}, capture_output=True, text=True, check=True
    )
    assert str(folder) in ended.stdout
    program = "from pathlib import Path; from referee.commands.new import write_kit; write_kit('python', Path('mybot'))"
    subprocess.run([sys.executable, "-c", program], cwd=folder, env={}, check=True)
    for root, below in (
        (KITS / "python", folder / "mybot"),
        (ROOT / "proto" / "dogana", folder / "mybot" / "proto" / "dogana"),
    ):
        for path in filter(Path.is_file, root.rglob("*")):
            assert (below / path.relative_to(root)).read_bytes() == path.read_bytes()


def test_a_wheel_built_from_the_sources(source: Path, tmp_path: Path) -> None:
    check_wheel(build(source, tmp_path / "wheel", "wheel"), tmp_path / "installed")


@pytest.mark.long
def test_a_wheel_built_from_the_sdist(source: Path, tmp_path: Path) -> None:
    sdist = build(source, tmp_path / "sdist", "sdist")
    with tarfile.open(sdist) as archive:
        names = archive.getnames()
        assert not [name for name in names if name.split("/")[1:3] in (["dogana", "v1"], ["dogana", "games"])]
    unpack(sdist, tmp_path / "unpacked")
    [unpacked] = (tmp_path / "unpacked").iterdir()
    check_wheel(build(unpacked, tmp_path / "wheel", "wheel"), tmp_path / "installed")
