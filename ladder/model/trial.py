"""A trial by repetition, to find the version that killed workers. The code is pure.

The rules of a game cannot kill a worker, but an agent with the rights of the ladder's user can, and the sender of a SIGKILL leaves
no trace. So when a match is given up because its worker died again and again, each submitted version in it plays `TRIAL_MATCHES`
matches in which every other seat has a house bot. They are played one at a time, while no other submitted bot runs
(`Pool.play_alone`). A version that loses `MAX_DEATHS` workers there is guilty: no other suspect was running. So no version is
blamed for having met a culprit.

Before that, house bots alone play the same number of matches. If workers die there, too, the machine is at fault, and no version
is guilty.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ladder.model.match import HOUSE, Match, Version

TRIAL_MATCHES = 10
"""The number of matches that each version on trial plays.

A bot that kills its worker in half of its matches escapes one trial in twenty."""
MAX_DEATHS = 3
"""The number of deaths of workers that make a version guilty.

Even if one worker in a thousand dies for other reasons, only about one trial in eight million is wrong."""


class Trial:
    """The trial of the versions in one match.

    Attributes:
        cause: the match that was given up.
        suspects: the submitted versions on trial. A bot at home has no process here, so it is not a suspect.
    """

    def __init__(self, cause: Match, house: Version, excused: Sequence[Version]) -> None:
        """Prepare a trial.

        Args:
            cause: the match that was given up.
            house: the house bot in all other seats.
            excused: versions that are not on trial now.
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
        """Return matches of one version against house bots.

        The version sits in each seat in turn, beginning with its seat in the cause. Each match has a seed of its own,
        because the seed of the cause belongs to a block whose other matches may be unfinished.
        """
        first = self.cause.seats.index(party) if party in self.cause.seats else 0
        found = []
        for number in range(TRIAL_MATCHES):
            seats = [self._house] * len(self.cause.seats)
            seats[(first + number) % len(seats)] = party
            match_id = secrets.token_hex(8)  # like any other, because a bot must not see that it is on trial
            seed = secrets.randbits(62)
            found.append(replace(self.cause, match_id=match_id, block=None, seats=tuple(seats), seed=seed, voids=0))
        return found

    def matches(self) -> Iterator[Match]:
        """Yield each match to play; call `settle` before taking the next one.

        A version that has lost `MAX_DEATHS` workers plays no more matches, because they would prove nothing.
        """
        for party in (self._house, *self.suspects):
            self._party = party
            for match in self._matches(party):
                if self._deaths[party] < MAX_DEATHS:
                    yield match

    def settle(self, *, worker_died: bool) -> None:
        """Note the end of the match that was yielded last."""
        self._deaths[self._party] += worker_died

    @property
    def machine_is_at_fault(self) -> bool:
        """True if `MAX_DEATHS` workers died in matches between house bots only."""
        return self._deaths[self._house] >= MAX_DEATHS

    @property
    def guilty(self) -> list[Version]:
        """The versions that lost too many workers; read it when the trial is over."""
        return [version for version in self.suspects if self._deaths[version] >= MAX_DEATHS]
