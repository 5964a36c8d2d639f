"""The knowledge of a seat (RULES.md, section 2): everything except the others' plans for this round."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from referee.game import CountedBy, Seat
from referee.games.venezia.names import ActionCard, FirstCard, Phase, Place, Square, Step

SeatCounts = Annotated[tuple[int, ...], CountedBy(None)]
PlaceCounts = Annotated[tuple[int, ...], CountedBy(Place)]


class SeatView(NamedTuple):
    """The holdings of a seat, and the public part of its plan."""

    score: int
    home: Place | None
    supply: int
    reserve: int
    nest: int
    cemetery: int
    hand: tuple[ActionCard, ...]
    discard: tuple[int, ...]
    committed: bool
    first: FirstCard | None
    first_count: int
    card_planned: bool
    action: ActionCard | None
    piles: tuple[int, ...]
    pile_places: tuple[Place, ...]
    rank: int
    earned: PlaceCounts


class PlanView(NamedTuple):
    """The viewer's own plan."""

    step: Step
    first: FirstCard | None
    action: ActionCard | None
    chosen: tuple[Place, ...]
    counts: tuple[int, ...]
    slots: tuple[Place, ...]


class PlaceView(NamedTuple):
    """The pigeons in a place."""

    pigeons: SeatCounts
    grey: int


class PigeonView(NamedTuple):
    """A pigeon on the Piazza."""

    square: Square
    seat: Seat


class Majority(NamedTuple):
    """A seat's majority in a district."""

    place: Place
    seat: Seat


class VeneziaObservation(NamedTuple):
    """An observation. Its fields are those of the `Observation` message in venezia.proto, which describes them."""

    viewer: Seat | None
    round: int
    last_round: int
    first_seat: Seat
    phase: Phase
    seat: Seat | None
    seats: Annotated[tuple[SeatView, ...], CountedBy(None)]
    places: Annotated[tuple[PlaceView, ...], CountedBy(Place)]
    grey_side: int
    piazza: tuple[PigeonView, ...]
    tourists: tuple[Square, ...]
    hunters: tuple[Square, ...]
    raptor: Place | None
    grey_owner: Seat | None
    majorities: tuple[Majority, ...]
    plan: PlanView | None
    slot: int
    unmoved: tuple[Square, ...]
    chain: tuple[Square, ...]
    waiting: tuple[Seat, ...]
    card_place: Place | None
    card_count: int
    grey_untouched: PlaceCounts
