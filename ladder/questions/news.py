"""What is new on a ladder: what was sent, what has qualified or not, who has taken the lead, and how matches of a bot have ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import nlargest
from itertools import groupby
from operator import itemgetter

from dogana.v1 import ladder_pb2 as pb
from ladder.facts.store import Store
from ladder.model.condition import Condition
from ladder.model.match import Version
from ladder.questions.answers import condition_message, played_messages

MAX_NEWS = 40
"""How much is told: the newest."""
LAST_BLOCKS = 100
"""In how many of the last blocks it is looked for who has taken the lead, for each condition."""


_KINDS = ("sent", "not qualified", "qualified", "played", "leads")
"""In the order in which they can happen within a second."""


def news(store: Store, bot: str = "") -> list[pb.News]:
    """Return what is new, the newest first. The cost does not grow with the history.

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
        for match, message in zip(matches, played_messages(store, matches), strict=True):
            version = next(one.version for one in match.seats if one.version in versions)
            made = _news(match.finished_at, f"match/{match.match_id}", "played", version, match.condition)
            made.match.CopyFrom(message)
            found.append(made)
    return nlargest(MAX_NEWS, found, key=lambda one: (one.at, _KINDS.index(one.kind), one.key))


def _sent(store: Store, versions: Sequence[Version]) -> Iterator[pb.News]:
    newest = {one.id: one for one in nlargest(MAX_NEWS, versions, key=lambda one: one.id) if not one.is_house}
    marks = ", ".join("?" * len(newest))
    for row in store.file.rows(f"select id, submitted_at from versions where id in ({marks})", [*newest]):  # noqa: S608
        yield _news(row["submitted_at"], f"version/{row['id']}", "sent", newest[row["id"]])


def _tried(store: Store, versions: Sequence[Version]) -> Iterator[pb.News]:
    by_id, conditions = {one.id: one for one in versions if not one.is_house}, store.roster.conditions()
    rows = store.file.rows(
        "select * from qualifications where passed is not null and version in (select value from json_each(?))"
        " order by id desc limit ?",
        [f"[{', '.join(map(str, by_id))}]", MAX_NEWS],
    )
    for row in rows:
        kind, condition = "qualified" if row["passed"] else "not qualified", conditions[row["condition"]]
        made = _news(row["at"], f"qualification/{row['id']}", kind, by_id[row["version"]], condition)
        made.reason = row["reason"]
        yield made


def _led(store: Store, condition: Condition) -> Iterator[pb.News]:
    """Yield who has taken the lead in the last blocks, newest first: what these have changed is undone, one by one."""
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
            made = _news(ended["at"], f"lead/{condition.id}/{block}", "leads", versions[leader], condition)
            made.before = "" if before is None else versions[before].label
            yield made


def _news(at: str, key: str, kind: str, version: Version, condition: Condition | None = None) -> pb.News:
    return pb.News(
        at=at,
        key=key,
        kind=kind,
        bot=version.bot,
        version=version.number,
        author=version.author,
        condition=None if condition is None else condition_message(condition),
    )


def _best(low: dict[int, float]) -> int | None:
    return max(low, key=lambda version: (low[version], -version), default=None)
