"""Clients that are no agents, over real gRPC: streams that never join, requests that are too large, calls that are cancelled."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2

from dogana.v1 import referee_pb2 as pb
from referee.live.doors.door import MAX_FRAME_BYTES
from referee.live.doors.lobby import MAX_WAITING, MAX_WAITING_PER_PEER, Lobby
from referee.live.matches.play import Remote
from referee.live.matches.server import MAX_WATCHERS, Listen, RefereeServer
from referee.match.result import Outcome
from tests.cases import mostly_long
from tests.matches import Referee
from tests.patience import until
from tests.referee.test_wire import joined, run, running_match
from tests.tables import plan_of

FLOOD = 300
WATCH = "dogana.v1.Referee/Watch"


@contextlib.asynccontextmanager
async def channels(address: str, count: int) -> AsyncIterator[list[grpc.aio.Channel]]:
    """Channels with a connection each."""
    opened = [grpc.aio.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)]) for _ in range(count)]
    try:
        yield opened
    finally:
        for channel in opened:
            await channel.close()


def play_stream(channel: grpc.aio.Channel) -> Any:
    return channel.stream_stream("/dogana.v1.Referee/Play", response_deserializer=pb.RefereeMessage.FromString)()


def unary(channel: grpc.aio.Channel, method: str, request: bytes) -> Any:
    call: Any = channel.unary_stream(f"/{method}")
    return call(request)


async def joins(channel: grpc.aio.Channel, token: str) -> Any:
    call = play_stream(channel)
    await call.write(pb.AgentMessage(join=pb.Join(token=token, protocol=1)).SerializeToString())
    message = await call.read()
    assert message.WhichOneof("message") == "welcome"
    return call


def patient_lobby(max_waiting: int = MAX_WAITING) -> Lobby:
    """Streams may wait in it for ever, so that a deadline that passes cannot help an agent in."""
    return Lobby(join_seconds=10_000.0, max_waiting=max_waiting)


# --- streams that never join ----------------------------------------------------------------------------------


@pytest.mark.parametrize("connections", [1, 5])
async def test_an_agent_joins_and_plays_while_300_streams_do_not_join(connections: int) -> None:
    lobby = patient_lobby()
    async with running_match(listen=Listen("127.0.0.1:0"), lobby=lobby) as room:
        address = f"127.0.0.1:{room.server.remote_port}"
        async with channels(address, connections) as hostile:
            streams = [play_stream(hostile[number % connections]) for number in range(FLOOD)]
            await until(lambda: sum(stream.done() for stream in streams) == FLOOD - MAX_WAITING_PER_PEER)
            displaced = [stream for stream in streams if stream.done()]
            codes = {await stream.code() for stream in displaced}
            # HTTP/2 itself refuses what one connection opens before it has heard how many it may.
            assert codes - {grpc.StatusCode.UNAVAILABLE} == {grpc.StatusCode.RESOURCE_EXHAUSTED}
            bot = await room.agent(address=address)
            await bot.join()
            await bot.play_out()
            assert (await room.report()).result.seats[0].outcome is Outcome.PLAYED
            assert lobby.waiting >= MAX_WAITING_PER_PEER - 1


async def test_an_agent_joins_through_the_very_connection_that_is_full_of_streams_that_do_not() -> None:
    async with running_match(lobby=patient_lobby()) as room, channels(room.server.local_address, 1) as [channel]:
        streams = [play_stream(channel) for _ in range(FLOOD)]
        await until(lambda: sum(stream.done() for stream in streams) == FLOOD - MAX_WAITING_PER_PEER)
        await room.announced.wait()
        (await joins(channel, room.tokens[0])).cancel()
        for stream in streams:
            stream.cancel()


async def test_a_stream_that_waits_is_not_crowded_out_by_streams_of_another_peer() -> None:
    lobby = patient_lobby()
    async with running_match(listen=Listen("127.0.0.1:0"), lobby=lobby) as room:
        early = await room.agent(address=f"127.0.0.1:{room.server.remote_port}")
        await until(lambda: lobby.waiting == 1)
        async with channels(room.server.local_address, 3) as hostile:
            streams = [play_stream(hostile[number % 3]) for number in range(FLOOD)]
            await until(lambda: sum(stream.done() for stream in streams) == FLOOD - MAX_WAITING_PER_PEER)
            assert lobby.waiting == MAX_WAITING_PER_PEER + 1
            await early.join()


async def test_when_all_peers_together_wait_with_too_many_streams_the_one_with_most_makes_room() -> None:
    lobby, listen = patient_lobby(max_waiting=10), Listen("127.0.0.1:0")
    async with running_match(listen=listen, lobby=lobby) as room, channels(room.server.local_address, 1) as [many]:
        streams = [play_stream(many) for _ in range(10)]
        await until(lambda: lobby.waiting == 10)
        early = await room.agent(address=f"127.0.0.1:{room.server.remote_port}")
        await until(lambda: any(stream.done() for stream in streams))
        assert [stream.done() for stream in streams].count(True) == 1
        assert lobby.waiting == 10
        await early.join()


async def test_joined_seats_do_not_count_as_waiting() -> None:
    plan, lobby = plan_of(options={"last_turn": 2}), Lobby(max_waiting_per_peer=1)
    async with running_match(plan, [Remote(20), Remote(20)], lobby=lobby) as room:
        one = await room.agent(0)
        await one.send(join=pb.Join(token=one.token, protocol=1))
        two = await room.agent(1)
        await two.join()
        await asyncio.gather(one.play_out(), two.play_out())


@pytest.mark.parametrize(
    ("limit", "says"),
    mostly_long(
        [
            ("ulimit -Sn 256", b""),
            ("ulimit -n 256", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"),  # RFC 9113, 3.4
        ]
    ),
    ids=["more than files by default, silent", "more than files at all, without a call"],
)
def test_connections_without_a_call_do_not_keep_an_agent_out(tmp_path: Path, limit: str, says: bytes) -> None:
    with Referee(tmp_path, before=limit) as referee:
        host, port = referee.address.split(":")
        idle = [socket.create_connection((host, int(port))) for _ in range(FLOOD)]
        for one in idle:
            one.sendall(says)
        referee.play()
        assert referee.ending()[0] == 0
        for one in idle:
            one.close()


# --- nothing is echoed, kept or printed without bounds ---------------------------------------------------------


@pytest.mark.long
def test_25_requests_of_4_megabytes_leave_the_memory_as_it_was_and_print_nothing(tmp_path: Path) -> None:
    async def attack(address: str) -> None:
        async with channels(address, 1) as [channel]:
            for method, request in (
                ("dogana.v1.Referee/Watch", pb.WatchRequest(match_id="x" * 4_000_000)),
                ("grpc.health.v1.Health/Check", health_pb2.HealthCheckRequest(service="x" * 4_000_000)),
            ):
                for _ in range(25 if method == WATCH else 3):
                    call = unary(channel, method, request.SerializeToString())
                    assert await call.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
                    assert len(await call.details()) < 200

    with Referee(tmp_path) as referee:
        before = referee.resident_bytes()
        run(attack(referee.address))
        assert referee.resident_bytes() - before < 50_000_000
        referee.play()
        status, _, printed = referee.ending()
        assert (status, printed) == (0, "")


@pytest.mark.parametrize(
    ("match_id", "expected"),
    [
        ("x" * (MAX_FRAME_BYTES - 100), "no match '" + "x" * 61 + "...' is played here"),
        ("\x1b[2J\u202e\n", r"no match '\x1b[2J\u202e\n' is played here"),
    ],
    ids=["long", "escapes"],
)
async def test_the_name_of_a_match_that_is_not_there_is_shortened_and_made_visible(
    match_id: str, expected: str
) -> None:
    async with running_match() as room, channels(room.server.local_address, 1) as [channel]:
        call = unary(channel, WATCH, pb.WatchRequest(match_id=match_id).SerializeToString())
        assert (await call.code(), await call.details()) == (grpc.StatusCode.NOT_FOUND, expected)


async def test_a_request_to_watch_that_cannot_be_read_is_refused() -> None:
    async with running_match() as room, channels(room.server.local_address, 1) as [channel]:
        call = unary(channel, WATCH, b"\xff\xff")
        assert await call.code() is grpc.StatusCode.INVALID_ARGUMENT


def test_200_cancelled_spectators_leave_no_task_and_print_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    async def scene() -> None:
        async with joined() as (room, bot):
            await bot.decide()
            before = len(asyncio.all_tasks())
            async with channels(room.server.local_address, 1) as [channel]:
                await spectate(channel, 200)
                await until(lambda: len(asyncio.all_tasks()) <= before)

    run(scene())
    assert capfd.readouterr().err == ""


async def spectate(channel: grpc.aio.Channel, count: int) -> None:
    """Watch, and cancel: every other call before anything has come."""
    for number in range(count):
        call = unary(channel, WATCH, b"")
        if number % 2 == 0:
            await call.read()
        call.cancel()


LONG_CALLS = [
    ("dogana.v1.Referee/Watch", pb.WatchRequest()),
    ("grpc.health.v1.Health/Watch", health_pb2.HealthCheckRequest()),
    (
        "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
        reflection_pb2.ServerReflectionRequest(list_services=""),
    ),
]


@pytest.mark.parametrize(("method", "request_"), LONG_CALLS, ids=[method for method, _ in LONG_CALLS])
async def test_calls_that_stay_are_limited_in_number_and_give_their_place_back(method: str, request_: Any) -> None:
    async with running_match() as room, channels(room.server.local_address, 1) as [channel]:
        bot = await room.agent()
        await bot.join()

        async def call() -> Any:
            opened: Any = channel.stream_stream(f"/{method}")()
            with contextlib.suppress(grpc.aio.AioRpcError):  # it may be refused before it has said anything
                await opened.write(request_.SerializeToString())
            return opened

        staying = [await call() for _ in range(MAX_WATCHERS)]
        for one in staying:
            assert await one.read()
        late = await call()
        assert await late.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert f"more than {MAX_WATCHERS}" in await late.details()
        staying[0].cancel()
        served = False
        while not served:  # until the referee has heard of it
            late = await call()
            with contextlib.suppress(grpc.aio.AioRpcError):
                served = bool(await late.read())
        for one in [*staying, late]:
            one.cancel()


@pytest.mark.parametrize(
    ("end", "status", "printed"),
    [(Referee.play, 0, ""), (Referee.interrupt, 130, "the match was interrupted: it has no result and no record\n")],
    ids=["after the match", "by Ctrl-C"],
)
async def test_calls_that_are_open_when_the_referee_ends_make_it_print_nothing(
    tmp_path: Path, end: Callable[[Referee], None], status: int, printed: str
) -> None:
    with Referee(tmp_path) as referee:
        async with channels(referee.address, 1) as [channel]:
            staying = [play_stream(channel) for _ in range(20)]
            for method, request in LONG_CALLS[1:] * 5:
                staying.append(channel.stream_stream(f"/{method}")())
                await staying[-1].write(request.SerializeToString())
                assert await staying[-1].read()  # what was opened earlier on this connection has arrived, too
            await asyncio.to_thread(end, referee)
            ended, _, errors = await asyncio.to_thread(referee.ending)
            assert (ended, errors) == (status, printed)


async def test_a_server_has_stopped_when_its_calls_have_ended() -> None:
    arrived, ended = [], []

    class EndsSlowly(Lobby):
        async def first_message(self, call: Any) -> bytes:
            arrived.append(call)
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0.2)
                ended.append(call)
            return b""

    server = RefereeServer(lobby=EndsSlowly())
    async with server, channels(server.local_address, 1) as [channel]:
        staying = [play_stream(channel) for _ in range(3)]
        await until(lambda: len(arrived) == len(staying))
        await server.__aexit__()
        assert len(ended) == len(staying)
