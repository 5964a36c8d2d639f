"""Build the Python messages and gRPC stubs from the .proto files: `python proto/generate.py`.

They are built, never committed: `pip install` runs this through `proto/hatch_hook.py`, and `make proto` in a working copy.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

from grpc_tools import protoc

ROOT = Path(__file__).resolve().parent.parent
COMMENTED = "services.binpb"
"""The file with the descriptors of the services and with all their comments, because the generated modules lack comments."""


class ProtoError(Exception):
    """The .proto files cannot be built. The reason is in the text, or protoc has printed it on standard error."""


def generate(sources: Path, target: Path) -> None:
    """Compile every .proto below `sources` into the Python package folder `target`.

    A file with a service also gets a module `..._pb2_grpc` with its typed stubs, and `COMMENTED` describes all
    services. A folder whose messages have not changed stays as it is, because other programs may be importing it.
    Concurrent builds wait for each other.

    Args:
        sources: the root of import paths; `sources / target.name` contains the files.
        target: the package folder; each changed folder of messages in it is replaced as a whole, and the rest stays.

    Raises:
        ProtoError: if a file does not compile; `target` stays as it was.
    """
    files = sorted((sources / target.name).rglob("*.proto"))
    services = [file for file in files if re.search(r"^service ", file.read_text(), re.MULTILINE)]
    target.parent.mkdir(parents=True, exist_ok=True)
    # It is beside the target, because a rename cannot move a folder to another file system.
    with _locked(target.parent), tempfile.TemporaryDirectory(dir=target.parent, prefix=".proto-") as scratch:
        folders = [sources, Path(str(resources.files("grpc_tools") / "_proto"))]
        common = ["protoc", *(f"-I{folder}" for folder in folders)]
        _run([*common, f"--python_out={scratch}", f"--pyi_out={scratch}", *map(str, files)], sources)
        if services:
            stubs = [f"--grpc_python_out={scratch}", f"--mypy_grpc_out=quiet:{scratch}"]
            _run([*common, f"--plugin=protoc-gen-mypy_grpc={_plugin()}", *stubs, *map(str, services)], sources)
            folder = Path(scratch) / services[0].parent.relative_to(sources)
            commented = [f"--descriptor_set_out={folder / COMMENTED}", "--include_source_info"]
            _run([*common, *commented, *map(str, services)], sources)
        built = Path(scratch) / target.name
        for folder in (path for path in built.rglob("*") if path.is_dir()):
            (folder / "__init__.py").write_text('"""Messages generated from the .proto files; do not edit."""\n')
        target.mkdir(exist_ok=True)
        for folder in built.iterdir():
            if _files(folder) != _files(target / folder.name):
                shutil.rmtree(target / folder.name, ignore_errors=True)
                folder.rename(target / folder.name)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _files(folder: Path) -> dict[Path, bytes]:
    """Return the content of each file below a folder, except Python's caches."""
    paths = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(folder): path.read_bytes() for path in paths}


def _run(arguments: list[str], sources: Path) -> None:
    if protoc.main(arguments) != 0:
        raise ProtoError(f"the .proto files under {sources} do not compile")


def _plugin() -> str:
    """Find mypy-protobuf's program that writes the types of stubs.

    It is beside this Python or, while pip builds a wheel in a separate environment, on the PATH.
    """
    places = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)])
    found = shutil.which("protoc-gen-mypy_grpc", path=places)
    if found is None:
        raise ProtoError("protoc-gen-mypy_grpc is missing: run `make setup` (or: pip install mypy-protobuf)")
    return found


if __name__ == "__main__":
    try:
        generate(ROOT / "proto", ROOT / "dogana")
    except ProtoError as error:
        sys.exit(str(error))
