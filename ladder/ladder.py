"""A ladder: a home folder, and what can be done with it.

ladder.db        what is known (`store.py`)
versions/        the files of each version, by content
records/         a record for each match; ratings can be made again from them
logs/            what bots wrote in a match, a file for each seat, for their authors
"""

from __future__ import annotations

import fcntl
import random
import secrets
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version as installed_version
from pathlib import Path

from ladder.errors import LadderError
from ladder.intake import take_in
from ladder.pool import HOUSE_PREFIX, MAX_DEATHS, Finished, Job, JobEnd, Pool
from ladder.rating import Rating, current, rate, rate_all
from ladder.schedule import HOUSE, Candidate, next_block, rotations
from ladder.store import MAX_VOIDS, CountedMatch, PlannedMatch, Store, Version
from referee.game import Game
from referee.match.result import Outcome, Result
from referee.records.record import RecordError
from referee.records.verify import verified
from referee.registry import find, games, house_bots

SUSPENDED_AFTER = 5
"""A version that was out in so many matches in a row is not scheduled any more: it would cost everybody time."""
SUSPENDED_AFTER_GIVEN_UP = 3
"""A version all of whose matches were given up, so many at least, is not scheduled any more, either."""
MAX_GIVEN_UP = 10
"""So many matches that are given up for no known reason stop a run: something is wrong with this machine."""
QUALIFYING_CLOCK = "10+1/10"


@dataclass(frozen=True, slots=True)
class Progress:
    """Something that has happened in a run."""

    text: str
    """In words; empty for a match that went as it should."""
    played: int
    """Matches that count, of this run."""
    planned: int
    """Matches of this run in all, as far as it is known."""


class Ladder:
    """A ladder in its home folder."""

    def __init__(self, home: Path, *, create: bool = False) -> None:
        """Opens a ladder.

        Raises:
            LadderError: if the folder is none, and none shall be made.
        """
        if create:
            if home.exists() and not (home / "ladder.db").exists() and any(home.iterdir()):
                raise LadderError(f"{home} is neither a ladder nor an empty folder")
            home.mkdir(parents=True, exist_ok=True)
        self._home = home
        self._versions = home / "versions"
        self._records = home / "records"
        self._logs = home / "logs"
        self.store = Store(home / "ladder.db", create=create)

    def close(self) -> None:
        """Closes the store."""
        self.store.close()

    def submit(self, path: Path, name: str, author: str) -> tuple[Version, bool]:
        """Takes in a bot; returns its version, and whether it is new.

        Raises:
            BadBot: if it cannot be taken in.
            LadderError: if the name is taken or reserved.
        """
        if author == HOUSE or name in house_bots():
            raise LadderError(
                f"the author {HOUSE!r} and the names of house bots ({', '.join(house_bots())}) are reserved"
            )
        artefact = take_in(path, self._versions)
        return self.store.add_version(name, author, artefact.content_hash, artefact.run, artefact.games)

    # running

    def run(
        self, chosen: Sequence[Game], matches: int, workers: int, clock: str, *, same_author: bool
    ) -> Iterator[Progress]:
        """Plays at least so many matches, in whole blocks, and rates them; first finishes what an earlier run has left.

        With several games, each block is of the game that has had the fewest matches in this run.

        Raises:
            LadderError: if another run is going on, too few bots qualify, or matches are spoilt again and again.
        """
        with self._only_run():
            self._records.mkdir(exist_ok=True)
            for left in self._records.glob("*.part"):  # of workers that were killed
                left.unlink()
            with Pool(workers) as pool:
                for game in chosen:
                    self._enter_house_bots(game)
                    yield from self._qualify(game, pool)
                yield from self._play(chosen, pool, matches, clock, same_author=same_author)

    @contextmanager
    def _only_run(self) -> Iterator[None]:
        with (self._home / "run.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise LadderError(f"another run is going on in {self._home}; wait until it ends") from error
            yield

    def _enter_house_bots(self, game: Game) -> None:
        for name, bot in house_bots().items():
            if bot.plays(game):
                content = f"{HOUSE_PREFIX}{name}:{installed_version('dogana')}"
                playable = [other.name for other in games().values() if bot.plays(other)]
                version, _ = self.store.add_version(name, HOUSE, content, [], playable)
                if version.id not in self.store.qualifications(game.name):
                    self.store.qualify(version.id, game.name, passed=True, reason="house bot")

    def _qualify(self, game: Game, pool: Pool) -> Iterator[Progress]:
        """Lets every version that has not tried yet play a short match against `random`."""
        tried = self.store.qualifications(game.name)
        latest = [version for version in self._candidates(game) if version.id not in tried]
        partner = next(
            version for version in self._candidates(game) if version.author == HOUSE and version.bot == "random"
        )
        jobs = {}
        for version in latest:
            match = f"qualify-{version.id}-{secrets.token_hex(8)}"
            seats = [version] + [partner] * (game.seat_counts.start - 1)
            jobs[match] = (
                version,
                self._job(match, game.name, seats, secrets.randbits(62), {}, QUALIFYING_CLOCK),
            )
        for job, end in pool.play([job for _, job in jobs.values()]):
            version = jobs[job.match][0]
            if isinstance(end, Finished):
                seat = end.result.seats[0]
                passed = seat.outcome is Outcome.PLAYED
                reason = "" if passed else f"{seat.outcome.value}: {seat.detail}"
                self.store.qualify(version.id, game.name, passed=passed, reason=reason)
                text = (
                    f"qualifies for {game.name}"
                    if passed
                    else f"does not qualify: {reason} (its log: {job.logs / 'seat0.log'})"
                )
                yield Progress(f"{version.label} {text}", 0, 0)
            elif end.worker_died:
                self.store.qualify(version.id, game.name, passed=False, reason=end.reason)
                yield Progress(f"{version.label} does not qualify: {end.reason}", 0, 0)
            else:
                yield Progress(f"{version.label} could not be qualified this time: {end.reason}", 0, 0)

    def _play(
        self, chosen: Sequence[Game], pool: Pool, matches: int, clock: str, *, same_author: bool
    ) -> Iterator[Progress]:
        waiting = [match for game in chosen for match in self.store.unfinished(game.name)]
        planned = {match.id: match for match in waiting}
        counts = 0
        if waiting:
            yield Progress(f"finishing {len(waiting)} matches of an earlier run", 0, 0)

        def jobs() -> Iterator[Job]:
            handed_out = {game.name: 0 for game in chosen}
            queue = list(waiting)
            while queue or sum(handed_out.values()) < matches:
                if not queue:
                    game = min(chosen, key=lambda game: handed_out[game.name])
                    queue = self._schedule(game, clock, same_author=same_author)
                    planned.update((match.id, match) for match in queue)
                match = queue.pop(0)
                handed_out[match.game] += 1
                yield self._job_of(match)

        source = jobs()
        spoilt: list[Job] = []
        given_up = 0
        while True:
            for job, end in self._ends(pool, source):
                if isinstance(end, Finished):
                    counts += self._count(planned[job.match], end.result, end.record_hash)
                    text = ""
                else:
                    tries = MAX_DEATHS if end.worker_died else 1
                    times = [self.store.void(job.match, end.reason) for _ in range(tries)][-1]
                    if times < MAX_VOIDS:
                        text = f"match {job.match} is void and is played again: {end.reason}"
                        spoilt.append(job)
                    else:
                        text = f"match {job.match} was spoilt {times} times and is given up: {end.reason}"
                        suspended = self.suspended(find(job.game))
                        given_up += not any(version.id in suspended for version in job.seats)
                        if given_up >= MAX_GIVEN_UP:
                            raise LadderError(
                                f"{given_up} matches were given up; look at this machine. The last: {text}"
                            )
                yield Progress(text, counts, max(matches, len(planned)))
            if not spoilt:
                return
            source, spoilt = iter(spoilt), []

    def _ends(self, pool: Pool, jobs: Iterator[Job]) -> Iterator[tuple[Job, JobEnd]]:
        """Plays; but a match whose record is complete (the run was killed before it counted) is not played again."""
        found: list[tuple[Job, JobEnd]] = []

        def to_be_played() -> Iterator[Job]:
            for job in jobs:
                adopted = self._adopt(job)
                if adopted is None:
                    yield job
                else:
                    found.append((job, adopted))

        for done in pool.play(to_be_played()):
            yield from found
            found.clear()
            yield done
        yield from found

    def _adopt(self, job: Job) -> Finished | None:
        if not job.record.exists():
            return None
        try:
            record = verified(job.record, find)
        except RecordError:
            return None
        plan = record.plan
        expected = (job.match, job.game, [version.label for version in job.seats], job.seed, job.clock)
        if (plan.match_id, plan.game.name, plan.bots, plan.seed, str(plan.control)) != expected:
            return None
        return Finished(record.result, record.last_hash)

    def _schedule(self, game: Game, clock: str, *, same_author: bool) -> list[PlannedMatch]:
        ratings = self.store.ratings(game.name)
        parents = {version.id: version.parent for version in self.store.versions().values()}
        history = self.store.block_versions(game.name)
        last_block: dict[int, int] = {}
        meetings: dict[frozenset[int], int] = {}
        for number, versions in enumerate(history, start=1):
            for version in versions:
                last_block[version] = number
                for other in versions:
                    if other > version:
                        pair = frozenset((version, other))
                        meetings[pair] = meetings.get(pair, 0) + 1
        candidates = [
            Candidate(
                version.id,
                version.author,
                current(ratings, version.id, parents),
                last_block.get(version.id, 0),
            )
            for version in self.active(game)
        ]
        block = next_block(
            candidates,
            list(game.seat_counts),
            self.store.blocks_by_seats(game.name),
            meetings,
            len(history) + 1,
            random.Random(secrets.randbits(64)),  # noqa: S311 who meets whom is no secret
            same_author=same_author,
        )
        if block is None:
            raise LadderError(
                f"{len(candidates)} bots can play {game.name} here, too few for a match of {game.seat_counts.start} seats"
                " without two of one author; submit another, or say --same-author"
            )
        matches = {secrets.token_hex(8): seats for seats in rotations(block)}
        self.store.add_block(game.name, secrets.randbits(62), {}, clock, matches)
        return [match for match in self.store.unfinished(game.name) if match.id in matches]

    def _candidates(self, game: Game) -> list[Version]:
        """The newest version of each bot that plays the game and has not failed to qualify."""
        qualified = self.store.qualifications(game.name)
        newest = {
            version.bot: version
            for version in self.store.versions().values()
            if game.name in version.games and qualified.get(version.id, (True, ""))[0]
        }
        return list(newest.values())

    def active(self, game: Game) -> list[Version]:
        """The versions that are scheduled: the newest of each bot that has qualified, unless it is suspended."""
        qualified = self.store.qualifications(game.name)
        newest = {
            version.bot: version
            for version in self.store.versions().values()
            if qualified.get(version.id, (False, ""))[0]
        }
        suspended = self.suspended(game)
        return [version for version in newest.values() if version.id not in suspended]

    def waiting(self, game: Game) -> list[Version]:
        """The versions that are to qualify or to play their first match."""
        rated = self.store.ratings(game.name)
        return [version for version in self._candidates(game) if version.id not in rated]

    def suspended(self, game: Game) -> set[int]:
        """Versions that were out in their last matches, all of them, or in whose matches the referee died."""
        streak: dict[int, int] = {}
        for match in self.store.counted(game.name):
            for version, outcome in zip(match.versions, match.outcomes, strict=True):
                streak[version] = 0 if outcome is Outcome.PLAYED else streak.get(version, 0) + 1
        found = {version for version, length in streak.items() if length >= SUSPENDED_AFTER}
        return found | self._referee_killers(game, set(streak))

    def _referee_killers(self, game: Game, counted: set[int]) -> set[int]:
        """Those to blame for matches that were given up, but for versions that have matches that count."""
        house = {version.id for version in self.store.versions().values() if version.author == HOUSE}
        return blamed([seats - house for seats in self.store.given_up(game.name)]) - counted

    def _job_of(self, match: PlannedMatch) -> Job:
        versions = self.store.versions()
        seats = [versions[version] for version in match.seats]
        return self._job(match.id, match.game, seats, match.seed, dict(match.options), match.clock)

    def _job(
        self, match: str, game: str, seats: list[Version], seed: int, options: dict[str, object], clock: str
    ) -> Job:
        return Job(
            match=match,
            game=game,
            seats=seats,
            seed=seed,
            options=options,
            clock=clock,
            record=(self._records / f"{match}.jsonl").absolute(),
            logs=(self._logs / match).absolute(),
            versions=self._versions.absolute(),
        )

    def _count(self, match: PlannedMatch, result: Result, record_hash: str) -> int:
        known = self.store.ratings(match.game)
        parents = {version.id: version.parent for version in self.store.versions().values()}
        rated = _Rated(match.seats, tuple(seat.rank for seat in result.seats))
        return int(self.store.count(match, result, record_hash, rate(known, rated, parents)))

    # recomputing

    def recompute(self) -> list[str]:
        """Verifies every record, derives all ratings from them again, and puts them in place of the old ones.

        Returns:
            What did not agree, a line each; empty if everything did. Where a record is missing or does not agree with what
            is known of its match, the ratings are left as they were.
        """
        problems: list[str] = []
        parents = {version.id: version.parent for version in self.store.versions().values()}
        for game in games():
            counted = self.store.counted(game)
            broken = [problem for match in counted for problem in self._record_problems(match)]
            problems += broken
            if broken:
                continue
            ratings, played = rate_all(counted, parents)
            known = self.store.ratings(game)
            problems += [
                f"{game}: version {version} had {_text(known.get(version))}, its matches give {_text(ratings.get(version))}"
                for version in sorted(ratings.keys() | known.keys())
                if known.get(version) != ratings.get(version)
            ]
            self.store.replace_ratings(game, ratings, played)
        return problems

    def _record_problems(self, match: CountedMatch) -> list[str]:
        """Whether a match's record holds, is the one that was counted, and says what was counted."""
        path = self._records / f"{match.match}.jsonl"
        try:
            record = verified(path, find)
        except RecordError as error:
            return [str(error)]
        plan, result = record.plan, record.result
        versions = self.store.versions()
        labels = [versions[version].label for version in match.versions]
        if (plan.match_id, plan.game.name, plan.bots) != (match.match, match.game, labels):
            return [f"match {match.match}: the record is of another match"]
        if record.last_hash != match.record_hash:
            return [f"match {match.match}: the record is not the one that was counted"]
        seats = tuple((seat.rank, seat.outcome) for seat in result.seats)
        if seats != tuple(zip(match.ranks, match.outcomes, strict=True)) or result.digest != match.digest:
            return [f"match {match.match}: the record has another result than the one that was counted"]
        return []


@dataclass(frozen=True, slots=True)
class _Rated:
    versions: tuple[int, ...]
    ranks: tuple[int, ...]


def _text(rating: Rating | None) -> str:
    return "no rating" if rating is None else f"mu {rating.mu!r} sigma {rating.sigma!r}"


def blamed(given_up: Sequence[set[int]]) -> set[int]:
    """Those who are to blame for matches that were given up.

    Whoever sat in clearly the most of them, and in `SUSPENDED_AFTER_GIVEN_UP` or more, is to blame for all of those. The next
    is found among the matches that are left, so that nobody is blamed for having met a culprit.

    Args:
        given_up: the versions in each match that may be to blame for it.
    """
    found: set[int] = set()
    while True:
        left = [seats for seats in given_up if not seats & found]
        most = Counter(version for seats in left for version in seats).most_common(2)
        if not most or most[0][1] < SUSPENDED_AFTER_GIVEN_UP or (len(most) > 1 and most[1][1] == most[0][1]):
            return found
        found.add(most[0][0])
