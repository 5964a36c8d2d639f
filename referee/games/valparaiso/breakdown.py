"""The sources of points and the criteria that decide the places, as far as an observation shows them (RULES.md, V7)."""

from __future__ import annotations

from referee.game import Criterion, Points
from referee.games.valparaiso.board import ValparaisoBoard
from referee.games.valparaiso.names import Phase, Source
from referee.games.valparaiso.observation import SeatView, ValparaisoObservation

_WORDS = {
    Source.HOLD: "full holds",
    Source.CITY: "houses in Valparaíso",
    Source.VILLAGES: "houses in villages",
    Source.LAST_HOUSE: "the last house",
    Source.MARKET: "market tiles",
    Source.CARDS: "actions of cards",
    Source.REVENUE: "revenue of Valparaíso",
    Source.SCRAP: "scrapped cards",
}


def breakdown(board: ValparaisoBoard, seen: ValparaisoObservation) -> tuple[tuple[Points, ...], ...]:
    """Return each seat's points on the track, by source; after the match, also those of the final count (V7.2)."""
    return tuple(_of_seat(board, has, is_over=seen.phase is Phase.OVER) for has in seen.seats)


def _of_seat(board: ValparaisoBoard, has: SeatView, *, is_over: bool) -> tuple[Points, ...]:
    cards = sum(board.cards[card].vp for card in has.achievements)
    return (
        Points("before this position", has.vp - sum(has.earned)),
        *(Points(_WORDS[source], points) for source, points in zip(Source, has.earned, strict=True)),
        Points("achievement cards", cards if is_over else 0),
        Points("pesos and goods", has.final_vp - has.vp - cards if is_over else 0),
    )


def criteria(seen: ValparaisoObservation) -> tuple[Criterion, ...]:
    """Return the criteria that decide the places: final points, remaining pesos, and later turn in the round (V7.3)."""
    seats = len(seen.seats)
    return (
        Criterion("final points", tuple([has.final_vp for has in seen.seats])),
        Criterion("pesos left", tuple([has.rest_money for has in seen.seats])),
        Criterion("later in the round", tuple([(seat - seen.start_seat) % seats + 1 for seat in range(seats)])),
    )
