"""Numbers in actions come from anywhere: what stands for nothing is illegal. What fails for another reason is a bug of ours."""

from __future__ import annotations

import importlib
import random
import re
from dataclasses import dataclass, fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.game import Action, Game, IllegalAction, State, label
from referee.kit.chance import FastChance
from referee.match.judging import Refused, judge, why_dropped
from referee.registry import games
from tests.tables import random_setup
from tests.toy.games.sealed import GAME as SEALED

GAMES = games()
NUMBERS = st.one_of(st.integers(-12, 40), st.sampled_from([99, 255, 2**31 - 1, -(2**31), 2**63]))


def somewhere(game: Game, dice: random.Random) -> State | None:
    """Play some way by chance; None if that was the end."""
    chance = FastChance(dice.randrange(2**32))
    state = game.start(random_setup(game, dice), chance)
    for _ in range(dice.randrange(200)):
        seats = state.seats_to_act()
        if not seats:
            return None
        seat = dice.choice(seats)
        state.apply(seat, dice.choice(state.legal_actions(seat)), chance)
    return state if state.seats_to_act() else None


@pytest.mark.parametrize("name", GAMES)
@given(seed=st.integers(0, 2**32), numbers=st.lists(NUMBERS, min_size=1, max_size=8))
def test_whatever_numbers_an_action_has_it_is_legal_or_refused_as_illegal(
    name: str, seed: int, numbers: list[int]
) -> None:
    game, dice = GAMES[name], random.Random(seed)
    state = somewhere(game, dice)
    if state is None:
        return
    before = state.to_json()
    [seat, *_] = state.seats_to_act()
    legal = state.legal_actions(seat)
    for action_type in game.action_types:
        named = [field.name for field in fields(action_type)]  # type: ignore[arg-type]
        chosen = {name: dice.choice(numbers) for name in named}
        likely = [action for action in legal if type(action) is action_type]
        if likely and named and dice.random() < 0.7:  # one wrong number among right ones
            right, wrong = dice.choice(likely), dice.choice(named)
            chosen = {name: chosen[name] if name == wrong else getattr(right, name) for name in named}
        action: Action = action_type(**chosen)
        if action in legal:
            continue
        with pytest.raises(IllegalAction):
            state.apply(seat, action, FastChance(0))
        assert state.to_json() == before


@dataclass(frozen=True, slots=True)
class Everything(Action):
    """An action of which a stranger can make 64 kB; the games that are shipped have none."""

    numbers: tuple[int, ...]


def test_an_illegal_action_with_thousands_of_numbers_is_cut_in_messages_and_not_kept() -> None:
    """A line of a ladder's log has a limit, above which nobody can verify the log."""
    state = SEALED.start(random_setup(SEALED, random.Random(0)), FastChance(0))
    legal = state.legal_actions(0)
    long = Everything((2**62,) * 8_000)
    judged = judge(state, 0, legal, [long])
    assert isinstance(judged, Refused)
    assert re.fullmatch(r"everything\([0-9+]{186}\.\.\. is not legal: not an action of sealed", judged.message)
    assert len(why_dropped(state, 0, [legal[0], long], [long])) < 300
    assert label(long) is not label(long)


@pytest.mark.parametrize("error", [ValueError, IndexError])
@pytest.mark.parametrize("name", GAMES)
def test_a_bug_of_the_rules_does_not_call_an_action_illegal(
    name: str, error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    game = GAMES[name]
    plays = importlib.import_module(f"referee.games.{name}.rules").HANDLERS

    def sick(*_: object) -> None:
        raise error("a bug of ours")

    for action_type in list(plays):
        monkeypatch.setitem(plays, action_type, sick)
    dice, chance = random.Random(1), FastChance(1)
    state = game.start(random_setup(game, dice), chance)

    def play_on() -> None:
        for _ in range(200):  # plans may be made by other functions
            seat = dice.choice(state.seats_to_act())
            state.apply(seat, dice.choice(state.legal_actions(seat)), chance)

    with pytest.raises(error, match="a bug of ours"):
        play_on()
