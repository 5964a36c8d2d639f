"""The door that leads to a single seat."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import grpc
import pytest

from dogana.v1 import referee_pb2 as pb
from referee.live.agent import AgentSeat
from referee.live.door import SERVICE, SeatDoor
from referee.live.server import RefereeServer


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
            await asyncio.wait_for(call.read(), 20)
        except grpc.aio.AioRpcError as error:
            return error.code()
        code: grpc.StatusCode = await call.code()
        return code


def join(token: str) -> bytes:
    return pb.AgentMessage(join=pb.Join(token=token, protocol=1)).SerializeToString()


def test_it_takes_its_own_token_and_no_other() -> None:
    async def scene() -> None:
        own, other = AgentSeat(0, may_come_back=False), AgentSeat(1, may_come_back=False)
        door = SeatDoor()
        await door.open(own)
        try:
            address = f"unix:{door.socket}"
            assert await status_of(address, "Play", join(other.token)) is grpc.StatusCode.UNAUTHENTICATED
            assert await status_of(address, "Play", join("")) is grpc.StatusCode.UNAUTHENTICATED
            assert not own.joined.done()
            async with grpc.aio.insecure_channel(address) as channel:
                call: Any = channel.stream_stream(f"/{SERVICE}/Play")()
                await call.write(join(own.token))
                await asyncio.wait_for(own.joined, 20)
        finally:
            await door.close()

    asyncio.run(asyncio.wait_for(scene(), 90))


def test_the_token_of_a_seat_with_a_door_is_worth_nothing_elsewhere() -> None:
    async def scene() -> None:
        own = AgentSeat(0, may_come_back=False)
        door = SeatDoor()
        await door.open(own)
        try:
            async with RefereeServer() as server:
                code = await status_of(server.local_address, "Play", join(own.token))
            assert code is grpc.StatusCode.UNAUTHENTICATED
        finally:
            await door.close()

    asyncio.run(asyncio.wait_for(scene(), 90))


@pytest.mark.parametrize("method", ["Watch", "Health"])
def test_nothing_but_play_is_behind_it(method: str) -> None:
    async def scene() -> None:
        door = SeatDoor()
        await door.open(AgentSeat(0, may_come_back=False))
        try:
            code = await status_of(f"unix:{door.socket}", method, pb.WatchRequest().SerializeToString())
            assert code is grpc.StatusCode.UNIMPLEMENTED
        finally:
            await door.close()

    asyncio.run(asyncio.wait_for(scene(), 90))


def test_it_leaves_no_socket() -> None:
    async def scene() -> Path:
        door = SeatDoor()
        await door.open(AgentSeat(0, may_come_back=False))
        assert door.socket.is_socket()
        await door.close()
        return door.socket

    assert not asyncio.run(asyncio.wait_for(scene(), 90)).parent.exists()
