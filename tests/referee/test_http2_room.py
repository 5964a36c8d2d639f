"""HTTP/2 as doors speak it: how much is sent to a peer and kept of it while somebody does not read."""

from __future__ import annotations

import asyncio

import grpc
import pytest

from referee.live.doors import frames
from referee.live.doors.frames import (
    DATA,
    HEADERS,
    PREFACE,
    RST_STREAM,
    SETTINGS,
    WINDOW,
    WINDOW_UPDATE,
    frame,
)
from tests.referee.http2_peer import MAX_MESSAGE_BYTES, Table, heard, message, setting


def test_a_message_goes_out_as_far_as_there_is_room_for_it() -> None:
    table = Table(PREFACE + setting(frames.INITIAL_WINDOW_SIZE, 10))
    call = table.call()
    freed: list[bool] = []
    call.when_free = lambda: freed.append(call.is_free)
    table.said()
    call.send(b"x" * 20)
    call.end(grpc.StatusCode.OK, "")
    assert [len(one.payload) for one in table.said() if one.kind == DATA] == [10]
    assert not call.is_free
    table.connection.receive(frames.window_update(1, 5))
    assert [len(one.payload) for one in table.said()] == [5]
    table.connection.receive(setting(frames.INITIAL_WINDOW_SIZE, 3))  # 7 less than nothing
    table.connection.receive(frames.window_update(1, 7))
    assert [one.kind for one in table.said()] == [SETTINGS]
    table.connection.receive(setting(frames.INITIAL_WINDOW_SIZE, 100))
    assert [one.kind for one in table.said()] == [SETTINGS, DATA, HEADERS, RST_STREAM]
    assert freed == [True]


def test_all_calls_of_a_connection_share_its_room() -> None:
    table = Table(PREFACE + setting(frames.INITIAL_WINDOW_SIZE, 1 << 20))
    one, two = table.call(1), table.call(3)
    table.said()
    one.send(b"x" * (WINDOW - 5))
    two.send(b"y")
    assert sum(len(said.payload) for said in table.said() if said.kind == DATA) == WINDOW
    assert (one.is_free, two.is_free) == (True, False)
    table.connection.receive(frames.window_update(0, 6))
    assert two.is_free


def test_a_message_waits_while_the_peer_does_not_read() -> None:
    table = Table()
    call = table.call()
    table.said()
    table.is_clear = False
    call.send(b"decide")
    assert not call.is_free
    assert table.said() == []
    table.is_clear = True
    table.connection.cleared()
    assert call.is_free


@pytest.mark.parametrize("ending", ["reset", "lost", "ended", "read"])
async def test_who_waits_for_a_slow_reader_wakes_when_it_reads_or_is_gone(ending: str) -> None:
    table = Table()
    call = table.call()
    waiting = asyncio.create_task(call.write(b"x" * (WINDOW + 1)))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert not waiting.done()
    if ending == "reset":
        table.connection.receive(frames.reset(1, 8))
    elif ending == "lost":
        table.close()
    elif ending == "ended":
        table.connection.end(frames.NO_ERROR, "")
    else:
        table.connection.receive(frames.window_update(0, 100) + frames.window_update(1, 100))
    for _ in range(3):
        await asyncio.sleep(0)
    assert waiting.done()


def test_what_is_not_read_takes_no_more_than_a_window() -> None:
    table = Table()
    call = table.call()
    table.said()
    for _ in range(3):
        table.connection.receive(frame(DATA, 0, 1, message(b"x" * 16_000)))
    assert [one for one in table.said() if one.kind == WINDOW_UPDATE and one.stream == 1] == []
    said = heard(call)
    assert len(said) == 3
    assert [one for one in table.said() if one.kind == WINDOW_UPDATE and one.stream == 1]
    unread = Table()
    unread.call()
    for _ in range(5):
        unread.connection.receive(frame(DATA, 0, 1, message(b"x" * 16_000)))
    assert unread.ending()[0] == frames.FLOW_CONTROL_ERROR


def test_the_largest_message_has_room() -> None:
    table = Table()
    said = heard(table.call())
    data = message(b"x" * MAX_MESSAGE_BYTES)
    for at in range(0, len(data), 16_000):
        table.connection.receive(frame(DATA, 0, 1, data[at : at + 16_000]))
    assert said == [b"x" * MAX_MESSAGE_BYTES]
