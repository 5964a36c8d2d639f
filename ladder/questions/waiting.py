"""Who plays next and why, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from dogana.v1 import ladder_pb2 as pb
from ladder.facts.budgets import NEXT_DAY
from ladder.facts.standings import candidates, queue
from ladder.facts.store import Store
from ladder.model.condition import Condition
from ladder.model.match import HOUSE, Version
from ladder.model.schedule import NEW_BLOCKS, Candidate, Queue
from referee.registry import find

LISTED = 10
"""How many versions are listed."""


def waiting(store: Store, condition: Condition) -> list[pb.Waiting]:
    """Return the next versions under a condition, with what decides their order; then those that play no more today."""
    kept = queue(store, condition)
    versions, playing, budgets = store.roster.versions(), store.schedule.playing(condition), store.budgets.of_today()
    seat_counts = find(condition.game).seat_counts
    listed = list(islice(kept, LISTED))
    waits = {one.version: store.schedule.blocks_since(condition, one.last_block) for one in listed}
    longest_ago = min((one.last_block for one in kept), default=0)
    first = next((one.version for one in kept if one.version not in playing), None)

    def entry(one: Candidate, **more: Any) -> pb.Waiting:
        return pb.Waiting(
            game=condition.game,
            options=condition.options_struct(),
            clock=condition.clock,
            bot=versions[one.version].bot,
            version=versions[one.version].number,
            author=one.author,
            sigma=one.rating.sigma,
            playing=one.version in playing,
            **more,
        )

    return [
        entry(
            one,
            due=kept.rounds_until(one.version),
            waits=waits[one.version],
            at_most=kept.most_blocks_now(one.version, seat_counts),
            why="; ".join(
                [
                    *(["is playing"] if one.version in playing else []),
                    *([f"least certain of those due: sigma {one.rating.sigma:.1f}"] if one.version == first else []),
                    *(["waits longest"] if one.last_block == longest_ago and waits[one.version] else []),
                    *_standing_reasons(one, kept, versions, store, condition),
                ]
            ),
        )
        for one in listed
    ] + [
        entry(
            one,
            waits=store.schedule.blocks_since(condition, one.last_block),
            why=f"{one.author} has had {budgets[one.author].today} of {budgets[one.author].matches} matches today",
            again=NEXT_DAY,
        )
        for one in candidates(store, condition)
        if one.author in budgets and budgets[one.author].is_used_up
    ]


def _standing_reasons(
    one: Candidate, kept: Queue, versions: Mapping[int, Version], store: Store, condition: Condition
) -> Iterator[str]:
    """Yield why a version is due more or less often than others."""
    if one.sits_out:
        yield f"out in its last {one.faults_in_a_row} matches: sits out {one.sits_out} rounds"
    if one.author == HOUSE:
        yield "house bot: a quarter of a share"
        return
    if versions[one.version].is_at_home:
        yield "at home"
    if one.is_new:
        yield f"new: {one.blocks} of {NEW_BLOCKS} first blocks"
        if one.predecessor is not None and not store.schedule.meetings(condition, [one.version], [one.predecessor]):
            yield f"to be accompanied by {versions[one.predecessor].label}"
    if kept.bots_of(one.author) > 1:
        yield f"one of {kept.bots_of(one.author)} bots that share the part of {one.author}"
