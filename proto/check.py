"""Checks the .proto files: style, compatibility with the last release, and that docs/protocol.md says what they say.

python proto/check.py              says everything that is wrong, a line each; exit status 1 if anything is
python proto/check.py --write      writes docs/protocol.md
python proto/check.py --release    makes the present messages the ones that later ones must stay compatible with
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
)
from grpc_tools import protoc

ROOT = Path(__file__).resolve().parent.parent
RELEASED = ROOT / "proto" / "released.binpb"
PAGE = ROOT / "docs" / "protocol.md"
ENVELOPE = "dogana.v1"

# Where things are in a file, as numbers of descriptor.proto: messages, enums and services of a file, ...
_MESSAGE, _ENUM, _SERVICE = 4, 5, 6
# ... and fields, messages inside, enums inside and oneofs of a message, values of an enum, methods of a service.
_FIELD, _NESTED, _NESTED_ENUM, _ONEOF, _VALUE, _METHOD = 2, 3, 4, 8, 2, 2


def load(folder: Path) -> FileDescriptorSet:
    """Compiles every .proto file below a folder, comments included."""
    files = sorted((folder / "dogana").rglob("*.proto"))
    with tempfile.TemporaryDirectory() as scratch:
        target = Path(scratch) / "all.binpb"
        includes = [f"-I{folder}", f"-I{resources.files('grpc_tools') / '_proto'}"]
        arguments = ["protoc", *includes, f"--descriptor_set_out={target}", "--include_source_info", *map(str, files)]
        if protoc.main(arguments) != 0:
            sys.exit("the .proto files do not compile")
        return FileDescriptorSet.FromString(target.read_bytes())


# --- walking a file -----------------------------------------------------------------------------------------


class Item:
    """A thing in a .proto file: message, enum, field, value, oneof, service or method."""

    def __init__(self, file: FileDescriptorProto, kind: str, name: str, described: Any, path: tuple[int, ...]) -> None:
        self.file = file
        self.kind = kind
        self.name = name
        self.described = described
        self.path = path

    @property
    def comment(self) -> str:
        """The comment above it."""
        for location in self.file.source_code_info.location:
            if tuple(location.path) == self.path:
                return location.leading_comments.strip()
        return ""


def items(file: FileDescriptorProto) -> Iterator[Item]:
    """Everything in a file, outer things before inner ones."""
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
    for index, oneof in enumerate(message.oneof_decl):
        if not any(field.proto3_optional and field.oneof_index == index for field in message.field):
            yield Item(file, "oneof", f"{name}.{oneof.name}", oneof, (*path, _ONEOF, index))
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


# --- style --------------------------------------------------------------------------------------------------

_CAMEL, _SNAKE = re.compile(r"[A-Z][A-Za-z0-9]*"), re.compile(r"[a-z][a-z0-9_]*")


def style_problems(files: FileDescriptorSet) -> list[str]:
    """Everything without a comment, and names that do not follow the style guide of Protocol Buffers."""
    found = []
    for file in files.file:
        if file.package.replace(".", "/") != str(Path(file.name).parent):
            found.append(f"{file.name}: the package {file.package} is not its folder")
        for item in items(file):
            if not item.comment:
                found.append(f"{item.name}: {item.kind} without a comment")
            name = item.name.rpartition(".")[2]
            style = _SNAKE if item.kind in ("field", "oneof") else _CAMEL
            if item.kind == "enum":
                found += _enum_problems(item)
            if item.kind != "value" and not style.fullmatch(name):
                found.append(f"{item.name}: {item.kind} whose name is not in the usual style")
    return found


def _enum_problems(item: Item) -> list[str]:
    prefix = re.sub(r"(?<!^)(?=[A-Z])", "_", item.described.name).upper() + "_"
    found = []
    if item.described.value[0].name != f"{prefix}UNSPECIFIED" or item.described.value[0].number != 0:
        found.append(f"{item.name}: the first value must be {prefix}UNSPECIFIED = 0")
    found += [
        f"{item.name}.{value.name}: must begin with {prefix}"
        for value in item.described.value
        if not value.name.startswith(prefix)
    ]
    return found


# --- compatibility --------------------------------------------------------------------------------------------


def breaking_changes(released: FileDescriptorSet, present: FileDescriptorSet) -> list[str]:
    """What agents that were built from the released messages would trip over.

    Everything released must still be there, with its number and type; new things may be added.
    """
    now = {item.name: item for file in present.file for item in items(file)}
    found = []
    for file in released.file:
        for item in items(file):
            if item.name not in now:
                found.append(f"{item.name}: this {item.kind} was released and is gone")
            elif _shape(item) != _shape(now[item.name]):
                found.append(f"{item.name}: was released as {_shape(item)}, now is {_shape(now[item.name])}")
    return found


def _shape(item: Item) -> str:
    """What must not change about a thing."""
    described = item.described
    if item.kind == "field":
        kind = FieldDescriptorProto.Type.Name(described.type).removeprefix("TYPE_").lower()
        label = FieldDescriptorProto.Label.Name(described.label).removeprefix("LABEL_").lower()
        presence = " with presence" if described.proto3_optional or described.HasField("oneof_index") else ""
        return f"{label} {kind} {described.type_name} = {described.number}{presence}"
    if item.kind == "value":
        return f"= {described.number}"
    if item.kind == "method":
        streams = (described.client_streaming, described.server_streaming)
        return f"{described.input_type} -> {described.output_type}, streaming {streams}"
    return item.kind


# --- the page ---------------------------------------------------------------------------------------------------


def page(files: FileDescriptorSet) -> str:
    """docs/protocol.md: every service, message and enum of the envelope with its comments."""
    lines = [
        "# The protocol",
        "",
        "What a referee and an agent say to each other, whatever the game. Written from the comments of `proto/dogana/v1/` by",
        "`make fmt`; do not edit. [writing_a_bot.md](writing_a_bot.md) tells the story. The messages of each game are in",
        "`proto/dogana/games/<game>/v1/<game>.proto`, with a comment on everything.",
        "",
    ]
    for file in files.file:
        if file.package != ENVELOPE:
            continue
        lines += [f"## `{file.package}`", ""]
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
    if field.type_name.endswith("OptionsEntry"):
        return f"map<string, string> {field.name} = {field.number}"
    repeated = "repeated " if field.label == FieldDescriptorProto.LABEL_REPEATED else ""
    optional = "optional " if field.proto3_optional else ""
    return f"{repeated}{optional}{kind} {field.name} = {field.number}"


def _method(method: Any) -> str:
    takes = ("stream " if method.client_streaming else "") + method.input_type.rpartition(".")[2]
    gives = ("stream " if method.server_streaming else "") + method.output_type.rpartition(".")[2]
    return f"rpc {method.name}({takes}) returns ({gives})"


def main() -> None:
    """See the module's text."""
    present = load(ROOT / "proto")
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(page(present))
        return
    if sys.argv[1:] == ["--release"]:
        for file in present.file:
            file.ClearField("source_code_info")
        RELEASED.write_bytes(present.SerializeToString())
        return
    problems = style_problems(present)
    problems += breaking_changes(FileDescriptorSet.FromString(RELEASED.read_bytes()), present)
    if not PAGE.exists() or PAGE.read_text() != page(present):
        problems.append("docs/protocol.md is not up to date: run `make fmt`")
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
