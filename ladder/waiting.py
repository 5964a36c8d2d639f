"""Who plays next and why, in words."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from itertools import islice

from dogana.v1 import ladder_pb2 as pb
from ladder.condition import Condition
from ladder.match import HOUSE, Version
from ladder.schedule import NEW_BLOCKS, Candidate, Queue
from ladder.standings import queue
from ladder.store import Store
from referee.registry import find

LISTED = 10
"""How many versions are listed."""


def waiting(store: Store, condition: Condition) -> list[pb.Waiting]:
    """Return the next versions under a condition, with what decides their order."""
    kept, versions, playing = queue(store, condition), store.versions(), store.playing(condition)
    seat_counts, blocks = find(condition.game).seat_counts, store.blocks_of(condition)
    waits = {one.version: len(blocks) - bisect_right(blocks, one.last_block) for one in kept}
    longest = max(waits.values(), default=0)
    first = next((one.version for one in kept if one.version not in playing), None)
    return [
        pb.Waiting(
            game=condition.game,
            options=condition.options_struct(),
            clock=condition.clock,
            bot=versions[one.version].bot,
            version=versions[one.version].number,
            author=one.author,
            due=kept.rounds_until(one.version),
            sigma=one.rating.sigma,
            waits=waits[one.version],
            at_most=kept.most_blocks_now(one.version, seat_counts),
            playing=one.version in playing,
            why="; ".join(
                [
                    *(["is playing"] if one.version in playing else []),
                    *([f"least certain of those due: sigma {one.rating.sigma:.1f}"] if one.version == first else []),
                    *(["waits longest"] if waits[one.version] == longest > 0 else []),
                    *_standing_reasons(one, kept, versions),
                ]
            ),
        )
        for one in islice(kept, LISTED)
    ]


def _standing_reasons(one: Candidate, kept: Queue, versions: Mapping[int, Version]) -> Iterator[str]:
    """Yield why a version is due more or less often than others."""
    if one.sits_out:
        yield f"out in its last {one.faults_in_a_row} matches: sits out {one.sits_out} rounds"
    if one.author == HOUSE:
        yield "house bot: a quarter of a share"
        return
    if one.is_new:
        yield f"new: {one.blocks} of {NEW_BLOCKS} first blocks"
    if one.is_accompanied and one.predecessor is not None:
        yield f"accompanied by {versions[one.predecessor].label}"
    if kept.bots_of(one.author) > 1:
        yield f"one of {kept.bots_of(one.author)} bots that share the part of {one.author}"
