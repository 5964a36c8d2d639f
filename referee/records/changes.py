"""Observations in words, and the differences between two observations, for every game."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from functools import cache
from typing import Any, get_type_hints

from referee.game import CountedBy, Observation


def describe(observation: Observation) -> list[str]:
    """Describe an observation, with a line for each field that is not empty."""
    lines = []
    for name, value in _entries(observation):
        if _is_list(value) and value and _is_part(value[0]):
            lines += [f"{name}.{key}: {_text(entry)}" for key, entry in _named(observation, name, value)]
        elif not _is_empty(value):
            lines.append(f"{name}: {_text(value, _mark(type(observation), name))}")
    return lines


def changes(before: Observation, after: Observation) -> list[str]:
    """Describe each change between two observations, such as `seats.1.safe 7 -> 5`."""
    return list(_changes("", before, after))


def _changes(path: str, before: Any, after: Any) -> Iterator[str]:
    for name, new in _entries(after):
        old = getattr(before, name)
        place = f"{path}{name}"
        if old == new:
            continue
        if _is_part(old) and _is_part(new):
            yield from _changes(f"{place}.", old, new)
        elif (
            # Entries are compared one by one only where the index has a meaning that stays the same.
            _is_list(old) and _is_list(new) and len(new) == len(old) and (_mark(type(after), name) or _is_part(new[0]))
        ):
            for (key, entry), old_entry in zip(_named(after, name, new), old, strict=True):
                if _is_part(entry):
                    yield from _changes(f"{place}.{key}.", old_entry, entry)
                elif entry != old_entry:
                    yield f"{place}.{key} {_text(old_entry)} -> {_text(entry)}"
        else:
            yield f"{place} {_text(old)} -> {_text(new)}"


def _is_part(value: Any) -> bool:
    """Return True for a value with fields of its own: a named tuple."""
    return hasattr(value, "_fields")


def _is_list(value: Any) -> bool:
    return isinstance(value, tuple) and not _is_part(value)


def _entries(value: Any) -> Iterator[tuple[str, Any]]:
    """Return the name and value of each field of an observation, or of a part of one, except the viewer."""
    return ((name, getattr(value, name)) for name in value._fields if name != "viewer")


def _named(owner: Any, name: str, value: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    """Yield each entry of a tuple with the name of its index."""
    mark = _mark(type(owner), name)
    for index, entry in enumerate(value):
        first = entry[0] if _is_part(entry) else None
        if mark is not None and mark.names is not None:
            yield list(mark.names)[index].name.lower(), entry
        elif mark is None and isinstance(first, enum.Enum):
            yield first.name.lower(), entry
        else:
            yield str(index), entry


def _mark(cls: type, name: str) -> CountedBy | None:
    return _marks(cls)[name]


@cache
def _marks(cls: type) -> dict[str, CountedBy | None]:
    found: dict[str, CountedBy | None] = {}
    for name, hint in get_type_hints(cls, include_extras=True).items():
        marks = [mark for mark in getattr(hint, "__metadata__", ()) if isinstance(mark, CountedBy)]
        found[name] = marks[0] if marks else None
    return found


def _is_empty(value: Any) -> bool:
    return value is None or value == "" or value == () or (_is_list(value) and not any(value))


def _text(value: Any, mark: CountedBy | None = None) -> str:
    if value is None:
        return "none"
    if isinstance(value, enum.Enum):
        return value.name.lower()
    if isinstance(value, bool):
        return str(value).lower()
    if _is_part(value):
        parts = [(name, entry, _mark(type(value), name)) for name, entry in _entries(value) if not _is_empty(entry)]
        return ", ".join(
            f"{name} ({_text(entry, mark)})" if mark else f"{name} {_text(entry)}" for name, entry, mark in parts
        )
    if isinstance(value, tuple):
        if mark is not None:
            names = [name.name.lower() for name in mark.names] if mark.names else list(map(str, range(len(value))))
            return ", ".join(f"{names[index]} {_text(entry)}" for index, entry in enumerate(value) if entry) or "none"
        return " ".join(map(_text, value)) or "none"
    return str(value)
