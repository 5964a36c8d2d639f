"""The door that leads to a single seat."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from pathlib import Path
from typing import Any

import grpc
import pytest
from hpack import Encoder

from dogana.v1 import referee_pb2 as pb
from referee.live.doors import frames
from referee.live.doors.call import Http2Call as HeldCall
from referee.live.doors.door import SERVICE, Door, SeatDoor
from referee.live.doors.listener import ALLOWANCE
from referee.live.matches.server import RefereeServer
from referee.live.seats.agent import AgentSeat
from referee.match.result import Result
from tests.patience import patient


async def status_of(address: str, method: str, message: bytes) -> grpc.StatusCode:
    async with grpc.aio.insecure_channel(address) as channel:
        call: Any
        if method == "Play":
            call = channel.stream_stream(f"/{SERVICE}/Play")()
            await call.write(message)
        else:
            ask: Any = channel.unary_stream(f"/{SERVICE}/{method}")
            call = ask(message)
        try:
            await asyncio.wait_for(call.read(), patient(20))
        except grpc.aio.AioRpcError as error:
            return error.code()
        code: grpc.StatusCode = await call.code()
        return code


def join(token: str) -> bytes:
    return pb.AgentMessage(join=pb.Join(token=token, protocol=1)).SerializeToString()


async def test_it_takes_its_own_token_and_no_other() -> None:
    own, other = AgentSeat(0, may_come_back=False), AgentSeat(1, may_come_back=False)
    door = SeatDoor()
    door.open(own)
    try:
        address = f"unix:{door.socket}"
        assert await status_of(address, "Play", join(other.token)) is grpc.StatusCode.UNAUTHENTICATED
        assert await status_of(address, "Play", join("")) is grpc.StatusCode.UNAUTHENTICATED
        assert not own.joined.done()
        async with grpc.aio.insecure_channel(address) as channel:
            call: Any = channel.stream_stream(f"/{SERVICE}/Play")()
            await call.write(join(own.token))
            await asyncio.wait_for(own.joined, patient(20))
    finally:
        await door.close()


async def test_the_token_of_a_seat_with_a_door_is_worth_nothing_elsewhere() -> None:
    own = AgentSeat(0, may_come_back=False)
    door = SeatDoor()
    door.open(own)
    try:
        async with RefereeServer() as server:
            code = await status_of(server.local_address, "Play", join(own.token))
        assert code is grpc.StatusCode.UNAUTHENTICATED
    finally:
        await door.close()


@pytest.mark.parametrize("method", ["Watch", "Health"])
async def test_nothing_but_play_is_behind_it(method: str) -> None:
    door = SeatDoor()
    door.open(AgentSeat(0, may_come_back=False))
    try:
        code = await status_of(f"unix:{door.socket}", method, pb.WatchRequest().SerializeToString())
        assert code is grpc.StatusCode.UNIMPLEMENTED
    finally:
        await door.close()


def test_it_leaves_no_socket() -> None:
    async def scene() -> Path:
        door = SeatDoor()
        door.open(AgentSeat(0, may_come_back=False))
        assert door.socket.is_socket()
        await door.close()
        return door.socket

    assert not asyncio.run(asyncio.wait_for(scene(), patient(90))).parent.exists()


async def test_an_agent_that_does_not_read_the_end_cannot_go_on_to_speak() -> None:
    """What it says is not judged any more; it must not keep the referee from hearing others either."""

    no_room = frames.SETTING.pack(frames.INITIAL_WINDOW_SIZE, 0)

    def flood(agent: socket.socket) -> bytes:
        with contextlib.suppress(ConnectionError):
            for _ in range(2 * ALLOWANCE):
                agent.sendall(said(b""))
            agent.sendall(frames.frame(frames.PING, 0, 0, b"question"))
        heard = b""
        with contextlib.suppress(ConnectionError):
            while b"question" not in heard and (data := agent.recv(65_536)):
                heard += data
        return heard

    seat = AgentSeat(0, may_come_back=False)
    door = SeatDoor()
    door.open(seat)
    try:
        with socket.socket(socket.AF_UNIX) as agent:
            agent.settimeout(30)
            agent.connect(str(door.socket))
            agent.sendall(
                frames.PREFACE + frames.frame(frames.SETTINGS, 0, 0, no_room) + opening() + said(join(seat.token))
            )
            await seat.joined
            seat.finish(Result((), 0, "", None))
            assert (await asyncio.to_thread(flood, agent)).endswith(b"too many frames of no use")
    finally:
        await door.close()


def opening() -> bytes:
    path = (":path", f"/{SERVICE}/Play")
    headers = [(":method", "POST"), (":scheme", "http"), path, ("content-type", "application/grpc")]
    return frames.frame(frames.HEADERS, frames.END_HEADERS, 1, Encoder().encode(headers))


def said(message: bytes) -> bytes:
    return frames.frame(frames.DATA, 0, 1, bytes(1) + len(message).to_bytes(4, "big") + message)


async def test_it_does_not_ping() -> None:
    """A bot of the SDK answers no ping while it thinks, and would be taken for lost; gRPC pings even to measure a connection."""

    async def echo(call: HeldCall) -> None:
        while (data := await call.read()) is not None:
            await call.write(data)

    def talk(agent: socket.socket) -> set[int]:
        """Say 20 messages and hear them again; return the kinds of frames that came."""
        room = frames.window_update(0, 1 << 20) + frames.window_update(1, 1 << 20)
        agent.sendall(frames.PREFACE + frames.frame(frames.SETTINGS, 0, 0) + opening() + room)
        kinds, heard, unread = set(), 0, b""
        for number in range(1, 21):
            agent.sendall(said(bytes(10_000)))
            while heard < number * 10_005:
                unread += agent.recv(65_536)
                while len(unread) >= 9 and len(unread) >= 9 + int.from_bytes(unread[:3], "big"):
                    size, kind = int.from_bytes(unread[:3], "big"), unread[3]
                    kinds.add(kind)
                    heard += size if kind == frames.DATA else 0
                    unread = unread[9 + size :]
        return kinds

    door = Door()
    door.serve(echo)
    try:
        with socket.socket(socket.AF_UNIX) as agent:
            agent.settimeout(patient(30))
            agent.connect(str(door.socket))
            kinds = await asyncio.to_thread(talk, agent)
            assert frames.DATA in kinds
            assert frames.PING not in kinds
    finally:
        await door.close()
