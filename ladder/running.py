"""Run a ladder: take the lock, let new versions qualify, play matches, and count them."""

from __future__ import annotations

import contextlib
import math
import secrets
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version as installed_version

from ladder.blocks import Blocks
from ladder.condition import Agreed, Condition
from ladder.errors import CannotPlay, LadderError, SealBroken, TooFew
from ladder.home import Home
from ladder.intake import Inspector, open_to_boxes
from ladder.key import ladder_key
from ladder.match import HOUSE, HOUSE_PREFIX, Match, Version
from ladder.playing import sweep
from ladder.pool import JOIN_SECONDS, End, Finished, Pool, Void
from ladder.rating import rate
from ladder.schema import MAX_VOIDS
from ladder.sealing import seal_block, seal_blocks, seal_match
from ladder.standings import KILLS_WORKERS, scheduled, to_qualify
from ladder.store import Store
from ladder.trial import Trial
from referee.files import private_folder
from referee.match.clock import TimeControl
from referee.match.result import MAX_LAG_SHARE, Outcome, Result
from referee.registry import find, games, house_bots
from referee.sandbox.box import Sandbox

IDLE_SECONDS = 1.0
"""How often a run that goes on until it is stopped looks for something to play."""
TRY_AGAIN_SECONDS = 900.0
"""When such a run lets a version try again to qualify whose match was void, or whose files were not there."""
MAX_GIVEN_UP = 10
"""A run in which this many matches are given up for no known reason ends: something is wrong with this machine."""


@dataclass(frozen=True, slots=True)
class RunPlan:
    """What a run is to do."""

    games: Sequence[Agreed]
    """Each block is of the one that has had the fewest matches in this run."""
    matches: int | None
    """The least number of matches to be played; None to play until somebody stops the run."""
    workers: int
    """How many are played at a time."""
    clock: TimeControl
    """The time control of each seat."""
    join_seconds: float = JOIN_SECONDS
    """How long agents may take to join."""
    same_author: bool = False
    """Whether two bots of one author may meet."""
    sandbox: Sandbox | None = None
    """What confines submitted bots; None to let them run with the rights of this process."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Something that has happened in a run."""

    text: str
    """In words; empty for a match that went as it should."""
    played: int
    """Matches of this run that count."""
    planned: int
    """All matches of this run, as far as they are known."""


def run(home: Home, store: Store, plan: RunPlan) -> Iterator[Progress]:
    """Finish what an earlier run under the same conditions has left, then play matches in whole blocks, and rate them.

    Raises:
        LadderError: if another run is going on, too few bots qualify, or matches are void again and again.
    """
    with home.only_run():
        private_folder(home.records)
        home.sweep_records()
        ladder_key(home, store)
        sweep(home)
        if plan.sandbox is not None:
            open_to_boxes(home.versions)
        for problem in seal_blocks(home, store):  # that were over when an earlier run was killed
            yield Progress(problem, 0, 0)
        chosen = {store.condition(one.game.name, one.options, str(plan.clock)): one.seat_counts for one in plan.games}
        for other, count in store.open_matches().items():
            if other not in chosen:
                yield Progress(f"{count} matches of another run are left; they need {other.arguments}", 0, 0)
        with Pool(home, plan.workers, join_seconds=plan.join_seconds, sandbox=plan.sandbox) as pool:
            for condition, seat_counts in chosen.items():
                enter_house_bots(store, condition)
                yield from qualify(home, store, pool, condition, min(seat_counts))
            yield from _Play(home, store, pool, chosen, plan).play()


def enter_house_bots(store: Store, condition: Condition) -> None:
    """Add the house bots that play a game; they need not qualify."""
    game = find(condition.game)
    for name, bot in house_bots().items():
        if bot.plays(game):
            content = f"{HOUSE_PREFIX}{name}:{installed_version('dogana')}"
            playable = [other.name for other in games().values() if bot.plays(other)]
            version, _ = store.add_version(name, HOUSE, content, [], playable)
            if version.id not in store.qualifications(condition):
                store.qualify(version.id, condition, passed=True, reason="house bot")


def qualify(home: Home, store: Store, pool: Pool, condition: Condition, seats: int) -> Iterator[Progress]:
    """Let every version that has not tried yet under this condition play a match of so many seats against `random`.

    They play at the same time, and a neighbour could stop the agent of another, or its worker. So what went wrong then decides
    nothing: it is played again while nothing else runs.
    """
    partner = _partner(store, condition)
    trying: list[Match] = []
    inspector = Inspector(home.versions)
    for version in to_qualify(store, condition):
        try:
            inspector.check(version)
        except CannotPlay as error:
            yield Progress(f"{version.label} could not be qualified this time: {error}", 0, 0)
        else:
            trying.append(_qualifying(version, partner, condition, seats))
    failed: list[Match] = []
    for match, end in pool.play(trying):
        if _why_not(end):
            failed.append(match)
        else:
            yield _qualified(home, store, match, end)
    for match in failed:
        yield _qualify_alone(home, store, pool, match)


def _partner(store: Store, condition: Condition) -> Version:
    """Return the bot against which versions qualify."""
    return next(
        version for version in scheduled(store, condition) if version.author == HOUSE and version.bot == "random"
    )


def _qualify_alone(home: Home, store: Store, pool: Pool, failed: Match) -> Progress:
    """Let a version try once more to qualify while nothing else is being played; this decides."""
    version, *partners = failed.seats
    for _ in range(MAX_VOIDS):
        match = _qualifying(version, partners[0], failed.condition, len(failed.seats))
        end = pool.play_alone(match)
        if not (isinstance(end, Void) and end.worker_died):
            break
    return _qualified(home, store, match, end)


def _qualifying(version: Version, partner: Version, condition: Condition, seats: int) -> Match:
    """Return a match in which a version can qualify."""
    return Match(
        match_id=f"qualify-{version.id}-{secrets.token_hex(8)}",
        block=None,
        condition=condition,
        seats=(version, *[partner] * (seats - 1)),
        seed=secrets.randbits(62),
    )


def _qualified(home: Home, store: Store, match: Match, end: End) -> Progress:
    """Note whether a version got through its qualification; return what is to be said."""
    version, hint = match.seats[0], ""
    if isinstance(end, Void) and not end.worker_died:
        return Progress(f"{version.label} could not be qualified this time: {end.reason}", 0, 0)
    reason = _why_not(end)
    if isinstance(end, Finished):
        hint = f" (its log: {home.logs(match.match_id) / 'seat0.log'})" if reason else ""
        try:
            seal_match(home, match.match_id, match.seed, end.record_hash)
        except SealBroken as error:
            hint += f"; {error}"
    store.qualify(version.id, match.condition, passed=not reason, reason=reason)
    text = f"does not qualify: {reason}" if reason else f"qualifies for {match.condition.game}"
    return Progress(f"{version.label} {text}{hint}", 0, 0)


def _why_not(end: End) -> str:
    """Return why a version does not qualify; empty if it does."""
    if isinstance(end, Void):
        return f"its worker died {MAX_VOIDS} times: {end.reason}" if end.worker_died else end.reason
    seat = end.result.seats[0]
    return "" if seat.outcome is Outcome.PLAYED else f"{seat.outcome.value}: {seat.detail}"


class _Play:
    """The matches of one run."""

    def __init__(
        self,
        home: Home,
        store: Store,
        pool: Pool,
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
            condition: Blocks(store, condition, seat_counts, same_author=plan.same_author)
            for condition, seat_counts in chosen.items()
        }
        self._scheduled: deque[Match] = deque()
        """Not handed out yet."""
        self._again: deque[Match] = deque()
        """Void, and to be played again."""
        self._causes: deque[Match] = deque()
        """Given up because their workers died; trials follow as soon as nothing else is being played."""
        self._tries_again: dict[tuple[int, int], float] = {}
        """When each newcomer under a condition may play to qualify once more, if nothing came of it, by `time.monotonic`."""
        self._doubtful: deque[Match] = deque()
        """Versions did not qualify in these, beside other matches; they try again as soon as nothing else is being played."""
        self._remarks: list[str] = []
        """What is to be said with the next progress."""
        self._handed_out = dict.fromkeys(chosen, 0)
        self._planned = 0
        self._counted = 0
        self._lagged = 0
        self._given_up = 0

    def play(self) -> Iterator[Progress]:
        """Play until enough matches are over, and all blocks whole; or until somebody stops the run."""
        for condition in self._chosen:
            self._add(self._store.unfinished(condition))
        if self._scheduled:
            yield Progress(f"finishing {len(self._scheduled)} matches of an earlier run", 0, 0)
        while True:
            for match, end in self._pool.play(self._next()):
                self._settle(match, end)
                yield from self._progress()
            yield from self._progress()
            if self._doubtful:
                yield from self._try_alone()
            if self._causes:
                yield from self._hold_trials()
            elif self._plan.matches is None:
                time.sleep(IDLE_SECONDS)
            elif not self._again:
                break
        if self._lagged:
            self._remarks.append(
                f"in {self._lagged} of {self._counted} matches the referee was late for more than"
                f" {MAX_LAG_SHARE:.0%} of the time: this machine is too busy, or has too many workers"
            )
            yield from self._progress()

    def _progress(self) -> Iterator[Progress]:
        remarks, self._remarks = self._remarks or [""], []
        for text in remarks:
            yield Progress(text, self._counted, max(self._plan.matches or 0, self._planned))

    def _add(self, matches: Sequence[Match]) -> None:
        self._scheduled.extend(matches)
        self._planned += len(matches)

    def _next(self) -> Iterator[Match]:
        """Yield what is to be played: what was void first; schedule a block when nothing is left. Stop before a trial."""
        while not (self._causes or self._doubtful):
            if not (self._again or self._scheduled):
                self._fill()
            if self._again:
                match = self._again.popleft()
            elif self._scheduled:
                match = self._scheduled.popleft()
                self._handed_out[match.condition] += 1
            else:
                return
            try:
                self._check(match)
            except CannotPlay as error:
                if match.block is None:
                    self._remarks.append(str(error))
                    continue
                self._store.give_up(match, str(error))
                self._end(match, f"match {match.match_id} is given up: {error}")
            else:
                yield match

    def _fill(self) -> None:
        """Add newcomers who are to qualify, or else a block, unless enough was played."""
        if self._plan.matches is None:
            self._scheduled.extend(self._newcomers())
            if not self._scheduled and self._is_worth_playing():
                with contextlib.suppress(TooFew):  # others may come
                    self._schedule()
        elif sum(self._handed_out.values()) < self._plan.matches:
            self._schedule()

    def _newcomers(self) -> Iterator[Match]:
        """Yield a match for each version that is to qualify, and does not do so already."""
        for condition, seat_counts in self._chosen.items():
            for version in to_qualify(self._store, condition):
                now, key = time.monotonic(), (version.id, condition.id)
                if self._tries_again.get(key, 0.0) <= now:
                    self._tries_again[key] = now + TRY_AGAIN_SECONDS
                    yield _qualifying(version, _partner(self._store, condition), condition, min(seat_counts))

    def _is_worth_playing(self) -> bool:
        """Tell whether there is a bot that somebody has submitted, in each game that is played."""
        return all(
            any(version.author != HOUSE for version in scheduled(self._store, condition)) for condition in self._chosen
        )

    def _schedule(self) -> None:
        """Schedule a block of the game that has had the fewest matches."""
        condition = min(self._chosen, key=lambda condition: self._handed_out[condition])
        self._add(self._blocks[condition].add(secrets.randbits(62), self._is_playable))

    def _is_playable(self, version: Version) -> bool:
        """Return whether the files of a version are those that were submitted; if not, that is said."""
        try:
            self._inspector.check(version)
        except CannotPlay as error:
            self._remarks.append(str(error))
            return False
        return True

    def _check(self, match: Match) -> None:
        """Check that a match that was scheduled can still be played.

        Raises:
            CannotPlay: if it cannot.
        """
        guilty = self._store.guilty()
        for version in match.seats:
            if version.id in guilty:
                raise CannotPlay(f"{version.label} is suspended: {KILLS_WORKERS}")
            self._inspector.check(version)

    def _settle(self, match: Match, end: End) -> None:
        """Count a match, or note that it was void."""
        if match.block is None:
            self._settle_newcomer(match, end)
            return
        if isinstance(end, Finished):
            with self._store.writing():
                if count(self._store, match, end.result, end.record_hash):
                    self._counted += 1
                    self._store.note_telemetry(match, end.telemetry)
            self._lagged += end.result.lagged
            self._end(match, "")
            return
        times = self._store.void(match, end.reason)
        if times < MAX_VOIDS:
            self._again.append(replace(match, voids=times))
            self._remarks.append(f"match {match.match_id} is void and is played again: {end.reason}")
            return
        text = f"match {match.match_id} was void {times} times and is given up: {end.reason}"
        self._end(match, text)
        if end.worker_died:
            self._causes.append(match)
        else:
            self._give_up(text)

    def _settle_newcomer(self, match: Match, end: End) -> None:
        if _why_not(end):
            self._doubtful.append(match)
        else:
            self._tries_again.pop((match.seats[0].id, match.condition.id), None)
            self._remarks.append(_qualified(self._home, self._store, match, end).text)

    def _try_alone(self) -> Iterator[Progress]:
        """Let versions that did not qualify beside others try again. Nothing else is being played."""
        while self._doubtful:
            match = self._doubtful.popleft()
            yield _qualify_alone(self._home, self._store, self._pool, match)
            if match.seats[0].id in self._store.qualifications(match.condition):
                self._tries_again.pop((match.seats[0].id, match.condition.id), None)

    def _end(self, match: Match, text: str) -> None:
        """Say that a match is over, and reveal the seed of its block if it was the last one."""
        if text:
            self._remarks.append(text)
        self._blocks[match.condition].touch(match.versions)
        if match.block is not None and self._store.is_over(match.block):
            self._remarks += seal_block(self._home, self._store, match.block)

    def _give_up(self, text: str) -> None:
        """Count a match that was given up for no known reason.

        Raises:
            LadderError: if it is one too many.
        """
        self._given_up += 1
        if self._given_up >= MAX_GIVEN_UP:
            raise LadderError(f"{self._given_up} matches were given up; look at this machine. The last: {text}")

    def _hold_trials(self) -> Iterator[Progress]:
        """Hold the trials of the versions in matches that were given up because their workers died. Nothing else is being played.

        Raises:
            LadderError: if the machine is at fault.
        """
        tried: list[Version] = []
        while self._causes:
            cause = self._causes.popleft()
            house = [version for version in scheduled(self._store, cause.condition) if version.author == HOUSE]
            ratings = self._store.ratings(cause.condition)
            best = max(house, key=lambda version: ratings[version.id].low if version.id in ratings else -math.inf)
            trial = Trial(cause, best, tried)
            if tried and not trial.suspects:
                continue
            tried += trial.suspects
            names = ", ".join(version.label for version in trial.suspects)
            self._remarks.append(f"workers died: trying {names} against house bots" if names else "workers died")
            yield from self._progress()
            yield from self._hold(trial)

    def _hold(self, trial: Trial) -> Iterator[Progress]:
        for match in trial.matches():
            end = self._pool.play_alone(match)
            if isinstance(end, Finished):
                try:
                    seal_match(self._home, match.match_id, match.seed, end.record_hash)
                except SealBroken as error:
                    self._remarks.append(str(error))
            trial.settle(worker_died=isinstance(end, Void) and end.worker_died)
            if trial.machine_is_at_fault:
                raise LadderError("workers die even in matches between house bots; look at this machine (memory, disk)")
            yield from self._progress()
        for version in trial.suspects:
            self._store.note_trial(trial.cause.match_id, version.id, guilty=version in trial.guilty)
        for blocks in self._blocks.values():
            blocks.forget()
        self._remarks += [f"{version.label} is suspended: {KILLS_WORKERS}" for version in trial.guilty]
        if not trial.guilty:
            self._give_up(
                f"workers died over match {trial.cause.match_id}, but over no match in which its bots were tried"
            )
        yield from self._progress()


def count(store: Store, match: Match, result: Result, record_hash: str) -> bool:
    """Make a match count, in one transaction; return False if it counts already.

    The versions in it are rated, unless the same was played before between them in these seats: that is no new evidence.
    """
    with store.writing():
        if store.is_counted(match):
            return False
        ratings = None
        if not store.was_played(match, result.digest):
            parents = {version.id: version.parent for version in store.versions(match.versions).values()}
            ranks = [seat.rank for seat in result.seats]
            ratings = rate(store.ratings(match.condition, parents), match.versions, ranks, parents)
        store.count(match, result, record_hash, ratings)
        return True
