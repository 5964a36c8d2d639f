"""The checks of the .proto files notice what they are for (`proto/check.py`)."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet

from tests.cases import mostly_long

ROOT = Path(__file__).resolve().parents[2]
RELEASED = [
    file.name
    for file in FileDescriptorSet.FromString((ROOT / "proto" / "released.binpb").read_bytes()).file
    if file.package.startswith("dogana.")
]
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
  rpc Get(Thing) returns (stream Other);
}

// Another message.
message Other {
  // A thing.
  Thing thing = 1;
}
"""


def written(folder: Path, text: str) -> Path:
    """A folder of messages with one file of this text."""
    file = folder / "dogana" / "v9" / "thing.proto"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    shutil.copy(ROOT / "proto" / "buf.yaml", folder)
    return folder


def test_the_projects_own_messages_are_in_order(check: ModuleType) -> None:
    present = check.load(check.PROTO)
    assert check.style_problems(check.PROTO) == []
    assert check.breaking_changes(check.PROTO, check.RELEASED) == []
    assert check.unguarded(present, check.RELEASED) == []
    assert check.collisions(present) == []
    for name, made in check.PAGES.items():
        assert made.path.read_text() == check.page(present, name)


# --- style ------------------------------------------------------------------------------------------------------


def test_a_good_file_has_no_problems(check: ModuleType, tmp_path: Path) -> None:
    assert check.style_problems(written(tmp_path, GOOD)) == []


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    mostly_long(
        [
            ("  uint32 number", "   uint32 number", "not formatted: run `make fmt`"),
            ("  // A number.\n", "", 'Field "number" should have a non-empty comment'),
            ("// A message.\n", "", 'Message "Thing" should have a non-empty comment'),
            ("  // A call.\n", "", 'RPC "Get" should have a non-empty comment'),
            ("    // Big.\n", "", 'Enum value "KIND_BIG" should have a non-empty comment'),
            ("  // One of two.\n", "", 'Oneof "choice" should have a non-empty comment'),
            ("uint32 number", "uint32 theNumber", 'Field name "theNumber" should be lower_snake_case'),
            ("KIND_UNSPECIFIED", "KIND_NONE", 'zero value name "KIND_NONE" should be suffixed with "_UNSPECIFIED"'),
            ("KIND_BIG", "BIG", 'Enum value name "BIG" should be prefixed with "KIND_"'),
            ("package dogana.v9", "package dogana.v8", 'package "dogana.v8" must be within a directory "dogana/v8"'),
        ],
        3,
    ),
)
def test_style_problems_are_found(check: ModuleType, tmp_path: Path, old: str, new: str, problem: str) -> None:
    problems = check.style_problems(written(tmp_path, GOOD.replace(old, new)))
    assert any(problem in found for found in problems), problems


def test_a_file_that_does_not_compile_ends_the_check_with_its_place(check: ModuleType, tmp_path: Path) -> None:
    folder = written(tmp_path, GOOD.replace("bool that = 4", "bool that = 3"))
    with pytest.raises(SystemExit, match=r"thing\.proto:24:"):
        check.load(folder)


# --- compatibility ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new"),
    mostly_long(
        [
            ("uint32 number = 1", "uint32 number = 9"),
            ("uint32 number = 1", "string number = 1"),
            ("uint32 number = 1", "repeated uint32 number = 1"),
            ("uint32 number = 1", "uint32 amount = 1"),
            ("optional string text", "string text"),
            ("KIND_BIG = 1", "KIND_BIG = 2"),
            ("KIND_BIG = 1", "KIND_HUGE = 1"),
            ("returns (stream Other)", "returns (Other)"),
            ("rpc Get(", "rpc Fetch("),
            ("Other", "Another"),
        ],
        3,
    ),
)
def test_breaking_changes_are_found(check: ModuleType, tmp_path: Path, old: str, new: str) -> None:
    released = tmp_path / "released.binpb"
    check.release(written(tmp_path / "old", GOOD), released)
    assert check.breaking_changes(written(tmp_path / "new", GOOD.replace(old, new)), released)


def test_growth_is_no_breaking_change(check: ModuleType, tmp_path: Path) -> None:
    released = tmp_path / "released.binpb"
    check.release(written(tmp_path / "old", GOOD), released)
    grown = GOOD.replace("uint32 number = 1;", "uint32 number = 1;\n  // More.\n  bool more = 7;")
    assert check.breaking_changes(written(tmp_path / "new", grown), released) == []


@pytest.mark.parametrize("name", RELEASED)
def test_each_released_file_is_guarded(check: ModuleType, tmp_path: Path, name: str) -> None:
    """In each file, the first field or enum value that is 1 is made another number."""
    [problem] = changed(check, tmp_path, name, r"^( +[A-Za-z0-9_. ]+) = 1;", r"\1 = 7777;")
    assert f"{name}:" in problem
    assert re.search(r'(field|enum value) "1"', problem)


@pytest.mark.parametrize("name", ["dogana/v1/referee.proto", "dogana/v1/ladder.proto"])
def test_the_calls_of_each_service_are_guarded(check: ModuleType, tmp_path: Path, name: str) -> None:
    [problem] = changed(check, tmp_path, name, r"^( +rpc )(\w+)\(", r"\1Other\2(")
    assert f"{name}:" in problem
    assert "RPC" in problem


def changed(check: ModuleType, tmp_path: Path, name: str, old: str, new: str) -> list[str]:
    """The breaking changes if the first thing in a file that is like this becomes something else."""
    copy = tmp_path / "proto"
    shutil.copytree(check.PROTO, copy)
    text = (copy / name).read_text()
    other = re.sub(old, new, text, count=1, flags=re.MULTILINE)
    assert other != text
    (copy / name).write_text(other)
    found: list[str] = check.breaking_changes(copy, check.RELEASED)
    return found


def test_all_of_the_projects_own_messages_are_released(check: ModuleType) -> None:
    assert sorted(RELEASED) == sorted(path.relative_to(check.PROTO).as_posix() for path in check.PROTO.rglob("*.proto"))


@pytest.mark.long
def test_a_file_that_is_not_released_is_a_problem(
    check: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    copy, released = tmp_path / "proto", tmp_path / "released.binpb"
    shutil.copytree(check.PROTO, copy)
    written(copy, GOOD)
    shutil.copy(check.RELEASED, released)
    monkeypatch.setattr(sys, "argv", ["check.py"])
    with pytest.raises(SystemExit, match="1"):
        check.main(copy, released)
    line = "proto/dogana/v9/thing.proto: not guarded against breaking changes: run `python proto/check.py --release`\n"
    assert capsys.readouterr().out == line
    monkeypatch.setattr(sys, "argv", ["check.py", "--release"])
    check.main(copy, released)
    monkeypatch.setattr(sys, "argv", ["check.py"])
    with pytest.raises(SystemExit, match="0"):
        check.main(copy, released)


# --- names that collide -----------------------------------------------------------------------------------------

# How `x` is declared, for each kind of field that generators make accessors for.
DECLARED = {
    "field": "uint32 x = 1;",
    "presence": "optional uint32 x = 1;",
    "message": "Other x = 1;",
    "text": "string x = 1;",
    "enum": "Kind x = 1;",
    "repeated": "repeated Other x = 1;",
    "map": "map<string, uint32> x = 1;",
    "oneof": "oneof x { uint32 one = 1; }",
}


def declaring(check: ModuleType, folder: Path, *fields: str) -> list[str]:
    """The collisions in a message with these fields."""
    text = f"""syntax = "proto3"; package dogana.v9; message Other {{}} enum Kind {{ KIND_UNSPECIFIED = 0; }}
        message Thing {{ {" ".join(fields)} }}"""
    found: list[str] = check.collisions(check.load(written(folder, text)))
    return found


@pytest.mark.parametrize(
    ("kind", "other", "language"),
    mostly_long(
        [
            ("presence", "has_x", "C++"),
            ("presence", "has_x", "C#"),
            ("presence", "has_x", "Objective-C"),
            ("presence", "has_x", "Dart"),
            ("presence", "has_x", "Rust"),
            ("message", "has_x", "C++"),
            ("oneof", "has_x", "C++"),
            ("field", "clear_x", "C++"),
            ("field", "clear_x", "Ruby"),
            ("presence", "clear_x", "C#"),
            ("oneof", "clear_x", "C#"),
            ("field", "set_x", "C++"),
            ("repeated", "set_x", "Rust"),
            ("field", "get_x", "Go"),
            ("field", "x_field_number", "C#"),
            ("presence", "x_opt", "Rust"),
            ("message", "x_mut", "Rust"),
            ("text", "mutable_x", "C++"),
            ("repeated", "mutable_x", "C++"),
            ("message", "release_x", "C++"),
            ("text", "set_allocated_x", "C++"),
            ("message", "unsafe_arena_release_x", "C++"),
            ("message", "unsafe_arena_set_allocated_x", "C++"),
            ("message", "ensure_x", "Dart"),
            ("message", "x_builder", "Java"),
            ("message", "x_or_builder", "Kotlin"),
            ("repeated", "x_builder_list", "Java"),
            ("repeated", "x_or_builder_list", "Java"),
            ("text", "x_bytes", "Java"),
            ("enum", "x_value", "Java"),
            ("enum", "x_value_list", "Java"),
            ("enum", "x_const", "Ruby"),
            ("repeated", "add_x", "C++"),
            ("repeated", "x_size", "C++"),
            ("map", "x_size", "C++"),
            ("repeated", "x_count", "Java"),
            ("map", "x_count", "Java"),
            ("repeated", "x_list", "Java"),
            ("repeated", "x_array", "Objective-C"),
            ("map", "x_map", "Java"),
            ("oneof", "x_case", "C++"),
            ("oneof", "x_case", "C#"),
            ("oneof", "x_oneof_case", "C#"),
            ("oneof", "x_one_of_case", "Objective-C"),
            ("oneof", "which_x", "Go"),
        ],
        12,
    ),
)
def test_a_name_that_generated_code_needs_is_refused(
    check: ModuleType, tmp_path: Path, kind: str, other: str, language: str
) -> None:
    [problem] = declaring(check, tmp_path, DECLARED[kind], f"uint32 {other} = 9;")
    assert problem.startswith(f"dogana.v9.Thing.{other}: collides with code generated for `x` (")
    assert language in re.split(r", |\(|\)", problem)


def test_names_that_differ_in_underscores_only_are_refused(check: ModuleType, tmp_path: Path) -> None:
    [problem] = declaring(check, tmp_path, "uint32 foo_bar = 1;", "uint32 foobar = 2;")
    assert problem == "dogana.v9.Thing.foobar: differs from `foo_bar` in underscores only (PHP)"


@pytest.mark.parametrize(
    ("declared", "other"),
    [
        ("uint32 x = 1;", "has_x"),  # no presence, so nothing is generated for it
        ("uint32 x = 1;", "x_count"),
        ("string x = 1;", "x_value"),
        ("repeated uint32 dis = 1;", "discount"),
        ("optional uint32 x = 1;", "x_case"),  # the oneof that `optional` stands for is called otherwise
    ],
)
def test_a_name_that_generated_code_does_not_need_is_allowed(
    check: ModuleType, tmp_path: Path, declared: str, other: str
) -> None:
    assert declaring(check, tmp_path, declared, f"uint32 {other} = 9;") == []


def test_collisions_are_found_in_inner_messages(check: ModuleType, tmp_path: Path) -> None:
    [problem] = declaring(check, tmp_path, "message Inner { repeated uint32 x = 1; uint32 x_count = 2; }")
    assert problem.startswith("dogana.v9.Thing.Inner.x_count: ")
