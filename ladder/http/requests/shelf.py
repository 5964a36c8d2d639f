"""Keeps pages, and what programs are answered, as long as nothing changes on the ladder, so that many who look cost no more than one."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections import OrderedDict
from contextlib import closing, suppress

from ladder.archive.archive import Archive
from ladder.http.requests.kept import Kept
from ladder.operation.errors import BadHome
from ladder.operation.home import Home
from ladder.operation.room import lack_of_room

MAX_BYTES = 32 * 1024**2
"""How much is kept; what was asked for longest ago goes first."""
FRESH_SECONDS = 1.0
"""A page that is no older is shown although something may have changed."""

Key = tuple[str, str]
"""The path and the query of a page."""


class Shelf:
    """The pages of one ladder that anybody may see."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._lock = threading.Lock()
        self._pages: OrderedDict[Key, tuple[Kept, object, float]] = OrderedDict()
        self._bytes = 0
        self._database: sqlite3.Connection | None = None
        self._file = (0, 0)

    def moment(self, match: str = "") -> object:
        """Return what is another one as soon as something has changed on the ladder; call it before a page is made.

        Args:
            match: the id of the match from whose record the page is made; empty if it is made from none.
        """
        with self._lock:
            try:
                playing = self._home.playing.stat().st_mtime_ns
            except OSError:
                playing = 0
            try:
                found = self._home.database.stat()
                if (found.st_dev, found.st_ino) != self._file:  # another one was put there
                    self._file = found.st_dev, found.st_ino
                    self._database = None
                if self._database is None:
                    uri = f"{self._home.database.absolute().as_uri()}?mode=ro"
                    self._database = sqlite3.connect(uri, uri=True, check_same_thread=False, timeout=0)
                with closing(self._database.execute("pragma data_version")) as answer:
                    [version] = answer.fetchone()
                record = self._record(match) if match else None
            except (sqlite3.Error, OSError, BadHome):
                self._database = None
                return object()  # nobody knows: keep nothing
            return self._file, version, playing, record, self._lacks_room(), time.gmtime().tm_yday

    def _lacks_room(self) -> bool:
        return bool(lack_of_room(self._home.folder))

    def _record(self, match: str) -> object:
        """Return what is another one whenever the record of a match is; another object each time if there is none."""
        with Archive(self._home.archive, create=False) as archive:
            return archive.stamp(match) or object()

    def find(self, key: Key, match: str = "") -> Kept | None:
        """Return a page that is as it would be made now, if there is one; `match` is as for `moment`."""
        with self._lock:
            found = self._pages.get(key)
        if found is None:
            return None
        kept, moment, made = found
        if time.monotonic() - made > FRESH_SECONDS and moment != self.moment(match):
            return None
        with self._lock, suppress(KeyError):
            self._pages.move_to_end(key)
        return kept

    def put(self, key: Key, kept: Kept, moment: object) -> None:
        """Keep a page that was made after that moment."""
        with self._lock:
            self._drop(key)
            self._pages[key] = kept, moment, time.monotonic()
            self._bytes += _size(key, kept)
            while self._bytes > MAX_BYTES and self._pages:
                self._drop(next(iter(self._pages)))

    def _drop(self, key: Key) -> None:
        if key in self._pages:
            kept, *_ = self._pages.pop(key)
            self._bytes -= _size(key, kept)


def _size(key: Key, kept: Kept) -> int:
    return sum(map(len, key)) + len(kept.body) + len(kept.compressed) + 1000
