"""What a ladder knows, in one SQLite file. Facts are only ever added; ratings are derived and can be made again.

bots, versions          who takes part; a version is immutable and known by its content
qualifications          whether a version got through a short match of a game
blocks, matches, seats  what was scheduled: a block is one seed, played in every rotation of the seats
results, seat_results   what came out; `results.number` is the order in which matches count
voids                   matches that the referee spoilt; they are played again, unless that happens too often
ratings                 derived by `rating.py` from the results, in their order
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

from ladder.errors import LadderError
from ladder.match import Count, Match, Version
from ladder.rating import Rating
from referee.files import private_folder
from referee.match.result import Outcome, Result

migrations = Migrations("ladder")


@migrations()
def facts_and_ratings(db: Database) -> None:
    """The first layout."""
    db.executescript(
        """
        create table bots (
            id integer primary key,
            name text not null unique,
            author text not null,
            created_at text not null
        ) strict;
        create table versions (
            id integer primary key,
            bot integer not null references bots (id),
            number integer not null,
            content_hash text not null,
            run text not null,
            games text not null,
            submitted_at text not null,
            unique (bot, number),
            unique (bot, content_hash)
        ) strict;
        create table qualifications (
            version integer not null references versions (id),
            game text not null,
            passed integer not null,
            reason text not null,
            at text not null,
            primary key (version, game)
        ) strict;
        create table blocks (
            id integer primary key,
            game text not null,
            seats integer not null,
            seed integer not null,
            options text not null,
            clock text not null,
            created_at text not null
        ) strict;
        create table matches (
            id text primary key,
            block integer not null references blocks (id),
            rotation integer not null,
            unique (block, rotation)
        ) strict;
        create table seats (
            match text not null references matches (id),
            seat integer not null,
            version integer not null references versions (id),
            primary key (match, seat)
        ) strict;
        create table results (
            number integer primary key,
            match text not null unique references matches (id),
            digest text not null,
            record_hash text not null,
            decisions integer not null,
            finished_at text not null
        ) strict;
        create table seat_results (
            match text not null references results (match),
            seat integer not null,
            rank integer not null,
            score integer not null,
            outcome text not null,
            decisions integer not null,
            think_ms real not null,
            detail text not null,
            primary key (match, seat)
        ) strict;
        create table voids (
            match text not null references matches (id),
            reason text not null,
            at text not null
        ) strict;
        create table ratings (
            game text not null,
            version integer not null references versions (id),
            mu real not null,
            sigma real not null,
            matches integer not null,
            primary key (game, version)
        ) strict;
        """
    )


@migrations()
def sealed_blocks_and_trials(db: Database) -> None:
    """Notes whose seed has been revealed, and who was tried because workers died."""
    db.executescript(
        """
        alter table blocks add column sealed_at text;
        create index blocks_to_seal on blocks (id) where sealed_at is null;
        create table trials (
            id integer primary key,
            cause text not null references matches (id),
            version integer not null references versions (id),
            guilty integer not null,
            at text not null
        ) strict;
        """
    )


MAX_VOIDS = 3
"""A match that was void this often is given up: it is not played again, and does not count."""


class Store:
    """The SQLite file of a ladder."""

    def __init__(self, path: Path, *, create: bool) -> None:
        """Open the file, and bring it to the current layout.

        Args:
            path: `ladder.db` in the folder of the ladder.
            create: whether a ladder may be made in a folder that is empty or not there.

        Raises:
            LadderError: if it is no ladder, or one of a newer version.
        """
        if create and not path.exists():
            if path.parent.exists() and any(path.parent.iterdir()):
                raise LadderError(f"{path.parent} is neither a ladder nor an empty folder")
            path.parent.parent.mkdir(parents=True, exist_ok=True)
            private_folder(path.parent)
            path.touch(mode=0o600)  # SQLite gives the files beside it the same mode
        if not create and not path.is_file():
            raise LadderError(f"{path.parent} is not a ladder: there is no {path.name}; submit a bot to make one")
        try:
            if path.exists():
                self._look_at(path, create=create)
            if path.exists() and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
                self._db = Database(sqlite3.connect(f"file:{quote(str(path))}?immutable=1", uri=True))
                return
            self._db = Database(sqlite3.connect(path, timeout=30))
            self._db.execute("pragma journal_mode = wal").close()
            self._db.execute("pragma foreign_keys = on").close()
            migrations.apply(self._db)
        except sqlite3.DatabaseError as error:
            raise LadderError(f"{path} is not a ladder: {error}") from error

    @staticmethod
    def _look_at(path: Path, *, create: bool) -> None:
        """Refuses a file that is no ladder, without changing it."""
        db = Database(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=30))
        try:
            known = {migration.name for migration in migrations.applied(db)} if db.table_names() else set()
            if known - {migration.name for migration in migrations._migrations}:
                raise LadderError(f"{path} was made by a newer version of Dogana; update this one")
            if not known and (db.table_names() or not create):
                raise LadderError(f"{path} is an SQLite file, but not a ladder")
        finally:
            db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[dict[str, Any]]:
        return list(self._db.query(sql, parameters))

    # bots and versions

    def add_version(
        self, bot: str, author: str, content_hash: str, run: Sequence[str], games: Sequence[str]
    ) -> tuple[Version, bool]:
        """Adds a version, and the bot if it is new; returns it, and whether it is new.

        Raises:
            LadderError: if the bot belongs to another author.
        """
        with self._db.atomic():
            rows = self._rows("select * from bots where name = ?", [bot])
            if not rows:
                self._db.table("bots").insert({"name": bot, "author": author, "created_at": _now()})
                rows = self._rows("select * from bots where name = ?", [bot])
            if rows[0]["author"] != author:
                raise LadderError(f"bot {bot} belongs to {rows[0]['author']}, not to {author}; choose another name")
            bot_id = rows[0]["id"]
            known = self._rows("select id from versions where bot = ? and content_hash = ?", [bot_id, content_hash])
            if not known:
                number = 1 + self._rows("select count(*) as n from versions where bot = ?", [bot_id])[0]["n"]
                self._db.table("versions").insert(
                    {
                        "bot": bot_id,
                        "number": number,
                        "content_hash": content_hash,
                        "run": json.dumps(list(run)),
                        "games": json.dumps(list(games)),
                        "submitted_at": _now(),
                    }
                )
                added = self._rows("select max(id) as id from versions where bot = ?", [bot_id])
                return self.versions()[added[0]["id"]], True
            return self.versions()[known[0]["id"]], False

    def versions(self) -> dict[int, Version]:
        """All versions by id."""
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
        """Notes whether a version got through its qualification for a game."""
        with self._db.atomic():
            self._db.table("qualifications").insert(
                {"version": version, "game": game, "passed": int(passed), "reason": reason, "at": _now()}
            )

    def qualifications(self, game: str) -> dict[int, tuple[bool, str]]:
        """For each version that has tried: whether it got through, and why not."""
        rows = self._rows("select version, passed, reason from qualifications where game = ?", [game])
        return {row["version"]: (bool(row["passed"]), row["reason"]) for row in rows}

    # matches

    def add_block(
        self,
        game: str,
        seed: int,
        options: Mapping[str, Any],
        clock: str,
        tables: Mapping[str, Sequence[int]],
    ) -> list[Match]:
        """Schedule a block.

        Args:
            game: the name of the game.
            seed: the seed of all its matches.
            options: the options of the game.
            clock: the time control, as `TimeControl.parse` reads it.
            tables: for each match id the version in each seat, in the order of the rotations.
        """
        with self._db.atomic():
            self._db.table("blocks").insert(
                {
                    "game": game,
                    "seats": len(next(iter(tables.values()))),
                    "seed": seed,
                    "options": json.dumps(dict(options)),
                    "clock": clock,
                    "created_at": _now(),
                }
            )
            block = self._rows("select max(id) as id from blocks")[0]["id"]
            for rotation, (match_id, versions) in enumerate(tables.items()):
                self._db.table("matches").insert({"id": match_id, "block": block, "rotation": rotation})
                self._db.table("seats").insert_all(
                    [{"match": match_id, "seat": seat, "version": version} for seat, version in enumerate(versions)]
                )
        return [match for match in self.unfinished(game) if match.match_id in tables]

    def unfinished(self, game: str) -> list[Match]:
        """Return the matches of a game that were scheduled, do not count yet and are not given up, in their order."""
        rows = self._rows(
            """
            select matches.id, matches.block, blocks.seed, blocks.options, blocks.clock,
                   (select group_concat(version) from
                       (select version from seats where match = matches.id order by seat)) as versions
            from matches join blocks on blocks.id = matches.block
            where blocks.game = ? and matches.id not in (select match from results)
                and (select count(*) from voids where match = matches.id) < ?
            order by matches.block, matches.rotation
            """,
            [game, MAX_VOIDS],
        )
        versions = self.versions()
        return [
            Match(
                match_id=row["id"],
                block=row["block"],
                game=game,
                seats=tuple(versions[int(version)] for version in row["versions"].split(",")),
                seed=row["seed"],
                options=json.loads(row["options"]),
                clock=row["clock"],
            )
            for row in rows
        ]

    def count(self, match: Match, result: Result, record_hash: str, ratings: Mapping[int, Rating]) -> bool:
        """Makes a match count, with the ratings that follow from it; false if it counts already.

        One transaction: whenever the process is killed, either all of it is there or nothing.
        """
        with self._db.atomic():
            if self._rows("select 1 from results where match = ?", [match.match_id]):
                return False
            self._db.table("results").insert(
                {
                    "match": match.match_id,
                    "digest": result.digest,
                    "record_hash": record_hash,
                    "decisions": result.decisions,
                    "finished_at": _now(),
                }
            )
            self._db.table("seat_results").insert_all(
                [
                    {
                        "match": match.match_id,
                        "seat": seat.seat,
                        "rank": seat.rank,
                        "score": seat.score,
                        "outcome": seat.outcome.value,
                        "decisions": seat.decisions,
                        "think_ms": round(seat.think_seconds * 1000, 3),
                        "detail": seat.detail,
                    }
                    for seat in result.seats
                ]
            )
            for version, rating in ratings.items():
                self._db.execute(
                    """
                    insert into ratings (game, version, mu, sigma, matches) values (?, ?, ?, ?, 1)
                    on conflict do update set mu = excluded.mu, sigma = excluded.sigma, matches = matches + 1
                    """,
                    [match.game, version, rating.mu, rating.sigma],
                ).close()
            return True

    def void(self, match: str, reason: str) -> int:
        """Notes that the referee spoilt a match; returns how often by now."""
        with self._db.atomic():
            self._db.table("voids").insert({"match": match, "reason": reason, "at": _now()})
            return int(self._rows("select count(*) as n from voids where match = ?", [match])[0]["n"])

    def give_up(self, match: str, reason: str) -> None:
        """Note that a match cannot be played at all: it is not tried again."""
        with self._db.atomic():
            self._db.table("voids").insert_all(
                [{"match": match, "reason": reason, "at": _now()} for _ in range(MAX_VOIDS)]
            )

    # trials

    def note_trial(self, cause: str, version: int, *, guilty: bool) -> None:
        """Note that a version was tried because the workers of a match had died."""
        with self._db.atomic():
            self._db.table("trials").insert({"cause": cause, "version": version, "guilty": int(guilty), "at": _now()})

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
        rows = self._rows(
            """
            select 1 from matches
            where block = ? and not exists (select 1 from results where match = matches.id)
                and (select count(*) from voids where match = matches.id) < ?
            limit 1
            """,
            [block, MAX_VOIDS],
        )
        return not rows

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
        with self._db.atomic():
            self._db.execute("update blocks set sealed_at = ? where id = ?", [_now(), block]).close()

    def counted(self, game: str) -> list[Match]:
        """Return the matches of a game that count, in the order in which they do."""
        rows = self._rows(
            """
            select results.number, results.match, results.digest, results.record_hash,
                   matches.block, blocks.seed, blocks.options, blocks.clock,
                   seats.version, seat_results.rank, seat_results.outcome
            from results
            join matches on matches.id = results.match
            join blocks on blocks.id = matches.block
            join seats on seats.match = results.match
            join seat_results on seat_results.match = seats.match and seat_results.seat = seats.seat
            where blocks.game = ?
            order by results.number, seats.seat
            """,
            [game],
        )
        versions = self.versions()
        return [_counted(game, list(seats), versions) for _, seats in groupby(rows, key=itemgetter("number"))]

    def block_versions(self, game: str) -> list[tuple[int, ...]]:
        """The versions of every block, in their order."""
        rows = self._rows(
            """
            select blocks.id, seats.version from blocks
            join matches on matches.block = blocks.id and matches.rotation = 0
            join seats on seats.match = matches.id
            where blocks.game = ? order by blocks.id, seats.seat
            """,
            [game],
        )
        grouped: dict[int, list[int]] = {}
        for row in rows:
            grouped.setdefault(row["id"], []).append(row["version"])
        return [tuple(versions) for versions in grouped.values()]

    def blocks_by_seats(self, game: str) -> dict[int, int]:
        """How many blocks were scheduled, by number of seats."""
        rows = self._rows("select seats, count(*) as n from blocks where game = ? group by seats", [game])
        return {row["seats"]: row["n"] for row in rows}

    # ratings

    def ratings(self, game: str) -> dict[int, Rating]:
        """The rating of every version that has played."""
        rows = self._rows("select version, mu, sigma from ratings where game = ?", [game])
        return {row["version"]: Rating(row["mu"], row["sigma"]) for row in rows}

    def replace_ratings(self, game: str, ratings: Mapping[int, Rating], matches: Mapping[int, int]) -> None:
        """Puts recomputed ratings in the place of the old ones."""
        with self._db.atomic():
            self._db.execute("delete from ratings where game = ?", [game]).close()
            self._db.table("ratings").insert_all(
                [
                    {
                        "game": game,
                        "version": version,
                        "mu": rating.mu,
                        "sigma": rating.sigma,
                        "matches": matches[version],
                    }
                    for version, rating in ratings.items()
                ]
            )

    def tallies(self, game: str) -> dict[int, tuple[int, int, int]]:
        """Return matches, wins (shared ones included) and faults of every version that is rated."""
        rows = self._rows(
            """
            select ratings.version, ratings.matches,
                   (select count(*) from seats join seat_results using (match, seat)
                        join matches on matches.id = seats.match join blocks on blocks.id = matches.block
                        where seats.version = ratings.version and blocks.game = ratings.game and rank = 1) as wins,
                   (select count(*) from seats join seat_results using (match, seat)
                        join matches on matches.id = seats.match join blocks on blocks.id = matches.block
                        where seats.version = ratings.version and blocks.game = ratings.game
                        and outcome <> 'played') as faults
            from ratings where game = ?
            """,
            [game],
        )
        return {row["version"]: (row["matches"], row["wins"], row["faults"]) for row in rows}


def _counted(game: str, rows: Sequence[Mapping[str, Any]], versions: Mapping[int, Version]) -> Match:
    """Return a match that counts, from a row for each seat."""
    first = rows[0]
    return Match(
        match_id=first["match"],
        block=first["block"],
        game=game,
        seats=tuple(versions[row["version"]] for row in rows),
        seed=first["seed"],
        options=json.loads(first["options"]),
        clock=first["clock"],
        count=Count(
            number=first["number"],
            ranks=tuple(row["rank"] for row in rows),
            outcomes=tuple(Outcome(row["outcome"]) for row in rows),
            digest=first["digest"],
            record_hash=first["record_hash"],
        ),
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
