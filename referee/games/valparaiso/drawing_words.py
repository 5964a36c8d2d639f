"""What the drawing of Valparaíso says in words: actions, phases, seats, goods and tiles."""

from __future__ import annotations

from collections.abc import Sequence

from referee.game import Seat
from referee.games.valparaiso.board import MAX_AT_ONCE, Amount, TileType, ValparaisoBoard
from referee.games.valparaiso.names import Effect, Good, Phase
from referee.kit.svg import short

_EFFECTS: dict[Effect, tuple[str, str]] = {
    Effect.TRANSFER: ("transfer", "Load, unload"),
    Effect.SELL10: ("sell", "Sell a good for {gain}"),
    Effect.HIRE: ("hire", "Hire for {pay}"),
    Effect.MOVE: ("move", "Move merchants"),
    Effect.BUILD: ("build", "Build a house"),
    Effect.TRADE: ("trade", "Trade"),
    Effect.SAIL: ("sail", "Sail"),
    Effect.OVERSEAS: ("overseas", "Trade overseas"),
    Effect.MOVE_PLUS: ("move +", "Move, {free} steps free"),
    Effect.RIVER: ("river", "Travel by river"),
    Effect.TRADE_PAY5: ("{pay}: trade", "Pay {pay}, trade"),
    Effect.TWO_DIFF: ("2 different", "Take 2 different goods"),
    Effect.GOOD5_VP: ("{pay}, good → VP", "{pay}, 1 good → {gain}"),
    Effect.SELL15: ("sell for {gain}", "Sell a good for {gain}"),
    Effect.GAIN10: ("{gain}", "Take {gain}"),
    Effect.TWO_GOODS_VP: ("2 goods → VP", "Any 2 goods → {gain}"),
    Effect.BUILD_GOOD: ("build: good", "Build for 1 good"),
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
    """Return what people call an action, with the numbers of the board: `Sell a good for 10p`, or in brief `sell`."""
    pay, gain, most = board.effects[effect]
    return _EFFECTS[effect][0 if brief else 1].format(
        pay=_in_letters(pay), gain=_in_letters(gain), gained=_said(gain), most=most, free=board.move_plus_costs.count(0)
    )


def _in_letters(amount: Amount) -> str:
    """Return an amount where there is little room: `10p, 2S, W, 1 VP`."""
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
"""What a seat does, or all, whose decision is open."""


def seats_in_words(seats: Sequence[Seat]) -> str:
    """Name seats at the beginning of a sentence."""
    named = [str(seat) for seat in seats]
    return f"Seat {''.join(named)}" if len(named) < 2 else f"Seats {', '.join(named[:-1])} and {named[-1]}"


def ordinal(place: int) -> str:
    """Return a place among the seats."""
    return f"{place}{({1: 'st', 2: 'nd', 3: 'rd'}).get(place, 'th')}"


def in_words(kind: TileType) -> str:
    """Return what a tile does, for those who hear it."""
    gain = f"two goods, {kind.choose}" if kind.choose else _said(kind.gain)
    times = f", up to {kind.most} times" if kind.most < MAX_AT_ONCE else ""
    return (f"{_said(kind.pay)} for {gain}" if kind.pay != Amount() else f"take {gain}") + times


def _said(amount: Amount) -> str:
    said = [f"{amount.money} pesos"] * (amount.money > 0) + [goods_in_words(amount.goods)] * any(amount.goods)
    return " and ".join(said + [f"{amount.vp} VP"] * (amount.vp > 0)) or "nothing"


def goods_in_words(goods: Sequence[int]) -> str:
    """Name goods and their numbers, without those that are missing."""
    said = [f"{short(count)} {good.name.lower()}" for good, count in zip(Good, goods, strict=True) if count]
    return ", ".join(said) or "none"


def goods_in_letters(goods: Sequence[int]) -> str:
    """Return goods by kind, where there is little room."""
    return " ".join(f"{good.name[0]}{short(count)}" for good, count in zip(Good, goods, strict=True))
