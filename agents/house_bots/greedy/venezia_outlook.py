"""The prospects of each place in Venezia, and the value of a pigeon there, for the `greedy` policy."""

from __future__ import annotations

import math
from collections.abc import Sequence

from referee.game import Seat
from referee.games.venezia.names import Phase, Place
from referee.games.venezia.table import NONE, Table

# Estimates, tuned in matches against earlier versions. Worth is in points of the match; for pigeons on the Piazza, in
# newborn pigeons.

HOLD = 0.45  # worth of a majority in a later round, as a share of its worth now: pigeons stay, but rivals react
HELD_ROUNDS = 2  # the maximum number of later rounds in which a majority counts
UNLAID_PIGEON = 0.45  # worth of a pigeon that can be laid in the next round
UNLAID_ROUND = 0.15  # worth added for each further round
BORN = 1.7  # births to one pigeon on an empty Piazza in a round
RECOVERY = 0.7  # worth of San Giorgio Maggiore if it can bring a card back
LAID = 0.7  # share of its reserve that a rival lays on districts
LAID_LAST = 0.85  # that share in the last round
SPREAD = (0.4, 1.0, 1.8)  # sizes of a rival's pile, relative to the mean, that are assumed to be equally likely
LURE = 2.0  # factor of the chance that a rival lays pigeons where it can score most: in another seat's home
LURE_OF_THREE = 2.8  # that factor with three seats
SGM_LURE = 0.3  # the chance of San Giorgio Maggiore, relative to a district
REINFORCED = 0.6  # the chance that a rival sends its newborn home
POINTS_A_ROUND = 11  # gain of the leading seat in a round; determines the length of an open match

_PLACES = len(Place)
_SGM = int(Place.SGM)


class Outlook:
    """The prospects of a place, and the worth of its majority.

    Attributes:
        counts: the pigeons there now, by seat; those of `seat` include planned ones.
        sizes: the possible additions by each seat.
        parts: the probabilities of these additions.
        points: the worth of the majority for each seat; negative for rivals.
        seat: the seat that decides.
    """

    def __init__(
        self,
        counts: list[int],
        sizes: Sequence[list[int]],
        parts: Sequence[list[float]],
        points: list[float],
        seat: Seat,
    ) -> None:
        self.counts = counts
        self.sizes = sizes
        self.parts = parts
        self.points = points
        self.seat = seat

    def worth(self) -> float:
        """Return the expected points from the majority, minus those of rivals."""
        mine, total = self.counts[self.seat], 0.0
        for seat in range(len(self.counts)):
            points, sizes, parts = self.points[seat], self.sizes[seat], self.parts[seat]
            if points == 0.0:
                continue
            for index in range(len(sizes)):
                end, part = self.counts[seat] + sizes[index], parts[index]
                if part != 0.0 and (end > mine or (seat == self.seat and end)):
                    total += points * self._ahead(seat, end, part)
        return total

    def _ahead(self, seat: Seat, end: int, chance: float) -> float:
        """Return `chance` times the probability that every rival except `seat` has fewer than `end` pigeons."""
        for other in range(len(self.counts)):
            if other not in (seat, self.seat):
                fewer, sizes, parts = 0.0, self.sizes[other], self.parts[other]
                for index in range(len(sizes)):
                    if self.counts[other] + sizes[index] < end:
                        fewer += parts[index]
                chance *= fewer
        return chance

    def worth_with(self, seat: Seat, change: int) -> float:
        """Return the worth after a change in the number of one seat's pigeons."""
        self.counts[seat] += change
        found = self.worth()
        self.counts[seat] -= change
        return found

    def worth_after(self, changes: Sequence[int]) -> float:
        """Return the worth after a change in the number of each seat's pigeons."""
        before = self.counts
        self.counts = [before[seat] + changes[seat] for seat in range(len(before))]
        found = self.worth()
        self.counts = before
        return found

    def gains(self, most: int, liking: float = 0.0) -> Row:
        """Return the gains from adding useful numbers of pigeons, up to `most`: numbers that reach or pass a rival.

        Args:
            most: the largest number of pigeons to add.
            liking: the additional points for adding any pigeons at all.
        """
        ends: set[int] = set()
        for seat in range(len(self.counts)):
            for size in self.sizes[seat]:
                ends.add(self.counts[seat] + size)
        row, mine, now = Row(0, 0.0), self.counts[self.seat], self.worth()
        # More than one pigeon beyond the largest possible pile of a rival gains nothing.
        for more in range(1, min(most, max(ends) + 1 - mine) + 1):
            if more == 1 or mine + more in ends or mine + more - 1 in ends:
                row.add(more, self.worth_with(self.seat, more) - now + liking)
        return row


class Row:
    """Possible numbers of pigeons on one card, in ascending order, each with its gain."""

    def __init__(self, count: int, gain: float) -> None:
        self.counts = [count]
        self.gains_of = [gain]

    def add(self, count: int, gain: float) -> None:
        """Add a larger number of pigeons."""
        self.counts.append(count)
        self.gains_of.append(gain)


class View:
    """The data for a decision: a table, of which only the parts that the seat may know are read."""

    def __init__(self, table: Table, seat: Seat) -> None:
        self.table = table
        self.board = table.board
        self.seat = seat
        self.seats = len(table.score)
        self.left = rounds_left(table)
        self.weight = 1 + HOLD * min(self.left, HELD_ROUNDS)
        self.in_reserve = self.reserve_value()
        self.planning = table.phase is Phase.PLAN
        self._additions: list[Additions] = []
        self._points: list[list[float]] = []

    def reserve_value(self, passed: int = 0) -> float:
        """Return the points for a pigeon in the reserve after this round and `passed` more rounds."""
        left = self.left - passed
        return UNLAID_PIGEON + UNLAID_ROUND * (left - 1) if left > 0 else 0.0

    def newborn(self, seat: Seat) -> int:
        """Return the expected number of births to a seat's pigeons on the Piazza."""
        return min(self.table.supply[seat], round(BORN * self.table.on_piazza(seat)))

    def outlooks(self) -> list[Outlook]:
        """Return the outlook of every place, including the seat's pigeons on the district cards."""
        mine, slots = [0] * _PLACES, self.table.plans[self.seat].slots
        piles = self.table.piles[self.seat]
        for slot in range(min(len(slots), len(piles))):
            mine[slots[slot]] = piles[slot]
        return self.outlooks_with(mine)

    def outlooks_with(self, mine: Sequence[int]) -> list[Outlook]:
        """Return the outlook of every place, including the seat's own pigeons that will arrive (`mine`)."""
        if not self._additions:
            self._additions = [Additions(self, seat) for seat in range(self.seats)]
            self._points = [self._points_in(place) for place in range(_PLACES)]
        table, found = self.table, []
        for place in range(_PLACES):
            counts = table.loc[place][:]
            counts[self.seat] += mine[place]
            if table.grey_owner != NONE:
                counts[table.grey_owner] += table.grey[place]
            sizes = [additions.sizes[place] for additions in self._additions]
            parts = [additions.parts[place] for additions in self._additions]
            found.append(Outlook(counts, sizes, parts, self._points[place], self.seat))
        return found

    def _points_in(self, place: int) -> list[float]:
        """Return the worth of the majority in a place for each seat, in this round and later ones."""
        table, found = self.table, []
        for seat in range(self.seats):
            points = 0.0
            if place == table.raptor:
                pass
            elif place == _SGM:
                points = RECOVERY if self.left and any(table.discard[seat]) else 0.0
            elif place in table.home and table.home[seat] != place:
                points = self.board.enemy_home_points * self.weight
            else:
                points = self.board.majority_points * self.weight
            found.append(points * (1.0 if seat == self.seat else -1 / (self.seats - 1)))
        return found


class Additions:
    """A seat's possible additions to each place in this round, and their probabilities; none for the seat that decides."""

    def __init__(self, view: View, seat: Seat) -> None:
        self.sizes: list[list[int]] = []
        self.parts: list[list[float]] = []
        if seat == view.seat:
            self.sizes, self.parts = [[0]] * _PLACES, [[1.0]] * _PLACES
            return
        table = view.table
        piles, number = _pile_sizes(view, seat)
        nest = view.newborn(seat) if view.planning else table.nest[seat]
        home = table.home[seat]
        at_home = LURE_OF_THREE if table.setup.seats == 3 else LURE
        lures = [at_home if place in table.home and place != home else 1.0 for place in range(_PLACES)]
        lures[_SGM] = SGM_LURE
        total = 0.0
        for lure in lures:
            total += lure
        for place in range(_PLACES):
            part = number * min(lures[place] / total, 1 / max(1, view.board.district_cards))
            self._add(piles, part)
            if nest and place == home and table.phase <= Phase.REINFORCE:
                self._reinforce(nest)

    def _add(self, piles: list[int], part: float) -> None:
        none = 0.0
        for _ in piles:
            none += part
        self.sizes.append([*piles, 0])
        self.parts.append([part] * len(piles) + [1.0 - none])

    def _reinforce(self, nest: int) -> None:
        """Replace each possible addition in the last place with two: one without the newborn, and one with them."""
        sizes, parts = self.sizes.pop(), self.parts.pop()
        both_sizes: list[int] = []
        both_parts: list[float] = []
        for index in range(len(sizes)):
            both_sizes += [sizes[index], sizes[index] + nest]
            both_parts += [parts[index] * (1 - REINFORCED), parts[index] * REINFORCED]
        self.sizes.append(both_sizes)
        self.parts.append(both_parts)


def _pile_sizes(view: View, seat: Seat) -> tuple[list[int], float]:
    """Return the possible sizes of a rival's pile in a place, and the expected number of piles of each size."""
    table, cards = view.table, view.board.district_cards
    if view.planning:
        mean = table.reserve[seat] * (LAID if view.left else LAID_LAST) / cards
        return [round(mean * size) for size in SPREAD], cards / len(SPREAD)
    piles = table.piles[seat]
    # A seat that has turned its first card has laid the pigeons that were on it.
    more = table.first_count[seat] / len(piles) if piles else 0.0
    return [round(pile + more) for pile in piles], 1.0


def rounds_left(table: Table) -> int:
    """Estimate the number of rounds after this one."""
    left = table.last_round - table.round
    missing = table.board.win_points - max(table.score)
    if table.setup.options["end_rule"] == "fixed4":
        return left
    return max(0, min(left, -(-missing // POINTS_A_ROUND) - 1))  # rounded up, and not counting this round


class Shares:
    """The best ways to lay pigeons on the first cards, for each number of cards used and pigeons laid."""

    def __init__(self, pigeons: int, cards: int) -> None:
        self.pigeons = pigeons
        self.cards = cards
        self.used = [0]
        self.laid = [0]
        self.totals = [0.0]
        self._choices: list[list[int]] = []
        self._before: list[list[int]] = []

    def add(self, row: Row, price: float, cost: int) -> None:
        """Add one more card, which counts as `cost` cards if pigeons are laid on it."""
        counts, nets = _useful(row, price)
        # Of all ways with the same numbers of cards and pigeons, only the best is kept.
        place_of = [-1] * ((self.cards + 1) * (self.pigeons + 1))
        used, laid, totals = self.used, self.laid, self.totals
        self.used, self.laid, self.totals = [], [], []
        choices: list[int] = []
        before: list[int] = []
        for index in range(len(used)):
            for option in range(len(counts)):
                count, total = counts[option], totals[index] + nets[option]
                cards, pigeons = used[index] + (cost if count else 0), laid[index] + count
                if cards > self.cards or pigeons > self.pigeons:
                    continue
                at = place_of[cards * (self.pigeons + 1) + pigeons]
                if at < 0:
                    place_of[cards * (self.pigeons + 1) + pigeons] = len(choices)
                    self.used.append(cards)
                    self.laid.append(pigeons)
                    self.totals.append(total)
                    choices.append(count)
                    before.append(index)
                elif total > self.totals[at]:
                    self.totals[at], choices[at], before[at] = total, count, index
        self._choices.append(choices)
        self._before.append(before)

    def best(self) -> tuple[float, list[int]]:
        """Return the best gain, and the pigeons on each card; among equals, the first cards have as many pigeons as possible."""
        most, found = -math.inf, [0]
        for index in range(len(self.totals)):
            if self.totals[index] > most:
                most, found = self.totals[index], self._way(index)
            elif self.totals[index] == most:
                found = max(found, self._way(index))
        return most, found

    def _way(self, index: int) -> list[int]:
        way: list[int] = []
        for card in range(len(self._choices) - 1, -1, -1):
            way.append(self._choices[card][index])
            index = self._before[card][index]
        way.reverse()
        return way


def _useful(row: Row, price: float) -> tuple[list[int], list[float]]:
    """Return the numbers in a row that gain more than all smaller ones, and their gains less the price of the pigeons."""
    counts, nets = [row.counts[0]], [row.gains_of[0] - price * row.counts[0]]
    for index in range(1, len(row.counts)):
        net = row.gains_of[index] - price * row.counts[index]
        if net > nets[len(nets) - 1]:
            counts.append(row.counts[index])
            nets.append(net)
    return counts, nets


def share_out(rows: Sequence[Row], pigeons: int, price: float) -> tuple[float, list[int]]:
    """Return the best way to lay pigeons on as many cards as there are rows: its gain, and the pigeons for each row."""
    shares = Shares(pigeons, len(rows))
    for row in rows:
        shares.add(row, price, 1)
    return shares.best()
