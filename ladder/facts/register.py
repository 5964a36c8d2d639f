"""Who takes part in a ladder, where and under which conditions: bots, versions, consents, qualifications, retirements."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ladder.facts.budgets import Budgets
from ladder.facts.entries import note, now
from ladder.model.condition import Condition
from ladder.model.match import HOUSE, Version
from ladder.model.names import looks_like
from ladder.operation.errors import LadderError
from ladder.operation.sqlite_file import among_ids
from referee.game import OptionValue


@dataclass(frozen=True, slots=True)
class Connection:
    """A bot at home that is connected."""

    matches: int
    """How many matches it plays at a time."""
    is_leaving: bool
    """Whether it only finishes the blocks in which it is."""
    since: str
    """When it came, in ISO 8601, UTC."""


class Register(Budgets):
    """What can be asked of the file about those who take part, and written to it."""

    # bots and versions

    def add_version(
        self,
        bot: str,
        author: str,
        content_hash: str,
        run: Sequence[str],
        games: Sequence[str],
        language: str = "",
    ) -> tuple[Version, bool]:
        """Add a version, and the bot if it is new; return it, and whether it is new.

        Raises:
            LadderError: if the bot belongs to another author, or another bot could be taken for it.
        """
        with self.writing():
            self._check_is_like_no_other(bot, author)
            self.write("insert or ignore into bots (name, author, created_at) values (?, ?, ?)", [bot, author, now()])
            [owner] = self.rows("select * from bots where name = ?", [bot])
            if owner["author"] != author:
                raise LadderError(f"bot {bot} belongs to {owner['author']}, not to {author}; choose another name")
            key = [owner["id"], content_hash]
            known = self.rows("select id from versions where bot = ? and content_hash = ?", key)
            if not known:
                self.write(
                    """
                    insert into versions (bot, number, content_hash, run, games, submitted_at, language)
                    values (?1, 1 + (select count(*) from versions where bot = ?1), ?2, ?3, ?4, ?5, ?6)
                    """,
                    [*key, json.dumps(list(run)), json.dumps(list(games)), now(), language],
                )
            [row] = self.rows("select id from versions where bot = ? and content_hash = ?", key)
            if not known:
                note(self._db, "version", row["id"])
            return self.versions([row["id"]])[row["id"]], not known

    def _check_is_like_no_other(self, bot: str, author: str) -> None:
        """Check that a bot that is new, and its author, cannot be taken for others. House bots were there before."""
        known = {row["name"]: row["author"] for row in self.rows("select name, author from bots order by id")}
        if bot in known or author == HOUSE:  # an older ladder may have both
            return
        capitals = next((other for other in known if other.lower() == bot.lower()), "")
        if capitals:
            raise LadderError(f"there is a bot {capitals} already; a name must differ in more than capitals")
        if other := looks_like(bot, (name for name, its_author in known.items() if its_author != author)):
            raise LadderError(f"{bot} could be taken for {other}, a bot of {known[other]}; choose another name")
        authors = set(known.values())
        if author not in authors and (other := looks_like(author, sorted(authors))):
            raise LadderError(f"author {author} could be taken for {other}, who has bots here; choose another name")

    def versions(self, among: Collection[int] | None = None) -> dict[int, Version]:
        """Return all versions by id, or some and all others of their bots."""
        found: dict[int, Version] = {}
        latest: dict[str, int] = {}
        which, ids = among_ids(among, "versions.bot in (select bot from versions where id in {})")
        for row in self.rows(
            f"""
            select versions.*, bots.name, bots.author from versions join bots on bots.id = versions.bot
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
        """Tell whether there is a version with these files."""
        return bool(self.rows("select 1 from versions where content_hash = ? limit 1", [content_hash]))

    def idle_since(self) -> dict[int, str]:
        """Return since when nothing has happened to each version that could let it play, in ISO 8601, UTC."""
        rows = self.rows(
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

    # tables

    def consent(self, bot: str, *, given: bool) -> None:
        """Note whether people may play against a bot at tables."""
        with self.writing():
            self.write(
                "insert into consents (bot, given, at) select id, ?, ? from bots where name = ?", [given, now(), bot]
            )

    def at_tables(self) -> set[str]:
        """Return the names of the bots that people may play against at tables."""
        rows = self.rows(
            "select name, given, max(consents.id) from consents join bots on bots.id = consents.bot group by bot"
        )
        return {row["name"] for row in rows if row["given"]}

    # conditions

    def condition(self, game: str, options: Mapping[str, OptionValue], clock: str) -> Condition:
        """Return a condition; add it if nothing was ever played under it.

        Args:
            game: the name of the game.
            options: those that are not the game's defaults, in the order of their names.
            clock: the time control, as `TimeControl` writes it.
        """
        with self.writing():
            key = [game, json.dumps(dict(options)), clock]
            self.write("insert or ignore into conditions (game, options, clock) values (?, ?, ?)", key)
            [row] = self.rows("select id from conditions where (game, options, clock) = (?, ?, ?)", key)
            return self.conditions()[row["id"]]

    def conditions(self) -> dict[int, Condition]:
        """Return all conditions by id, the oldest first."""
        return {
            row["id"]: Condition(row["id"], row["game"], json.loads(row["options"]), row["clock"])
            for row in self.rows("select id, game, options, clock from conditions order by id")
        }

    def conditions_of(self, game: str) -> list[Condition]:
        """Return the conditions of a game, the oldest first."""
        return [condition for condition in self.conditions().values() if condition.game == game]

    # bots at home

    def connect(self, version: int, matches: int, since: str | None = None) -> None:
        """Note that a bot at home is connected, how many matches it plays at a time, and since when (ISO 8601, UTC); now, if None."""
        with self.writing():
            self.write(
                "insert or replace into connections (version, matches, leaving, since) values (?, ?, 0, ?)",
                [version, matches, since or now()],
            )

    def leave(self, version: int) -> None:
        """Note that a bot at home only finishes the blocks in which it is."""
        with self.writing():
            self.write("update connections set leaving = 1 where version = ?", [version])

    def disconnect(self, version: int | None = None, since: str = "") -> None:
        """Note that a bot at home is not connected any more, or not by the connection that came then; without a version, that none is."""
        with self.writing():
            self.write("delete from connections where ? in (version, 0) and ? in (since, '')", [version or 0, since])

    def connected(self) -> dict[int, Connection]:
        """Return the bots at home that are connected, by version."""
        rows = self.rows("select version, matches, leaving, since from connections")
        return {row["version"]: Connection(row["matches"], bool(row["leaving"]), row["since"]) for row in rows}

    # qualifications

    def qualify(self, version: int, condition: Condition, *, passed: bool, reason: str) -> None:
        """Note whether a version got through its qualification."""
        with self.writing():
            self._note_qualification(version, condition, passed, reason)

    def let_qualify_again(self, version: int, condition: Condition) -> None:
        """Let a version try once more to qualify; the faults that it has had so far suspend it no more."""
        with self.writing():
            self._note_qualification(version, condition, None, "")
            self.write(
                "update tallies set faults_in_a_row = 0 where condition = ? and version = ?", [condition.id, version]
            )

    def _note_qualification(self, version: int, condition: Condition, passed: bool | None, reason: str) -> None:
        self.write(
            """
            insert into qualifications (condition, version, passed, reason, at, after_number)
            values (?, ?, ?, ?, ?, (select coalesce(max(number), 0) from results))
            """,
            [condition.id, version, passed, reason, now()],
        )

    def qualifications(self, condition: Condition, among: Collection[int] | None = None) -> dict[int, tuple[bool, str]]:
        """Return for each version that has tried, and is not to try once more: whether it got through, and why not."""
        which, ids = among_ids(among, "version in {}")
        rows = self.rows(
            # SQLite takes the other columns from the row that has the greatest id.
            f"""
            select version, passed, reason, max(id) from qualifications
            where condition = ? and {which} group by version
            """,  # noqa: S608
            [condition.id, *ids],
        )
        return {row["version"]: (bool(row["passed"]), row["reason"]) for row in rows if row["passed"] is not None}

    def retire(self, version: int, *, retired: bool) -> None:
        """Note that a version is taken out, or brought back."""
        with self.writing():
            self.write("insert into retirements (version, retired, at) values (?, ?, ?)", [version, retired, now()])

    def retired(self) -> set[int]:
        """Return the versions that are taken out."""
        rows = self.rows("select version, retired, max(id) from retirements group by version")
        return {row["version"] for row in rows if row["retired"]}
