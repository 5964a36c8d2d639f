"""The news of a ladder: submissions, qualifications, changes of the lead, and the results of a bot's matches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import nlargest
from itertools import groupby
from operator import itemgetter
from typing import Any

from ladder.facts.store import Store
from ladder.model.condition import Condition
from ladder.model.match import Version
from ladder.questions.question import Count, Ladder, Request, Row, Text, question
from ladder.questions.rows import ConditionTerms, MatchRow, condition_terms, match_rows

MAX_NEWS = 40
"""The maximum number of news; the newest come first."""
LAST_BLOCKS = 100
"""In how many of the last blocks it is looked for who has taken the lead, for each condition."""


_KINDS = ("sent", "not qualified", "qualified", "played", "leads")
"""In the order in which they can happen within a second."""


class NewsItem(Row):
    """An event."""

    at: str
    """Its time, in ISO 8601, UTC."""
    key: str
    """A permanent key that is unique among all news of the ladder."""
    kind: str
    """The kind of event: `sent`, `qualified`, `not qualified`, `leads`, `played`."""
    bot: str
    """The bot."""
    version: Count
    """Its version."""
    author: str
    """Its author."""
    condition: ConditionTerms | None
    """Under which condition; null for a version that was sent."""
    reason: str = ""
    """The reason for a failed qualification; otherwise empty."""
    before: str = ""
    """The previous leader, as tables call the version; empty if there was none, or for other news."""
    match: MatchRow | None = None
    """The match that was played; null for all other news."""


class NewsAnswer(Row):
    """News."""

    news: list[NewsItem]
    """Newest first, at most 40."""


class NewsRequest(Request[NewsAnswer]):
    """Asks for news."""

    bot: Text = ""
    """Only news of this bot, including its matches; if empty, news of all bots without matches."""


@question("/news")
def news(ladder: Ladder, request: NewsRequest) -> NewsAnswer:
    """List the news: versions that were sent, who has qualified or not, who has taken the lead.

    Raises:
        NotFound: if there is no such bot.
    """
    return NewsAnswer(news=_news(ladder.facts, request.bot))


def _news(store: Store, bot: str) -> list[NewsItem]:
    """Return the news, the newest first. The cost does not grow with the history.

    Args:
        store: the ladder.
        bot: only news of this bot, its matches included; of all, without matches, if empty.

    Raises:
        NotFound: if there is no such bot.
    """
    versions = store.roster.find_versions(bot) if bot else list(store.roster.versions().values())
    found = [*_sent(store, versions), *_tried(store, versions)]
    for condition in store.roster.conditions().values():
        found += [one for one in _led(store, condition) if not bot or one.bot == versions[0].bot]
    if bot:
        matches = store.history.matches(MAX_NEWS, versions=versions)
        for match, row in zip(matches, match_rows(store, matches), strict=True):
            version = next(one.version for one in match.seats if one.version in versions)
            key = f"match/{match.match_id}"
            found.append(_item(match.finished_at, key, "played", version, match.condition, match=row))
    return nlargest(MAX_NEWS, found, key=lambda one: (one.at, _KINDS.index(one.kind), one.key))


def _sent(store: Store, versions: Sequence[Version]) -> Iterator[NewsItem]:
    newest = {one.id: one for one in nlargest(MAX_NEWS, versions, key=lambda one: one.id) if not one.is_house}
    marks = ", ".join("?" * len(newest))
    for row in store.file.rows(f"select id, submitted_at from versions where id in ({marks})", [*newest]):  # noqa: S608
        yield _item(row["submitted_at"], f"version/{row['id']}", "sent", newest[row["id"]])


def _tried(store: Store, versions: Sequence[Version]) -> Iterator[NewsItem]:
    by_id, conditions = {one.id: one for one in versions if not one.is_house}, store.roster.conditions()
    rows = store.file.rows(
        "select * from qualifications where passed is not null and version in (select value from json_each(?))"
        " order by id desc limit ?",
        [f"[{', '.join(map(str, by_id))}]", MAX_NEWS],
    )
    for row in rows:
        kind, condition = "qualified" if row["passed"] else "not qualified", conditions[row["condition"]]
        key, version = f"qualification/{row['id']}", by_id[row["version"]]
        yield _item(row["at"], key, kind, version, condition, reason=row["reason"])


def _led(store: Store, condition: Condition) -> Iterator[NewsItem]:
    """Yield the changes of the lead in the last blocks, newest first, by undoing the effect of each block in turn."""
    rows = store.file.rows(
        """
        with last as (select id from blocks not indexed where condition = ?1 order by id desc limit ?2)
        select rated.block, rated.version, (
            select mu - 3 * sigma from block_ratings as earlier
            where earlier.version = rated.version and earlier.condition = ?1 and earlier.block < rated.block
            order by block desc limit 1
        ) as low
        from (
            select distinct matches.block, seats.version from last
            cross join matches on matches.block = last.id
            cross join seats on seats.match = matches.id
        ) as sat
        cross join block_ratings as rated
        on rated.version = sat.version and rated.condition = ?1 and rated.block = sat.block
        order by rated.block desc
        """,
        [condition.id, LAST_BLOCKS],
    )
    versions = store.roster.versions()
    low = {version: rating.low for version, rating in store.results.ratings(condition).items()}
    for block, changed in groupby(rows, key=itemgetter("block")):
        leader = _best(low)
        for row in changed:
            if row["low"] is None:
                low.pop(row["version"], None)
            else:
                low[row["version"]] = row["low"]
        before = _best(low)
        if leader is not None and leader != before:
            [ended] = store.file.rows(
                "select max(finished_at) as at from results join matches on matches.id = results.match where block = ?",
                [block],
            )
            key, led = f"lead/{condition.id}/{block}", "" if before is None else versions[before].label
            yield _item(ended["at"], key, "leads", versions[leader], condition, before=led)


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


def _best(low: dict[int, float]) -> int | None:
    return max(low, key=lambda version: (low[version], -version), default=None)
