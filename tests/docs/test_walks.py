"""docs/walks.md is true: its functions are there, each is reached from one before it, and no walk enters too many rooms."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAX_ROOMS = 8


class Step(NamedTuple):
    """One step: a function, and whether something other than a call leads to the next step."""

    file: str
    function: str
    carries_over: bool


def _steps(text: str) -> list[Step]:
    """Read the steps of a walk. An indented line after a step says what leads to the next one."""
    found = re.findall(r"^\d+\. `([\w/.]+)` `([\w.]+)`: [^\n]+\n((?:   [^\n]+\n)?)", text, re.MULTILINE)
    return [Step(file, name, bool(more) and "Back in" not in more) for file, name, more in found]


PAGE = (ROOT / "docs" / "walks.md").read_text()
WALKS = {title: _steps(text) for title, text in re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S)}


@cache
def _functions(file: str) -> dict[str, ast.AST]:
    """Return the functions and methods of a file by their qualified names."""
    found: dict[str, ast.AST] = {}
    for node in ast.parse((ROOT / file).read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found[node.name] = node
        elif isinstance(node, ast.ClassDef):
            methods = (one for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef))
            found.update({f"{node.name}.{one.name}": one for one in methods})
    return found


def _names(node: ast.AST) -> set[str]:
    """Return the names of everything that a function mentions."""
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)} | {
        one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)
    }


def _reach(step: Step) -> set[str]:
    """Return the names that a function mentions, and those of the functions in its file that it calls."""
    functions = _functions(step.file)
    known: set[str] = set()
    waiting = [step.function]
    while waiting:
        names = _names(functions[waiting.pop()]) - known
        known |= names
        waiting += [function for function in functions if function.rpartition(".")[2] in names]
    return known


def test_there_are_six_walks_and_every_step_is_read() -> None:
    assert len(WALKS) == 6
    assert sum(map(len, WALKS.values())) == len(re.findall(r"^\d+\. ", PAGE, re.MULTILINE))


@pytest.mark.parametrize("walk", WALKS)
def test_the_functions_of_a_walk_are_where_it_says(walk: str) -> None:
    for step in WALKS[walk]:
        assert step.function in _functions(step.file), step


@pytest.mark.parametrize("walk", WALKS)
def test_a_step_of_a_walk_is_called_by_one_before_it(walk: str) -> None:
    steps = WALKS[walk]
    for at, step in enumerate(steps[1:], 1):
        if not steps[at - 1].carries_over:
            assert any(step.function.rpartition(".")[2] in _reach(before) for before in steps[:at]), step


@pytest.mark.parametrize("walk", WALKS)
def test_a_walk_enters_few_rooms(walk: str) -> None:
    assert len({Path(step.file).parent for step in WALKS[walk]}) <= MAX_ROOMS
