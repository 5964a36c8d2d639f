"""Checks of a position, with their numbers in RULES.md: invariants of section 9 (`I3`) and rules of section 4 (`Z7.1`).

The checks cover everything that a single position can show, so that any position that passes can be played to its end.
They do not cover facts that only the course of a match can show, such as that supplies never grow.
"""

from __future__ import annotations

from math import gcd

from referee.games.venezia import flow, piazza, planning, rules, scoring
from referee.games.venezia.names import CARDS, DISTRICTS, ActionCard, FirstCard, Phase, Place, Square, Step
from referee.games.venezia.observing import is_turned
from referee.games.venezia.position import pigeons_outside_supply
from referee.games.venezia.table import NO_PLAN, NONE, Table

_SQUARES = tuple(square.name.lower() for square in Square)
_BEFORE_PIAZZA = (Phase.HOME, Phase.PLAN, Phase.FEINT, Phase.PLACE)
_BEFORE_CARDS = (*_BEFORE_PIAZZA, Phase.MOVE, Phase.CHAIN)
_AFTER_CARDS = (Phase.RECOVER, Phase.MICHELE, Phase.OVER)
_CARD_OF = {
    Phase.FAMILY: ActionCard.FAM,
    Phase.FEHDE: ActionCard.FEH,
    Phase.TAKEOVER: ActionCard.UEB,
    Phase.FROM_RESERVE: ActionCard.UEB,
    Phase.POISON: ActionCard.GIF,
    Phase.RAPTOR: ActionCard.RAU,
    Phase.PURGE: ActionCard.SAU,
    Phase.GREY: ActionCard.WEI,
}


def problems(table: Table) -> list[str]:
    """Return a line for each broken invariant or rule, in most cases with its number."""
    found: list[str] = []
    for seat in range(table.setup.seats):
        found += _seat_problems(table, seat)
    found += _home_problems(table)
    found += _score_problems(table)
    found += _grey_problems(table)
    found += _piazza_problems(table)
    found += _move_problems(table)
    found += _card_problems(table)
    found += _phase_problems(table)
    found += _end_problems(table)
    return found


# --- seats and plans ----------------------------------------------------------------------------------------


def _seat_problems(table: Table, seat: int) -> list[str]:
    found: list[str] = []
    board, discard = table.board, table.discard[seat]
    total = table.supply[seat] + pigeons_outside_supply(table, seat)
    if total != board.pigeons:
        found.append(f"I1: seat {seat} has {total} pigeons, not {board.pigeons}")
    if table.on_piazza(seat) > board.piazza_limit:
        found.append(
            f"I3: seat {seat} has {table.on_piazza(seat)} pigeons on the Piazza; {board.piazza_limit} are allowed"
        )
    start = board.pigeons - board.start_reserve
    born = start - table.supply[seat]
    if born < 0:
        found.append(f"I5: seat {seat} has {table.supply[seat]} pigeons in its supply; it started with {start}")
    elif table.nest[seat] > born:
        found.append(
            f"I5: seat {seat} has {table.nest[seat]} pigeons in its nest, but only {born} have left its supply"
        )
    executed = [when for when in discard if when]
    if 1 in executed:
        found.append(f"I6: seat {seat} has executed a card in round 1 (Z2.3)")
    if len(set(executed)) < len(executed):
        found.append(f"I6: seat {seat} has executed two cards in one round (Z2.3)")
    return [*found, *(f"seat {seat}: {problem}" for problem in _plan_problems(table, seat))]


def _plan_problems(table: Table, seat: int) -> list[str]:
    if table.phase is Phase.HOME:
        return ["there are no plans in the phase HOME (Z1.4)"] * (table.plans[seat] != NO_PLAN)
    if table.phase is Phase.PLAN:
        return _open_plan_problems(table, seat)
    return [*_made_plan_problems(table, seat), *_pile_problems(table, seat)]


def _open_plan_problems(table: Table, seat: int) -> list[str]:
    """Return the reasons why an unfinished plan cannot be made choice by choice."""
    plan = table.plans[seat]
    if table.piles[seat] or table.first_count[seat] or plan.slots:
        return ["slots and first_count come when all have committed (Z2.8)"]
    again = table.clone()
    again.plans[seat] = NO_PLAN
    for action in planning.actions_of(plan, table.board.district_cards):
        if action not in planning.legal(again, seat):
            return [f"the plan cannot be made: {action} is not possible (Z2)"]
        planning.play(again, seat, action)
    if again.plans[seat] != plan:
        return [f"the plan is at {again.plans[seat].step.name} by its choices, not at {plan.step.name} (Z2)"]
    return []


def _made_plan_problems(table: Table, seat: int) -> list[str]:
    found: list[str] = []
    plan, board = table.plans[seat], table.board
    if plan.step is not Step.COMMITTED or plan.first is None:
        found.append(f"the plan must be made in the phase {table.phase.name} (Z2.6)")
    if sorted(plan.slots) != sorted(plan.chosen) or len(set(plan.chosen)) < len(plan.chosen):
        found.append("slots must have the chosen places, each once (Z2.9)")
    if len(plan.chosen) > board.district_cards or len(plan.counts) != len(plan.chosen) + 1:
        found.append(
            f"a plan has up to {board.district_cards} places, and a count for the first card and each place (Z2.5)"
        )
    # A card executed in this round was in the hand when it was planned.
    hand = [card for card, when in zip(CARDS, table.discard[seat], strict=True) if when in (0, table.round)]
    if plan.action and plan.action not in hand:
        found.append(f"{plan.action.name} is not in the hand (Z2.3)")
    has_recovered = table.phase is Phase.MICHELE  # a hand that was empty may have a card again
    if table.round == 1 and plan.action is not None:
        found.append("in round 1 there is no action to choose; leave it out (Z2.3)")
    elif table.round > 1 and plan.action is None and hand and not has_recovered:
        found.append("action is missing: from round 2 on it is none or a card (Z2.3)")
    return found


def _pile_problems(table: Table, seat: int) -> list[str]:
    """Return the contradictions between the pigeons on a seat's cards, its plan and the phase."""
    found: list[str] = []
    plan, left, piles = table.plans[seat], table.first_count[seat], table.piles[seat]
    order, phase = table.turn_order(), table.phase
    if left and phase not in (Phase.FEINT, Phase.PLACE):
        found.append(f"I5: there are no pigeons on a first card in the phase {phase.name}")
    elif left and order.index(seat) < order.index(table.seat):
        found.append("its first card has been turned, so no pigeons are on it (Z3.2, Z3.3)")
    if phase in (Phase.FEINT, Phase.PLACE) and plan.first is FirstCard.PIAZZA:
        room = table.board.piazza_limit - table.on_piazza(seat)
        if left > room:
            found.append(f"I3: {left} pigeons are on its card Piazza, but there is room for {room}")
    if phase in _AFTER_CARDS:
        if any(piles):
            found.append("I5: pigeons on district cards have been moved to the places (Z9.1)")
        return found
    if len(plan.counts) != len(plan.chosen) + 1 or sorted(plan.slots) != sorted(plan.chosen):
        return found  # reported above
    planned = dict(zip(plan.chosen, plan.counts[1:], strict=True))
    added = [pile - planned[place] for place, pile in zip(plan.slots, piles, strict=True)]
    feint = plan.counts[0] - left if plan.first is FirstCard.FEINT and is_turned(table, seat) else 0
    if left > plan.counts[0] or min(added, default=0) < 0 or sum(added) > feint:
        found.append("the pigeons on its cards are not those of its plan (Z2.5, Z3.2)")
    return found


# --- homes, scores, greys -----------------------------------------------------------------------------------


def _home_problems(table: Table) -> list[str]:
    found: list[str] = []
    homes = [home for home in table.home if home != NONE]
    if len(set(homes)) < len(homes):
        found.append("two seats have the same home (Z1.4)")
    if table.setup.options["home_sgm"] == "forbidden" and Place.SGM in homes:
        found.append("San Giorgio Maggiore is a home only with the option home_sgm (Z1.4)")
    order = table.turn_order()
    chosen = order[: order.index(table.seat)] if table.phase is Phase.HOME else order
    for seat in order:
        if (table.home[seat] != NONE) != (seat in chosen):
            has = "no home" if seat in chosen else "a home already"
            found.append(f"seat {seat} has {has}; homes are chosen in turn, before the first plans (Z1.4)")
    start = table.board.pigeons - table.board.start_reserve
    if table.phase is Phase.HOME and (
        table.round != 1
        or any(supply != start for supply in table.supply)
        or any(reserve != table.board.start_reserve for reserve in table.reserve)
    ):
        found.append("homes are chosen in round 1, with all pigeons as at the start (Z1.2, Z1.4)")
    if table.setup.options["first_player"] == "seat0":
        first = (table.round - 1) % table.setup.seats
        if table.first_seat != first:
            found.append(f"first_seat is {first} in round {table.round} (Z1.3, Z11.4)")
    return found


def _score_problems(table: Table) -> list[str]:
    found: list[str] = []
    board = table.board
    step = gcd(board.majority_points, board.enemy_home_points)
    # This round has been scored only in the phases after the cards.
    scorings = table.round - (table.phase not in _AFTER_CARDS)
    for seat, score in enumerate(table.score):
        enemies = sum(home in DISTRICTS for other, home in enumerate(table.home) if other != seat)
        best = max(board.majority_points, board.enemy_home_points)
        most = scorings * (best * enemies + board.majority_points * (len(DISTRICTS) - enemies))
        if score % step if step else score:  # a corrected board may give no points at all
            found.append(f"I7: the score of seat {seat}, {score}, is not a multiple of {step}")
        if sum(table.earned[seat]) > score:
            found.append(
                f"I7: seat {seat} has earned {sum(table.earned[seat])} in the districts, but its score is {score}"
            )
        if score > most:
            found.append(f"I7: the score of seat {seat} is {score}; {scorings} scorings give at most {most}")
    if table.phase in _AFTER_CARDS:
        now = [scoring.majority_in(table, district) for district in DISTRICTS]
        if table.majority != now:
            found.append("majority must agree with the places: this round has been scored (Z10.2)")
    elif table.round == 1 and any(seat != NONE for seat in table.majority):
        found.append("there are no majorities before the first scoring (Z10.2)")
    return found


def _grey_problems(table: Table) -> list[str]:
    found: list[str] = []
    total = table.grey_side + sum(table.grey)
    if total != table.board.greys:
        found.append(f"I2: there are {total} grey pigeons, not {table.board.greys}")
    if table.grey[Place.SGM] and not table.setup.options["vatican_feud_sgm"]:
        found.append("I2: grey pigeons are on San Giorgio Maggiore only with the option vatican_feud_sgm")
    touched = sum(table.grey) - sum(table.grey_untouched)
    if any(one > other for one, other in zip(table.grey_untouched, table.grey, strict=True)):
        found.append("grey_untouched exceeds the greys in a place (Z8.8)")
    elif table.phase is Phase.GREY and touched != table.card_count:
        found.append(f"card_count is {table.card_count}, but {touched} greys on the map are touched (Z8.8)")
    if table.phase is not Phase.GREY and any(table.grey_untouched):
        found.append(f"grey_untouched belongs to the phase GREY, not to {table.phase.name}")
    return found


# --- the Piazza ---------------------------------------------------------------------------------------------


def _piazza_problems(table: Table) -> list[str]:
    found: list[str] = []
    options = table.setup.options
    blocked = [square for square in Square if square not in table.grid.usable]
    for square in blocked:
        if table.piazza[square] != NONE or square in table.tourists + table.hunters:
            found.append(f"I3: {square.name.lower()} is blocked by the Campanile")
    for name, squares, number in (
        ("tourists", table.tourists, options["tourists"]),
        ("hunters", table.hunters, options["hunters"]),
    ):
        if len(squares) != (0 if table.phase in _BEFORE_PIAZZA else number):
            found.append(f"I8: there are {len(squares)} {name} in the phase {table.phase.name}")
    if set(table.tourists) & set(table.hunters):
        found.append("I8: a tourist and a hunter stand on one square")
    for place, seat in enumerate(table.piazza):
        if seat != NONE and table.danger >> place & 1:
            found.append(f"I4: the pigeon on {_SQUARES[place]} is in the danger zone")
    return found


def _move_problems(table: Table) -> list[str]:
    found: list[str] = []
    moving = table.phase in (Phase.MOVE, Phase.CHAIN)
    if table.unmoved and not moving:
        found.append(f"unmoved belongs to the phases MOVE and CHAIN, not to {table.phase.name}")
    if any(table.piazza[square] != table.seat for square in table.unmoved):
        found.append("unmoved names a square without a pigeon of the seat (Z5.1)")
    if moving and not table.on_piazza(table.seat):
        found.append(f"seat {table.seat} has no pigeon on the Piazza to move (Z6.4)")
    if (table.phase is Phase.CHAIN) != bool(table.chain):
        found.append("chain belongs to the phase CHAIN, and to no other")
    elif table.chain:
        found += _chain_problems(table)
    return found


def _chain_problems(table: Table) -> list[str]:
    *left, last = table.chain
    if not left or table.piazza[last] != table.seat or last in table.unmoved:
        return ["chain must end where a pigeon of the seat stands that has jumped (Z5.4)"]
    before = table.clone()  # as it was when the chain began
    before.piazza[last], before.chain = NONE, ()
    for start, end in zip(left, table.chain[1:], strict=True):
        over = next((between for between, reached in table.grid.jumps[start] if reached == end), NONE)
        if over == NONE or table.danger >> start & 1 or before.piazza[start] != NONE:
            return [f"chain: {_SQUARES[start]} to {_SQUARES[end]} is not a jump (Z5.3)"]
        if not piazza.can_jump(before, over, end):
            return [f"chain: {_SQUARES[start]} to {_SQUARES[end]} does not jump over one pigeon or tourist (Z5.3)"]
    if not piazza.jumps_from(table, last):
        return ["chain has ended: there is no further jump (Z5.4)"]
    return []


# --- action cards -------------------------------------------------------------------------------------------


def _card_problems(table: Table) -> list[str]:
    """Return the problems with executed cards, waiting executors, and the effects of cards in this round (Z7, Z8)."""
    found: list[str] = []
    seats = range(table.setup.seats)
    done: dict[ActionCard, list[int]] = {
        card: [seat for seat in seats if table.discard[seat][card - 1] == table.round] for card in CARDS
    }
    for card, executors in done.items():
        for seat in executors:
            if table.plans[seat].action is not card or table.phase in _BEFORE_CARDS:
                found.append(f"seat {seat} cannot have executed {card.name} in this round yet (Z7.1)")
        if len(executors) > 1:
            found.append(f"two seats have executed {card.name} in this round (Z7.1)")
    if table.phase not in _BEFORE_CARDS:
        found += _executor_problems(table, done)
    for word, owner, card in (
        ("raptor", table.raptor != NONE, ActionCard.RAU),
        ("grey_owner", table.grey_owner != NONE, ActionCard.WEI),
    ):
        if owner != bool(done[card]) or (word == "grey_owner" and owner and table.grey_owner not in done[card]):
            found.append(f"{word} belongs to the seat that has executed {card.name} in this round (Z8.5, Z8.8)")
    return found


def _executor_problems(table: Table, done: dict[ActionCard, list[int]]) -> list[str]:
    """Return the differences between the past and waiting executors and those that the rules choose (Z7.1 to Z7.4)."""
    if table.phase in _AFTER_CARDS:  # the deciding scores are gone
        players = {card: [plan.action for plan in table.plans].count(card) for card in CARDS}
        return [
            f"{card.name} was played by one seat, which must have executed it (Z7.1)"
            for card in CARDS
            if players[card] == 1 and not done[card]
        ]
    executors = flow.executors(table)
    family = executors.pop(ActionCard.FAM, NONE)
    others = [seat for seat in table.turn_order() if seat in executors.values()]
    order = others if family == NONE else [family, *others]
    waiting = list(table.waiting)
    finished = [seat for seat in order if any(when == table.round for when in table.discard[seat])]
    if finished + waiting != order or {seat for row in done.values() for seat in row} != set(finished):
        names = " ".join(map(str, order)) or "nobody"
        return [f"waiting and the executed cards are not as scores and turn order have it: {names} (Z7.1, Z7.4)"]
    if table.phase is not Phase.FAMILY and family in waiting:
        return [f"seat {family} has its family meeting first (Z7.2)"]
    if table.phase is Phase.REINFORCE and any(seat in finished for seat in others):
        return ["cards are executed after all reinforcements (Z7.4)"]
    return []


# --- phases -------------------------------------------------------------------------------------------------


def _phase_problems(table: Table) -> list[str]:
    """Return a problem for each entry that the phase lacks, and for each that belongs to another phase."""
    found: list[str] = []
    phase, seat, board = table.phase, table.seat, table.board
    if phase is Phase.PLAN and not rules.seats_to_act(table):
        found.append("all plans are made, so this is not the phase PLAN (Z2.7)")
    if phase in (Phase.FEINT, Phase.PLACE):
        wanted = FirstCard.FEINT if phase is Phase.FEINT else FirstCard.PIAZZA
        if table.plans[seat].first is not wanted or not table.first_count[seat]:
            found.append(f"phase {phase.name} needs pigeons on the card {wanted.name.lower()} of seat {seat} (Z3)")
    if phase is Phase.FEINT and table.slot >= len(table.piles[seat]):
        found.append("slot is beyond the last district card (Z3.2)")
    if table.slot and phase is not Phase.FEINT:
        found.append(f"slot belongs to the phase FEINT, not to {phase.name}")
    if phase in _CARD_OF:
        card = _CARD_OF[phase]
        if not table.waiting or table.waiting[0] != seat or table.plans[seat].action is not card:
            found.append(f"phase {phase.name} needs seat {seat} to execute {card.name} first of those waiting (Z7.4)")
    elif table.waiting and phase is not Phase.REINFORCE:
        found.append(f"waiting belongs to the execution of cards, not to {phase.name}")
    if table.card_place != NONE and phase not in (Phase.FEHDE, Phase.FROM_RESERVE):
        found.append(f"card_place belongs to the phases FEHDE and FROM_RESERVE, not to {phase.name}")
    if table.card_count and phase not in (Phase.FROM_RESERVE, Phase.POISON, Phase.GREY):
        found.append(f"card_count belongs to the phases FROM_RESERVE, POISON and GREY, not to {phase.name}")
    if phase is Phase.FAMILY and not any(table.nest):
        found.append("phase FAMILY needs a pigeon in a nest (Z8.1)")
    if phase is Phase.REINFORCE and not table.nest[seat]:
        found.append(f"seat {seat} has no nest to reinforce from (Z7.3)")
    if phase is Phase.FEHDE and (
        table.card_place not in flow.open_to_vatican_and_feud(table) or not flow.has_opponents(table, table.card_place)
    ):
        found.append("phase FEHDE needs an opposing pigeon in card_place (Z8.2)")
    if phase is Phase.FROM_RESERVE:
        if table.card_place not in DISTRICTS or flow.has_opponents(table, table.card_place):
            found.append("phase FROM_RESERVE needs a district in card_place, which the opponents have left (Z8.3)")
        if len(rules.legal_actions(table, seat)) < 2:
            found.append("phase FROM_RESERVE needs a card_count that reserve and nest leave a choice for (Z8.3)")
    if phase in (Phase.TAKEOVER, Phase.PURGE) and not rules.legal_actions(table, seat):
        found.append(f"phase {phase.name} needs a district to choose (Z8)")
    if phase is Phase.POISON and (table.card_count >= board.poisoned or table.piazza.count(NONE) == len(Square)):
        found.append("phase POISON needs a pigeon on the Piazza, and card_count below the limit (Z8.4)")
    if phase is Phase.GREY and table.card_count >= board.grey_operations:
        found.append("card_count: all grey pigeons are added or moved (Z8.8)")
    if phase is Phase.RECOVER and (scoring.majority_in(table, Place.SGM) != seat or not flow.recoverable(table, seat)):
        found.append(f"phase RECOVER needs seat {seat} to have the majority on sgm, and a card to recover (Z10.3)")
    if phase is Phase.MICHELE and (scoring.majority(table.cemetery) != seat or not board.from_cemetery):
        found.append(f"phase MICHELE needs seat {seat} to have the majority in the cemetery (Z10.4)")
    if phase in _BEFORE_PIAZZA and any(table.nest):
        found.append("I5: nests are empty until pigeons are born (Z11.3)")
    return found


def _end_problems(table: Table) -> list[str]:
    """Return a problem if the phase contradicts the rules for the end of the match (Z12.1)."""
    if table.phase is Phase.OVER:
        return ["the match is not over: nothing has ended it (Z12.1)"] * (not scoring.ends_after_scoring(table))
    if table.phase in _AFTER_CARDS:
        is_over = scoring.ends_after_scoring(table)
    else:  # the last scoring was in an earlier round
        is_over = table.round > 1 and scoring.is_won(table)
    return ["the match is over already: majorities, points or rounds ended it (Z12.1)"] * is_over
