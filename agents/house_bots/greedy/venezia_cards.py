"""The action cards of Venezia (RULES.md, Z7, Z8), for the `greedy` policy: choosing a card to plan, and using it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from typing_extensions import override

from house_bots.greedy.venezia_outlook import BORN, HELD_ROUNDS, Outlook, Row, View, share_out
from referee.game import Action, Seat
from referee.games.venezia import actions as act
from referee.games.venezia.names import DISTRICTS, ActionCard, Place
from referee.games.venezia.table import NONE

CARD_FLOOR = 0.8  # the gain that a card must promise as long as there are no more cards than rounds

_, FAM, FEH, UEB, GIF, RAU, MIC, SAU, WEI = ActionCard
RECOVERED = (WEI, UEB, SAU, FEH, RAU, MIC, GIF, FAM)  # cards by worth, best first
_PLACES = tuple(Place)


class Use:
    """The best use of a card found so far, and its gain."""

    def __init__(self) -> None:
        self.gain = -math.inf
        self.action: Action = act.DONE

    def offer(self, gain: float, action: Action) -> None:
        """Replace the stored use if the offered one gains more."""
        if gain > self.gain:
            self.gain, self.action = gain, action


class Uses(Use):
    """All offered uses of a card, with their gains."""

    def __init__(self) -> None:
        super().__init__()
        self.rated: list[tuple[float, list[Action]]] = []

    @override
    def offer(self, gain: float, action: Action) -> None:
        self.rated.append((gain, [action]))
        super().offer(gain, action)


def best_card(view: View, laid: Sequence[int], spare: int) -> ActionCard:
    """Return the card that promises the largest gain with these piles, or NONE if it is better to keep all cards."""
    most, best = -math.inf, ActionCard.NONE
    for promise, card in rated_cards(view, laid, spare):
        if promise > most:
            most, best = promise, card
    return best


def rated_cards(view: View, laid: Sequence[int], spare: int) -> list[tuple[float, ActionCard]]:
    """Return the promised gain of NONE, which a card must exceed, and then of each card in hand, given these piles.

    A rival with fewer points may take the card, and a rival with equal points may cancel it (Z7.1).
    """
    table, looks = view.table, view.outlooks_with(laid)
    hand = table.hand(view.seat)
    found = [(CARD_FLOOR if len(hand) <= view.left else 0.0, ActionCard.NONE)]
    rivals = [
        table.hand(seat)
        for seat in range(view.seats)
        if seat != view.seat and table.score[seat] <= table.score[view.seat]
    ]
    for card in hand:
        odds = 1.0
        for rival in rivals:
            if card in rival:
                # A rival is assumed to play any card of its hand, or none, with the same chance.
                odds *= 1 - 1 / (1 + len(rival))
        found.append((odds * promised(view, card, looks, spare), card))
    return found


def promised(view: View, card: ActionCard, looks: Sequence[Outlook], spare: int) -> float:
    """Return the gain of a card if it is executed in this round."""
    if card is FEH:
        gain = 0.0
        for place in feud_places(view):
            gain += feud_gain(looks[place])[0]
        return gain
    if card is MIC:
        return view.table.cemetery[view.seat] * view.in_reserve
    if card is WEI:
        return share_out(grey_rows(view, looks), view.board.grey_operations, 0.0)[0] / view.weight
    if card is GIF:
        others = view.seats - 1
        rivals = sum([view.table.on_piazza(seat) for seat in range(view.seats) if seat != view.seat])
        pigeons = min(view.board.poisoned, rivals)
        return pigeons * BORN * view.in_reserve * min(view.left, HELD_ROUNDS) / others
    return best_use(view, card, looks, spare, Use()).gain


def execute(view: View, card: ActionCard) -> list[Action]:
    """Choose the best use of a card that needs one choice."""
    spare = view.table.reserve[view.seat] + view.table.nest[view.seat]
    return [best_use(view, card, view.outlooks(), spare, Use()).action]


def rated_uses(view: View, card: ActionCard) -> list[tuple[float, list[Action]]]:
    """Return the uses of a card that needs one choice, with their gains."""
    spare, uses = view.table.reserve[view.seat] + view.table.nest[view.seat], Uses()
    best_use(view, card, view.outlooks(), spare, uses)
    return uses.rated or [(0.0, [uses.action])]


def best_use(view: View, card: ActionCard, looks: Sequence[Outlook], spare: int, use: Use) -> Use:
    """Offer every use of a card that needs one choice to `use`, and return `use`.

    If there are no uses, `use` stays unchanged.
    """
    if card is FAM:
        _rate_families(view, looks, use)
    elif card is UEB:
        _rate_takeovers(view, looks, spare, use)
    elif card is RAU:
        _rate_raptors(view, looks, use)
    else:
        _rate_purges(view, looks, use)
    return use


def _rate_families(view: View, looks: Sequence[Outlook], use: Use) -> None:
    """Rate a family meeting in each district, using the expected newborn during planning."""
    nests = view.table.nest
    if view.planning:
        nests = [view.newborn(seat) for seat in range(view.seats)]
    mine = nests[view.seat]
    lost = view.in_reserve * (mine - (sum(nests) - mine) / (len(nests) - 1))
    for place in DISTRICTS:
        look = looks[place]
        use.offer(look.worth_after(nests) - look.worth() - lost, act.FAMILIES[place])


def _rate_takeovers(view: View, looks: Sequence[Outlook], spare: int, use: Use) -> None:
    """Rate the replacement of all rivals in each district by unplanned pigeons."""
    for place in DISTRICTS:
        here = view.table.loc[place]
        out = sum(here) - here[view.seat]
        if out:
            changes = [-count for count in here]
            changes[view.seat] = min(out, spare)
            paid = view.in_reserve * (min(out, spare) + out / (len(here) - 1))
            use.offer(looks[place].worth_after(changes) - looks[place].worth() - paid, act.TAKEOVERS[place])


def _rate_raptors(view: View, looks: Sequence[Outlook], use: Use) -> None:
    """Rate a bird of prey in each place, which makes the majority there worthless in this round."""
    for place in _PLACES:
        use.offer(-looks[place].worth() / view.weight, act.RAPTORS[place])


def _rate_purges(view: View, looks: Sequence[Outlook], use: Use) -> None:
    for place in DISTRICTS:
        here = view.table.loc[place]
        for seat in range(view.seats):
            if here[seat]:
                back = view.in_reserve * here[seat] * (1.0 if seat == view.seat else -1 / (view.seats - 1))
                gain = looks[place].worth_with(seat, -here[seat]) - looks[place].worth() + back
                use.offer(gain, act.PURGES[place][seat])


def feud_places(view: View) -> Sequence[Place]:
    """Return the places where Fehde and Weisung work (Z8)."""
    return _PLACES if view.table.setup.options["vatican_feud_sgm"] else DISTRICTS


def feud_gain(look: Outlook) -> tuple[float, Seat]:
    """Return the largest gain from removing a rival's pigeon from a place, and that rival's seat.

    Removing nothing counts as a gain of 0 with the deciding seat. Of equal gains, the one with the highest seat is
    taken.
    """
    most, best, now = 0.0, look.seat, look.worth()
    for seat in range(len(look.counts)):
        if seat != look.seat and look.counts[seat]:
            gain = look.worth_with(seat, -1) - now
            if gain > most or (gain == most and seat > best):
                most, best = gain, seat
    return most, best


def remove_pigeons(view: View) -> list[Action]:
    """Remove the rivals' most harmful pigeon from this district and from each later one."""
    table, seat, looks = view.table, view.seat, view.outlooks()
    plan: list[Action] = []
    for place in feud_places(view):
        pigeons = table.loc[place]
        if place >= table.card_place and sum(pigeons) > pigeons[seat]:
            rival = feud_gain(looks[place])[1]
            plan.append(act.FEHDES[rival] if rival != seat and pigeons[rival] else act.SKIP)
    return plan


def poison_pigeons(view: View, values: list[float]) -> list[Action]:
    """Poison the pigeons of the leading rival, beginning with those on the best squares.

    Args:
        view: the data for the decision.
        values: the value of each square.
    """
    table = view.table
    count = view.board.poisoned - table.card_count
    pigeons = [(square, owner) for square, owner in enumerate(table.piazza) if owner != NONE]
    targets = sorted(
        [(-table.score[owner], -values[square], square) for square, owner in pigeons if owner != view.seat]
    )
    plan: list[Action] = [act.POISONS[square] for _, _, square in targets[:count]]
    return plan if len(plan) in (count, len(pigeons)) else [*plan, act.DONE]


def grey_rows(view: View, looks: Sequence[Outlook]) -> list[Row]:
    """Return the gains from adding further greys in each place, counting those already there as the seat's own."""
    rows: list[Row] = []
    for place in feud_places(view):
        look = looks[place]
        look.counts[view.seat] += view.table.grey[place]
        rows.append(look.gains(view.board.grey_operations))
        look.counts[view.seat] -= view.table.grey[place]
    return rows


def send_greys(view: View) -> list[Action]:
    """Add greys, while any are left, where they win most majorities in this round; then move the one gaining most."""
    table, looks = view.table, view.outlooks()
    _, counts = share_out(grey_rows(view, looks), view.board.grey_operations - table.card_count, 0.0)
    targets: list[Action] = [act.GREY_ADDS[place] for place, count in enumerate(counts) for _ in range(count)]
    if targets and table.grey_side:
        return targets[: table.grey_side]
    for place in _PLACES:
        looks[place].counts[view.seat] += table.grey[place]
    use = Use()
    for action in table.legal_actions(view.seat):
        use.offer(_move_gain(view, looks, action), action)
    return [use.action]


def _move_gain(view: View, looks: Sequence[Outlook], action: Action) -> float:
    """Return the gain of moving a grey; 0 for any other action."""
    if not isinstance(action, act.GreyMove):
        return 0.0
    start, end, seat = looks[action.start], looks[action.end], view.seat
    after = start.worth_with(seat, -1) + end.worth_with(seat, 1)
    return after - start.worth() - end.worth()


def recover_card(view: View) -> list[Action]:
    """Take back the most valuable card."""
    legal = view.table.legal_actions(view.seat)
    return [next(act.RECOVERS[card] for card in RECOVERED if act.RECOVERS[card] in legal)]
