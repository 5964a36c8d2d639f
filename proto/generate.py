"""Builds the Python messages from the .proto files: `python proto/generate.py`.

The messages are built, never committed: `pip install` runs this through `proto/hatch_hook.py`, a
working copy through `make proto`.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from importlib import resources
from pathlib import Path

from grpc_tools import protoc

ROOT = Path(__file__).resolve().parent.parent


class ProtoError(Exception):
    """A .proto file does not compile; protoc has said why on standard error."""


def generate(sources: Path, target: Path, *, include: tuple[Path, ...] = ()) -> None:
    """Compile every .proto below `sources` into the Python package folder `target`.

    Args:
        sources: the folder that import paths start from; `sources / target.name` holds the files.
        target: the package folder; each folder of messages in it is replaced as a whole, the rest is left alone.
        include: further folders in which imported .proto files are looked for.

    Raises:
        ProtoError: if a file does not compile; `target` is left as it was.
    """
    files = sorted((sources / target.name).rglob("*.proto"))
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".proto-") as scratch:
        folders = [sources, *include, Path(str(resources.files("grpc_tools") / "_proto"))]
        arguments = [f"-I{folder}" for folder in folders]
        arguments += [f"--python_out={scratch}", f"--pyi_out={scratch}", *map(str, files)]
        if protoc.main(["protoc", *arguments]) != 0:
            raise ProtoError(f"the .proto files under {sources} do not compile")
        built = Path(scratch) / target.name
        for folder in (path for path in built.rglob("*") if path.is_dir()):
            (folder / "__init__.py").write_text('"""Messages generated from the .proto files; do not edit."""\n')
        target.mkdir(exist_ok=True)
        for folder in built.iterdir():
            shutil.rmtree(target / folder.name, ignore_errors=True)
            folder.rename(target / folder.name)


if __name__ == "__main__":
    try:
        generate(ROOT / "proto", ROOT / "dogana")
    except ProtoError as error:
        sys.exit(str(error))
