"""The numbers printed on the components, read from `board.toml` and checked (RULES.md, section 1)."""

from __future__ import annotations

from dataclasses import dataclass

from referee.game import Board
from referee.games.venezia.names import Place, Square
from referee.kit.document import Document, by_name, names_of

MAX_ON_PIAZZA = 15
MAX_PIGEONS = 100
"""This constant and the one above it limit the numbers of a board, so that no file can make lists huge."""
_MOST = 1000
_SQUARES = by_name(Square)


@dataclass(frozen=True, slots=True)
class VeneziaBoard(Board):
    """The numbers printed on the components of Venezia."""

    campanile: Square
    """The square that the bell tower blocks."""
    piazza_limit: int
    """The maximum number of pigeons that a seat can have on the Piazza."""
    pigeons: int
    """The number of pigeons that each seat has."""
    start_reserve: int
    """The number of pigeons in a seat's reserve at the start."""
    greys: int
    """The number of grey pigeons."""
    district_cards: int
    """The maximum number of district cards in a plan."""
    born_adjacent: int
    """The number of pigeons born to a pigeon next to a tourist."""
    born_same: int
    """The number of pigeons born to a pigeon on the same square as a tourist."""
    poisoned: int
    """The maximum number of pigeons that Gift im Futter removes."""
    grey_operations: int
    """The number of grey pigeons that Weisung aus dem Vatikan adds or moves."""
    majority_points: int
    """The points for a majority in a district."""
    enemy_home_points: int
    """The points for a majority in a district that is another seat's home."""
    from_cemetery: int
    """The maximum number of pigeons that the seat with the majority in the cemetery may take back."""
    rounds: int
    """The number of the last round."""
    win_points: int
    """The number of points that wins the match."""
    win_districts: int
    """The number of majorities that wins the match."""
    place_names: tuple[str, ...]
    """The name of each place."""
    place_places: tuple[tuple[int, int], ...]
    """The position (x, y) of each place in a drawing."""
    cemetery_name: str
    """The name of the cemetery."""
    cemetery_place: tuple[int, int]
    """The position (x, y) of the cemetery in a drawing."""


def read_board(document: Document) -> VeneziaBoard:
    """Read the tables of `board.toml`, and note in `document` all contradictions within them or with the rules."""
    names = ("piazza", "pigeons", "plan", "births", "cards", "scoring", "end", "places", "cemetery")
    piazza, pigeons, plan, births, cards, scoring, end, places, cemetery = map(document.board_table, names)
    entries = [places.table(name) for name in names_of(Place)]
    per_seat = pigeons.integer("per_seat", 1, MAX_PIGEONS)
    greys = pigeons.integer("grey", 0, 100)
    grey_operations = cards.integer("greys", 0, 10)
    if grey_operations > greys:
        cards.note("greys", f"must not exceed the {greys} grey pigeons: each is added or moved once (Z8.8)")
    return VeneziaBoard(
        campanile=piazza.choice("campanile", _SQUARES),
        piazza_limit=piazza.integer("limit", 1, MAX_ON_PIAZZA),
        pigeons=per_seat,
        start_reserve=pigeons.integer("start_reserve", 0, per_seat),
        greys=greys,
        district_cards=plan.integer("district_cards", 1, len(Place)),
        born_adjacent=births.integer("adjacent", 0, _MOST),
        born_same=births.integer("same", 0, _MOST),
        poisoned=cards.integer("poisoned", 0, 100),
        grey_operations=grey_operations,
        majority_points=scoring.integer("majority", 0, _MOST),
        enemy_home_points=scoring.integer("enemy_home", 0, _MOST),
        from_cemetery=scoring.integer("from_cemetery", 0, MAX_PIGEONS),
        rounds=end.integer("rounds", 1, 50),
        win_points=end.integer("points", 1, 100_000),
        win_districts=end.integer("districts", 4, 7),  # at least 4 of 7, so that only one seat can win by them (R27)
        place_names=tuple(entry.text("name") for entry in entries),
        place_places=tuple(entry.drawing_place() for entry in entries),
        cemetery_name=cemetery.text("name"),
        cemetery_place=cemetery.drawing_place(),
    )
