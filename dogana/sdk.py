"""The Python SDK: everything a bot needs, without the referee.

A complete bot, for every game::

    import random
    from dogana.sdk import Decision, play

    def choose(decision: Decision) -> int:
        return random.randrange(decision.action_count)

    play(choose)

`choose` is called for each decision. It returns the index of an action in `decision.actions`, the action itself, or a
list of actions to be played in order (a whole turn in one answer). During a long search, `decision.seconds_left()` and
`decision.withdrawn` check for new messages from the referee. The SDK needs only the package `dogana` (the messages) of
this project. A bot that the referee starts does not even import gRPC (`started.py`), so it starts faster.
"""

from __future__ import annotations

import importlib
import operator
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex

from google.protobuf.message import Message

from dogana import later as later  # before the messages: it defers modules that they do not need
from dogana import started
from dogana.v1 import referee_pb2 as pb

if TYPE_CHECKING:
    from pathlib import Path

    from dogana import remote

PROTOCOL = 1
"""The protocol version of this SDK."""
_METHOD = "/dogana.v1.Referee/Play"
_LOCAL = "unix:"
"""The prefix of the address of a referee that has started this bot."""

_START_ME = (
    "this bot must be started by the referee, or given the referee's address:\n"
    "  dogana play GAME cmd:'python mybot.py' random      starts it\n"
    "  DOGANA_ADDRESS=host:port DOGANA_TOKEN=... python mybot.py      joins a `remote` seat"
)


class AgentError(Exception):
    """The match cannot begin or continue; the text says why and what to do."""


class _LostConnection(AgentError):
    """The referee cannot be reached, or can no longer be reached."""


class MatchInfo:
    """The facts that stay the same during a match.

    Attributes:
        game: the game's name.
        match_id: the id of the match.
        seat: this bot's seat, from 0.
        seats: the number of seats.
        options: all options of the match, as text.
        welcome: the message that contains these facts.
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
        """The numbers printed on the game (its board.toml), as nested dictionaries."""
        return {key: _plain(value) for key, value in self.welcome.board.fields.items()}

    @cached_property
    def messages(self) -> Any:
        """The module with the game's messages, such as `dogana.games.cargo_noir.v1.cargo_noir_pb2`."""
        name = f"dogana.games.{self.game}.v1.{self.game}_pb2"
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            raise AgentError(
                f"the messages of {self.game} ({name}) are not installed; update the package dogana"
            ) from error


class Decision:
    """A decision that the referee asks this bot to make.

    Attributes:
        match: the match.
        number: the decision's number.
        action_count: the number of legal actions.
        dropped: the reason why the rest of the last answer with several actions was not played; empty if all of it was.
        rejection: the refusal of the previous answer to this same decision, or None.
        is_known_withdrawn: whether `withdrawn` has found that the decision is withdrawn; if so, no answer is sent.
        message: the question as the referee sent it.
    """

    def __init__(self, match: MatchInfo, message: pb.Decide, stream: _Stream) -> None:
        self.match = match
        self._stream = stream
        self.message = message
        self.number = message.decision
        self.action_count = message.action_count
        self.dropped = message.dropped
        self.rejection: pb.Rejected | None = None
        self.is_known_withdrawn = False
        self._deadline = time.monotonic() + message.clock.budget_ms / 1000
        self._looked_at = 0

    @property
    def seat(self) -> int:
        """This bot's seat."""
        return self.match.seat

    @property
    def labels(self) -> Sequence[str]:
        """A label for each legal action, if `play` was called with `labels=True`."""
        return self.message.labels

    @cached_property
    def observation(self) -> Any:
        """The part of the state that this seat may know: the game's `Observation` message."""
        return self.match.messages.Observation.FromString(self.message.observation.value)

    @cached_property
    def actions(self) -> Sequence[Any]:
        """The legal actions: the game's `Action` messages."""
        actions: Sequence[Any] = self.match.messages.ActionList.FromString(self.message.actions.value).actions
        return actions

    @cached_property
    def played(self) -> list[tuple[int, Any]]:
        """The actions since this seat's last decision, without those hidden from it, as (seat, `Action`) pairs."""
        actions = self.match.messages.ActionList.FromString(self.message.played.actions.value).actions
        return list(zip(self.message.played.seats, actions, strict=True))

    @property
    def seconds(self) -> float:
        """The time allowed for this decision, in seconds, counted from the question."""
        return self.message.clock.budget_ms / 1000

    def seconds_left(self) -> float:
        """Check for messages; return the time left for this decision, in seconds. It is negative when time is up.

        The time falls while `choose` runs, and changes when another seat starts a sand timer.
        """
        self._look()
        return self._deadline - time.monotonic()

    @property
    def withdrawn(self) -> bool:
        """Check for messages; return whether the referee has withdrawn this decision or ended the match."""
        self._look()
        return self.is_known_withdrawn

    def _look(self) -> None:
        if self._stream.reading.acquire(blocking=False):  # otherwise another thread is checking or waiting
            try:
                self._take_news()
            finally:
                self._stream.reading.release()

    def _take_news(self) -> None:
        news = self._stream.news()
        self.is_known_withdrawn = self.is_known_withdrawn or self._stream.has_ended
        for message in news[self._looked_at :]:
            self._looked_at += 1
            which = message.WhichOneof("message")
            is_other = which == "decide" and message.decide.decision != self.number
            if which == "game_over" or is_other or (which == "withdrawn" and message.withdrawn.decision == self.number):
                self.is_known_withdrawn = True
            elif which == "new_deadline" and message.new_deadline.decision == self.number:
                self._deadline = time.monotonic() + message.new_deadline.clock.budget_ms / 1000

    def is_again(self, rejected: pb.Rejected) -> bool:
        """Record a refusal; return whether this decision must be answered again."""
        if rejected.decision != self.number or rejected.reason == pb.Rejected.REASON_STALE:
            return False
        self.rejection = rejected
        self._looked_at = 0
        return True

    @property
    def bank_seconds(self) -> float:
        """The seat's time bank when the question was sent, in seconds."""
        return self.message.clock.bank_ms / 1000


Choice = int | Message | Sequence[Message]
"""A bot's answer: an index into the legal actions, an action, or actions to be played in order."""


def play(
    choose: Callable[[Decision], Choice],
    *,
    address: str | None = None,
    token: str | None = None,
    ca: Path | None = None,
    labels: bool = False,
    on_start: Callable[[MatchInfo], None] | None = None,
    on_end: Callable[[MatchInfo, pb.GameOver], None] | None = None,
) -> None:
    """Join a match, play it to its end, and return.

    Args:
        choose: the function that makes a decision.
        address: the address of the referee, `host:port` or `unix:path`; None for the environment variable
            DOGANA_ADDRESS.
        token: the seat's token; None for DOGANA_TOKEN.
        ca: the certificate of the referee's authority (PEM) for an encrypted connection; None for DOGANA_CA. The
            connection is unencrypted if neither is set.
        labels: whether each legal action comes with a text label.
        on_start: a function called once before the first decision.
        on_end: a function called once with the result.

    A bot that has joined over TCP and loses the connection tries to reconnect, for about ten minutes; the referee then
    repeats the question that the bot has not answered. A bot that the referee has started, at a `unix:` address, exits
    instead.

    `choose`, `on_start` and `on_end` run in the calling thread. An error is printed as one line on standard error, and
    the process exits with status 1. An exception in `choose` is not caught: its traceback is in the bot's log, and the
    referee records a crash.
    """
    address = address or os.environ.get("DOGANA_ADDRESS", "")
    token = token or os.environ.get("DOGANA_TOKEN", "")
    authority = ca or os.environ.get("DOGANA_CA") or None
    if not address or not token:
        _give_up(_START_ME)
    try:
        _play(choose, address, token, authority, labels, on_start, on_end)
    except AgentError as error:
        _give_up(str(error))
    except KeyboardInterrupt:
        _give_up("interrupted")


def _give_up(reason: str) -> NoReturn:
    sys.exit(f"dogana bot: {reason}")


def _play(
    choose: Callable[[Decision], Choice],
    address: str,
    token: str,
    authority: Path | str | None,
    labels: bool,
    on_start: Callable[[MatchInfo], None] | None,
    on_end: Callable[[MatchInfo, pb.GameOver], None] | None,
) -> None:
    join = pb.AgentMessage(join=pb.Join(token=token, protocol=PROTOCOL, labels=labels))
    match: MatchInfo | None = None
    over: pb.GameOver | None = None
    pauses = _pauses()
    while over is None:
        try:
            with _Stream(address, authority) as stream:
                message = stream.exchange(join)
                while message.WhichOneof("message") != "welcome":
                    message = stream.exchange(None)
                pauses = _pauses()
                if match is None:
                    match = MatchInfo(message.welcome)
                    if on_start is not None:
                        on_start(match)
                over = _answer_all(choose, match, stream)
        except _LostConnection as lost:
            # A started bot ends with its referee; one that was never welcomed may have a wrong address.
            pause = None if match is None or address.startswith(_LOCAL) else next(pauses, None)
            if pause is None:
                raise
            print(f"dogana bot: {lost}; trying again in {pause:.1f} s", file=sys.stderr, flush=True)
            time.sleep(pause)
    if on_end is not None and match is not None:
        on_end(match, over)


def _answer_all(choose: Callable[[Decision], Choice], match: MatchInfo, stream: _Stream) -> pb.GameOver:
    decision: Decision | None = None
    answer = None
    while True:
        message = stream.exchange(answer)
        answer = None
        which = message.WhichOneof("message")
        if which == "decide":
            decision = Decision(match, message.decide, stream)
            answer = _answer(choose, decision)
        elif which == "rejected":
            _report(message.rejected)
            if decision is not None and decision.is_again(message.rejected):
                answer = _answer(choose, decision)
        elif which == "game_over":
            return message.game_over


def _pauses() -> Iterator[float]:
    """Yield the pause before each attempt to reconnect, in seconds: twice as long each time, up to a minute.

    Each pause is shortened at random by up to a half, so that the bots of a restarted referee do not all reconnect at once.
    The attempts end after about ten minutes.
    """
    import random  # only for bots that reconnect; others start sooner without it

    for longest in [1, 2, 4, 8, 16, 32, *[60] * 12]:
        yield longest * random.uniform(0.5, 1.0)  # noqa: S311 spreads attempts, and hides nothing


class _Stream:
    """The stream to the referee, driven from the calling thread: `choose` is called while nothing is read or sent."""

    def __init__(self, address: str, authority: Path | str | None) -> None:
        self._address = address
        self._unread: deque[pb.RefereeMessage] = deque()
        self.reading = threading.Lock()
        """The lock that the reading thread holds.

        `choose` may check for messages in several threads, even in one that outlives the call.
        """
        self.has_ended = False
        """True if no more messages will come, because a check has found the end or the stream is closed."""
        self._call: started.SocketCall | remote.RemoteCall
        try:
            if address.startswith(_LOCAL):
                self._call = started.SocketCall(address.removeprefix(_LOCAL), _METHOD)
            else:
                # Disabling these experiments shortens a round trip by about a third. This has no effect if gRPC has
                # been imported.
                os.environ.setdefault("GRPC_EXPERIMENTS", "-event_engine_client,-event_engine_listener")
                os.environ.setdefault("GRPC_VERBOSITY", "NONE")
                from dogana import remote

                self._call = remote.RemoteCall(
                    address, _METHOD, None if authority is None else _read_certificate(authority)
                )
        except started.CallEnded as ended:
            raise self._explained(ended) from ended

    def __enter__(self) -> _Stream:
        return self

    def __exit__(self, *_: object) -> None:
        with self.reading:
            self.has_ended = True
            self._call.close()

    def exchange(self, answer: pb.AgentMessage | None) -> pb.RefereeMessage:
        """Send an answer, if there is one, and return the next message.

        Raises:
            AgentError: if the stream has ended; the text says why.
        """
        try:
            with self.reading:
                if answer is not None:
                    self._call.send(answer.SerializeToString())
                return self._unread.popleft() if self._unread else pb.RefereeMessage.FromString(self._call.receive())
        except started.CallEnded as ended:
            raise self._explained(ended) from ended

    def news(self) -> list[pb.RefereeMessage]:
        """Return the messages that have arrived since the last `exchange`; later calls of `exchange` return them, too."""
        try:
            while not self.has_ended and (message := self._call.look()) is not None:
                self._unread.append(pb.RefereeMessage.FromString(message))
        except started.CallEnded:
            self.has_ended = True
        return list(self._unread)

    def _explained(self, ended: started.CallEnded) -> AgentError:
        """Return an error that explains the end of a stream, and says what to do."""
        if ended.status in ("UNAVAILABLE", "UNKNOWN", "INTERNAL", "CANCELLED"):
            where = f"no referee answers at {self._address} ({ended.details})"
            return _LostConnection(f"{where}; is it running, and the address right?")
        if ended.status == "OK":
            return AgentError("the referee ended the stream before the match was over")
        hints = {
            "FAILED_PRECONDITION": "; update the package dogana",
            "UNIMPLEMENTED": f"; is it a referee that listens at {self._address}?",
        }
        return AgentError(f"the referee refused ({ended.status}): {ended.details}{hints.get(ended.status, '')}")


def _read_certificate(path: Path | str) -> bytes:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 a started bot starts sooner without pathlib
            return file.read()
    except OSError as error:
        raise AgentError(f"cannot read the certificate {path}: {error.strerror}") from error


def _report(rejected: pb.Rejected) -> None:
    """Report a refused answer to the bot's author."""
    rule = f" ({rejected.rule})" if rejected.rule else ""
    reason = pb.Rejected.Reason.Name(rejected.reason).removeprefix("REASON_").lower()
    print(
        f"dogana bot: decision {rejected.decision} refused as {reason}: {rejected.message}{rule}; "
        f"strike {rejected.strikes}",
        file=sys.stderr,
        flush=True,
    )


def _answer(choose: Callable[[Decision], Choice], decision: Decision) -> pb.AgentMessage | None:
    """Answer a decision; return None if it is known to be withdrawn."""
    if decision.is_known_withdrawn:
        return None
    message = _message(choose(decision), decision)
    return None if decision.is_known_withdrawn else message


def _message(choice: Choice, decision: Decision) -> pb.AgentMessage:
    if isinstance(choice, SupportsIndex):  # an int, or numpy's equivalent
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


def _plain(value: Any) -> Any:
    """Convert a `google.protobuf.Value` to Python; whole numbers become int."""
    which = value.WhichOneof("kind")
    if which == "struct_value":
        return {key: _plain(entry) for key, entry in value.struct_value.fields.items()}
    if which == "list_value":
        return [_plain(entry) for entry in value.list_value.values]
    if which == "number_value":
        number = value.number_value
        return int(number) if number.is_integer() else number
    return None if which == "null_value" else getattr(value, which)
