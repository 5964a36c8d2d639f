"""What is told of a match that chance plays: `python -m tests.traces` does so with the sources of the rules, whatever is compiled.

It reads a line of JSON for each match, and writes a line of JSON with a digest of each step.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import random
import sys
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, SourceFileLoader
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def trace(game: str, seats: int, options: dict[str, Any], seed: int) -> list[str]:
    """A digest for each decision of a match, of all that can be known of it, the pickles included."""
    from referee.game import label
    from referee.kit.chance import LiveChance
    from referee.match.plan import state_digest
    from referee.registry import find, shipped_board

    rules = find(game)
    setup = rules.setup(seats, options, shipped_board(rules))
    chance, choice = LiveChance(seed), random.Random(seed)
    state = rules.start(setup, chance)
    digests = [_digest(pickle.dumps(setup.board))]
    while not state.is_over():
        if choice.random() < 0.2:
            state = state.clone()
        seat = choice.choice(state.seats_to_act())
        legal = state.legal_actions(seat)
        seen = state.observation(choice.choice([None, *range(seats)]))
        action = legal[int(choice.random() * len(legal))]
        digests.append(
            _digest(
                repr((state.seats_to_act(), [label(one) for one in legal], legal, seen, state.ranks(), state.scores())),
                repr((state.default_action(seat), state.part_of(seat), state.window(), state.is_public(seat, action))),
                state_digest(state),
                json.dumps(state.to_json()),
                pickle.dumps((action, seen)),
            )
        )
        state.apply(seat, action, chance)
    return [*digests, _digest(repr(chance.draws), repr((state.ranks(), state.scores())), json.dumps(state.to_json()))]


def _digest(*parts: str | bytes) -> str:
    whole = hashlib.sha256()
    for part in parts:
        whole.update(part if isinstance(part, bytes) else part.encode())
    return whole.hexdigest()[:16]


def _find_sources_only(folder: str) -> FileFinder:
    """Find no extension module below `referee/`."""
    if not Path(folder).is_relative_to(ROOT / "referee"):
        raise ImportError
    return FileFinder(folder, (SourceFileLoader, SOURCE_SUFFIXES))


def main() -> None:
    """Answer until nothing more is asked."""
    sys.path_hooks.insert(0, _find_sources_only)
    sys.path_importer_cache.clear()
    from referee.registry import rules_are_compiled

    assert not rules_are_compiled()
    for line in sys.stdin:
        print(json.dumps(trace(**json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
