"""Authors and their tokens, and the list of changes.

A token has the form `dgn_ID_SECRET`, and is printed only once. The ladder stores the token's id and the SHA-256 of the
whole token. The secret contains 190 random bits, so a slow hash would add nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import string
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Self

from ladder.facts.budgets import Budgets
from ladder.facts.entries import now
from ladder.facts.log import Log
from ladder.facts.store import open_file
from ladder.intake.submission import check_name
from ladder.model.match import HOUSE
from ladder.model.names import ORGANISER_NAME, looks_like
from ladder.operation.errors import BadName, LadderError, NotFound, Unauthenticated

DEFAULT_DAYS = 90
_ALPHABET = string.ascii_letters + string.digits
_TOKEN = re.compile(r"dgn_([0-9a-f]{8})_[A-Za-z0-9]{32}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Token:
    """The facts about a token; times are in ISO 8601, UTC."""

    id: str
    author: str
    created_at: str
    expires_at: str
    used_at: str
    """The day on which the token was last used; empty if it was never used."""
    is_revoked: bool

    @property
    def status(self) -> str:
        """The validity of the token, in one word."""
        return "revoked" if self.is_revoked else "expired" if self.expires_at <= _now() else "valid"


@dataclass(frozen=True, slots=True)
class Act:
    """A change that a person made."""

    number: int
    at: str
    who: str
    did: str
    about: str


class Authors:
    """The authors of a ladder. Use this object as a context manager, or close it after use."""

    def __init__(self, path: Path, *, create: bool) -> None:
        """Open the file of a ladder; see `open_file`.

        Raises:
            BadHome: if it is not a ladder, has another layout, or cannot be read.
        """
        self._file = open_file(path, create=create)
        self._log = Log(self._file)
        self.budgets = Budgets(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def add(self, author: str, days: int = DEFAULT_DAYS) -> str:
        """Add an author, and return a token.

        Raises:
            LadderError: if the name is not allowed, is taken, or could be confused with the name of another author.
        """
        check_name(author, "an author's name")
        with self._file.writing():
            for name in self.names():
                if name.lower() == author.lower():
                    raise BadName(f"there is an author {name} already", f"author token {name}", "for another token:")
            if other := looks_like(author, self.names()):
                raise BadName(f"{author} could be taken for the author {other}; choose another name")
            self._file.write("insert into authors (name, created_at) values (?, ?)", [author, _now()])
            self._log.note_act(ORGANISER_NAME, "author add", author)
            return self._new_token(author, days)

    def new_token(self, author: str, days: int = DEFAULT_DAYS) -> str:
        """Issue another token for an author, and return it.

        Raises:
            NotFound: if there is no such author.
        """
        with self._file.writing():
            self._check_known(author)
            self._log.note_act(ORGANISER_NAME, "author token", author)
            return self._new_token(author, days)

    def _new_token(self, author: str, days: int) -> str:
        name = secrets.token_hex(4)
        token = f"dgn_{name}_{''.join(secrets.choice(_ALPHABET) for _ in range(32))}"
        expires = (datetime.now(UTC) + timedelta(days=days)).isoformat(timespec="seconds")
        self._file.write(
            "insert into tokens (id, author, sha256, created_at, expires_at) values (?, ?, ?, ?, ?)",
            [name, author, hash_of(token), _now(), expires],
        )
        return token

    def revoke(self, what: str) -> int:
        """Revoke a token by its id, or all tokens of an author; return the number of tokens that were still valid.

        Raises:
            NotFound: if there is no such token or author.
        """
        with self._file.writing():
            found = [token for token in self.tokens() if what in (token.id, token.author)]
            if not found:
                self._check_known(what)
            valid = [token for token in found if token.status == "valid"]
            self._file.write_each(
                "update tokens set revoked_at = ? where id = ?", ([_now(), token.id] for token in valid)
            )
            self._log.note_act(ORGANISER_NAME, "author revoke", what)
            return len(valid)

    def set_budget(self, author: str, matches: int | None) -> None:
        """Set the maximum number of an author's matches a day; None for no limit except the author's share.

        Raises:
            NotFound: if no author of that name was added or has submitted a bot.
            LadderError: if the name is that of the house bots' author.
        """
        if author == HOUSE:
            raise LadderError("house bots are on every ladder, as anchors: they have no budget")
        with self._file.writing():
            self._check_takes_part(author)
            self._file.write("insert into budgets (author, matches, at) values (?, ?, ?)", [author, matches, now()])
            self._log.note_act(ORGANISER_NAME, "author budget", f"{author}: {'none' if matches is None else matches}")

    def set_quota(self, author: str, size: int | None) -> None:
        """Set the maximum size of an author's files, in bytes; None for no limit.

        Raises:
            NotFound: if no author of that name was added or has submitted a bot.
        """
        with self._file.writing():
            self._check_takes_part(author)
            self._file.write("insert into quotas (author, bytes, at) values (?, ?, ?)", [author, size, now()])
            self._log.note_act(ORGANISER_NAME, "author quota", f"{author}: {'none' if size is None else size}")

    def _check_takes_part(self, author: str) -> None:
        # An author who submits on the machine of the ladder needs no token.
        if not self._file.rows(
            "select 1 from authors where name = ?1 union select 1 from bots where author = ?1", [author]
        ):
            raise NotFound(f"there is no author {author!r}", "author list")

    def names(self) -> list[str]:
        """Return the names of all authors, oldest first."""
        return [row["name"] for row in self._file.rows("select name from authors order by rowid")]

    def _check_known(self, author: str) -> None:
        if author not in self.names():
            raise NotFound(f"there is no author {author!r}", "author list")

    def tokens(self) -> list[Token]:
        """Return all tokens, oldest first."""
        return [
            Token(
                id=row["id"],
                author=row["author"],
                created_at=row["created_at"],
                expires_at=row["expires_at"],
                used_at=row["used_on"] or "",
                is_revoked=row["revoked_at"] is not None,
            )
            for row in self._file.rows("select * from tokens order by rowid")
        ]

    def author_of(self, token: str) -> str:
        """Return the author to whom a token belongs.

        Raises:
            Unauthenticated: if the token is unknown, revoked or expired; the text about an unknown token gives no further detail.
        """
        match = _TOKEN.fullmatch(token)
        rows = self._file.rows("select * from tokens where id = ?", [match[1]]) if match else []
        # The duration of an ordinary comparison would reveal how much of a hash is correct.
        if not rows or not hmac.compare_digest(rows[0]["sha256"], hash_of(token)):
            raise Unauthenticated("the token is unknown; log in with the one that the organiser gave you")
        [row] = rows
        if row["revoked_at"] is not None:
            raise Unauthenticated("the token was revoked; ask the organiser for another one")
        if row["expires_at"] <= _now():
            raise Unauthenticated(f"the token expired on {row['expires_at'][:10]}; ask the organiser for another one")
        today = _now()[:10]
        if row["used_on"] != today:  # once a day, so that a call hardly ever writes; it never waits for another writer
            self._file.write_if_free("update tokens set used_on = ? where id = ?", [today, row["id"]])
        return str(row["author"])

    def hashes_of_valid_tokens(self) -> frozenset[str]:
        """Return the hashes of all tokens that are valid now."""
        rows = self._file.rows("select sha256 from tokens where revoked_at is null and expires_at > ?", [_now()])
        return frozenset(row["sha256"] for row in rows)

    def acts(self, limit: int) -> list[Act]:
        """Return the latest changes that people made, newest first."""
        rows = self._file.rows("select id as number, at, who, did, about from acts order by id desc limit ?", [limit])
        return [Act(**row) for row in rows]

    def acts_since(self, number: int) -> list[Act]:
        """Return the changes that people made after the change with this number, oldest first."""
        rows = self._file.rows("select id as number, at, who, did, about from acts where id > ? order by id", [number])
        return [Act(**row) for row in rows]


def hash_of(token: str) -> str:
    """Return the hash that the ladder stores for a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
