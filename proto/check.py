"""Check the .proto files: style, compatibility with the last release, and names that break generated code.

python proto/check.py              report every problem, one line each; exit with status 1 if there is one
python proto/check.py --write      format the .proto files, and write the protocol pages from their comments
python proto/check.py --release    make the current messages the baseline for later compatibility checks

buf checks style and compatibility under the rules in `proto/buf.yaml`. The released messages are the image
`proto/released.binpb`.
"""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
)

ROOT = Path(__file__).resolve().parent.parent
PROTO = ROOT / "proto"
RELEASED = PROTO / "released.binpb"


class ProtoPage(NamedTuple):
    """A page written from a .proto file, with its opening lines."""

    path: Path
    title: str
    subject: str
    more: tuple[str, ...]


PAGES = {
    "dogana/v1/referee.proto": ProtoPage(
        ROOT / "docs" / "protocol.md",
        "The protocol",
        "The messages between a referee and an agent, whatever the game.",
        (
            "[writing_a_bot.md](writing_a_bot.md) explains their use.",
            "The messages of each game are in `proto/dogana/games/<game>/v1/<game>.proto`, with a comment on every item.",
        ),
    ),
    "dogana/v1/ladder.proto": ProtoPage(
        ROOT / "docs" / "ladder_protocol.md",
        "The protocol of a ladder",
        "The stream by which bots at home take part in a served ladder.",
        (
            "[bots_at_home.md](bots_at_home.md) explains its use.",
            "All other requests go by HTTP: [pages.md](pages.md#for-programs).",
        ),
    ),
}


# --- checks by buf ----------------------------------------------------------------------------------------------


def buf(*arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
    """Run the `buf` of this Python environment (from the package buf-bin). It needs no network."""
    program = Path(sysconfig.get_path("scripts")) / "buf"
    if not program.exists():
        sys.exit(f"{program} is missing: run `make setup`")
    return subprocess.run([program, *arguments], capture_output=True, check=False)


def load(folder: Path) -> FileDescriptorSet:
    """Compile every .proto file below a folder, including comments; end the program if one does not compile."""
    built = buf("build", folder, "--as-file-descriptor-set", "--exclude-imports", "--output", "-")
    if built.returncode != 0:
        sys.exit(f"the .proto files do not compile:\n{built.stderr.decode()}".rstrip())
    return FileDescriptorSet.FromString(built.stdout)


def style_problems(folder: Path) -> list[str]:
    """Report violations of the Protocol Buffers style guide, missing comments, and unformatted files."""
    lint = buf("lint", folder)
    problems = (lint.stdout + lint.stderr).decode().splitlines()
    if buf("format", folder, "--exit-code").returncode != 0:
        problems.append(f"{folder}: not formatted: run `make fmt`")
    return problems


def breaking_changes(folder: Path, released: Path) -> list[str]:
    """Report changes that would break agents built from the released messages."""
    compared = buf("breaking", folder, "--against", released)
    return (compared.stdout + compared.stderr).decode().splitlines()


def unguarded(present: FileDescriptorSet, released: Path) -> list[str]:
    """Report the files that are missing from the release, because no check would notice a breaking change in them."""
    known = {file.name for file in FileDescriptorSet.FromString(released.read_bytes()).file}
    return [
        f"proto/{file.name}: not guarded against breaking changes: run `python proto/check.py --release`"
        for file in present.file
        if file.name not in known
    ]


def release(folder: Path, released: Path) -> None:
    """Write the baseline image for later comparisons."""
    built = buf("build", folder, "--exclude-source-info", "--output", released)
    if built.returncode != 0:
        sys.exit(built.stderr.decode().rstrip())


# --- names that collide in generated code -----------------------------------------------------------------------


class Accessor(NamedTuple):
    """A name that code generators derive from the name of a field or oneof.

    Attributes:
        pattern: the derived name, as the name of a field that would collide with it.
        kinds: the kinds of fields for which it is derived; see `_kinds`.
        languages: the languages in whose official generated code a field of that name collides, is renamed, or is
            hidden.
    """

    pattern: str
    kinds: str
    languages: str


ACCESSORS = (
    Accessor("has_{}", "presence oneof", "C++, C#, Objective-C, Dart, Go, Rust"),
    Accessor("clear_{}", "field oneof", "C++, C#, Ruby, Dart, Go, Rust"),
    Accessor("set_{}", "field", "C++, Go, Rust"),
    Accessor("get_{}", "field oneof", "Go"),
    Accessor("{}_field_number", "field", "C#"),
    Accessor("{}_opt", "presence", "Rust"),
    Accessor("{}_mut", "message repeated map", "Rust"),
    Accessor("mutable_{}", "message text repeated map", "C++"),
    Accessor("release_{}", "message text", "C++"),
    Accessor("set_allocated_{}", "message text", "C++"),
    Accessor("unsafe_arena_release_{}", "message text", "C++"),
    Accessor("unsafe_arena_set_allocated_{}", "message text", "C++"),
    Accessor("ensure_{}", "message", "Dart"),
    Accessor("{}_builder", "message", "Java, Kotlin"),
    Accessor("{}_or_builder", "message", "Java, Kotlin"),
    Accessor("{}_builder_list", "repeated", "Java, Kotlin"),
    Accessor("{}_or_builder_list", "repeated", "Java, Kotlin"),
    Accessor("{}_bytes", "text", "Java, Kotlin"),
    Accessor("{}_value", "enum", "Java, Kotlin"),
    Accessor("{}_value_list", "enum", "Java, Kotlin"),
    Accessor("{}_const", "enum", "Ruby"),
    Accessor("add_{}", "repeated", "C++"),
    Accessor("{}_size", "repeated map", "C++"),
    Accessor("{}_count", "repeated map", "Java, Kotlin"),
    Accessor("{}_list", "repeated", "Java, Kotlin"),
    Accessor("{}_array", "repeated", "Objective-C"),
    Accessor("{}_map", "map", "Java, Kotlin"),
    Accessor("{}_case", "oneof", "C++, Java, Kotlin, C#, Rust"),
    Accessor("{}_oneof_case", "oneof", "C#"),
    Accessor("{}_one_of_case", "oneof", "Objective-C"),
    Accessor("which_{}", "oneof", "Dart, Go"),
)


def collisions(files: FileDescriptorSet) -> list[str]:
    """Report fields and oneofs whose names collide with a name generated from another field or oneof of the message."""
    return [
        problem
        for file in files.file
        for item in items(file)
        if item.kind == "message"
        for problem in _collisions_in(item.name, item.described)
    ]


def _collisions_in(scope: str, message: DescriptorProto) -> list[str]:
    named = {field.name: _kinds(field, message) for field in message.field}
    named |= {oneof.name: {"oneof"} for oneof in _real_oneofs(message)}
    found = []
    for name, kinds in named.items():
        for accessor in ACCESSORS:
            other = accessor.pattern.format(name)
            if other in named and kinds & set(accessor.kinds.split()):
                found.append(f"{scope}.{other}: collides with code generated for `{name}` ({accessor.languages})")
    joined: dict[str, str] = {}
    for name in named:
        first = joined.setdefault(name.replace("_", ""), name)
        if first != name:
            found.append(f"{scope}.{name}: differs from `{first}` in underscores only (PHP)")
    return found


def _kinds(field: FieldDescriptorProto, message: DescriptorProto) -> set[str]:
    """Classify a field: `field` always, and the other kinds for which generators make accessors."""
    kinds = {"field"}
    if any(entry.options.map_entry and field.type_name.endswith(f".{entry.name}") for entry in message.nested_type):
        return kinds | {"map"}
    if field.label == FieldDescriptorProto.LABEL_REPEATED:
        kinds.add("repeated")
    elif field.HasField("oneof_index") or field.type == FieldDescriptorProto.TYPE_MESSAGE:
        kinds.add("presence")
    match field.type:
        case FieldDescriptorProto.TYPE_MESSAGE:
            kinds.add("message")
        case FieldDescriptorProto.TYPE_STRING | FieldDescriptorProto.TYPE_BYTES:
            kinds.add("text")
        case FieldDescriptorProto.TYPE_ENUM:
            kinds.add("enum")
    return kinds


def _real_oneofs(message: DescriptorProto) -> list[Any]:
    """List the explicit oneofs, without those that `optional` creates."""
    synthetic = {field.oneof_index for field in message.field if field.proto3_optional}
    return [oneof for index, oneof in enumerate(message.oneof_decl) if index not in synthetic]


# --- walking a file ---------------------------------------------------------------------------------------------

# The parts of the paths of items, as field numbers of descriptor.proto: the messages, enums and services of a file, ...
_MESSAGE, _ENUM, _SERVICE = 4, 5, 6
# ... the fields, inner messages and inner enums of a message, the values of an enum, and the methods of a service.
_FIELD, _NESTED, _NESTED_ENUM, _VALUE, _METHOD = 2, 3, 4, 2, 2


class Item(NamedTuple):
    """A message, field, enum, value, service or method of a .proto file.

    Attributes:
        file: the file that contains it.
        kind: the kind of the item, one of those above.
        name: its full name.
        described: its descriptor.
        path: its path in the file, as in `SourceCodeInfo.Location.path`.
    """

    file: FileDescriptorProto
    kind: str
    name: str
    described: Any
    path: tuple[int, ...]

    @property
    def comment(self) -> str:
        """Return the comment above the item."""
        for location in self.file.source_code_info.location:
            if tuple(location.path) == self.path:
                return location.leading_comments.strip()
        return ""


def items(file: FileDescriptorProto) -> Iterator[Item]:
    """Walk all items of a file, outer ones before inner ones."""
    for index, message in enumerate(file.message_type):
        yield from _message_items(file, message, file.package, (_MESSAGE, index))
    for index, enum in enumerate(file.enum_type):
        yield from _enum_items(file, enum, file.package, (_ENUM, index))
    for index, service in enumerate(file.service):
        name = f"{file.package}.{service.name}"
        yield Item(file, "service", name, service, (_SERVICE, index))
        for number, method in enumerate(service.method):
            yield Item(file, "method", f"{name}.{method.name}", method, (_SERVICE, index, _METHOD, number))


def _message_items(
    file: FileDescriptorProto, message: DescriptorProto, scope: str, path: tuple[int, ...]
) -> Iterator[Item]:
    if message.options.map_entry:
        return
    name = f"{scope}.{message.name}"
    yield Item(file, "message", name, message, path)
    for index, field in enumerate(message.field):
        yield Item(file, "field", f"{name}.{field.name}", field, (*path, _FIELD, index))
    for index, inner in enumerate(message.nested_type):
        yield from _message_items(file, inner, name, (*path, _NESTED, index))
    for index, enum in enumerate(message.enum_type):
        yield from _enum_items(file, enum, name, (*path, _NESTED_ENUM, index))


def _enum_items(
    file: FileDescriptorProto, enum: EnumDescriptorProto, scope: str, path: tuple[int, ...]
) -> Iterator[Item]:
    name = f"{scope}.{enum.name}"
    yield Item(file, "enum", name, enum, path)
    for index, value in enumerate(enum.value):
        yield Item(file, "value", f"{name}.{value.name}", value, (*path, _VALUE, index))


# --- the page ---------------------------------------------------------------------------------------------------


def page(files: FileDescriptorSet, name: str) -> str:
    """Return the page of a .proto file in `PAGES`: every service, message and enum with its comments."""
    made = PAGES[name]
    lines = [
        f"# {made.title}",
        "",
        made.subject,
        f"This page is written from the comments in `proto/{name}` by `make fmt`; do not edit it.",
        *made.more,
        "",
    ]
    [file] = [file for file in files.file if file.name == name]
    lines += [f"## `{file.package}`", ""]
    # 2 is the number of `package` in a file's descriptor: the comment above it opens the page.
    opening = [location for location in file.source_code_info.location if list(location.path) == [2]]
    if opening and opening[0].leading_comments:
        lines += [_prose(opening[0].leading_comments), ""]
    for item in items(file):
        name = item.name.removeprefix(f"{file.package}.")
        if item.kind in ("message", "enum", "service"):
            lines += ["", f"### {item.kind} `{name}`", "", _prose(item.comment), ""]
        elif item.kind == "field":
            lines.append(f"- `{_field(item.described)}` {_prose(item.comment)}")
        elif item.kind == "value":
            lines.append(f"- `{item.described.name} = {item.described.number}` {_prose(item.comment)}")
        elif item.kind == "method":
            lines.append(f"- `{_method(item.described)}`\n\n  {_prose(item.comment)}\n")
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


def _prose(comment: str) -> str:
    paragraphs = [" ".join(part.split()) for part in comment.split("\n\n")]
    return "\n\n".join(paragraphs)


def _field(field: FieldDescriptorProto) -> str:
    kind = (
        field.type_name.rpartition(".")[2] or FieldDescriptorProto.Type.Name(field.type).removeprefix("TYPE_").lower()
    )
    if field.type_name.endswith("OptionsEntry"):  # protoc names the entry type of a map after its field
        return f"map<string, string> {field.name} = {field.number}"
    repeated = "repeated " if field.label == FieldDescriptorProto.LABEL_REPEATED else ""
    optional = "optional " if field.proto3_optional else ""
    return f"{repeated}{optional}{kind} {field.name} = {field.number}"


def _method(method: Any) -> str:
    takes = ("stream " if method.client_streaming else "") + method.input_type.rpartition(".")[2]
    gives = ("stream " if method.server_streaming else "") + method.output_type.rpartition(".")[2]
    return f"rpc {method.name}({takes}) returns ({gives})"


def main(folder: Path = PROTO, released: Path = RELEASED) -> None:
    """Run the action that the command line names on the messages in `folder`, whose baseline is `released`."""
    if sys.argv[1:] == ["--write"]:
        # This comes first, because the pages are written from the formatted comments.
        buf("format", folder, "--write")
        present = load(folder)
        for name, made in PAGES.items():
            made.path.write_text(page(present, name))
        return
    if sys.argv[1:] == ["--release"]:
        release(folder, released)
        return
    present = load(folder)
    problems = style_problems(folder) + breaking_changes(folder, released) + unguarded(present, released)
    problems += collisions(present)
    for name, made in PAGES.items():
        if not made.path.exists() or made.path.read_text() != page(present, name):
            problems.append(f"docs/{made.path.name} is not up to date: run `make fmt`")
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
