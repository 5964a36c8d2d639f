"""The rules of play: set-up, legal actions, and the effect of each action (RULES.md, sections 3 to 5).

Each phase has a function that lists its actions, and each kind of action has a function that plays it. So the lists and
the checks in the playing functions state the same rules twice: the lists offer a choice, and the checks name the rule
that was broken.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from referee.game import Action, Chance, IllegalAction, Seat
from referee.games.cargo_noir import actions as act
from referee.games.cargo_noir.names import Card, Destination, Kind, PendingStake, Phase, Port, Purpose
from referee.games.cargo_noir.table import Table
from referee.named import named

WILD = Kind.WILD
P1, P2, P2_DIFF, P2_DISCARD, P3, STAKE, OVER = Phase

# --- set-up (section 3) -----------------------------------------------------------------------------


def set_up(table: Table, chance: Chance) -> None:
    """Lay out the pieces on an empty table."""
    board, seats = table.board, table.setup.seats
    table.bag = [board.tokens_per_kind] * 9 + [seats]  # S2
    draw = chance.stream("setup")
    for _ in range(board.black_market_spaces):  # S3
        _move_token(table.bag, table.market, draw.pick(table.bag))
    for port in table.open_ports:
        for _ in range(board.spaces[port]):
            _move_token(table.bag, table.port_goods[port], draw.pick(table.bag))
    table.safe = [board.start_coins] * seats  # S4
    table.bank = board.coins_total - sum(table.safe)
    first = table.setup.options["first_player"]
    table.first_seat = first if isinstance(first, int) else chance.stream("first_player").below(seats)  # S6
    table.seat = table.first_seat
    table.turn = 1  # S7, C1.1
    _begin_turn(table)


def _move_token(source: list[int], target: list[int], kind: int) -> None:
    source[kind] -= 1
    target[kind] += 1


# --- the course of a turn (C1) ------------------------------------------------------------------------


def _begin_turn(table: Table) -> None:
    seat = table.seat
    table.ships_home = table.fleet(seat) - table.on_board(seat)
    if table.turn == 1:  # C1.3
        _begin_phase_3(table)
        return
    table.todo_casino = table.casino[seat]
    table.todo_market = table.black_market[seat]
    table.todo_ports = frozenset(port for port in table.open_ports if table.stacks[port][seat])
    _go_on_with_phase_1(table)


def _go_on_with_phase_1(table: Table) -> None:
    if table.todo_casino or table.todo_market or table.todo_ports:
        table.phase = P1
    else:  # C2.7
        _go_on_with_phase_2(table)


def _go_on_with_phase_2(table: Table) -> None:
    if any(table.goods[table.seat]) or any(_can_buy(table, card) for card in Card):
        table.phase = P2
    else:  # C4.11
        _end_phase_2(table)


def _end_phase_2(table: Table) -> None:
    table.credit = 0  # C4.10
    _go_on_discarding(table)


def _go_on_discarding(table: Table) -> None:
    if sum(table.goods[table.seat]) > table.storage(table.seat):  # C4.9
        table.phase = P2_DISCARD
    else:
        _begin_phase_3(table)


def _begin_phase_3(table: Table) -> None:
    seats = table.setup.seats
    is_last_seat = (table.seat + 1) % seats == table.first_seat
    if table.is_final_turn() and (is_last_seat or table.setup.options["final_phase3"] == "skip"):  # C1.5
        _end_turn(table)
    else:
        _go_on_with_phase_3(table)


def _go_on_with_phase_3(table: Table) -> None:
    if table.ships_home:
        table.phase = P3
    else:  # C6.1
        _end_turn(table)


def _end_turn(table: Table) -> None:
    table.banned_ports = frozenset()
    table.syndicate_used = 0
    next_seat = (table.seat + 1) % table.setup.seats
    if next_seat == table.first_seat:
        if table.is_final_turn():  # C1.4, C8.1
            table.phase = OVER
            return
        table.turn += 1  # C1.1
    table.seat = next_seat
    _begin_turn(table)


# --- the bag and the bank (C5, C7) ----------------------------------------------------------------------


def _draw_token(table: Table, target: list[int], chance: Chance) -> None:
    if not any(table.bag):  # C5.1
        table.bag, table.discard = table.discard, table.bag
        if not any(table.bag):  # C5.2
            return
    _move_token(table.bag, target, chance.stream("bag").pick(table.bag))


def _pay_out(table: Table, coins: int) -> None:
    if coins > table.bank:  # C7.2
        if table.setup.options["bank_limited"]:
            coins = table.bank
        else:
            table.coins_total += coins - table.bank
            table.bank = coins
    table.bank -= coins
    table.safe[table.seat] += coins


# --- legal actions (section 5) --------------------------------------------------------------------------


def legal_actions(table: Table) -> list[Action]:
    """Return all legal actions of the current seat, in the order of the table in RULES.md, section 5."""
    return _LEGAL[table.phase](table)


def _legal_in_phase_1(table: Table) -> list[Action]:
    legal: list[Action] = []
    seat = table.seat
    if table.todo_casino:
        legal.append(act.CASINO)
    if table.todo_market:
        legal.append(act.BM_DRAW)
        kinds = [kind for kind, count in enumerate(table.market) if count]
        for give, count in enumerate(table.goods[seat]):
            if count:
                swaps = act.BM_SWAPS[give]
                legal += [swaps[take] for take in kinds if take != give]
    if table.todo_ports:
        # The list contains all collects, then all raises, and so on, each by port (section 5).
        collects: list[Action] = []
        raises: list[Action] = []
        withdraws: list[Action] = []
        waits: list[Action] = []
        for port in table.open_ports:
            if port in table.todo_ports:
                row = table.stacks[port]
                own, highest = row[seat], max(row)
                if highest > own:  # C3.3
                    if own + table.safe[seat] > highest:  # C3.4
                        raises.append(act.RAISES[port])
                    withdraws.append(act.WITHDRAWS[port])
                elif sum(row) == own:  # C3.2
                    collects.append(act.COLLECTS[port])
                else:  # C3.7
                    waits.append(act.WAITS[port])
        legal += collects + raises + withdraws + waits
    return legal


def _legal_stakes(table: Table) -> list[Action]:
    pending = table.pending_stake
    assert pending is not None  # noqa: S101 the phase STAKE has one
    return list(act.stakes(pending.min, pending.max))


def _legal_in_phase_2(table: Table) -> list[Action]:
    legal: list[Action] = []
    goods = table.goods[table.seat]
    largest = table.board.max_set
    wilds = goods[WILD]
    held = []
    for kind in range(9):
        count = goods[kind]
        if count:
            held.append(kind)
            sells = act.SELLS[kind]
            if wilds:
                for n in range(1, min(count, largest) + 1):
                    legal += sells[n][: min(wilds, largest - n) + 1]
            else:
                legal += [row[0] for row in sells[1 : min(count, largest) + 1]]
    if wilds:
        legal += [row[0] for row in act.SELLS[WILD][1 : min(wilds, largest) + 1]]
    # A set begins with its lowest kind and needs a second one, so the highest kind cannot begin one (C4.2, C4.3).
    legal += [act.DIFF_STARTS[kind] for kind in held[:-1]]
    legal += [act.BUYS[card] for card in Card if _can_buy(table, card)]
    legal.append(act.END_SMUGGLING)
    return legal


def _legal_in_different_set(table: Table) -> list[Action]:
    goods = table.goods[table.seat]
    chosen = table.diff_kinds
    legal: list[Action] = [act.DIFF_ADDS[kind] for kind in range(chosen[-1] + 1, 9) if goods[kind]]
    if len(chosen) >= 2:
        legal += act.DIFF_CLOSES[: min(goods[WILD], table.board.max_set - len(chosen)) + 1]
    return legal


def _legal_discards(table: Table) -> list[Action]:
    return [act.DISCARDS[kind] for kind, count in enumerate(table.goods[table.seat]) if count]


def _legal_in_phase_3(table: Table) -> list[Action]:
    legal: list[Action] = [act.SENDS[Destination.CASINO], act.SENDS[Destination.BLACK_MARKET]]
    safe = table.safe[table.seat]
    for port in table.open_ports:
        row = table.stacks[port]
        if not row[table.seat] and port not in table.banned_ports and safe >= _lowest_stake(table, row):
            legal.append(act.SENDS[port + 2])  # destinations begin with the two places of Macao
    return legal


def _no_actions(table: Table) -> list[Action]:
    return []


def _lowest_stake(table: Table, row: list[int]) -> int:
    return max(table.board.min_stake, max(row) + 1)  # C6.3


def _can_buy(table: Table, card: int) -> bool:
    credit = table.credit
    if table.is_final_turn():  # C4.8
        credit += table.safe[table.seat]
    return (
        table.board.cost[card] <= credit
        and table.supply[card] > 0
        and table.cards[table.seat][card] < table.board.cap[card]  # C4.6
    )


_LEGAL: dict[Phase, Callable[[Table], list[Action]]] = {
    P1: _legal_in_phase_1,
    P2: _legal_in_phase_2,
    P2_DIFF: _legal_in_different_set,
    P2_DISCARD: _legal_discards,
    P3: _legal_in_phase_3,
    STAKE: _legal_stakes,
    OVER: _no_actions,
}


# --- playing an action --------------------------------------------------------------------------------


def apply(table: Table, seat: Seat, action: Action, chance: Chance) -> None:
    """Play an action of a seat and its consequences.

    Raises:
        IllegalAction: if the action is not legal now; the table is then unchanged.
    """
    play = HANDLERS.get(type(action))
    if play is None:
        raise IllegalAction(f"{action!r} is not an action of cargo_noir")
    if table.phase is OVER:
        raise IllegalAction("the match is over", "C8.1")
    if seat != table.seat:
        raise IllegalAction(f"it is the turn of seat {table.seat}, not of seat {seat}", "C1.2")
    play(table, action, chance)


def _check_phase(table: Table, phase: Phase, rule: str) -> None:
    if table.phase is not phase:
        raise IllegalAction(f"this is not possible now, in phase {table.phase.name}", rule)


def _play_casino(table: Table, action: act.Casino, chance: Chance) -> None:
    _check_phase(table, P1, "C2.4")
    if not table.todo_casino:
        raise IllegalAction("there is no unresolved ship at the Casino", "C2.4")
    table.todo_casino -= 1
    table.casino[table.seat] -= 1
    table.ships_home += 1  # C2.2
    _pay_out(table, table.board.casino_income)
    _go_on_with_phase_1(table)


def _check_market_ship(table: Table) -> None:
    _check_phase(table, P1, "C2.5")
    if not table.todo_market:
        raise IllegalAction("there is no unresolved ship at the Black Market", "C2.5")


def _resolve_market_ship(table: Table) -> None:
    table.todo_market -= 1
    table.black_market[table.seat] -= 1
    table.ships_home += 1  # C2.2
    _go_on_with_phase_1(table)


def _play_bm_draw(table: Table, action: act.BmDraw, chance: Chance) -> None:
    _check_market_ship(table)
    _draw_token(table, table.goods[table.seat], chance)
    _resolve_market_ship(table)


def _play_bm_swap(table: Table, action: act.BmSwap, chance: Chance) -> None:
    _check_market_ship(table)
    goods = table.goods[table.seat]
    give, take = named(Kind, action.give), named(Kind, action.take)
    if give is take:
        raise IllegalAction("a good cannot be swapped for one of the same kind", "C2.5")
    if not goods[give]:
        raise IllegalAction(f"there is no {give.name.lower()} to give", "C2.5")
    if not table.market[take]:
        raise IllegalAction(f"there is no {take.name.lower()} on the Black Market", "C2.5")
    _move_token(goods, table.market, give)
    _move_token(table.market, goods, take)
    _resolve_market_ship(table)


def _check_port_ship(table: Table, port: int) -> tuple[int, int, bool]:
    """Return the seat's stack in a port to be resolved, the highest stack, and whether the seat's is the only one."""
    _check_phase(table, P1, "C2.1")
    if port not in table.todo_ports:
        raise IllegalAction(f"there is no unresolved ship in {named(Port, port).name.lower()}", "C2.1")
    row = table.stacks[port]
    own = row[table.seat]
    return own, max(row), sum(row) == own


def _play_collect(table: Table, action: act.Collect, chance: Chance) -> None:
    port = action.port
    own, _, alone = _check_port_ship(table, port)
    if not alone:
        raise IllegalAction("the stack is not the only one in the port", "C3.2")
    table.stacks[port][table.seat] = 0
    table.bank += own
    goods, in_port = table.goods[table.seat], table.port_goods[port]
    for kind in range(10):
        goods[kind] += in_port[kind]
        in_port[kind] = 0
    for _ in range(table.board.spaces[port]):  # C3.2, C5.1
        _draw_token(table, in_port, chance)
    table.todo_ports -= {port}
    table.ships_home += 1
    _go_on_with_phase_1(table)


def _play_raise(table: Table, action: act.Raise, chance: Chance) -> None:
    port = action.port
    own, highest, _ = _check_port_ship(table, port)
    if own == highest:
        raise IllegalAction("nobody has outbid this ship", "C3.3")
    most = own + table.safe[table.seat]
    if most <= highest:
        raise IllegalAction(f"a raise needs {highest + 1} coins, there are {most}", "C3.4")
    table.pending_stake = PendingStake(Purpose.RAISE, Port(port), highest + 1, most)
    table.phase = STAKE


def _play_withdraw(table: Table, action: act.Withdraw, chance: Chance) -> None:
    port, seat = action.port, table.seat
    own, highest, _ = _check_port_ship(table, port)
    if own == highest:
        raise IllegalAction("nobody has outbid this ship", "C3.3")
    table.stacks[port][seat] = 0
    table.safe[seat] += own
    if table.syndicate_used < table.cards[seat][Card.SYNDICATE]:  # C3.8
        table.syndicate_used += 1
        _pay_out(table, table.board.syndicate_income)
    table.banned_ports |= {port}  # C3.5
    table.todo_ports -= {port}
    table.ships_home += 1
    _go_on_with_phase_1(table)


def _play_wait(table: Table, action: act.Wait, chance: Chance) -> None:
    own, highest, alone = _check_port_ship(table, action.port)
    if own < highest or alone:
        raise IllegalAction("only a ship with the highest stack that is not alone waits", "C3.7")
    table.todo_ports -= {action.port}
    _go_on_with_phase_1(table)


def _play_stake(table: Table, action: act.Stake, chance: Chance) -> None:
    _check_phase(table, STAKE, "C6.3")
    pending = table.pending_stake
    assert pending is not None  # noqa: S101 the phase STAKE has one
    if not pending.min <= action.coins <= pending.max:
        rule = "C3.4" if pending.purpose is Purpose.RAISE else "C6.3"
        raise IllegalAction(f"the stack must have {pending.min} to {pending.max} coins", rule)
    seat, port = table.seat, pending.port
    # Only the difference is paid, because a raise keeps the coins that are already there.
    table.safe[seat] -= action.coins - table.stacks[port][seat]
    table.stacks[port][seat] = action.coins
    table.pending_stake = None
    if pending.purpose is Purpose.RAISE:
        table.todo_ports -= {port}
        _go_on_with_phase_1(table)
    else:
        table.ships_home -= 1
        _go_on_with_phase_3(table)


def _hand_in(table: Table, kind: int, n: int) -> None:
    table.goods[table.seat][kind] -= n
    table.discard[kind] += n  # C4.4


def _play_sell_same(table: Table, action: act.SellSame, chance: Chance) -> None:
    _check_phase(table, P2, "C4.1")
    goods = table.goods[table.seat]
    kind, n, wilds = named(Kind, action.kind), action.n, action.wilds
    if n < 1 or wilds < 0:
        raise IllegalAction("a set of one kind has at least one token of it, and no negative number of wilds", "C4.2")
    if kind == WILD and wilds:
        raise IllegalAction("in a set of wilds all of them are counted by n", "C4.2")
    if n + wilds > table.board.max_set:
        raise IllegalAction(f"a set has at most {table.board.max_set} tokens", "C4.2")
    if n > goods[kind] or wilds > goods[WILD]:
        raise IllegalAction("there are not that many goods", "C4.2")
    _hand_in(table, kind, n)
    _hand_in(table, WILD, wilds)
    table.credit += table.board.same[n + wilds]  # C4.3
    _go_on_with_phase_2(table)


def _play_diff_start(table: Table, action: act.DiffStart, chance: Chance) -> None:
    _check_phase(table, P2, "C4.1")
    goods, kind = table.goods[table.seat], named(Kind, action.kind)
    if kind == WILD or not goods[kind]:
        raise IllegalAction("a set of different kinds begins with a kind that is held, not with a wild", "C4.2")
    if not any(goods[kind + 1 : 9]):
        raise IllegalAction("there is no higher kind to go on with", "C4.3")
    table.diff_kinds = (kind,)
    table.phase = P2_DIFF


def _play_diff_add(table: Table, action: act.DiffAdd, chance: Chance) -> None:
    _check_phase(table, P2_DIFF, "C4.2")
    kind = named(Kind, action.kind)
    if kind == WILD or not table.goods[table.seat][kind]:
        raise IllegalAction("the next kind must be held, and not be a wild", "C4.2")
    if kind <= table.diff_kinds[-1]:
        raise IllegalAction("the kinds of a set are added in ascending order", "C4.2")
    table.diff_kinds += (kind,)


def _play_diff_close(table: Table, action: act.DiffClose, chance: Chance) -> None:
    _check_phase(table, P2_DIFF, "C4.2")
    chosen, wilds = table.diff_kinds, action.wilds
    if len(chosen) < 2:
        raise IllegalAction("a set of different kinds needs at least two", "C4.3")
    if not 0 <= wilds <= table.goods[table.seat][WILD]:
        raise IllegalAction(f"there are {table.goods[table.seat][WILD]} wilds, not {wilds}", "C4.2")
    if len(chosen) + wilds > table.board.max_set:
        raise IllegalAction(f"a set has at most {table.board.max_set} tokens", "C4.2")
    for kind in chosen:
        _hand_in(table, kind, 1)
    _hand_in(table, WILD, wilds)
    table.credit += table.board.different[len(chosen) + wilds]  # C4.3
    table.diff_kinds = ()
    _go_on_with_phase_2(table)


def _play_buy(table: Table, action: act.Buy, chance: Chance) -> None:
    _check_phase(table, P2, "C4.5")
    card, seat = named(Card, action.card), table.seat
    cost = table.board.cost[card]
    name = card.name.lower()
    if not table.supply[card]:
        raise IllegalAction(f"there is no {name} left", "C4.6")
    if table.cards[seat][card] >= table.board.cap[card]:
        raise IllegalAction(f"nobody may own more than {table.board.cap[card]} of {name}", "C4.6")
    if not _can_buy(table, card):
        coins = f" and {table.safe[seat]} coins" if table.is_final_turn() else ""
        rule = "C4.8" if table.is_final_turn() else "C4.5"
        raise IllegalAction(f"{name} costs {cost}; there is credit of {table.credit}{coins}", rule)
    # Credit is used first (C4.8, R14); the rest of it is lost at the end of the phase (C4.5).
    shortage = max(0, cost - table.credit)
    table.credit -= cost - shortage
    table.safe[seat] -= shortage  # C4.8
    table.bank += shortage
    table.supply[card] -= 1
    table.cards[seat][card] += 1
    if card is Card.CARGO_SHIP:  # C4.7
        table.ships_home += 1
    _go_on_with_phase_2(table)


def _play_end_smuggling(table: Table, action: act.EndSmuggling, chance: Chance) -> None:
    _check_phase(table, P2, "C4.10")
    _end_phase_2(table)


def _play_discard(table: Table, action: act.Discard, chance: Chance) -> None:
    _check_phase(table, P2_DISCARD, "C4.9")
    kind = named(Kind, action.kind)
    if not table.goods[table.seat][kind]:
        raise IllegalAction("there is no such good to discard", "C4.9")
    _hand_in(table, kind, 1)
    _go_on_discarding(table)


def _play_send(table: Table, action: act.Send, chance: Chance) -> None:
    _check_phase(table, P3, "C6.1")
    seat, dest = table.seat, named(Destination, action.dest)
    if dest is Destination.CASINO:  # C6.2
        table.casino[seat] += 1
    elif dest is Destination.BLACK_MARKET:
        table.black_market[seat] += 1
    else:
        port = dest - 2
        row = table.stacks[port]
        name = Port(port).name.lower()
        if port not in table.open_ports:
            raise IllegalAction(f"{name} is closed with {table.setup.seats} players", "S1")
        if row[seat]:
            raise IllegalAction(f"this seat already has a ship in {name}", "C3.1")
        if port in table.banned_ports:
            raise IllegalAction(f"this seat withdrew from {name} in this turn", "C3.5")
        low = _lowest_stake(table, row)
        if table.safe[seat] < low:
            raise IllegalAction(
                f"a ship to {name} needs a stack of at least {low}; the safe has {table.safe[seat]}", "C6.3"
            )
        table.pending_stake = PendingStake(Purpose.SEND, Port(port), low, table.safe[seat])
        # The ship leaves home when its stake is chosen.
        table.phase = STAKE
        return
    table.ships_home -= 1
    _go_on_with_phase_3(table)


HANDLERS: dict[type[Action], Callable[[Table, Any, Chance], None]] = {
    act.Casino: _play_casino,
    act.BmDraw: _play_bm_draw,
    act.BmSwap: _play_bm_swap,
    act.Collect: _play_collect,
    act.Raise: _play_raise,
    act.Withdraw: _play_withdraw,
    act.Wait: _play_wait,
    act.Stake: _play_stake,
    act.SellSame: _play_sell_same,
    act.DiffStart: _play_diff_start,
    act.DiffAdd: _play_diff_add,
    act.DiffClose: _play_diff_close,
    act.Buy: _play_buy,
    act.EndSmuggling: _play_end_smuggling,
    act.Discard: _play_discard,
    act.Send: _play_send,
}
"""The function that plays each type of action, in the order of the table in RULES.md, section 5."""


# --- defaults (section 5, clock defaults) -----------------------------------------------------------------


def default_action(table: Table) -> Action:
    """Return the action that is played for a seat that is out of the match or out of time (RULES.md, section 5)."""
    legal = legal_actions(table)
    goods = table.goods[table.seat]
    if table.phase is P1:
        for wanted in (act.Casino, act.Collect, act.BmDraw, act.Withdraw, act.Wait):
            for action in legal:
                if isinstance(action, wanted):
                    return action
    if table.phase is P2:
        return act.END_SMUGGLING
    if table.phase is P2_DIFF and len(table.diff_kinds) >= 2:
        return act.DIFF_CLOSES[0]
    if table.phase is P2_DISCARD:
        held = [kind for kind in range(9) if goods[kind]] or [WILD]
        return act.DISCARDS[min(held, key=lambda kind: goods[kind])]
    return legal[0]  # P2_DIFF: the lowest kind; P3: the Casino; STAKE: the minimum
