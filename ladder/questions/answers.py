"""What the desk answers, as messages: conditions, standings, matches, files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import groupby
from statistics import fmean
from typing import BinaryIO

from dogana.v1 import ladder_pb2 as pb
from ladder.archive.traces import last_said, usages_of
from ladder.facts.history import LAST_BLOCKS, LAST_VERSIONS, PlayedMatch, Said
from ladder.facts.standings import SCHEDULED, Standing, Status, standings
from ladder.facts.store import Store
from ladder.model.condition import Condition
from ladder.model.match import Version
from ladder.model.rating import Rating, level_with
from ladder.model.schedule import NEW_BLOCKS
from ladder.operation.home import Home
from referee.match.result import Outcome

TREND_BLOCKS = 10
"""For how many blocks tables show how a rating went."""
LAST_USED = 20
"""In how many of its last matches it is looked up what a version has used."""
PIECE_BYTES = 256 * 1024
"""How many bytes of a file are sent in a message."""


def condition_message(condition: Condition) -> pb.Condition:
    """Return a condition as a message."""
    return pb.Condition(
        game=condition.game,
        options=condition.options_struct(),
        clock=condition.clock,
        terms=condition.terms,
        slug=condition.slug,
    )


def table(chronicle: Store, condition: Condition) -> Iterator[pb.Standing]:
    """Yield the standings under a condition, best first."""
    listed = list(enumerate(standings(chronicle, condition), 1))
    current = [(place, one) for place, one in listed if one.status is not Status.REPLACED]
    trends = chronicle.history.rating_history([one.version.id for _, one in current], condition, TREND_BLOCKS)
    rated = [(place, one.rating) for place, one in current if one.rating is not None]
    level = {
        place: [rated[other][0] for other in others]
        for (place, _), others in zip(rated, level_with([rating for _, rating in rated]), strict=True)
    }
    for place, one in listed:
        message = standing_message(condition, one, place)
        message.trend.extend(_block_ratings({one.version: trends.get(one.version.id, {})}))
        message.level_with.extend(_spans(level.get(place, ())))
        yield message


def _spans(places: Sequence[int]) -> Iterator[pb.Places]:
    """Yield places, given in their order, as spans."""
    for _, group in groupby(enumerate(places), key=lambda entry: entry[1] - entry[0]):
        span = [place for _, place in group]
        yield pb.Places(first=span[0], last=span[-1])


def standing_message(condition: Condition, one: Standing, place: int | None = None) -> pb.Standing:
    """Return a standing as a message; `place` is that of a version that is rated, from 1."""
    rating, tally = one.rating, one.tally
    return pb.Standing(
        game=condition.game,
        options=condition.options_struct(),
        clock=condition.clock,
        terms=condition.terms,
        place=None if rating is None else place,
        bot=one.version.bot,
        version=one.version.number,
        author=one.version.author,
        mu=None if rating is None else rating.mu,
        sigma=None if rating is None else rating.sigma,
        low=None if rating is None else rating.low,
        matches=tally.matches,
        different=tally.different,
        wins=tally.wins,
        out=tally.faults,
        status=one.status.value,
        reason=one.reason,
        at_home=one.version.is_at_home,
        language=one.version.language,
        is_new=one.status in SCHEDULED and tally.blocks < NEW_BLOCKS and not one.version.is_house,
    )


def with_last_words(home: Home, condition: Condition, one: Standing) -> Standing:
    """Return a standing whose reason has the words with which its version has failed to qualify: for those who may read its log."""
    has_ended = one.status is Status.FAILED and one.reason.startswith((Outcome.CRASH.value, Outcome.START.value))
    said = last_said(home, one.version, condition) if has_ended else ""
    return replace(one, reason=f"{one.reason}; {said}") if said and said not in one.reason else one


def telemetry_messages(telemetry: Mapping[str, Said]) -> Iterator[pb.Telemetry]:
    """Yield what a bot said of its thinking, by key."""
    for key, said in telemetry.items():
        yield pb.Telemetry(key=key, matches=said.matches, values=said.values, mean=said.mean)


def fared_message(
    home: Home, chronicle: Store, condition: Condition, one: Standing, place: int | None, *, with_telemetry: bool
) -> pb.Fared:
    """Return how a version has fared under a condition, in which it has this place."""
    version = one.version
    thinking = chronicle.history.thinking(version, condition)
    return pb.Fared(
        standing=standing_message(condition, one, place),
        faults={outcome.value: count for outcome, count in chronicle.history.faults(version, condition).items()},
        blocks=_histories(chronicle, condition, [version]),
        history=_histories(chronicle, condition, chronicle.roster.versions_called(version.bot)[-LAST_VERSIONS:])[
            -LAST_BLOCKS:
        ],
        met=[
            pb.Met(bot=other.bot, version=other.number, **asdict(score))
            for other, score in chronicle.history.met(version, condition).items()
        ],
        telemetry=telemetry_messages(chronicle.history.telemetry(version, condition)) if with_telemetry else (),
        seats=[pb.SeatTally(**asdict(tally)) for tally in chronicle.history.seat_tallies(version, condition)],
        thinking=None if thinking is None else pb.Thinking(**asdict(thinking)),
        used=used(home, chronicle, version, condition),
    )


def _histories(chronicle: Store, condition: Condition, versions: Sequence[Version]) -> list[pb.BlockRating]:
    """Return the last ratings of some versions, in the order of the blocks."""
    by_id = {version.id: version for version in versions}
    found = chronicle.history.rating_history(by_id, condition, LAST_BLOCKS)
    return sorted(
        _block_ratings({by_id[version]: blocks for version, blocks in found.items()}),
        key=lambda rating: (rating.block, rating.version),
    )


def _block_ratings(histories: Mapping[Version, Mapping[int, Rating]]) -> Iterator[pb.BlockRating]:
    for version, blocks in histories.items():
        for block, rating in blocks.items():
            yield pb.BlockRating(block=block, mu=rating.mu, sigma=rating.sigma, low=rating.low, version=version.number)


def used(home: Home, chronicle: Store, version: Version, condition: Condition) -> pb.Used | None:
    """Return what a version used in its last matches; None if nobody knows."""
    seats = chronicle.history.last_seats(version, condition, LAST_USED)
    known = {match_id: usage for match_id, seat in seats if (usage := usages_of(home, match_id).get(seat)) is not None}
    if not known:
        return None
    peaks = {match_id: usage.memory_peak for match_id, usage in known.items() if usage.memory_peak is not None}
    memory_in = max(peaks, key=lambda match_id: peaks[match_id], default="")
    seconds = [usage.cpu_seconds for usage in known.values() if usage.cpu_seconds is not None]
    return pb.Used(
        matches=len(known),
        memory_peak=peaks.get(memory_in),
        memory_in=memory_in,
        cpu_seconds=fmean(seconds) if seconds else None,
    )


def played_messages(chronicle: Store, matches: Sequence[PlayedMatch]) -> list[pb.PlayedMatch]:
    """Return matches that count as messages."""
    changes = chronicle.history.block_changes(matches)
    return [_played_message(match, changes) for match in matches]


def _played_message(match: PlayedMatch, changes: Mapping[tuple[int, int], float]) -> pb.PlayedMatch:
    return pb.PlayedMatch(
        match=match.match_id,
        number=match.number,
        game=match.condition.game,
        options=match.condition.options_struct(),
        clock=match.condition.clock,
        terms=match.condition.terms,
        block=match.block,
        rotation=match.rotation,
        finished_at=match.finished_at,
        rated=match.rated,
        seats=[
            pb.PlayedSeat(
                seat=seat.seat,
                bot=seat.version.bot,
                version=seat.version.number,
                rank=seat.rank,
                score=seat.score,
                outcome=seat.outcome.value,
                detail=seat.detail,
                block_change=changes.get((seat.version.id, match.block)),
            )
            for seat in match.seats
        ],
    )


def stopped_standings(chronicle: Store, version: Version) -> list[pb.Standing]:
    """Return where a version is not scheduled, and will not be."""
    return [
        standing_message(condition, one)
        for condition in chronicle.roster.conditions().values()
        for one in standings(chronicle, condition, [version.id])
        if one.version == version and one.status in (Status.FAILED, Status.SUSPENDED, Status.RETIRED)
    ]


def file_pieces(file: BinaryIO, name: str) -> Iterator[pb.FilePiece]:
    """Yield a file in pieces, and close it; the first has its name."""
    with file:
        yield pb.FilePiece(name=name, data=file.read(PIECE_BYTES))
        while data := file.read(PIECE_BYTES):
            yield pb.FilePiece(data=data)
