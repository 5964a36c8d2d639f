"""Judge whether an answer can be played. The functions are pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from referee.game import Action, IllegalAction, Seat, State, label
from referee.kit.chance import LiveChance
from referee.match.effects import Refusal

_MAX_LABEL_CHARACTERS = 200
"""The maximum length of an action's text in a message."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An answer that names neither an index nor actions."""

    reason: str


Answer = int | Sequence[Action] | Unreadable
"""An answer: an index into the legal actions, or actions to be played in order."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The refusal of an answer."""

    refusal: Refusal
    rule: str
    """The number of the rule that the answer breaks; empty if there is none."""
    message: str


def judge(state: State, seat: Seat, legal: Sequence[Action], choice: Answer) -> list[Action] | Refused:
    """Return the actions of an answer, the first of which is legal, or the refusal of the answer.

    Args:
        state: the state of the match.
        seat: the seat that answers.
        legal: the legal actions of the seat.
        choice: the answer.
    """
    if isinstance(choice, Unreadable):
        return Refused(Refusal.MALFORMED, "", choice.reason)
    if isinstance(choice, int):
        if 0 <= choice < len(legal):
            return [legal[choice]]
        message = f"index {choice} is not in the list of {len(legal)} legal actions (0 to {len(legal) - 1})"
        return Refused(Refusal.ILLEGAL, "", message)
    if not choice:
        return Refused(Refusal.MALFORMED, "", "the answer names no action")
    # Only the first can be judged yet, because whether a later one is legal depends on those before it.
    if choice[0] in legal:
        return list(choice)
    reason, rule = why_illegal(state, seat, choice[0])
    return Refused(Refusal.ILLEGAL, rule, f"{_shortened(choice[0])} is not legal: {reason}")


def why_illegal(state: State, seat: Seat, action: Action) -> tuple[str, str]:
    """Return the reason why an action is not legal, and the number of the rule."""
    try:
        # Only `apply` knows the reason. It is called on a clone, in case the rules accept the action after all.
        state.clone().apply(seat, action, LiveChance(0))
    except IllegalAction as error:
        return error.reason, error.rule
    raise AssertionError(f"{_shortened(action)} is not listed, but the rules accept it")


def _shortened(action: Action) -> str:
    """Return the text of a stranger's action, cut if it is long, because lines of records and logs are limited."""
    text = label(action)
    return text if len(text) <= _MAX_LABEL_CHARACTERS else f"{text[: _MAX_LABEL_CHARACTERS - 3]}..."


def why_dropped(state: State, seat: Seat, answer: Sequence[Action], rest: Sequence[Action]) -> str:
    """Return the reason why the rest of an answer is not played; empty if the first action of the rest can be played.

    Args:
        state: the state of the match after all actions before the rest.
        seat: the seat that answers.
        answer: all actions of the answer.
        rest: the actions that have not been played.
    """
    dropped = f"{len(rest)} of {len(answer)} actions dropped: "
    if seat not in state.seats_to_act():
        return f"{dropped}the seat is not to act any more"
    if rest[0] in state.legal_actions(seat):
        return ""
    reason, rule = why_illegal(state, seat, rest[0])
    return f"{dropped}{_shortened(rest[0])} is not legal: {reason}" + (f" ({rule})" if rule else "")
