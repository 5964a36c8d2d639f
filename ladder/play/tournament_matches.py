"""The matches of events in a run: which match comes next, and when it is the turn of events, not of the ladder.

Nothing has to stay in memory, because a block is scheduled when a worker is free for it, and the next blocks follow
from the facts. If a run is killed, the next one continues at the same point.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby

from ladder.facts.entering import close_due
from ladder.facts.store import Store
from ladder.facts.tournaments import block_name
from ladder.model.condition import Condition
from ladder.model.match import Match
from ladder.model.tournament import LadderTournament, Phase
from ladder.operation.progress import Remark
from referee.terminal import counted
from referee.tournament.fixtures import Fixture

_WHOLE = 100


class TournamentMatches:
    """The matches of events under the conditions of a run."""

    def __init__(self, store: Store, conditions: Collection[Condition]) -> None:
        self._store = store
        self._conditions = conditions
        self._scheduled: deque[Match] = deque()
        """Matches that no worker has begun yet."""
        self._blocks: deque[tuple[LadderTournament, Sequence[Fixture]]] = deque()
        """The blocks of the current rounds that are not scheduled yet."""
        self._is_read = False
        """True if `_blocks` was read since the last change."""
        self._has_changed = True
        self._credit = _WHOLE
        """The credit of events, in percent of a match; at 100, it is the turn of events."""

    def add(self, matches: Iterable[Match]) -> None:
        """Add matches that were scheduled in an earlier run."""
        self._scheduled.extend(matches)

    def advance(self) -> Iterator[Remark]:
        """Close the events that are due to close, and end those whose last match is over; yield remarks on them.

        Later entries of the log do not affect the entrants.
        """
        closed = close_due(self._store)
        for one in closed:
            entered = len(self._store.tournaments.entrants(one))
            text = f"event {one.terms.name} is closed with {counted(entered, 'bot')}"
            yield Remark(text, "event_closed", fields={"name": one.terms.name, "entered": entered})
            for condition in one.terms.conditions:
                if condition not in self._conditions:
                    text = f"event {one.terms.name} waits for another run; it needs {condition.arguments}"
                    yield Remark(text, level=logging.WARNING)
        if closed or self._has_changed:
            self._is_read = self._has_changed = False
            for one in self._end_played():
                yield Remark(f"event {one.terms.name} is over", "event_over", fields={"name": one.terms.name})

    def touch(self) -> None:
        """Read the next blocks again, because a match of an event is over."""
        self._has_changed = True

    def is_their_turn(self) -> bool:
        """Return True if the next match should belong to an event, not to the ladder's own schedule."""
        return self._credit >= _WHOLE

    def begin(self, match: Match) -> None:
        """Count the start of a match, whether of an event or of the ladder, so that events get their share."""
        playing = self._playing()
        if match.tournament is not None:
            self._credit = max(0, self._credit - _WHOLE)
        share = max((one.terms.share for one in playing), default=_WHOLE)
        # Events cannot save up a share that they have not used.
        self._credit = min(_WHOLE, self._credit + share)

    def take(self, busy: Collection[int | None]) -> Match | None:
        """Remove and return the next match whose block is not among the busy ones; schedule a block if none is left.

        Return None if there is no such match, because no event is being played or the next round waits for the current
        one.
        """
        match = self._first(busy)
        if match is None and (block := self._next_block()) is not None:
            self._scheduled.extend(self._store.tournaments.add_block(*block))
            match = self._first(busy)
        return match

    def _end_played(self) -> list[LadderTournament]:
        """Reveal the seeds of the events whose last match is over, and return them."""
        ended = []
        for one in self._playing():
            facts = self._store.tournaments
            if facts.is_sealed(one) and facts.course(one).next_round(facts.results(one)) is None:
                facts.end(one)
                ended.append(one)
        return ended

    def _first(self, busy: Collection[int | None]) -> Match | None:
        found = next((match for match in self._scheduled if match.block not in busy), None)
        if found is not None:
            self._scheduled.remove(found)
        return found

    def _next_block(self) -> tuple[LadderTournament, Sequence[Fixture]] | None:
        if not self._blocks and not self._is_read:
            self._blocks.extend((one, block) for one in self._playing() for block in self._waiting_blocks(one))
            self._is_read = True
        return self._blocks.popleft() if self._blocks else None

    def _waiting_blocks(self, one: LadderTournament) -> list[Sequence[Fixture]]:
        """Return the unscheduled blocks of an event's current round that this run can play, in order."""
        facts = self._store.tournaments
        current = facts.course(one).next_round(facts.results(one))
        known = facts.scheduled(one)
        fixtures = [] if current is None else [fixture for fixture in current.fixtures if fixture.name not in known]
        here = [each for each in fixtures if one.terms.conditions[each.game] in self._conditions]
        return [list(block) for _, block in groupby(here, key=block_name)]

    def _playing(self) -> list[LadderTournament]:
        """Return the events in progress that include a game of this run."""
        playing = [one for one in self._store.tournaments.all() if one.phase is Phase.PLAYED]
        return [one for one in playing if any(each in self._conditions for each in one.terms.conditions)]
