"""A policy for Venezia: weighs the majorities that pigeons, cards and births may win against the likely play of rivals.

Every place has an outlook: for each rival, the likely numbers of arriving pigeons. The worth of an own pigeon there
follows from it; plans, cards and reinforcements take the best sum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from itertools import pairwise, product
from typing import cast

from house_bots.greedy.venezia_outlook import (
    BORN,
    HELD_ROUNDS,
    HOLD,
    Outlook,
    View,
    gains,
    newborn,
    on_piazza,
    outlooks,
    reserve_value,
    rounds_left,
    share_out,
    with_count,
    worth,
)
from referee.game import Action, Seat, Setup
from referee.games.venezia import actions as act
from referee.games.venezia.board import VeneziaBoard
from referee.games.venezia.grid import ALL_AXES, STRAIGHT_AXES, Grid, bits, grid_of
from referee.games.venezia.names import DISTRICTS, ActionCard, FirstCard, Phase, Place, Square, Step
from referee.games.venezia.observation import PlanView, VeneziaObservation

_, FAM, FEH, UEB, GIF, RAU, MIC, SAU, WEI = ActionCard

# Estimates, tuned in matches against earlier versions. Worth is in points of the match; for pigeons on the Piazza, in
# newborn pigeons.

CROWDED = 0.93  # births to each further pigeon on the Piazza, as a share of the one before: they share the tourists
LATE_BIRTH = 0.2  # worth of a pigeon born in the last round, which can only reinforce the home
OWN_NEST = 0.5  # share of the expected newborn that a plan assumes for own reinforcements
OWN_WAY = 0.15  # worth of a step along an order of places that differs by seat, so that equal bots do not meet
CAPTURE = 2.0  # worth of a capture in a match of two
RISK = 0.6  # cost of standing where a rival may capture
CENTRE = 0.03  # worth of each square near a pigeon, for later rounds
CARD_FLOOR = 0.8  # the gain that a card must promise as long as there are no more cards than rounds
RECOVERED = (WEI, UEB, SAU, FEH, RAU, MIC, GIF, FAM)  # cards by worth, best first


def choose(setup: Setup, seen: VeneziaObservation, actions: Sequence[Action]) -> list[Action]:
    """Return the actions to play in order, of which the first is legal.

    Args:
        setup: the terms of the match.
        seen: the observation of the seat to act.
        actions: its legal actions.
    """
    board = cast("VeneziaBoard", setup.board)
    seat = cast("Seat", seen.viewer)
    grid = grid_of(board.campanile if setup.options["campanile"] else None)
    left = rounds_left(setup, board, seen)
    weight = 1 + HOLD * min(left, HELD_ROUNDS)
    view = View(setup, seen, actions, board, grid, seat, seen.seats[seat], left, weight)
    return _DECISIONS[seen.phase](view)


def first_action(view: View) -> list[Action]:
    """Choose the first action: any free home, and as few pigeons from the reserve as possible."""
    return [view.actions[0]]


def last_action(view: View) -> list[Action]:
    """Choose the last action: the end of an unplanned chain, or all pigeons from the cemetery."""
    return [view.actions[-1]]


def make_plan(view: View) -> list[Action]:
    """Make the whole plan of a round; in the middle of an unplanned one, lay all pigeons on the next card."""
    seen, reserve, cards = view.seen, view.me.reserve, view.board.district_cards
    if seen.plan is None or seen.plan.step is not Step.FIRST:
        return last_action(view)
    room = min(reserve, view.board.piazza_limit - on_piazza(view, view.seat))
    coming = [round(OWN_NEST * newborn(view, view.seat)) if place == view.me.home else 0 for place in Place]
    rows = [*(gains(look, reserve) for look in outlooks(view, coming)), piazza_gains(view, room)]
    for place in Place:
        liking = OWN_WAY * ((place * 3 + view.seat * 5 + seen.round) % 8)
        rows[place] = [gain + liking * (count > 0) for count, gain in enumerate(rows[place])]
    _, (*mine, placed) = share_out(rows, reserve, cards, reserve_value(view))
    chosen = [place for place in Place if mine[place]]
    plan: list[Action] = [act.FIRSTS[FirstCard.PIAZZA if placed else FirstCard.FEINT]]
    if seen.round > 1 and view.me.hand:
        plan.append(act.PLANNED_CARDS[best_card(view, mine, reserve - sum(mine) - placed)])
    plan += [act.PLANNED_DISTRICTS[place] for place in chosen]
    if len(chosen) < cards:
        plan.append(act.DONE)
    if placed:
        return [*plan, act.COUNTS[placed], *(act.COUNTS[mine[place]] for place in chosen)]
    # Pigeons on the Feint are laid when the piles of all others are visible.
    return [*plan, act.COUNTS[reserve], *(act.COUNTS[0] for _ in chosen)]


def piazza_gains(view: View, room: int) -> list[float]:
    """Return the gains of pigeons on the Piazza from their births."""
    there, rounds = on_piazza(view, view.seat), view.left + 1
    value = LATE_BIRTH + sum(reserve_value(view, passed) for passed in range(view.left))
    found, supply = [0.0], float(view.me.supply)
    supply -= min(supply, BORN * there * rounds)
    for more in range(room):
        born = min(supply, BORN * CROWDED ** (there + more) * rounds)
        supply -= born
        found.append(found[-1] + value * born / rounds)
    return found


def lay_feint(view: View) -> list[Action]:
    """Distribute the pigeons on the Feint among the district cards, now that all piles are face up."""
    me, slots = view.me, cast("PlanView", view.seen.plan).slots
    looks, places = outlooks(view), slots[view.seen.slot - 1 :]
    rows = [gains(looks[place], me.first_count) for place in places]
    _, counts = share_out(rows, me.first_count, len(places), reserve_value(view))
    needed = next((slot for slot in range(len(counts)) if sum(counts[: slot + 1]) == me.first_count), len(counts))
    return [act.FEINTS[count] for count in counts[: needed + 1]]


# --- the Piazza (Z3.3, Z5, Z6) -------------------------------------------------------------------------------


@cache
def near(grid: Grid) -> tuple[tuple[int, int], ...]:
    """Return, for each square, the squares at most one step and at most two steps away, as sets."""
    one = [1 << square | grid.around[square] for square in Square]
    return tuple((one[at], union(one, one[at])) for at in Square)


def union(sets: Sequence[int], members: int) -> int:
    """Return the union of the sets of some squares."""
    found = 0
    for square in Square:
        if members >> square & 1:
            found |= sets[square]
    return found


@cache
def sandwiches(grid: Grid, diagonal: bool) -> tuple[tuple[int, ...], ...]:
    """Return, for each square, the pairs of opposite neighbours, as sets."""
    axes = ALL_AXES if diagonal else STRAIGHT_AXES
    return tuple(
        tuple(1 << row[one] | 1 << row[other] for one, other in axes if row[one] >= 0 and row[other] >= 0)
        for row in grid.steps
    )


def standing(view: View) -> tuple[int, int]:
    """Return the squares of own pigeons and of rivals' pigeons, as sets."""
    pigeons = view.seen.piazza
    own = bits(pigeon.square for pigeon in pigeons if pigeon.seat == view.seat)
    return own, bits(pigeon.square for pigeon in pigeons) ^ own


def place_pigeons(view: View) -> list[Action]:
    """Cover as many squares as possible on which a tourist would make a pigeon breed."""
    (own, others), around = standing(view), near(view.grid)
    covered = union([one for one, _ in around], own)
    pairs = sandwiches(view.grid, bool(view.setup.options["capture_diagonal"]))
    more = view.board.born_same - view.board.born_adjacent
    plan: list[Action] = []

    def gain(square: int) -> float:
        one, two = around[square]
        born = view.board.born_adjacent * two.bit_count() + more * (one & ~covered).bit_count()
        return born - RISK * len(Square) / 4 * threatened(pairs[square], others, own | others)

    for _ in range(view.me.first_count):
        best = max((square for square in view.grid.usable if not (own | others) >> square & 1), key=gain)
        plan.append(act.PLACES[best])
        own |= 1 << best
        covered |= around[best][0]
    return plan


def threatened(pairs: Iterable[int], rivals: int, taken: int) -> bool:
    """Return whether a rival next to a square may capture there: the opposite square is free, or another rival's."""
    return any(pair & rivals and not pair & taken & ~rivals for pair in pairs)


def ways_of(view: View, start: int, taken: int, tourists: int) -> dict[int, list[Action]]:
    """Return the squares that a pigeon can move to, each with the walk or the jumps."""
    danger = view.grid.danger(view.seen.hunters)
    closed = taken | danger
    found: dict[int, list[Action]] = {
        end: [act.walk(start, end)] for end in view.grid.neighbours[start] if not closed >> end & 1
    }
    obstacles = taken & ~(1 << start) | tourists
    if not view.setup.options["jump_over_danger"]:
        obstacles &= ~danger
    ways: list[tuple[int, ...]] = [(start,)]
    reached = closed | 1 << start
    for way in ways:
        been, ends = bits(way), [end for over, end in view.grid.jumps[way[-1]] if obstacles >> over & 1]
        for end in ends:
            if not reached >> end & 1:
                reached |= 1 << end
                ways.append((*way, end))
        if len(way) > 1 and way[-1] not in found:
            jumps: list[Action] = [act.jump(*jump) for jump in pairwise(way)]
            found[way[-1]] = [*jumps, act.STOP] if any(not (closed | been) >> end & 1 for end in ends) else jumps
    return found


def move_pigeons(view: View) -> list[Action]:
    """Move the pigeon with the largest gain, one after the other; then end the moves."""
    seen, around = view.seen, near(view.grid)
    tourists, (own, others) = bits(seen.tourists), standing(view)
    rivals = [pigeon.square for pigeon in seen.piazza if pigeon.seat != view.seat]
    beside = union([around[square][0] for square in Square], others)
    pairs = sandwiches(view.grid, bool(view.setup.options["capture_diagonal"]))
    values = square_values(view)
    hunted = CAPTURE / (len(seen.seats) - 1) if view.left or view.me.supply else 0.0
    unmoved = {int(square) for square in seen.unmoved}

    def captured(own: int) -> int:
        return sum(any(pair & own == pair for pair in pairs[rival]) for rival in rivals)

    def stands(square: int, own: int) -> float:
        risk = RISK if beside >> square & 1 and threatened(pairs[square], others, own | others) else 0.0
        return values[square] - risk

    plan: list[Action] = []
    while unmoved:
        now = captured(own)
        best: tuple[float, int, int, list[Action]] = (1e-6, 0, 0, [])
        for start in sorted(unmoved):
            here = stands(start, own)
            for end, way in ways_of(view, start, own | others, tourists).items():
                moved = own ^ (1 << start | 1 << end)
                gain = stands(end, moved) - here
                if (beside >> end | beside >> start) & 1:
                    gain += hunted * (captured(moved) - now)
                if gain > best[0]:
                    best = (gain, start, end, way)
        _, start, end, way = best
        if not way:
            break
        plan += way
        own ^= 1 << start | 1 << end
        unmoved.discard(start)
    return [*plan, act.DONE]


def square_values(view: View) -> list[float]:
    """Return the worth of every square for a pigeon: the expected births, and its later prospects."""
    seen, board, around = view.seen, view.board, near(view.grid)
    tourists = bits(seen.tourists)
    each, found = view.setup.options["births_rule"] == "per_tourist", []
    for square in Square:
        same = tourists >> square & 1
        adjacent = (tourists & around[square][0]).bit_count() - same
        born = board.born_same * same + board.born_adjacent * (adjacent if each else min(1 - same, adjacent))
        later = CENTRE * around[square][1].bit_count() if view.left else 0.0
        found.append((born if view.me.supply else 0) + later)
    return found


# --- action cards (Z7, Z8) -----------------------------------------------------------------------------------

Choices = list[tuple[float, Action]]  # the possible uses of a card, each with its gain


def best_card(view: View, laid: Sequence[int], spare: int) -> ActionCard:
    """Return the card that promises most with such a plan, or NONE if it is better to keep them all.

    A rival with fewer points may take the card, one with equal points may cancel it (Z7.1).
    """
    looks, best = outlooks(view, laid), ActionCard.NONE
    most = CARD_FLOOR if len(view.me.hand) <= view.left else 0.0
    rivals = [has for seat, has in enumerate(view.seen.seats) if seat != view.seat and has.score <= view.me.score]
    for card in view.me.hand:
        odds = math.prod(1 - 1 / (1 + len(has.hand)) for has in rivals if card in has.hand)
        promise = odds * promised(view, card, looks, spare)
        if promise > most:
            best, most = card, promise
    return best


def promised(view: View, card: ActionCard, looks: Sequence[Outlook], spare: int) -> float:
    """Return the gain of a card if it is executed in this round."""
    if card in _CHOICES:
        return max((gain for gain, _ in _CHOICES[card](view, looks, spare)), default=0.0)
    if card is ActionCard.FEH:
        return sum(feud_gain(looks[place])[0] for place in feud_places(view))
    if card is ActionCard.MIC:
        return view.me.cemetery * reserve_value(view)
    if card is ActionCard.WEI:
        return share_out(grey_rows(view, looks), view.board.grey_operations, len(Place), 0.0)[0] / view.weight
    pigeons = min(view.board.poisoned, len(view.seen.piazza) - on_piazza(view, view.seat))
    return pigeons * BORN * reserve_value(view) * min(view.left, HELD_ROUNDS) / (len(looks[0].counts) - 1)


def families(view: View, looks: Sequence[Outlook], _: int) -> Choices:
    """Rate a family meeting in each district; during planning, with the expected newborn."""
    plan = view.seen.phase is Phase.PLAN
    nests = [newborn(view, seat) if plan else has.nest for seat, has in enumerate(view.seen.seats)]
    lost = reserve_value(view) * (nests[view.seat] - (sum(nests) - nests[view.seat]) / (len(nests) - 1))
    found: Choices = []
    for place in DISTRICTS:
        counts = tuple(map(int.__add__, looks[place].counts, nests))
        found.append((worth(looks[place]._replace(counts=counts)) - worth(looks[place]) - lost, act.FAMILIES[place]))
    return found


def takeovers(view: View, looks: Sequence[Outlook], spare: int) -> Choices:
    """Rate the replacement of all rivals in each district by unplanned pigeons."""
    found: Choices = []
    for place in DISTRICTS:
        here = view.seen.places[place].pigeons
        out = sum(here) - here[view.seat]
        if out:
            moved = [-count for count in here]
            moved[view.seat] = min(out, spare)
            after = looks[place]._replace(counts=tuple(map(int.__add__, looks[place].counts, moved)))
            paid = reserve_value(view) * (min(out, spare) + out / (len(here) - 1))
            found.append((worth(after) - worth(looks[place]) - paid, act.TAKEOVERS[place]))
    return found


def raptors(view: View, looks: Sequence[Outlook], _: int) -> Choices:
    """Rate a bird of prey in each place, which destroys the worth of its majority in this round."""
    return [(-worth(look) / view.weight, act.RAPTORS[place]) for place, look in zip(Place, looks, strict=True)]


def purges(view: View, looks: Sequence[Outlook], _: int) -> Choices:
    """Rate a purge of each colour from each district."""
    found: Choices = []
    for place, seat in product(DISTRICTS, range(len(view.seen.seats))):
        if count := view.seen.places[place].pigeons[seat]:
            back = reserve_value(view) * count * (1 if seat == view.seat else -1 / (len(view.seen.seats) - 1))
            after = with_count(looks[place], seat, -count)
            found.append((worth(after) - worth(looks[place]) + back, act.PURGES[place][seat]))
    return found


_CHOICES = {ActionCard.FAM: families, ActionCard.UEB: takeovers, ActionCard.RAU: raptors, ActionCard.SAU: purges}


def execute(card: ActionCard, view: View) -> list[Action]:
    """Choose the best use of a card that needs one choice."""
    looks, spare = outlooks(view), view.me.reserve + view.me.nest
    return [max(_CHOICES[card](view, looks, spare), key=lambda choice: choice[0])[1]]


def reinforce(view: View) -> list[Action]:
    """Reinforce with the number of pigeons that gain more at home than in the reserve; with all in the last round."""
    home = cast("Place", view.me.home)
    row = gains(outlooks(view)[home], view.me.nest)
    _, [count] = share_out([row], view.me.nest, 1, reserve_value(view))
    return [act.REINFORCES[count if view.left else view.me.nest]]


def feud_places(view: View) -> Sequence[Place]:
    """Return the places where Fehde and Weisung work (Z8)."""
    return tuple(Place) if view.setup.options["vatican_feud_sgm"] else DISTRICTS


def feud_gain(look: Outlook) -> tuple[float, Seat]:
    """Return the gain of removing the best rival pigeon in a place, and its seat; the own seat if there is no gain."""
    best = (0.0, look.seat)
    for seat, count in enumerate(look.counts):
        if seat != look.seat and count:
            best = max(best, (worth(with_count(look, seat, -1)) - worth(look), seat))
    return best


def remove_pigeons(view: View) -> list[Action]:
    """Remove the most harmful rival pigeon, in this district and the next ones."""
    looks = outlooks(view)
    plan: list[Action] = []
    for place in feud_places(view)[view.seen.card_place or 0 :]:
        pigeons = view.seen.places[place].pigeons
        if sum(pigeons) > pigeons[view.seat]:
            _, seat = feud_gain(looks[place])
            plan.append(act.FEHDES[seat] if seat != view.seat and pigeons[seat] else act.SKIP)
    return plan


def poison_pigeons(view: View) -> list[Action]:
    """Poison the pigeons of the leading rival, those on the best squares first."""
    values, count = square_values(view), view.board.poisoned - view.seen.card_count
    targets = [pigeon for pigeon in view.seen.piazza if pigeon.seat != view.seat]
    targets.sort(key=lambda pigeon: (-view.seen.seats[pigeon.seat].score, -values[pigeon.square]))
    plan: list[Action] = [act.POISONS[pigeon.square] for pigeon in targets[:count]]
    return plan if len(plan) in (count, len(view.seen.piazza)) else [*plan, act.DONE]


def grey_rows(view: View, looks: Sequence[Outlook]) -> list[list[float]]:
    """Return the gains of further greys in each place, counting those there as own."""
    greys, most = [here.grey for here in view.seen.places], view.board.grey_operations
    return [gains(with_count(looks[place], view.seat, greys[place]), most) for place in feud_places(view)]


def send_greys(view: View) -> list[Action]:
    """Add greys from the side where they win most majorities in this round; then move those that gain more elsewhere."""
    seen, looks = view.seen, outlooks(view)
    _, counts = share_out(grey_rows(view, looks), view.board.grey_operations - seen.card_count, len(Place), 0.0)
    targets: list[Action] = [act.GREY_ADDS[place] for place, count in enumerate(counts) for _ in range(count)]
    if targets and seen.grey_side:
        return targets[: seen.grey_side]
    looks = [with_count(look, view.seat, here.grey) for look, here in zip(looks, seen.places, strict=True)]

    def gain(action: Action) -> float:
        if not isinstance(action, act.GreyMove):
            return 0.0
        start, end = looks[action.start], looks[action.end]
        after = worth(with_count(start, view.seat, -1)) + worth(with_count(end, view.seat, 1))
        return after - worth(start) - worth(end)

    return [max(view.actions, key=gain)]


def recover_card(view: View) -> list[Action]:
    """Take back the most valuable card."""
    return [next(act.RECOVERS[card] for card in RECOVERED if act.RECOVERS[card] in view.actions)]


_DECISIONS: dict[Phase, Callable[[View], list[Action]]] = {
    Phase.HOME: first_action,
    Phase.PLAN: make_plan,
    Phase.FEINT: lay_feint,
    Phase.PLACE: place_pigeons,
    Phase.MOVE: move_pigeons,
    Phase.CHAIN: last_action,
    Phase.FAMILY: partial(execute, ActionCard.FAM),
    Phase.REINFORCE: reinforce,
    Phase.FEHDE: remove_pigeons,
    Phase.TAKEOVER: partial(execute, ActionCard.UEB),
    Phase.FROM_RESERVE: first_action,
    Phase.POISON: poison_pigeons,
    Phase.RAPTOR: partial(execute, ActionCard.RAU),
    Phase.PURGE: partial(execute, ActionCard.SAU),
    Phase.GREY: send_greys,
    Phase.RECOVER: recover_card,
    Phase.MICHELE: last_action,
}
