"""Consequences that need no decision: turns, phases, scoring and cleaning up (RULES.md, section 4)."""

from __future__ import annotations

from typing import Final

from referee.game import Chance, Seat
from referee.games.venezia import piazza, planning, scoring
from referee.games.venezia.names import CARDS, DISTRICTS, ActionCard, FirstCard, Phase, Place, Step
from referee.games.venezia.table import NO_PLAN, NONE, Table

# A constant, because looking up a member of an enum is slow on the hot path.
_COMMITTED: Final = Step.COMMITTED
_PIAZZA: Final = FirstCard.PIAZZA
_PLAN: Final = Phase.PLAN

# --- planning (Z2) --------------------------------------------------------------------------------------


def begin_round(table: Table) -> None:
    """Begin a round: let all seats plan."""
    table.phase = _PLAN
    table.seat = table.first_seat
    table.plans = [NO_PLAN] * table.setup.seats
    table.piles = [[] for _ in table.piles]
    table.first_count = [0] * table.setup.seats


def after_plan(table: Table, chance: Chance) -> None:
    """Reveal the public part of the plans as soon as the last plan is finished."""
    if all(plan.step is _COMMITTED for plan in table.plans):
        planning.reveal(table, chance)
        _turn_first_cards(table, table.turn_order(), chance)


# --- first cards, tourists, hunters (Z3, Z4) --------------------------------------------------------------


def _turn_first_cards(table: Table, seats: list[Seat], chance: Chance) -> None:
    for seat in seats:
        table.seat = seat
        if table.first_count[seat]:  # otherwise there is nothing to decide
            if table.plans[seat].first is _PIAZZA:
                table.phase = Phase.PLACE
                return
            if table.piles[seat]:  # a Feint without district cards has no target (Z3.2)
                table.phase, table.slot = Phase.FEINT, 0
                return
        _take_first_card_back(table)
    # All first cards have been played before the first tourist comes (Z4.1).
    piazza.spin(table, chance)
    _begin_moves(table, table.turn_order())


def _take_first_card_back(table: Table) -> None:
    table.reserve[table.seat] += table.first_count[table.seat]  # Z3.2, Z3.3
    table.first_count[table.seat] = 0


def end_first_card(table: Table, chance: Chance) -> None:
    """Move on to the next seat's first card."""
    _take_first_card_back(table)
    table.slot = 0
    _turn_first_cards(table, _after(table), chance)


def _after(table: Table) -> list[Seat]:
    """Return the seats after the current one in this round's order."""
    order = table.turn_order()
    return order[order.index(table.seat) + 1 :]


# --- moving (Z5, Z6) --------------------------------------------------------------------------------------


def _begin_moves(table: Table, seats: list[Seat]) -> None:
    for seat in seats:
        # Seats before this one may have captured some of them.
        own = piazza.pigeons_of(table, seat)
        if own:  # Z6.4
            table.seat = seat
            table.phase = Phase.MOVE
            table.unmoved = frozenset(own)
            return
    _turn_action_cards(table)


def end_moves(table: Table) -> None:
    """Capture and breed for the seat that has moved, then move on to the next seat's moves."""
    seat = table.seat
    table.unmoved = frozenset()
    piazza.capture(table, seat)
    born = min(piazza.births(table, seat), table.supply[seat])  # Z6.3, R16
    table.supply[seat] -= born
    table.nest[seat] += born
    _begin_moves(table, _after(table))


# --- action cards (Z7, Z8) --------------------------------------------------------------------------------


def _turn_action_cards(table: Table) -> None:
    # The executors depend on the scores before this round's scoring (R35).
    chosen = executors(table)
    family = chosen.pop(ActionCard.FAM, NONE)
    executing = set(chosen.values())
    waiting = [seat for seat in table.turn_order() if seat in executing]
    table.waiting = tuple(waiting if family == NONE else [family, *waiting])
    if family != NONE:  # Z7.2
        if any(table.nest):
            table.seat, table.phase = family, Phase.FAMILY
            return
        _finish_card(table)  # with all nests empty it is spent without a choice (R46)
    begin_reinforcements(table, table.turn_order())


def executors(table: Table) -> dict[ActionCard, Seat]:
    """Return the seat that executes each played card, leaving out cards that nobody executes (Z7.1)."""
    found = {}
    for card in CARDS:
        players = [seat for seat, plan in enumerate(table.plans) if plan.action is card]
        if players:
            lowest = min(table.score[seat] for seat in players)
            lowest_players = [seat for seat in players if table.score[seat] == lowest]
            if len(lowest_players) == 1:  # if several share the lowest score, nobody executes the card (Z7.1)
                found[card] = lowest_players[0]
    return found


def _finish_card(table: Table) -> None:
    seat, *rest = table.waiting
    card = table.plans[seat].action
    assert card is not None  # noqa: S101 only seats with a card wait
    # Cards count from 1, after `ActionCard.NONE`.
    table.discard[seat][card - 1] = table.round  # Z7.5
    table.waiting = tuple(rest)
    table.card_place, table.card_count = NONE, 0
    table.grey_untouched = [0] * len(Place)


def end_family(table: Table) -> None:
    """Finish the family meeting, and begin the reinforcements."""
    _finish_card(table)
    begin_reinforcements(table, table.turn_order())


def begin_reinforcements(table: Table, seats: list[Seat]) -> None:
    """Let the next seat with pigeons in its nest reinforce its home (Z7.3), or go on with the action cards."""
    for seat in seats:
        if table.nest[seat]:
            table.seat, table.phase = seat, Phase.REINFORCE
            return
    _go_on_with_cards(table)


def end_reinforcement(table: Table) -> None:
    """Move on to the next reinforcement, or to the action cards."""
    begin_reinforcements(table, _after(table))


def end_card(table: Table) -> None:
    """Finish the card that is being executed, and move on to the next."""
    _finish_card(table)
    _go_on_with_cards(table)


def _go_on_with_cards(table: Table) -> None:
    while table.waiting:
        table.seat = table.waiting[0]
        if _begin_card(table):
            return
        _finish_card(table)  # a card without effect is spent, too (R17)
    _turn_district_cards(table)


def _begin_card(table: Table) -> bool:
    """Begin to execute a card; return whether it needs a decision."""
    seat = table.seat
    card = table.plans[seat].action
    if card is ActionCard.FEH:
        return next_fehde(table)
    if card is ActionCard.UEB and any(has_opponents(table, place) for place in DISTRICTS):
        table.phase = Phase.TAKEOVER
        return True
    if card is ActionCard.GIF and any(owner != NONE for owner in table.piazza) and table.board.poisoned:
        table.phase = Phase.POISON
        return True
    if card is ActionCard.RAU:
        table.phase = Phase.RAPTOR
        return True
    if card is ActionCard.MIC:
        table.reserve[seat] += table.cemetery[seat]
        table.cemetery[seat] = 0
    if card is ActionCard.SAU and any(any(table.loc[place]) for place in DISTRICTS):
        table.phase = Phase.PURGE
        return True
    if card is ActionCard.WEI:
        if table.board.grey_operations:
            table.grey_untouched = table.grey[:]  # a copy: `grey` changes with each operation
            table.phase = Phase.GREY
            return True
        table.grey_owner = seat
    return False


def has_opponents(table: Table, place: int) -> bool:
    """Return whether an opponent of the current seat has a pigeon in a place."""
    pigeons = table.loc[place]
    return sum(pigeons) > pigeons[table.seat]


def open_to_vatican_and_feud(table: Table) -> tuple[Place, ...]:
    """Return the places where Fehde and Weisung work: the districts and, with an option, San Giorgio Maggiore (Z8)."""
    return tuple(Place) if table.setup.options["vatican_feud_sgm"] else DISTRICTS


def next_fehde(table: Table) -> bool:
    """Move on to the next district with an opposing pigeon (Z8.2); return whether there is one."""
    for place in open_to_vatican_and_feud(table):
        # Before the first district, `card_place` is NONE, which is below all places.
        if place > table.card_place and has_opponents(table, place):
            table.card_place = int(place)
            table.phase = Phase.FEHDE
            return True
    return False


# --- districts and scoring (Z9, Z10) ------------------------------------------------------------------------


def _turn_district_cards(table: Table) -> None:
    for seat, plan in enumerate(table.plans):
        for slot, place in enumerate(plan.slots):
            table.loc[place][seat] += table.piles[seat][slot]
            table.piles[seat][slot] = 0
    scoring.score_districts(table)
    if scoring.ends_after_scoring(table):  # Z10.2
        # Recovery, San Michele and cleaning cannot change the ranking (R29).
        table.phase = Phase.OVER
        return
    seat = scoring.majority_in(table, Place.SGM)
    if seat != NONE and recoverable(table, seat):  # Z10.3
        table.seat, table.phase = seat, Phase.RECOVER
        return
    begin_michele(table)


def recoverable(table: Table, seat: Seat) -> list[ActionCard]:
    """Return the cards that a seat executed in earlier rounds."""
    return [card for card, when in zip(CARDS, table.discard[seat], strict=True) if 0 < when < table.round]


def begin_michele(table: Table) -> None:
    """Let the seat with the majority in the cemetery take pigeons back (Z10.4), or end the round if there is none."""
    seat = scoring.majority(table.cemetery)
    if seat != NONE and table.board.from_cemetery:
        table.seat, table.phase = seat, Phase.MICHELE
        return
    end_round(table)


def end_round(table: Table) -> None:
    """Clean up, and begin the next round (Z11)."""
    # All places are counted before the first is emptied, because several may have the most pigeons (R37).
    totals = [sum(pigeons) + greys for pigeons, greys in zip(table.loc, table.grey, strict=True)]
    most = max(totals)
    for place, total in enumerate(totals):
        if most and total == most:  # Z11.1
            table.reserve = [own + back for own, back in zip(table.reserve, table.loc[place], strict=True)]
            table.loc[place] = [0] * table.setup.seats
            table.grey_side += table.grey[place]
            table.grey[place] = 0
    table.tourists = table.hunters = ()  # Z11.2
    table.danger = 0
    table.raptor = table.grey_owner = NONE
    table.reserve = [own + born for own, born in zip(table.reserve, table.nest, strict=True)]  # Z11.3
    table.nest = [0] * table.setup.seats
    table.first_seat = (table.first_seat + 1) % table.setup.seats  # Z11.4
    table.round += 1
    begin_round(table)
