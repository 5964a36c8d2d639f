"""The description of the API in OpenAPI 3.1. It is derived from the types, docstrings and paths of the questions."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import msgspec

from ladder.questions.changes import SubmitAnswer, SubmitRequest
from ladder.questions.question import MAX_TEXT, File, Question, Request
from referee.version import installed_version

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
"""The names of refusals by HTTP status."""

SUBMISSIONS = "/submissions"
"""The path for submissions."""
_JSON = "application/json"
_FILE = "application/octet-stream"
_IN_PATH = re.compile(r"{(\w+)}")
_SCHEMAS = "#/components/schemas/"


def names_in(path: str) -> list[str]:
    """Return the names of the request's fields that appear in a path."""
    return _IN_PATH.findall(path)


def openapi(questions: Mapping[str, Question], servers: str) -> dict[str, Any]:
    """Return the description of the API; if the questions include changes, it also describes the submission of bots.

    Args:
        questions: every question by its path.
        servers: the address of the API: a URL, or a path relative to the description.
    """
    types = {one.request for one in questions.values()} | {one.answer for one in questions.values() if not one.is_file}
    takes_bots = any(one.is_change for one in questions.values())
    if takes_bots:
        types |= {SubmitRequest, SubmitAnswer}
    _, schemas = msgspec.json.schema_components(
        # The order of a set of types differs from process to process.
        sorted(types, key=lambda one: one.__name__),
        ref_template=f"{_SCHEMAS}{{name}}",
    )
    for described in _all_types(types):
        _describe_fields(described, schemas[described.__name__])
    # Requests are not schemas of the description, because their fields become parameters.
    requests = {one.__name__: schemas.pop(one.__name__) for one in types if issubclass(one, Request)}
    paths = {path: _operation(one, requests[one.request.__name__]) for path, one in questions.items()}
    if takes_bots:
        paths[SUBMISSIONS] = _submission(requests[SubmitRequest.__name__])
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Dogana ladder",
            "version": installed_version(),
            "description": "The data of a ladder, as JSON, and the changes that authors can make.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": servers}],
        "security": [{}, {"token": []}],  # {}: most questions need no token
        "paths": paths,
        "components": {
            "schemas": {"Error": _error(), **schemas},
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "The token of an author."},
            },
        },
    }


def _all_types(types: set[type[Any]]) -> Iterator[type[Any]]:
    """Yield the types of requests and answers, and the types of their fields."""
    seen, left = set(), [msgspec.inspect.type_info(one) for one in types]
    while left:
        found = left.pop()
        if isinstance(found, msgspec.inspect.StructType | msgspec.inspect.DataclassType) and found.cls not in seen:
            seen.add(found.cls)
            left += [field.type for field in found.fields]
            yield found.cls
        left += getattr(found, "types", ())
        left += [getattr(found, name) for name in ("item_type", "value_type") if hasattr(found, name)]


def _describe_fields(described: type[Any], schema: dict[str, Any]) -> None:
    """Give each property the docstring of its field. An answer always contains all its fields, so they are required."""
    docstrings = field_docstrings(described)
    for name, field in schema["properties"].items():
        field["description"] = docstrings.get(name, "")
        field.pop("default", None)
    if not issubclass(described, Request):
        schema["required"] = list(schema["properties"])


def field_docstrings(described: type[Any]) -> dict[str, str]:
    """Return the docstring of each field of a class, as one line."""
    # Python discards the docstrings of fields, so they are read from the source.
    [body] = ast.parse(textwrap.dedent(inspect.getsource(described))).body
    statements = body.body if isinstance(body, ast.ClassDef) else []
    return {
        field.target.id: " ".join(said.value.value.split())
        for field, said in pairwise(statements)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(said, ast.Expr)
        and isinstance(said.value, ast.Constant)
        and isinstance(said.value.value, str)
    }


def _operation(visit: Question, request: dict[str, Any]) -> dict[str, Any]:
    if visit.is_change:
        body = {"required": True, "content": {_JSON: {"schema": request}}}
        return {"post": {**_described(visit.name, visit.summary, visit.answer), "requestBody": body}}
    said = _described(visit.name, visit.summary, visit.answer)
    said["responses"]["304"] = {"description": "The answer is still the one that `If-None-Match` names."}
    return {"get": {**said, "parameters": list(_parameters(visit.path, request))}}


def _submission(request: dict[str, Any]) -> dict[str, Any]:
    said = _described("submit", "Submit a bot: the body of the request is its file.", SubmitAnswer)
    body = {"required": True, "content": {_FILE: {}}}
    return {"post": {**said, "parameters": list(_parameters(SUBMISSIONS, request)), "requestBody": body}}


def _described(name: str, summary: str, answer: type[Any]) -> dict[str, Any]:
    content: dict[str, Any] = {_FILE: {}}
    if answer is not File:
        content = {_JSON: {"schema": {"$ref": f"{_SCHEMAS}{answer.__name__}"}}}
    return {
        "operationId": name,
        "summary": summary,
        "responses": {
            "200": {"description": "The file." if answer is File else "The answer.", "content": content},
            "default": {
                "description": "It was refused.",
                "content": {_JSON: {"schema": {"$ref": f"{_SCHEMAS}Error"}}},
            },
        },
    }


def _parameters(path: str, request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    in_path = names_in(path)
    for name, schema in request["properties"].items():
        parameter = {"name": name, "description": schema.pop("description"), "in": "query", "schema": schema}
        if name in request["required"]:
            parameter["required"] = True
        if name in in_path:
            schema["pattern"] = "^[^/]+$"  # a slash ends a part of the path
            parameter["in"] = "path"
        elif schema.get("type") == "object":
            # Brackets delimit the key, as in options[NAME].
            schema["propertyNames"] = {"minLength": 1, "maxLength": MAX_TEXT, "pattern": r"^[^\[\]]+$"}
            parameter |= {"style": "deepObject", "explode": True}
        elif "anyOf" in schema:  # a parameter that may be left out needs no null
            parameter["schema"] = schema["anyOf"][0]
        yield parameter


def _error() -> dict[str, Any]:
    said = {
        "type": "object",
        "required": ["code", "message"],
        "properties": {
            "code": {"type": "string", "enum": list(ERRORS.values()), "description": "The kind of refusal."},
            "message": {"type": "string", "description": "The error and its remedy, for people."},
            "command": {"type": "string", "description": "The `dogana ladder` command that lists all such names."},
        },
    }
    return {"type": "object", "required": ["error"], "properties": {"error": said}}
