"""Positions: tables as JSON, with the names used in RULES.md (section 2), and the checks of a position (section 9)."""

from __future__ import annotations

from referee.game import JsonObject
from referee.games.cargo_noir import rules
from referee.games.cargo_noir.names import KINDS, SMUGGLER_CARDS, Card, Kind, PendingStake, Phase, Port, Purpose
from referee.games.cargo_noir.table import Table
from referee.kit.document import Document, by_name, counted, names_of

_KIND_NAMES, _CARD_NAMES = names_of(Kind), names_of(Card)
_PORTS, _PURPOSES, _REAL_KINDS = by_name(Port), by_name(Purpose), by_name(KINDS)
_PHASES = {phase.name: phase for phase in Phase}
_MAX = 100_000  # the largest number in a position


def to_json(table: Table) -> JsonObject:
    """Return the whole position in the format that `read` accepts, including parts that a position may leave out."""
    seats = range(table.setup.seats)
    pending = table.pending_stake
    return {
        "turn": table.turn,
        "first_seat": table.first_seat,
        "seat": table.seat,
        "phase": table.phase.name,
        "port": {
            Port(port).name.lower(): {
                "goods": counted(_KIND_NAMES, table.port_goods[port]),
                "stacks": {str(seat): coins for seat, coins in enumerate(table.stacks[port]) if coins},
            }
            for port in table.open_ports
        },
        "market": counted(_KIND_NAMES, table.market),
        "casino": list(table.casino),
        "black_market": list(table.black_market),
        "safe": list(table.safe),
        "goods": [counted(_KIND_NAMES, table.goods[seat]) for seat in seats],
        "cards": [counted(_CARD_NAMES, table.cards[seat]) for seat in seats],
        "bag": counted(_KIND_NAMES, table.bag),
        "discard": counted(_KIND_NAMES, table.discard),
        "supply": counted(_CARD_NAMES, table.supply),
        "bank": table.bank,
        "coins_total": table.coins_total,
        "todo_casino": table.todo_casino,
        "todo_market": table.todo_market,
        "todo_ports": names_of(map(Port, sorted(table.todo_ports))),
        "banned_ports": names_of(map(Port, sorted(table.banned_ports))),
        "syndicate_used": table.syndicate_used,
        "credit": table.credit,
        "diff_kinds": names_of(map(Kind, table.diff_kinds)),
        "pending_stake": {}
        if pending is None
        else {
            "kind": pending.purpose.name.lower(),
            "port": pending.port.name.lower(),
            "min": pending.min,
            "max": pending.max,
        },
    }


def read(table: Table, document: Document) -> None:
    """Fill an empty table from a position, and note in `document` everything that cannot be read.

    A position may leave out everything that follows from the rest: `bag`, `supply` and `bank` (by default, whatever is
    nowhere else), `discard` (by default, empty), the ships that still have to be resolved (by default, all on the board
    in phase P1, and none in other phases), and empty entries.
    """
    seats = table.setup.seats
    board = table.board
    seat_names = [str(seat) for seat in range(seats)]
    open_ports = {name: port for name, port in _PORTS.items() if port in table.open_ports}
    none = [0] * seats
    table.turn = document.integer("turn", 1, table.last_turn)
    if document.integer("last_turn", 2, 20, table.last_turn) != table.last_turn:
        document.note("last_turn", f"is {table.last_turn} by the option of that name; change the option")
    first = table.setup.options["first_player"]
    table.first_seat = document.integer("first_seat", 0, seats - 1, first if isinstance(first, int) else 0)
    if isinstance(first, int) and table.first_seat != first:
        document.note("first_seat", f"is {first} by the option first_player; change the option")
    table.seat = document.integer("seat", 0, seats - 1)
    table.phase = document.choice("phase", _PHASES)

    ports = document.table("port")
    for name, port in _PORTS.items():
        if port not in table.open_ports:
            if name in ports.keys():  # noqa: SIM118 it is not a mapping
                ports.table(name)
                ports.note(name, f"is closed with {seats} players (S1)")
            continue
        there = ports.table(name)
        table.port_goods[port] = there.counts("goods", _KIND_NAMES, _MAX)
        table.stacks[port] = there.counts("stacks", seat_names, _MAX, none)
    table.market = document.counts("market", _KIND_NAMES, _MAX)
    table.casino = document.integers("casino", 0, board.max_ships, seats, none)
    table.black_market = document.integers("black_market", 0, board.max_ships, seats, none)
    table.safe = document.integers("safe", 0, _MAX, seats)
    table.goods = document.counts_of_each("goods", _KIND_NAMES, _MAX, seats, default=table.goods)
    table.cards = document.counts_of_each("cards", _CARD_NAMES, _MAX, seats, default=table.cards)

    # The order matters: by default, bag, supply and bank contain everything that is nowhere else.
    table.discard = document.counts("discard", _KIND_NAMES, _MAX, [0] * len(Kind))
    elsewhere = _tokens_outside_bag(table)
    in_play = [board.tokens_per_kind] * 9 + [seats]
    rest = [max(0, total - count) for total, count in zip(in_play, elsewhere, strict=True)]
    table.bag = document.counts("bag", _KIND_NAMES, _MAX, rest)
    owned = [sum(column) for column in zip(*table.cards, strict=True)]
    left = [max(0, copies - count) for copies, count in zip(board.copies, owned, strict=True)]
    table.supply = document.counts("supply", _CARD_NAMES, _MAX, left)
    table.coins_total = document.integer("coins_total", 0, _MAX, board.coins_total)
    held = sum(table.safe) + sum(map(sum, table.stacks))
    table.bank = document.integer("bank", 0, _MAX, max(0, table.coins_total - held))

    in_phase_1 = table.phase is Phase.P1
    own_ports = [Port(port) for port in table.open_ports if table.stacks[port][table.seat]]
    table.todo_casino = document.integer("todo_casino", 0, _MAX, table.casino[table.seat] if in_phase_1 else 0)
    table.todo_market = document.integer("todo_market", 0, _MAX, table.black_market[table.seat] if in_phase_1 else 0)
    table.todo_ports = frozenset(document.choices("todo_ports", open_ports, own_ports if in_phase_1 else ()))
    table.banned_ports = frozenset(document.choices("banned_ports", open_ports, ()))
    table.syndicate_used = document.integer("syndicate_used", 0, _MAX, 0)
    table.credit = document.integer("credit", 0, _MAX, 0)
    table.diff_kinds = tuple(document.choices("diff_kinds", _REAL_KINDS, ()))
    if table.phase is Phase.STAKE or (document.has("pending_stake") and document.table("pending_stake").keys()):
        pending = document.table("pending_stake")
        table.pending_stake = PendingStake(
            pending.choice("kind", _PURPOSES),
            pending.choice("port", _PORTS),
            pending.integer("min", 1, _MAX),
            pending.integer("max", 1, _MAX),
        )
    table.ships_home = table.fleet(table.seat) - table.on_board(table.seat)
    if document.integer("ships_home", 0, _MAX, table.ships_home) != table.ships_home:
        document.note("ships_home", f"is {table.ships_home} by the ships on the board and the Cargo Ship cards")


def _tokens_outside_bag(table: Table) -> list[int]:
    places = [table.discard, table.market, *table.port_goods, *table.goods]
    return [sum(column) for column in zip(*places, strict=True)]


def problems(table: Table) -> list[str]:
    """Return a line for each problem, most of them with the number of an invariant or rule (RULES.md, section 9)."""
    found: list[str] = []
    board, seats = table.board, range(table.setup.seats)
    phase, seat = table.phase, table.seat

    held = sum(table.safe) + sum(map(sum, table.stacks))
    if table.bank + held != table.coins_total:
        found.append(f"I1: {table.bank} coins in the bank and {held} in safes and stacks are not {table.coins_total}")
    if table.setup.options["bank_limited"] and table.coins_total != board.coins_total:
        found.append(f"I1: with bank_limited there are {board.coins_total} coins, not {table.coins_total}")
    if table.coins_total < board.coins_total:
        found.append(f"I1: there are at least {board.coins_total} coins, not {table.coins_total}")

    in_play = [board.tokens_per_kind] * 9 + [table.setup.seats]
    for kind, total, outside in zip(Kind, in_play, _tokens_outside_bag(table), strict=True):
        if outside + table.bag[kind] != total:
            found.append(f"I2: there are {outside + table.bag[kind]} {kind.name.lower()} tokens, not {total}")

    if sum(table.market) != board.black_market_spaces:
        found.append(f"I3: the Black Market has {sum(table.market)} tokens, not {board.black_market_spaces}")
    for port in table.open_ports:
        count = sum(table.port_goods[port])
        if count > board.spaces[port] or (count < board.spaces[port] and not _can_run_dry(table)):
            found.append(f"I3: {Port(port).name.lower()} has {count} tokens on {board.spaces[port]} spaces")

    for card in Card:
        name = card.name.lower()
        owned = [table.cards[owner][card] for owner in seats]
        if sum(owned) + table.supply[card] != board.copies[card]:
            found.append(f"I4: there are {sum(owned) + table.supply[card]} {name} cards, not {board.copies[card]}")
        if card in SMUGGLER_CARDS:
            found += [
                f"I4: seat {owner} owns {count} {name} cards; {board.cap[card]} are allowed"
                for owner, count in zip(seats, owned, strict=True)
                if count > board.cap[card]
            ]

    for owner in seats:
        fleet, away = table.fleet(owner), table.on_board(owner)
        if away > fleet:
            found.append(f"I5: seat {owner} has {away} ships on the board, but a fleet of {fleet}")
        if owner == seat or phase is Phase.OVER:
            continue
        has_sent = _has_played_this_turn(table, owner)
        # In a final turn without phase 3, ships stay at home (C1.5).
        no_phase_3 = has_sent and table.is_final_turn() and table.setup.options["final_phase3"] == "skip"
        if (has_sent or table.turn > 1) and away != fleet and not no_phase_3:
            found.append(f"I5: seat {owner} has {fleet - away} ships at home, but it is not its turn (R23)")
        if not has_sent and table.turn == 1 and away:
            found.append(f"I5: seat {owner} has ships on the board before its first turn")

    for port in table.open_ports:
        stacks = [coins for coins in table.stacks[port] if coins]
        if len(set(stacks)) != len(stacks):
            found.append(f"I6: two stacks in {Port(port).name.lower()} have the same height")
        if any(coins < board.min_stake for coins in stacks):
            found.append(f"I6: a stack in {Port(port).name.lower()} is lower than {board.min_stake}")

    pending = table.pending_stake
    raising = pending is not None and pending.purpose is Purpose.RAISE
    for owner in seats:
        count = sum(table.goods[owner])
        most = table.storage(owner)
        if owner == seat and (raising or phase in (Phase.P1, Phase.P2, Phase.P2_DIFF, Phase.P2_DISCARD)):
            # Until phase 2 ends, the goods that a seat's ships have brought need not fit into the storage (C2.3).
            spaces = sorted((board.spaces[port] for port in table.open_ports), reverse=True)
            most += sum((spaces + [1] * board.max_ships)[: board.max_ships])  # a ship brings a port's goods, or one
        if count > most:
            found.append(f"I8: seat {owner} has {count} goods; at most {most} are possible")

    found += _scratch_problems(table)
    return found


def _can_run_dry(table: Table) -> bool:
    """Return whether the bag and the discard pile can both be empty (C5.2).

    With the shipped board, they never are (I10).
    """
    board, seats = table.board, table.setup.seats
    storage = board.storage + board.cap[Card.WAREHOUSE] * board.warehouse_storage
    spaces = sum(board.spaces[port] for port in table.open_ports)
    return (
        9 * board.tokens_per_kind + seats < board.black_market_spaces + 2 * spaces + seats * storage + board.max_ships
    )


def _has_played_this_turn(table: Table, owner: int) -> bool:
    seats = table.setup.seats
    return (owner - table.first_seat) % seats < (table.seat - table.first_seat) % seats


def _scratch_problems(table: Table) -> list[str]:
    """Return the problems in the unfinished turn of the seat to act."""
    found: list[str] = []
    phase, seat, pending = table.phase, table.seat, table.pending_stake
    seats = table.setup.seats
    resolving = phase is Phase.P1 or (pending is not None and pending.purpose is Purpose.RAISE)
    smuggling = phase in (Phase.P2, Phase.P2_DIFF)

    if (phase is Phase.STAKE) != (pending is not None):
        found.append("pending_stake belongs to the phase STAKE, and to no other")
    if table.turn == 1 and phase not in (Phase.P3, Phase.STAKE):
        found.append(f"phase {phase.name} is not played in turn 1 (C1.3)")
    if table.turn == 1 and resolving:
        found.append("no ship is resolved in turn 1 (C1.3)")
    todo = table.todo_casino + table.todo_market + len(table.todo_ports)
    if todo and not resolving:
        found.append(f"ships to be resolved belong to phase 1, not to {phase.name}")
    if phase is Phase.P1 and not todo:
        found.append("phase P1 needs a ship that is still to be resolved (C2.7)")
    if table.todo_casino > table.casino[seat]:
        found.append("todo_casino exceeds the seat's ships at the Casino")
    if table.todo_market > table.black_market[seat]:
        found.append("todo_market exceeds the seat's ships at the Black Market")
    if resolving and (table.casino[seat], table.black_market[seat]) != (table.todo_casino, table.todo_market):
        found.append("in phase 1 every ship in Macao is still to be resolved: resolved ones are home (C2.2)")
    found += [
        f"todo_ports names {Port(port).name.lower()}, where the seat has no ship"
        for port in sorted(table.todo_ports)
        if not table.stacks[port][seat]
    ]
    found += [
        f"banned_ports names {Port(port).name.lower()}, where the seat has a ship (C3.5)"
        for port in sorted(table.banned_ports)
        if table.stacks[port][seat]
    ]
    if table.syndicate_used > table.cards[seat][Card.SYNDICATE]:
        found.append("syndicate_used exceeds the seat's Syndicate cards (C3.8)")
    withdrawals = len(table.banned_ports)
    if table.syndicate_used > withdrawals:
        found.append("syndicate_used exceeds the number of withdrawals, which banned_ports lists (C3.8)")
    if resolving and table.syndicate_used < min(withdrawals, table.cards[seat][Card.SYNDICATE]):
        found.append("syndicate_used is lower than the withdrawals that Syndicate cards have paid for (C3.8)")
    if resolving and withdrawals > table.ships_home:
        found.append("banned_ports lists more withdrawals than ships have come home (C3.5)")
    found += _resolved_ship_problems(table, resolving or smuggling or phase is Phase.P2_DISCARD)
    if table.turn == 1 and (any(map(any, table.goods)) or any(map(any, table.cards)) or any(table.discard)):
        found.append("in turn 1 nobody has goods or cards, and nothing is discarded (C1.3)")
    if table.turn == 1 and withdrawals:
        found.append("in turn 1 nobody has withdrawn (C1.3)")
    if table.credit and not smuggling:
        found.append("I9: credit outside phase 2")
    if (phase is Phase.P2_DIFF) != bool(table.diff_kinds):
        found.append("diff_kinds belongs to the phase P2_DIFF, and to no other")
    if list(table.diff_kinds) != sorted(table.diff_kinds):
        found.append("diff_kinds must be ascending (C4.2)")
    if any(not table.goods[seat][kind] for kind in table.diff_kinds):
        found.append("diff_kinds names a kind that the seat does not hold")
    if len(table.diff_kinds) == 1 and not any(table.goods[seat][table.diff_kinds[0] + 1 : 9]):
        found.append("diff_kinds needs a higher kind to go on with (C4.2)")
    if phase is Phase.P2 and len(rules.legal_actions(table)) == 1:
        found.append("phase P2 has nothing to hand in or to buy, so it has ended (C4.11)")
    if phase is Phase.P2_DISCARD and sum(table.goods[seat]) <= table.storage(seat):
        found.append("phase P2_DISCARD needs more goods than storage (C4.9)")
    if phase is Phase.P3 and not table.ships_home:
        found.append("phase P3 needs a ship at home (C6.1)")
    is_last_seat = (seat + 1) % seats == table.first_seat
    sending = phase is Phase.P3 or (pending is not None and pending.purpose is Purpose.SEND)
    if sending and table.is_final_turn() and (is_last_seat or table.setup.options["final_phase3"] == "skip"):
        found.append("this seat has no phase 3 in the final turn (C1.5)")
    if phase is Phase.OVER and not (table.is_final_turn() and is_last_seat):
        found.append("the match is over only after the last turn of the last seat (C8.1)")
    if pending is not None:
        found += _stake_problems(table, pending)
    return found


def _resolved_ship_problems(table: Table, before_sending: bool) -> list[str]:
    """Return the problems with those ships of the acting seat on the board that are not waiting to be resolved.

    Before phase 3, these are ships that a raise has kept in their ports: each stack is the highest in its port, but not
    the only one. In phase 3, the stacks of ships that were just sent are also the highest.
    """
    found: list[str] = []
    seat = table.seat
    after_phase_1 = before_sending and table.phase is not Phase.P1 and table.pending_stake is None
    if (after_phase_1 or table.phase is Phase.OVER) and (table.casino[seat] or table.black_market[seat]):
        found.append("every ship in Macao is resolved in phase 1, and comes home (C2.2)")
    for port in table.open_ports:
        row = table.stacks[port]
        if not row[seat] or port in table.todo_ports:
            continue
        if row[seat] < max(row):
            found.append(f"the seat's ship in {Port(port).name.lower()} is outbid, so it is not resolved yet (C3.3)")
        elif sum(row) == row[seat] and (before_sending or table.phase is Phase.OVER):
            found.append(f"the seat's ship in {Port(port).name.lower()} is alone, so it is not resolved yet (C3.2)")
    return found


def _stake_problems(table: Table, pending: PendingStake) -> list[str]:
    seat, port = table.seat, pending.port
    if port not in table.open_ports:
        return [f"pending_stake names {port.name.lower()}, which is closed"]
    own = table.stacks[port][seat]
    highest = max(coins for other, coins in enumerate(table.stacks[port]) if other != seat)
    low = max(table.board.min_stake, highest + 1)
    found = []
    if (pending.min, pending.max) != (low, own + table.safe[seat]):
        found.append(
            f"pending_stake must be from {low} to {own + table.safe[seat]} coins, not {pending.min} to {pending.max}"
        )
    if pending.min > pending.max:
        found.append("pending_stake leaves no legal height")
    if pending.purpose is Purpose.RAISE:
        if port not in table.todo_ports:
            found.append("pending_stake raises in a port that is not in todo_ports (C3.4)")
        if own > highest:
            found.append("pending_stake raises a stack that nobody has outbid (C3.3)")
    elif own:
        found.append("pending_stake sends a second ship to a port (C3.1)")
    elif port in table.banned_ports or not table.ships_home:
        found.append("pending_stake sends a ship that cannot be sent there (C3.5, C6.3)")
    return found
