"""The checks of the .proto files notice what they are for (`proto/check.py`)."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
GOOD = """syntax = "proto3";

// A package.
package dogana.v9;

// A message.
message Thing {
  // A kind.
  enum Kind {
    // Not used.
    KIND_UNSPECIFIED = 0;
    // Big.
    KIND_BIG = 1;
  }
  // A number.
  uint32 number = 1;
  // Something optional.
  optional string text = 2;
  // One of two.
  oneof choice {
    // This.
    Kind this = 3;
    // That.
    bool that = 4;
  }
}

// A service.
service Things {
  // A call.
  rpc Get(Thing) returns (stream Thing);
}
"""


@pytest.fixture(scope="module")
def check() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check", ROOT / "proto" / "check.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compiled(check: ModuleType, folder: Path, text: str) -> object:
    file = folder / "dogana" / "v9" / "thing.proto"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return check.load(folder)


def test_the_projects_own_messages_are_in_order(check: ModuleType) -> None:
    present = check.load(ROOT / "proto")
    released = check.FileDescriptorSet.FromString(check.RELEASED.read_bytes())
    assert check.style_problems(present) == []
    assert check.breaking_changes(released, present) == []
    assert check.PAGE.read_text() == check.page(present)


def test_a_good_file_has_no_problems(check: ModuleType, tmp_path: Path) -> None:
    assert check.style_problems(compiled(check, tmp_path, GOOD)) == []


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("  // A number.\n", "", "Thing.number: field without a comment"),
        ("// A message.\n", "", "Thing: message without a comment"),
        ("  // A call.\n", "", "Things.Get: method without a comment"),
        ("    // Big.\n", "", "KIND_BIG: value without a comment"),
        ("  // One of two.\n", "", "Thing.choice: oneof without a comment"),
        ("uint32 number", "uint32 theNumber", "theNumber: field whose name is not in the usual style"),
        ("KIND_UNSPECIFIED", "KIND_NONE", "the first value must be KIND_UNSPECIFIED = 0"),
        ("KIND_BIG", "BIG", "BIG: must begin with KIND_"),
        ("package dogana.v9", "package dogana.v8", "the package dogana.v8 is not its folder"),
    ],
)
def test_style_problems_are_found(check: ModuleType, tmp_path: Path, old: str, new: str, problem: str) -> None:
    problems = check.style_problems(compiled(check, tmp_path, GOOD.replace(old, new)))
    assert any(problem in found for found in problems), problems


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("uint32 number = 1", "uint32 number = 9"),
        ("uint32 number = 1", "string number = 1"),
        ("uint32 number = 1", "repeated uint32 number = 1"),
        ("uint32 number = 1", "uint32 amount = 1"),
        ("optional string text", "string text"),
        ("KIND_BIG = 1", "KIND_BIG = 2"),
        ("KIND_BIG = 1", "KIND_HUGE = 1"),
        ("returns (stream Thing)", "returns (Thing)"),
        ("rpc Get(", "rpc Fetch("),
        ("message Thing {", "message Other {\n  // x.\n  uint32 x = 1;\n}\n// A message.\nmessage Thing2 {"),
    ],
)
def test_breaking_changes_are_found(check: ModuleType, tmp_path: Path, old: str, new: str) -> None:
    released = compiled(check, tmp_path / "old", GOOD)
    text = GOOD.replace(old, new)
    if "Thing2" in new:
        text = text.replace("(Thing)", "(Thing2)").replace("stream Thing)", "stream Thing2)")
    assert check.breaking_changes(released, compiled(check, tmp_path / "new", text))


def test_growth_is_no_breaking_change(check: ModuleType, tmp_path: Path) -> None:
    released = compiled(check, tmp_path / "old", GOOD)
    grown = GOOD.replace("uint32 number = 1;", "uint32 number = 1;\n  // More.\n  bool more = 7;")
    assert check.breaking_changes(released, compiled(check, tmp_path / "new", grown)) == []
