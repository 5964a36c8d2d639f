"""Whose the tokens are that a server is shown. Wrong ones are counted by address, and no good one is refused because of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from ladder.intake.authors import Authors, hash_of
from ladder.operation.errors import TooMuch, Unauthenticated
from ladder.operation.meter import Meter

KNOWN_SECONDS = 1.0
"""How long the hashes of good tokens are taken for the present ones, while an address has no guess left."""


class Tokens:
    """The tokens of one ladder, for any thread of one server."""

    def __init__(self, database: Path, guesses: Meter, clock: Callable[[], float] = time.monotonic) -> None:
        """Prepare; `guesses` counts wrong tokens by address."""
        self._database = database
        self._guesses = guesses
        self._clock = clock
        self._lock = threading.Lock()
        self._known: frozenset[str] = frozenset()
        self._read_at = -KNOWN_SECONDS

    def author_of(self, token: str, address: str) -> str:
        """Return whose token it is that an address shows.

        Raises:
            Unauthenticated: if it is worth nothing.
            TooMuch: if the address has shown too many such tokens. It is not looked up then.
        """
        with self._lock:
            is_counted = self._count(token, address)
        is_wrong = False
        try:
            with Authors(self._database, create=False) as authors:
                return authors.author_of(token)
        except Unauthenticated:
            is_wrong = True
            raise
        finally:
            if is_counted and not is_wrong:
                with self._lock:
                    self._guesses.change(address, 1)

    def _count(self, token: str, address: str) -> bool:
        """Count a guess before the token is looked up, or many could be looked up at once; return whether it was counted.

        Raises:
            TooMuch: if the address has no guess left, and the token is none of the good ones.
        """
        try:
            self._guesses.take(address)
        except TooMuch:
            if not self._is_known(token):
                raise
            return False
        return True

    def _is_known(self, token: str) -> bool:
        """Tell whether a token is good without looking it up: whoever guesses costs one look at the database a second."""
        if self._clock() - self._read_at >= KNOWN_SECONDS:
            with Authors(self._database, create=False) as authors:
                self._known = authors.hashes_of_valid_tokens()
            self._read_at = self._clock()
        return hash_of(token) in self._known
