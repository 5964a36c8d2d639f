"""The gRPC side of the referee: the methods Play and Watch, tokens, limits, health and reflection.

This module only translates bytes into calls of the match driver, and the driver's messages into bytes.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterable, AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf.message import DecodeError
from grpc.aio import ServicerContext
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection, reflection_pb2, reflection_pb2_grpc
from typing_extensions import override

from dogana.v1 import referee_pb2 as pb
from referee.errors import DoganaError
from referee.live.doors.door import OPTIONS, SERVICE, STOP_SECONDS, Calls, Doorkeeper
from referee.live.doors.grpc_call import GrpcCall
from referee.live.doors.lobby import CallLimit, Lobby
from referee.live.matches.spectators import Showing
from referee.live.seats.agent import AgentSeat
from referee.match.plan import MatchPlan
from referee.sandbox.socket_folder import SocketFolder, sweep
from referee.sandbox.system import allow_files
from referee.terminal import visible

MAX_STREAMS_PER_CONNECTION = 256
"""The maximum number of open calls per connection; further calls wait in the client.

It must be at least the maximum number of a peer's streams in the lobby.
"""
MAX_WATCHERS = 64
"""The maximum number of concurrent spectators; the same limit holds for health-watching calls and reflection calls."""

LAST_SECONDS = 3.0
"""The time that a stopping server waits for spectators to read the end of their match."""


class PortInUse(DoganaError):
    """The referee cannot listen on an address; the text names the address and the reason."""


@dataclass(frozen=True, slots=True)
class Listen:
    """The address of the referee for remote agents and spectators."""

    address: str
    """The host and the port, as `host:port`."""
    certificate: bytes | None = None
    """The TLS certificate chain, as PEM; None for connections without encryption."""
    key: bytes | None = None
    """The private key of the certificate, as PEM."""

    def __post_init__(self) -> None:
        """Check the address.

        Raises:
            PortInUse: if the address is not a host and a port.
        """
        host, _, port = self.address.rpartition(":")
        if not host or not re.fullmatch(r"[0-9]{1,5}", port) or int(port) > 65535:
            raise PortInUse(f"cannot listen on {self.address}: an address is host:port, with a port from 0 to 65535")

    def add_to(self, server: grpc.aio.Server) -> int:
        """Let a server listen on the address; return the TCP port.

        Raises:
            PortInUse: if the port cannot be used.
        """
        try:
            if self.certificate is None or self.key is None:
                return server.add_insecure_port(self.address)
            return server.add_secure_port(self.address, grpc.ssl_server_credentials([(self.key, self.certificate)]))
        except RuntimeError as error:
            raise PortInUse(
                f"cannot listen on {self.address}: is the address right, and no other program using it?"
                + (" Are certificate and key PEM files that belong together?" if self.key else "")
            ) from error


class RefereeServer:
    """The server for the seats and the spectators of the matches that are played in this process.

    Use it as an asynchronous context manager: `async with RefereeServer() as server: ...`.
    """

    def __init__(
        self, listen: Listen | None = None, *, lobby: Lobby | None = None, last_seconds: float = LAST_SECONDS
    ) -> None:
        """Prepare a server on a Unix domain socket, and on TCP as well if `listen` is given.

        Args:
            listen: the address for remote agents and spectators.
            lobby: the waiting room for streams that have not sent a Join.
            last_seconds: see `LAST_SECONDS`.
        """
        self._listen = listen
        self._last_seconds = last_seconds
        self._doorkeeper = Doorkeeper(lobby)
        self._showings: dict[str, Showing] = {}
        self._watching: set[asyncio.Task[None]] = set()
        self._watchers = CallLimit(MAX_WATCHERS, "spectators")
        self._calls = Calls()
        self._folder: SocketFolder | None = None
        self._server: grpc.aio.Server | None = None
        self.local_address = ""
        """The address for agents on this machine, as in DOGANA_ADDRESS."""
        self.remote_port = 0
        """The TCP port, if the server listens on one."""

    async def __aenter__(self) -> RefereeServer:
        """Start listening.

        Raises:
            PortInUse: if the port cannot be used.
        """
        allow_files()
        sweep()  # sockets of referees that were killed
        self._folder = SocketFolder()
        server = self._server = grpc.aio.server(
            interceptors=[self._calls],
            options=[
                *OPTIONS,
                ("grpc.max_concurrent_streams", MAX_STREAMS_PER_CONNECTION),
                ("grpc.keepalive_time_ms", 20_000),
                ("grpc.keepalive_timeout_ms", 10_000),
            ],
        )
        # The handlers take and return bytes, so that this module, and not gRPC, checks the messages of clients.
        play: grpc.RpcMethodHandler[bytes, bytes] = grpc.stream_stream_rpc_method_handler(self._play)
        watch: grpc.RpcMethodHandler[bytes, bytes] = grpc.unary_stream_rpc_method_handler(self.watch)
        handlers = grpc.method_handlers_generic_handler(SERVICE, {"Play": play, "Watch": watch})
        server.add_generic_rpc_handlers((handlers,))
        healthy = Health()
        health_pb2_grpc.add_HealthServicer_to_server(healthy, server)
        reflecting = _Reflection((SERVICE, health.SERVICE_NAME, reflection.SERVICE_NAME))
        reflection_pb2_grpc.add_ServerReflectionServicer_to_server(reflecting, server)
        self.local_address = f"unix:{self._folder.socket}"
        server.add_insecure_port(self.local_address)
        if self._listen is not None:
            try:
                self.remote_port = self._listen.add_to(server)
            except PortInUse:
                await self.__aexit__()
                raise
        await server.start()
        for name in ("", SERVICE):
            await healthy.set(name, health_pb2.HealthCheckResponse.SERVING)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Let spectators read the end of their match, then end every stream and stop listening."""
        try:
            if self._watching:
                await asyncio.wait(self._watching, timeout=self._last_seconds)
            if self._server is not None:
                await self._server.stop(grace=STOP_SECONDS)
                await self._calls.end()
        finally:  # this method is cancelled if the event loop ends
            self._server = None
            if self._folder is not None:
                self._folder.remove()
                self._folder = None

    def add_seat(self, seat: AgentSeat) -> None:
        """Accept the seat's token from now on."""
        self._doorkeeper.add(seat)

    def remove_seat(self, seat: AgentSeat) -> None:
        """Refuse the seat's token from now on."""
        self._doorkeeper.remove(seat)

    def showing(self, plan: MatchPlan) -> Showing:
        """Offer a match to spectators before it begins; return the object that shows the match."""
        return self._showings.setdefault(plan.match_id, Showing())

    def remove_match(self, plan: MatchPlan) -> None:
        """Stop offering a match to spectators; current spectators may read on to its end."""
        showing = self._showings.pop(plan.match_id, None)
        if showing is not None:
            showing.end()

    async def _play(self, _: object, context: ServicerContext[bytes, bytes]) -> None:
        await self._doorkeeper.play(GrpcCall(context))

    async def watch(self, data: bytes, context: Any) -> None:
        """Serve a call to Watch by showing the match that the request names."""
        try:
            request = pb.WatchRequest.FromString(data)
        except DecodeError:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "this is not a dogana.v1.WatchRequest")
            return
        showing = self._showings.get(request.match_id)
        if not request.match_id and len(self._showings) == 1:
            [showing] = self._showings.values()
        if showing is None:
            match = f"match '{visible(request.match_id, 64)}'" if request.match_id else "single match"
            await context.abort(grpc.StatusCode.NOT_FOUND, f"no {match} is played here")
            return
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 this is a coroutine
        async with self._watchers.one(context):
            self._watching.add(task)
            try:
                await showing.show(context, labels=request.labels)
            finally:
                self._watching.discard(task)


# --- services that gRPC programs expect of every server --------------------------------------------------------


class Health(health.aio.HealthServicer):  # type: ignore[misc]  # the package has no types
    """The service for health checks; only a limited number of calls may watch the health."""

    def __init__(self) -> None:
        super().__init__()
        self._places = CallLimit(MAX_WATCHERS, "calls that watch the health")

    @override
    async def Watch(self, request: health_pb2.HealthCheckRequest, context: Any) -> None:
        async with self._places.one(context):
            await super().Watch(request, context)


class _Reflection(reflection.aio.ReflectionServicer):  # type: ignore[misc]  # the package has no types
    """The service for reflection, for a limited number of concurrent calls."""

    def __init__(self, services: Sequence[str]) -> None:
        super().__init__(services)
        self._places = CallLimit(MAX_WATCHERS, "calls that reflect")

    @override
    async def ServerReflectionInfo(
        self, requests: AsyncIterable[reflection_pb2.ServerReflectionRequest], context: Any
    ) -> AsyncIterator[reflection_pb2.ServerReflectionResponse]:
        async with self._places.one(context):
            async for answer in super().ServerReflectionInfo(requests, context):
                yield answer
