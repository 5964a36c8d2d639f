"""Rows of answers of which a test says some fields."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

Kind = TypeVar("Kind")
_EMPTY: dict[type, Any] = {
    msgspec.inspect.IntType: 0,
    msgspec.inspect.FloatType: 0.0,
    msgspec.inspect.StrType: "",
    msgspec.inspect.BoolType: False,
    msgspec.inspect.UnionType: None,
    msgspec.inspect.ListType: [],
    msgspec.inspect.DictType: {},
}


def filled(kind: type[Kind], **fields: Any) -> Kind:
    """Make a row; every other field is empty, zero or absent."""
    described: Any = msgspec.inspect.type_info(kind)
    empty = {field.name: _EMPTY[type(field.type)] for field in described.fields if field.required}
    return kind(**(empty | fields))
