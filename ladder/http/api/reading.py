"""Read questions and changes from the path and the query of an HTTP request, or from its JSON."""

from __future__ import annotations

from typing import Any, get_origin, get_type_hints

import msgspec
from starlette.requests import Request

from ladder.http.requests.visit import BadQuestion
from ladder.questions import question as questions
from ladder.questions.question import MAX_TEXT


def read_request(request: Request, kind: type[questions.Request[Any]]) -> questions.Request[Any]:
    """Read a request from the path and the query of an HTTP request.

    Raises:
        BadQuestion: if a parameter is unknown, repeated, missing or invalid.
    """
    given: dict[str, Any] = {name: str(value) for name, value in request.path_params.items()}
    fields = {one.name: one for one in msgspec.structs.fields(kind) if one.name not in given}
    # As a mapping, the query would hide that a parameter is given twice.
    for name, value in request.query_params.multi_items():
        beginning, bracket, key = name.partition("[")
        field = fields.get(beginning)
        is_key = key.endswith("]") and len(key) > 1
        if field is None or (not is_key if _is_map(field) else bracket):
            known = ", ".join(f"{one.name}[KEY]" if _is_map(one) else one.name for one in fields.values())
            raise BadQuestion(f"there is no parameter {name!r} here; there {'are: ' + known if known else 'is none'}")
        place, name_in_place = (given.setdefault(beginning, {}), key[:-1]) if bracket else (given, name)
        if name_in_place in place:
            raise BadQuestion(f"{name!r} is given twice")
        place[name_in_place] = value
    for name in kind.__struct_fields__:
        if name in given:
            given[name] = _value(name, given[name], kind)
        elif fields[name].required:
            raise BadQuestion(f"{name} must be given")
    return kind(**given)


def _is_map(field: msgspec.structs.FieldInfo) -> bool:
    return get_origin(field.type) is dict


def _value(name: str, given: object, request: type[questions.Request[Any]]) -> object:
    """Return the value of a field.

    Raises:
        BadQuestion: if the field cannot have that value.
    """
    field = get_type_hints(request, include_extras=True)[name]
    try:
        return msgspec.convert(given, field, strict=False)  # a query contains only texts
    except msgspec.ValidationError:
        raise BadQuestion(f"{name[:MAX_TEXT]} {_bounds(msgspec.inspect.type_info(field), given)}") from None


def _bounds(kind: object, given: object) -> str:
    """Describe the allowed values of a type, for the error about an invalid value."""
    if isinstance(kind, msgspec.inspect.BoolType):
        return "is true or false"
    if given == "":
        return "must not be empty"
    if isinstance(kind, msgspec.inspect.StrType | msgspec.inspect.DictType):
        return f"has more than {MAX_TEXT} characters"
    return f"is a whole number from 0 to {2**32 - 1}"


def read_change(body: bytes, kind: type[questions.Request[Any]]) -> questions.Request[Any]:
    """Read a change from the JSON of an HTTP request.

    Raises:
        BadQuestion: if the body is not JSON, or not a valid change.
    """
    try:
        read: questions.Request[Any] = msgspec.json.decode(body, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:  # the latter for bytes that are not UTF-8
        raise BadQuestion(f"the body is not a valid {kind.__name__}: {error}") from None
    return read
