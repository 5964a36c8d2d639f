"""Planning, which every seat does on its own (RULES.md, Z2). Nothing here depends on another seat's plan."""

from __future__ import annotations

from typing import Final

from referee.game import Action, Chance, IllegalAction, Seat
from referee.games.venezia import actions as act
from referee.games.venezia.names import ActionCard, FirstCard, Place, Step
from referee.games.venezia.table import Plan, Table
from referee.named import named

# Constants, because looking up a member of an enum is slow on the hot path.
_FIRST: Final = Step.FIRST
_ACTION: Final = Step.ACTION
_DISTRICTS: Final = Step.DISTRICTS
_COUNT: Final = Step.COUNT
_COMMITTED: Final = Step.COMMITTED
_PIAZZA: Final = FirstCard.PIAZZA
_NONE: Final = ActionCard.NONE
_PLACES: Final = tuple(Place)


def room_on_piazza(table: Table, seat: Seat) -> int:
    """Return the maximum number of pigeons that a seat may lay on the Piazza card (Z2.5)."""
    # Pigeons stay on the Piazza between rounds (R6).
    return min(table.reserve[seat], table.board.piazza_limit - table.on_piazza(seat))


def limits(table: Table, seat: Seat) -> tuple[int, int]:
    """Return the minimum and maximum number of pigeons for the next card of a plan (Z2.5)."""
    plan = table.plans[seat]
    # The first card gets its pigeons first. A Piazza card without a pigeon cannot be played (R5).
    if not plan.counts and plan.first is _PIAZZA:
        return 1, room_on_piazza(table, seat)
    return 0, table.left_to_lay(seat)


def legal(table: Table, seat: Seat) -> list[Action]:
    """Return the possible next choices of a plan, in the order of the rules."""
    plan = table.plans[seat]
    if plan.step is _FIRST:
        return list(act.FIRSTS if room_on_piazza(table, seat) >= 1 else act.FIRSTS[:1])
    if plan.step is _ACTION:
        return [act.PLANNED_CARDS[_NONE], *(act.PLANNED_CARDS[card] for card in table.hand(seat))]
    if plan.step is _DISTRICTS:
        return [*(act.PLANNED_DISTRICTS[place] for place in _PLACES if place not in plan.chosen), act.DONE]
    if plan.step is _COUNT:
        low, high = limits(table, seat)
        return list(act.COUNTS[low : high + 1])
    return []


def play(table: Table, seat: Seat, action: Action) -> None:
    """Make the next choice of a plan.

    Raises:
        IllegalAction: if the choice is not legal; the plan is then unchanged.
    """
    plan = table.plans[seat]
    if isinstance(action, act.First):
        _check_step(plan, _FIRST, "Z2.2")
        card = named(FirstCard, action.card)
        if card is _PIAZZA and room_on_piazza(table, seat) < 1:
            raise IllegalAction("the card Piazza needs a pigeon in the reserve, and room for it on the Piazza", "Z2.2")
        plays_action = table.round > 1 and table.hand(seat)  # Z2.3
        plan = plan._replace(first=card, step=_ACTION if plays_action else _DISTRICTS)
    elif isinstance(action, act.Card):
        _check_step(plan, _ACTION, "Z2.3")
        chosen = named(ActionCard, action.card)
        if chosen is not _NONE and chosen not in table.hand(seat):
            raise IllegalAction(f"{chosen.name} has been executed; it is not in the hand", "Z2.3")
        plan = plan._replace(action=chosen, step=_DISTRICTS)
    elif isinstance(action, act.District):
        _check_step(plan, _DISTRICTS, "Z2.4")
        place = named(Place, action.place)
        if place in plan.chosen:
            raise IllegalAction(f"{place.name} is chosen already", "Z2.4")
        places = (*plan.chosen, place)
        # After the last possible card the seat is not asked whether to go on (Z2.4).
        full = len(places) == table.board.district_cards
        plan = Plan(_COUNT if full else _DISTRICTS, plan.first, plan.action, places, plan.counts)
    elif isinstance(action, act.Done):
        _check_step(plan, _DISTRICTS, "Z2.4")
        plan = Plan(_COUNT, plan.first, plan.action, plan.chosen, plan.counts)
    elif isinstance(action, act.Count):
        _check_step(plan, _COUNT, "Z2.5")
        low, high = limits(table, seat)
        if not low <= action.pigeons <= high:
            raise IllegalAction(f"{low} to {high} pigeons can be laid on this card, not {action.pigeons}", "Z2.5")
        counts = (*plan.counts, action.pigeons)
        made = len(counts) > len(plan.chosen)  # one count for the first card, one for each place
        plan = Plan(_COMMITTED if made else _COUNT, plan.first, plan.action, plan.chosen, counts)
    else:
        raise IllegalAction("this is not possible while plans are made", "Z2.1")
    table.plans[seat] = plan


def _check_step(plan: Plan, step: Step, rule: str) -> None:
    if plan.step is not step:
        raise IllegalAction(f"this is not the next choice of the plan, which is at {plan.step.name}", rule)


def reveal(table: Table, chance: Chance) -> None:
    """Lay the pigeons on the cards, with the district cards in a random order (Z2.7 to Z2.9)."""
    for seat, plan in enumerate(table.plans):
        cards = len(plan.chosen)
        # Each seat has its own stream, because the draw for one must not depend on the cards of another (Z2.10).
        order = chance.stream(f"slots{seat}").permutation(cards) if cards >= 2 else range(cards)
        table.plans[seat] = plan._replace(slots=tuple(plan.chosen[place] for place in order))
        table.piles[seat] = [plan.counts[1 + place] for place in order]
        table.first_count[seat] = plan.counts[0]
        table.reserve[seat] -= sum(plan.counts)  # only now: an earlier change would give a plan away (R7)


def actions_of(plan: Plan, max_places: int) -> list[Action]:
    """Return the choices that lead to a plan with at most `max_places` places."""
    choices: list[Action] = []
    if plan.first is not None:
        choices.append(act.FIRSTS[plan.first])
    if plan.action is not None:
        choices.append(act.PLANNED_CARDS[plan.action])
    choices += [act.PLANNED_DISTRICTS[place] for place in plan.chosen]
    if plan.step >= _COUNT and len(plan.chosen) < max_places:  # the plan was not full, so it was ended by choice
        choices.append(act.DONE)
    choices += [act.Count(pigeons) for pigeons in plan.counts]
    return choices
