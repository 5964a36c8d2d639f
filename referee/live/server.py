"""The gRPC side of the referee: the services Play and Watch, tokens, limits, health and reflection.

Only translation happens here: bytes into calls of the match driver, and what the driver wants said into bytes.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from dogana.v1 import referee_pb2 as pb
from referee.errors import DoganaError
from referee.game import Observation
from referee.live import wire
from referee.live.agent import MAX_UNREAD_MESSAGES, AgentSeat, Context
from referee.live.driver import MatchDriver
from referee.live.socket_folder import SocketFolder
from referee.match.effects import Played
from referee.match.result import Result

SERVICE = "dogana.v1.Referee"
MAX_FRAME_BYTES = 4 * 1024 * 1024
"""A larger message is not even read: the stream ends."""
JOIN_SECONDS = 10.0
"""How long a stream may stay without a Join."""
MAX_STREAMS = 256
"""So many streams are served at a time."""
MAX_WATCHERS = 64
"""So many spectators are served at a time."""


class PortInUse(DoganaError):
    """The referee cannot listen where it was told to; the text says where and why."""


@dataclass(frozen=True, slots=True)
class Listen:
    """Where remote agents and spectators can reach the referee."""

    address: str
    """`host:port`."""
    certificate: bytes | None = None
    """The TLS certificate chain, as PEM; None for a connection that is not encrypted."""
    key: bytes | None = None
    """Its private key, as PEM."""

    def __post_init__(self) -> None:
        """Checks the address.

        Raises:
            PortInUse: if it cannot be one.
        """
        host, _, port = self.address.rpartition(":")
        if not host or not re.fullmatch(r"[0-9]{1,5}", port) or int(port) > 65535:
            raise PortInUse(f"cannot listen on {self.address}: an address is host:port, with a port from 0 to 65535")


class RefereeServer:
    """Serves the seats and the spectators of the matches that are played in this process.

    Use it as an asynchronous context manager: `async with RefereeServer() as server: ...`.
    """

    def __init__(self, listen: Listen | None = None) -> None:
        """Prepares a server on a Unix domain socket, and with `listen` on TCP as well."""
        self._listen = listen
        self._seats: dict[str, AgentSeat] = {}
        self._matches: dict[str, MatchDriver] = {}
        self.streams = 0
        """How many agents' streams are open."""
        self._watchers = 0
        self._folder: SocketFolder | None = None
        self._server: grpc.aio.Server | None = None
        self.local_address = ""
        """The address for agents on this machine, as in DOGANA_ADDRESS."""
        self.remote_port = 0
        """The TCP port, if the server listens on one."""

    async def __aenter__(self) -> RefereeServer:
        """Starts to listen.

        Raises:
            PortInUse: if that is not possible.
        """
        self._folder = SocketFolder()
        server = self._server = grpc.aio.server(
            options=[
                ("grpc.max_receive_message_length", MAX_FRAME_BYTES),
                ("grpc.max_concurrent_streams", MAX_STREAMS),
                ("grpc.so_reuseport", 0),
                ("grpc.keepalive_time_ms", 20_000),
                ("grpc.keepalive_timeout_ms", 10_000),
                ("grpc.http2.max_ping_strikes", 4),
            ]
        )
        # Play takes and gives bytes, so that what an agent sends is judged here and not inside of gRPC.
        play: grpc.RpcMethodHandler[bytes, bytes] = grpc.stream_stream_rpc_method_handler(self._play)
        watch = grpc.unary_stream_rpc_method_handler(
            self._watch,
            request_deserializer=pb.WatchRequest.FromString,
            response_serializer=pb.Happened.SerializeToString,
        )
        handlers = grpc.method_handlers_generic_handler(SERVICE, {"Play": play, "Watch": watch})
        server.add_generic_rpc_handlers((handlers,))
        healthy = health.aio.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(healthy, server)
        reflection.enable_server_reflection((SERVICE, health.SERVICE_NAME, reflection.SERVICE_NAME), server)
        self.local_address = f"unix:{self._folder.socket}"
        server.add_insecure_port(self.local_address)
        if self._listen is not None:
            try:
                self.remote_port = self._add_tcp_port(server, self._listen)
            except RuntimeError as error:
                await self.__aexit__()
                raise PortInUse(
                    f"cannot listen on {self._listen.address}: is the address right, and no other program using it?"
                    + (" Are certificate and key PEM files that belong together?" if self._listen.key else "")
                ) from error
        await server.start()
        for name in ("", SERVICE):
            await healthy.set(name, health_pb2.HealthCheckResponse.SERVING)
        return self

    @staticmethod
    def _add_tcp_port(server: grpc.aio.Server, listen: Listen) -> int:
        if listen.certificate is None or listen.key is None:
            return server.add_insecure_port(listen.address)
        credentials = grpc.ssl_server_credentials([(listen.key, listen.certificate)])
        return server.add_secure_port(listen.address, credentials)

    async def __aexit__(self, *_: object) -> None:
        """Ends every stream and stops to listen."""
        if self._server is not None:
            await self._server.stop(grace=0.5)
            self._server = None
        if self._folder is not None:
            self._folder.remove()
            self._folder = None

    def add_seat(self, seat: AgentSeat) -> None:
        """Lets an agent join with the seat's token."""
        self._seats[seat.token] = seat

    def remove_seat(self, seat: AgentSeat) -> None:
        """Makes the seat's token worthless."""
        self._seats.pop(seat.token, None)

    def add_match(self, driver: MatchDriver) -> None:
        """Lets spectators watch a match."""
        self._matches[driver.plan.match_id] = driver

    def remove_match(self, driver: MatchDriver) -> None:
        """Ends that."""
        self._matches.pop(driver.plan.match_id, None)

    # Play

    async def _play(self, _: object, context: Context) -> None:
        if self.streams >= MAX_STREAMS:
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, f"more than {MAX_STREAMS} streams")
        self.streams += 1
        try:
            join = await self._read_join(context)
            seat = self._seats.get(join.token)
            if seat is None:
                await context.abort(
                    grpc.StatusCode.UNAUTHENTICATED,
                    "the token is unknown or was used up; a started agent finds a fresh one in DOGANA_TOKEN",
                )
                return
            if not seat.may_come_back:
                self.remove_seat(seat)
            await seat.serve(context, join)
        finally:
            self.streams -= 1

    async def _read_join(self, context: Context) -> pb.Join:
        try:
            data = await asyncio.wait_for(context.read(), JOIN_SECONDS)
            if not isinstance(data, bytes):  # grpc.aio.EOF
                raise wire.MalformedMessage("none")
            message = wire.read_agent_message(data)
        except (TimeoutError, wire.MalformedMessage) as error:
            seen = str(error) or f"none within {JOIN_SECONDS:g} s"
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"the first message must be Join; it was {seen}")
            raise
        if message.WhichOneof("message") != "join":
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "the first message must be Join, not Choose")
        if message.join.protocol != wire.PROTOCOL:
            await context.abort(
                grpc.StatusCode.FAILED_PRECONDITION,
                f"protocol {message.join.protocol} is not spoken here; this referee speaks protocol {wire.PROTOCOL}",
            )
        return message.join

    # Watch

    async def _watch(self, request: pb.WatchRequest, context: Any) -> None:
        driver = self._matches.get(request.match_id)
        if not request.match_id and len(self._matches) == 1:
            driver = next(iter(self._matches.values()))
        if driver is None:
            await context.abort(grpc.StatusCode.NOT_FOUND, f"no match {request.match_id!r} is running here")
            return
        if self._watchers >= MAX_WATCHERS:
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, f"more than {MAX_WATCHERS} spectators")
        self._watchers += 1
        queue: asyncio.Queue[pb.Happened] = asyncio.Queue(MAX_UNREAD_MESSAGES)
        too_slow = asyncio.Event()

        def show(played: Sequence[Played], seen: Observation, result: Result | None) -> None:
            message = wire.happened(driver.plan, driver.codec, played, request.labels, seen, result)
            try:
                queue.put_nowait(message)
            except asyncio.QueueFull:
                too_slow.set()

        leave = driver.watch(show)
        try:
            first = True
            while not too_slow.is_set():
                message = await _next_message(queue, driver)
                if message is None:
                    await context.abort(grpc.StatusCode.ABORTED, "the match was voided")
                    return
                if first:
                    message.options.update(wire.options_text(driver.plan))
                    message.board.CopyFrom(wire.board_struct(driver.plan))
                    first = False
                await context.write(message)
                if message.HasField("game_over"):
                    return
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "this spectator reads too slowly")
        finally:
            leave()
            self._watchers -= 1


async def _next_message(queue: asyncio.Queue[pb.Happened], driver: MatchDriver) -> pb.Happened | None:
    """The next thing to show; None if the match ends without one."""
    if queue.empty():
        waiting = asyncio.ensure_future(queue.get())
        futures: set[asyncio.Future[Any]] = {waiting, driver.done}
        await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)
        if waiting.done():
            return waiting.result()
        waiting.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await waiting
    return None if queue.empty() else queue.get_nowait()
