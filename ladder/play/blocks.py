"""Schedule blocks: update the queue from the ladder, draw a block from it (`schedule.py`), and add it to the ladder."""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable, Collection, Sequence
from functools import partial

from ladder.facts.budgets import NEXT_DAY
from ladder.facts.standings import candidates, queue
from ladder.facts.store import Store
from ladder.model.condition import Condition
from ladder.model.match import Match, Version
from ladder.model.schedule import Block, Queue, rotations
from ladder.operation.errors import TooFew
from referee.terminal import counted


class Blocks:
    """The blocks of one condition.

    The queue of the condition is read on first use, and again after other processes have written to the ladder.
    Otherwise, only the versions whose matches have ended are read again, so a block costs no more on a large ladder
    than on a small one.
    """

    def __init__(
        self,
        store: Store,
        condition: Condition,
        seat_counts: Sequence[int],
        *,
        same_author: bool = False,
        search_share: int = 0,
        guests: bool = False,
    ) -> None:
        """Prepare the blocks of a condition in a run; see `RunPlan`."""
        self._guests = guests
        self._store = store
        self._condition = condition
        self._seat_counts = seat_counts
        self._same_author = same_author
        self._search_share = search_share
        self._queue: Queue | None = None
        self._changes_of_others = 0
        self._out_of_budget: set[str] = set()
        self._touched: set[int] = set()

    def touch(self, versions: Collection[int]) -> None:
        """Read versions again before the next block, because one of their matches has ended."""
        self._touched.update(versions)

    def forget(self) -> None:
        """Read the queue again before the next block."""
        self._queue = None

    def add(self, schedule_seed: int, is_playable: Callable[[Version], bool] = lambda version: True) -> list[Match]:
        """Draw the next block, add it to the schedule, and return its matches.

        Args:
            schedule_seed: the seed of the draw; it is stored with the block, so that the draw can be repeated.
            is_playable: returns True if a version can play now; called for the drawn versions.

        Raises:
            TooFew: if too few versions can be scheduled.
        """
        queued = self._in_step()
        while True:
            # A new generator is made after versions were left out, so that the block follows from the stored seed alone.
            chance = random.Random(schedule_seed)  # noqa: S311 who meets whom is not secret
            playing, met = (
                self._store.schedule.playing(self._condition),
                partial(self._store.schedule.meetings, self._condition),
            )
            block = queued.draw(self._seat_counts, playing, chance, met)
            if block is None:
                self.forget()
                waiting = ", ".join(sorted(self._out_of_budget))
                raise TooFew(
                    f"{counted(len(queued), 'bot')} can play {self._condition.game} here, too few for a match of"
                    f" {min(self._seat_counts)} seats without two of one author; submit another, or say --same-author"
                    + (f" (out of their budget until {NEXT_DAY}: {waiting})" if waiting else "")
                )
            versions = self._store.roster.versions(block.versions)
            broken = [version for version in block.versions if not is_playable(versions[version])]
            if not broken:
                return self._add(queued, block, schedule_seed)
            for version in broken:
                queued.leave_out(version)
            # They are left out of this block only, and read again before the next.
            self._touched.update(block.versions)

    def _add(self, queued: Queue, block: Block, schedule_seed: int) -> list[Match]:
        tables = {secrets.token_hex(8): seats for seats in rotations(block.versions)}
        matches = self._store.schedule.add_block(
            self._condition,
            secrets.randbits(62),
            tables,
            schedule_seed,
            block.round,
            block.due,
            guests=self._guests,
        )
        number = matches[0].block
        assert number is not None  # noqa: S101 matches of a block have one
        queued.note(block, number)
        return matches

    def _in_step(self) -> Queue:
        """Return the queue, brought up to date."""
        with self._store.reading():
            changes, out_of_budget = self._store.file.changes_of_others(), self._store.budgets.out_of_budget()
            known = changes, out_of_budget  # the authors without budget also change at midnight
            if self._queue is None or known != (self._changes_of_others, self._out_of_budget):
                self._queue = queue(
                    self._store, self._condition, same_author=self._same_author, search_share=self._search_share
                )
            elif self._touched:
                bots = self._store.roster.versions(self._touched)
                for version in bots:
                    self._queue.remove(version)
                for candidate in candidates(self._store, self._condition, bots):
                    if candidate.author not in out_of_budget:
                        self._queue.put(candidate)
            self._changes_of_others, self._out_of_budget = known
            self._touched.clear()
        return self._queue
