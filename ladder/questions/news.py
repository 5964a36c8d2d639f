"""The news of a ladder: submissions, qualifications, and the results of a bot's matches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import nlargest
from typing import Any

from ladder.facts.store import Store
from ladder.model.condition import Condition
from ladder.model.match import Version
from ladder.questions.question import Count, Ladder, Request, Row, Text, question
from ladder.questions.rows import ConditionTerms, MatchRow, condition_terms, match_rows

MAX_NEWS = 40
"""The maximum number of news items; the newest come first."""
_KINDS = ("sent", "not qualified", "qualified", "played")
"""The kinds of news, in the order in which they can happen within a second."""


class NewsItem(Row):
    """An item of news."""

    at: str
    """The time of the news, in ISO 8601, UTC."""
    key: str
    """A permanent key that is unique among all news items of the ladder."""
    kind: str
    """The kind of news: `sent`, `qualified`, `not qualified` or `played`."""
    bot: str
    """The name of the bot."""
    version: Count
    """The number of the version."""
    author: str
    """The author of the bot."""
    condition: ConditionTerms | None
    """The condition of the qualification or of the match; null for a submission."""
    reason: str = ""
    """The reason for a failed qualification; otherwise empty."""
    match: MatchRow | None = None
    """The match that was played; null for other kinds of news."""


class NewsAnswer(Row):
    """The latest news of the ladder or of a bot."""

    news: list[NewsItem]
    """The items, newest first, at most 40."""


class NewsRequest(Request[NewsAnswer]):
    """Asks for news."""

    bot: Text = ""
    """List only news of this bot, including its matches; if empty, news of all bots without their matches."""


@question("/news")
def news(ladder: Ladder, request: NewsRequest) -> NewsAnswer:
    """List the news: submitted versions and the results of qualifications.

    Raises:
        NotFound: if there is no such bot.
    """
    store, bot = ladder.facts, request.bot
    versions = store.roster.find_versions(bot) if bot else list(store.roster.versions().values())
    found = [*_sent(store, versions), *_tried(store, versions)]
    if bot:
        matches = store.history.matches(MAX_NEWS, versions=versions)
        for match, row in zip(matches, match_rows(store, matches), strict=True):
            version = next(one.version for one in match.seats if one.version in versions)
            # Feed readers recognise an entry by its key.
            key = f"match/{match.match_id}"
            found.append(_item(match.finished_at, key, "played", version, match.condition, match=row))
    return NewsAnswer(news=nlargest(MAX_NEWS, found, key=lambda one: (one.at, _KINDS.index(one.kind), one.key)))


def _sent(store: Store, versions: Sequence[Version]) -> Iterator[NewsItem]:
    submitted = (one for one in versions if not one.is_house)
    newest = {one.id: one for one in nlargest(MAX_NEWS, submitted, key=lambda one: one.id)}
    marks = ", ".join("?" * len(newest))
    for row in store.file.rows(f"select id, submitted_at from versions where id in ({marks})", [*newest]):  # noqa: S608
        yield _item(row["submitted_at"], f"version/{row['id']}", "sent", newest[row["id"]])


def _tried(store: Store, versions: Sequence[Version]) -> Iterator[NewsItem]:
    by_id, conditions = {one.id: one for one in versions if not one.is_house}, store.roster.conditions()
    # NULL means that the version may try again, which is not news.
    rows = store.file.rows(
        "select * from qualifications where passed is not null and version in (select value from json_each(?))"
        " order by id desc limit ?",
        [f"[{', '.join(map(str, by_id))}]", MAX_NEWS],
    )
    for row in rows:
        kind, condition = "qualified" if row["passed"] else "not qualified", conditions[row["condition"]]
        key, version = f"qualification/{row['id']}", by_id[row["version"]]
        yield _item(row["at"], key, kind, version, condition, reason=row["reason"])


def _item(at: str, key: str, kind: str, version: Version, condition: Condition | None = None, **more: Any) -> NewsItem:
    return NewsItem(
        at=at,
        key=key,
        kind=kind,
        bot=version.bot,
        version=version.number,
        author=version.author,
        condition=None if condition is None else condition_terms(condition),
        **more,
    )
