"""The rules of tests: they know what they test by its public names, and pass it other limits as arguments."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.static
ROOT = Path(__file__).resolve().parent.parent
OF_OTHERS = {"_replace", "_asdict", "_fields", "_make", "_exit"}
"""Public names that begin with an underscore: of named tuples, and of `os`."""
REACHES = {"getattr", "setattr", "delattr", "hasattr", "patch", "object"}
"""Functions that take a name as a text."""


def files_of_tests() -> list[Path]:
    found = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "referee" / "games").glob("*/tests/*.py")]
    return sorted(path for path in found if not path.name.endswith("_pb2.py"))


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__") and name not in OF_OTHERS


def own_names(tree: ast.Module) -> set[str]:
    """Return the private names that a module defines itself."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Attribute | ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.attr if isinstance(node, ast.Attribute) else node.id)
    return names


def reached(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node takes from an object or a module."""
    if isinstance(node, ast.ImportFrom):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in REACHES:
        for argument in node.args[:2]:
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                yield argument.value.rpartition(".")[2]


def is_our_own(node: ast.AST) -> bool:
    """Whether a node takes something from the object that has it, `self._tasks`."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")


def private_reads(tree: ast.Module) -> Iterator[str]:
    own = own_names(tree)
    for node in ast.walk(tree):
        for name in reached(node):
            if is_private(name) and not (is_our_own(node) and name in own):
                yield f"{getattr(node, 'lineno', 0)}: {name}"


def replaced_constants(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("setattr"):
            for name in reached(node):
                if re.fullmatch(r"[A-Z][A-Z0-9_]+", name):
                    yield f"{node.lineno}: {name}"


def found_in(path: Path) -> list[str]:
    tree = ast.parse(path.read_text())
    return [*private_reads(tree), *replaced_constants(tree)]


@pytest.mark.parametrize("path", [str(path.relative_to(ROOT)) for path in files_of_tests()])
def test_a_test_reads_no_private_name_and_replaces_no_constant(path: str) -> None:
    assert found_in(ROOT / path) == []


@pytest.mark.parametrize(
    "source",
    [
        "from referee.sandbox.cgroup import _settings",
        "server._doorkeeper",
        "self._tasks",
        "super()._take(effects)",
        "monkeypatch.setattr(measures, '_switched', str)",
        "monkeypatch.setattr('referee.sandbox.cgroup._can_make', str)",
        "monkeypatch.setattr(lobby, 'JOIN_SECONDS', 0.2)",
        "monkeypatch.setattr('referee.live.doors.listener.ALLOWANCE_SECONDS', 0.0)",
    ],
)
def test_what_breaks_the_rule_is_found(source: str) -> None:
    tree = ast.parse(source)
    assert [*private_reads(tree), *replaced_constants(tree)]


def test_what_is_a_tests_own_is_not_found() -> None:
    source = "class Reader:\n    def __init__(self):\n        self._seen = []\n        self._seen.append(now._replace(x=1).__class__)"
    assert list(private_reads(ast.parse(source))) == []
