"""Messages as documents, for `--json` and for programs that ask by HTTP.

They have the same names, `null` for what is absent, and whole numbers as such.
"""

from __future__ import annotations

from typing import Any

from google.protobuf.message import Message
from google.protobuf.struct_pb2 import Struct, Value


def document(message: Message) -> dict[str, Any]:
    """Return a message as a document that JSON can hold."""
    return {field.name: _field(message, field) for field in message.DESCRIPTOR.fields}


def _field(message: Message, field: Any) -> Any:
    value = getattr(message, field.name)
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        return dict(sorted(value.items()))  # a message does not keep their order
    if field.is_repeated:
        return [_value(one) for one in value]
    if field.has_presence and not message.HasField(field.name):
        return None
    return _value(value)


def _value(value: Any) -> Any:
    if isinstance(value, Struct):
        return {name: plain(one) for name, one in sorted(value.fields.items())}
    return document(value) if isinstance(value, Message) else value


def plain(value: Value) -> Any:
    """Return what a `Value` stands for; all its numbers are floats, so whole ones are taken for what they were."""
    kind = value.WhichOneof("kind")
    if kind == "struct_value":
        return _value(value.struct_value)
    if kind == "list_value":
        return [plain(one) for one in value.list_value.values]
    if kind == "number_value":
        return int(value.number_value) if value.number_value.is_integer() else value.number_value
    return None if kind == "null_value" else getattr(value, str(kind))
