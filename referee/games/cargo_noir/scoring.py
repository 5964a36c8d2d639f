"""The end of a match (RULES.md, C8 and section 6)."""

from __future__ import annotations

from operator import mul
from typing import TYPE_CHECKING

from referee.game import Seat

if TYPE_CHECKING:
    from referee.games.cargo_noir.state import CargoNoirState


def score(state: CargoNoirState, seat: Seat) -> int:
    """Victory points of all own cards (C8.2)."""
    return sum(map(mul, state.cards[seat], state.board.vp))


def highest_card(state: CargoNoirState, seat: Seat) -> int:
    """Victory points of the best single card, 0 without cards: the tie-break (C8.3)."""
    return max(vp if count else 0 for count, vp in zip(state.cards[seat], state.board.vp, strict=True))


def ranks(state: CargoNoirState) -> list[int]:
    """Places by score, then by the best single card; remaining ties share the place (C8.3)."""
    results = [(score(state, seat), highest_card(state, seat)) for seat in range(state.setup.seats)]
    return [1 + sum(other > own for other in results) for own in results]
