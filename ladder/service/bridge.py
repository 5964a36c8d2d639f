"""Requests and answers as the messages of `ladder.proto`, for those that still travel by gRPC."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from google.protobuf.json_format import ParseDict
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import Struct, Value

from dogana.v1 import ladder_pb2 as pb
from ladder.intake.upload import Submission
from ladder.questions.question import Answer, Request, document

Sent = TypeVar("Sent", bound=Message)


def message_of(value: object, message: Sent) -> Sent:
    """Fill a message with the fields of a request or an answer."""
    return ParseDict(_without_nulls(document(value)), message, ignore_unknown_fields=True)


def request_of(message: Message, request: type[Request[Answer]]) -> Request[Answer]:
    """Return the request that a message has."""
    return msgspec.convert(_fields(message), request)


def answer_of(message: Message, answer: type[Answer]) -> Answer:
    """Return the answer that a message has."""
    return msgspec.convert(_fields(message), answer)


def submission_of(message: pb.Submission) -> Submission:
    """Return what a message announces of a bot."""
    return Submission(message.bot, message.file, message.size, message.sha256, message.executable, message.at_tables)


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(one) for name, one in value.items() if one is not None}
    return [_without_nulls(one) for one in value] if isinstance(value, list | tuple) else value


def _fields(message: Message) -> dict[str, Any]:
    return {field.name: _field(message, field) for field in message.DESCRIPTOR.fields}


def _field(message: Message, field: Any) -> Any:
    value = getattr(message, field.name)
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        return dict(sorted(value.items()))
    if field.is_repeated:
        return [_value(one) for one in value]
    if field.has_presence and not message.HasField(field.name):
        return None
    return _value(value)


def _value(value: Any) -> Any:
    if isinstance(value, Struct):
        return {name: _plain(one) for name, one in sorted(value.fields.items())}
    return _fields(value) if isinstance(value, Message) else value


def _plain(value: Value) -> Any:
    """Return what a `Value` stands for; all its numbers are floats, so whole ones are taken for what they were."""
    kind = value.WhichOneof("kind")
    if kind == "number_value":
        return int(value.number_value) if value.number_value.is_integer() else value.number_value
    return None if kind == "null_value" else getattr(value, str(kind))
