"""How much of a module its tests hold: break it in one place at a time, and see whether a test fails.

    python -m bench.mutants referee/games/nim/rules.py --tests referee/games/nim/tests --sample 100

Each mutant runs in a forked child that imports the changed module in place of the file's; no file is touched. Programs that
a test starts run the unchanged file, so measure with tests that call the module in their own process. A mutant that
survives is printed as a diff: either a test is missing, or the change makes no difference. So is one that takes too long, which
counts as caught.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import NoReturn

import google.protobuf.any_pb2  # noqa: F401 what most tests import is imported once, before the forks
import grpc  # noqa: F401
import pytest

_COMPARISONS: dict[type[ast.cmpop], ast.cmpop] = {
    ast.Lt: ast.LtE(),
    ast.LtE: ast.Lt(),
    ast.Gt: ast.GtE(),
    ast.GtE: ast.Gt(),
    ast.Eq: ast.NotEq(),
    ast.NotEq: ast.Eq(),
    ast.Is: ast.IsNot(),
    ast.IsNot: ast.Is(),
    ast.In: ast.NotIn(),
    ast.NotIn: ast.In(),
}
_OPERATORS: dict[type[ast.operator], ast.operator] = {
    ast.Add: ast.Sub(),
    ast.Sub: ast.Add(),
    ast.Mult: ast.FloorDiv(),
    ast.FloorDiv: ast.Mult(),
    ast.Mod: ast.FloorDiv(),
    ast.LShift: ast.RShift(),
    ast.RShift: ast.LShift(),
    ast.BitOr: ast.BitAnd(),
    ast.BitAnd: ast.BitOr(),
    ast.BitXor: ast.BitOr(),
}


@dataclass(frozen=True, slots=True)
class Mutant:
    """A module with one change."""

    path: Path
    """The module's file."""
    source: str
    """Its changed text."""

    def diff(self) -> str:
        """Return the changed lines, headed by the place."""
        before, after = self.path.read_text().splitlines(), self.source.splitlines()
        lines = list(difflib.unified_diff(before, after, lineterm="", n=0))[2:]
        number = lines[0].split()[1].lstrip("-").partition(",")[0]
        return "\n".join([f"{self.path}:{number}", *lines[1:]])


# --- making mutants -------------------------------------------------------------------------------


def mutants(path: Path) -> list[Mutant]:
    """Make every mutant of a module, in the order of its text; those that change nothing or do not compile are left out."""
    text = path.read_text()
    found = []
    for node, replacement in _changes(ast.parse(text)):
        source = _replaced(text, node, replacement)
        if source == text:
            continue
        try:
            compile(source, str(path), "exec")
        except SyntaxError:
            continue
        found.append(Mutant(path, source))
    return found


def _replaced(text: str, node: ast.expr | ast.stmt, replacement: str) -> str:
    """Put a replacement where a node is written (`ast` counts columns in bytes of UTF-8)."""
    lines = text.splitlines(keepends=True)
    assert node.end_lineno is not None
    first, last = lines[node.lineno - 1].encode(), lines[node.end_lineno - 1].encode()
    before, after = first[: node.col_offset].decode(), last[node.end_col_offset :].decode()
    return "".join([*lines[: node.lineno - 1], before, replacement, after, *lines[node.end_lineno :]])


def _changes(node: ast.AST, returns: str = "") -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """Yield each change inside a node: what is replaced, and by what.

    What only people or type checkers read is left alone: docstrings, messages, annotations.

    Args:
        node: a part of a module.
        returns: the annotation of what the function around it returns.
    """
    if isinstance(node, ast.FunctionDef):
        returns = ast.unparse(node.returns) if node.returns else ""
    if isinstance(node, ast.expr):
        yield from ((node, f"({changed})") for changed in _changed_expression(node))
    elif isinstance(node, ast.stmt):
        yield from ((node, changed) for changed in _changed_statement(node, returns))
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list") or isinstance(node, ast.JoinedStr | ast.Raise):
            continue
        if isinstance(node, ast.keyword) and node.arg == "strict":  # of zip: the lengths agree in code that works
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _changes(child, returns)


def _changed_expression(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Compare():
            for place, operator in enumerate(node.ops):
                ops = [*node.ops[:place], _COMPARISONS[type(operator)], *node.ops[place + 1 :]]
                yield ast.unparse(ast.Compare(node.left, ops, node.comparators))
        case ast.BinOp() if type(node.op) in _OPERATORS:
            yield ast.unparse(ast.BinOp(node.left, _OPERATORS[type(node.op)], node.right))
        case ast.BoolOp():
            other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield ast.unparse(ast.BoolOp(other, node.values))
            for place in range(len(node.values)):
                yield ast.unparse(ast.BoolOp(node.op, node.values[:place] + node.values[place + 1 :]))
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield ast.unparse(node.operand)
        case ast.IfExp():
            yield ast.unparse(node.body)
            yield ast.unparse(node.orelse)
        case ast.Constant(value=bool()):
            yield repr(not node.value)
        case ast.Constant(value=int(number)):
            yield repr(number + 1)
            yield repr(number - 1)


def _changed_statement(node: ast.stmt, returns: str) -> Iterator[str]:
    match node:
        case ast.Expr(value=ast.Call()) | ast.Raise() | ast.Delete() | ast.Continue() | ast.Break() | ast.AugAssign():
            yield "pass"
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript(), *_]):
            yield "pass"
        case ast.Return(value=ast.expr() as value) if returns in ("bool", "int") or returns.startswith("list"):
            text = ast.unparse(value)
            yield {"bool": f"return not ({text})", "int": f"return ({text}) + 1"}.get(returns, "return []")
        case ast.Return(value=None):
            yield "pass"
    if isinstance(node, ast.AugAssign) and type(node.op) in _OPERATORS:
        yield ast.unparse(ast.AugAssign(node.target, _OPERATORS[type(node.op)], node.value))


# --- running them ---------------------------------------------------------------------------------


def run(mutant: Mutant | None, tests: list[str], seconds: float) -> str:
    """Run the tests on a mutant, or on what is there, in a forked child.

    Returns:
        `passed`, `failed`, or `timeout` if they took longer than `seconds`.
    """
    with tempfile.TemporaryDirectory() as folder:
        child = os.fork()
        if child == 0:
            try:
                _test(mutant, tests, Path(folder))
            except BaseException:
                traceback.print_exc()
                os._exit(1)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                if status and mutant is None:
                    sys.exit(f"the tests fail without any change:\n{Path(folder, 'output').read_text()}")
                return "failed" if status else "passed"
            time.sleep(0.02)
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return "timeout"


def _test(mutant: Mutant | None, tests: list[str], folder: Path) -> NoReturn:
    """Run the tests in this process, and end it with the status of pytest."""
    os.setsid()
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(folder)  # what a mutant fails on is no example for others
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # no test needs one, and they are half of what starting costs
    with (folder / "output").open("w") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    if mutant is not None:
        _import(mutant)
    status = pytest.main(["-q", "-x", "-p", "no:cacheprovider", "--basetemp", f"{folder}/t", *tests])
    sys.stdout.flush()
    os._exit(status)


def _import(mutant: Mutant) -> None:
    """Let this process import a mutant in place of its module."""
    original = SourceFileLoader.get_code
    path = mutant.path.resolve()

    def get_code(loader: SourceFileLoader, fullname: str) -> CodeType | None:
        if Path(loader.path).resolve() == path:
            return compile(mutant.source, str(path), "exec")
        return original(loader, fullname)

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign,assignment]


def main() -> None:
    """Measure what the arguments name."""
    parser = argparse.ArgumentParser(prog="python -m bench.mutants", description="Which mutants do the tests catch?")
    parser.add_argument("paths", nargs="+", type=Path, help="modules")
    parser.add_argument("--tests", nargs="+", required=True, help="what to hand to pytest")
    parser.add_argument("--sample", type=int, help="how many mutants to run, drawn at random (default: all)")
    parser.add_argument("--seed", type=int, default=1, help="draws the sample")
    options = parser.parse_args()
    everything = [mutant for path in options.paths for mutant in mutants(path)]
    chosen = everything
    if options.sample is not None and options.sample < len(everything):
        order = random.Random(options.seed).sample(range(len(everything)), options.sample)
        chosen = [everything[place] for place in sorted(order)]
    start = time.monotonic()
    run(None, options.tests, 3600)
    limit = 5 * (time.monotonic() - start) + 10
    print(f"{len(chosen)} of {len(everything)} mutants, at most {limit:.0f} s each", flush=True)
    results = []
    for mutant in chosen:
        results.append(run(mutant, options.tests, limit))
        if results[-1] != "failed":  # one that took too long may loop for ever, or the machine was busy
            print(f"\n{'survived' if results[-1] == 'passed' else 'timed out'}: {mutant.diff()}", flush=True)
    caught = len(results) - results.count("passed")
    print(
        f"\n{caught} of {len(results)} caught ({caught / len(results):.1%}), {results.count('timeout')} by the time limit"
    )


if __name__ == "__main__":
    main()
