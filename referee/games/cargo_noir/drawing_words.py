"""The text of a picture of Cargo Noir: the open decision, the last action, and the holdings."""

from __future__ import annotations

from collections.abc import Sequence

from referee.game import Action, Scene
from referee.games.cargo_noir import actions as act
from referee.games.cargo_noir.board import CargoNoirBoard
from referee.games.cargo_noir.breakdown import breakdown, titled
from referee.games.cargo_noir.names import Card, Kind, Phase, Purpose
from referee.games.cargo_noir.observation import CargoNoirObservation
from referee.kit.scene import Strip, gains, sentences, strip_in_words
from referee.kit.svg import printable


def described(board: CargoNoirBoard, seen: CargoNoirObservation, happened: Strip | None) -> str:
    """Describe the picture in words, for screen readers."""
    said = [] if happened is None else strip_in_words(happened)
    said += [] if seen.phase is Phase.OVER else [f"It is the turn of seat {seen.seat}"]
    said += [doing(board, seen), *notes(seen)]
    for seat, has in enumerate(seen.seats):
        said.append(
            f"Seat {seat}, {printable(board.families[seat])}: {has.score} points, {has.safe} coins, "
            f"{sum(has.goods)} of {has.storage} goods, {has.ships_home} ships at home, "
            f"{has.casino} at the Casino, {has.black_market} at the Black Market, place {has.rank}"
        )
    for view in seen.ports:
        stacks = [f"seat {seat} has a stack of {height}" for seat, height in enumerate(view.stacks) if height]
        said.append(f"{titled(view.port)}: {sum(view.goods)} goods, {', '.join(stacks) or 'no ships'}")
    return ". ".join(said) + "."


def doing(board: CargoNoirBoard, seen: CargoNoirObservation) -> str:
    """Describe the decision of the seat to act."""
    has, pending = seen.seats[seen.seat], seen.pending_stake
    if seen.phase is Phase.OVER:
        winners = [str(seat) for seat, has in enumerate(seen.seats) if has.rank == 1]
        return f"The game is over and won by seat {' and seat '.join(winners)}"
    if pending is not None:
        height = f"{pending.min} to {pending.max} coins" if pending.min < pending.max else f"{pending.min} coins"
        if pending.purpose is Purpose.RAISE:
            return f"Raising its stack in {titled(pending.port)} to a height of {height}"
        return f"Sending a ship to {titled(pending.port)} on a stack of {height}"
    if seen.phase is Phase.P1:
        todo = {"at the Casino": seen.todo_casino, "at the Black Market": seen.todo_market}
        todo["in ports"] = len(seen.todo_ports)
        return f"Resolving its ships: {', '.join(f'{count} {place}' for place, count in todo.items() if count)}"
    if seen.phase is Phase.P2_DIFF:
        chosen = len(seen.diff_kinds)
        if chosen < 2:  # C4.3: a single good is not a set of different goods
            return "Collecting different goods: one more is needed"
        return f"Collecting different goods: worth {board.different[chosen]}"
    if seen.phase is Phase.P2_DISCARD:
        return f"Discarding what it cannot store: {sum(has.goods) - has.storage} more"
    if seen.phase is Phase.P3:
        return f"Sending its ships: {has.ships_home} still at home"
    return "Handing in goods and buying cards"


def notes(seen: CargoNoirObservation) -> list[str]:
    """Return special facts about this turn: barred ports, uses of the Syndicate, and whether this turn is final."""
    found = []
    if seen.banned_ports:
        found.append(f"Barred: {', '.join(map(titled, seen.banned_ports))}")
    if seen.syndicate_used:
        found.append(f"Syndicate has paid for {seen.syndicate_used} of its withdrawals")
    if seen.turn == seen.last_turn and seen.phase is not Phase.OVER:
        found.append("Final turn: coins of the safe buy cards too")
    return found


def can_pay(board: CargoNoirBoard, seen: CargoNoirObservation, card: Card) -> bool:
    """Return whether the seat to act can buy a card now, with the goods handed in so far (C4.5, C4.6, C4.8)."""
    has = seen.seats[seen.seat]
    credit = seen.credit + (has.safe if seen.turn == seen.last_turn else 0)
    may = seen.phase is Phase.P2 and seen.supply[card] > 0 and has.cards[card] < board.cap[card]
    return may and board.cost[card] <= credit


# --- what has just happened -------------------------------------------------------------------------


def tell(board: CargoNoirBoard, seen: CargoNoirObservation, scene: Scene) -> list[str]:
    """Describe the last action in words."""
    return sentences(happened(board, seen, scene))


def happened(board: CargoNoirBoard, seen: CargoNoirObservation, scene: Scene) -> Strip:
    """Return the contents of the strip that shows the last action."""
    before = scene.before
    if scene.seat is None or not isinstance(before, CargoNoirObservation):
        return Strip(scene.step, scene.steps, scene.bots, None, "The match begins", ())
    what = "acts" if scene.action is None else _done(board, before, seen, scene.seat, scene.action)
    gained = gains(breakdown(board, before), breakdown(board, seen))
    return Strip(scene.step, scene.steps, scene.bots, scene.seat, what, gained)


def _done(
    board: CargoNoirBoard, before: CargoNoirObservation, seen: CargoNoirObservation, seat: int, action: Action
) -> str:
    """Describe an action, as in `is alone in Rio: pays 3 coins and takes 2 art, 1 gold`."""
    had, has = before.seats[seat], seen.seats[seat]
    won = goods_in_words([new - old for old, new in zip(had.goods, has.goods, strict=True)])
    match action:
        case act.Casino():
            return f"brings a ship home from the Casino, with {has.safe - had.safe} coins"
        case act.BmDraw():
            return f"draws at the Black Market: {won}"
        case act.BmSwap(give, take):
            return f"swaps {_kind(give)} for {_kind(take)} at the Black Market"
        case act.Collect(port):
            paid = next((view.stacks[seat] for view in before.ports if view.port is port), 0)
            return f"is alone in {titled(port)}: pays {_coins(paid)} and takes {won}"
        case act.Raise(port):
            return f"stays in {titled(port)} and raises its stack"
        case act.Withdraw(port):
            return f"withdraws from {titled(port)}"
        case act.Wait(port):
            return f"waits in {titled(port)}"
        case act.Stake(coins) if before.pending_stake is not None:
            return f"stakes {_coins(coins)} in {titled(before.pending_stake.port)}"
        case act.SellSame(kind, n, wilds):
            wild = f" and {wilds} wild" if wilds else ""
            return f"hands in {n} {_kind(kind)}{wild}: worth {board.same[n + wilds]}"
        case act.DiffStart(kind):
            return f"begins a set of different goods with {_kind(kind)}"
        case act.DiffAdd(kind):
            return f"adds {_kind(kind)} to the set of different goods"
        case act.DiffClose(wilds):
            size = len(before.diff_kinds) + wilds
            return f"hands in {size} different goods: worth {board.different[size]}"
        case act.Buy(card):
            return f"buys {titled(card)} for {board.cost[card]}"
        case act.EndSmuggling():
            return "ends smuggling"
        case act.Discard(kind):
            return f"discards {_kind(kind)}, which it cannot store"
        case act.Send(dest):
            place = f"the {titled(dest)}" if dest < 2 else titled(dest)
            return f"sends a ship to {place}"
    return "acts"


def goods_in_words(goods: Sequence[int]) -> str:
    """Return goods in words, as in `2 art, 1 gold`, or `nothing`; only positive numbers are included."""
    return ", ".join(f"{goods[kind]} {_kind(kind)}" for kind in Kind if goods[kind] > 0) or "nothing"


def _kind(kind: Kind) -> str:
    return Kind(kind).name.lower()


def _coins(count: int) -> str:
    return f"{count} coin" if count == 1 else f"{count} coins"
