"""The rules of play (RULES.md, sections 3 to 5): set-up, legal actions, and what an action does.

One function lists the actions of each phase, one plays each kind of action. The list and the checks of the playing
functions say the same in two forms: the list is for choosing, the checks name the rule that was broken.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from referee.game import Action, Chance, IllegalAction, Seat
from referee.games.cargo_noir import actions as act
from referee.games.cargo_noir.names import Card, Destination, Kind, Phase, Port, Purpose
from referee.games.cargo_noir.observation import PendingStake

if TYPE_CHECKING:
    from referee.games.cargo_noir.state import CargoNoirState

WILD = Kind.WILD
P1, P2, P2_DIFF, P2_DISCARD, P3, STAKE, OVER = Phase

# --- set-up (section 3) -----------------------------------------------------------------------------


def set_up(state: CargoNoirState, chance: Chance) -> None:
    """Lays out an empty table."""
    board, seats = state.board, state.setup.seats
    state.bag = [board.tokens_per_kind] * 9 + [seats]  # S2
    draw = chance.stream("setup")
    for _ in range(board.black_market_spaces):  # S3
        _move_token(state.bag, state.market, draw.pick(state.bag))
    for port in state.open_ports:
        for _ in range(board.spaces[port]):
            _move_token(state.bag, state.port_goods[port], draw.pick(state.bag))
    state.safe = [board.start_coins] * seats  # S4
    state.bank = board.coins_total - sum(state.safe)
    first = state.setup.options["first_player"]
    state.first_seat = first if isinstance(first, int) else chance.stream("first_player").below(seats)  # S6
    state.seat = state.first_seat
    state.turn = 1  # S7, C1.1
    _begin_turn(state)


def _move_token(source: list[int], target: list[int], kind: int) -> None:
    source[kind] -= 1
    target[kind] += 1


# --- the course of a turn (C1) ------------------------------------------------------------------------


def _begin_turn(state: CargoNoirState) -> None:
    seat = state.seat
    state.ships_home = state.fleet(seat) - state.on_board(seat)
    if state.turn == 1:  # C1.3
        _begin_phase_3(state)
        return
    state.todo_casino = state.casino[seat]
    state.todo_market = state.black_market[seat]
    state.todo_ports = frozenset(port for port in state.open_ports if state.stacks[port][seat])
    _go_on_with_phase_1(state)


def _go_on_with_phase_1(state: CargoNoirState) -> None:
    if state.todo_casino or state.todo_market or state.todo_ports:
        state.phase = P1
    else:  # C2.7
        _go_on_with_phase_2(state)


def _go_on_with_phase_2(state: CargoNoirState) -> None:
    if any(state.goods[state.seat]) or any(_can_buy(state, card) for card in Card):
        state.phase = P2
    else:  # C4.11
        _end_phase_2(state)


def _end_phase_2(state: CargoNoirState) -> None:
    state.credit = 0  # C4.10
    _go_on_discarding(state)


def _go_on_discarding(state: CargoNoirState) -> None:
    if sum(state.goods[state.seat]) > state.storage(state.seat):  # C4.9
        state.phase = P2_DISCARD
    else:
        _begin_phase_3(state)


def _begin_phase_3(state: CargoNoirState) -> None:
    seats = state.setup.seats
    is_last_seat = (state.seat + 1) % seats == state.first_seat
    if state.is_final_turn() and (is_last_seat or state.setup.options["final_phase3"] == "skip"):  # C1.5
        _end_turn(state)
    else:
        _go_on_with_phase_3(state)


def _go_on_with_phase_3(state: CargoNoirState) -> None:
    if state.ships_home:
        state.phase = P3
    else:  # C6.1
        _end_turn(state)


def _end_turn(state: CargoNoirState) -> None:
    state.banned_ports = frozenset()
    state.syndicate_used = 0
    next_seat = (state.seat + 1) % state.setup.seats
    if next_seat == state.first_seat:
        if state.is_final_turn():  # C1.4, C8.1
            state.phase = OVER
            return
        state.turn += 1  # C1.1
    state.seat = next_seat
    _begin_turn(state)


# --- the bag and the bank (C5, C7) ----------------------------------------------------------------------


def _draw_token(state: CargoNoirState, target: list[int], chance: Chance) -> None:
    if not any(state.bag):  # C5.1
        state.bag, state.discard = state.discard, state.bag
        if not any(state.bag):  # C5.2
            return
    _move_token(state.bag, target, chance.stream("bag").pick(state.bag))


def _pay_out(state: CargoNoirState, coins: int) -> None:
    if coins > state.bank:  # C7.2
        if state.setup.options["bank_limited"]:
            coins = state.bank
        else:
            state.coins_total += coins - state.bank
            state.bank = coins
    state.bank -= coins
    state.safe[state.seat] += coins


# --- legal actions (section 5) --------------------------------------------------------------------------


def legal_actions(state: CargoNoirState) -> list[Action]:
    """All legal actions of the seat whose turn it is, in the order of the table of section 5."""
    return _LEGAL[state.phase](state)


def _legal_in_phase_1(state: CargoNoirState) -> list[Action]:
    legal: list[Action] = []
    seat = state.seat
    if state.todo_casino:
        legal.append(act.CASINO)
    if state.todo_market:
        legal.append(act.BM_DRAW)
        shown = [kind for kind, count in enumerate(state.market) if count]
        for give, count in enumerate(state.goods[seat]):
            if count:
                swaps = act.BM_SWAPS[give]
                legal += [swaps[take] for take in shown if take != give]
    if state.todo_ports:
        collects: list[Action] = []
        raises: list[Action] = []
        withdraws: list[Action] = []
        waits: list[Action] = []
        for port in state.open_ports:
            if port in state.todo_ports:
                row = state.stacks[port]
                own, highest = row[seat], max(row)
                if highest > own:  # C3.3
                    if own + state.safe[seat] > highest:  # C3.4
                        raises.append(act.RAISES[port])
                    withdraws.append(act.WITHDRAWS[port])
                elif sum(row) == own:  # C3.2
                    collects.append(act.COLLECTS[port])
                else:  # C3.7
                    waits.append(act.WAITS[port])
        legal += collects + raises + withdraws + waits
    return legal


def _legal_stakes(state: CargoNoirState) -> list[Action]:
    pending = state.pending_stake
    assert pending is not None  # noqa: S101 the phase STAKE has one
    return list(act.stakes(pending.min, pending.max))


def _legal_in_phase_2(state: CargoNoirState) -> list[Action]:
    legal: list[Action] = []
    goods = state.goods[state.seat]
    largest = state.board.max_set
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
    legal += [act.DIFF_STARTS[kind] for kind in held[:-1]]
    legal += [act.BUYS[card] for card in Card if _can_buy(state, card)]
    legal.append(act.END_SMUGGLING)
    return legal


def _legal_in_different_set(state: CargoNoirState) -> list[Action]:
    goods = state.goods[state.seat]
    chosen = state.diff_kinds
    legal: list[Action] = [act.DIFF_ADDS[kind] for kind in range(chosen[-1] + 1, 9) if goods[kind]]
    if len(chosen) >= 2:
        legal += act.DIFF_CLOSES[: min(goods[WILD], state.board.max_set - len(chosen)) + 1]
    return legal


def _legal_discards(state: CargoNoirState) -> list[Action]:
    return [act.DISCARDS[kind] for kind, count in enumerate(state.goods[state.seat]) if count]


def _legal_in_phase_3(state: CargoNoirState) -> list[Action]:
    legal: list[Action] = [act.SENDS[Destination.CASINO], act.SENDS[Destination.BLACK_MARKET]]
    safe = state.safe[state.seat]
    for port in state.open_ports:
        row = state.stacks[port]
        if not row[state.seat] and port not in state.banned_ports and safe >= _lowest_stake(state, row):
            legal.append(act.SENDS[port + 2])
    return legal


def _no_actions(state: CargoNoirState) -> list[Action]:
    return []


def _lowest_stake(state: CargoNoirState, row: list[int]) -> int:
    return max(state.board.min_stake, max(row) + 1)  # C6.3


def _can_buy(state: CargoNoirState, card: int) -> bool:
    credit = state.credit
    if state.is_final_turn():  # C4.8
        credit += state.safe[state.seat]
    return (
        state.board.cost[card] <= credit
        and state.supply[card] > 0
        and state.cards[state.seat][card] < state.board.cap[card]  # C4.6
    )


_LEGAL: dict[Phase, Callable[[CargoNoirState], list[Action]]] = {
    P1: _legal_in_phase_1,
    P2: _legal_in_phase_2,
    P2_DIFF: _legal_in_different_set,
    P2_DISCARD: _legal_discards,
    P3: _legal_in_phase_3,
    STAKE: _legal_stakes,
    OVER: _no_actions,
}


# --- playing an action --------------------------------------------------------------------------------


def apply(state: CargoNoirState, seat: Seat, action: Action, chance: Chance) -> None:
    """Plays an action; see `referee.game.State.apply`."""
    play = _PLAY.get(type(action))
    if play is None:
        raise IllegalAction(f"{action!r} is not an action of cargo_noir")
    if state.phase is OVER:
        raise IllegalAction("the match is over", "C8.1")
    if seat != state.seat:
        raise IllegalAction(f"it is the turn of seat {state.seat}, not of seat {seat}", "C1.2")
    try:
        play(state, action, chance)
    except (ValueError, IndexError) as error:  # only actions made of plain numbers can do that; nothing has changed yet
        raise IllegalAction(f"{action!r} names something that there is not in cargo_noir") from error


def _check_phase(state: CargoNoirState, phase: Phase, rule: str) -> None:
    if state.phase is not phase:
        raise IllegalAction(f"this is not possible now, in phase {state.phase.name}", rule)


def _play_casino(state: CargoNoirState, action: act.Casino, chance: Chance) -> None:
    _check_phase(state, P1, "C2.4")
    if not state.todo_casino:
        raise IllegalAction("there is no unresolved ship at the Casino", "C2.4")
    state.todo_casino -= 1
    state.casino[state.seat] -= 1
    state.ships_home += 1  # C2.2
    _pay_out(state, state.board.casino_income)
    _go_on_with_phase_1(state)


def _check_market_ship(state: CargoNoirState) -> None:
    _check_phase(state, P1, "C2.5")
    if not state.todo_market:
        raise IllegalAction("there is no unresolved ship at the Black Market", "C2.5")


def _resolve_market_ship(state: CargoNoirState) -> None:
    state.todo_market -= 1
    state.black_market[state.seat] -= 1
    state.ships_home += 1  # C2.2
    _go_on_with_phase_1(state)


def _play_bm_draw(state: CargoNoirState, action: act.BmDraw, chance: Chance) -> None:
    _check_market_ship(state)
    _draw_token(state, state.goods[state.seat], chance)
    _resolve_market_ship(state)


def _play_bm_swap(state: CargoNoirState, action: act.BmSwap, chance: Chance) -> None:
    _check_market_ship(state)
    goods = state.goods[state.seat]
    give, take = Kind(action.give), Kind(action.take)
    if give is take:
        raise IllegalAction("a good cannot be swapped for one of the same kind", "C2.5")
    if not goods[give]:
        raise IllegalAction(f"there is no {give.name.lower()} to give", "C2.5")
    if not state.market[take]:
        raise IllegalAction(f"there is no {take.name.lower()} on the Black Market", "C2.5")
    _move_token(goods, state.market, give)
    _move_token(state.market, goods, take)
    _resolve_market_ship(state)


def _check_port_ship(state: CargoNoirState, port: int) -> tuple[int, int, bool]:
    """Own stack, highest stack, and whether the own one is alone, in a port that is to be resolved."""
    _check_phase(state, P1, "C2.1")
    if port not in state.todo_ports:
        raise IllegalAction(f"there is no unresolved ship in {Port(port).name.lower()}", "C2.1")
    row = state.stacks[port]
    own = row[state.seat]
    return own, max(row), sum(row) == own


def _play_collect(state: CargoNoirState, action: act.Collect, chance: Chance) -> None:
    port = action.port
    own, _, alone = _check_port_ship(state, port)
    if not alone:
        raise IllegalAction("the stack is not the only one in the port", "C3.2")
    state.stacks[port][state.seat] = 0
    state.bank += own
    goods, shown = state.goods[state.seat], state.port_goods[port]
    for kind in range(10):
        goods[kind] += shown[kind]
        shown[kind] = 0
    for _ in range(state.board.spaces[port]):  # C3.2, C5.1
        _draw_token(state, shown, chance)
    state.todo_ports -= {port}
    state.ships_home += 1
    _go_on_with_phase_1(state)


def _play_raise(state: CargoNoirState, action: act.Raise, chance: Chance) -> None:
    port = action.port
    own, highest, _ = _check_port_ship(state, port)
    if own == highest:
        raise IllegalAction("nobody has outbid this ship", "C3.3")
    most = own + state.safe[state.seat]
    if most <= highest:
        raise IllegalAction(f"a raise needs {highest + 1} coins, there are {most}", "C3.4")
    state.pending_stake = PendingStake(Purpose.RAISE, Port(port), highest + 1, most)
    state.phase = STAKE


def _play_withdraw(state: CargoNoirState, action: act.Withdraw, chance: Chance) -> None:
    port, seat = action.port, state.seat
    own, highest, _ = _check_port_ship(state, port)
    if own == highest:
        raise IllegalAction("nobody has outbid this ship", "C3.3")
    state.stacks[port][seat] = 0
    state.safe[seat] += own
    if state.syndicate_used < state.cards[seat][Card.SYNDICATE]:  # C3.8
        state.syndicate_used += 1
        _pay_out(state, state.board.syndicate_income)
    state.banned_ports |= {port}  # C3.5
    state.todo_ports -= {port}
    state.ships_home += 1
    _go_on_with_phase_1(state)


def _play_wait(state: CargoNoirState, action: act.Wait, chance: Chance) -> None:
    own, highest, alone = _check_port_ship(state, action.port)
    if own < highest or alone:
        raise IllegalAction("only a ship with the highest stack that is not alone waits", "C3.7")
    state.todo_ports -= {action.port}
    _go_on_with_phase_1(state)


def _play_stake(state: CargoNoirState, action: act.Stake, chance: Chance) -> None:
    _check_phase(state, STAKE, "C6.3")
    pending = state.pending_stake
    assert pending is not None  # noqa: S101 the phase STAKE has one
    if not pending.min <= action.coins <= pending.max:
        rule = "C3.4" if pending.purpose is Purpose.RAISE else "C6.3"
        raise IllegalAction(f"the stack must have {pending.min} to {pending.max} coins", rule)
    seat, port = state.seat, pending.port
    state.safe[seat] -= action.coins - state.stacks[port][seat]
    state.stacks[port][seat] = action.coins
    state.pending_stake = None
    if pending.purpose is Purpose.RAISE:
        state.todo_ports -= {port}
        _go_on_with_phase_1(state)
    else:
        state.ships_home -= 1
        _go_on_with_phase_3(state)


def _hand_in(state: CargoNoirState, kind: int, n: int) -> None:
    state.goods[state.seat][kind] -= n
    state.discard[kind] += n  # C4.4


def _play_sell_same(state: CargoNoirState, action: act.SellSame, chance: Chance) -> None:
    _check_phase(state, P2, "C4.1")
    goods = state.goods[state.seat]
    kind, n, wilds = action.kind, action.n, action.wilds
    if n < 1 or wilds < 0:
        raise IllegalAction("a set of one kind has at least one token of it, and no negative number of wilds", "C4.2")
    if kind == WILD and wilds:
        raise IllegalAction("in a set of wilds all of them are counted by n", "C4.2")
    if n + wilds > state.board.max_set:
        raise IllegalAction(f"a set has at most {state.board.max_set} tokens", "C4.2")
    if n > goods[kind] or wilds > goods[WILD]:
        raise IllegalAction("there are not that many goods", "C4.2")
    _hand_in(state, kind, n)
    _hand_in(state, WILD, wilds)
    state.credit += state.board.same[n + wilds]  # C4.3
    _go_on_with_phase_2(state)


def _play_diff_start(state: CargoNoirState, action: act.DiffStart, chance: Chance) -> None:
    _check_phase(state, P2, "C4.1")
    goods, kind = state.goods[state.seat], action.kind
    if kind == WILD or not goods[kind]:
        raise IllegalAction("a set of different kinds begins with a kind that is held, not with a wild", "C4.2")
    if not any(goods[kind + 1 : 9]):
        raise IllegalAction("there is no higher kind to go on with", "C4.3")
    state.diff_kinds = (kind,)
    state.phase = P2_DIFF


def _play_diff_add(state: CargoNoirState, action: act.DiffAdd, chance: Chance) -> None:
    _check_phase(state, P2_DIFF, "C4.2")
    kind = action.kind
    if kind == WILD or not state.goods[state.seat][kind]:
        raise IllegalAction("the next kind must be held, and not be a wild", "C4.2")
    if kind <= state.diff_kinds[-1]:
        raise IllegalAction("the kinds of a set are added in ascending order", "C4.2")
    state.diff_kinds += (kind,)


def _play_diff_close(state: CargoNoirState, action: act.DiffClose, chance: Chance) -> None:
    _check_phase(state, P2_DIFF, "C4.2")
    chosen, wilds = state.diff_kinds, action.wilds
    if len(chosen) < 2:
        raise IllegalAction("a set of different kinds needs at least two", "C4.3")
    if not 0 <= wilds <= state.goods[state.seat][WILD]:
        raise IllegalAction(f"there are {state.goods[state.seat][WILD]} wilds, not {wilds}", "C4.2")
    if len(chosen) + wilds > state.board.max_set:
        raise IllegalAction(f"a set has at most {state.board.max_set} tokens", "C4.2")
    for kind in chosen:
        _hand_in(state, kind, 1)
    _hand_in(state, WILD, wilds)
    state.credit += state.board.different[len(chosen) + wilds]  # C4.3
    state.diff_kinds = ()
    _go_on_with_phase_2(state)


def _play_buy(state: CargoNoirState, action: act.Buy, chance: Chance) -> None:
    _check_phase(state, P2, "C4.5")
    card, seat = Card(action.card), state.seat
    cost = state.board.cost[card]
    name = card.name.lower()
    if not state.supply[card]:
        raise IllegalAction(f"there is no {name} left", "C4.6")
    if state.cards[seat][card] >= state.board.cap[card]:
        raise IllegalAction(f"nobody may own more than {state.board.cap[card]} of {name}", "C4.6")
    if not _can_buy(state, card):
        coins = f" and {state.safe[seat]} coins" if state.is_final_turn() else ""
        rule = "C4.8" if state.is_final_turn() else "C4.5"
        raise IllegalAction(f"{name} costs {cost}; there is credit of {state.credit}{coins}", rule)
    shortage = max(0, cost - state.credit)
    state.credit -= cost - shortage
    state.safe[seat] -= shortage  # C4.8
    state.bank += shortage
    state.supply[card] -= 1
    state.cards[seat][card] += 1
    if card is Card.CARGO_SHIP:  # C4.7
        state.ships_home += 1
    _go_on_with_phase_2(state)


def _play_end_smuggling(state: CargoNoirState, action: act.EndSmuggling, chance: Chance) -> None:
    _check_phase(state, P2, "C4.10")
    _end_phase_2(state)


def _play_discard(state: CargoNoirState, action: act.Discard, chance: Chance) -> None:
    _check_phase(state, P2_DISCARD, "C4.9")
    if not state.goods[state.seat][action.kind]:
        raise IllegalAction("there is no such good to discard", "C4.9")
    _hand_in(state, action.kind, 1)
    _go_on_discarding(state)


def _play_send(state: CargoNoirState, action: act.Send, chance: Chance) -> None:
    _check_phase(state, P3, "C6.1")
    seat = state.seat
    if action.dest == Destination.CASINO:  # C6.2
        state.casino[seat] += 1
    elif action.dest == Destination.BLACK_MARKET:
        state.black_market[seat] += 1
    else:
        port = action.dest - 2
        row = state.stacks[port]
        name = Port(port).name.lower()
        if port not in state.open_ports:
            raise IllegalAction(f"{name} is closed with {state.setup.seats} players", "S1")
        if row[seat]:
            raise IllegalAction(f"there is already an own ship in {name}", "C3.1")
        if port in state.banned_ports:
            raise IllegalAction(f"this seat withdrew from {name} in this turn", "C3.5")
        low = _lowest_stake(state, row)
        if state.safe[seat] < low:
            raise IllegalAction(
                f"a ship to {name} needs a stack of at least {low}; the safe has {state.safe[seat]}", "C6.3"
            )
        state.pending_stake = PendingStake(Purpose.SEND, Port(port), low, state.safe[seat])
        state.phase = STAKE
        return
    state.ships_home -= 1
    _go_on_with_phase_3(state)


_PLAY: dict[type[Action], Callable[[CargoNoirState, Any, Chance], None]] = {
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


# --- defaults (section 5, clock defaults) -----------------------------------------------------------------


def default_action(state: CargoNoirState) -> Action:
    """What is played for a seat that is out of the match or out of time."""
    legal = legal_actions(state)
    goods = state.goods[state.seat]
    if state.phase is P1:
        for wanted in (act.Casino, act.Collect, act.BmDraw, act.Withdraw, act.Wait):
            for action in legal:
                if isinstance(action, wanted):
                    return action
    if state.phase is P2:
        return act.END_SMUGGLING
    if state.phase is P2_DIFF and len(state.diff_kinds) >= 2:
        return act.DIFF_CLOSES[0]
    if state.phase is P2_DISCARD:
        held = [kind for kind in range(9) if goods[kind]] or [WILD]
        return act.DISCARDS[min(held, key=lambda kind: goods[kind])]
    return legal[0]  # P2_DIFF: the lowest kind; P3: the Casino; STAKE: the minimum
