"""The prospects of each place of Venezia, and the worth of a pigeon there, for the policy `greedy`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from referee.game import Action, Seat, Setup
from referee.games.venezia.board import VeneziaBoard
from referee.games.venezia.grid import Grid
from referee.games.venezia.names import FirstCard, Phase, Place
from referee.games.venezia.observation import SeatView, VeneziaObservation

# Estimates, tuned in matches against earlier versions. Worth is in points of the match; for pigeons on the Piazza, in
# newborn pigeons.

HOLD = 0.45  # worth of a majority in a later round, as a share of its worth now: pigeons stay, but rivals react
HELD_ROUNDS = 2  # the number of later rounds in which it may hold
KEPT_PIGEON = 0.45  # worth of a pigeon that can be laid in the next round
KEPT_ROUND = 0.15  # the addition for each further round
BORN = 1.7  # births to one pigeon on an empty Piazza in a round
RECOVERY = 0.7  # worth of San Giorgio Maggiore if it can bring a card back
LAID = 0.7  # share of its reserve that a rival lays on districts
LAID_LAST = 0.85  # the same in the last round
SPREAD = (0.4, 1.0, 1.8)  # sizes of a rival's pile, in terms of the mean, that are assumed to be equally likely
LURE = 2.0  # how much more likely a rival is to lay pigeons where it can score most: in another seat's home
SGM_LURE = 0.3  # its probability for San Giorgio Maggiore, relative to a district
REINFORCED = 0.6  # the chance that a rival sends its newborn home
POINTS_A_ROUND = 11  # gain of the leading seat in a round; determines the length of an open match

Chances = tuple[tuple[int, float], ...]  # numbers of pigeons, each with its probability


class View(NamedTuple):
    """The data for a decision."""

    setup: Setup
    seen: VeneziaObservation
    actions: Sequence[Action]
    board: VeneziaBoard
    grid: Grid
    seat: Seat
    me: SeatView
    left: int  # estimated rounds after this one
    weight: float  # worth of a majority in this round and later ones, relative to this one


def rounds_left(setup: Setup, board: VeneziaBoard, seen: VeneziaObservation) -> int:
    """Estimate the number of rounds after this one."""
    left = seen.last_round - seen.round
    missing = board.win_points - max(has.score for has in seen.seats)
    return left if setup.options["end_rule"] == "fixed4" else max(0, min(left, -(-missing // POINTS_A_ROUND) - 1))


def reserve_value(view: View, passed: int = 0) -> float:
    """Return the points for a pigeon in the reserve after this round, or after `passed` more."""
    left = view.left - passed
    return KEPT_PIGEON + KEPT_ROUND * (left - 1) if left > 0 else 0.0


def on_piazza(view: View, seat: Seat) -> int:
    """Return the number of a seat's pigeons on the Piazza."""
    return sum(pigeon.seat == seat for pigeon in view.seen.piazza)


def newborn(view: View, seat: Seat) -> int:
    """Return the expected number of births to a seat's pigeons on the Piazza."""
    return min(view.seen.seats[seat].supply, round(BORN * on_piazza(view, seat)))


class Outlook(NamedTuple):
    """The prospects of a place, and the worth of its majority."""

    counts: tuple[int, ...]  # pigeons there now, by seat; own ones include planned ones
    added: tuple[Chances, ...]  # possible additions by the other seats
    points: tuple[float, ...]  # worth of the majority for each seat; negative for rivals
    seat: Seat


@lru_cache(maxsize=1 << 15)
def worth(outlook: Outlook) -> float:
    """Return the expected points from the majority in a place, less those of rivals."""
    counts, added, points, me = outlook
    ends = [[(count + more, part) for more, part in more_of] for count, more_of in zip(counts, added, strict=True)]
    total = 0.0
    for seat, own in enumerate(ends):
        for end, chance in own:
            if chance and (end > counts[me] or (seat == me and end)):
                for other, theirs in enumerate(ends):
                    if other != seat:
                        chance *= sum([part for count, part in theirs if count < end])
                total += points[seat] * chance
    return total


def outlooks(view: View, mine: Sequence[int] = ()) -> list[Outlook]:
    """Return the outlook of every place with own pigeons to come, by default those on the district cards."""
    seen, seat, seats = view.seen, view.seat, range(len(view.seen.seats))
    slots = seen.plan.slots if seen.plan is not None else ()
    laid = dict(zip(Place, mine, strict=True)) if mine else dict(zip(slots, view.me.piles, strict=False))
    added = [additions(view, other) for other in seats]
    signs = [1 if other == seat else -1 / (len(seats) - 1) for other in seats]
    found = []
    for place in Place:
        counts = [*seen.places[place].pigeons]
        counts[seat] += laid.get(place, 0)
        if seen.grey_owner is not None:
            counts[seen.grey_owner] += seen.places[place].grey
        each = tuple(chances[place] for chances in added)
        points = tuple(sign * place_points(view, place, other) for other, sign in enumerate(signs))
        found.append(Outlook(tuple(counts), each, points, seat))
    return found


def place_points(view: View, place: Place, seat: Seat) -> float:
    """Return the worth of the majority in a place for a seat, in this round and later ones."""
    seen = view.seen
    if place == seen.raptor:
        return 0.0
    if place is Place.SGM:
        return RECOVERY if view.left and any(seen.seats[seat].discard) else 0.0
    home = any(has.home == place for other, has in enumerate(seen.seats) if other != seat)
    now = view.board.enemy_home_points if home else view.board.majority_points
    return now * view.weight


def additions(view: View, seat: Seat) -> list[Chances]:
    """Return a rival's possible additions to each place in this round; none for the own seat."""
    seen, has = view.seen, view.seen.seats[seat]
    if seat == view.seat:
        return [((0, 1.0),)] * len(Place)
    nest = has.nest
    sizes: list[tuple[int, float]] = []
    if seen.phase is Phase.PLAN:
        cards = view.board.district_cards
        mean = has.reserve * (LAID if view.left else LAID_LAST) / cards
        sizes = [(round(mean * size), cards / len(SPREAD)) for size in SPREAD]
        nest = newborn(view, seat)
    elif not has.pile_places:
        more = has.first_count / len(has.piles) if has.piles and has.first is not FirstCard.PIAZZA else 0
        sizes = [(round(pile + more), 1.0) for pile in has.piles]
    if seen.phase > Phase.REINFORCE:
        nest = 0
    homes = {other.home for other in seen.seats} - {has.home}
    lures = [SGM_LURE if place is Place.SGM else LURE if place in homes else 1.0 for place in Place]
    found = []
    for place, lure in zip(Place, lures, strict=True):
        part = min(lure / sum(lures), 1 / max(1, view.board.district_cards))
        chances = tuple((size, number * part) for size, number in sizes)
        chances = (*chances, (0, 1.0 - sum(chance for _, chance in chances)))
        if nest and place == has.home:
            both = ((0, 1 - REINFORCED), (nest, REINFORCED))
            chances = tuple((count + born, chance * part) for count, chance in chances for born, part in both)
        found.append(chances)
    return found


def with_count(outlook: Outlook, seat: Seat, change: int) -> Outlook:
    """Return the outlook with more or fewer pigeons of a seat."""
    counts = tuple(count + change * (other == seat) for other, count in enumerate(outlook.counts))
    return outlook._replace(counts=counts)


def gains(outlook: Outlook, most: int) -> list[float]:
    """Return the gains of 0, 1, 2 and so on further own pigeons, up to the last useful number."""
    counts, added, _, seat = outlook
    ends = (count + more for count, more_of in zip(counts, added, strict=True) for more, _ in more_of)
    enough, now = max(ends) + 1 - counts[seat], worth(outlook)
    return [worth(with_count(outlook, seat, more)) - now for more in range(min(most, enough) + 1)]


def share_out(rows: Sequence[Sequence[float]], pigeons: int, cards: int, price: float) -> tuple[float, list[int]]:
    """Return the best way to lay pigeons: its gain, and the pigeons for each row.

    A row has the gains of 0, 1, 2 ... pigeons in a place. A last row may be for the Piazza, which needs no card.
    """
    best: dict[tuple[int, int], tuple[float, tuple[int, ...]]] = {(0, 0): (0.0, ())}
    for index, row in enumerate(rows):
        useful = [(0, 0.0)]
        for count, gain in enumerate(row):
            if gain - price * count > useful[-1][1]:
                useful.append((count, gain - price * count))
        found: dict[tuple[int, int], tuple[float, tuple[int, ...]]] = {}
        for (used, laid), (total, counts) in best.items():
            for count, gain in useful:
                key = (used + (count > 0 and index < len(Place)), laid + count)
                if key[0] <= cards and key[1] <= pigeons and total + gain > found.get(key, (-math.inf,))[0]:
                    found[key] = (total + gain, (*counts, count))
        best = found
    value, counts = max(best.values())
    return value, list(counts)
