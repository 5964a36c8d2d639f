"""Play a whole match in this process, in one call, for self-play, notebooks and experiments."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from referee.errors import DoganaError
from referee.game import Action, Game, Seat, Setup
from referee.live.matches.play import House, play_match
from referee.match.clock import TimeControl
from referee.match.house import HouseBot, HouseDecision
from referee.match.plan import MatchPlan, match_id_for
from referee.match.result import Result
from referee.registry import UnknownHouseBot, find, house_bot, house_bots, shipped_board

Policy = Callable[[HouseDecision], int | Sequence[Action]]
"""A function that answers a decision with the index of a legal action, or with a sequence of actions."""
Bot = str | Policy
"""The name of a house bot, or a policy."""


MAX_SEED = 2**62
_DAY = 86_400.0
"""The time allowed for each decision, in seconds; it is long, because a bot in this process is never late."""


class InProcessError(DoganaError):
    """The requested match cannot be played in this process."""


def play_in_process(
    game: str,
    bots: Sequence[Bot],
    *,
    seed: int | None = None,
    options: Mapping[str, object] | None = None,
    record: Path | None = None,
) -> Result:
    """Play one match in this process, without a connection or a clock, and return its result.

    With the same seed, the same bots play the same match again, unless a policy draws random numbers of its own.

    Args:
        game: the name of the game.
        bots: the bot of each seat.
        seed: the number that determines all chance, from 0 to 2^62; drawn at random if it is None.
        options: options of the game by name; all others have their defaults.
        record: the file for the record, which can be verified like any other record.

    Raises:
        InProcessError: if a house bot does not exist or cannot play the game, or the seed is out of range.
        UnknownGame: if the game does not exist.
        SetupError: if the number of seats or an option is wrong.
        MatchVoid: if a bot raises an exception or gives an illegal answer; the text names the bot and the decision.
        OSError: if the record cannot be written.
    """
    chosen = find(game)
    setup = chosen.setup(len(bots), options or {}, shipped_board(chosen))
    if seed is not None and not 0 <= seed <= MAX_SEED:
        raise InProcessError(f"the seed must be from 0 to {MAX_SEED}, not {seed}")
    drawn = secrets.randbits(62) if seed is None else seed
    plan = MatchPlan(
        game=chosen,
        setup=setup,
        match_id=match_id_for(chosen, setup, drawn),
        seed=drawn,
        bots=[bot if isinstance(bot, str) else getattr(bot, "__name__", "policy") for bot in bots],
        control=TimeControl(_DAY, 0, _DAY),
    )
    players = [House(_seated(chosen, bot)) for bot in bots]
    with ThreadPoolExecutor(1) as thread:  # a notebook's own thread already runs an event loop
        return thread.submit(lambda: asyncio.run(play_match(plan, players, record=record))).result().result


def _seated(game: Game, bot: Bot) -> Callable[[Game, Setup, str, Seat], HouseBot]:
    """Return a function that makes the bot for a seat."""
    if not isinstance(bot, str):
        return lambda game, setup, match_id, seat: _PolicyBot(bot)
    try:
        made = house_bot(bot)
    except UnknownHouseBot as error:
        raise InProcessError(str(error)) from error
    if not house_bots()[bot.partition(":")[0]].plays(game):
        raise InProcessError(f"{bot} does not play {game.name}")
    return made


class _PolicyBot(HouseBot):
    """A policy in the form of a house bot."""

    def __init__(self, choose: Policy) -> None:
        self._answer = choose

    @staticmethod
    def plays(game: Game) -> bool:
        return True

    def choose(self, decision: HouseDecision) -> int | Sequence[Action]:
        return self._answer(decision)
