"""What a ladder knows, in one SQLite file. `schema.py` says what is a fact and what follows from facts.

Any number of processes may have the file open. Every transaction that writes begins with `begin immediate`: it waits for the others
before it reads, so that what it read still holds when it writes. (A transaction that begins deferred fails with "database is
locked" as soon as somebody else has written since it first read, however long it is told to wait.)
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby, permutations
from operator import itemgetter
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

from sqlite_utils import Database

from ladder.errors import LadderError
from ladder.match import Count, Match, Version
from ladder.rating import Rating
from ladder.schema import DERIVED, MAX_VOIDS, derive, differences, migrations
from referee.match.result import Outcome, Result

_PATIENCE = 30.0
"""For how many seconds a transaction waits for those of other processes; each takes milliseconds."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What is kept of a version's matches at a game."""

    matches: int = 0
    """Matches that count."""
    different: int = 0
    """Those of them that were played differently from every earlier one between the same versions in the same seats."""
    wins: int = 0
    """Matches in which it was first, shared first places included."""
    faults: int = 0
    """Matches in which it was out by a fault of its own."""
    faults_in_a_row: int = 0
    """How many of its last matches that was, without one that it played to the end."""
    last_block: int = 0
    """The id of the last block in which it was scheduled; 0 if there is none."""


class Store:
    """The SQLite file of a ladder. Use it as a context manager, or close it."""

    def __init__(self, path: Path, *, create: bool) -> None:
        """Open the file, and bring it to the current layout.

        Args:
            path: `ladder.db` in the folder of the ladder.
            create: whether to make a ladder if there is no such file.

        Raises:
            LadderError: if it is not a ladder, one of a newer version, or cannot be read.
        """
        self._path = path
        if not create and not path.is_file():
            raise LadderError(f"{path.parent} is not a ladder: there is no {path.name}; submit a bot to make one")
        with self._explained():
            if path.exists():
                self._look_at(create=create)
            else:
                path.touch(mode=0o600)  # SQLite gives the files beside it the same mode
            self._db = Database(self._connect())
            try:
                self._db.execute("pragma foreign_keys = on").close()
                self._migrate()
            except BaseException:
                self._db.close()
                raise

    def _connect(self) -> sqlite3.Connection:
        if self._may_write():
            return sqlite3.connect(self._path, timeout=_PATIENCE, isolation_level=None)
        # SQLite reads beside a writer through shared memory in a third file. Without these two nobody is writing.
        beside = self._path.with_name(f"{self._path.name}-wal").exists()
        mode = "mode=ro" if beside else "immutable=1"
        return sqlite3.connect(f"{_uri(self._path)}?{mode}", uri=True, timeout=_PATIENCE, isolation_level=None)

    def _may_write(self) -> bool:
        return not self._path.exists() or (os.access(self._path, os.W_OK) and os.access(self._path.parent, os.W_OK))

    def _look_at(self, *, create: bool) -> None:
        """Refuse a file that is not a ladder, without changing it."""
        with contextlib.closing(sqlite3.connect(f"{_uri(self._path)}?mode=ro", uri=True, timeout=_PATIENCE)) as file:
            db = Database(file)
            known = {migration.name for migration in migrations.applied(db)} if db.table_names() else set()
            if known - {migration.name for migration in migrations.pending(Database(memory=True))}:
                raise LadderError(f"{self._path} was made by a newer version of Dogana; update this one")
            if not known and (db.table_names() or not create):
                raise LadderError(f"{self._path} is an SQLite file, but not a ladder")

    def _migrate(self) -> None:
        if not migrations.pending(self._db):
            return
        if not self._may_write():
            raise LadderError(
                f"{self._path} was made by an older version of Dogana and cannot be updated here, because it cannot be"
                " written; open it once as its owner"
            )
        self._db.execute("pragma journal_mode = wal").close()
        with self.writing():  # whoever comes second finds nothing left to do
            migrations.apply(self._db)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    # transactions

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Run a transaction that writes: all of it happens or nothing. Inside of another one, it is a part of that.

        Raises:
            LadderError: if the disk is full, or the file is damaged, locked for too long or cannot be written.
        """
        if self._db.conn.in_transaction:
            yield
            return
        with self._explained(), self._transaction("begin immediate"):
            yield

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Let everything that is read inside see the same moment, whatever other processes write meanwhile.

        Raises:
            LadderError: if the file is damaged or cannot be read.
        """
        with self._explained(), self._transaction("begin deferred"):
            yield

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        self._db.conn.execute(begin)
        try:
            yield
            self._db.conn.execute("commit")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):  # on a full disk SQLite has rolled back already
                self._db.conn.execute("rollback")
            raise

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Say in one line what SQLite could not do, and what can be done about it."""
        try:
            yield
        except sqlite3.Error as error:
            code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
            hint = _HINTS.get(code)
            if hint is None and not isinstance(error, sqlite3.OperationalError):
                raise
            raise LadderError(f"{self._path}: {hint or error}") from error

    def _rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[dict[str, Any]]:
        return list(self._each(sql, parameters))

    def _each(self, sql: str, parameters: Sequence[Any] = ()) -> Iterator[dict[str, Any]]:
        with self._explained():
            cursor = self._db.conn.execute(sql, parameters)
            names = [column[0] for column in cursor.description]
            for row in cursor:
                yield dict(zip(names, row, strict=True))

    def _write(self, sql: str, parameters: Sequence[Any] = ()) -> None:
        with self._explained():
            self._db.conn.execute(sql, parameters)

    def _write_each(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        with self._explained():
            self._db.conn.executemany(sql, rows)

    # bots and versions

    def add_version(
        self, bot: str, author: str, content_hash: str, run: Sequence[str], games: Sequence[str]
    ) -> tuple[Version, bool]:
        """Add a version, and the bot if it is new; return it, and whether it is new.

        Raises:
            LadderError: if the bot belongs to another author.
        """
        with self.writing():
            self._write("insert or ignore into bots (name, author, created_at) values (?, ?, ?)", [bot, author, _now()])
            [owner] = self._rows("select * from bots where name = ?", [bot])
            if owner["author"] != author:
                raise LadderError(f"bot {bot} belongs to {owner['author']}, not to {author}; choose another name")
            key = [owner["id"], content_hash]
            known = self._rows("select id from versions where bot = ? and content_hash = ?", key)
            if not known:
                self._write(
                    """
                    insert into versions (bot, number, content_hash, run, games, submitted_at)
                    values (?1, 1 + (select count(*) from versions where bot = ?1), ?2, ?3, ?4, ?5)
                    """,
                    [*key, json.dumps(list(run)), json.dumps(list(games)), _now()],
                )
            [row] = self._rows("select id from versions where bot = ? and content_hash = ?", key)
            return self.versions()[row["id"]], not known

    def versions(self) -> dict[int, Version]:
        """Return all versions by id."""
        found: dict[int, Version] = {}
        latest: dict[str, int] = {}
        for row in self._rows(
            "select versions.*, bots.name, bots.author from versions join bots on bots.id = versions.bot order by versions.id"
        ):
            found[row["id"]] = Version(
                id=row["id"],
                bot=row["name"],
                author=row["author"],
                number=row["number"],
                content_hash=row["content_hash"],
                run=tuple(json.loads(row["run"])),
                games=tuple(json.loads(row["games"])),
                parent=latest.get(row["name"]),
            )
            latest[row["name"]] = row["id"]
        return found

    def qualify(self, version: int, game: str, *, passed: bool, reason: str) -> None:
        """Note whether a version got through its qualification for a game."""
        with self.writing():
            self._write(
                "insert into qualifications (version, game, passed, reason, at) values (?, ?, ?, ?, ?)",
                [version, game, int(passed), reason, _now()],
            )

    def qualifications(self, game: str) -> dict[int, tuple[bool, str]]:
        """Return for each version that has tried: whether it got through, and why not."""
        rows = self._rows("select version, passed, reason from qualifications where game = ?", [game])
        return {row["version"]: (bool(row["passed"]), row["reason"]) for row in rows}

    # scheduling

    def add_block(
        self,
        game: str,
        seed: int,
        options: Mapping[str, Any],
        clock: str,
        tables: Mapping[str, Sequence[int]],
        schedule_seed: int,
    ) -> list[Match]:
        """Schedule a block; return its matches.

        Args:
            game: the name of the game.
            seed: the seed of all its matches.
            options: the options of the game.
            clock: the time control, as `TimeControl.parse` reads it.
            tables: for each match id the version in each seat, in the order of the rotations.
            schedule_seed: the seed from which it was drawn who meets whom.
        """
        first = next(iter(tables.values()))
        with self.writing():
            self._write(
                """
                insert into blocks (game, seats, seed, options, clock, created_at, schedule_seed, after_number)
                values (?, ?, ?, ?, ?, ?, ?, (select coalesce(max(number), 0) from results))
                """,
                [game, len(first), seed, json.dumps(dict(options)), clock, _now(), schedule_seed],
            )
            [row] = self._rows("select max(id) as id from blocks")
            block = row["id"]
            for rotation, (match_id, versions) in enumerate(tables.items()):
                self._write("insert into matches (id, block, rotation) values (?, ?, ?)", [match_id, block, rotation])
                self._write("insert into open_matches (match, game) values (?, ?)", [match_id, game])
                self._write_each(
                    "insert into seats (match, seat, version) values (?, ?, ?)",
                    ([match_id, seat, version] for seat, version in enumerate(versions)),
                )
            self._write_each(
                """
                insert into tallies (game, version, last_block) values (?, ?, ?)
                on conflict do update set last_block = excluded.last_block
                """,
                ([game, version, block] for version in first),
            )
            self._write_each(
                """
                insert into meetings (game, one, other, blocks) values (?, ?, ?, 1)
                on conflict do update set blocks = blocks + 1
                """,
                ([game, one, other] for one, other in permutations(first, 2) if one < other),
            )
            self._write(
                """
                insert into table_sizes (game, seats, blocks) values (?, ?, 1)
                on conflict do update set blocks = blocks + 1
                """,
                [game, len(first)],
            )
            return [match for match in self.unfinished(game) if match.block == block]

    def unfinished(self, game: str) -> list[Match]:
        """Return the matches of a game that were scheduled, do not count yet and are not given up, in their order."""
        rows = self._rows(
            f"""
            select {_MATCH}, seats.version
            from open_matches
            join matches on matches.id = open_matches.match
            join blocks on blocks.id = matches.block
            join seats on seats.match = matches.id
            where open_matches.game = ?
            order by matches.block, matches.rotation, seats.seat
            """,  # noqa: S608
            [game],
        )
        versions = self.versions()
        return [_match(list(seats), versions) for _, seats in groupby(rows, key=itemgetter("match_id"))]

    def meetings(self, game: str) -> dict[frozenset[int], int]:
        """Return in how many blocks two versions have met, for every pair that has."""
        rows = self._rows("select one, other, blocks from meetings where game = ?", [game])
        return {frozenset((row["one"], row["other"])): row["blocks"] for row in rows}

    def blocks_by_seats(self, game: str) -> dict[int, int]:
        """Return how many blocks were scheduled, by number of seats."""
        rows = self._rows("select seats, blocks from table_sizes where game = ?", [game])
        return {row["seats"]: row["blocks"] for row in rows}

    # what came out

    def is_counted(self, match: Match) -> bool:
        """Return whether a match counts already."""
        return bool(self._rows("select 1 from results where match = ?", [match.match_id]))

    def was_played(self, match: Match, digest: str) -> bool:
        """Return whether a match of this digest between the same versions in the same seats counts already."""
        rows = self._rows(
            """
            select results.match, seats.version from results join seats on seats.match = results.match
            where results.digest = ? and results.rated = 1 order by results.match, seats.seat
            """,
            [digest],
        )
        played = {tuple(row["version"] for row in seats) for _, seats in groupby(rows, key=itemgetter("match"))}
        return match.versions in played

    def count(self, match: Match, result: Result, record_hash: str, ratings: Mapping[int, Rating] | None) -> None:
        """Make a match count.

        Args:
            match: a match that does not count yet.
            result: what came out.
            record_hash: the hash of its record's result.
            ratings: those that follow from it; None if it is not rated, because the same was played before.
        """
        rated = ratings is not None
        with self.writing():
            self._write(
                """
                insert into results (match, digest, record_hash, decisions, finished_at, rated)
                values (?, ?, ?, ?, ?, ?)
                """,
                [match.match_id, result.digest, record_hash, result.decisions, _now(), rated],
            )
            self._write_each(
                """
                insert into seat_results (match, seat, rank, score, outcome, decisions, think_ms, detail)
                values (?, ?, ?, ?, ?, ?, ?, ?)
                """,
                (
                    [
                        match.match_id,
                        seat.seat,
                        seat.rank,
                        seat.score,
                        seat.outcome.value,
                        seat.decisions,
                        round(seat.think_seconds * 1000, 3),
                        seat.detail,
                    ]
                    for seat in result.seats
                ),
            )
            self._write("delete from open_matches where match = ?", [match.match_id])
            self._write_each(
                """
                update tallies set matches = matches + 1, different = different + ?1, wins = wins + ?2,
                    faults = faults + ?3, faults_in_a_row = (faults_in_a_row + 1) * ?3
                where game = ?4 and version = ?5
                """,
                (
                    [rated, seat.rank == 1, seat.outcome is not Outcome.PLAYED, match.game, version]
                    for version, seat in zip(match.versions, result.seats, strict=True)
                ),
            )
            self._write_each(
                """
                insert into ratings (game, version, mu, sigma) values (?, ?, ?, ?)
                on conflict do update set mu = excluded.mu, sigma = excluded.sigma
                """,
                ([match.game, version, rating.mu, rating.sigma] for version, rating in (ratings or {}).items()),
            )

    def void(self, match: Match, reason: str) -> int:
        """Note that an attempt at a match was void; return how often by now."""
        with self.writing():
            self._write("insert into voids (match, reason, at) values (?, ?, ?)", [match.match_id, reason, _now()])
            [row] = self._rows("select count(*) as n from voids where match = ?", [match.match_id])
            if row["n"] >= MAX_VOIDS:
                self._write("delete from open_matches where match = ?", [match.match_id])
            return int(row["n"])

    def give_up(self, match: Match, reason: str) -> None:
        """Note that a match cannot be played at all: it is not tried again."""
        with self.writing():
            while self.void(match, reason) < MAX_VOIDS:
                pass

    # trials

    def note_trial(self, cause: str, version: int, *, guilty: bool) -> None:
        """Note that a version was tried because the workers of a match had died."""
        with self.writing():
            self._write(
                "insert into trials (cause, version, guilty, at) values (?, ?, ?, ?)", [cause, version, guilty, _now()]
            )

    def guilty(self) -> set[int]:
        """Return the versions that killed their workers when nobody else could have."""
        return {row["version"] for row in self._rows("select distinct version from trials where guilty = 1")}

    # sealing

    def blocks_to_seal(self) -> list[int]:
        """Return the blocks that are over and whose seeds are not revealed yet."""
        rows = self._rows("select id from blocks where sealed_at is null order by id")
        return [row["id"] for row in rows if self.is_over(row["id"])]

    def is_over(self, block: int) -> bool:
        """Tell whether every match of a block counts or is given up."""
        return not self._rows(
            "select 1 from matches join open_matches on open_matches.match = matches.id where block = ? limit 1",
            [block],
        )

    def records_of(self, block: int) -> list[tuple[str, int, str]]:
        """Return match id, seed and record hash of each match of a block that counts."""
        rows = self._rows(
            """
            select results.match, blocks.seed, results.record_hash
            from blocks join matches on matches.block = blocks.id join results on results.match = matches.id
            where blocks.id = ? order by matches.rotation
            """,
            [block],
        )
        return [(row["match"], row["seed"], row["record_hash"]) for row in rows]

    def note_sealed(self, block: int) -> None:
        """Note that the seed of a block has been revealed."""
        with self.writing():
            self._write("update blocks set sealed_at = ? where id = ?", [_now(), block])

    def counted(self) -> Iterator[Match]:
        """Read all matches that count, in the order in which they do; inside of `reading`, all of one moment."""
        versions = self.versions()
        rows = self._each(
            f"""
            select {_MATCH}, seats.version, results.number, results.digest, results.record_hash, results.rated,
                seat_results.rank, seat_results.outcome
            from results
            join matches on matches.id = results.match
            join blocks on blocks.id = matches.block
            join seats on seats.match = results.match
            join seat_results on seat_results.match = seats.match and seat_results.seat = seats.seat
            order by results.number, seats.seat
            """  # noqa: S608
        )
        for _, seats in groupby(rows, key=itemgetter("number")):
            yield _match(list(seats), versions)

    # what follows from it

    def tallies(self, game: str) -> dict[int, Tally]:
        """Return what is kept of every version that was ever scheduled."""
        rows = self._rows("select * from tallies where game = ?", [game])
        return {row["version"]: Tally(**{key: row[key] for key in row.keys() - {"game", "version"}}) for row in rows}

    def ratings(self, game: str) -> dict[int, Rating]:
        """Return the rating of every version that has a match that counts."""
        rows = self._rows("select version, mu, sigma from ratings where game = ?", [game])
        return {row["version"]: Rating(row["mu"], row["sigma"]) for row in rows}

    def rated_games(self) -> set[str]:
        """Return the games that have ratings."""
        return {row["game"] for row in self._rows("select distinct game from ratings")}

    def differences(self) -> list[str]:
        """Compare every tally but the ratings with the facts; return what does not agree, a line each."""
        with self._explained():
            return [line for table in DERIVED for line in differences(self._db, table)]

    def repair(self, ratings: Mapping[str, Mapping[int, Rating]], unrated: Sequence[int]) -> None:
        """Put what follows from the facts in the place of all tallies.

        Args:
            ratings: for each game the rating of every version.
            unrated: the numbers of the results that are not rated, because the same was played before.
        """
        with self.writing():
            self._write("update results set rated = 1 where rated = 0")
            self._write_each("update results set rated = 0 where number = ?", ([number] for number in unrated))
            self._write("delete from ratings")
            self._write_each(
                "insert into ratings (game, version, mu, sigma) values (?, ?, ?, ?)",
                (
                    [game, version, rating.mu, rating.sigma]
                    for game, of_game in ratings.items()
                    for version, rating in of_game.items()
                ),
            )
            for table in DERIVED:
                derive(self._db, table)

    def copy_to(self, path: Path) -> None:
        """Copy the whole file as of one moment, while others may write to it.

        Raises:
            LadderError: if the file is damaged, or the copy cannot be written.
        """
        with self._explained(), contextlib.closing(sqlite3.connect(path)) as target:
            self._db.conn.backup(target)


_MATCH = "matches.id as match_id, matches.block, blocks.game, blocks.seed, blocks.options, blocks.clock"
"""What `_match` needs of every row, beside the version in the seat."""

_RESTORE = "restore a backup (docs/running_a_ladder.md)"
_HINTS = {
    sqlite3.SQLITE_FULL: "the disk is full; nothing was changed; make room and try again",
    sqlite3.SQLITE_IOERR: "cannot be read or written (is the disk full or damaged?); nothing was changed",
    sqlite3.SQLITE_BUSY: f"another program has locked it for more than {_PATIENCE:.0f} s; end that and try again",
    sqlite3.SQLITE_READONLY: "cannot be written; give yourself write permission for it and its folder",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; look at its permissions and those of its folder",
    sqlite3.SQLITE_CORRUPT: f"is damaged; {_RESTORE}",
    sqlite3.SQLITE_NOTADB: f"is not a ladder, or is damaged; if it was one, {_RESTORE}",
}


def _uri(path: Path) -> str:
    return f"file:{quote(str(path))}"


def _match(rows: Sequence[Mapping[str, Any]], versions: Mapping[int, Version]) -> Match:
    """Return a match, from a row for each seat."""
    first = rows[0]
    count = None
    if "number" in first:
        count = Count(
            number=first["number"],
            ranks=tuple(row["rank"] for row in rows),
            outcomes=tuple(Outcome(row["outcome"]) for row in rows),
            digest=first["digest"],
            record_hash=first["record_hash"],
            rated=bool(first["rated"]),
        )
    return Match(
        match_id=first["match_id"],
        block=first["block"],
        game=first["game"],
        seats=tuple(versions[row["version"]] for row in rows),
        seed=first["seed"],
        options=json.loads(first["options"]),
        clock=first["clock"],
        count=count,
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
