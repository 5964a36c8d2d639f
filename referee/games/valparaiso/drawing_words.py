"""The text of the drawing of Valparaíso: actions, phases, seats, goods and tiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from referee.game import Action, Scene, Seat
from referee.games.valparaiso import actions as act
from referee.games.valparaiso.board import MAX_AT_ONCE, Amount, Side, TileType, ValparaisoBoard
from referee.games.valparaiso.breakdown import breakdown
from referee.games.valparaiso.drawing_style import owner_of
from referee.games.valparaiso.names import Card, Colour, Effect, Good, Location, Mode, PayTo, Phase, Sector, Store
from referee.games.valparaiso.observation import ValparaisoObservation
from referee.kit.scene import Strip, gains, seats_in_words, sentences, strip_in_words
from referee.kit.svg import printable, short

_EFFECTS: dict[Effect, tuple[str, str]] = {
    Effect.TRANSFER: ("load", "Load, unload"),
    Effect.SELL10: ("sell", "Sell a good for {gain}"),
    Effect.HIRE: ("hire", "Hire for {pay}"),
    Effect.MOVE: ("move", "Move merchants"),
    Effect.BUILD: ("build", "Build a house"),
    Effect.TRADE: ("trade", "Trade"),
    Effect.SAIL: ("sail", "Sail"),
    Effect.OVERSEAS: ("export", "Trade overseas"),
    Effect.MOVE_PLUS: ("move +", "Move, {free} steps free"),
    Effect.RIVER: ("river", "Travel by river"),
    Effect.TRADE_PAY5: ("{pay}: trade", "Pay {pay}, trade"),
    Effect.TWO_DIFF: ("2 diff.", "Take 2 different goods"),
    Effect.GOOD5_VP: ("good → VP", "{pay}, 1 good → {gain}"),
    Effect.SELL15: ("sell {gain}", "Sell a good for {gain}"),
    Effect.GAIN10: ("{gain}", "Take {gain}"),
    Effect.TWO_GOODS_VP: ("any 2 → VP", "Any 2 goods → {gain}"),
    Effect.BUILD_GOOD: ("build, good", "Build for 1 good"),
    Effect.ONE_EACH: ("{gain}", "Take {gain}"),
    Effect.BUY3: ("buy {most}", "Buy 1–{most} goods, {pay} each"),
    Effect.VP1: ("{gain}", "Gain {gain}"),
    Effect.HIRE5: ("{pay}: hire", "Hire for {pay}"),
    Effect.GAIN15: ("{gain}", "Take {gain}"),
    Effect.PAY10_VP: ("{pay} → VP", "1–{most} times {pay} → {gain}"),
    Effect.ONE_EACH_VP: ("goods → {gain}", "{pay} → {gain}"),
    Effect.TWO_ANY: ("any 2 goods", "Take any 2 goods"),
    Effect.FREE_BUILD_HIRE: ("free build", "Build or hire for free"),
    Effect.TAKE_SILVER: ("{gain}", "Take {gained}"),
    Effect.TAKE_COPPER: ("{gain}", "Take {gained}"),
    Effect.TAKE_WHEAT: ("{gain}", "Take {gained}"),
    Effect.GAIN5: ("{gain}", "Take {gain}"),
}


def name_of(board: ValparaisoBoard, effect: Effect, *, brief: bool) -> str:
    """Return the name of an action with the numbers of the board, such as `Sell a good for 10p`, or in brief `sell`."""
    pay, gain, most = board.effects[effect]
    return _EFFECTS[effect][0 if brief else 1].format(
        pay=_in_letters(pay), gain=_in_letters(gain), gained=_said(gain), most=most, free=board.move_plus_costs.count(0)
    )


def _in_letters(amount: Amount) -> str:
    """Return an amount in brief, as in `10p, 2S, W, 1 VP`."""
    goods = [
        f"{count if count > 1 else ''}{good.name[0]}" for good, count in zip(Good, amount.goods, strict=True) if count
    ]
    return (
        ", ".join([f"{amount.money}p"] * (amount.money > 0) + goods + [f"{amount.vp} VP"] * (amount.vp > 0))
        or "nothing"
    )


DOING = {
    Phase.SETUP_GOODS: "Set-up: choosing three goods",
    Phase.SETUP_PLACE: "Set-up: placing a merchant in an empty village",
    Phase.PLAN: "Planning in secret",
    Phase.BONUS: "Taking a good for having finished first",
    Phase.USE: "Choosing the card to use",
    Phase.TRANSFER: "Loading and unloading the ship",
    Phase.SELL_FOR: "Choosing the good to sell",
    Phase.MOVE: "Choosing a merchant to move",
    Phase.STEP: "Moving a merchant on, or stopping",
    Phase.RIVER: "Relocating merchants along the rivers",
    Phase.BUILD: "Choosing where to build",
    Phase.BUILD_GOOD: "Choosing where to build, and the good for it",
    Phase.BUILD_OR_HIRE: "Choosing where to build, or hiring",
    Phase.TRADE: "Choosing a market to trade in, or to skip",
    Phase.EXCHANGE: "Taking goods at a market tile",
    Phase.SAIL: "Choosing where to sail",
    Phase.ACQUIRE: "Choosing an achievement card",
    Phase.TAKE: "Choosing two goods",
    Phase.GIVE: "Choosing a good to give",
    Phase.GIVE_TWO: "Choosing two goods to give",
    Phase.PAY: "Choosing how often to pay",
    Phase.BUY: "Buying goods",
    Phase.SCRAP: "End of the round: scrapping a card, or none",
    Phase.RETURN: "End of the round: calling merchants back",
    Phase.OVER: "The match is over",
}
"""The activity of the seats to act in each phase."""


def in_words(kind: TileType) -> str:
    """Describe the effect of a tile, for screen readers."""
    gain = f"two goods, {kind.choose}" if kind.choose else _said(kind.gain)
    times = f", up to {kind.most} times" if kind.most < MAX_AT_ONCE else ""
    return (f"{_said(kind.pay)} for {gain}" if kind.pay != Amount() else f"take {gain}") + times


def _said(amount: Amount) -> str:
    said = [f"{amount.money} pesos"] * (amount.money > 0) + [goods_in_words(amount.goods)] * any(amount.goods)
    return " and ".join(said + [f"{amount.vp} VP"] * (amount.vp > 0)) or "nothing"


def goods_in_words(goods: Sequence[int]) -> str:
    """Return goods in words, by kind; kinds with no goods are left out."""
    said = [f"{short(count)} {good.name.lower()}" for good, count in zip(Good, goods, strict=True) if count]
    return ", ".join(said) or "none"


def goods_in_letters(goods: Sequence[int]) -> str:
    """Return goods by kind in brief, as in `S2 C0 W1`."""
    return " ".join(f"{good.name[0]}{short(count)}" for good, count in zip(Good, goods, strict=True))


# --- the open decision, and the picture for screen readers -------------------------------------------


def described(board: ValparaisoBoard, side: Side, seen: ValparaisoObservation, news: Strip | None) -> str:
    """Describe the picture in words, for screen readers."""
    said = [] if news is None else strip_in_words(news)
    said += [f"Round {seen.round}", who(seen), DOING[seen.phase], *notes(board, side, seen)]
    for seat, has in enumerate(seen.seats):
        there = [
            f"{count} in {place_name(side, where)}"
            for where, count in zip(Location, has.merchants, strict=True)
            if count
        ]
        said.append(
            f"{owner_of(seen, seat).name.capitalize()}: {has.vp} VP on the track, {has.final_vp} were it to end now, {has.money} pesos, "
            f"warehouse {goods_in_words(has.warehouse)}, hold {goods_in_words(has.hold)}, {has.merchants_reserve} merchants in reserve, "
            f"{has.houses_left} houses left, ship in {printable(board.sector_names[has.ship])}, merchants: {', '.join(there) or 'none'}, "
            f"achievements: {' '.join(card.name for card in has.achievements) or 'none'}"
        )
    for village, market in zip(side.markets, seen.markets, strict=True):
        said += [f"Market of {place_name(side, village)}: {in_words(board.tiles[kind])}" for kind in market.tiles[:1]]
    said += [f"House of seat {built.seat} in {place_name(side, built.location)}" for built in seen.houses]
    return ". ".join(said) + "."


def place_name(side: Side, location: Location) -> str:
    """Return the name of a location."""
    return printable(side.names[location])


def to_act(seen: ValparaisoObservation) -> list[Seat]:
    """Return the seats whose decisions are open."""
    if seen.phase is Phase.PLAN:
        return [seat for seat, has in enumerate(seen.seats) if not has.committed]
    return [] if seen.seat is None else [seen.seat]


def who(seen: ValparaisoObservation) -> str:
    """Name the seats to act, or the winner."""
    if seen.phase is Phase.OVER:
        return f"Seat {[has.rank for has in seen.seats].index(1)} wins"
    seats = to_act(seen)
    return f"{seats_in_words(seats)} {'is' if len(seats) == 1 else 'are'} to act"


def notes(board: ValparaisoBoard, side: Side, seen: ValparaisoObservation) -> list[str]:
    """Return the action in progress and other facts about the current situation."""
    notes = [] if seen.effect is None else [f"Action: {name_of(board, seen.effect, brief=False)}"]
    if seen.phase is Phase.PLAN:
        done = [seat for seat, has in enumerate(seen.seats) if has.committed]
        notes.append(f"{seats_in_words(done)}: planning is finished" if done else "Nobody has finished planning yet")
    if seen.first_finisher is not None:
        notes.append(f"Seat {seen.first_finisher} has finished first, and gets a good")
    if seen.plan is not None:
        left = f"warehouse: {goods_in_words(seen.plan.warehouse)}; hold: {goods_in_words(seen.plan.hold)}"
        notes.append(f"Your plan leaves {seen.plan.money} pesos; {left}")
    if seen.path:
        way = " → ".join(location.name for location in seen.path)
        notes.append(f"Merchant in motion: {way}; counted steps: {seen.steps} of {len(board.move_costs)}")
    if any(seen.unmoved):
        still = zip(Location, seen.unmoved, strict=True)
        notes.append(
            "May still move: " + ", ".join(f"{count} in {place_name(side, where)}" for where, count in still if count)
        )
    if seen.village is not None:
        bottom = seen.markets[seen.village - Location.M1].tiles[:1]
        notes += [f"{place_name(side, seen.village)}: {in_words(board.tiles[kind])}" for kind in bottom]
    if seen.phase is Phase.EXCHANGE:
        notes.append(f"Uses of the tile left: {seen.left}")
    if seen.phase is Phase.BUY:
        notes.append(f"Goods that can still be bought: {seen.left}")
    if seen.villages:
        notes.append("Still to be resolved: " + ", ".join(place_name(side, village) for village in seen.villages))
    if seen.phase is Phase.USE:
        notes.append("The card in slot #1 and the mayor's cost nothing more")
    if seen.phase is not Phase.OVER and _is_last(board, seen):
        notes.append("This is the last round")
    return notes


def _is_last(board: ValparaisoBoard, seen: ValparaisoObservation) -> bool:
    """Return whether the match would end with this round as things stand (V7.1)."""
    # Like `scoring.match_ends`, but computed from an observation.
    on_track = max(has.vp for has in seen.seats)
    return on_track >= board.end_vp or any(slot.card is None for slot in seen.slots) or seen.round >= seen.last_round


def order_of(seen: ValparaisoObservation) -> list[Seat]:
    """Return the seats in this round's order."""
    seats = len(seen.seats)
    return [(seen.start_seat + step) % seats for step in range(seats)]


# --- what has just happened -------------------------------------------------------------------------


def tell(board: ValparaisoBoard, side: Side, seen: ValparaisoObservation, scene: Scene) -> list[str]:
    """Describe the last action in words."""
    return sentences(happened(board, side, seen, scene))


def happened(board: ValparaisoBoard, side: Side, seen: ValparaisoObservation, scene: Scene) -> Strip:
    """Return the contents of the strip that shows the last action."""
    before = scene.before
    if scene.seat is None or not isinstance(before, ValparaisoObservation):
        return Strip(scene.step, scene.steps, scene.bots, None, "The match begins", ())
    gained = gains(breakdown(board, before), breakdown(board, seen))
    action = act.Commit() if scene.action is None else scene.action  # the others learn of no other secret action
    what = _done(board, side, before, seen, scene.seat, action)
    if seen.round > before.round:
        what += f"; round {seen.round} begins"
    elif before.phase is Phase.PLAN and seen.phase is not Phase.PLAN:
        what += "; all plans are revealed"
    return Strip(scene.step, scene.steps, scene.bots, scene.seat, what, gained)


def _done(
    board: ValparaisoBoard,
    side: Side,
    before: ValparaisoObservation,
    seen: ValparaisoObservation,
    seat: Seat,
    action: Action,
) -> str:
    """Describe an action, as in `builds a house in Quintero`."""
    had, has = before.seats[seat], seen.seats[seat]
    places: Mapping[Location, str] = {location: printable(side.names[location]) for location in side.locations}
    match action:
        case act.Goods(first, second, third):
            return f"begins with {_goods(first, second, third)}"
        case act.PlaceMerchant(village):
            return f"places a merchant in {places[village]}"
        case act.Place(card):
            return f"plans {card.name}, {name_of(board, board.cards[card].main, brief=False)}"
        case act.Mayor(card):
            return f"plans {card.name} for the mayor, {name_of(board, board.cards[card].main, brief=False)}"
        case act.Commit() | act.Close():
            return "finishes its plan"
        case act.Bonus(good):
            return f"takes {_goods(good)} for having finished first"
        case act.UseMayor(mode):
            return _used(board, "the mayor's card", had.mayor, has.colour, mode)
        case act.Use(slot, mode):
            used = had.plan[slot - 1] if 0 < slot <= len(had.plan) else None
            return _used(board, "a card", used, has.colour, mode)
        case act.Transfer(silver, copper, wheat):
            return f"loads the ship: {goods_in_words((silver, copper, wheat))} in the hold"
        case act.SellFor(good):
            return f"sells {_goods(good)} for {has.money - had.money} pesos"
        case act.Start(start, end) | act.River(start, end):
            return f"moves a merchant from {places[start]} to {places[end]}"
        case act.Step(end):
            return f"moves the merchant on to {places[end]}"
        case act.Stop():
            return "stops there"
        case act.Build(location, _):
            return f"builds a house in {places[location]}"
        case act.BuildForGood(location, _, good):
            return f"builds a house in {places[location]} for {_goods(good)}"
        case act.Hire():
            return "hires a merchant"
        case act.Trade(village, times):
            tile = before.markets[village - Location.M1].tiles[0]
            often = f", {times} times" if times > 1 else ""
            return f"trades in {places[village]}: {in_words(board.tiles[tile]).partition(', up to')[0]}{often}"
        case act.Skip(village):
            return f"does not trade in {places[village]}"
        case act.Take(first, second):
            return f"takes {_goods(first, second)}"
        case act.Give(good):
            return f"gives {_goods(good)}"
        case act.GiveTwo(first, second):
            return f"gives {_goods(first, second)}"
        case act.Pay():
            return f"pays {had.money - has.money} pesos"
        case act.Buy(good):
            return f"buys {_goods(good)}"
        case act.Sail(sector):
            return f"sails to {printable(board.sector_names[sector])}"
        case act.Acquire(slot, pay_to):
            taken = before.slots[slot].card
            to = "the supply" if pay_to == PayTo.SUPPLY else printable(board.sector_names[Sector(pay_to)])
            paid = "" if pay_to == PayTo.NONE else f", compensation to {to}"
            return f"acquires {'a card' if taken is None else taken.name}{paid}"
        case act.Scrap(card):
            return f"scraps {card.name}"
        case act.Pass():
            return "scraps no card"
        case act.Recall(location):
            return f"calls a merchant back from {places[location]}"
        case act.Done():
            return "ends the action" if before.phase is not Phase.RETURN else "leaves its merchants where they are"
        case act.Sell(store, good):
            return f"sells {_goods(good)} from the {Store(store).name.lower()} for {has.money - had.money} pesos"
    return "acts"


def _used(board: ValparaisoBoard, what: str, card: Card | None, colour: Colour, mode: Mode) -> str:
    if card is None:
        return f"uses {what}"
    kind = board.cards[card]
    effect = kind.main if mode == Mode.MAIN else kind.alternatives[colour] if mode == Mode.ALT else None
    how = "without effect" if effect is None else name_of(board, effect, brief=False)
    return f"uses {what}, {card.name}: {how}"


def _goods(*goods: Good) -> str:
    return goods_in_words([goods.count(good) for good in Good])
