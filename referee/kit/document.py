"""Reads a JSON or TOML document that a person wrote, and notes everything that is wrong with it.

A reader asks for what it needs (`document.integer("turn", 1, 11)`) and always gets a value of the right type;
where the document has nothing of the kind, the problem is noted with its place (`ports.rio.spaces`) and a
stand-in is returned. So one reading finds all problems, and no input can make it raise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

T = TypeVar("T")


class _Required:
    """Marks that there is no default."""


REQUIRED = _Required()


class Document:
    """A table (JSON object) of a document.

    Attributes:
        problems: what is wrong so far, a line each, shared by all tables of a document.
    """

    def __init__(self, data: object, where: str, problems: list[str] | None = None) -> None:
        """Wraps a table; `where` is how messages call its place."""
        self.problems: list[str] = [] if problems is None else problems
        self._where = where
        self._seen: set[str] = set()
        self._tables: list[Document] = []
        self._data: Mapping[str, Any] = {}
        if isinstance(data, Mapping) and all(isinstance(key, str) for key in data):
            self._data = data
        else:
            self.problems.append(f"{where} must be a table, not {_shown(data)}")

    def note(self, key: str, problem: str) -> None:
        """Notes a problem of the entry `key` (of the table itself if it is empty)."""
        self.problems.append(f"{self._place(key)} {problem}")

    def has(self, key: str) -> bool:
        """Whether there is such an entry."""
        return key in self._data

    def integer(self, key: str, low: int, high: int, default: int | _Required = REQUIRED) -> int:
        """An integer from `low` to `high`."""
        value = self._get(key, default)
        if type(value) is int and low <= value <= high:
            return value
        if not isinstance(value, _Required):
            self.note(key, f"must be an integer from {low} to {high}, not {_shown(value)}")
        return low if isinstance(default, _Required) else default

    def boolean(self, key: str, default: bool | _Required = REQUIRED) -> bool:
        """`true` or `false`."""
        value = self._get(key, default)
        if isinstance(value, bool):
            return value
        if not isinstance(value, _Required):
            self.note(key, f"must be true or false, not {_shown(value)}")
        return False if isinstance(default, _Required) else default

    def text(self, key: str, default: str | _Required = REQUIRED) -> str:
        """A string."""
        value = self._get(key, default)
        if isinstance(value, str):
            return value
        if not isinstance(value, _Required):
            self.note(key, f"must be a text, not {_shown(value)}")
        return "" if isinstance(default, _Required) else default

    def choice(self, key: str, choices: Mapping[str, T], default: T | _Required = REQUIRED) -> T:
        """One of some words; returns what the word stands for."""
        if not isinstance(default, _Required) and self._is_missing(key):
            return default
        value = self._get(key, REQUIRED)
        if isinstance(value, str) and value in choices:
            return choices[value]
        if not isinstance(value, _Required):
            self.note(key, f"must be one of {', '.join(choices)}, not {_shown(value)}")
        return next(iter(choices.values())) if isinstance(default, _Required) else default

    def choices(self, key: str, choices: Mapping[str, T], default: Sequence[T] | _Required = REQUIRED) -> list[T]:
        """A list of some words, each at most once; returns what the words stand for."""
        chosen: list[T] = []
        if not isinstance(default, _Required) and self._is_missing(key):
            return list(default)
        for place, value in self._list(key):
            if not isinstance(value, str) or value not in choices:
                self.note(place, f"must be one of {', '.join(choices)}, not {_shown(value)}")
            elif choices[value] in chosen:
                self.note(place, f"names {value} a second time")
            else:
                chosen.append(choices[value])
        return chosen

    def integers(
        self,
        key: str,
        low: int,
        high: int,
        length: int | None = None,
        default: Sequence[int] | _Required = REQUIRED,
    ) -> list[int]:
        """A list of integers from `low` to `high`, of a given length if there is one."""
        if not isinstance(default, _Required) and self._is_missing(key):
            return list(default)
        values = []
        for place, value in self._list(key):
            if type(value) is int and low <= value <= high:
                values.append(value)
            else:
                self.note(place, f"must be an integer from {low} to {high}, not {_shown(value)}")
                values.append(low)
        if length is not None and len(values) != length:
            if self.has(key) and isinstance(self._data[key], list):
                self.note(key, f"must have {length} entries, not {len(values)}")
            values = (values + [low] * length)[:length]
        return values

    def texts(self, key: str) -> list[str]:
        """A list of strings."""
        values = []
        for place, value in self._list(key):
            if isinstance(value, str):
                values.append(value)
            else:
                self.note(place, f"must be a text, not {_shown(value)}")
        return values

    def counts(self, key: str, names: Sequence[str], high: int, default: Sequence[int] | None = None) -> list[int]:
        """How many there are of each name, written as a table with the names that are not 0.

        With a default, the entry may be missing.
        """
        if default is not None and self._is_missing(key):
            return list(default)
        table = self.table(key)
        return [table.integer(name, 0, high, 0) for name in names]

    def table(self, key: str) -> Document:
        """A table inside this one; an empty one if the entry is missing or something else."""
        value = self._get(key, REQUIRED)
        if isinstance(value, _Required):
            return Document({}, self._place(key), [])
        inner = Document(value, self._place(key), self.problems)
        self._tables.append(inner)
        return inner

    def tables(self, key: str) -> list[Document]:
        """A list of tables."""
        inner = [Document(value, self._place(place), self.problems) for place, value in self._list(key)]
        self._tables += inner
        return inner

    def raw(self, key: str, default: object) -> object:
        """An entry as it is, whatever it is."""
        return self._get(key, default)

    def keys(self) -> Iterable[str]:
        """The names of all entries."""
        return self._data.keys()

    def finish(self) -> None:
        """Notes every entry that nobody asked for, here and in all tables inside."""
        for key in self._data:
            if key not in self._seen:
                known = ", ".join(sorted(self._seen))
                self.note(_shortened(key), f"is not known here; known are: {known}")
        for inner in self._tables:
            inner.finish()

    def _is_missing(self, key: str) -> bool:
        self._seen.add(key)
        return key not in self._data

    def _get(self, key: str, default: object) -> Any:
        self._seen.add(key)
        if key in self._data:
            return self._data[key]
        if isinstance(default, _Required):
            self.note(key, "is missing")
        return default

    def _list(self, key: str) -> list[tuple[str, Any]]:
        value = self._get(key, REQUIRED)
        if isinstance(value, list):
            return [(f"{key}[{index}]", entry) for index, entry in enumerate(value)]
        if not isinstance(value, _Required):
            self.note(key, f"must be a list, not {_shown(value)}")
        return []

    def _place(self, key: str) -> str:
        return f"{self._where}.{key}" if key else self._where


def _shown(value: object) -> str:
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list):
        return "a list"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    try:
        return _shortened(repr(value))
    except ValueError:  # Python does not write out integers of thousands of digits
        return "a huge number"


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
