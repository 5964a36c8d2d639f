"""The authentication of tokens by a server. Wrong tokens are counted by address, but a valid token is never refused."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from ladder.intake.authors import Authors, hash_of
from ladder.operation.errors import TooMuch, Unauthenticated
from ladder.operation.meter import Meter

KNOWN_SECONDS = 1.0
"""The time, in seconds, for which the hashes of valid tokens are cached, for addresses with no guesses left."""


class Tokens:
    """The tokens of one ladder, as one server looks them up. Methods may be called from any thread."""

    def __init__(self, database: Path, guesses: Meter, clock: Callable[[], float] = time.monotonic) -> None:
        """Prepare to look up tokens; `guesses` counts wrong tokens by address."""
        self._database = database
        self._guesses = guesses
        self._clock = clock
        self._lock = threading.Lock()
        self._known: frozenset[str] = frozenset()
        self._read_at = -KNOWN_SECONDS

    def author_of(self, token: str, address: str) -> str:
        """Return the author of a token that was sent from an address.

        Raises:
            Unauthenticated: if the token is not valid.
            TooMuch: if the address has sent too many invalid tokens; then this one is not looked up.
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
            # A valid token is not a guess, and neither is a failure of the database.
            if is_counted and not is_wrong:
                with self._lock:
                    self._guesses.change(address, 1)

    def _count(self, token: str, address: str) -> bool:
        """Count a guess before the lookup; return True if it was counted.

        It is counted first so that concurrent guesses cannot evade the limit.

        Raises:
            TooMuch: if the address has no guesses left, and the token is not valid.
        """
        try:
            self._guesses.take(address)
        except TooMuch:
            if not self._is_known(token):
                raise
            return False
        return True

    def _is_known(self, token: str) -> bool:
        """Return True if a token is valid, judging by cached hashes, so that guesses cost at most one query a second."""
        if self._clock() - self._read_at >= KNOWN_SECONDS:
            with Authors(self._database, create=False) as authors:
                self._known = authors.hashes_of_valid_tokens()
            self._read_at = self._clock()
        return hash_of(token) in self._known
