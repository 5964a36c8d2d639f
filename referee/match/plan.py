"""The plan of a match, which is fixed before it begins, and the hash of the match as played."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from referee.game import Action, Game, Seat, Setup, State, label
from referee.kit.chance import Draw, commitment
from referee.match.clock import TimeControl
from referee.options import OPENINGS


@dataclass(frozen=True, slots=True)
class MatchPlan:
    """All facts that are fixed before a match begins."""

    game: Game
    setup: Setup
    match_id: str
    seed: int
    bots: Sequence[str]
    """The name of each bot in the record, by seat."""
    control: TimeControl
    position: Mapping[str, Any] | None = None
    """The position to start from, as `State.to_json` writes it; None for a new match."""
    reveals_seed: bool = True
    """True if the end of the match reveals the seed. It must not do so if later matches use the same seed."""
    committed: str = ""
    """The commitment to the seed, taken from a record; empty to compute it from the seed."""

    @property
    def openings(self) -> int:
        """The number of random decisions with which the match begins; 0 if it starts from a position."""
        found = self.setup.options.get(OPENINGS, 0)
        return found if isinstance(found, int) and self.position is None else 0

    @property
    def seed_commitment(self) -> str:
        """The commitment to the seed that the agents receive."""
        return self.committed or commitment(self.match_id, self.seed)


def match_id_for(game: Game, setup: Setup, seed: int, position: Mapping[str, Any] | None = None) -> str:
    """Derive a match's id from its terms and seed, not from its players.

    Bots that derive their chance from the id therefore repeat their choices.
    """
    # The options are sorted, because the order in which they were given is not part of the terms.
    text = repr((game.name, setup.seats, sorted(setup.options.items()), setup.board_data, seed, position))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


# The encoder is made once, because `json.dumps` makes one for each call with arguments.
_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


# --- digests --------------------------------------------------------------------------------------------


def canonical(value: object) -> bytes:
    """Encode a value as canonical JSON: sorted keys, no spaces, ASCII."""
    return _encode(value).encode()


def state_digest(state: State) -> str:
    """Return the SHA-256 of a state's canonical JSON, in hexadecimal."""
    return hashlib.sha256(canonical(state.to_json())).hexdigest()


class MatchDigest:
    """A hash of a match, the same for matches with the same game, board, options, start, actions, draws and result.

    Names, times and the seed are left out: two matches with identical play are one piece of evidence, whatever their
    seeds. Actions are hashed seat by seat and draws stream by stream, because seats that decide simultaneously may
    answer in any order without changing the play.
    """

    def __init__(self, plan: MatchPlan) -> None:
        self._head = canonical(
            {
                "game": plan.game.name,
                "board": plan.setup.board_data,
                "options": dict(plan.setup.options),
                "seats": plan.setup.seats,
                "position": plan.position,
            }
        )
        self._seats = [hashlib.sha256() for _ in range(plan.setup.seats)]
        self._streams: dict[str, list[Draw]] = {}

    def note_action(self, seat: Seat, action: Action) -> None:
        """Add an action to the hash."""
        # The line break keeps two labels from reading as one.
        self._seats[seat].update(label(action).encode() + b"\n")

    def note_draws(self, draws: Sequence[tuple[str, Draw]]) -> None:
        """Add draws, as (stream, draw) pairs, to the hash."""
        for name, draw in draws:
            self._streams.setdefault(name, []).append(draw)

    def close(self, ranks: Sequence[int], scores: Sequence[int]) -> str:
        """Return the digest of a match that ended with these ranks and scores, in hexadecimal."""
        whole = hashlib.sha256(self._head)
        for seat in self._seats:
            whole.update(seat.digest())
        # The JSON is canonical, so that the order in which streams were first drawn from does not matter.
        whole.update(canonical([self._streams, list(ranks), list(scores)]))
        return whole.hexdigest()
