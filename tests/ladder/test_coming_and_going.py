"""Bots at home that come and go: again and again, at the wrong moment, or with another version each time. Real server and calls."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import grpc
import pytest

from dogana.v1 import ladder_pb2 as pb
from dogana.v1 import referee_pb2
from ladder.facts.store import Store
from ladder.intake.offer import disconnect
from ladder.operation.home import Home
from ladder.operation.limits import CallLimits, Limits
from ladder.operation.meter import Allowance, Meter
from ladder.play.pool import Invitation
from ladder.service import server as server_module
from ladder.service.at_home import AtHome
from tests.ladder.test_at_home import (
    connect,
    connections,
    end_of,
    home,
    limited,
    match_with_remote,
    message_of,
    offer,
    on_a_server,
    tokens,
)
from tests.patience import patient, until

__all__ = ["home", "tokens"]


def version_of(number: int) -> pb.OfferRequest:
    return pb.OfferRequest(offer=offer(content=f"v{number}"))


def versions_at_home(home: Home) -> int:
    with Store(home.database, create=False) as store:
        return sum(one.is_at_home for one in store.roster.versions().values())


async def test_an_author_can_offer_as_many_new_versions_as_submit_and_known_ones_always(
    home: Home, tokens: dict[str, str]
) -> None:
    limits = Limits(submissions=Meter(Allowance("submissions", 3, 86_400)))

    with on_a_server(home, limits=limits) as address:
        for number in (1, 1, 2, 3, 3, 3):
            channel, call = await connect(address, tokens["ann"], version_of(number))
            await message_of(call, "connected")
            await channel.close()
        channel, call = await connect(address, tokens["ann"], version_of(4))
        code, details = await end_of(call)
        assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert "too many submissions: 3 submissions" in details
        await channel.close()
        channel, call = await connect(address, tokens["ann"], version_of(3))
        await message_of(call, "connected")
        await channel.close()
        assert versions_at_home(home) == 3


async def test_an_author_comes_back_a_number_of_times_and_then_after_a_while(
    home: Home, tokens: dict[str, str]
) -> None:
    limits = Limits(connections=Meter(Allowance("connections", 4, 600)))

    with on_a_server(home, limits=limits) as address:
        for _attempt in range(4):
            channel, call = await connect(address, tokens["ann"])
            await message_of(call, "connected")
            await channel.close()
        channel, call = await connect(address, tokens["ann"])
        code, details = await end_of(call)
        assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert "too many connections: 4 connections in 10 minutes are allowed" in details
        await channel.close()


def test_the_end_of_an_older_connection_that_is_written_late_leaves_the_newer(home: Home) -> None:
    with Store(home.database, create=False) as store:
        store.roster.connect(1, 2, "2026-01-01T00:00:00.000+00:00")
        store.roster.connect(1, 3, "2026-01-01T00:00:00.500+00:00")
        store.roster.disconnect(1, "2026-01-01T00:00:00.000+00:00")
        assert store.roster.connected()[1].matches == 3
        store.roster.disconnect(1, "2026-01-01T00:00:00.500+00:00")
        assert store.roster.connected() == {}


async def test_who_is_gone_and_back_before_it_was_written_stays_connected(
    home: Home, tokens: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    is_back, is_written = threading.Event(), threading.Event()

    def late(*arguments: Any) -> None:
        is_back.wait(patient(60))
        disconnect(*arguments)
        is_written.set()

    monkeypatch.setattr(server_module, "disconnect", late)

    def since() -> list[str]:
        with Store(home.database, create=False) as store:
            return [one.since for one in store.roster.connected().values()]

    with on_a_server(home) as address:
        channel, call = await connect(address, tokens["ann"])
        await message_of(call, "connected")
        await until(since)
        before = since()
        await channel.close()
        channel, call = await connect(address, tokens["ann"])
        await message_of(call, "connected")
        await until(lambda: since() != before)
        is_back.set()
        await until(is_written.is_set)
        assert connections(home) == 1
        await channel.close()


# --- invitations ----------------------------------------------------------------------------------------------


def invitation(home: Home, **changes: Any) -> Invitation:
    match = match_with_remote(home)
    seat = match.seats.index(match.at_home[0])
    known = {"match": match, "seat": seat, "token": "shown", "address": "unix:/nowhere", "join_seconds": 30.0}
    return Invitation(**{**known, **changes})


async def leave_and_come(address: str, token: str, channel: Any) -> tuple[Any, Any]:
    await channel.close()
    channel, call = await connect(address, token)
    await message_of(call, "connected")
    return channel, call


async def played_with(address: str, token: str) -> tuple[grpc.StatusCode, str]:
    """How a stream ends that shows a token."""
    async with grpc.aio.insecure_channel(address) as channel:
        play: Any = channel.stream_stream("/dogana.v1.Referee/Play")
        call = play()
        join = referee_pb2.AgentMessage(join=referee_pb2.Join(token=token, protocol=1))
        await call.write(join.SerializeToString())
        return await end_of(call)


async def test_who_comes_back_is_invited_to_the_seats_that_wait(home: Home, tokens: dict[str, str]) -> None:
    called = AtHome()
    with on_a_server(home, called) as address:
        channel, call = await connect(address, tokens["ann"])
        await message_of(call, "connected")
        one = invitation(home)
        called.invite(one)
        channel, call = await leave_and_come(address, tokens["ann"], channel)
        received = await message_of(call, "invitation")
        assert (received.match, received.token, received.seat) == (one.match.match_id, "shown", one.seat)
        assert 0 < received.join_seconds <= 30
        await channel.close()


async def test_who_comes_back_is_not_invited_to_seats_that_are_taken_or_wait_no_more(
    home: Home, tokens: dict[str, str]
) -> None:
    called = AtHome()
    with on_a_server(home, called) as address:
        channel, call = await connect(address, tokens["ann"])
        await message_of(call, "connected")
        taken = invitation(home, token="taken")  # noqa: S106
        over = invitation(home, token="over", address="unix:/other", join_seconds=0.0)  # noqa: S106
        new = invitation(home, token="new", address="unix:/third")  # noqa: S106
        for one in (taken, over):
            called.invite(one)
            await message_of(call, "invitation")
        assert (await played_with(address, "taken"))[0] is grpc.StatusCode.ABORTED
        called.invite(new)
        channel, call = await leave_and_come(address, tokens["ann"], channel)
        assert (await message_of(call, "invitation")).token == "new"  # noqa: S105
        await channel.close()


async def test_the_token_of_a_long_match_is_known_however_many_matches_begin_meanwhile(
    home: Home, tokens: dict[str, str]
) -> None:
    called = AtHome()
    with on_a_server(home, called, limits=limited(seats=3)) as address:
        channel, call = await connect(address, tokens["ann"])
        await message_of(call, "connected")
        long = invitation(home, token="long")  # noqa: S106
        called.invite(long)
        for number in range(5):
            match = replace(long.match, match_id=f"short{number}")
            called.invite(replace(long, match=match, token=f"short{number}", address="unix:/other"))
        for _ in range(6):
            await message_of(call, "invitation")
        assert await played_with(address, "long") == (grpc.StatusCode.ABORTED, "the match was broken off")
        assert (await played_with(address, "short3"))[0] is grpc.StatusCode.UNAUTHENTICATED
        await channel.close()


# --- beats ----------------------------------------------------------------------------------------------------


async def test_who_answers_beats_uses_up_no_requests(home: Home, tokens: dict[str, str]) -> None:
    requests = Meter(Allowance("requests", 5, 600))
    with on_a_server(home, limits=Limits(requests=requests, calls=CallLimits(beat_seconds=0.02))) as address:
        channel, call = await connect(address, tokens["ann"])
        for _beat in range(10):
            await message_of(call, "beat")
            await call.write(pb.OfferRequest(beat=pb.Beat()))
        await channel.close()


async def test_who_beats_unasked_is_cut_off(home: Home, tokens: dict[str, str]) -> None:
    with on_a_server(home, limits=limited(beat_seconds=3600.0)) as address:
        channel, call = await connect(address, tokens["ann"])
        await message_of(call, "connected")
        await call.write(pb.OfferRequest(beat=pb.Beat()))
        assert (await end_of(call))[0] is grpc.StatusCode.INVALID_ARGUMENT
        await channel.close()
