"""The places of bots at home in the matches of a run. Each plays a few matches at a time, and may be away for a while."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping

from ladder.facts.roster import ConnectedBot, Roster
from ladder.model.match import Match, Version


class HomePlaces:
    """Decides which matches can begin, and which versions can be in a further block, as far as this depends on bots at home."""

    def __init__(self, roster: Roster, away_seconds: float) -> None:
        """Take the ladder's roster, and the time, in seconds, for which a match waits for a disconnected bot."""
        self._roster = roster
        self._away_seconds = away_seconds
        self._connected: Mapping[int, ConnectedBot] = {}
        self._called = Counter[int]()
        """The number of running matches of each bot, by version."""
        self._needed = Counter[int]()
        """The number of unfinished blocks of each bot, by version."""
        self._away_since: dict[int, float] = {}
        """The time (`time.monotonic`) from which each bot with a waiting match has been away."""

    def look(self, playing: Iterable[Match]) -> None:
        """Read again which bots are connected, and count their running matches.

        Call this before `can_begin` and `has_time`.
        """
        self._connected = self._roster.connected()
        self._called = Counter(version.id for match in playing for version in match.at_home)

    def count_needed(self, unfinished: Iterable[Match]) -> None:
        """Count the places that bots need for their unfinished matches; call it before `has_time`."""
        self._needed = Counter(  # one place for each block, of which one match is played at a time
            version
            for version, _ in {(one.id, match.block or match.match_id) for match in unfinished for one in match.at_home}
        )

    def can_begin(self, match: Match) -> bool:
        """Return True if the bots in a match are connected and have a place, or have been away for too long."""
        can_begin, now = True, time.monotonic()
        for version in match.at_home:  # check all of them, because the times of absent bots run in parallel
            if version.id in self._connected:
                self._away_since.pop(version.id, None)
                can_begin &= self._called[version.id] < self._connected[version.id].matches
            else:
                can_begin &= now - self._away_since.setdefault(version.id, now) >= self._away_seconds
        return can_begin

    def has_time(self, version: Version) -> bool:
        """Return True if a version can be in another block.

        A bot at home needs a place that its other blocks do not use.
        """
        if not version.is_at_home:
            return True
        connection = self._connected.get(version.id)
        return connection is not None and self._needed[version.id] < connection.matches
