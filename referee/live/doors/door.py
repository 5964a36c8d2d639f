"""Doors for agents: the method Play, the tokens of seats, and a socket for a single seat."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import grpc
from typing_extensions import override

from dogana.v1 import referee_pb2 as pb
from referee.live.doors.listener import ALLOWANCE, Listener, Play
from referee.live.doors.lobby import Lobby
from referee.live.messages import wire
from referee.live.seats.agent import AgentSeat, Call
from referee.sandbox.socket_folder import SocketFolder

SERVICE = "dogana.v1.Referee"
MAX_FRAME_BYTES = 2 * wire.MAX_MESSAGE_BYTES
"""The maximum size of a message; a larger one is not even read, and its call ends."""
IDLE_MILLISECONDS = 10_000
"""The maximum time that a connection may stay open without a call. Agents make their call at once.

Each connection takes a file descriptor, and gRPC cannot limit how many connections a peer has.
"""
STOP_SECONDS = 0.5
"""The time allowed for calls to end when the server stops: a match's last messages may still be in transit."""
CANCEL_SECONDS = 5.0
"""The time allowed for the remaining calls to end after they are cancelled."""
MAX_STREAMS_AT_A_SEAT = 8
"""The maximum number of open calls on a connection to a single seat."""
OPTIONS = (
    ("grpc.max_receive_message_length", MAX_FRAME_BYTES),
    ("grpc.server_handshake_timeout_ms", 10_000),
    ("grpc.max_connection_idle_ms", IDLE_MILLISECONDS),
    ("grpc.so_reuseport", 0),
    # Agents ping every 30 s. Without data, as while others think, gRPC would accept only one ping in five minutes.
    ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
    ("grpc.http2.max_ping_strikes", 4),
)
"""The options of all gRPC servers of the referee."""


class Doorkeeper:
    """Admits agents to seats by their tokens."""

    def __init__(self, lobby: Lobby | None = None) -> None:
        """Begin without seats; `lobby` is the waiting room for streams that have not sent a Join."""
        self._seats: dict[str, AgentSeat] = {}
        self._lobby = lobby or Lobby()

    def add(self, seat: AgentSeat) -> None:
        """Let an agent join with the seat's token."""
        self._seats[seat.token] = seat

    def remove(self, seat: AgentSeat) -> None:
        """Refuse the seat's token from now on."""
        self._seats.pop(seat.token, None)

    async def play(self, call: Call) -> None:
        """Serve a call to Play; its Join must contain the token of a seat."""
        join = await self._read_join(call)
        seat = self._seats.get(join.token)
        if seat is None:
            await call.abort(
                grpc.StatusCode.UNAUTHENTICATED,
                "the token is unknown or was used up; a started agent finds a fresh one in DOGANA_TOKEN",
            )
        # A token for a single join is removed before the call is served, so that nobody else can join with it.
        if not seat.may_come_back:
            self.remove(seat)
        await seat.serve(call, join)

    async def _read_join(self, call: Call) -> pb.Join:
        data = await self._lobby.first_message(call)
        try:
            message = wire.read_agent_message(data)
        except wire.MalformedMessage as error:
            await call.abort(grpc.StatusCode.INVALID_ARGUMENT, f"the first message must be Join; it was {error}")
        if message.WhichOneof("message") != "join":
            await call.abort(grpc.StatusCode.INVALID_ARGUMENT, "the first message must be Join, not Choose")
        if message.join.protocol != wire.PROTOCOL:
            await call.abort(
                grpc.StatusCode.FAILED_PRECONDITION,
                f"protocol {message.join.protocol} is not spoken here; this referee speaks protocol {wire.PROTOCOL}",
            )
        return message.join


class Calls(grpc.aio.ServerInterceptor):
    """Tracks the open calls of all services.

    gRPC prints a traceback if the event loop ends before a call does, and anybody may open a call.
    """

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    @override
    async def intercept_service(self, continuation: Any, handler_call_details: grpc.HandlerCallDetails) -> Any:
        task = asyncio.current_task()  # serves this call to its end
        assert task is not None  # noqa: S101 a coroutine runs in a task
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return await continuation(handler_call_details)

    async def end(self) -> None:
        """Wait for all calls to end after the server has stopped. The server cancels them, which takes a moment."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=CANCEL_SECONDS)


class Door:
    """A Unix domain socket at which one agent can call the method Play, and no other method.

    Attributes:
        socket: the path of the socket, which only this user can reach.
    """

    def __init__(self, allowance: int = ALLOWANCE) -> None:
        """Make a folder for the socket; `allowance` is the number of useless frames allowed (see `ALLOWANCE`)."""
        self._allowance = allowance
        self._folder = SocketFolder()
        self.socket = self._folder.socket
        self._listener: Listener | None = None

    def serve(self, play: Play) -> None:
        """Start accepting calls."""
        self._listener = Listener(
            self.socket,
            f"/{SERVICE}/Play",
            play,
            max_message_bytes=MAX_FRAME_BYTES,
            max_calls=MAX_STREAMS_AT_A_SEAT,
            idle_seconds=IDLE_MILLISECONDS / 1000,
            allowance=self._allowance,
        )

    async def close(self, seconds: float = STOP_SECONDS) -> None:
        """Give open calls `seconds` to end, then cancel those that are still open, and remove the socket."""
        listener, self._listener = self._listener, None
        try:
            if listener is not None:
                await listener.stop(seconds, CANCEL_SECONDS)
        finally:
            self._folder.remove()


class SeatDoor(Door):
    """A door to one seat, and to nothing else. A box shows the door's socket to the agent under a different path."""

    def open(self, seat: AgentSeat) -> None:
        """Start accepting calls from the seat's agent."""
        doorkeeper = Doorkeeper()
        doorkeeper.add(seat)
        self.serve(doorkeeper.play)
        self.socket.chmod(0o666)  # its folder keeps other users out; the agent may be another user
        seat.joined.add_done_callback(self._shut)

    def _shut(self, _: object) -> None:
        """Accept no more connections: an agent that has joined needs no second one, and each takes a file descriptor.

        Connecting requires write permission on the socket, even for its owner; see unix(7). Open connections stay open.
        """
        with contextlib.suppress(FileNotFoundError):  # it has been closed meanwhile
            self.socket.chmod(0)
