"""The Python SDK: everything a bot needs, without the referee.

A complete bot, for every game there is:

    import random
    from dogana.sdk import Decision, play

    def choose(decision: Decision) -> int:
        return random.randrange(decision.action_count)

    play(choose)

`choose` is called for each decision and returns the index of an action in `decision.actions`, or the action itself, or a list of
actions that are to be played in a row (a whole turn in one answer). It needs the package `dogana` (the messages)
and gRPC, nothing else of this project.
"""

from __future__ import annotations

import asyncio
import importlib
import operator
import os
import sys
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex

from google.protobuf.message import Message

from dogana.v1 import referee_pb2 as pb
from dogana.v1.referee_pb2_grpc import RefereeStub

if TYPE_CHECKING:
    import grpc  # imported where it is used, after `play` has set what it reads when it is imported

PROTOCOL = 1
"""The version of the protocol that this SDK speaks."""

_START_ME = (
    "this bot must be started by the referee, or told where it is:\n"
    "  dogana play GAME cmd:'python mybot.py' random      starts it\n"
    "  DOGANA_ADDRESS=host:port DOGANA_TOKEN=... python mybot.py      joins a `remote` seat"
)


class AgentError(Exception):
    """The match cannot begin or go on; the text says why and what to do."""


class Match:
    """What stays the same for the whole match.

    Attributes:
        game: the game's name.
        match_id: identifies the match.
        seat: this bot's seat, from 0.
        seats: the number of seats.
        options: all options of the match, as text.
        board: the printed numbers of the game, as nested dictionaries (its board.toml).
        welcome: the whole message.
        messages: the module with the game's messages, such as `dogana.games.cargo_noir.v1.cargo_noir_pb2`.
    """

    def __init__(self, welcome: pb.Welcome) -> None:
        self.welcome = welcome
        self.game = welcome.game
        self.match_id = welcome.match_id
        self.seat = welcome.seat
        self.seats = welcome.seats
        self.options = dict(welcome.options)

    @cached_property
    def board(self) -> dict[str, Any]:
        """See the class."""
        return {key: _plain(value) for key, value in self.welcome.board.fields.items()}

    @cached_property
    def messages(self) -> Any:
        """See the class."""
        name = f"dogana.games.{self.game}.v1.{self.game}_pb2"
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            raise AgentError(
                f"the messages of {self.game} ({name}) are not installed; update the package dogana"
            ) from error


class Decision:
    """One decision that this bot is asked for.

    Attributes:
        match: what stays the same.
        number: the decision's number.
        action_count: how many legal actions there are.
        labels: a text for each of them, if `play` was called with `labels=True`.
        dropped: why the rest of the last answer with several actions was not played; empty if all of it was.
        rejection: why the previous answer to this same decision was refused, or None.
        message: the whole message.
    """

    def __init__(self, match: Match, message: pb.Decide) -> None:
        self.match = match
        self.message = message
        self.number = message.decision
        self.action_count = message.action_count
        self.dropped = message.dropped
        self.rejection: pb.Rejected | None = None

    @property
    def seat(self) -> int:
        """This bot's seat."""
        return self.match.seat

    @property
    def labels(self) -> Sequence[str]:
        """See the class."""
        return self.message.labels

    @cached_property
    def observation(self) -> Any:
        """What this seat may know: the game's message `Observation`."""
        return self.match.messages.Observation.FromString(self.message.observation.value)

    @cached_property
    def actions(self) -> Sequence[Any]:
        """The legal actions: the game's messages `Action`."""
        actions: Sequence[Any] = self.match.messages.ActionList.FromString(self.message.actions.value).actions
        return actions

    @cached_property
    def played(self) -> list[tuple[int, Any]]:
        """What was played since this seat was last asked, as (seat, `Action`), as far as the seat may know."""
        actions = self.match.messages.ActionList.FromString(self.message.played.actions.value).actions
        return list(zip(self.message.played.seats, actions, strict=True))

    @property
    def seconds(self) -> float:
        """How long this decision may take, from when it was asked."""
        return self.message.clock.budget_ms / 1000

    @property
    def bank_seconds(self) -> float:
        """What is in the seat's bank."""
        return self.message.clock.bank_ms / 1000


Choice = int | Message | Sequence[Message]
"""What a bot answers: an index into the legal actions, an action, or actions to be played in a row."""


def play(
    choose: Callable[[Decision], Choice],
    *,
    address: str | None = None,
    token: str | None = None,
    ca: Path | None = None,
    labels: bool = False,
    on_start: Callable[[Match], None] | None = None,
    on_end: Callable[[Match, pb.GameOver], None] | None = None,
) -> None:
    """Joins a match, plays it to its end, and returns.

    Args:
        choose: makes a decision.
        address: where the referee is, `host:port` or `unix:path`; None for the environment variable DOGANA_ADDRESS.
        token: the seat's token; None for DOGANA_TOKEN.
        ca: the certificate of the referee's authority (PEM) for an encrypted connection; None for DOGANA_CA, or for a
            connection that is not encrypted if that is not set either.
        labels: whether each legal action shall come with a text.
        on_start: called once before the first decision.
        on_end: called once with the result.

    What goes wrong is told in one line on standard error; the process then ends with status 1. An exception in `choose` is not
    caught: its traceback is in the bot's log, and the referee calls it a crash.
    """
    address = address or os.environ.get("DOGANA_ADDRESS", "")
    token = token or os.environ.get("DOGANA_TOKEN", "")
    authority = ca or (Path(os.environ["DOGANA_CA"]) if os.environ.get("DOGANA_CA") else None)
    if not address or not token:
        _give_up(_START_ME)
    # Without these experiments a round trip takes about a third less; this has no effect if gRPC has been imported before.
    os.environ.setdefault("GRPC_EXPERIMENTS", "-event_engine_client,-event_engine_listener")
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    try:
        asyncio.run(_play(choose, address, token, authority, labels, on_start, on_end))
    except AgentError as error:
        _give_up(str(error))
    except KeyboardInterrupt:
        _give_up("interrupted")


def _give_up(reason: str) -> NoReturn:
    sys.exit(f"dogana bot: {reason}")


async def _play(
    choose: Callable[[Decision], Choice],
    address: str,
    token: str,
    authority: Path | None,
    labels: bool,
    on_start: Callable[[Match], None] | None,
    on_end: Callable[[Match, pb.GameOver], None] | None,
) -> None:
    import grpc

    async with _channel(address, authority) as channel:
        call = RefereeStub(channel).Play()
        try:
            join = pb.Join(token=token, protocol=PROTOCOL, labels=labels)
            await call.write(pb.AgentMessage(join=join))
            await _converse(call, choose, on_start, on_end)
        except grpc.aio.AioRpcError as error:
            raise AgentError(_explain(error, address)) from error
        except asyncio.InvalidStateError as error:  # gRPC's word for writing to a stream that has ended
            raise AgentError(f"the referee ended the stream: {await call.details()}") from error


def _channel(address: str, authority: Path | None) -> grpc.aio.Channel:
    import grpc

    options = [("grpc.max_receive_message_length", -1)]
    if authority is None:
        return grpc.aio.insecure_channel(address, options)
    try:
        certificate = authority.read_bytes()
    except OSError as error:
        raise AgentError(f"cannot read the certificate {authority}: {error.strerror}") from error
    return grpc.aio.secure_channel(address, grpc.ssl_channel_credentials(certificate), options)


async def _converse(
    call: Any,
    choose: Callable[[Decision], Choice],
    on_start: Callable[[Match], None] | None,
    on_end: Callable[[Match, pb.GameOver], None] | None,
) -> None:
    import grpc

    match: Match | None = None
    decision: Decision | None = None
    while True:
        message = await call.read()
        if message is grpc.aio.EOF:
            code, details = await call.code(), await call.details()
            raise AgentError(f"the referee ended the stream ({code.name}): {details}")
        which = message.WhichOneof("message")
        if which == "welcome":
            match = Match(message.welcome)
            if on_start is not None:
                on_start(match)
        elif which == "decide" and match is not None:
            decision = Decision(match, message.decide)
            await call.write(_answer(choose, decision))
        elif which == "rejected":
            rejected = message.rejected
            rule = f" ({rejected.rule})" if rejected.rule else ""
            reason = pb.Rejected.Reason.Name(rejected.reason).removeprefix("REASON_").lower()
            print(
                f"dogana bot: decision {rejected.decision} refused as {reason}: {rejected.message}{rule}; "
                f"strike {rejected.strikes}",
                file=sys.stderr,
                flush=True,
            )
            if decision is not None and rejected.decision == decision.number and reason != "stale":
                decision.rejection = rejected
                await call.write(_answer(choose, decision))
        elif which == "withdrawn":
            decision = None
        elif which == "game_over":
            if on_end is not None and match is not None:
                on_end(match, message.game_over)
            return


def _answer(choose: Callable[[Decision], Choice], decision: Decision) -> pb.AgentMessage:
    choice = choose(decision)
    if isinstance(choice, SupportsIndex):  # an int, or what numpy and its like have instead
        choice = operator.index(choice)
        if not 0 <= choice < 1 << 32:
            raise AgentError(f"choose returned {choice}; an index counts from 0 to {decision.action_count - 1}")
        return pb.AgentMessage(choose=pb.Choose(decision=decision.number, index=choice))
    if not isinstance(choice, Message | Sequence) or isinstance(choice, str | bytes):
        raise AgentError(
            f"choose returned {choice!r}; it must return an index from 0 to {decision.action_count - 1}, an action, or a list of actions"
        )
    actions = [choice] if isinstance(choice, Message) else list(choice)
    action_type = decision.match.messages.Action
    wrong = [type(action).__name__ for action in actions if not isinstance(action, action_type)]
    if wrong:
        raise AgentError(f"choose must return an index, or messages of type Action; it returned {wrong[0]}")
    answer = pb.Choose(decision=decision.number)
    answer.actions.Pack(decision.match.messages.ActionList(actions=actions))
    return pb.AgentMessage(choose=answer)


def _explain(error: grpc.aio.AioRpcError, address: str) -> str:
    import grpc

    if error.code() is grpc.StatusCode.UNAVAILABLE:
        return f"no referee answers at {address} ({error.details()}); is it running, and the address right?"
    return f"the referee refused ({error.code().name}): {error.details()}"


def _plain(value: Any) -> Any:
    """A `google.protobuf.Value` as Python has it; whole numbers as int."""
    which = value.WhichOneof("kind")
    if which == "struct_value":
        return {key: _plain(entry) for key, entry in value.struct_value.fields.items()}
    if which == "list_value":
        return [_plain(entry) for entry in value.list_value.values]
    if which == "number_value":
        number = value.number_value
        return int(number) if number.is_integer() else number
    return None if which == "null_value" else getattr(value, which)
