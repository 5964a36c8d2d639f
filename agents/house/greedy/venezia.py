"""Plays Venezia: weighs the majorities that pigeons, cards and births may win against what rivals are likely to lay there.

Every place has an outlook: for each rival, how many pigeons he may end with and how likely. What an own pigeon is worth there
follows from it; plans, cards and reinforcements take the best sum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple, cast

from referee.game import Action, Seat, Setup
from referee.games.venezia import actions as act
from referee.games.venezia.board import VeneziaBoard
from referee.games.venezia.grid import ALL_AXES, STRAIGHT_AXES, Grid, bits, grid_of
from referee.games.venezia.names import DISTRICTS, ActionCard, FirstCard, Phase, Place, Square, Step
from referee.games.venezia.observation import SeatView, VeneziaObservation

# Judgements, tuned in matches against earlier versions. All worth is in points of the match.

HOLD = 0.45
"""What a majority is worth in each later round, as a share of what it is worth now: pigeons stay, but rivals react."""
HELD_ROUNDS = 2
"""Later rounds in which a majority is thought to hold at most."""
KEPT_PIGEON = 0.55
"""Points for a pigeon that can be laid in the next round."""
KEPT_ROUND = 0.15
"""Points that each further round adds to that."""
BORN = 1.7
"""Pigeons that one on an empty Piazza bears in a round."""
CROWDED = 0.93
"""How much of that each further pigeon bears, as they share the tourists."""
LATE_BIRTH = 0.2
"""Points for a pigeon born in the last round, which can only reinforce the home."""
RECOVERY = 0.7
"""Points for the majority in San Giorgio Maggiore if it can bring a card back."""
LAID = 0.7
"""Share of his reserve that a rival lays on districts; more in the last round."""
LAID_LAST = 0.85
SPREAD = (0.4, 1.0, 1.8)
"""Sizes of a rival's pile, in terms of the mean, that are thought equally likely."""
REINFORCED = 0.6
"""The chance that a rival sends his newborn home."""
DOMINATION = 2.0
"""How much more a rival's majority hurts if he comes close to a win by majorities."""
CAPTURE = 2.0
"""Newborn pigeons that a captured one counts for in a match of two."""
RISK = 0.6
"""Newborn pigeons that standing where a rival may capture counts for."""
CENTRE = 0.03
"""Newborn pigeons for each square near a place on the Piazza, for the rounds to come."""
CARD_FLOOR = 0.8
"""A card has to promise so many points for each round left after the next cards, or it is kept."""
OWN_WAY = 0.1
HOME_LAST = False
FEINT_ALL = True
OWN_NEST = 0.5
LURE = 1.5
SGM_LURE = 0.4
OWN_DOM = 1.3
PIGEON_OF = {2: 0.35, 3: 0.5, 4: 0.55}
POINTS_A_ROUND = 11
"""What the leading seat gains in a round, to guess how long an open match lasts."""

Chances = tuple[tuple[int, float], ...]
"""Numbers of pigeons, each with its probability."""


class View(NamedTuple):
    """What a decision looks at."""

    setup: Setup
    seen: VeneziaObservation
    actions: Sequence[Action]
    board: VeneziaBoard
    grid: Grid
    seat: Seat
    me: SeatView
    left: int
    """Rounds after this one, as far as can be guessed."""


def choose(setup: Setup, seen: VeneziaObservation, actions: Sequence[Action]) -> list[Action]:
    """The actions to play in a row, of which the first is legal.

    Args:
        setup: what was agreed before the match.
        seen: what the seat to act observes.
        actions: its legal actions.
    """
    board = cast("VeneziaBoard", setup.board)
    seat = cast("Seat", seen.viewer)
    grid = grid_of(board.campanile if setup.options["campanile"] else None)
    view = View(setup, seen, actions, board, grid, seat, seen.seats[seat], rounds_left(setup, board, seen))
    plan = _DECISIONS[seen.phase](view)
    # A plan is made of several decisions. Who takes over in their midst may find that another is due.
    return plan if plan and plan[0] in actions else [actions[0]]


def rounds_left(setup: Setup, board: VeneziaBoard, seen: VeneziaObservation) -> int:
    """How many rounds are likely to follow this one."""
    left = seen.last_round - seen.round
    if setup.options["end_rule"] == "fixed4":
        return left
    missing = board.win_points - max(has.score for has in seen.seats)
    return max(0, min(left, math.ceil(missing / POINTS_A_ROUND) - 1))


def kept(left: int) -> float:
    """Points for a pigeon that is in the reserve after this round."""
    return KEPT_PIGEON + KEPT_ROUND * (left - 1) if left > 0 else 0.0


# --- outlooks ----------------------------------------------------------------------------------------------


class Outlook(NamedTuple):
    """What may come to lie in a place besides what is there, and what its majority is worth."""

    counts: tuple[int, ...]
    """Pigeons there now, by seat, own ones with what is planned."""
    added: tuple[Chances, ...]
    """What the other seats may add."""
    points: tuple[float, ...]
    """Worth of the majority for each seat; what others win counts against the own seat."""
    seat: Seat


@lru_cache(maxsize=1 << 15)
def worth(outlook: Outlook) -> float:
    """Expected points from the majority in a place."""
    counts, added, points, seat = outlook
    mine = counts[seat]
    others = [
        (other, [(counts[other] + more, chance) for more, chance in added[other]])
        for other in range(len(counts))
        if other != seat
    ]
    total = points[seat] * _all_below(others, mine, seat) if mine else 0.0
    for other, ends in others:
        for end, chance in ends:
            if end > mine and chance:
                total -= points[other] * chance * _all_below(others, end, other)
    return total


def _all_below(others: list[tuple[Seat, list[tuple[int, float]]]], count: int, but: Seat) -> float:
    """The chance that all other seats but one stay below a count."""
    result = 1.0
    for other, ends in others:
        if other != but:
            result *= sum([chance for end, chance in ends if end < count])
    return result


def outlooks(view: View, mine: Sequence[int] = (0,) * 8) -> list[Outlook]:
    """The outlook of every place, with own pigeons that will be added."""
    seen, seat = view.seen, view.seat
    added = [rival_additions(view, other) if other != seat else () for other in range(len(seen.seats))]
    weights = rival_weights(view)
    found = []
    for place in Place:
        here = seen.places[place]
        counts = [*here.pigeons]
        counts[seat] += mine[place]
        if seen.grey_owner is not None:
            counts[seen.grey_owner] += here.grey
        each = tuple(chances[place] if chances else () for chances in added)
        points = tuple(weight * place_points(view, place, other) for other, weight in enumerate(weights))
        found.append(Outlook(tuple(counts), each, points, seat))
    return found


def rival_weights(view: View) -> list[float]:
    """How much each seat's points count: own ones in full; rivals' are shared, the more they lead the more they count."""
    seen, seats = view.seen, len(view.seen.seats)
    weights = [1.0 / (seats - 1)] * seats
    held = [sum(majority.seat == seat for majority in seen.majorities) for seat in range(seats)]
    for seat in range(seats):
        if held[seat] >= view.board.win_districts - 1:
            weights[seat] *= DOMINATION
    weights[view.seat] = OWN_DOM if held[view.seat] >= view.board.win_districts - 1 else 1.0
    return weights


def place_points(view: View, place: Place, seat: Seat) -> float:
    """What the majority in a place is worth to a seat, in this round and in later ones."""
    seen, left = view.seen, view.left
    if place == seen.raptor:
        return 0.0
    if place is Place.SGM:
        can = left > 0 and any(seen.seats[seat].discard)
        return RECOVERY if can else 0.0
    home = any(has.home == place for other, has in enumerate(seen.seats) if other != seat)
    now = view.board.enemy_home_points if home else view.board.majority_points
    return now * (1 + HOLD * min(left, HELD_ROUNDS))


def rival_additions(view: View, seat: Seat) -> list[Chances]:
    """What a rival may add to each place in this round."""
    seen, has = view.seen, view.seen.seats[seat]
    newborn = has.nest
    sizes: list[tuple[int, float]] = []
    if seen.phase is Phase.PLAN:
        cards = view.board.district_cards
        mean = has.reserve * (LAID if view.left else LAID_LAST) / cards
        sizes = [(round(mean * size), cards / len(SPREAD)) for size in SPREAD]
        newborn = min(has.supply, round(BORN * sum(pigeon.seat == seat for pigeon in seen.piazza)))
    elif not has.pile_places:
        more = has.first_count / len(has.piles) if has.piles and has.first is not FirstCard.PIAZZA else 0
        sizes = [(round(pile + more), 1.0) for pile in has.piles]
    if seen.phase > Phase.REINFORCE:
        newborn = 0
    homes = [other.home for other in seen.seats]
    lures = [
        SGM_LURE if place is Place.SGM else LURE if place in homes and place != has.home else 1.0 for place in Place
    ]
    found = []
    for place, lure in zip(Place, lures, strict=True):
        part = min(lure / sum(lures), 1 / max(1, view.board.district_cards))
        chances = tuple((size, number * part) for size, number in sizes)
        chances = (*chances, (0, 1.0 - sum(chance for _, chance in chances)))
        if newborn and place == has.home:
            both = ((0, 1 - REINFORCED), (newborn, REINFORCED))
            chances = tuple((count + born, chance * part) for count, chance in chances for born, part in both)
        found.append(chances)
    return found


def with_count(outlook: Outlook, seat: Seat, change: int) -> Outlook:
    """The outlook with more or fewer pigeons of a seat."""
    counts = tuple(count + change * (other == seat) for other, count in enumerate(outlook.counts))
    return outlook._replace(counts=counts)


def gains(outlook: Outlook, most: int) -> list[float]:
    """What 0, 1, 2 and so on further own pigeons gain, up to where more cannot help."""
    rivals = [
        count + max(more for more, _ in outlook.added[seat])
        for seat, count in enumerate(outlook.counts)
        if seat != outlook.seat
    ]
    now = worth(outlook)
    enough = max(0, max(rivals) + 1 - outlook.counts[outlook.seat])
    return [worth(with_count(outlook, outlook.seat, more)) - now for more in range(min(most, enough) + 1)]


def share_out(rows: Sequence[Sequence[float]], pigeons: int, cards: int, price: float) -> tuple[float, list[int]]:
    """The best way to lay pigeons: its gain, and the pigeons for each row.

    Args:
        rows: what 0, 1, 2 and so on pigeons gain in each place, and then perhaps on the Piazza.
        pigeons: how many there are.
        cards: in how many places some can be laid.
        price: points for a pigeon that is not laid.
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


# --- home and plans (Z1.4, Z2, Z3.2) -------------------------------------------------------------------------


def first_action(view: View) -> list[Action]:
    """The first there is: any district does as home, and as few pigeons as possible from the reserve."""
    return [view.actions[-1 if HOME_LAST and view.seen.phase is Phase.HOME else 0]]


def last_action(view: View) -> list[Action]:
    """The last there is: the end of a chain that somebody else began, and all pigeons from the cemetery."""
    return [view.actions[-1]]


def make_plan(view: View) -> list[Action]:
    """The whole plan of a round; who takes over in its midst lays all pigeons on the next card."""
    seen, reserve, cards = view.seen, view.me.reserve, view.board.district_cards
    if seen.plan is None or seen.plan.step is not Step.FIRST:
        return last_action(view)
    room = min(reserve, view.board.piazza_limit - sum(pigeon.seat == view.seat for pigeon in seen.piazza))
    newborn = [0] * len(Place)
    if view.me.home is not None:
        newborn[view.me.home] = round(
            OWN_NEST
            * min(
                view.me.supply,
                BORN
                * (
                    view.board.piazza_limit - room
                    if room < reserve
                    else sum(pigeon.seat == view.seat for pigeon in seen.piazza)
                ),
            )
        )
    rows = [*(gains(look, reserve) for look in outlooks(view, newborn)), piazza_gains(view, room)]
    for place in Place:  # rivals who think alike should not meet
        liking = OWN_WAY * ((place * 3 + view.seat * 5 + seen.round) % 8)
        rows[place] = [gain + liking * (count > 0) for count, gain in enumerate(rows[place])]
    _, (*mine, on_piazza) = share_out(rows, reserve, cards, kept(view.left))
    chosen = [place for place in Place if mine[place]]
    plan: list[Action] = [act.FIRSTS[FirstCard.PIAZZA if on_piazza else FirstCard.FEINT]]
    if seen.round > 1 and view.me.hand:
        plan.append(act.PLANNED_CARDS[best_card(view, mine, reserve - sum(mine) - on_piazza)])
    plan += [act.PLANNED_DISTRICTS[place] for place in chosen]
    if len(chosen) < cards:
        plan.append(act.DONE)
    if on_piazza:
        return [*plan, act.COUNTS[on_piazza], *(act.COUNTS[mine[place]] for place in chosen)]
    # Pigeons on the Feint are laid when the piles of all others can be seen.
    return [*plan, act.COUNTS[reserve if FEINT_ALL else sum(mine)], *(act.COUNTS[0] for _ in chosen)]


def piazza_gains(view: View, room: int) -> list[float]:
    """What pigeons gain on the Piazza: those that they will bear."""
    there = sum(pigeon.seat == view.seat for pigeon in view.seen.piazza)
    value = LATE_BIRTH + sum(kept(rounds) for rounds in range(1, view.left + 1))
    rounds = view.left + 1
    found, supply = [0.0], float(view.me.supply)
    supply -= min(supply, BORN * there * rounds)
    for more in range(room):
        born = min(supply, BORN * CROWDED ** (there + more) * rounds)
        supply -= born
        found.append(found[-1] + value * born / rounds)
    return found


def lay_feint(view: View) -> list[Action]:
    """Shares the pigeons on the Feint out among the district cards, now that all piles lie open."""
    seen, me, plan = view.seen, view.me, view.seen.plan
    if plan is None:
        return [view.actions[-1]]
    done = seen.slot - 1
    mine = [0] * len(Place)
    for place, pile in zip(plan.slots, me.piles, strict=True):
        mine[place] += pile
    looks = outlooks(view, mine)
    places = plan.slots[done:]
    rows = [gains(looks[place], me.first_count) for place in places]
    _, counts = share_out(rows, me.first_count, len(places), kept(view.left))
    needed = next((slot for slot in range(len(counts)) if sum(counts[: slot + 1]) == me.first_count), len(counts))
    return [act.FEINTS[count] for count in counts[: needed + 1]]


# --- the Piazza (Z3.3, Z5, Z6) -------------------------------------------------------------------------------


@cache
def near(grid: Grid) -> tuple[tuple[int, int], ...]:
    """For each square, the squares at most one step and at most two steps away, as sets."""
    one = [1 << square | grid.around[square] for square in Square]
    return tuple((one[at], bits_of(one, one[at])) for at in Square)


def bits_of(sets: Sequence[int], members: int) -> int:
    """The union of the sets of some squares."""
    found = 0
    for square in Square:
        if members >> square & 1:
            found |= sets[square]
    return found


@cache
def sandwiches(grid: Grid, diagonal: bool) -> tuple[tuple[int, ...], ...]:
    """For each square, the pairs of opposite neighbours, as sets."""
    axes = ALL_AXES if diagonal else STRAIGHT_AXES
    return tuple(
        tuple(1 << row[one] | 1 << row[other] for one, other in axes if row[one] >= 0 and row[other] >= 0)
        for row in grid.steps
    )


def place_pigeons(view: View) -> list[Action]:
    """Covers as many squares as possible at which a tourist would make a pigeon breed, each well if possible."""
    seen, around = view.seen, near(view.grid)
    own = bits(pigeon.square for pigeon in seen.piazza if pigeon.seat == view.seat)
    taken = bits(pigeon.square for pigeon in seen.piazza)
    covered = 0
    for pigeon in seen.piazza:
        if pigeon.seat == view.seat:
            covered |= around[pigeon.square][0]
    pairs = sandwiches(view.grid, bool(view.setup.options["capture_diagonal"]))
    best_gain = view.board.born_same - view.board.born_adjacent
    plan: list[Action] = []
    for _ in range(view.me.first_count):
        best: float = -math.inf
        chosen = -1
        for square in view.grid.usable:
            if taken >> square & 1:
                continue
            one, two = around[square]
            gain: float = view.board.born_adjacent * two.bit_count() + best_gain * (one & ~covered).bit_count()
            gain -= RISK * len(Square) * threatened(pairs[square], taken & ~own, taken) / 4
            if gain > best:
                best, chosen = gain, square
        if chosen < 0:
            break
        plan.append(act.PLACES[chosen])
        own |= 1 << chosen
        taken |= 1 << chosen
        covered |= around[chosen][0]
    return plan or [act.DONE]


def threatened(pairs: Iterable[int], rivals: int, taken: int) -> bool:
    """Whether a rival next to a square may capture there: the opposite square is free, or another rival's."""
    return any(pair & rivals and not pair & taken & ~rivals for pair in pairs)


def reachable(view: View, start: int, taken: int, danger: int, tourists: int) -> dict[int, tuple[int, ...]]:
    """The squares that a pigeon can move to, each with the squares on the way."""
    found: dict[int, tuple[int, ...]] = {}
    for end in view.grid.neighbours[start]:
        if not (taken | danger) >> end & 1:
            found[end] = (start, end)
    obstacles = (taken | tourists) & (-1 if view.setup.options["jump_over_danger"] else ~danger)
    ways: list[tuple[int, ...]] = [(start,)]
    seen = 1 << start
    others = obstacles & ~(1 << start) if not tourists >> start & 1 else obstacles
    for way in ways:
        for over, end in view.grid.jumps[way[-1]]:
            if others >> over & 1 and not (taken | danger | seen) >> end & 1:
                seen |= 1 << end
                ways.append((*way, end))
                found.setdefault(end, ways[-1])
    return found


def steps_of(way: tuple[int, ...], grid: Grid, last: bool) -> list[Action]:
    """A walk or jumps; a chain that could go on is stopped."""
    if way[1] in grid.neighbours[way[0]]:
        return [act.walk(way[0], way[1])]
    jumps: list[Action] = [act.jump(start, end) for start, end in pairwise(way)]
    return [*jumps, act.STOP] if last else jumps


def goes_on(way: tuple[int, ...], view: View, taken: int, danger: int, tourists: int) -> bool:
    """Whether a chain could go on after these squares; `taken` has the pigeon still at the start."""
    obstacles = (taken & ~(1 << way[0])) | tourists
    if not view.setup.options["jump_over_danger"]:
        obstacles &= ~danger
    closed = taken | danger | bits(way)
    return any(obstacles >> over & 1 and not closed >> end & 1 for over, end in view.grid.jumps[way[-1]])


def move_pigeons(view: View) -> list[Action]:
    """Moves one pigeon after the other, always the one that gains most; then ends the moves."""
    seen, grid, around = view.seen, view.grid, near(view.grid)
    danger, tourists = grid.danger(seen.hunters), bits(seen.tourists)
    own = bits(pigeon.square for pigeon in seen.piazza if pigeon.seat == view.seat)
    rivals = [int(pigeon.square) for pigeon in seen.piazza if pigeon.seat != view.seat]
    others = bits(rivals)
    beside = bits_of([around[square][0] for square in Square], others)
    pairs = sandwiches(grid, bool(view.setup.options["capture_diagonal"]))
    values = square_values(view)
    hunted = CAPTURE / (len(seen.seats) - 1) if view.left or view.me.supply else 0.0
    unmoved = {int(square) for square in seen.unmoved}

    def captured(own: int) -> int:
        return sum(any(pair & own == pair for pair in pairs[rival]) for rival in rivals)

    def stands(square: int, own: int) -> float:
        risk = RISK if beside >> square & 1 and threatened(pairs[square], others, own | others) else 0.0
        return values[square] - risk

    plan: list[Action] = []
    now = captured(own)
    while unmoved:
        best = 1e-6
        chosen: tuple[int, ...] = ()
        for start in sorted(unmoved):
            here = stands(start, own)
            for end, way in reachable(view, start, own | others, danger, tourists).items():
                gain = values[end] - here
                if gain > best or beside >> end & 1:
                    moved = own ^ (1 << start | 1 << end)
                    gain = stands(end, moved) - here
                    if (beside >> end | beside >> start) & 1:
                        gain += hunted * (captured(moved) - now)
                    if gain > best:
                        best, chosen = gain, way
        if not chosen:
            break
        plan += steps_of(chosen, grid, goes_on(chosen, view, own | others, danger, tourists))
        own ^= 1 << chosen[0] | 1 << chosen[-1]
        unmoved.discard(chosen[0])
        now = captured(own)
    return [*plan, act.DONE]


def square_values(view: View) -> list[float]:
    """What a pigeon bears on every square, and how well it stands there in later rounds."""
    seen, board, around = view.seen, view.board, near(view.grid)
    tourists = bits(seen.tourists)
    each = view.setup.options["births_rule"] == "per_tourist"
    found = []
    for square in Square:
        same = tourists >> square & 1
        adjacent = (tourists & around[square][0] & ~(1 << square)).bit_count()
        if each:
            born = same * board.born_same + adjacent * board.born_adjacent
        else:
            born = board.born_same if same else board.born_adjacent * min(1, adjacent)
        later = CENTRE * around[square][1].bit_count() if view.left else 0.0
        found.append((born if view.me.supply else 0) + later)
    return found


# --- action cards (Z8) ---------------------------------------------------------------------------------------


def own_piles(view: View) -> list[int]:
    """Own pigeons that the district cards will bring to each place."""
    mine = [0] * len(Place)
    plan = view.seen.plan
    if plan is not None and not view.me.pile_places:
        for place, pile in zip(plan.slots, view.me.piles, strict=False):
            mine[place] += pile
    return mine


def best_card(view: View, laid: Sequence[int], spare: int) -> ActionCard:
    """The card that promises most with such a plan, or none if all are better kept."""
    looks = outlooks(view, laid)
    left = view.left
    promise = {ActionCard.NONE: 0.0}
    for card in view.me.hand:
        promise[card] = _PROMISES[card](view, looks, spare) * odds_alone(view, card)
    best = max(promise, key=lambda card: promise[card])
    to_spare = len(view.me.hand) > left
    return best if promise[best] > (0.0 if to_spare else CARD_FLOOR) else ActionCard.NONE


def odds_alone(view: View, card: ActionCard) -> float:
    """The chance to execute a card: a rival with fewer points takes it, one with equal points cancels it (Z7.1)."""
    chance = 1.0
    for seat, has in enumerate(view.seen.seats):
        if seat != view.seat and has.score <= view.me.score and card in has.hand:
            chance *= 1 - 1 / (1 + len(has.hand))
    return chance


def feud(view: View, looks: Sequence[Outlook], spare: int) -> float:
    """Fehde: one rival pigeon in each district."""
    return sum(max(0.0, feud_gain(looks[place], view)[0]) for place in DISTRICTS)


def feud_gain(look: Outlook, view: View) -> tuple[float, Seat]:
    """The best rival to lose a pigeon in a place."""
    now, best = worth(look), (0.0, -1)
    for seat, count in enumerate(look.counts):
        if seat != view.seat and count and view.seen.places[Place.CAN]:
            best = max(best, (worth(with_count(look, seat, -1)) - now, seat))
    return best


def takeover(view: View, looks: Sequence[Outlook], spare: int) -> float:
    """Feindliche Uebernahme at its best."""
    return max((takeover_gain(view, looks[place], place, spare) for place in DISTRICTS), default=0.0)


def takeover_gain(view: View, look: Outlook, place: Place, spare: int) -> float:
    """What replacing the rivals in a district gains."""
    here = view.seen.places[place].pigeons
    out = sum(here) - here[view.seat]
    if not out:
        return -math.inf
    counts = [
        count - here[seat] if seat != view.seat else count + min(out, spare) for seat, count in enumerate(look.counts)
    ]
    paid = kept(view.left) * (min(out, spare) - out / (len(here) - 1))
    return worth(look._replace(counts=tuple(counts))) - worth(look) - paid


def poison(view: View, looks: Sequence[Outlook], spare: int) -> float:
    """Gift im Futter: what rivals lose on the Piazza."""
    pigeons = sum(pigeon.seat != view.seat for pigeon in view.seen.piazza)
    return min(view.board.poisoned, pigeons) * BORN * kept(view.left) * min(view.left, 2) / (len(view.seen.seats) - 1)


def raptor(view: View, looks: Sequence[Outlook], spare: int) -> float:
    """Raubvogel at its best."""
    return max(-worth(look) for look in looks) * this_round(view)


def this_round(view: View) -> float:
    """The share of the worth of a majority that falls to this round."""
    return 1 / (1 + HOLD * min(view.left, HELD_ROUNDS))


def michele(view: View, looks: Sequence[Outlook], spare: int) -> float:
    """San Michele: the own pigeons in the cemetery."""
    return view.me.cemetery * kept(view.left)


def purge(view: View, looks: Sequence[Outlook], spare: int) -> float:
    """Saeuberungsaktion at its best."""
    return max(gain for gain, _, _ in purges(view, looks))


def purges(view: View, looks: Sequence[Outlook]) -> list[tuple[float, Place, Seat]]:
    """What can be purged, with its gain."""
    found = [(0.0, Place.CAN, view.seat)]
    refund = kept(view.left)
    for place in DISTRICTS:
        for seat, count in enumerate(view.seen.places[place].pigeons):
            if count:
                back = refund * count if seat == view.seat else -refund * count / (len(view.seen.seats) - 1)
                gain = worth(with_count(looks[place], seat, -count)) - worth(looks[place]) + back
                found.append((gain, place, seat))
    return found


def vatican(view: View, looks: Sequence[Outlook], spare: int) -> float:
    """Weisung aus dem Vatikan: greys that count as own in this round."""
    looks = [
        with_count(look, view.seat, here.grey) if here.grey else look
        for look, here in zip(looks, view.seen.places, strict=True)
    ]
    return this_round(view) * share_out(grey_rows(view, looks), view.board.grey_operations, len(Place), 0.0)[0]


def grey_rows(view: View, looks: Sequence[Outlook]) -> list[list[float]]:
    """What greys would gain in each place that is open to them."""
    places = list(Place) if view.setup.options["vatican_feud_sgm"] else list(DISTRICTS)
    return [gains(looks[place], view.board.grey_operations) for place in places]


def family(view: View, looks: Sequence[Outlook], spare: int) -> float:
    """Familientreffen: the newborn of all, as many as are expected."""
    nests = [has.nest for has in view.seen.seats]
    if view.seen.phase is Phase.PLAN:
        nests = [0] * len(nests)
        for pigeon in view.seen.piazza:
            nests[pigeon.seat] += 1
        nests = [round(BORN * nest) for nest in nests]
    return max(gain for gain, _ in families(view, looks, nests))


def families(view: View, looks: Sequence[Outlook], nests: Sequence[int]) -> list[tuple[float, Place]]:
    """What a family meeting in each district gains."""
    own = kept(view.left) * nests[view.seat]
    theirs = kept(view.left) * (sum(nests) - nests[view.seat]) / (len(nests) - 1)
    found = []
    for place in DISTRICTS:
        counts = tuple(map(int.__add__, looks[place].counts, nests))
        gain = worth(looks[place]._replace(counts=counts)) - worth(looks[place])
        found.append((gain - own + theirs, place))
    return found


_PROMISES: dict[ActionCard, Callable[[View, Sequence[Outlook], int], float]] = {
    ActionCard.FAM: family,
    ActionCard.FEH: feud,
    ActionCard.UEB: takeover,
    ActionCard.GIF: poison,
    ActionCard.RAU: raptor,
    ActionCard.MIC: michele,
    ActionCard.SAU: purge,
    ActionCard.WEI: vatican,
}


def meet(view: View) -> list[Action]:
    """The district where the newborn of all gain most."""
    looks = outlooks(view, own_piles(view))
    _, place = max(families(view, looks, [has.nest for has in view.seen.seats]))
    return [act.FAMILIES[place]]


def reinforce(view: View) -> list[Action]:
    """As many pigeons as gain more at home than in the reserve; all of them in the last round."""
    home = cast("Place", view.me.home)
    row = gains(outlooks(view, own_piles(view))[home], view.me.nest)
    _, [count] = share_out([row], view.me.nest, 1, kept(view.left))
    return [act.REINFORCES[count if view.left else view.me.nest]]


def remove_one(view: View) -> list[Action]:
    """The rival whose pigeon is in the way most, in this district and the next ones."""
    looks = outlooks(view, own_piles(view))
    plan: list[Action] = []
    places = list(Place) if view.setup.options["vatican_feud_sgm"] else list(DISTRICTS)
    for place in places[view.seen.card_place or 0 :]:
        pigeons = view.seen.places[place].pigeons
        if sum(pigeons) > pigeons[view.seat]:
            gain, seat = feud_gain(looks[place], view)
            plan.append(act.FEHDES[seat] if gain > 0 and pigeons[seat] else act.SKIP)
    return plan


def take_over(view: View) -> list[Action]:
    """The district whose rivals are replaced at best; newborn pigeons come first."""
    looks, spare = outlooks(view, own_piles(view)), view.me.reserve + view.me.nest
    best = max(DISTRICTS, key=lambda place: takeover_gain(view, looks[place], place, spare))
    return [act.TAKEOVERS[best]]


def poison_pigeons(view: View) -> list[Action]:
    """The rivals' pigeons that stand best."""
    values, count = square_values(view), view.board.poisoned - view.seen.card_count
    scores = [has.score for has in view.seen.seats]
    targets = [pigeon for pigeon in view.seen.piazza if pigeon.seat != view.seat]
    targets.sort(key=lambda pigeon: (-scores[pigeon.seat], -values[pigeon.square], pigeon.square))
    plan: list[Action] = [act.POISONS[pigeon.square] for pigeon in targets[:count]]
    return plan if len(plan) == count else [*plan, act.DONE]


def place_raptor(view: View) -> list[Action]:
    """The place whose majority would cost most."""
    looks = outlooks(view, own_piles(view))
    return [act.RAPTORS[min(Place, key=lambda place: worth(looks[place]))]]


def purge_colour(view: View) -> list[Action]:
    """The pigeons whose leaving gains most; own ones return to the reserve at worst."""
    looks = outlooks(view, own_piles(view))
    found = [
        (gain, place, seat) for gain, place, seat in purges(view, looks)[1:] if act.PURGES[place][seat] in view.actions
    ]
    _, place, seat = max(found)
    return [act.PURGES[place][seat]]


def send_greys(view: View) -> list[Action]:
    """Greys from the side, then others, to where they win most majorities of this round."""
    seen = view.seen
    looks = outlooks(view, own_piles(view))
    looks = [with_count(look, view.seat, here.grey) for look, here in zip(looks, seen.places, strict=True)]
    number = view.board.grey_operations - seen.card_count
    _, counts = share_out(grey_rows(view, looks), number, len(Place), 0.0)
    targets = [place for place, count in zip(Place, counts, strict=False) for _ in range(count)]
    adds = [place for place in Place if act.GREY_ADDS[place] in view.actions]
    if adds:
        plan: list[Action] = [act.GREY_ADDS[place] for place in targets]
        rest = max(adds, key=lambda place: worth(looks[place]) - worth(with_count(looks[place], view.seat, -1)))
        return plan or [act.GREY_ADDS[rest]]
    moves = [action for action in view.actions if isinstance(action, act.GreyMove)]

    def gain(move: act.GreyMove) -> float:
        start, end = looks[move.start], looks[move.end]
        after = worth(with_count(start, view.seat, -1)) + worth(with_count(end, view.seat, 1))
        return after - worth(start) - worth(end)

    return [max(moves, key=gain)]


def recover_card(view: View) -> list[Action]:
    """The card that promises most on this table."""
    cards = [
        action for action in view.actions if isinstance(action, act.Recover) and action.card is not ActionCard.NONE
    ]
    return [max(cards, key=lambda action: RECOVER_ORDER.index(action.card))]


RECOVER_ORDER = (
    ActionCard.FAM, ActionCard.GIF, ActionCard.MIC, ActionCard.RAU, ActionCard.FEH, ActionCard.SAU, ActionCard.UEB, ActionCard.WEI,
)  # fmt: skip
"""The cards from the one that is worth least to have again."""


_DECISIONS: dict[Phase, Callable[[View], list[Action]]] = {
    Phase.HOME: first_action,
    Phase.PLAN: make_plan,
    Phase.FEINT: lay_feint,
    Phase.PLACE: place_pigeons,
    Phase.MOVE: move_pigeons,
    Phase.CHAIN: last_action,
    Phase.FAMILY: meet,
    Phase.REINFORCE: reinforce,
    Phase.FEHDE: remove_one,
    Phase.TAKEOVER: take_over,
    Phase.FROM_RESERVE: first_action,
    Phase.POISON: poison_pigeons,
    Phase.RAPTOR: place_raptor,
    Phase.PURGE: purge_colour,
    Phase.GREY: send_greys,
    Phase.RECOVER: recover_card,
    Phase.MICHELE: last_action,
}
