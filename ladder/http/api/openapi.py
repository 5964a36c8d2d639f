"""The description of the API for programs, in OpenAPI 3.1: it follows from the messages, their comments, and the paths.

What a field is called, whether it may be null, and what is said of it stands in `proto/dogana/v1/ladder.proto` and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto, FileDescriptorSet
from google.protobuf.message_factory import GetMessageClass

from dogana.v1 import ladder_pb2 as pb
from referee.version import installed_version

MAX_TEXT = 200
"""The greatest number of characters of a text in a question."""
ERRORS = {
    400: "bad_request",
    401: "unauthenticated",
    403: "forbidden",
    404: "not_found",
    405: "not_allowed",
    408: "too_slow",
    421: "misdirected",
    429: "too_much",
    500: "failed",
    503: "busy",
}
"""What a refusal is called, by the HTTP status."""

_LADDER = pb.DESCRIPTOR.services_by_name["Ladder"]
_SCALARS: dict[int, dict[str, Any]] = {
    FieldDescriptor.TYPE_UINT32: {"type": "integer", "minimum": 0, "maximum": 2**32 - 1},
    FieldDescriptor.TYPE_UINT64: {"type": "integer", "minimum": 0, "maximum": 2**64 - 1},
    FieldDescriptor.TYPE_SINT32: {"type": "integer", "minimum": -(2**31), "maximum": 2**31 - 1},
    FieldDescriptor.TYPE_DOUBLE: {"type": "number"},
    FieldDescriptor.TYPE_BOOL: {"type": "boolean"},
    FieldDescriptor.TYPE_STRING: {"type": "string"},
}
_NEEDED = {"CompareRequest": ("one", "other"), "CrosstableRequest": ("game",)}
"""The fields of a question without which nothing is answered."""
_MEDIA_TYPE = "application/json"
_IN_PATH = re.compile(r"{(\w+)}")


def question_of(rpc: str) -> type[Any]:
    """Return the message by which something is asked."""
    return GetMessageClass(_LADDER.methods_by_name[rpc].input_type)


def is_file(rpc: str) -> bool:
    """Tell whether a file is answered, not a message."""
    return bool(_LADDER.methods_by_name[rpc].server_streaming)


def names_in(path: str) -> list[str]:
    """Return the fields of the question that a path names."""
    return _IN_PATH.findall(path)


def comment_on(*names: str) -> str:
    """Return what the .proto file says of a call, a message or one of its fields.

    Args:
        names: of a call its name; of a message its name, and that of the field.
    """
    return _comments().get(names, "")


def openapi(paths: Mapping[str, str], servers: str) -> dict[str, Any]:
    """Return the description.

    Args:
        paths: the name of the call of `Ladder` that each path asks for.
        servers: where the API is: a URL, or what leads there from the description.
    """
    schemas: dict[str, Any] = {"Error": _error()}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Dogana ladder",
            "version": installed_version(),
            "description": "What a ladder knows, as JSON. Nothing can be changed here.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": servers}],
        "security": [{}, {"token": []}],
        "paths": {path: {"get": _operation(path, rpc, schemas)} for path, rpc in paths.items()},
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "The token of an author."},
            },
        },
    }


def _operation(path: str, rpc: str, schemas: dict[str, Any]) -> dict[str, Any]:
    call = _LADDER.methods_by_name[rpc]
    if is_file(rpc):
        content: dict[str, Any] = {"application/octet-stream": {}}
    else:
        content = {_MEDIA_TYPE: {"schema": _reference(call.output_type, schemas)}}
    return {
        "operationId": rpc[0].lower() + rpc[1:],
        "summary": comment_on(rpc),
        "parameters": list(_parameters(path, call.input_type)),
        "responses": {
            "200": {"description": "The file." if is_file(rpc) else "The answer.", "content": content},
            "304": {"description": "It is still what `If-None-Match` names."},
            "default": {
                "description": "It was refused.",
                "content": {_MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Error"}}},
            },
        },
    }


def _parameters(path: str, question: Descriptor) -> Iterator[dict[str, Any]]:
    in_path = names_in(path)
    for field in question.fields:
        parameter = {"name": field.name, "description": comment_on(question.name, field.name)}
        if field.name in in_path:
            yield {
                **parameter,
                "in": "path",
                "required": True,
                "schema": {"type": "string", "minLength": 1, "maxLength": MAX_TEXT, "pattern": "^[^/]+$"},
            }
        elif is_map(field):
            values = {
                "type": "object",
                "propertyNames": {"minLength": 1, "maxLength": MAX_TEXT, "pattern": r"^[^\[\]]+$"},
                "additionalProperties": {"type": "string", "maxLength": MAX_TEXT},
            }
            yield {**parameter, "in": "query", "style": "deepObject", "explode": True, "schema": values}
        else:
            longest: dict[str, Any] = {"maxLength": MAX_TEXT} if field.type == FieldDescriptor.TYPE_STRING else {}
            needed: dict[str, Any] = {}
            if field.name in _NEEDED.get(question.name, ()):
                needed = {"required": True}
                longest["minLength"] = 1
            yield {**parameter, **needed, "in": "query", "schema": {**_SCALARS[field.type], **longest}}


def _reference(message: Descriptor, schemas: dict[str, Any]) -> dict[str, Any]:
    """Return a reference to the schema of a message; make it, if it is not there yet."""
    if message.full_name == "google.protobuf.Struct":
        return {"type": "object"}
    if message.name not in schemas:
        made: dict[str, Any] = {"type": "object", "description": comment_on(message.name)}
        schemas[message.name] = made  # before its fields, one of which may be such a message
        made["required"] = [field.name for field in message.fields]
        made["properties"] = {
            field.name: {**_schema(field, schemas), "description": comment_on(message.name, field.name)}
            for field in message.fields
        }
    return {"$ref": f"#/components/schemas/{message.name}"}


def _schema(field: FieldDescriptor, schemas: dict[str, Any]) -> dict[str, Any]:
    """Return what `ladder.questions.document.document` makes of a field."""
    if field.message_type is not None and is_map(field):
        return {"type": "object", "additionalProperties": _one(field.message_type.fields_by_name["value"], schemas)}
    one = _one(field, schemas)
    if field.is_repeated:
        return {"type": "array", "items": one}
    return {"anyOf": [one, {"type": "null"}]} if field.has_presence else one


def _one(field: FieldDescriptor, schemas: dict[str, Any]) -> dict[str, Any]:
    return _SCALARS[field.type] if field.message_type is None else _reference(field.message_type, schemas)


def is_map(field: FieldDescriptor) -> bool:
    """Tell whether a field holds values by key."""
    return field.message_type is not None and bool(field.message_type.GetOptions().map_entry)


def _error() -> dict[str, Any]:
    said = {
        "type": "object",
        "required": ["code", "message"],
        "properties": {
            "code": {"type": "string", "enum": list(ERRORS.values()), "description": "What kind of refusal it is."},
            "message": {"type": "string", "description": "What was wrong and what to do, for people."},
        },
    }
    return {"type": "object", "required": ["error"], "properties": {"error": said}}


@cache
def _comments() -> dict[tuple[str, ...], str]:
    """Return all comments of `ladder.proto`, without line breaks."""
    data = resources.files("dogana.v1").joinpath("services.binpb").read_bytes()
    [file] = [file for file in FileDescriptorSet.FromString(data).file if file.name == pb.DESCRIPTOR.name]
    said = {tuple(one.path): " ".join(one.leading_comments.split()) for one in file.source_code_info.location}
    return {names: said.get(path, "") for names, path in _places(file)}


def _places(file: FileDescriptorProto) -> Iterator[tuple[tuple[str, ...], tuple[int, ...]]]:
    """Yield each thing that has a comment, and where it stands, as `SourceCodeInfo.Location.path` says it."""
    messages, services = file.MESSAGE_TYPE_FIELD_NUMBER, file.SERVICE_FIELD_NUMBER
    for number, message in enumerate(file.message_type):
        yield (message.name,), (messages, number)
        for place, field in enumerate(message.field):
            yield (message.name, field.name), (messages, number, DescriptorProto.FIELD_FIELD_NUMBER, place)
    for number, service in enumerate(file.service):
        for place, call in enumerate(service.method):
            yield (call.name,), (services, number, service.METHOD_FIELD_NUMBER, place)
