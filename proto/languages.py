"""Compile all messages with the official generators and compilers of C++, Java and Go: `python proto/languages.py`.

The name check (`proto/check.py`) finds the known collisions; this program finds all others. C++ and Java use protoc and the
runtime of the system, which must have the same version. A language whose tools are missing is skipped, with a hint on
how to install them; `--all` makes that an error, for CI.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KIT_FOR_GO = ROOT / "agents" / "kits" / "go"
PROTOBUF_JAR = Path("/usr/share/java/protobuf.jar")
PROTOBUF_HEADER = Path("/usr/include/google/protobuf/message.h")


class LanguageError(Exception):
    """The messages do not compile; the text is the compiler's output."""


def missing(language: str) -> str:
    """Return the command that installs the missing tools of a language; empty if there are none."""
    have = {
        "protobuf-compiler": shutil.which("protoc"),
        "g++": shutil.which("g++"),
        "libprotobuf-dev": PROTOBUF_HEADER.exists(),
        "default-jdk-headless": shutil.which("javac"),
        "libprotobuf-java": PROTOBUF_JAR.exists(),
        "golang-go": shutil.which("go"),
    }
    needs = {
        "C++": ["protobuf-compiler", "g++", "libprotobuf-dev"],
        "Java": ["protobuf-compiler", "default-jdk-headless", "libprotobuf-java"],
        "Go": ["golang-go"],
    }
    packages = [package for package in needs[language] if not have[package]]
    return f"apt-get install {' '.join(packages)}" if packages else ""


def compile_cpp(folder: Path) -> None:
    """Generate C++ for all messages below a folder, and check it with g++.

    Raises:
        LanguageError: if that fails.
    """
    with tempfile.TemporaryDirectory() as scratch:
        _run(["protoc", "-I", folder, f"--cpp_out={scratch}", *_protos(folder)])
        sources = sorted(Path(scratch).rglob("*.pb.cc"))
        check = ["g++", "-std=c++17", "-fsyntax-only", "-I", scratch]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(lambda source: _run([*check, source]), sources))  # `list` raises the error of a thread


def compile_java(folder: Path) -> None:
    """Generate Java for all messages below a folder, and compile it.

    Raises:
        LanguageError: if that fails.
    """
    with tempfile.TemporaryDirectory() as scratch:
        _run(["protoc", "-I", folder, f"--java_out={scratch}", *_protos(folder)])
        sources = sorted(Path(scratch).rglob("*.java"))
        _run(["javac", "-proc:none", "-cp", PROTOBUF_JAR, "-d", Path(scratch) / "classes", *sources])


def compile_go(folder: Path) -> None:
    """Generate Go for all messages below a folder with the generator of the kit for Go, and build it with the kit's bot.

    Raises:
        LanguageError: if that fails.
    """
    with tempfile.TemporaryDirectory() as scratch:
        kit = Path(scratch) / "kit"
        shutil.copytree(KIT_FOR_GO, kit)
        shutil.copytree(folder, kit / "proto", ignore=lambda _, names: [name for name in names if name.endswith(".py")])
        # A user's settings for other projects must not affect which modules are used here.
        environment = {**os.environ, "GOFLAGS": "-mod=readonly", "GOWORK": "off"}
        _run(["go", "generate"], environment, kit)
        _run(["go", "build", "./..."], environment, kit)


def _protos(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.proto"))


def _run(command: list[str | Path], environment: dict[str, str] | None = None, folder: Path | None = None) -> None:
    ended = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise LanguageError((ended.stderr or ended.stdout).strip())


def main() -> None:
    """Compile every language whose tools are installed."""
    messages = ROOT / "proto"
    languages = {"C++": compile_cpp, "Java": compile_java, "Go": compile_go}
    failed = False
    for language, compile_all in languages.items():
        if command := missing(language):
            print(f"{language}: skipped, tools are missing; Debian: {command}")
            failed |= sys.argv[1:] == ["--all"]
            continue
        try:
            compile_all(messages)
        except LanguageError as error:
            print(f"{language}: the generated code does not compile\n{error}")
            failed = True
        else:
            print(f"{language}: compiles", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
