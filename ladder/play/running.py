"""Run a ladder: take the lock, let new versions qualify, play matches, and count them.

Two matches of one block never run at the same time, because they have the same random draws, which a bot in one could
betray to a bot in the other. Each worker therefore takes a match from a different block, and blocks are scheduled until
all workers have one. Between blocks, a few newcomers qualify, so that blocks do not wait for all newcomers, nor
newcomers for all blocks.
"""

from __future__ import annotations

import logging
import math
import secrets
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from ladder.archive.archive import Archive
from ladder.archive.key import ladder_key
from ladder.archive.sealing import seal_block, seal_blocks, seal_match
from ladder.facts.schema import MAX_VOIDS
from ladder.facts.standings import KILLS_WORKERS, scheduled, thinks
from ladder.facts.store import Store
from ladder.intake.submission import Inspector
from ladder.model.condition import Agreed, Condition
from ladder.model.match import HOUSE, JOIN_SECONDS, Match, Version
from ladder.model.trial import Trial
from ladder.operation.errors import CannotPlay, LadderError, SealBroken, TooFew
from ladder.operation.home import Home
from ladder.operation.journal import note
from ladder.operation.progress import NOTHING, Progress, Remark
from ladder.operation.room import Room, check_room
from ladder.play.blocks import Blocks
from ladder.play.cluster_pool import ClusterPool
from ladder.play.home_places import HomePlaces
from ladder.play.playing import sweep
from ladder.play.pool import End, Finished, Invitation, Pool, Void
from ladder.play.qualifying import (
    Newcomers,
    archive_match,
    enter_house_bots,
    not_this_time,
    qualify_alone,
    settle_qualification,
    why_not,
)
from ladder.play.tournament_matches import TournamentMatches
from referee.files import private_folder
from referee.live.matches.cluster import Crew
from referee.match.clock import TimeControl
from referee.match.result import MAX_LAG_SHARE, Outcome, Result
from referee.sandbox.box import Sandbox
from referee.terminal import counted

AWAY_SECONDS = 600.0
IDLE_SECONDS = 1.0
"""The interval at which an endless run looks for matches to play."""
MAX_NEWCOMERS = 4
"""The maximum number of newcomers that try to qualify between two blocks; a block has about as many matches."""


@dataclass(frozen=True, slots=True)
class RunPlan:
    """The settings of a run."""

    games: Sequence[Agreed]
    """The games; each block is played in the game with the fewest matches in this run so far."""
    matches: int | None
    """The minimum number of matches to play; None for an endless run."""
    workers: int
    """The number of concurrent matches."""
    clock: TimeControl
    """The time control of each seat."""
    join_seconds: float = JOIN_SECONDS
    """The time allowed for agents to join."""
    same_author: bool = False
    """True if two bots of one author may meet."""
    search_share: int = 0
    """The percentage of the blocks in which a house bot that thinks sits; with 0, no such bot is added."""
    sandbox: Sandbox | None = None
    """The sandbox of submitted bots; None to run them with the rights of this process."""
    guests: bool = True
    """True if bots at home are guests, so that matches with them do not rate submitted bots."""
    invite: Callable[[Invitation], None] | None = None
    """The function that invites a bot at home to a match.

    It is None if such bots cannot be reached; their matches then wait."""
    crew: Crew[Match] | None = None
    """The slots on other machines; None to play all matches on this one."""
    away_seconds: float = AWAY_SECONDS
    """The time, in seconds, for which a match waits for a disconnected bot at home.

    After that, the match is played without the bot, and counts."""
    max_given_up: int = 10
    """The number of matches, given up for unknown reasons, at which the run ends: the machine must be at fault."""


@contextmanager
def only_run(home: Home, store: Store) -> Iterator[None]:
    """Hold the lock of the ladder's runs in this context, so that there is only one run at a time.

    Raises:
        LadderError: if another run holds the lock.
    """
    with home.only_run():
        store.roster.disconnect()  # a killed server may have left connections of bots at home
        yield


def run_locked(home: Home, store: Store, plan: RunPlan) -> Generator[Progress]:
    """Finish the matches of an earlier run under the same conditions, then play matches in whole blocks, and rate them.

    The caller holds the lock (`only_run`).

    Raises:
        LadderError: if too few bots qualify, or too many matches are given up.
        NoRoom: if the disk is full. The next run plays the unfinished matches; their current attempts do not count.
    """
    check_room(home.folder)
    private_folder(home.records)
    # Nobody else writes records, because the caller holds the lock.
    home.sweep_records()
    ladder_key(home, store)
    sweep(home)
    chosen = {
        store.roster.condition(one.game.name, one.options, str(plan.clock)): one.seat_counts for one in plan.games
    }
    for other, count in store.schedule.open_matches().items():
        if other not in chosen:
            text = f"another run has left {counted(count, 'match', 'matches')}, to be played with {other.arguments}"
            yield Progress(Remark(text, level=logging.WARNING), 0, 0)
    with (
        Archive(home.archive, create=True),
        _pool(home, plan) as pool,
    ):  # while the archive is open here, SQLite does not have to clean up after each match
        for problem in seal_blocks(home, store):  # blocks that were over when an earlier run was killed
            yield Progress(Remark(problem, level=logging.ERROR), 0, 0)
        for condition in chosen:
            enter_house_bots(store, condition, thinking=plan.search_share > 0)
        yield from _Play(home, store, pool, chosen, plan).play()


def _pool(home: Home, plan: RunPlan) -> Pool | ClusterPool:
    if plan.crew is not None:
        return ClusterPool(home, plan.crew, plan.join_seconds)
    return Pool(home, plan.workers, None, plan.join_seconds, plan.sandbox, plan.invite)


class _Play:
    """The matches of one run."""

    def __init__(
        self,
        home: Home,
        store: Store,
        pool: Pool | ClusterPool,
        chosen: Mapping[Condition, Sequence[int]],
        plan: RunPlan,
    ) -> None:
        self._home = home
        self._store = store
        self._pool = pool
        self._chosen = chosen
        self._plan = plan
        self._inspector = Inspector(home.versions)
        self._blocks = {
            condition: Blocks(
                store,
                condition,
                seat_counts,
                same_author=plan.same_author,
                search_share=plan.search_share,
                guests=plan.guests,
            )
            for condition, seat_counts in chosen.items()
        }
        self._scheduled: deque[Match] = deque()
        """Matches that no worker has begun yet."""
        self._again: deque[Match] = deque()
        """Void matches to play again."""
        self._causes: deque[Match] = deque()
        """Matches given up because their workers died; trials follow when no other match is running."""
        self._doubtful: deque[Match] = deque()
        """Matches in which versions failed to qualify beside other matches; the versions try again alone later."""
        self._remarks: list[Remark] = []
        """The remarks for the next `Progress`."""
        self._playing: dict[str, Match] = {}
        """The running matches by id."""
        self._began: dict[str, float] = {}
        """The time (`time.monotonic`) at which a worker got each running match."""
        self._home_places = HomePlaces(store.roster, plan.away_seconds)
        self._newcomers = Newcomers(
            store, chosen, is_endless=plan.matches is None, with_bots_at_home=plan.invite is not None
        )
        self._events = TournamentMatches(store, chosen)
        self._planned = dict.fromkeys(chosen, 0)
        self._counted = 0
        self._lagged = 0
        self._given_up = 0
        self._room = Room(home.folder, waits=plan.matches is None)

    def play(self) -> Iterator[Progress]:
        """Play until enough matches are over and all blocks are complete, or until the run is stopped."""
        unfinished = [match for condition in self._chosen for match in self._store.schedule.unfinished(condition)]
        playable = [match for match in unfinished if self._plan.invite is not None or not match.at_home]
        if len(playable) < len(unfinished):
            left = len(unfinished) - len(playable)
            yield Progress(
                Remark(f"left until the ladder is served: {counted(left, 'match', 'matches')} with bots at home"), 0, 0
            )
        self._add([match for match in playable if match.tournament is None])
        self._events.add(match for match in playable if match.tournament is not None)
        if playable:
            yield Progress(Remark(f"finishing {counted(len(playable), 'match', 'matches')} of an earlier run"), 0, 0)
        while True:
            for match, end in self._pool.play(self._next()):
                self._settle(match, end)
                yield from self._progress()
            yield from self._progress()
            if not self._room.is_there():
                time.sleep(IDLE_SECONDS)
                continue
            if self._doubtful:
                yield from self._try_alone()
            elif self._causes:
                yield from self._hold_trials()
            elif self._plan.matches is None or self._again or self._scheduled:  # these wait for bots at home
                time.sleep(IDLE_SECONDS)
            else:
                break
        if self._lagged:
            self._say(
                f"in {self._lagged} of {self._counted} matches the referee was late for more than"
                f" {MAX_LAG_SHARE:.0%} of the time: this machine is too busy, or has too many workers"
            )
            yield from self._progress()

    def _progress(self) -> Iterator[Progress]:
        remarks, self._remarks = self._remarks or [NOTHING], []
        for remark in remarks:
            yield Progress(remark, self._counted, max(self._plan.matches or 0, sum(self._planned.values())))

    def _say(self, text: str) -> None:
        """Add a remark on a problem to the next `Progress`."""
        self._remarks.append(Remark(text, level=logging.WARNING))

    def _tell(self, event: str, match: Match, level: int = logging.INFO, text: str = "", **fields: object) -> None:
        """Add an event of a match to the next `Progress`."""
        known = {"match": match.match_id, "game": match.condition.game, "bots": match.labels}
        self._remarks.append(Remark(text, event, level, {**known, **fields}))

    def _add(self, matches: Sequence[Match]) -> None:
        self._scheduled.extend(matches)
        for match in matches:
            self._planned[match.condition] += 1

    def _next(self) -> Iterator[Match | None]:
        """Yield the matches to play, void ones first; schedule more when no match can begin. Stop before a trial.

        Yield None while all remaining matches wait for another match of their block, newcomers, bots at home, or room.
        """
        while not (self._causes or self._doubtful):
            if not self._room.is_there():
                yield None
                continue
            self._remarks += self._events.advance()
            match = self._choose()
            if match is None:
                if not (self._again or self._scheduled or self._playing):
                    return
                yield None
                continue
            try:
                self._check(match)
            except CannotPlay as error:
                if match.block is None:
                    self._remarks.append(not_this_time(match.seats[0], match.condition, str(error)))
                    self._newcomers.let_try_later(match)
                    continue
                self._store.results.give_up(match, str(error))
                text = f"match {match.match_id} is given up: {error}"
                self._tell("match_given_up", match, logging.ERROR, text, reason=str(error))
                self._end(match)
            else:
                self._playing[match.match_id] = match
                self._began[match.match_id] = time.monotonic()
                self._events.begin(match)
                # This is noted at once, because the next progress comes only when a match is over.
                note("match_begun", match=match.match_id, game=match.condition.game, bots=match.labels)
                yield match

    def _choose(self) -> Match | None:
        """Remove and return the next match to begin.

        It belongs to an event if it is the turn of events, or if no other match can begin.
        """
        blocks = {match.block for match in self._playing.values()}
        if self._events.is_their_turn() and (match := self._events.take(blocks)) is not None:
            return match
        match = self._take()
        if match is None:
            self._fill()
            match = self._take()
        return self._events.take(blocks) if match is None else match

    def _take(self) -> Match | None:
        """Remove and return the first match that can begin now."""
        self._home_places.look(self._playing.values())
        # Qualifying matches belong to no block, and have different seeds, so any number may run.
        blocks = {match.block for match in self._playing.values()} - {None}
        for waiting in (self._again, self._scheduled):
            for match in waiting:
                if self._home_places.can_begin(match) and match.block not in blocks:
                    waiting.remove(match)
                    return match
        return None

    def _fill(self) -> None:
        """Add newcomers that have to qualify or, after enough of them, a block; add nothing if enough was played."""
        self._home_places.count_needed((*self._playing.values(), *self._again, *self._scheduled))
        if self._let_try(MAX_NEWCOMERS - self._newcomers.tried) or self._waits_for_newcomers():
            return
        if not self._add_block():
            self._let_try(MAX_NEWCOMERS)  # nothing else can be played

    def _waits_for_newcomers(self) -> bool:
        """Return True if the first block of a run has to wait for newcomers, so that they can be in it."""
        is_first = self._plan.matches is not None and not any(self._planned.values())
        return is_first and any(match.block is None for match in self._playing.values())

    def _let_try(self, most: int) -> bool:
        """Add at most `most` newcomers that have to qualify; return True if there was one."""
        matches = self._newcomers.begin(most)
        self._scheduled.extend(matches)
        return bool(matches)

    def _add_block(self) -> bool:
        """Schedule a block; return False if enough matches were played, or no submitted bot can play.

        Raises:
            TooFew: if a run that is not endless has too few bots for a block, and none of them is qualifying.
        """
        if self._plan.matches is None:
            conditions = [one for one in self._chosen if self._is_worth_playing(one)]
        elif sum(self._planned.values()) < self._plan.matches:
            conditions = [
                one for one in self._chosen if not self._newcomers.are_left(one) or self._is_worth_playing(one)
            ]
        else:
            return False
        if not conditions:
            return False
        condition = min(conditions, key=lambda condition: self._planned[condition])
        try:
            self._add(self._blocks[condition].add(secrets.randbits(62), self._is_playable))
        except TooFew:  # more bots may come
            if self._plan.matches is None or self._newcomers.are_left(condition):
                return False
            raise
        self._newcomers.tried = 0
        return True

    def _is_worth_playing(self, condition: Condition) -> bool:
        """Return True if there is a submitted bot that could play now."""
        resting = {HOUSE, *self._store.budgets.out_of_budget()}
        return any(
            version.author not in resting and self._home_places.has_time(version)
            for version in scheduled(self._store, condition)
        )

    def _is_playable(self, version: Version) -> bool:
        """Return True if a version can play; add a remark if its files have changed.

        A bot at home must have a free place.
        """
        if not self._home_places.has_time(version):
            return False
        try:
            self._inspector.check(version)
        except CannotPlay as error:
            self._say(str(error))
            return False
        return True

    def _check(self, match: Match) -> None:
        """Check that a scheduled match can still be played.

        Raises:
            CannotPlay: if a version is suspended, or its files have changed or cannot be read.
        """
        guilty = self._store.admission.guilty()
        for version in match.seats:
            if version.id in guilty:
                raise CannotPlay(f"{version.label} is suspended: {KILLS_WORKERS}")
            self._inspector.check(version)

    def _settle(self, match: Match, end: End) -> None:
        """Count a match, or note that it was void."""
        # An event that is due to close does so before this match counts.
        self._remarks += self._events.advance()
        # If the run is killed before the match is counted, it is played again, and its new record replaces this one.
        archive_match(self._home, match, end)
        del self._playing[match.match_id]
        seconds = time.monotonic() - self._began.pop(match.match_id)
        if match.block is None:
            self._settle_newcomer(match, end)
            return
        if isinstance(end, Finished):
            with self._store.writing():
                if count(self._store, match, end.result, end.record_hash):
                    self._counted += 1
                    self._store.results.note_telemetry(match.match_id, end.telemetry)
            self._lagged += end.result.lagged
            out = [
                f"{seat.bot}: {seat.outcome.value}" for seat in end.result.seats if seat.outcome is not Outcome.PLAYED
            ]
            self._tell("match_ended", match, seconds=seconds, out=out, late=end.result.lagged or None)
            self._end(match)
            return
        times = self._store.results.void(match, end.reason)
        if times < MAX_VOIDS:
            self._again.append(replace(match, voids=times))
            text = f"match {match.match_id} is void and is played again: {end.reason}"
            self._tell("match_void", match, logging.WARNING, text, attempt=times, seconds=seconds, reason=end.reason)
            return
        text = f"match {match.match_id} was void {times} times and is given up: {end.reason}"
        self._tell("match_given_up", match, logging.ERROR, text, seconds=seconds, reason=end.reason)
        self._end(match)
        if end.worker_died:
            self._causes.append(match)
        else:
            self._give_up(text)

    def _note_tried(self, match: Match) -> None:
        """Note that a match has decided a version's qualification."""
        self._newcomers.note_decided(match)
        self._blocks[match.condition].forget()  # the candidates have changed without the queue noticing

    def _settle_newcomer(self, match: Match, end: End) -> None:
        self._newcomers.let_try_later(match)
        # A bot at home does nothing on this machine that could kill a worker.
        if match.at_home and isinstance(end, Void):
            self._remarks.append(not_this_time(match.seats[0], match.condition, end.reason))
        elif match.at_home and isinstance(end, Finished) and end.result.seats[0].outcome is Outcome.START:
            self._remarks.append(not_this_time(match.seats[0], match.condition, "it did not come"))
        elif why_not(end) and not match.at_home:  # no process here can harm a bot at home
            self._doubtful.append(match)
        else:
            self._note_tried(match)
            self._remarks.append(settle_qualification(self._home, self._store, match, end))

    def _try_alone(self) -> Iterator[Progress]:
        """Let versions that failed to qualify beside other matches try again now that no other match is running."""
        while self._doubtful:
            match = self._doubtful.popleft()
            self._remarks += self._events.advance()
            self._remarks.append(qualify_alone(self._home, self._store, self._pool, match))
            yield from self._progress()
            self._newcomers.let_try_later(match)
            # A void match has decided nothing.
            if match.seats[0].id in self._store.admission.qualifications(match.condition):
                self._note_tried(match)

    def _end(self, match: Match) -> None:
        """Finish a match; if it was the last one of its block, reveal the seed of the block."""
        self._blocks[match.condition].touch(match.versions)
        if match.block is not None and self._store.schedule.is_over(match.block):
            problems = seal_block(self._home, self._store, match.block)
            self._remarks += [Remark(problem, level=logging.ERROR) for problem in problems]
        if match.tournament is not None:
            self._events.touch()

    def _give_up(self, text: str) -> None:
        """Count a match as given up for an unknown reason.

        Raises:
            LadderError: if too many matches were given up.
        """
        self._given_up += 1
        if self._given_up >= self._plan.max_given_up:
            raise LadderError(f"{self._given_up} matches were given up; look at this machine. The last: {text}")

    def _hold_trials(self) -> Iterator[Progress]:
        """Hold trials of the versions in matches that were given up because their workers died. No other match is running.

        Raises:
            LadderError: if the machine is at fault.
        """
        tried: list[Version] = []
        while self._causes:
            cause = self._causes.popleft()
            known = scheduled(self._store, cause.condition)
            house = [version for version in known if version.author == HOUSE and not thinks(version)]
            ratings = self._store.results.ratings(cause.condition)
            best = max(house, key=lambda version: ratings[version.id].low if version.id in ratings else -math.inf)
            trial = Trial(cause, best, tried)
            # All suspects have just been tried because of another match.
            if tried and not trial.suspects:
                continue
            tried += trial.suspects
            names = ", ".join(version.label for version in trial.suspects)
            self._say(f"workers died: trying {names} against house bots" if names else "workers died")
            yield from self._progress()
            yield from self._hold(trial)

    def _hold(self, trial: Trial) -> Iterator[Progress]:
        for match in trial.matches():
            end = self._pool.play_alone(match)
            archive_match(self._home, match, end)
            if isinstance(end, Finished):
                try:
                    seal_match(self._home, match.match_id, match.seed, end.record_hash)
                except SealBroken as error:
                    self._say(str(error))
            trial.settle(worker_died=isinstance(end, Void) and end.worker_died)
            if trial.machine_is_at_fault:
                raise LadderError("workers die even in matches between house bots; look at this machine (memory, disk)")
            yield from self._progress()
        for version in trial.suspects:
            self._store.admission.note_trial(trial.cause.match_id, version.id, guilty=version in trial.guilty)
        for blocks in self._blocks.values():
            blocks.forget()
        for version in trial.guilty:
            fields = {"bot": version.label, "author": version.author, "reason": KILLS_WORKERS}
            text = f"{version.label} is suspended: {KILLS_WORKERS}"
            self._remarks.append(Remark(text, "suspended", logging.WARNING, fields))
        if not trial.guilty:
            self._give_up(
                f"workers died over match {trial.cause.match_id}, but over no match in which its bots were tried"
            )
        yield from self._progress()


def count(store: Store, match: Match, result: Result, record_hash: str) -> bool:
    """Count a match in one transaction; return False if it was already counted."""
    with store.writing():
        if store.results.is_counted(match):
            return False
        store.results.count(match, result, record_hash)
        return True
