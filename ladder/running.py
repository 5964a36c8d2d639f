"""A run: takes the lock, lets new versions qualify, plays matches, and counts them."""

from __future__ import annotations

import random
import secrets
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version as installed_version

from ladder.errors import LadderError
from ladder.home import Home
from ladder.match import HOUSE, HOUSE_PREFIX, Match
from ladder.pool import MAX_DEATHS, Finished, JobEnd, Pool, Spoilt
from ladder.rating import current, rate
from ladder.schedule import Candidate, next_block, rotations
from ladder.schema import MAX_VOIDS
from ladder.standings import scheduled, to_qualify
from ladder.store import Store, Tally
from referee.game import Game
from referee.match.result import Outcome, Result
from referee.records.record import RecordError, last_hash
from referee.records.verify import verified
from referee.registry import find, games, house_bots

MAX_GIVEN_UP = 10
"""A run in which this many matches are given up for no known reason ends: something is wrong with this machine."""
QUALIFYING_CLOCK = "10+1/10"


@dataclass(frozen=True, slots=True)
class Progress:
    """Something that has happened in a run."""

    text: str
    """In words; empty for a match that went as it should."""
    played: int
    """Matches of this run that count."""
    planned: int
    """Matches of this run in all, as far as it is known."""


def run(
    home: Home, store: Store, chosen: Sequence[Game], matches: int, workers: int, clock: str, *, same_author: bool
) -> Iterator[Progress]:
    """Finish what an earlier run has left, then play matches in whole blocks, and rate them.

    Args:
        home: the folder of the ladder.
        store: what it knows.
        chosen: the games; each block is of the one that has had the fewest matches in this run.
        matches: the least number of matches to be played.
        workers: how many are played at a time.
        clock: the time control of each seat.
        same_author: whether two bots of one author may meet.

    Raises:
        LadderError: if another run is going on, too few bots qualify, or matches are void again and again.
    """
    with home.only_run():
        home.records.mkdir(exist_ok=True)
        for left in home.records.glob("*.part"):  # of workers that were killed
            left.unlink()
        with Pool(home, workers) as pool:
            for game in chosen:
                enter_house_bots(store, game)
                yield from qualify(home, store, pool, game)
            yield from _Play(home, store, pool, chosen, matches, clock, same_author=same_author).play()


def enter_house_bots(store: Store, game: Game) -> None:
    """Add the house bots that play a game; they need not qualify."""
    for name, bot in house_bots().items():
        if bot.plays(game):
            content = f"{HOUSE_PREFIX}{name}:{installed_version('dogana')}"
            playable = [other.name for other in games().values() if bot.plays(other)]
            version, _ = store.add_version(name, HOUSE, content, [], playable)
            if version.id not in store.qualifications(game.name):
                store.qualify(version.id, game.name, passed=True, reason="house bot")


def qualify(home: Home, store: Store, pool: Pool, game: Game) -> Iterator[Progress]:
    """Let every version that has not tried yet play a short match against `random`."""
    partner = next(
        version for version in scheduled(store, game.name) if version.author == HOUSE and version.bot == "random"
    )
    trials = [
        Match(
            match_id=f"qualify-{version.id}-{secrets.token_hex(8)}",
            block=None,
            game=game.name,
            seats=(version, *[partner] * (game.seat_counts.start - 1)),
            seed=secrets.randbits(62),
            options={},
            clock=QUALIFYING_CLOCK,
        )
        for version in to_qualify(store, game.name)
    ]
    for match, end in pool.play(trials):
        version = match.seats[0]
        if isinstance(end, Spoilt) and not end.worker_died:
            yield Progress(f"{version.label} could not be qualified this time: {end.reason}", 0, 0)
            continue
        reason, hint = _why_not(end), ""
        if reason and isinstance(end, Finished):
            hint = f" (its log: {home.logs(match.match_id) / 'seat0.log'})"
        store.qualify(version.id, game.name, passed=not reason, reason=reason)
        text = f"does not qualify: {reason}{hint}" if reason else f"qualifies for {game.name}"
        yield Progress(f"{version.label} {text}", 0, 0)


def _why_not(end: JobEnd) -> str:
    """Return why a version does not qualify; empty if it does."""
    if isinstance(end, Spoilt):
        return end.reason
    seat = end.result.seats[0]
    return "" if seat.outcome is Outcome.PLAYED else f"{seat.outcome.value}: {seat.detail}"


class _Play:
    """The matches of one run."""

    def __init__(
        self,
        home: Home,
        store: Store,
        pool: Pool,
        chosen: Sequence[Game],
        matches: int,
        clock: str,
        *,
        same_author: bool,
    ) -> None:
        self._home = home
        self._store = store
        self._pool = pool
        self._chosen = chosen
        self._matches = matches
        self._clock = clock
        self._same_author = same_author
        self._queue: deque[Match] = deque()
        """Scheduled, and not handed out yet."""
        self._again: list[Match] = []
        """Void, and to be played again when all others are over."""
        self._handed_out = {game.name: 0 for game in chosen}
        self._planned = 0
        self._counted = 0
        self._given_up = 0

    def play(self) -> Iterator[Progress]:
        """Play until enough matches are over, and all blocks whole."""
        for game in self._chosen:
            self._plan(self._store.unfinished(game.name))
        if self._queue:
            yield Progress(f"finishing {len(self._queue)} matches of an earlier run", 0, 0)
            self._adopt()
            yield self._progress("")
        source = self._next()
        while True:
            for match, end in self._pool.play(source):
                yield self._progress(self._settle(match, end))
            if not self._again:
                return
            source, self._again = iter(self._again), []

    def _progress(self, text: str) -> Progress:
        return Progress(text, self._counted, max(self._matches, self._planned))

    def _plan(self, matches: Sequence[Match]) -> None:
        self._queue.extend(matches)
        self._planned += len(matches)

    def _adopt(self) -> None:
        """Count the matches whose record is complete: the run was killed before they counted."""
        for match in list(self._queue):
            end = adopted(self._home, match)
            if end is not None:
                self._queue.remove(match)
                self._handed_out[match.game] += 1
                self._settle(match, end)

    def _next(self) -> Iterator[Match]:
        """Yield what is to be played; schedule a block when nothing is left."""
        while self._queue or sum(self._handed_out.values()) < self._matches:
            if not self._queue:
                game = min(self._chosen, key=lambda game: self._handed_out[game.name])
                seed = secrets.randbits(62)
                self._plan(schedule(self._store, game, self._clock, seed, same_author=self._same_author))
            match = self._queue.popleft()
            self._handed_out[match.game] += 1
            yield match

    def _settle(self, match: Match, end: JobEnd) -> str:
        """Count a match, or note that it was void; return what there is to say."""
        if isinstance(end, Finished):
            self._counted += count(self._store, match, end.result, end.record_hash)
            return ""
        tries = MAX_DEATHS if end.worker_died else 1
        times = [self._store.void(match, end.reason) for _ in range(tries)][-1]
        if times < MAX_VOIDS:
            self._again.append(match)
            return f"match {match.match_id} is void and is played again: {end.reason}"
        text = f"match {match.match_id} was void {times} times and is given up: {end.reason}"
        self._given_up += 1
        if self._given_up >= MAX_GIVEN_UP:
            raise LadderError(f"{self._given_up} matches were given up; look at this machine. The last: {text}")
        return text


def adopted(home: Home, match: Match) -> Finished | None:
    """Return the end of a match whose record is complete; None if it has no record of its own that holds."""
    path = home.record(match.match_id)
    if not path.exists():
        return None
    try:
        plan, result = verified(path, find)
    except RecordError:
        return None
    expected = (match.match_id, match.game, match.labels, match.seed, match.clock)
    if (plan.match_id, plan.game.name, plan.bots, plan.seed, str(plan.control)) != expected:
        return None
    return Finished(result, last_hash(path))


def count(store: Store, match: Match, result: Result, record_hash: str) -> bool:
    """Make a match count, in one transaction; return False if it counts already.

    The versions in it are rated, unless the same was played before between them in these seats: that is no new evidence.
    """
    with store.writing():
        if store.is_counted(match):
            return False
        ratings = None
        if not store.was_played(match, result.digest):
            parents = {version.id: version.parent for version in store.versions().values()}
            ranks = [seat.rank for seat in result.seats]
            ratings = rate(store.ratings(match.game), match.versions, ranks, parents)
        store.count(match, result, record_hash, ratings)
        return True


def schedule(store: Store, game: Game, clock: str, schedule_seed: int, *, same_author: bool) -> list[Match]:
    """Draw who plays next, and add the block.

    Args:
        store: the ladder.
        game: the game.
        clock: the time control of each seat.
        schedule_seed: decides who meets whom, and is kept with the block, so that this can be drawn again.
        same_author: whether two bots of one author may meet.

    Raises:
        LadderError: if too few versions can be scheduled.
    """
    with store.writing():
        ratings, tallies = store.ratings(game.name), store.tallies(game.name)
        sizes = store.blocks_by_seats(game.name)
        parents = {version.id: version.parent for version in store.versions().values()}
        candidates = [
            Candidate(
                version.id,
                version.author,
                current(ratings, version.id, parents),
                tallies.get(version.id, Tally()).last_block,
            )
            for version in sorted(scheduled(store, game.name), key=lambda version: version.id)
        ]
        block = next_block(
            candidates,
            list(game.seat_counts),
            sizes,
            store.meetings(game.name),
            sum(sizes.values()) + 1,
            random.Random(schedule_seed),  # noqa: S311 who meets whom is no secret
            same_author=same_author,
        )
        if block is None:
            raise LadderError(
                f"{len(candidates)} bots can play {game.name} here, too few for a match of {game.seat_counts.start} seats"
                " without two of one author; submit another, or say --same-author"
            )
        tables = {secrets.token_hex(8): seats for seats in rotations(block)}
        return store.add_block(game.name, secrets.randbits(62), {}, clock, tables, schedule_seed)
