"""The header of a record: the plan of its match."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from referee.game import Game, SetupError
from referee.kit.chance import commitment
from referee.kit.document import Document
from referee.match.clock import TimeControl
from referee.match.plan import MatchPlan
from referee.records.seats import Unsound
from referee.registry import UnknownGame


def read_plan(data: Mapping[str, Any], seed: int | None, find_game: Callable[[str], Game]) -> MatchPlan:
    """Read the plan of a match.

    Args:
        data: the header line.
        seed: the seed; None if it is not known, and the seed of the plan is then -1.
        find_game: a function that looks up a game by name, or raises `UnknownGame`.

    Raises:
        Unsound: if something is missing or cannot be played, or the seed does not match its commitment.
    """
    document = Document(data, "header")
    match_id, name, clock = document.text("match"), document.text("game"), document.text("clock")
    seats = document.integer("seats", 1, 100)
    bots = document.texts("bots")
    committed = document.text("seed_commitment")
    options, board, position = data.get("options"), data.get("board"), data.get("position")
    reveals_seed = data.get("reveals_seed", True)
    if type(reveals_seed) is not bool:
        document.note("reveals_seed", "must be true or false")
    if not isinstance(options, dict) or not isinstance(board, dict) or not isinstance(position, dict | None):
        document.note("", "has options, a board or a position that is not a JSON object")
    try:
        match_id.encode()
    except UnicodeEncodeError:  # JSON can name half of a surrogate pair, and the commitment to the seed needs bytes
        document.note("match", "has half of a surrogate pair, which is no character")
    if len(bots) != seats:
        document.note("bots", f"has {len(bots)} names for {seats} seats")
    # This comes before the game checks the values, because the game relies on their types.
    if document.problems:
        raise Unsound("; ".join(document.problems))
    assert isinstance(options, dict)  # noqa: S101 noted above if not
    assert isinstance(board, dict)  # noqa: S101
    try:
        game = find_game(name)
        setup = game.setup(seats, options, board)
        control = TimeControl.parse(clock)
    except (UnknownGame, SetupError, ValueError) as error:
        raise Unsound(str(error)) from error
    if seed is not None and commitment(match_id, seed) != committed:
        raise Unsound("the seed at the end is not the one that was committed to")
    known = -1 if seed is None else seed
    return MatchPlan(game, setup, match_id, known, bots, control, position, reveals_seed, committed)
