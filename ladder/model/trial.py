"""Who killed the worker? A trial by repetition. Pure.

No match kills its worker by the rules, but an agent with the rights of the ladder's user can, and whoever sent a SIGKILL leaves no
trace. So when a match is given up because its worker died again and again, each version in it that somebody has submitted plays
`TRIAL_MATCHES` matches in which every other seat has a house bot. They are played one at a time, while nothing else that somebody has
submitted runs (`Pool.play_alone`). A version that loses `MAX_DEATHS` workers there is guilty: of all that the ladder has started,
nobody else was there who could have done it. Nobody is blamed for having met a culprit.

Before that, house bots alone play as many matches. If workers die there, too, the machine is at fault, and nobody is guilty.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ladder.model.match import HOUSE, Match, Version

TRIAL_MATCHES = 10
"""The number of matches that each version on trial plays: a bot that kills in half of them escapes one trial in twenty."""
MAX_DEATHS = 3
"""A version is guilty at this many deaths. One worker in a thousand may die for other reasons, and one trial in ten million is wrong."""


class Trial:
    """The trial of the versions in one match.

    Attributes:
        cause: the match that was given up.
        suspects: the versions that somebody submitted, without those that were excused. A bot at home has no process here that
            could have done it.
    """

    def __init__(self, cause: Match, house: Version, excused: Sequence[Version]) -> None:
        """Prepare it.

        Args:
            cause: the match that was given up.
            house: the house bot in all other seats.
            excused: versions that are not tried now.
        """
        self.cause = cause
        self.suspects = [
            version
            for version in dict.fromkeys(cause.seats)
            if version.author != HOUSE and not version.is_at_home and version not in excused
        ]
        self._house = house
        self._party = house
        self._deaths: Counter[Version] = Counter()

    def _matches(self, party: Version) -> list[Match]:
        """Return matches of one party among house bots, in each seat in turn, from where it sat in the cause.

        Each has a seed of its own: that of the cause is the seed of its whole block, of which other matches may still be played.
        """
        first = self.cause.seats.index(party) if party in self.cause.seats else 0
        found = []
        for number in range(TRIAL_MATCHES):
            seats = [self._house] * len(self.cause.seats)
            seats[(first + number) % len(seats)] = party
            match_id = secrets.token_hex(8)  # like any other match's: a bot must not see that it is on trial
            seed = secrets.randbits(62)
            found.append(replace(self.cause, match_id=match_id, block=None, seats=tuple(seats), seed=seed, voids=0))
        return found

    def matches(self) -> Iterator[Match]:
        """Yield each match that is to be played; call `settle` before the next one is taken.

        A version that has lost `MAX_DEATHS` workers plays no more: that would prove no more.
        """
        for party in (self._house, *self.suspects):
            self._party = party
            for match in self._matches(party):
                if self._deaths[party] < MAX_DEATHS:
                    yield match

    def settle(self, *, worker_died: bool) -> None:
        """Note how the match that was yielded last went."""
        self._deaths[self._party] += worker_died

    @property
    def machine_is_at_fault(self) -> bool:
        """Whether workers died in matches between house bots only."""
        return self._deaths[self._house] >= MAX_DEATHS

    @property
    def guilty(self) -> list[Version]:
        """The versions that lost too many workers; call it when the trial is over."""
        return [version for version in self.suspects if self._deaths[version] >= MAX_DEATHS]
