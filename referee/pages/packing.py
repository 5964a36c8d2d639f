"""A payload in as few bytes as a browser can unpack. Pure; `decode.js` is the other half of it.

What is written is JSON with a few long strings: *columns* of numbers, one character each, so that gzip meets what is alike side
by side. Numbers that are small and often the same are written short:

- a number of a table is written as 0 where it is the next one that was not used yet, else as itself and 1;
- a text is a tag, a *phrase* with holes, and for each hole the difference to the text before that has this phrase;
- a splice is a list of *edits*. An edit that dropped this token before is written as its place among those, the last one first.

docs/decisions/0019-replay-page.md has the measurements.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

from referee.pages.payload import Splice, apply, played, renumbered

_HOLE = "\x7f"
"""Stands for a number in a phrase; no text has it, since pictures and pages show what can be printed only."""
_NUMBER = re.compile(r"(?<![0-9])(?:0|[1-9][0-9]{0,3})(?![0-9])")
_TAG = re.compile(r"((?:<[^>]*>)?)(.*?)((?:</[a-z]+>)?)", re.DOTALL)
_FIRST, _SURROGATES, _PAST_THEM = 0x20, 0xD800, 0x800
_WRITTEN, _MEANT = bytes.maketrans(b"<>&", b",.:"), bytes.maketrans(b",.:", b"<>&")
"""Base85 has letters that HTML takes for markup; others are written for them."""

_PACKED = {"tokens", "texts", "public", "seats", "log", "logs", "clocks"}
"""What is written in another form than it has."""
_COLUMNS = ("counts", "keeps", "places", "drops", "inserts", "tokens")
"""Of splices: edits of a step and 1, or 0 for those of the step before; tokens kept before each; its place among those known, or
0; and of a new one how many tokens it drops, how many it inserts, and which."""

Columns = dict[str, Any]
Entry = list[int]
Clock = tuple[int, int, float, float]
"""Step, seat, milliseconds charged, and seconds left, of which a page shows tenths."""
Edit = tuple[tuple[int, ...], tuple[int, ...]]
"""Tokens that are dropped, and what is inserted in their place."""


def write_numbers(numbers: Iterable[int]) -> str:
    """Write numbers from 0 to 1,000,000 as a character each."""
    shifted = [number + _FIRST for number in numbers]
    return "".join([chr(code if code < _SURROGATES else code + _PAST_THEM) for code in shifted])


def read_numbers(column: str) -> list[int]:
    """Read what `write_numbers` has written."""
    return [code - _FIRST if code < _SURROGATES else code - _FIRST - _PAST_THEM for code in map(ord, column)]


class _Uses:
    """Writes and reads numbers of a table in which everything stands in the order of its first use."""

    def __init__(self, used: int = 0) -> None:
        self.used = used

    def write(self, number: int) -> int:
        if number == self.used:
            self.used += 1
            return 0
        return number + 1

    def read(self, written: int) -> int:
        if written:
            return written - 1
        self.used += 1
        return self.used - 1


# --- texts ----------------------------------------------------------------------------------------------


def _write_texts(texts: Sequence[str]) -> Columns:
    """Write texts as tags, phrases and the numbers in their holes, phrase by phrase."""
    tags: dict[str, int] = {}
    phrases: dict[str, int] = {}
    uses = _Uses(), _Uses()
    tag_of, phrase_of = [], []
    numbers: list[list[int]] = []
    last: dict[int, list[int]] = {}
    for text in texts:
        found = _TAG.fullmatch(text)
        assert found  # noqa: S101 it matches any text
        tag, words = f"{found[1]}{_HOLE}{found[3]}", found[2]
        phrase = phrases.setdefault(_NUMBER.sub(_HOLE, words), len(phrases))
        tag_of.append(uses[0].write(tags.setdefault(tag, len(tags))))
        phrase_of.append(uses[1].write(phrase))
        values = [int(number) for number in _NUMBER.findall(words)]
        if phrase == len(numbers):
            numbers.append([])
        for value, before in zip(values, last.get(phrase, [0] * len(values)), strict=True):
            numbers[phrase].append(2 * (value - before) if value >= before else 2 * (before - value) - 1)
        last[phrase] = values
    return {
        "tags": list(tags),
        "phrases": list(phrases),
        "numbers": [write_numbers(column) for column in numbers],
        "tag": write_numbers(tag_of),
        "phrase": write_numbers(phrase_of),
    }


def _read_texts(columns: Columns) -> list[str]:
    """Read what `_write_texts` has written."""
    uses = _Uses(), _Uses()
    numbers = [iter(read_numbers(column)) for column in columns["numbers"]]
    last: dict[int, list[int]] = {}
    texts = []
    for tag, phrase in zip(read_numbers(columns["tag"]), read_numbers(columns["phrase"]), strict=True):
        at = uses[1].read(phrase)
        words, *rest = columns["phrases"][at].split(_HOLE)
        values = [before + _signed(next(numbers[at])) for before in last.get(at, [0] * len(rest))]
        last[at] = values
        words += "".join(f"{value}{part}" for value, part in zip(values, rest, strict=True))
        texts.append(columns["tags"][uses[0].read(tag)].replace(_HOLE, words))
    return texts


def _signed(written: int) -> int:
    return -(written + 1) // 2 if written % 2 else written // 2


# --- splices --------------------------------------------------------------------------------------------


def _edits(before: Sequence[int], change: Splice) -> list[tuple[int, Edit]]:
    """Cut a splice into edits, each with how many tokens are kept before it.

    Where as many tokens are inserted as dropped, each takes the place of one. A pure insertion drops the token before it and
    inserts it again, since edits are told apart by the token at their place.
    """
    found: list[tuple[int, Edit]] = []
    edits: list[tuple[int, Edit]]
    at = end = place = 0
    while place < len(change):
        keep, drop, insert = change[place : place + 3]
        at += keep
        old, new = tuple(before[at : at + drop]), tuple(change[place + 3 : place + 3 + insert])
        if drop == insert:
            edits = [(at + n, ((a,), (b,))) for n, (a, b) in enumerate(zip(old, new, strict=True)) if a != b]
        elif not drop and keep:
            edits = [(at - 1, ((before[at - 1],), (before[at - 1], *new)))]
        else:
            edits = [(at, (old, new))]
        for begin, edit in edits:
            found.append((begin - end, edit))
            end = begin + len(edit[0])
        at, place = at + drop, place + 3 + insert
    return found


def _token_at(tokens: Sequence[int], at: int) -> int:
    return tokens[at] if at < len(tokens) else -1


def _write_splices(befores: Iterable[Sequence[int]], splices: Iterable[Splice], used: int) -> Columns:
    """Write splices as edits; those of a step that has the same as the one before are not written again.

    Args:
        befores: what each splice is a splice of.
        splices: the splices.
        used: how many tokens of the table are in use by what was written before.
    """
    uses = _Uses(used)
    known: dict[int, list[Edit]] = {}
    counts, keeps, places, drops, inserts, tokens = [], [], [], [], [], []
    last: list[tuple[int, Edit]] | None = None
    for before, change in zip(befores, splices, strict=False):  # there may be one more, which the last one made
        edits = _edits(before, change)
        counts.append(0 if edits == last else len(edits) + 1)
        if edits == last:
            continue
        last = edits
        at = 0
        for keep, edit in edits:
            keeps.append(keep)
            same = known.setdefault(_token_at(before, at + keep), [])
            if edit in same:
                places.append(same.index(edit) + 1)
                same.remove(edit)
            else:
                places.append(0)
                drops.append(len(edit[0]))
                inserts.append(len(edit[1]))
                tokens += [uses.write(token) for token in edit[1]]
            same.insert(0, edit)
            at += keep + len(edit[0])
    columns = (counts, keeps, places, drops, inserts, tokens)
    return {"used": used} | dict(zip(_COLUMNS, map(write_numbers, columns), strict=True))


def _read_splices(columns: Columns, befores: Iterator[Sequence[int]] | None) -> list[Splice]:
    """Read what `_write_splices` has written.

    Args:
        columns: the splices.
        befores: what each splice is a splice of; None: what those before it made of nothing.
    """
    uses = _Uses(columns["used"])
    counts, keeps, places, drops, inserts, tokens = (iter(read_numbers(columns[name])) for name in _COLUMNS)
    known: dict[int, list[Edit]] = {}
    splices: list[Splice] = []
    before: Sequence[int] = []
    for count in counts:
        if befores is not None:
            before = next(befores)
        splices.append([] if count else splices[-1])
        at = 0
        for _ in range(count - 1):
            keep = next(keeps)
            same = known.setdefault(_token_at(before, at + keep), [])
            if place := next(places):
                edit = same.pop(place - 1)
            else:
                drop, insert = next(drops), next(inserts)
                edit = (
                    tuple(before[at + keep : at + keep + drop]),
                    tuple(uses.read(next(tokens)) for _ in range(insert)),
                )
            same.insert(0, edit)
            splices[-1] += [keep, len(edit[0]), len(edit[1]), *edit[1]]
            at += keep + len(edit[0])
        if befores is None:
            before = apply(before, splices[-1])
    return splices


# --- the log --------------------------------------------------------------------------------------------


def _write_log(log: Sequence[Entry | int], used: int) -> Columns:
    """Write entries of a log, of which 0 is one that says what spectators are told."""
    uses = _Uses(used)
    texts = [uses.write(text) + 1 if text >= 0 else 0 for entry in log if isinstance(entry, list) for text in entry]
    counts = [len(entry) if isinstance(entry, list) else 0 for entry in log]
    return {"used": used, "counts": write_numbers(counts), "texts": write_numbers(texts)}


def _read_log(columns: Columns) -> list[Entry | int]:
    uses = _Uses(columns["used"])
    texts = iter(read_numbers(columns["texts"]))
    return [
        [uses.read(text - 1) if text else -1 for text in islice(texts, count)] if count else 0
        for count in read_numbers(columns["counts"])
    ]


# --- clocks ---------------------------------------------------------------------------------------------


def _write_clocks(clocks: Iterable[Clock]) -> list[Sequence[float]]:
    """Write clocks as columns: steps since the one before, seats, milliseconds, and by how much what a seat has left changes."""
    steps, seats, charged, changes = [], [], [], []
    last, had = 0, defaultdict[int, int](int)
    for step, seat, milliseconds, left in clocks:
        steps.append(step - last)
        seats.append(seat)
        charged.append(milliseconds)
        changes.append(round(left * 10) - had[seat])
        last, had[seat] = step, round(left * 10)
    return [steps, seats, charged, changes]


def _read_clocks(columns: Sequence[Sequence[float]]) -> list[Clock]:
    last, had = 0, defaultdict[int, float](float)
    clocks: list[Clock] = []
    for gap, seat, milliseconds, change in zip(*columns, strict=True):
        last += int(gap)
        had[int(seat)] += change
        clocks.append((last, int(seat), milliseconds, had[int(seat)] / 10))
    return clocks


# --- the payload ----------------------------------------------------------------------------------------


def pack(data: Columns) -> str:
    """Write a payload as base85 of compressed JSON, without markup; the same data always gives the same text.

    Tokens and texts are put in the order of their first use: in what spectators see, then in what seat 0 sees, and so on.

    Args:
        data: `tokens`, `public` and `seats` as in a `Reel`; `texts`, `log`, `logs` and `clocks` as in a `Story`; and what else there is.
    """
    tokens, texts = _Order(), _Order()
    views, logs = [], []
    public = [renumbered(change, tokens.place) for change in data["public"]]
    views.append(_write_splices(chain([[]], played(public)), public, 0))
    for splices in data["seats"]:
        used = len(tokens.places)
        seat = [renumbered(change, tokens.place) for change in splices]
        views.append(_write_splices(played(public), seat, used))
    for log in (data["log"], *data["logs"]):
        used = len(texts.places)
        entries = [entry and [text if text < 0 else texts.place(text) for text in entry] for entry in log]
        logs.append(_write_log(entries, used))
    words = [data["tokens"][token] for token in tokens.places] + [data["texts"][text] for text in texts.places]
    written = {name: value for name, value in data.items() if name not in _PACKED} | {
        "tokens": len(tokens.places),
        "words": _write_texts(words),
        "views": views,
        "logs": logs,
        "clocks": _write_clocks(data["clocks"]),
    }
    plain = json.dumps(written, ensure_ascii=False, separators=(",", ":")).encode()
    return base64.b85encode(gzip.compress(plain, 9, mtime=0)).translate(_WRITTEN).decode()


def unpack(text: str) -> Columns:
    """Read what `pack` has written."""
    written: Columns = json.loads(gzip.decompress(base64.b85decode(text.encode().translate(_MEANT))))
    words = _read_texts(written.pop("words"))
    views, logs = written.pop("views"), [_read_log(log) for log in written.pop("logs")]
    count = written.pop("tokens")
    public = _read_splices(views[0], None)
    return written | {
        "tokens": words[:count],
        "texts": words[count:],
        "public": public,
        "seats": [_read_splices(view, played(public)) for view in views[1:]],
        "log": logs[0],
        "logs": logs[1:],
        "clocks": _read_clocks(written["clocks"]),
    }


class _Order:
    """Gives what is used its place in the order of first use."""

    def __init__(self) -> None:
        self.places: dict[int, int] = {}

    def place(self, number: int) -> int:
        return self.places.setdefault(number, len(self.places))
