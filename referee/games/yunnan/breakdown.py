"""The sources of points and the criteria that decide the places, as an observation shows them (RULES.md, section 6)."""

from __future__ import annotations

from referee.game import Criterion, Points, Seat
from referee.games.yunnan.board import YunnanBoard
from referee.games.yunnan.observation import YunnanObservation


def breakdown(board: YunnanBoard, seen: YunnanObservation) -> tuple[tuple[Points, ...], ...]:
    """Return the points of each seat: those on the score track, and those that count at the end."""
    return tuple(_of_seat(board, seen, seat) for seat in range(len(seen.seats)))


def _of_seat(board: YunnanBoard, seen: YunnanObservation, seat: Seat) -> tuple[Points, ...]:
    has = seen.seats[seat]
    own = [(colour, view) for colour, view in enumerate(seen.colours) if view.owner == seat]
    teahouses = [sum(province.teahouse == colour for province in seen.provinces) for colour, _ in own]
    return (
        Points("before this position", has.vp - has.converted + has.debts),
        Points("income", has.converted),
        Points("debts", -has.debts),
        Points("gifts", board.gift_vp * sum(view.gifts_taken for _, view in own)),
        Points("border passes", sum(board.passes_vp[view.passes - board.first_passes] for _, view in own)),
        Points("influence", sum(board.influence_vp[view.influence] for _, view in own)),
        Points("Teahouses", sum(board.teahouse_vp[count] for count in teahouses)),
        Points("money", sum(view.money for _, view in own) // board.yuan_per_vp),
    )


def criteria(seen: YunnanObservation) -> tuple[Criterion, ...]:
    """Return the criteria that decide the places.

    They are the score, the influence, and the number of colours that travel after the seat's first one.
    """
    seats = range(len(seen.seats))
    influence = [sum(view.influence for view in seen.colours if view.owner == seat) for seat in seats]
    owners = [seen.colours[colour].owner for colour in seen.travel_order]
    return (
        Criterion("points", tuple([has.score for has in seen.seats])),
        Criterion("influence", tuple(influence)),
        Criterion("travels before", tuple([len(owners) - 1 - owners.index(seat) for seat in seats])),
    )
