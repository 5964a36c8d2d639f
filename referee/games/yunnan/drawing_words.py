"""The text of the drawing of Yunnan: phases, buildings, the open decision, and a description of the picture."""

from __future__ import annotations

from collections.abc import Sequence

from referee.game import Seat
from referee.games.yunnan.board import YunnanBoard
from referee.games.yunnan.breakdown import breakdown, criteria
from referee.games.yunnan.drawing_pieces import COLOUR_NAMES
from referee.games.yunnan.names import OUTER, Building, Colour, Phase, Province, Structure
from referee.games.yunnan.observation import ColourView, YunnanObservation
from referee.games.yunnan.routes import Reach, routes_of
from referee.games.yunnan.scoring import Earnings, earnings
from referee.kit.scene import what_decided
from referee.kit.svg import printable, short

PHASES = {
    Phase.AUCTION: "Auction: place a Merchant, or pass",
    Phase.YARD: "Construction Yard: choose a structure",
    Phase.TRAVEL: "Travel: move and build",
    Phase.DISPLACE: "Travel: displace a Merchant, or nobody",
    Phase.CONVERT: "Convert income into victory points",
    Phase.OVER: "The match is over",
}
"""The activity of the colour to act in each phase."""
BUILDINGS = {
    Building.SCHOOL: ("School of Merchants", "a Merchant more"),
    Building.CUSTOMS: ("Customs Office", "a border pass more"),
    Building.HORSE: ("Horse Market", "Horse to the next"),
    Building.DRAGON: ("House of the Dragon", "a dragon head more"),
    Building.YARD: ("Construction Yard", "Post, Bridge, Teahouse"),
}
"""The name and the effect of each building."""


def reach_of(board: YunnanBoard, has: ColourView) -> Reach:
    """Return a colour's connected provinces, and the gaps on the ways to the others."""
    bridges = sum(1 << site for site in has.bridges)
    there = zip(Province, has.merchants, has.posts, strict=True)
    present = sum(1 << province for province, merchants, posts in there if merchants or posts)
    return routes_of(board.bridge_sites).reach(bridges, present)


def expected(board: YunnanBoard, seen: YunnanObservation) -> list[Earnings]:
    """Return the earnings that each colour would have if incomes were computed now."""
    return [earnings(board, reach_of(board, has), has.merchants, has.posts) for has in seen.colours]


def colours_of(seen: YunnanObservation, seat: Seat) -> list[Colour]:
    """Return the colours that a seat plays."""
    return [colour for colour, has in zip(Colour, seen.colours, strict=False) if has.owner == seat]


def name_of(board: YunnanBoard, province: int) -> str:
    """Return the name of a province, without characters that could break a line."""
    return printable(board.province_names[province])


def named(names: Sequence[str]) -> str:
    """Join names with commas, or return `none` if there are none."""
    return ", ".join(names) or "none"


# --- the open decision ----------------------------------------------------------------------------------


def notes(board: YunnanBoard, seen: YunnanObservation) -> list[str]:
    """Return facts that help with the open decision."""
    if seen.acting_colour is None:
        return []
    has = seen.colours[seen.acting_colour]
    if seen.phase is Phase.AUCTION:
        source = (
            f"{_counted(has.reserve, 'Merchant')} in the reserve" if has.reserve else _only_from_provinces(board, has)
        )
        return [f"{short(has.money)} Yuan, {short(has.committed)} of them bid", source]
    if seen.phase is Phase.CONVERT:
        return [
            f"income {short(has.income)}: any part of it becomes points",
            _made_of(expected(board, seen)[seen.acting_colour]),
        ]
    if seen.phase is Phase.YARD:
        left = zip(Structure, has.struct_general, strict=True)
        return ["left: " + ", ".join(f"{count} {structure.name.capitalize()}" for structure, count in left)]
    earned, reach = expected(board, seen)[seen.acting_colour], reach_of(board, has)
    lines = [
        f"{_counted(seen.passes_left, 'border pass', 'border passes')} left; "
        f"{_counted(sum(seen.unmoved), 'Merchant')} may still journey",
        f"expected income {earned.income}: {_made_of(earned)}",
    ]
    if seen.pending_displace is not None:
        return [f"may displace somebody in {name_of(board, seen.pending_displace)}", *lines]
    cut_off = [
        name_of(board, province)
        for province in OUTER
        if has.merchants[province] and not reach.connected >> province & 1
    ]
    return lines + [f"cut off, and sent home when it is done: {named(cut_off)}"] * bool(cut_off)


def _counted(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"


def _only_from_provinces(board: YunnanBoard, has: ColourView) -> str:
    there = [name_of(board, province) for province in OUTER if has.merchants[province]]
    return f"no Merchant in the reserve, but in {' and '.join(there)}" if there else "no Merchant to place"


def _made_of(earned: Earnings) -> str:
    """Return the parts of an income, as in `Merchants 24, Posts 3, transport −6`."""
    said = [f"Merchants {earned.merchants}"]
    said += [f"Posts {earned.posts}"] * bool(earned.posts) + [f"transport −{earned.transport}"] * bool(earned.transport)
    return ", ".join(said)


# --- the picture ----------------------------------------------------------------------------------------


def described(board: YunnanBoard, seen: YunnanObservation) -> str:
    """Describe the picture in words, for screen readers."""
    said = [f"Turn {seen.turn}", PHASES[seen.phase], *_who(seen), *notes(board, seen)]
    for seat, (view, points) in enumerate(zip(seen.seats, breakdown(board, seen), strict=True)):
        ended = f"place {view.rank}" if seen.phase is Phase.OVER else f"{view.score} were it to end now"
        made_of = named([f"{part.source} {part.points}" for part in points if part.points])
        said.append(f"Seat {seat}: {view.vp} points on the track, {ended}, made of: {made_of}")
    if seen.phase is Phase.OVER:
        said.append(what_decided([view.rank for view in seen.seats], criteria(seen)))
    said += [_colour(board, seen, colour, has) for colour, has in zip(Colour, seen.colours, strict=False)]
    for province, there in zip(Province, seen.provinces, strict=True):
        worth = f"a Merchant earns {board.merchant_value[province]}, a Post {board.post_value[province]}"
        house = "no Teahouse" if there.teahouse is None else f"Teahouse of {COLOUR_NAMES[there.teahouse]}"
        said.append(f"{name_of(board, province)}: {worth}, {there.gifts} gifts, {house}")
    said += [f"{BUILDINGS[bid.building][0]}: {COLOUR_NAMES[bid.colour]} bids {bid.value}" for bid in seen.bids]
    for space, owner in (("left", seen.bank_left), ("right", seen.bank_right)):
        said += [f"Bank, {space}: {COLOUR_NAMES[owner]}"] if owner is not None else []
    said += ["Auction order: " + _in_order(seen.auction_order), "Travel order: " + _in_order(seen.travel_order)]
    said += [f"Passed: {_in_order(seen.passed)}"] * bool(seen.passed)
    if seen.phase is Phase.AUCTION:
        left, right = board.bank_payment(sum(bid.value for bid in seen.bids))
        said.append(f"The bank pays now: {left} left, {right} right")
    if seen.phase in (Phase.TRAVEL, Phase.DISPLACE):
        incomes = zip(Colour, expected(board, seen), strict=False)
        said += [f"Expected income of {COLOUR_NAMES[colour]}: {earned.income}" for colour, earned in incomes]
    return ". ".join([*said, inspector_in_words(board, seen), f"Bank: {bank_in_words(seen)}"]) + "."


def _who(seen: YunnanObservation) -> list[str]:
    if seen.acting_colour is None:
        return [f"Seat {seat} wins" for seat, view in enumerate(seen.seats) if view.rank == 1]
    return [f"Seat {seen.colours[seen.acting_colour].owner}, {COLOUR_NAMES[seen.acting_colour]}, to act"]


def _in_order(colours: Sequence[Colour]) -> str:
    return ", ".join(COLOUR_NAMES[colour] for colour in colours)


def _colour(board: YunnanBoard, seen: YunnanObservation, colour: Colour, has: ColourView) -> str:
    def where(counts: Sequence[int]) -> str:
        return named([f"{count} in {name_of(board, province)}" for province, count in enumerate(counts) if count])

    teahouses = [name_of(board, province) for province, view in enumerate(seen.provinces) if view.teahouse is colour]
    kinds = [structure.name.capitalize() for structure in Structure]
    in_reserve, in_supply = (
        named([f"{count} {kind}" for kind, count in zip(kinds, counts, strict=True) if count])
        for counts in (has.struct_reserve, has.struct_general)
    )
    return (
        f"{COLOUR_NAMES[colour].capitalize()}, seat {has.owner}: {has.money} Yuan, income {has.income}, border passes {has.passes}, "
        f"dragon heads {has.influence}, gifts {has.gifts_taken}, Merchants: {where(has.merchants)}, {has.reserve} in the reserve, "
        f"{has.general} in the supply, Posts: {where(has.posts)}, Bridges: {named([site.name.lower() for site in has.bridges])}, "
        f"Teahouses: {named(teahouses)}, to build: {in_reserve}, in the supply: {in_supply}, Horse in {name_of(board, has.horse)}"
    )


def inspector_in_words(board: YunnanBoard, seen: YunnanObservation) -> str:
    """Describe the place of the inspector, now or in the last turn, and the colours that it banned."""
    if seen.last_inspector is None:
        return "The inspector is in its corner"
    banned = "nobody" if seen.last_banned is None else COLOUR_NAMES[seen.last_banned]
    when = "has been" if seen.phase in (Phase.CONVERT, Phase.OVER) else "was in the last turn"
    return f"The inspector {when} in {name_of(board, seen.last_inspector)} and banned {banned}"


def bank_in_words(seen: YunnanObservation) -> str:
    """Describe the bank's last payment, and the total of all bids at that time."""
    if seen.phase is Phase.AUCTION and seen.turn == 1:
        return "The bank has not paid yet"
    left, right = seen.last_bank_pay
    when = "Last turn" if seen.phase is Phase.AUCTION else "This turn"
    return f"{when}: {seen.last_total} bid; paid {left} left, {right} right"
