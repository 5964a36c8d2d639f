"""The legal actions for a person: in words, and in groups."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from referee.game import Action, Game, Observation, Scene, Seat, Setup, label
from referee.kit.chance import LiveChance

SAMPLES = 5
"""The number of states, indistinguishable to the seat, in which an action is tried."""
MAX_OF_GROUP = 12
"""The maximum number of actions in a group; a larger group is divided by the first argument of the actions."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One legal action."""

    index: int
    """The index of the action in the legal list."""
    label: str
    words: str
    """The action in words that can follow a name: `bids 7 in the Horse Market`."""
    spots: Sequence[str]
    """The spots of the picture to which the action refers (`Game.spots`)."""
    closes: bool
    """True if the action gives up the other legal ones (`Game.closing_actions`), so that the person must confirm it."""


@dataclass(frozen=True, slots=True)
class Group:
    """Legal actions that belong together."""

    name: str
    choices: list[Choice]


def choices(
    game: Game, setup: Setup, seen: Observation, seat: Seat, bots: Sequence[str], legal: Sequence[Action]
) -> list[Group]:
    """Return the legal actions in words, grouped by kind.

    The words include the consequences of an action as far as the seat can know them. The action is played in `SAMPLES`
    states that fit the seat's observation, and the words contain the consequences common to all of these states.
    """
    # The seeds are always the same, so that a decision has the same words each time.
    worlds = [game.sample(setup, seen, LiveChance(seed)) for seed in range(SAMPLES)]
    groups: dict[str, list[tuple[Choice, str]]] = {}
    closing = game.closing_actions if any(type(action) not in game.closing_actions for action in legal) else ()
    for index, action in enumerate(legal):
        texts = []
        for seed, world in enumerate(worlds):
            after = world.clone()
            after.apply(seat, action, LiveChance(SAMPLES + seed))
            scene = Scene(bots=tuple(bots), step=1, before=seen, seat=seat, action=action)
            texts.append(game.tell(setup, after.observation(seat), scene)[0])
        text = label(action)
        kind, _, arguments = text.rstrip(")").partition("(")
        choice = Choice(index, text, in_common(texts) or _plain(text), game.spots(action), type(action) in closing)
        groups.setdefault(_plain(kind), []).append((choice, arguments.partition(",")[0]))
    return [part for kind, members in groups.items() for part in _divided(kind, members)]


def in_common(texts: Sequence[str]) -> str:
    """Return the common beginning of several texts, cut after a complete phrase."""
    if len(set(texts)) == 1:
        return texts[0]
    length = next(
        (at for at, letters in enumerate(zip(*texts, strict=False)) if len(set(letters)) > 1), min(map(len, texts))
    )
    alike = texts[0][:length]
    phrase = re.match(r"(.*\w)[:;,(]", alike)
    return phrase[1] if phrase else alike.rpartition(" ")[0].rstrip(" :;,(")


def _divided(kind: str, members: Sequence[tuple[Choice, str]]) -> list[Group]:
    """Return the actions as one group, or divide a large group by the first argument of the actions.

    It is divided only if that makes at most half as many groups as there are actions.
    """
    firsts = dict.fromkeys(first for _, first in members)
    if len(members) <= MAX_OF_GROUP or not 1 < len(firsts) <= len(members) / 2:
        return [Group(kind, [choice for choice, _ in members])]
    return [
        Group(f"{kind}: {_plain(first)}", [choice for choice, other in members if other == first]) for first in firsts
    ]


def _plain(text: str) -> str:
    return text.replace("_", " ")
