"""Read a JSON or TOML document written by a person, and note all its problems.

A reader reads each value that it needs (`document.integer("turn", 1, 11)`) and always gets one of the right type. If
the document has no such value, the reader notes the problem with its path (`ports.rio.spaces`) and returns a stand-in.
So one reading finds all problems, and no input can make it raise.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, NoReturn, TypeVar

T = TypeVar("T")
M = TypeVar("M", bound=Enum)

MAX_UNKNOWN = 20
"""The maximum number of unknown entries in one table that are reported by name; the rest are only counted."""
MAX_DEPTH = 100
"""The maximum number of nested objects and lists in JSON.

Writing a document again and describing it take more of the stack than reading it.
"""
MAX_KEY_PARTS = 8
"""The maximum number of parts of a dotted key, such as `ports.rio.spaces`."""
_TOML_TEXTS = re.compile(
    "|".join(
        (
            # Three quotes come before one, whose pattern would read the first two of them as an empty string.
            r'"""(?:\\.|[^\\])*?"{3,5}',  # the last one or two quotes before the closing three are part of the string
            r"'{3}.*?'{3,5}",
            r'"(?:\\.|[^"\\\n])*"',
            r"'[^'\n]*'",
            r"#[^\n]*",
            r"[\"'].*",
        )
    ),
    re.DOTALL,
)
"""The strings and comments of TOML; an unclosed string extends to the end."""
# Possessive quantifiers keep the time for the search proportional to the length of the text.
_LONG_KEY = re.compile(rf"(?<![\w-])(?:[\w-]++[ \t]*+\.[ \t]*+){{{MAX_KEY_PARTS}}}")


def by_name(members: Iterable[M]) -> dict[str, M]:
    """Return enum members by the lower-case names that they have in documents."""
    return {member.name.lower(): member for member in members}


def names_of(members: Iterable[Enum]) -> list[str]:
    """Return the names that enum members have in documents."""
    return [member.name.lower() for member in members]


def counted(names: Iterable[str], counts: Iterable[int]) -> dict[str, int]:
    """Return the counts other than 0 by name, in the form that `Document.counts` reads."""
    return {name: count for name, count in zip(names, counts, strict=True) if count}


def parse_json(data: bytes) -> object:
    """Parse JSON as defined by RFC 8259, in UTF-8, and without NaN, infinity or duplicate names in an object.

    Raises:
        ValueError: if the data is anything else, or is nested too deeply.
    """
    try:
        found = json.loads(data.decode("utf-8"), object_pairs_hook=_object, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    # The check is slow, and most documents have too few brackets to need it.
    if data.count(b"[") + data.count(b"{") > MAX_DEPTH:
        _check_depth(found)
    return found


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML 1.0.

    Raises:
        ValueError: if the text is anything else, is nested too deeply, or has a key of more than `MAX_KEY_PARTS` parts.
            The time that `tomllib` needs grows with the square of the number of parts, up to hours for a few megabytes.
    """
    # A string may be a part of a key, so a bare part takes its place.
    if found := _LONG_KEY.search(_TOML_TEXTS.sub(lambda found: "" if found[0].startswith("#") else "_", text)):
        raise ValueError(f"the key {found[0][:40]}... has more than {MAX_KEY_PARTS} parts")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def _check_depth(found: object) -> None:
    level = [found]
    for _ in range(MAX_DEPTH):
        within = [one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list)]
        level = [entry for entries in within for entry in entries]
    if any(isinstance(one, dict | list) for one in level):
        raise ValueError("it is nested too deeply")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        [(twice, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"the name {_quoted(twice)} occurs twice in one object")
    return table


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


class _Required:
    """The type of the marker for an entry without a default."""


REQUIRED = _Required()


class Document:
    """A table (JSON object) in a document.

    Attributes:
        problems: the problems found so far, one string each; all tables of a document share this list.
    """

    def __init__(self, data: object, where: str, problems: list[str] | None = None) -> None:
        """Wrap a table; `where` is its path in messages."""
        self.problems: list[str] = [] if problems is None else problems
        self._where = where
        self._seen: set[str] = set()
        self._tables: list[Document] = []
        self._data: Mapping[str, Any] = {}
        if isinstance(data, Mapping) and all(isinstance(key, str) for key in data):
            self._data = data
        else:
            self.problems.append(f"{where} must be a table, not {_quoted(data)}")

    def note(self, key: str, problem: str) -> None:
        """Note a problem with the entry `key`, or with the table itself if `key` is empty."""
        self.problems.append(f"{self._place(key)} {problem}")

    def has(self, key: str) -> bool:
        """Return whether the table has this entry; from then on, `finish` does not report the entry as unknown."""
        self._seen.add(key)
        return key in self._data

    def integer(self, key: str, low: int, high: int, default: int | _Required = REQUIRED) -> int:
        """Read an integer from `low` to `high`."""
        if not isinstance(default, _Required) and not self.has(key):
            return default
        value = self._get(key, default)
        if type(value) is int and low <= value <= high:  # in JSON and TOML, `true` is not an integer
            return value
        return self._instead(key, value, _integers(low, high), low, default)

    def boolean(self, key: str, default: bool | _Required = REQUIRED) -> bool:
        """Read `true` or `false`."""
        value = self._get(key, default)
        return value if isinstance(value, bool) else self._instead(key, value, "true or false", False, default)

    def text(self, key: str, default: str | _Required = REQUIRED) -> str:
        """Read a string."""
        value = self._get(key, default)
        return value if isinstance(value, str) else self._instead(key, value, "a string", "", default)

    def choice(self, key: str, choices: Mapping[str, T], default: T | _Required = REQUIRED) -> T:
        """Read one of the words in `choices`; return its value."""
        if not isinstance(default, _Required) and not self.has(key):
            return default
        value = self._get(key, REQUIRED)
        if isinstance(value, str) and value in choices:
            return choices[value]
        return self._instead(key, value, _one_of(choices), next(iter(choices.values())), default)

    def choices(self, key: str, choices: Mapping[str, T], default: Sequence[T] | _Required = REQUIRED) -> list[T]:
        """Read a list of words in `choices`, each at most once; return their values."""
        if not isinstance(default, _Required) and not self.has(key):
            return list(default)
        chosen: list[T] = []
        for place, value in self._list(key):
            if not isinstance(value, str) or value not in choices:
                self._note_wrong(place, value, _one_of(choices))
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
        """Read a list of integers from `low` to `high`, with exactly `length` entries unless `length` is None."""
        if not isinstance(default, _Required) and not self.has(key):
            return list(default)
        values = []
        for place, value in self._list(key):
            if type(value) is not int or not low <= value <= high:
                self._note_wrong(place, value, _integers(low, high))
                value = low
            values.append(value)
        if length is not None and len(values) != length:
            if isinstance(self._data.get(key), list):  # otherwise `_list` has noted it
                self.note(key, f"must have {length} entries, not {len(values)}")
            # A reader may index the list without checking its length.
            values = (values + [low] * length)[:length]
        return values

    def texts(self, key: str, default: Sequence[str] | _Required = REQUIRED) -> list[str]:
        """Read a list of strings."""
        if not isinstance(default, _Required) and not self.has(key):
            return list(default)
        found = self._list(key)
        for place, value in found:
            if not isinstance(value, str):
                self._note_wrong(place, value, "a string")
        return [value for _, value in found if isinstance(value, str)]

    def counts(self, key: str, names: Iterable[str], high: int, default: Sequence[int] | None = None) -> list[int]:
        """Read the count of each name, from a table that lists the counts other than 0.

        Return the counts in the order of `names`. With a default, the entry may be missing.
        """
        if default is not None and not self.has(key):
            return list(default)
        return self.table(key)._counts(names, high)

    def counts_of_each(
        self,
        key: str,
        names: Iterable[str],
        high: int,
        owners: int,
        owner: str = "seat",
        default: Sequence[Sequence[int]] | None = None,
    ) -> list[list[int]]:
        """Read a list of tables of counts (see `counts`), one for each owner, such as a seat."""
        if default is not None and not self.has(key):
            return [list(row) for row in default]
        return [table._counts(names, high) for table in self.tables_of_each(key, owners, owner)]

    def _counts(self, names: Iterable[str], high: int) -> list[int]:
        return [self.integer(name, 0, high, 0) for name in names]

    def table(self, key: str) -> Document:
        """Read a table inside this one; return an empty one if the entry is missing or is not a table."""
        value = self._get(key, REQUIRED)
        if isinstance(value, _Required):
            # The stand-in's own list of problems is never read, as one line already says that the table is missing.
            return Document({}, self._place(key), [])
        inner = Document(value, self._place(key), self.problems)
        self._tables.append(inner)
        return inner

    def tables(self, key: str) -> list[Document]:
        """Read a list of tables."""
        inner = [Document(value, self._place(place), self.problems) for place, value in self._list(key)]
        self._tables += inner
        return inner

    def tables_of_each(self, key: str, owners: int, owner: str = "seat") -> list[Document]:
        """Read a list of tables, one for each owner, such as a seat. Always return that number of tables."""
        found = self.tables(key)
        if len(found) != owners:
            self.note(key, f"must have {owners} entries, one for each {owner}, not {len(found)}")
        # The problems of the stand-ins are dropped, because the wrong number of tables is noted once.
        return (found + [Document({}, key, []) for _ in range(owners)])[:owners]

    def board_table(self, key: str) -> Document:
        """Read a table of a board file; its `provenance` names the source of its numbers."""
        table = self.table(key)
        table.text("provenance")
        return table

    def drawing_place(self) -> tuple[int, int]:
        """Read `x` and `y`: where the subject of this table of a board file lies in a drawing, in percent."""
        return self.integer("x", 0, 100), self.integer("y", 0, 100)

    def raw(self, key: str, default: object) -> object:
        """Return an entry of any type, unchecked."""
        return self._get(key, default)

    def keys(self) -> Iterable[str]:
        """Return the names of all entries."""
        return self._data.keys()

    def finish(self) -> None:
        """Note the entries that no reader has read, here and in all inner tables."""
        unknown = [key for key in self._data if key not in self._seen]
        known = ", ".join(sorted(self._seen))
        for key in unknown[:MAX_UNKNOWN]:
            self.note(_shortened(key), f"is not known here; the known entries are: {known}")
        if len(unknown) > MAX_UNKNOWN:
            self.note("", f"has {len(unknown) - MAX_UNKNOWN} more entries that are not known here")
        for inner in self._tables:
            inner.finish()

    def _get(self, key: str, default: object) -> Any:
        self._seen.add(key)
        if key in self._data:
            return self._data[key]
        if isinstance(default, _Required):
            self.note(key, "is missing")
        return default

    def _instead(self, key: str, value: object, kind: str, stand_in: T, default: T | _Required) -> T:
        """Note an entry that is of the wrong kind, if any; return the default, or the stand-in if there is none."""
        if key in self._data:
            self._note_wrong(key, value, kind)
        return stand_in if isinstance(default, _Required) else default

    def _note_wrong(self, place: str, value: object, kind: str) -> None:
        self.note(place, f"must be {kind}, not {_quoted(value)}")

    def _list(self, key: str) -> list[tuple[str, Any]]:
        value = self._get(key, REQUIRED)
        if isinstance(value, list):
            return [(f"{key}[{index}]", entry) for index, entry in enumerate(value)]
        if not isinstance(value, _Required):
            self.note(key, f"must be a list, not {_quoted(value)}")
        return []

    def _place(self, key: str) -> str:
        return f"{self._where}.{key}" if key else self._where


def _integers(low: int, high: int) -> str:
    return f"an integer from {low} to {high}"


def _one_of(words: Iterable[str]) -> str:
    return f"one of {', '.join(words)}"


def _quoted(value: object) -> str:
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
    except ValueError:  # Python does not write out integers with thousands of digits
        return "a huge number"


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
