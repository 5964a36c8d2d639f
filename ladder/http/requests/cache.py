"""A cache for the answers that anybody may see, so that many readers of a page cost no more than one."""

from __future__ import annotations

import time
from collections.abc import Callable

from cachetools import TTLCache

from ladder.http.requests.prepared import PreparedResponse

MAX_BYTES = 32 * 1024**2
"""The default maximum size of a cache, in bytes."""
FRESH_SECONDS = 1.0
"""The default time, in seconds, for which an answer is reused even if something has changed."""

Key = tuple[str, str]
"""The path and the query of a request."""


class AnswerCache:
    """A cache of the latest answers of one server. Use it in one thread only."""

    def __init__(
        self,
        fresh_seconds: float = FRESH_SECONDS,
        max_bytes: int = MAX_BYTES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Keep up to `max_bytes` of answers for `fresh_seconds` each."""
        # The cache computes sizes from values alone, so each value includes its key.
        self._answers = TTLCache[Key, tuple[Key, PreparedResponse]](
            max_bytes, fresh_seconds, timer=clock, getsizeof=_size
        )

    def find(self, key: Key) -> PreparedResponse | None:
        """Return a fresh answer, if there is one."""
        found = self._answers.get(key)
        return None if found is None else found[1]

    def put(self, key: Key, answer: PreparedResponse) -> None:
        """Add an answer, unless it is larger than the cache; drop the least recently used answers to make room for it."""
        entry = key, answer
        if _size(entry) <= self._answers.maxsize:
            self._answers[key] = entry


def _size(entry: tuple[Key, PreparedResponse]) -> int:
    key, answer = entry
    # 1000 bytes are for the objects that hold the data.
    return sum(map(len, key)) + len(answer.body) + len(answer.compressed) + 1000
