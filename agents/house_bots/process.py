"""Play through the SDK as a house bot, using the types of the rules."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from google.protobuf.message import Message

from dogana import sdk
from referee.errors import DoganaError
from referee.game import Action, Game, Observation, Seat, Setup
from referee.live.messages.codec import Codec, codec
from referee.match.house import HouseBot
from referee.registry import UnknownHouseBot, find, games, house_bot, house_bots


@dataclass
class _Decision:
    """A decision expressed in the types of the rules."""

    codec: Codec
    decision: sdk.Decision

    @cached_property
    def observation(self) -> Observation:
        return self.codec.read_observation(self.decision.message.observation.value)

    @cached_property
    def actions(self) -> Sequence[Action]:
        return self.codec.read_actions(self.decision.message.actions.value)

    @property
    def budget(self) -> float:
        return self.decision.message.clock.budget_ms / 1000

    @property
    def bank(self) -> float:
        return self.decision.message.clock.bank_ms / 1000


def play_as(name: str) -> None:
    """Play one match as a house bot; end the process with status 1 if no house bot has that name."""
    try:
        bot = house_bot(name)
    except UnknownHouseBot as error:
        sys.exit(str(error))

    def seated(game: Game, setup: Setup, match_id: str, seat: Seat) -> HouseBot:
        if not house_bots()[name.partition(":")[0]].plays(game):
            sys.exit(f"{name} does not play {game.name}")
        return bot(game, setup, match_id, seat)

    play_with(seated)


def play_with(bot: Callable[[Game, Setup, str, Seat], HouseBot]) -> None:
    """Play one match as a bot that uses the types of the rules; end the process with status 1 if the bot cannot be made.

    Args:
        bot: a function that makes the bot from a game, a setup, the ID of the match and a seat.
    """
    playing: list[HouseBot] = []
    games()  # loads the rules before the match, not during the first decision, when the clock runs

    def sit_down(match: sdk.MatchInfo) -> None:
        game = find(match.game)
        setup = game.setup(match.seats, match.options, match.board)
        try:
            playing.append(bot(game, setup, match.match_id, match.seat))
        except DoganaError as error:
            sys.exit(str(error))

    def choose(decision: sdk.Decision) -> int | list[Message]:
        translation = codec(find(decision.match.game))
        choice = playing[0].choose(_Decision(translation, decision))
        if isinstance(choice, int):
            return choice
        actions: list[Message] = decision.match.messages.ActionList.FromString(
            translation.actions_bytes(choice)
        ).actions
        return actions

    sdk.play(choose, on_start=sit_down)
