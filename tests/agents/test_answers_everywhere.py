"""A house bot is a playout policy too: it answers in every state that play can reach, whoever has played until then."""

from __future__ import annotations

import json
import os
import random
import time
from collections import Counter

import pytest

from referee.game import Action, Game, Seat, State, label
from referee.kit.chance import LiveChance
from referee.match.house import HouseBot
from referee.records.position import write_position
from referee.registry import games, house_bot, house_bots
from tests.cases import mostly_long
from tests.tables import Question, random_setup

PAIRS = [
    (f"{name}:rollouts=2" if bot.thinks else name, game)
    for game in games().values()
    for name, bot in house_bots().items()
    if bot.plays(game)
]
IDS = [f"{name}-{game.name}" for name, game in PAIRS]

RANDOM_SHARES = (0.03, 0.15, 0.5, 1.0)
"""How much of a match is played at random among the bot's own actions."""
SHARE_IN_RANDOM_PLAY = 0.2
"""How often the bot is asked although its answer is not played."""
MATCHES, ANSWERS = 8, 160
"""What the default run plays: matches for each bot and game, and answers in each match at most."""
SOAK = "DOGANA_SOAK_SECONDS"
"""An environment variable: how long to play each bot and game; `make soak` sets it."""


def answer(bot: HouseBot, state: State, seat: Seat) -> list[Action]:
    """The actions that a bot wants to play in a row, of which the first must be legal."""
    legal = state.legal_actions(seat)
    chosen = bot.choose(Question(state.observation(seat), legal))
    row = [legal[chosen]] if isinstance(chosen, int) else list(chosen)
    assert row, "the answer names no action"
    assert row[0] in legal, f"{label(row[0])} is not legal"
    return row


def play_mixed(name: str, game: Game, seed: int, most: int) -> int:
    """Play one match with some random actions; return how many answers the bot gave.

    Args:
        name: the house bot, which takes every seat.
        game: the game; seats and options are drawn.
        seed: decides everything, the share of random actions included.
        most: the match is left after this many answers.
    """
    dice = random.Random(seed)
    share = RANDOM_SHARES[seed % len(RANDOM_SHARES)]
    setup = random_setup(game, dice)
    chance = LiveChance(seed)
    state = game.start(setup, chance)
    bots = [house_bot(name)(game, setup, f"mixed {seed}", seat) for seat in range(setup.seats)]
    answers = 0
    while not state.is_over() and answers < most:
        seat = dice.choice(state.seats_to_act())
        legal = state.legal_actions(seat)
        at_random = dice.random() < share
        row = [dice.choice(legal)]
        if len(legal) > 1 and (not at_random or dice.random() < SHARE_IN_RANDOM_PLAY):
            try:
                chosen = answer(bots[seat], state, seat)
            except Exception as error:
                position = json.dumps(write_position(game, setup, state))
                raise AssertionError(f"seed {seed}, seat {seat}, in the position {position}") from error
            answers += 1
            row = row if at_random else chosen
        for at, action in enumerate(row):
            # The referee plays a row as far as it is legal; here, random actions cut in too.
            if at and (seat not in state.seats_to_act() or action not in state.legal_actions(seat)):
                break
            if at and dice.random() < share:
                break
            state.apply(seat, action, chance)
    return answers


@pytest.mark.parametrize(("name", "game"), mostly_long(PAIRS, 2), ids=IDS)
def test_a_house_bot_answers_wherever_random_and_its_own_actions_lead(name: str, game: Game) -> None:
    for seed in range(MATCHES):
        assert play_mixed(name, game, seed, ANSWERS) > 0


@pytest.mark.soak
@pytest.mark.parametrize(("name", "game"), PAIRS, ids=IDS)
def test_soak_a_house_bot_answers_in_every_state(name: str, game: Game) -> None:
    end = time.monotonic() + float(os.environ.get(SOAK, "300"))
    seed, counted = MATCHES, Counter[float]()
    while time.monotonic() < end:
        counted[RANDOM_SHARES[seed % len(RANDOM_SHARES)]] += play_mixed(name, game, seed, 10**9)
        seed += 1
    print(f"\n{name} {game.name}: {seed - MATCHES} matches, answers by share of random actions: {dict(counted)}")
    assert counted.total() > 0
