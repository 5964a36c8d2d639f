"""The participants of a ladder: bots, versions, their conditions, consents, and bots at home."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches

from ladder.facts.entries import now
from ladder.facts.log import Log
from ladder.model.condition import Condition
from ladder.model.match import HOUSE, Version
from ladder.model.names import looks_like
from ladder.operation.errors import BadName, no_such
from ladder.operation.sqlite_file import SqliteFile, among_ids
from referee.options import OptionValue


@dataclass(frozen=True, slots=True)
class ConnectedBot:
    """A connected bot at home."""

    matches: int
    """The maximum number of matches that the bot plays at a time."""
    is_leaving: bool
    """True if the bot is only finishing its current blocks."""
    since: str
    """The time at which the bot connected, in ISO 8601, UTC."""


MAX_NAMED = 5
"""The maximum number of names in a list of suggestions."""


class Roster:
    """The participants of a ladder, and its conditions."""

    def __init__(self, file: SqliteFile, log: Log) -> None:
        self._file = file
        self._log = log
        self._known: dict[int, Version] | None = None  # all versions, while one snapshot is read

    def add_version(
        self,
        bot: str,
        author: str,
        content_hash: str,
        run: Sequence[str],
        games: Sequence[str],
        language: str = "",
    ) -> tuple[Version, bool]:
        """Add a version, and its bot if the bot is new; return the version, and True if the version is new.

        Raises:
            BadName: if the bot belongs to another author, or its name could be confused with another bot's.
        """
        with self._file.writing():
            self._check_is_like_no_other(bot, author)
            owners = [row["author"] for row in self._file.rows("select author from bots where name = ?", [bot])]
            if owners and owners != [author]:
                raise BadName(f"bot {bot} belongs to {owners[0]}, not to {author}; choose another name")
            known = self._version_with(bot, content_hash)
            if known is None:
                [row] = self._file.rows(
                    "select 1 + count(*) as number from versions join bots on bots.id = versions.bot where name = ?",
                    [bot],
                )
                # The log is public, so it commits to the command with a hash and does not show it.
                command = json.dumps(list(run))
                self._log.append(
                    "version",
                    {
                        "bot": bot,
                        "number": row["number"],
                        "author": author,
                        "content": content_hash,
                        "run": hashlib.sha256(command.encode()).hexdigest(),
                        "games": list(games),
                        "language": language,
                    },
                )
            version = self._version_with(bot, content_hash)
            assert version is not None  # noqa: S101 it was added
            if known is None:
                self._file.write("insert into commands (version, run) values (?, ?)", [version, command])
            return self.versions([version])[version], known is None

    def _version_with(self, bot: str, content_hash: str) -> int | None:
        """Return the id of the version of a bot whose files have this hash; None if there is none."""
        rows = self._file.rows(
            "select versions.id from bots join versions on versions.bot = bots.id where name = ? and content_hash = ?",
            [bot, content_hash],
        )
        return rows[0]["id"] if rows else None

    def label(self, version: int) -> str:
        """Return the label of a version, such as "mybot v2"."""
        return self.versions([version])[version].label

    def _check_is_like_no_other(self, bot: str, author: str) -> None:
        """Check that nobody can confuse the name of a new bot or of its author with another, such as a house bot's."""
        known = {row["name"]: row["author"] for row in self._file.rows("select name, author from bots order by id")}
        if bot in known or author == HOUSE:  # an older ladder may have both
            return
        capitals = next((other for other in known if other.lower() == bot.lower()), "")
        if capitals:
            raise BadName(f"there is a bot {capitals} already; a name must differ in more than capitals")
        # An author's own bots may resemble each other.
        if other := looks_like(bot, (name for name, its_author in known.items() if its_author != author)):
            raise BadName(f"{bot} could be taken for {other}, a bot of {known[other]}; choose another name")
        authors = set(known.values())
        if author not in authors and (other := looks_like(author, sorted(authors))):
            raise BadName(f"author {author} could be taken for {other}, who has bots here; choose another name")

    def versions(self, among: Collection[int] | None = None) -> dict[int, Version]:
        """Return all versions by id, or only those of the bots to which the given versions belong."""
        if among is not None or self._known is None:
            return self._read_versions(among)
        self._known = self._known or self._read_versions(None)
        return self._known.copy()  # callers may change their copy

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Cache all versions in this context; no version may be added meanwhile."""
        self._known = {}  # read when first needed
        try:
            yield
        finally:
            self._known = None

    def _read_versions(self, among: Collection[int] | None) -> dict[int, Version]:
        found: dict[int, Version] = {}
        latest: dict[str, int] = {}
        # Whole bots are read, in the order of their versions, so that each version finds its parent.
        # The commands are private, so rebuilt views lack them.
        which, ids = among_ids(among, "versions.bot in (select bot from versions where id in {})")
        for row in self._file.rows(
            f"""
            select versions.*, coalesce(commands.run, '[]') as run, bots.name, bots.author
            from versions join bots on bots.id = versions.bot left join commands on commands.version = versions.id
            where {which} order by versions.id
            """,  # noqa: S608
            ids,
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
                language=row["language"],
            )
            latest[row["name"]] = row["id"]
        return found

    def has_content(self, content_hash: str) -> bool:
        """Return True if any version has files with this hash."""
        return bool(self._file.rows("select 1 from versions where content_hash = ? limit 1", [content_hash]))

    def idle_since(self) -> dict[int, str]:
        """Return, for each version, the time of the last event that let it play or replaced it, in ISO 8601, UTC."""
        rows = self._file.rows(
            """
            select id, max(
                submitted_at,
                coalesce((select max(at) from qualifications where version = versions.id), ''),
                coalesce((select max(at) from retirements where version = versions.id), ''),
                coalesce((
                    select max(created_at) from tallies join blocks on blocks.id = last_block where version = versions.id
                ), ''),
                coalesce((
                    select min(later.submitted_at) from versions as later
                    where later.bot = versions.bot and later.id > versions.id
                ), '')
            ) as since from versions
            """
        )
        return {row["id"]: row["since"] for row in rows}

    def versions_called(self, bot: str) -> list[Version]:
        """Return the versions of the bot with this name, by number, or the one version with this label.

        A label is written as in `mybot v2`. The list is empty if there is no such version.
        """
        name, _, number = bot.rpartition(" v")
        rows = self._file.rows(
            """
            select versions.id from bots join versions on versions.bot = bots.id where name = ?
            union select versions.id from bots join versions on versions.bot = bots.id where name = ? and number = ?
            """,
            # SQLite's integers have 64 bits; no version has a longer number.
            [bot, name, int(number) if number.isdecimal() and len(number) < 18 else 0],
        )
        found = self.versions([row["id"] for row in rows])
        # `versions` returns whole bots, and "mybot v01" is not the label of version 1.
        return [version for version in found.values() if bot in (version.bot, version.label)]

    def find_versions(self, bot: str) -> list[Version]:
        """Return the versions of the bot with this name, by number, or the one version with this label.

        A label is written as in `mybot v2`.

        Raises:
            NotFound: if there is none; the text lists similar names.
        """
        found = self.versions_called(bot)
        if not found:
            names = dict.fromkeys(name for version in self.versions().values() for name in (version.bot, version.label))
            raise no_such(f"bot {bot!r}", get_close_matches(bot, names, MAX_NAMED), "bots")
        return found

    def submitted_at(self, among: Collection[int]) -> dict[int, str]:
        """Return the submission times of versions, in ISO 8601, UTC, by id."""
        which, ids = among_ids(among, "id in {}")
        rows = self._file.rows(f"select id, submitted_at from versions where {which}", ids)  # noqa: S608
        return {row["id"]: row["submitted_at"] for row in rows}

    def consent(self, bot: str, *, given: bool) -> None:
        """Give or withdraw consent for people to play against a bot at tables."""
        self._log.append("consent", {"bot": bot, "given": given})

    def at_tables(self) -> set[str]:
        """Return the names of the bots that people may play against at tables."""
        rows = self._file.rows(
            "select name, given, max(consents.id) from consents join bots on bots.id = consents.bot group by bot"
        )
        return {row["name"] for row in rows if row["given"]}

    def condition(self, game: str, options: Mapping[str, OptionValue], clock: str) -> Condition:
        """Return a condition, after adding it if it is new.

        Args:
            game: the name of the game.
            options: the options that are not the game's defaults, in the order of their names.
            clock: the time control, as `TimeControl` writes it.
        """
        with self._file.writing():
            # One transaction, so that two concurrent commands do not add it twice.
            key = [game, json.dumps(dict(options)), clock]
            if not self._file.rows("select id from conditions where (game, options, clock) = (?, ?, ?)", key):
                self._log.append("condition", {"game": game, "options": dict(options), "clock": clock})
            [row] = self._file.rows("select id from conditions where (game, options, clock) = (?, ?, ?)", key)
            return self.conditions()[row["id"]]

    def conditions(self) -> dict[int, Condition]:
        """Return all conditions by id, the oldest first."""
        return {
            row["id"]: Condition(row["id"], row["game"], json.loads(row["options"]), row["clock"])
            for row in self._file.rows("select id, game, options, clock from conditions order by id")
        }

    def conditions_of(self, game: str) -> list[Condition]:
        """Return the conditions of a game, the oldest first."""
        return [condition for condition in self.conditions().values() if condition.game == game]

    def connect(self, version: int, matches: int, since: str | None = None) -> None:
        """Add the connection of a bot at home.

        Args:
            version: the version of the bot.
            matches: the maximum number of its concurrent matches.
            since: the time at which it connected, in ISO 8601, UTC; None for the current time.
        """
        with self._file.writing():
            self._file.write(
                "insert or replace into connections (version, matches, leaving, since) values (?, ?, 0, ?)",
                [version, matches, since or now()],
            )

    def leave(self, version: int) -> None:
        """Mark a bot at home as leaving: it only finishes its current blocks."""
        with self._file.writing():
            self._file.write("update connections set leaving = 1 where version = ?", [version])

    def disconnect(self, version: int | None = None, since: str = "") -> None:
        """Remove the connection of a bot at home.

        Args:
            version: the version of the bot; None to remove the connections of all bots.
            since: remove only connections that began at this time; empty for any time.
        """
        with self._file.writing():
            self._file.write(
                "delete from connections where ? in (version, 0) and ? in (since, '')", [version or 0, since]
            )

    def connected(self) -> dict[int, ConnectedBot]:
        """Return the connected bots at home, by the id of the version."""
        rows = self._file.rows("select version, matches, leaving, since from connections")
        return {row["version"]: ConnectedBot(row["matches"], bool(row["leaving"]), row["since"]) for row in rows}
