"""Positions: a state as JSON with the names of RULES.md, section 2, and what can be wrong with one (section 9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.document import Document
from referee.game import JsonObject
from referee.games.cargo_noir.names import SMUGGLER_CARDS, Card, Kind, Phase, Port, Purpose
from referee.games.cargo_noir.observation import PendingStake

if TYPE_CHECKING:
    from referee.games.cargo_noir.state import CargoNoirState

_KIND_NAMES = tuple(kind.name.lower() for kind in Kind)
_CARD_NAMES = tuple(card.name.lower() for card in Card)
_PORTS = {port.name.lower(): port for port in Port}
_PHASES = {phase.name: phase for phase in Phase}
_PURPOSES = {purpose.name.lower(): purpose for purpose in Purpose}
_REAL_KINDS = {kind.name.lower(): kind for kind in Kind if kind is not Kind.WILD}
_MOST = 100_000  # bounds every number of a position


def to_json(state: CargoNoirState) -> JsonObject:
    """The position, as `read` reads it; what can be left out when written by hand is in it all the same."""
    seats = range(state.setup.seats)
    pending = state.pending_stake
    return {
        "turn": state.turn,
        "first_seat": state.first_seat,
        "seat": state.seat,
        "phase": state.phase.name,
        "port": {
            Port(port).name.lower(): {
                "goods": _counted(_KIND_NAMES, state.port_goods[port]),
                "stacks": {str(seat): coins for seat, coins in enumerate(state.stacks[port]) if coins},
            }
            for port in state.open_ports
        },
        "market": _counted(_KIND_NAMES, state.market),
        "casino": list(state.casino),
        "blackmarket": list(state.black_market),
        "safe": list(state.safe),
        "goods": [_counted(_KIND_NAMES, state.goods[seat]) for seat in seats],
        "cards": [_counted(_CARD_NAMES, state.cards[seat]) for seat in seats],
        "bag": _counted(_KIND_NAMES, state.bag),
        "discard": _counted(_KIND_NAMES, state.discard),
        "supply": _counted(_CARD_NAMES, state.supply),
        "bank": state.bank,
        "coins_total": state.coins_total,
        "todo_casino": state.todo_casino,
        "todo_market": state.todo_market,
        "todo_ports": [Port(port).name.lower() for port in sorted(state.todo_ports)],
        "banned_ports": [Port(port).name.lower() for port in sorted(state.banned_ports)],
        "syndicate_used": state.syndicate_used,
        "credit": state.credit,
        "diff_kinds": [Kind(kind).name.lower() for kind in state.diff_kinds],
        "pending_stake": {}
        if pending is None
        else {
            "kind": pending.purpose.name.lower(),
            "port": pending.port.name.lower(),
            "min": pending.min,
            "max": pending.max,
        },
    }


def _counted(names: tuple[str, ...], counts: list[int]) -> dict[str, int]:
    return {name: count for name, count in zip(names, counts, strict=True) if count}


def read(state: CargoNoirState, document: Document) -> None:
    """Fills an empty table from a position.

    What the rest implies may be left out: `bag`, `supply` and `bank` (what is nowhere else), `discard` (nothing), the
    ships still to be resolved (in phase P1 all on the board), and whatever is empty.
    """
    seats = state.setup.seats
    board = state.board
    seat_names = [str(seat) for seat in range(seats)]
    open_ports = {name: port for name, port in _PORTS.items() if port in state.open_ports}
    none = [0] * seats
    state.turn = document.integer("turn", 1, state.last_turn)
    if document.integer("last_turn", 2, 20, state.last_turn) != state.last_turn:
        document.note("last_turn", f"is {state.last_turn} by the option of that name; change the option")
    first = state.setup.options["first_player"]
    state.first_seat = document.integer("first_seat", 0, seats - 1, first if isinstance(first, int) else 0)
    if isinstance(first, int) and state.first_seat != first:
        document.note("first_seat", f"is {first} by the option first_player; change the option")
    state.seat = document.integer("seat", 0, seats - 1)
    state.phase = document.choice("phase", _PHASES)

    ports = document.table("port")
    for name, port in _PORTS.items():
        if port not in state.open_ports:
            if ports.has(name):
                ports.table(name)
                ports.note(name, f"is closed with {seats} players (S1)")
            continue
        table = ports.table(name)
        state.port_goods[port] = table.counts("goods", _KIND_NAMES, _MOST)
        state.stacks[port] = table.counts("stacks", seat_names, _MOST, none)
    state.market = document.counts("market", _KIND_NAMES, _MOST)
    state.casino = document.integers("casino", 0, board.max_ships, seats, none)
    state.black_market = document.integers("blackmarket", 0, board.max_ships, seats, none)
    state.safe = document.integers("safe", 0, _MOST, seats)
    for seat, table in zip(range(seats), _seat_tables(document, "goods", seats), strict=True):
        state.goods[seat] = [table.integer(name, 0, _MOST, 0) for name in _KIND_NAMES]
    for seat, table in zip(range(seats), _seat_tables(document, "cards", seats), strict=True):
        state.cards[seat] = [table.integer(name, 0, _MOST, 0) for name in _CARD_NAMES]

    state.discard = document.counts("discard", _KIND_NAMES, _MOST, [0] * len(Kind))
    elsewhere = _tokens_outside_bag(state)
    in_play = [board.tokens_per_kind] * 9 + [seats]
    rest = [max(0, total - count) for total, count in zip(in_play, elsewhere, strict=True)]
    state.bag = document.counts("bag", _KIND_NAMES, _MOST, rest)
    owned = [sum(column) for column in zip(*state.cards, strict=True)]
    left = [max(0, copies - count) for copies, count in zip(board.copies, owned, strict=True)]
    state.supply = document.counts("supply", _CARD_NAMES, _MOST, left)
    state.coins_total = document.integer("coins_total", 0, _MOST, board.coins_total)
    held = sum(state.safe) + sum(map(sum, state.stacks))
    state.bank = document.integer("bank", 0, _MOST, max(0, state.coins_total - held))

    in_phase_1 = state.phase is Phase.P1
    own_ports = [Port(port) for port in state.open_ports if state.stacks[port][state.seat]]
    state.todo_casino = document.integer("todo_casino", 0, _MOST, state.casino[state.seat] if in_phase_1 else 0)
    state.todo_market = document.integer("todo_market", 0, _MOST, state.black_market[state.seat] if in_phase_1 else 0)
    state.todo_ports = frozenset(document.choices("todo_ports", open_ports, own_ports if in_phase_1 else ()))
    state.banned_ports = frozenset(document.choices("banned_ports", open_ports, ()))
    state.syndicate_used = document.integer("syndicate_used", 0, _MOST, 0)
    state.credit = document.integer("credit", 0, _MOST, 0)
    state.diff_kinds = tuple(document.choices("diff_kinds", _REAL_KINDS, ()))
    if state.phase is Phase.STAKE or (document.has("pending_stake") and document.table("pending_stake").keys()):
        table = document.table("pending_stake")
        state.pending_stake = PendingStake(
            table.choice("kind", _PURPOSES),
            table.choice("port", _PORTS),
            table.integer("min", 1, _MOST),
            table.integer("max", 1, _MOST),
        )
    state.ships_home = state.fleet(state.seat) - state.on_board(state.seat)
    if document.integer("ships_home", 0, _MOST, state.ships_home) != state.ships_home:
        document.note("ships_home", f"is {state.ships_home} by the ships on the board and the Cargo Ship cards")


def _seat_tables(document: Document, key: str, seats: int) -> list[Document]:
    tables = document.tables(key) if document.has(key) else []
    if document.has(key) and len(tables) != seats:
        document.note(key, f"must have {seats} entries, one for each seat, not {len(tables)}")
    return (tables + [Document({}, key, []) for _ in range(seats)])[:seats]


def _tokens_outside_bag(state: CargoNoirState) -> list[int]:
    places = [state.discard, state.market, *state.port_goods, *state.goods]
    return [sum(column) for column in zip(*places, strict=True)]


def problems(state: CargoNoirState) -> list[str]:
    """Every broken invariant (section 9), with its number."""
    found: list[str] = []
    board, seats = state.board, range(state.setup.seats)
    phase, seat = state.phase, state.seat

    held = sum(state.safe) + sum(map(sum, state.stacks))
    if state.bank + held != state.coins_total:
        found.append(f"I1: {state.bank} coins in the bank and {held} in safes and stacks are not {state.coins_total}")
    if state.setup.options["bank_limited"] and state.coins_total != board.coins_total:
        found.append(f"I1: with bank_limited there are {board.coins_total} coins, not {state.coins_total}")
    if state.coins_total < board.coins_total:
        found.append(f"I1: there are at least {board.coins_total} coins, not {state.coins_total}")

    in_play = [board.tokens_per_kind] * 9 + [state.setup.seats]
    for kind, total, outside in zip(Kind, in_play, _tokens_outside_bag(state), strict=True):
        if outside + state.bag[kind] != total:
            found.append(f"I2: there are {outside + state.bag[kind]} {kind.name.lower()} tokens, not {total}")

    if sum(state.market) != board.black_market_spaces:
        found.append(f"I3: the Black Market has {sum(state.market)} tokens, not {board.black_market_spaces}")
    for port in state.open_ports:
        count = sum(state.port_goods[port])
        if count > board.spaces[port] or (count < board.spaces[port] and not _can_run_dry(state)):
            found.append(f"I3: {Port(port).name.lower()} has {count} tokens on {board.spaces[port]} spaces")

    for card in Card:
        name = card.name.lower()
        owned = [state.cards[owner][card] for owner in seats]
        if sum(owned) + state.supply[card] != board.copies[card]:
            found.append(f"I4: there are {sum(owned) + state.supply[card]} {name} cards, not {board.copies[card]}")
        if card in SMUGGLER_CARDS:
            found += [
                f"I4: seat {owner} owns {count} {name} cards; {board.cap[card]} are allowed"
                for owner, count in zip(seats, owned, strict=True)
                if count > board.cap[card]
            ]

    for owner in seats:
        fleet, away = state.fleet(owner), state.on_board(owner)
        if away > fleet:
            found.append(f"I5: seat {owner} has {away} ships on the board, but a fleet of {fleet}")
        if owner == seat or phase is Phase.OVER:
            continue
        has_sent = _has_played_this_turn(state, owner)
        no_phase_3 = has_sent and state.is_final_turn() and state.setup.options["final_phase3"] == "skip"
        if (has_sent or state.turn > 1) and away != fleet and not no_phase_3:
            found.append(f"I5: seat {owner} has {fleet - away} ships at home, but it is not its turn (R23)")
        if not has_sent and state.turn == 1 and away:
            found.append(f"I5: seat {owner} has ships on the board before its first turn")

    for port in state.open_ports:
        stacks = [coins for coins in state.stacks[port] if coins]
        if len(set(stacks)) != len(stacks):
            found.append(f"I6: two stacks in {Port(port).name.lower()} have the same height")
        if any(coins < board.min_stake for coins in stacks):
            found.append(f"I6: a stack in {Port(port).name.lower()} is lower than {board.min_stake}")

    pending = state.pending_stake
    raising = pending is not None and pending.purpose is Purpose.RAISE
    for owner in seats:
        count = sum(state.goods[owner])
        most = state.storage(owner)
        if owner == seat and (raising or phase in (Phase.P1, Phase.P2, Phase.P2_DIFF, Phase.P2_DISCARD)):
            spaces = sorted((board.spaces[port] for port in state.open_ports), reverse=True)
            most += sum((spaces + [1] * board.max_ships)[: board.max_ships])  # a ship brings a port's goods, or one
        if count > most:
            found.append(f"I8: seat {owner} has {count} goods; at most {most} are possible")

    found += _scratch_problems(state)
    return found


def _can_run_dry(state: CargoNoirState) -> bool:
    """Whether all tokens can be out of the bag and the discard pile (C5.2): never with the shipped board (I10)."""
    board, seats = state.board, state.setup.seats
    storage = board.storage + board.cap[Card.WAREHOUSE] * board.warehouse_storage
    spaces = sum(board.spaces[port] for port in state.open_ports)
    return (
        9 * board.tokens_per_kind + seats < board.black_market_spaces + 2 * spaces + seats * storage + board.max_ships
    )


def _has_played_this_turn(state: CargoNoirState, owner: int) -> bool:
    seats = state.setup.seats
    return (owner - state.first_seat) % seats < (state.seat - state.first_seat) % seats


def _scratch_problems(state: CargoNoirState) -> list[str]:
    """What is wrong with the unfinished turn of the seat whose turn it is."""
    found: list[str] = []
    phase, seat, pending = state.phase, state.seat, state.pending_stake
    seats = state.setup.seats
    resolving = phase is Phase.P1 or (pending is not None and pending.purpose is Purpose.RAISE)
    smuggling = phase in (Phase.P2, Phase.P2_DIFF)

    if (phase is Phase.STAKE) != (pending is not None):
        found.append("pending_stake belongs to the phase STAKE, and to no other")
    if state.turn == 1 and phase not in (Phase.P3, Phase.STAKE):
        found.append(f"phase {phase.name} is not played in turn 1 (C1.3)")
    if state.turn == 1 and resolving:
        found.append("no ship is resolved in turn 1 (C1.3)")
    todo = state.todo_casino + state.todo_market + len(state.todo_ports)
    if todo and not resolving:
        found.append(f"ships to be resolved belong to phase 1, not to {phase.name}")
    if phase is Phase.P1 and not todo:
        found.append("phase P1 needs a ship that is still to be resolved (C2.7)")
    if state.todo_casino > state.casino[seat]:
        found.append("todo_casino exceeds the seat's ships at the Casino")
    if state.todo_market > state.black_market[seat]:
        found.append("todo_market exceeds the seat's ships at the Black Market")
    if resolving and (state.casino[seat], state.black_market[seat]) != (state.todo_casino, state.todo_market):
        found.append("in phase 1 every ship in Macao is still to be resolved: resolved ones are home (C2.2)")
    found += [
        f"todo_ports names {Port(port).name.lower()}, where the seat has no ship"
        for port in sorted(state.todo_ports)
        if not state.stacks[port][seat]
    ]
    found += [
        f"banned_ports names {Port(port).name.lower()}, where the seat has a ship (C3.5)"
        for port in sorted(state.banned_ports)
        if state.stacks[port][seat]
    ]
    if state.syndicate_used > state.cards[seat][Card.SYNDICATE]:
        found.append("syndicate_used exceeds the seat's Syndicate cards (C3.8)")
    withdrawals = len(state.banned_ports)
    if state.syndicate_used > withdrawals:
        found.append("syndicate_used exceeds the number of withdrawals, which banned_ports lists (C3.8)")
    if resolving and state.syndicate_used < min(withdrawals, state.cards[seat][Card.SYNDICATE]):
        found.append("syndicate_used is lower than the withdrawals that Syndicate cards have paid for (C3.8)")
    if resolving and withdrawals > state.ships_home:
        found.append("banned_ports lists more withdrawals than ships have come home (C3.5)")
    found += _resolved_ship_problems(state, resolving or smuggling or phase is Phase.P2_DISCARD)
    if state.turn == 1 and (any(map(any, state.goods)) or any(map(any, state.cards)) or any(state.discard)):
        found.append("in turn 1 nobody has goods or cards, and nothing is discarded (C1.3)")
    if state.turn == 1 and withdrawals:
        found.append("in turn 1 nobody has withdrawn (C1.3)")
    if state.credit and not smuggling:
        found.append("I9: credit outside phase 2")
    if (phase is Phase.P2_DIFF) != bool(state.diff_kinds):
        found.append("diff_kinds belongs to the phase P2_DIFF, and to no other")
    if list(state.diff_kinds) != sorted(state.diff_kinds):
        found.append("diff_kinds must be ascending (C4.2)")
    if any(not state.goods[seat][kind] for kind in state.diff_kinds):
        found.append("diff_kinds names a kind that the seat does not hold")
    if len(state.diff_kinds) == 1 and not any(state.goods[seat][state.diff_kinds[0] + 1 : 9]):
        found.append("diff_kinds needs a higher kind to go on with (C4.2)")
    if phase is Phase.P2 and len(state.legal_actions(seat)) == 1:
        found.append("phase P2 has nothing to hand in or to buy, so it has ended (C4.11)")
    if phase is Phase.P2_DISCARD and sum(state.goods[seat]) <= state.storage(seat):
        found.append("phase P2_DISCARD needs more goods than storage (C4.9)")
    if phase is Phase.P3 and not state.ships_home:
        found.append("phase P3 needs a ship at home (C6.1)")
    is_last_seat = (seat + 1) % seats == state.first_seat
    sending = phase is Phase.P3 or (pending is not None and pending.purpose is Purpose.SEND)
    if sending and state.is_final_turn() and (is_last_seat or state.setup.options["final_phase3"] == "skip"):
        found.append("this seat has no phase 3 in the final turn (C1.5)")
    if phase is Phase.OVER and not (state.is_final_turn() and is_last_seat):
        found.append("the match is over only after the last turn of the last seat (C8.1)")
    if pending is not None:
        found += _stake_problems(state, pending)
    return found


def _resolved_ship_problems(state: CargoNoirState, before_sending: bool) -> list[str]:
    """What is wrong with ships of the seat to act that are on the board although they are not to be resolved (any more).

    Before phase 3 these are ships kept by a raise: their stacks are the highest, and not alone. In phase 3 ships that were just
    sent have the highest stacks, too.
    """
    found: list[str] = []
    seat = state.seat
    after_phase_1 = before_sending and state.phase is not Phase.P1 and state.pending_stake is None
    if (after_phase_1 or state.phase is Phase.OVER) and (state.casino[seat] or state.black_market[seat]):
        found.append("every ship in Macao is resolved in phase 1, and comes home (C2.2)")
    for port in state.open_ports:
        row = state.stacks[port]
        if not row[seat] or port in state.todo_ports:
            continue
        if row[seat] < max(row):
            found.append(f"the seat's ship in {Port(port).name.lower()} is outbid, so it is not resolved yet (C3.3)")
        elif sum(row) == row[seat] and (before_sending or state.phase is Phase.OVER):
            found.append(f"the seat's ship in {Port(port).name.lower()} is alone, so it is not resolved yet (C3.2)")
    return found


def _stake_problems(state: CargoNoirState, pending: PendingStake) -> list[str]:
    seat, port = state.seat, pending.port
    if port not in state.open_ports:
        return [f"pending_stake names {port.name.lower()}, which is closed"]
    own = state.stacks[port][seat]
    highest = max(coins for other, coins in enumerate(state.stacks[port]) if other != seat)
    low = max(state.board.min_stake, highest + 1)
    found = []
    if (pending.min, pending.max) != (low, own + state.safe[seat]):
        found.append(
            f"pending_stake must be from {low} to {own + state.safe[seat]} coins, not {pending.min} to {pending.max}"
        )
    if pending.min > pending.max:
        found.append("pending_stake leaves no legal height")
    if pending.purpose is Purpose.RAISE:
        if port not in state.todo_ports:
            found.append("pending_stake raises in a port that is not in todo_ports (C3.4)")
        if own > highest:
            found.append("pending_stake raises a stack that nobody has outbid (C3.3)")
    elif own:
        found.append("pending_stake sends a second ship to a port (C3.1)")
    elif port in state.banned_ports or not state.ships_home:
        found.append("pending_stake sends a ship that cannot be sent there (C3.5, C6.3)")
    return found
