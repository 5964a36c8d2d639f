"""The API for programs, described for people, with the same content as `/api/v1/openapi.json`."""

from __future__ import annotations

import json
from typing import Any

from ladder.http.api.api import PREFIX, changes_by_path, questions_by_path
from ladder.http.api.openapi import ERRORS, openapi
from ladder.http.requests.visit import Page, Visit
from ladder.operation.limits import FILE_REQUESTS, REQUESTS
from referee.registry import games


def api(visit: Visit) -> Page:
    """Return the page with all questions, their parameters, and the fields of their answers."""
    questions = questions_by_path() | (changes_by_path() if visit.site.takes_bots else {})
    # The descriptions are Markdown, and this page shows them as they are.
    description = json.loads(json.dumps(openapi(questions, PREFIX)).replace("`", ""))
    schemas = description["components"]["schemas"]
    calls = []
    for path, operations in description["paths"].items():
        [(method, operation)] = operations.items()
        content = operation["responses"]["200"]["content"]
        schema = content.get("application/json", {}).get("schema", {})
        calls.append(
            {
                "parameters": _fields(operation),
                **operation,
                "method": method.upper(),
                "path": path,
                "answer": schema.get("$ref", "").rpartition("/")[2],
            }
        )
    messages = {
        name: {
            "description": schema["description"],
            "fields": [(field, one["description"], *_kind(one)) for field, one in schema["properties"].items()],
        }
        for name, schema in sorted(schemas.items())
        if name != "Error"
    }
    return Page(
        "api.html",
        {
            "calls": calls,
            "messages": messages,
            "game": next(iter(games())),
            "prefix": PREFIX.strip("/"),
            "errors": ERRORS,
            "requests": REQUESTS,
            "file_requests": FILE_REQUESTS,
        },
    )


def _fields(operation: dict[str, Any]) -> list[dict[str, str]]:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    properties = content.get("schema", {}).get("properties", {})
    return [{"name": name, "description": one["description"], "in": "body"} for name, one in properties.items()]


def _kind(schema: dict[str, object]) -> tuple[str, str]:
    """Return the type of a field in words, and its message type, if it has one."""
    one = schema
    choices = schema.get("anyOf")
    if isinstance(choices, list):
        one = choices[0]
    items = one.get("items")
    if isinstance(items, dict):
        kind, message = _kind(items)
        return f"list of {kind}", message
    message = str(one.get("$ref", "")).rpartition("/")[2]
    kind = message or str(one["type"])
    return (f"{kind} or null" if choices else kind), message
