"""What bots say of their thinking: lines such as `dogana: nodes=51200 depth=7` in their output, for their authors."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

MAX_KEYS = 32
"""How many keys of a bot are kept in a match; later ones are left out."""
MAX_LINE_BYTES = 1000
"""A longer line is no telemetry."""
BEGINNING = b"dogana: "
"""How a line of telemetry begins."""
_BEGINNING_OF_LINE = b"\n" + BEGINNING
_PAIR = re.compile(rb"([a-z][a-z0-9_]{0,31})=([-+0-9.eE]{1,32})")


@dataclass(frozen=True, slots=True)
class Series:
    """What was said under one key in one match."""

    count: int
    total: float

    @property
    def mean(self) -> float:
        """The mean of the values."""
        return self.total / self.count


class Telemetry:
    """Gathers what one bot says. Any bytes may come; what is no telemetry is passed over."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._is_too_long = False
        self._series: dict[str, Series] = {}

    def add(self, output: bytes) -> int:
        """Look through more output; return in how many bytes of it there were pairs to look for."""
        first = output.find(b"\n")
        self._lengthen(output if first < 0 else output[:first])
        if first < 0:
            return 0
        looked_at = self._end_line()
        last = output.rfind(b"\n")
        at = first
        while (at := output.find(_BEGINNING_OF_LINE, at, last)) >= 0:  # other lines are not even split
            begin, at = at + 1, output.find(b"\n", at + 1)
            if at - begin <= MAX_LINE_BYTES:
                looked_at += at - begin
                self._note(output[begin:at])
        self._lengthen(output[last + 1 :])
        return looked_at

    def _end_line(self) -> int:
        """Look at the line that has come piece by piece; return how many bytes were looked through."""
        line = b"" if self._is_too_long else bytes(self._line)
        self._line.clear()
        self._is_too_long = False
        if not line.startswith(BEGINNING):
            return 0
        self._note(line)
        return len(line)

    def _lengthen(self, data: bytes) -> None:
        self._is_too_long = self._is_too_long or len(self._line) + len(data) > MAX_LINE_BYTES
        if not self._is_too_long:
            self._line += data

    def _note(self, line: bytes) -> None:
        for key, value in _pairs(line.removeprefix(BEGINNING)):
            known = self._series.get(key, Series(0, 0.0))
            total = known.total + value
            if math.isfinite(total) and (known.count or len(self._series) < MAX_KEYS):
                self._series[key] = Series(known.count + 1, total)

    def series(self) -> Mapping[str, Series]:
        """Return what was said in whole lines, by key."""
        return dict(self._series)


def _pairs(text: bytes) -> Iterator[tuple[str, float]]:
    """Yield the pairs of a line; none if it has anything else in it."""
    words = text.split()
    matches = [_PAIR.fullmatch(word) for word in words]
    found: list[tuple[str, float]] = []
    for match in matches:
        try:
            if match is None or not math.isfinite(value := float(match[2])):
                return
        except ValueError:
            return
        found.append((match[1].decode(), value))
    yield from found
