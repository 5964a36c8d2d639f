"""Encode the pictures of a match as a few numbers per step, and encode the payload of a page.

The functions are pure. A picture is cut into *tokens*: a tag with its text, or a sentence. All pictures share one table
of distinct tokens, so a picture is a list of indices into that table. The difference between two pictures is a
*splice*, a list of numbers: keep n tokens, drop n, insert the n that follow, and so on; the remaining tokens stay. A
spectator's picture is stored as a splice of the previous one, and a seat's picture as a splice of the spectator's at
the same step. `decode.js` decodes the payload; docs/decisions/0019-replay-page.md contains the measurements.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

# Before each opening tag, between a tag and a closing one, and after each sentence.
_TOKEN = re.compile(r"(?=<(?!/))|(?<=>)(?=</)|(?<=\. )")
_NEAR = 128
"""The number of tokens to look ahead in each picture for a position from which both pictures continue alike."""
_ALIKE = 3
"""The number of tokens that must be the same for two pictures to continue alike."""

Splice = list[int]
"""A splice, as a list of numbers: `[keep, drop, count, ...tokens, keep, drop, count, ...]`."""


@dataclass(frozen=True, slots=True)
class Reel:
    """The pictures of consecutive steps, with their own table of tokens."""

    tokens: list[str]
    public: list[Splice]
    """The spectators' pictures: for each step, a splice of the previous picture, which is empty at the start of the match."""
    seats: list[list[Splice]]
    """The pictures of each seat: for each step, a splice of the spectators' picture."""


def tokens_of(picture: str) -> list[str]:
    """Cut a picture into tokens. When joined, the tokens give the picture again, whatever its text."""
    return [token for token in _TOKEN.split(picture) if token]


def splice(before: Sequence[int], after: Sequence[int]) -> Splice:
    """Return the splice that turns `before` into `after`."""
    numbers: Splice = []
    at = to = same = 0
    while at < len(before) or to < len(after):
        if at < len(before) and to < len(after) and before[at] == after[to]:
            at, to, same = at + 1, to + 1, same + 1
            continue
        drop, insert = _difference(before, after, at, to)
        numbers += [same, drop, insert, *after[to : to + insert]]
        at, to, same = at + drop, to + insert, 0
    return numbers


def _difference(before: Sequence[int], after: Sequence[int], at: int, to: int) -> tuple[int, int]:
    """Return the numbers of tokens to drop and to insert until both pictures continue alike.

    If that point is too far away, all remaining tokens are dropped and inserted.
    """
    # The shortest splice is tried first: the one that drops and inserts the fewest tokens in total.
    for both in range(1, 2 * _NEAR):
        for drop in range(max(0, both - _NEAR), min(both, _NEAR) + 1):
            old, new = at + drop, to + both - drop
            if old <= len(before) and new <= len(after) and before[old : old + _ALIKE] == after[new : new + _ALIKE]:
                return drop, both - drop
    return len(before) - at, len(after) - to


def apply(before: Sequence[int], change: Splice) -> list[int]:
    """Apply a splice to `before`, and return the result."""
    after: list[int] = []
    at = place = 0
    while place < len(change):
        keep, drop, insert = change[place : place + 3]
        after += before[at : at + keep]
        after += change[place + 3 : place + 3 + insert]
        at, place = at + keep + drop, place + 3 + insert
    after += before[at:]
    return after


def reel(pictures: Iterable[Sequence[str]], before: str) -> Reel:
    """Encode the pictures of consecutive steps.

    Args:
        pictures: for each step, the spectators' picture, then the picture of each seat.
        before: the spectators' picture at the previous step; empty at the start of the match.
    """
    table: dict[str, int] = {}
    known: dict[str, list[int]] = {}
    public: list[Splice] = []
    seats: list[list[Splice]] = []

    def numbers(picture: str) -> list[int]:
        if picture not in known:
            known[picture] = [table.setdefault(token, len(table)) for token in tokens_of(picture)]
        return known[picture]

    last = numbers(before)
    for seen, *by_seats in pictures:
        now = numbers(seen)
        public.append(splice(last, now))
        seats = seats or [[] for _ in by_seats]
        for splices, picture in zip(seats, by_seats, strict=True):
            splices.append(splice(now, numbers(picture)))
        last = now
        known = {seen: now, **{picture: known[picture] for picture in by_seats}}  # pictures are often unchanged
    return Reel(list(table), public, seats)


def join(reels: Sequence[Reel]) -> Reel:
    """Join consecutive reels into one with a single table, sorted so that gzip compresses it better."""
    tokens = sorted({token for part in reels for token in part.tokens})
    place = {token: number for number, token in enumerate(tokens)}
    public: list[Splice] = []
    seats: list[list[Splice]] = []
    for part in reels:
        new = [place[token] for token in part.tokens]
        public += [_renumbered(change, new) for change in part.public]
        seats = seats or [[] for _ in part.seats]
        for splices, more in zip(seats, part.seats, strict=True):
            splices += [_renumbered(change, new) for change in more]
    return Reel(tokens, public, seats)


def _renumbered(change: Splice, new: Sequence[int]) -> Splice:
    """Return a splice with its tokens renumbered."""
    numbers: Splice = []
    place = 0
    while place < len(change):
        end = place + 3 + change[place + 2]
        numbers += change[place : place + 3]
        numbers += [new[token] for token in change[place + 3 : end]]
        place = end
    return numbers


def pictures_of(reel: Reel, seat: int | None) -> Iterator[str]:
    """Yield the pictures of a reel: the spectators' (None) or a seat's."""
    public: list[int] = []
    for number, change in enumerate(reel.public):
        public = apply(public, change)
        now = public if seat is None else apply(public, reel.seats[seat][number])
        yield "".join(reel.tokens[token] for token in now)


def written(data: dict[str, Any]) -> str:
    """Encode a payload as base64 of compressed JSON. Equal data gives equal text."""
    # The characters are not escaped, because gzip compresses them better than their escapes.
    plain = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()
    # `mtime` is 0, because gzip would otherwise put the current time into its header.
    return base64.b64encode(gzip.compress(plain, 9, mtime=0)).decode()


def frames(reel: Reel) -> dict[str, Any]:
    """Return a reel for the payload, with `null` for each splice of a seat that equals the seat's previous splice."""
    seats = [
        [None if change == before else change for before, change in zip([None, *splices], splices, strict=False)]
        for splices in reel.seats
    ]
    return {"tokens": reel.tokens, "public": reel.public, "seats": seats}
