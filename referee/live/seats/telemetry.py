"""Bots' reports on their thinking, for their authors: lines such as `dogana: nodes=51200 depth=7` in their output."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

MAX_KEYS = 32
"""The maximum number of telemetry keys that a bot can use in a match; further keys are ignored."""
MAX_LINE_BYTES = 1000
"""The maximum length of a telemetry line."""
BEGINNING = b"dogana: "
"""The prefix of a telemetry line."""
_BEGINNING_OF_LINE = b"\n" + BEGINNING
_PAIR = re.compile(rb"([a-z][a-z0-9_]{0,31})=([-+0-9.eE]{1,32})")


@dataclass(frozen=True, slots=True)
class KeyValues:
    """The number of values that one key had in one match, and their total."""

    count: int
    total: float

    @property
    def mean(self) -> float:
        """The mean of the values."""
        return self.total / self.count


class Telemetry:
    """Collects the telemetry of one bot from its output, which may also contain any other bytes."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._is_too_long = False
        self._series: dict[str, KeyValues] = {}

    def add(self, output: bytes) -> int:
        """Parse more output; return the number of its bytes that belong to telemetry lines."""
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
        """Parse a line that arrived in chunks; return its length if it is telemetry, otherwise 0."""
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
            known = self._series.get(key, KeyValues(0, 0.0))
            total = known.total + value
            # A sum may overflow, though each of its values is finite.
            if math.isfinite(total) and (known.count or len(self._series) < MAX_KEYS):
                self._series[key] = KeyValues(known.count + 1, total)

    def series(self) -> Mapping[str, KeyValues]:
        """Return the values reported in complete lines so far, by key."""
        return dict(self._series)


def _pairs(text: bytes) -> Iterator[tuple[str, float]]:
    """Yield the pairs of keys and values in a line; yield none if the line contains anything else."""
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
