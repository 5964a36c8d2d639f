"""Check hostile positions: reading one raises no exception, and play can continue from a position without problems.

The positions of a random match are changed at random: numbers nudged and moved, words exchanged, entries dropped,
duplicated or replaced by entries of another type, and parts taken from other positions of the match. The rules reject
most of these positions. If they accept a position, it must be possible to observe it, draw it, and play it to its end.
"""

from __future__ import annotations

import copy
import json
import random
import traceback
from collections.abc import Callable, Iterator
from typing import Any

from referee.contract.suite import BrokenContract, points_problems
from referee.game import Game, JsonObject, Setup, State
from referee.kit.chance import FastChance
from referee.kit.document import Document
from referee.live.messages.codec import codec

Spot = tuple[Any, Any, tuple[Any, ...]]
"""An entry of a document: the list or object that contains it, its index or key there, and the path to it."""

_HOSTILE: tuple[Any, ...] = (None, True, -1, 0, 1, 7, 10**6, 10**30, 0.5, "", "x", [], {}, [[]], [None], {"x": 1})


def examine_positions(game: Game, setup: Setup, seed: int, count: int) -> int:
    """Read hostile positions, and continue play from those that are accepted (sentence 17).

    Args:
        game: the game.
        setup: the terms of the match whose positions are changed.
        seed: the seed, which makes the positions reproducible.
        count: the number of positions to read.

    Returns:
        The number of positions that were accepted and played to their end.

    Raises:
        BrokenContract: at the first position that makes the game raise an exception; the error contains the position.
    """
    chooser = random.Random(seed)  # noqa: S311 reproducible play, no secrets
    documents = _documents_of_a_match(game, setup, chooser)
    accepted = 0
    for _ in range(count):
        document = _changed(chooser, documents)
        try:
            accepted += _is_played(game, setup, document, chooser)
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            raise BrokenContract(
                17,
                f"{game.name}, {setup.seats} seats: {type(error).__name__}: {error} "
                f"({where.filename.rpartition('/')[2]}:{where.lineno}), after reading {json.dumps(document)}",
            ) from error
    return accepted


def _documents_of_a_match(game: Game, setup: Setup, chooser: random.Random) -> list[JsonObject]:
    chance = FastChance(chooser.getrandbits(30))
    state = game.start(setup, chance)
    documents = [state.to_json()]
    while not state.is_over():
        seat = chooser.choice(state.seats_to_act())
        state.apply(seat, chooser.choice(state.legal_actions(seat)), chance)
        documents.append(state.to_json())
    # The conversion to text and back makes every list mutable, and no two documents share one, as in files.
    return [json.loads(json.dumps(document)) for document in documents]


def _is_played(game: Game, setup: Setup, data: JsonObject, chooser: random.Random) -> bool:
    """Read a position and, if it has no problems, play it to its end; return whether it was played."""
    document = Document(data, "state")
    state = game.read_state(setup, document)
    document.finish()
    if state.problems() or document.problems:  # `problems` is called even after a bad reading, as in `dogana position`
        return False
    chance = FastChance(chooser.getrandbits(30))
    _look(game, setup, state)
    for _ in range(game.max_decisions):
        if state.is_over():
            _look(game, setup, state)
            return True
        seat = chooser.choice(state.seats_to_act())
        legal = state.legal_actions(seat)
        # The default must be legal even in states that no match reaches.
        state.apply(seat, chooser.choice([*legal, state.default_action(seat)]), chance)
        if problems := state.problems():
            raise ValueError(f"play leads to: {problems[0]}")
    raise ValueError(f"more than {game.max_decisions} decisions")


def _look(game: Game, setup: Setup, state: State) -> None:
    """Make every call that a referee makes on a state before play continues from it."""
    for viewer in (*range(setup.seats), None):
        seen = state.observation(viewer)
        codec(game).observation_bytes(seen)
    if problems := points_problems(game, setup, state, seen):
        raise ValueError(problems[0])
    game.draw(setup, seen)
    game.sample(setup, seen, FastChance(1))
    state.scores()
    state.ranks()


# --- changing a document --------------------------------------------------------------------------


def _changed(chooser: random.Random, documents: list[JsonObject]) -> JsonObject:
    """Copy one of the documents, make one to four changes, and return the copy."""
    document: JsonObject = copy.deepcopy(chooser.choice(documents))
    for _ in range(chooser.choice((1, 1, 2, 3, 4))):
        spots = list(_spots(document, ()))
        if spots:
            chooser.choice(_CHANGES)(chooser, spots, chooser.choice(documents))
    return document


def _spots(value: Any, path: tuple[Any, ...]) -> Iterator[Spot]:
    if isinstance(value, dict | list):
        for key, inner in list(value.items() if isinstance(value, dict) else enumerate(value)):
            yield value, key, (*path, key)
            yield from _spots(inner, (*path, key))


def _numbers(spots: list[Spot]) -> list[Spot]:
    return [spot for spot in spots if type(spot[0][spot[1]]) is int]


def _nudge(chooser: random.Random, spots: list[Spot], other: JsonObject) -> None:
    """Replace a number with the next lower or higher one, or with any small number."""
    for container, key, _ in chooser.sample(_numbers(spots), min(1, len(_numbers(spots)))):
        container[key] = chooser.choice((container[key] - 1, container[key] + 1, chooser.randrange(13)))


def _move(chooser: random.Random, spots: list[Spot], other: JsonObject) -> None:
    """Move 1 from one number to another, so that the total stays the same."""
    numbers = _numbers(spots)
    if len(numbers) > 1:
        (source, from_key, _), (target, to_key, _) = chooser.sample(numbers, 2)
        source[from_key] -= 1
        target[to_key] += 1


def _exchange(chooser: random.Random, spots: list[Spot], other: JsonObject) -> None:
    """Swap two entries of the same type, neither of which contains the other."""
    container, key, path = chooser.choice(spots)
    kin = [spot for spot in spots if type(spot[0][spot[1]]) is type(container[key])]
    target, target_key, target_path = chooser.choice(kin)
    # If one entry is inside the other, its path begins with the other's path.
    shared = min(len(path), len(target_path))
    if path[:shared] != target_path[:shared]:
        container[key], target[target_key] = target[target_key], container[key]


def _drop(chooser: random.Random, spots: list[Spot], other: JsonObject) -> None:
    container, key, _ = chooser.choice(spots)
    del container[key]


def _double(chooser: random.Random, spots: list[Spot], other: JsonObject) -> None:
    """Insert a copy of an entry into a list, or put it into an object under the entry's own key."""
    container, key, _ = chooser.choice(spots)
    entry = copy.deepcopy(container[key])
    kin = [spot[0] for spot in spots if type(spot[0]) is type(container)]
    target = chooser.choice(kin)
    if isinstance(target, list):
        target.insert(chooser.randrange(len(target) + 1), entry)
    else:
        target[key] = entry


def _graft(chooser: random.Random, spots: list[Spot], other: JsonObject) -> None:
    """Replace an entry with the one at the same path in another position of the match."""
    container, key, path = chooser.choice(spots)
    value: Any = other
    for step in path:
        known = range(len(value)) if isinstance(value, list) else value if isinstance(value, dict) else ()
        if step not in known:
            return
        value = value[step]
    container[key] = copy.deepcopy(value)


def _spoil(chooser: random.Random, spots: list[Spot], other: JsonObject) -> None:
    """Replace an entry with a value that nobody would write there."""
    container, key, _ = chooser.choice(spots)
    container[key] = copy.deepcopy(chooser.choice(_HOSTILE))


_CHANGES: tuple[Callable[[random.Random, list[Spot], JsonObject], None], ...] = (
    _nudge,
    _move,
    _exchange,
    _drop,
    _double,
    _graft,
    _spoil,
)
