"""The tables of a knockout: the best of each table go on, until all remaining entrants fit at one table.

The seeding is the order of the file, or the table of the preliminary rounds. In each round, the remaining entrants are
dealt to the tables in that order, back and forth (first 1, 2, 3, then 3, 2, 1), so that the strongest meet last. If a
table has no more entrants than may go on from it, it is not played: its entrants, the best seeded, have a bye. At
tables of two, only the first round has byes; it brings the field to a power of two.
"""

from __future__ import annotations

from collections.abc import Sequence


def knockout_tables(field: Sequence[int], seats: int) -> list[list[int]]:
    """Deal entrants, in the order of their seeding, to the tables of a round; if there is only one table, it is the final."""
    if len(field) <= seats:
        return [list(field)]
    count = -(-len(field) // seats)
    if seats == 2:
        count = 1 << (count - 1).bit_length()  # the next power of two: after this round nobody has a bye
    tables: list[list[int]] = [[] for _ in range(count)]
    for place, entrant in enumerate(field):
        lap, column = divmod(place, count)
        tables[column if lap % 2 == 0 else count - 1 - column].append(entrant)
    return tables


def sizes(entrants: int, seats: int, advance: int) -> list[list[int]]:
    """Return, round by round, the sizes of all tables that are played in a knockout."""
    found, field = [], entrants
    while field:
        tables = knockout_tables(range(field), seats)
        is_final = len(tables) == 1
        found.append([len(table) for table in tables if is_final or len(table) > advance])
        field = 0 if is_final else sum(min(advance, len(table)) for table in tables)
    return found
