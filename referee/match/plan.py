"""Everything that is fixed before a match begins, and the hash of what is then played."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from referee.game import Action, Game, Seat, Setup, State, label
from referee.kit.chance import Draw, commitment
from referee.match.clock import TimeControl


@dataclass(frozen=True, slots=True)
class MatchPlan:
    """Everything that is fixed before a match begins."""

    game: Game
    setup: Setup
    match_id: str
    seed: int
    bots: Sequence[str]
    """What each seat is called in the record."""
    control: TimeControl
    position: Mapping[str, Any] | None = None
    """The position to start from, as `State.to_json` writes it; None for a new match."""
    reveals_seed: bool = True
    """Whether the end of the match reveals the seed; not while other matches are to be played from the same one."""
    committed: str = ""
    """What a record says that the agents were told of the seed; empty if that follows from the seed."""

    @property
    def seed_commitment(self) -> str:
        """What the agents are told of the seed."""
        return self.committed or commitment(self.match_id, self.seed)


def match_id_for(game: Game, setup: Setup, seed: int, position: Mapping[str, Any] | None = None) -> str:
    """Derive a match's id from what is played, not from who plays, so that bots that draw from it can be repeated."""
    text = repr((game.name, setup.seats, sorted(setup.options.items()), setup.board_data, seed, position))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


# --- digests --------------------------------------------------------------------------------------------


def canonical(value: object) -> bytes:
    """Encode a value as canonical JSON: sorted keys, no spaces, ASCII."""
    return _encode(value).encode()


def state_digest(state: State) -> str:
    """Return the SHA-256 of a state's canonical JSON, in hexadecimal."""
    return hashlib.sha256(canonical(state.to_json())).hexdigest()


class MatchDigest:
    """What was played, as a hash: equal for equal game, board, options, start, actions, draws and result.

    Names, times and the seed do not go in: two matches that were played alike are one piece of evidence, whatever their seeds.
    Actions are hashed seat by seat and draws stream by stream, because seats that decide simultaneously may answer in any
    order without anything being played differently.
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
        """Add an action."""
        self._seats[seat].update(label(action).encode() + b"\n")

    def note_draws(self, draws: Sequence[tuple[str, Draw]]) -> None:
        """Add draws, as (stream, draw)."""
        for name, draw in draws:
            self._streams.setdefault(name, []).append(draw)

    def close(self, ranks: Sequence[int], scores: Sequence[int]) -> str:
        """Return the digest of a match that ended with these places and scores, in hexadecimal."""
        whole = hashlib.sha256(self._head)
        for seat in self._seats:
            whole.update(seat.digest())
        whole.update(canonical([self._streams, list(ranks), list(scores)]))
        return whole.hexdigest()
