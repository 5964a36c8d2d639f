"""The numbers printed on the components, read from `board.toml` and checked (RULES.md, section 1)."""

from __future__ import annotations

from dataclasses import dataclass

from referee.game import Board
from referee.games.cargo_noir.names import KINDS, SMUGGLER_CARDS, Card, Port
from referee.kit.document import Document, names_of

_MAX = 1000  # bounds every printed number, so that no file can make a match endless
_MAX_INCOME = 20  # with an unlimited bank, incomes add up


@dataclass(frozen=True, slots=True)
class CargoNoirBoard(Board):
    """The numbers printed on the components of Cargo Noir."""

    tokens_per_kind: int
    """The number of tokens of each of the nine kinds."""
    different: tuple[int, ...]
    """The values of sets of different kinds, indexed by the number of tokens."""
    same: tuple[int, ...]
    """The values of sets of one kind, indexed by the number of tokens."""
    black_market_spaces: int
    """The number of tokens on display at the Black Market."""
    casino_income: int
    """The number of coins that a ship at the Casino earns."""
    min_stake: int
    """The minimum height of a stack, in coins."""
    families: tuple[str, ...]
    """The name of each seat's family."""
    storage: int
    """The number of goods that a seat without Warehouses may keep."""
    warehouse_storage: int
    """The number of additional goods that each Warehouse allows a seat to keep."""
    syndicate_income: int
    """The number of coins that each Syndicate pays for a withdrawal."""
    start_ships: int
    """The number of ships that a seat has without Cargo Ship cards."""
    max_ships: int
    """The maximum number of ships that a seat can have."""
    start_coins: int
    """The number of coins that each seat has at the start."""
    coins_total: int
    """The number of coins in the game."""
    last_turn: tuple[int, ...]
    """The number of the last turn, indexed by the number of players (0 for an impossible number of players)."""
    spaces: tuple[int, ...]
    """The number of cargo spaces on the open side of each port."""
    open_for: tuple[frozenset[int], ...]
    """For each port, the numbers of players for which it is open."""
    port_places: tuple[tuple[int, int], ...]
    """The position (x, y) of each port in a drawing."""
    copies: tuple[int, ...]
    """The number of copies of each card."""
    cost: tuple[int, ...]
    """The cost of each card."""
    vp: tuple[int, ...]
    """The victory points of each card."""
    cap: tuple[int, ...]
    """The maximum number of copies of each card that a seat may own (the total number of copies if there is no cap)."""

    @property
    def max_set(self) -> int:
        """Return the number of tokens in the largest possible set."""
        return len(self.same) - 1

    def open_ports(self, seats: int) -> tuple[int, ...]:
        """Return the ports that are open with this number of players, in ascending order."""
        return tuple([port for port, counts in enumerate(self.open_for) if seats in counts])


def read_board(document: Document) -> CargoNoirBoard:
    """Read the tables of `board.toml`, and note in `document` all contradictions within them or with the rules."""
    goods = document.board_table("goods")
    names = names_of(KINDS)
    if goods.texts("kinds") != names and goods.has("kinds"):
        goods.note("kinds", f"must be the nine kinds of the rules in their order: {', '.join(names)}")
    tokens_per_kind = goods.integer("tokens_per_kind", 1, _MAX)
    if goods.integer("wilds_in_box", 0, _MAX) < 5:
        goods.note("wilds_in_box", "must be at least 5: with five players five wilds are in play (S2)")

    smuggling = document.board_table("smuggling")
    different = _set_values(smuggling, "different")
    same = _set_values(smuggling, "same")

    # A set that qualifies as both is valued as equal goods, without a comparison (C4.3).
    if any(one < other for one, other in zip(same, different, strict=True)):
        smuggling.note("same", "must never be lower than different for the same number of tokens (C4.3)")

    macao = document.board_table("macao")
    family = document.board_table("family")
    families = family.texts("names")
    if len(families) < 5 and family.has("names"):
        family.note("names", "must have a name for each of five families")
    start_ships = family.integer("start_ships", 1, 20)
    max_ships = family.integer("max_ships", 1, 20)
    start_coins = family.integer("start_coins", 0, _MAX)
    coins_total = family.integer("coins_total", 0, _MAX)
    if coins_total < 5 * start_coins:
        family.note(
            "coins_total", f"must be at least {5 * start_coins}: five players start with {start_coins} each (S4)"
        )

    track = document.board_table("track")
    turns = track.table("last_turn")
    last_turn = (0, 0, *(turns.integer(str(seats), 2, 20) for seats in range(2, 6)))

    ports = document.table("ports")
    spaces, open_for, places = [], [], []
    for port in Port:
        table = ports.board_table(port.name.lower())
        spaces.append(table.integer("spaces", 1, 20))
        open_for.append(frozenset(table.integers("open_for", 2, 5)))
        places.append(table.drawing_place())

    cards = document.table("cards")
    copies, cost, vp, cap = [], [], [], []
    warehouse_storage = syndicate_income = 0
    for card in Card:
        table = cards.board_table(card.name.lower())
        copies.append(table.integer("copies", 0, 100))
        cost.append(table.integer("cost", 1, _MAX))
        vp.append(table.integer("vp", 0, _MAX))
        if card in SMUGGLER_CARDS:
            cap.append(table.integer("cap", 0, 20))
        else:
            cap.append(copies[-1])
        if card is Card.WAREHOUSE:
            warehouse_storage = table.integer("storage", 0, _MAX)
        if card is Card.SYNDICATE:
            syndicate_income = table.integer("income", 0, _MAX_INCOME)
    if start_ships + cap[Card.CARGO_SHIP] > max_ships:
        family.note(
            "max_ships",
            f"is {max_ships}, but {start_ships} ships at the start and {cap[Card.CARGO_SHIP]} Cargo Ship cards need "
            f"{start_ships + cap[Card.CARGO_SHIP]} (C4.7)",
        )

    board = CargoNoirBoard(
        tokens_per_kind=tokens_per_kind,
        different=tuple(different),
        same=tuple(same),
        black_market_spaces=macao.integer("black_market_spaces", 1, 100),
        casino_income=macao.integer("casino_income", 0, _MAX_INCOME),
        min_stake=macao.integer("min_stake", 1, _MAX),
        families=tuple(families),
        storage=family.integer("storage", 0, _MAX),
        warehouse_storage=warehouse_storage,
        syndicate_income=syndicate_income,
        start_ships=start_ships,
        max_ships=max_ships,
        start_coins=start_coins,
        coins_total=coins_total,
        last_turn=last_turn,
        spaces=tuple(spaces),
        open_for=tuple(open_for),
        port_places=tuple(places),
        copies=tuple(copies),
        cost=tuple(cost),
        vp=tuple(vp),
        cap=tuple(cap),
    )
    for seats in range(2, 6):
        needed = board.black_market_spaces + sum(board.spaces[port] for port in board.open_ports(seats))
        if needed > 9 * tokens_per_kind + seats:  # nine kinds, and a wild for each seat (S2)
            document.note(
                "", f"needs {needed} tokens on the table with {seats} players, but has {9 * tokens_per_kind + seats}"
            )
    return board


def _set_values(table: Document, key: str) -> list[int]:
    values = table.integers(key, 0, _MAX)
    if len(values) != 10 and table.has(key):
        table.note(key, "must have ten values, for sets of 0 to 9 tokens (C4.2)")
    if values[:1] != [0] or values != sorted(values):
        table.note(key, "must begin with 0 and never fall")
    return (values + [0] * 10)[:10]
