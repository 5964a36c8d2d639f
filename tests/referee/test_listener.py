"""Doors and the clients of gRPC that come to them, over real sockets; and who connects without calling."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gc
import socket
import time
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import grpc
import pytest
from hpack import Encoder

from dogana.started import CallEnded
from dogana.started import SocketCall as SdkCall
from referee.live.doors import frames
from referee.live.doors.call import Http2Call
from referee.live.doors.listener import MAX_CONNECTIONS, Listener, Play
from tests.patience import patient, until

METHOD = "/dogana.v1.Referee/Play"
SIZES = [0, 1, 5, 16_379, 16_380, 65_530, 65_531, 100_000, 131_072]
HELLO = frames.PREFACE + frames.frame(frames.SETTINGS, 0, 0)


def run(scene: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(scene, patient(90)))


@asynccontextmanager
async def listening(folder: Path, play: Play, idle_seconds: float = 3600.0, **limits: Any) -> AsyncIterator[None]:
    opened = Listener(
        folder / "s", METHOD, play, max_message_bytes=131_072, max_calls=8, idle_seconds=idle_seconds, **limits
    )
    try:
        yield
    finally:
        await opened.stop(0.5, 5.0)


async def echo(call: Http2Call) -> None:
    """Say everything again; after `stop`, say that the seat is out."""
    while (data := await call.read()) is not None:
        await call.write(data)
        if data == b"stop":
            await call.abort(grpc.StatusCode.ABORTED, "the seat is out: Schluß, 100 %")


def connected(folder: Path, says: bytes = b"") -> socket.socket:
    one = socket.socket(socket.AF_UNIX)
    one.settimeout(30)
    one.connect(str(folder / "s"))
    one.sendall(says)
    return one


async def is_greeted(one: socket.socket) -> bool:
    """Tell whether a connection is accepted; one that is not is ended without a word."""
    try:
        return bool(await asyncio.to_thread(one.recv, 9))
    except ConnectionResetError:
        return False


async def says_and_hears(call: SdkCall) -> None:
    call.send(b"join")
    assert await asyncio.to_thread(call.receive) == b"join"


def read_to_the_end(one: socket.socket) -> bytes:
    """Return all that comes until the other side has ended the connection."""
    said = b""
    try:
        while data := one.recv(65_536):
            said += data
    except ConnectionResetError:
        pass
    return said


def opening(stream: int = 1, *more: tuple[str, str]) -> bytes:
    fields = [(":method", "POST"), (":scheme", "http"), (":path", METHOD), ("content-type", "application/grpc"), *more]
    return frames.frame(frames.HEADERS, frames.END_HEADERS, stream, Encoder().encode(fields))


# --- clients of gRPC ------------------------------------------------------------------------------------------


def by_the_sdk(path: Path) -> list[str]:
    call = SdkCall(str(path), METHOD)
    for size in SIZES:
        call.send(bytes(size))
        assert call.receive() == bytes(size)
    call.send(b"stop")
    assert call.receive() == b"stop"
    with pytest.raises(CallEnded) as ended:
        call.receive()
    call.close()
    return [ended.value.status, ended.value.details]


def by_grpc(path: Path) -> list[str]:
    with grpc.insecure_channel(f"unix:{path}") as channel:
        method: Any = channel.stream_stream(METHOD)
        answers = method(iter([*map(bytes, SIZES), b"stop"]))
        assert [next(answers) for _ in SIZES] == list(map(bytes, SIZES))
        assert next(answers) == b"stop"
        with pytest.raises(grpc.RpcError) as ended:
            next(answers)
        error: Any = ended.value
        return [error.code().name, error.details()]


@pytest.mark.parametrize("client", [by_the_sdk, by_grpc])
def test_messages_of_all_sizes_go_to_and_fro_until_the_call_is_ended(
    client: Callable[[Path], list[str]], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def scene() -> None:
        async with listening(tmp_path, echo):
            ended = await asyncio.to_thread(client, tmp_path / "s")
            assert ended == ["ABORTED", "the seat is out: Schluß, 100 %"]

    run(scene())
    assert not caplog.records  # to end a call is no fault of who serves it


@pytest.mark.parametrize("count", [1, 20])
async def test_calls_of_grpc_aio_come_one_after_another_if_there_are_more_than_may_be(
    count: int, tmp_path: Path
) -> None:
    async def one(channel: grpc.aio.Channel) -> None:
        call: Any = channel.stream_stream(METHOD)()
        await call.write(b"choose")
        assert await call.read() == b"choose"
        await call.done_writing()
        assert await call.read() is grpc.aio.EOF
        assert await call.code() is grpc.StatusCode.OK

    async with listening(tmp_path, echo), grpc.aio.insecure_channel(f"unix:{tmp_path}/s") as channel:
        await one(channel)  # from then on it knows how many it may open; before, HTTP/2 refuses those beyond
        await asyncio.gather(*(one(channel) for _ in range(count)))


async def test_a_client_of_grpc_learns_what_is_not_there_and_what_is_too_large(tmp_path: Path) -> None:
    async with listening(tmp_path, echo), grpc.aio.insecure_channel(f"unix:{tmp_path}/s") as channel:
        watch: Any = channel.unary_stream("/dogana.v1.Referee/Watch")
        assert await watch(b"").code() is grpc.StatusCode.UNIMPLEMENTED
        play: Any = channel.stream_stream(METHOD)
        large = play(iter([bytes(131_073)]))
        assert await large.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert await large.details() == "a message of 131073 bytes; at most 131072 are read"


@pytest.mark.parametrize("compression", [grpc.Compression.Gzip, grpc.Compression.Deflate])
@pytest.mark.parametrize("size", [0, 1000, 131_072])
async def test_a_client_of_grpc_may_compress(compression: grpc.Compression, size: int, tmp_path: Path) -> None:
    async with listening(tmp_path, echo), grpc.aio.insecure_channel(f"unix:{tmp_path}/s") as channel:
        call: Any = channel.stream_stream(METHOD)(compression=compression)
        for _ in range(3):
            await call.write(bytes(size))
            assert await call.read() == bytes(size)


@pytest.mark.parametrize(
    ("sizes", "status"),
    [
        ((15_000,), "OK"),
        ((5000, 5000, 5000), "OK"),
        ((16_000,), "RESOURCE_EXHAUSTED"),
        ((30_000,), "RESOURCE_EXHAUSTED"),
    ],
)
async def test_a_client_of_grpc_may_have_metadata_of_almost_16_kilobytes(
    sizes: tuple[int, ...], status: str, tmp_path: Path
) -> None:
    """What HTTP/2 and gRPC's library say of themselves takes the rest."""
    metadata = tuple((f"x-notes{number}", "~" * size) for number, size in enumerate(sizes))

    async with listening(tmp_path, echo), grpc.aio.insecure_channel(f"unix:{tmp_path}/s") as channel:
        call: Any = channel.stream_stream(METHOD)(metadata=metadata)
        await call.done_writing()
        assert (await call.code()).name == status


async def test_a_call_ends_when_the_time_is_over_that_its_client_gave_it(tmp_path: Path) -> None:
    began: list[int] = []
    ended: list[int] = []

    async def wait(call: Http2Call) -> None:
        began.append(call.number)
        try:
            await call.read()
        except asyncio.CancelledError:
            ended.append(call.number)
            raise

    async with listening(tmp_path, wait):
        with closing(connected(tmp_path, HELLO + opening(1, ("grpc-timeout", "50m")) + opening(3))):
            await until(lambda: ended == [1])
            assert began == [1, 3]
        await until(lambda: ended == [1, 3])


def test_nothing_is_kept_of_a_call_that_has_ended_in_time(tmp_path: Path) -> None:
    calls: list[weakref.ref[Http2Call]] = []
    seconds: list[float | None] = []

    async def note(call: Http2Call) -> None:
        calls.append(weakref.ref(call))
        seconds.append(call.timeout_seconds)

    async def scene() -> None:
        async with listening(tmp_path, note), grpc.aio.insecure_channel(f"unix:{tmp_path}/s") as channel:
            call: Any = channel.stream_stream(METHOD)(timeout=3600)
            assert await call.code() is grpc.StatusCode.OK
            gc.collect()
            assert [one() for one in calls] == [None]

    run(scene())
    assert seconds == [pytest.approx(3600, abs=patient(60))]


def cancels(call: Any, _: Any) -> Awaitable[None]:
    call.cancel()
    return asyncio.sleep(0)


def closes_its_channel(_: Any, channel: Any) -> Awaitable[None]:
    done: Awaitable[None] = channel.close()
    return done


@pytest.mark.parametrize("leaves", [cancels, closes_its_channel])
async def test_who_serves_a_call_is_cancelled_when_the_client_leaves(
    leaves: Callable[[Any, Any], Awaitable[None]], tmp_path: Path
) -> None:
    ends: list[str] = []

    async def wait(call: Http2Call) -> None:
        await call.read()
        try:
            await call.read()
        except asyncio.CancelledError:
            ends.append("cancelled")
            raise

    async with listening(tmp_path, wait), grpc.aio.insecure_channel(f"unix:{tmp_path}/s") as channel:
        call: Any = channel.stream_stream(METHOD)()
        await call.write(b"join")
        await asyncio.sleep(0)
        await leaves(call, channel)
        await until(lambda: ends == ["cancelled"])


def test_a_fault_of_who_serves_ends_the_call_and_tells_nothing_of_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def fails(call: Http2Call) -> None:
        raise ValueError("a secret")

    async def scene() -> None:
        async with listening(tmp_path, fails), grpc.aio.insecure_channel(f"unix:{tmp_path}/s") as channel:
            call: Any = channel.stream_stream(METHOD)()
            assert await call.code() is grpc.StatusCode.UNKNOWN
            assert await call.details() == "the referee has failed"

    run(scene())
    assert "a secret" in caplog.text


# --- who connects without calling ---------------------------------------------------------------------------------


async def test_one_connection_too_many_takes_the_place_of_the_oldest_without_a_call(tmp_path: Path) -> None:
    began: list[Http2Call] = []

    async def wait(call: Http2Call) -> None:
        began.append(call)
        await call.read()

    async with listening(tmp_path, wait):
        calling = connected(tmp_path, HELLO + opening())
        await until(lambda: len(began) == 1)
        idle = []
        for _ in range(MAX_CONNECTIONS):
            idle.append(connected(tmp_path, HELLO))
            assert await is_greeted(idle[-1])
        said = await asyncio.to_thread(read_to_the_end, idle[0])
        assert said.endswith(b"more than %d connections" % MAX_CONNECTIONS)
        assert not began[0].is_over
        for one in idle[1:]:
            one.sendall(opening())
        await until(lambda: len(began) == MAX_CONNECTIONS)
        refused = connected(tmp_path)
        assert await asyncio.to_thread(read_to_the_end, refused) == b""
        for one in (calling, refused, *idle):
            one.close()


@pytest.mark.parametrize("says", [b"", frames.PREFACE[:5], HELLO, HELLO + b"\0\0\x10\0\0"])
async def test_a_connection_without_a_call_is_ended(says: bytes, tmp_path: Path) -> None:
    async with listening(tmp_path, echo, idle_seconds=0.05):
        with closing(connected(tmp_path, says)) as one:
            assert (await asyncio.to_thread(read_to_the_end, one)).endswith(b"no call")


async def test_a_call_may_be_silent_for_longer_than_a_connection_without_one(tmp_path: Path) -> None:
    async with listening(tmp_path, echo, idle_seconds=0.02):
        call = await asyncio.to_thread(SdkCall, str(tmp_path / "s"), METHOD)
        call.send(b"join")
        assert await asyncio.to_thread(call.receive) == b"join"
        for _ in range(5):
            await asyncio.sleep(0.02)
        call.send(b"choose")
        assert await asyncio.to_thread(call.receive) == b"choose"
        call.close()


async def test_connections_in_a_flood_have_to_wait(tmp_path: Path) -> None:
    joined, flooded, answered = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def talk(call: Http2Call) -> None:
        await call.read()
        joined.set()
        await flooded.wait()
        for _ in range(100):
            await call.write(b"join")  # each message earns something
        answered.set()

    async with listening(tmp_path, talk, allowance=300, pause_seconds=0.2):
        early = SdkCall(str(tmp_path / "s"), METHOD)
        early.send(b"join")
        await joined.wait()
        is_accepted = True
        while is_accepted:
            began = time.monotonic()
            with closing(connected(tmp_path, HELLO)) as one:
                is_accepted = await is_greeted(one)
        flooded.set()
        await answered.wait()
        late = SdkCall(str(tmp_path / "s"), METHOD)
        await says_and_hears(late)
        assert time.monotonic() - began >= 0.2
        early.close()
        late.close()


async def test_it_goes_on_accepting_when_there_are_files_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accept, accepted = socket.socket.accept, []

    def full(one: socket.socket) -> tuple[socket.socket, Any]:
        """Accept as a process does that has no more files for a moment."""
        accepted.append(one)
        if len(accepted) < 3:
            raise OSError(errno.EMFILE, "Too many open files")
        return accept(one)

    monkeypatch.setattr(socket.socket, "accept", full)
    async with listening(tmp_path, echo, pause_seconds=0.01):
        call = SdkCall(str(tmp_path / "s"), METHOD)
        await says_and_hears(call)
        assert len(accepted) == 3
        call.close()


# --- who does not read, and who is gone -----------------------------------------------------------------------------


async def test_a_peer_that_does_not_read_leaves_one_message_waiting_and_gets_all_when_it_does(tmp_path: Path) -> None:
    waited = asyncio.Event()

    async def talk(call: Http2Call) -> None:
        for number in range(2000):
            call.send(b"%04d" % number + bytes(200))
            if not call.is_free:
                waited.set()
            await call.drained()

    async with listening(tmp_path, talk):
        call = SdkCall(str(tmp_path / "s"), METHOD)
        call.send(b"join")
        await waited.wait()

        def read() -> list[bytes]:
            got = [call.receive()[:4] for _ in range(2000)]
            with pytest.raises(CallEnded, match="OK"):
                call.receive()
            return got

        assert await asyncio.to_thread(read) == [b"%04d" % number for number in range(2000)]
        call.close()


async def test_what_was_said_last_comes_before_the_end_though_there_was_no_room_for_it(tmp_path: Path) -> None:
    async def talk(call: Http2Call) -> None:
        call.send(bytes(frames.WINDOW + 1))
        await call.abort(grpc.StatusCode.ABORTED, "the seat is out")

    def read() -> None:
        call = SdkCall(str(tmp_path / "s"), METHOD)
        call.send(b"join")
        assert len(call.receive()) == frames.WINDOW + 1
        with pytest.raises(CallEnded, match="ABORTED: the seat is out"):
            call.receive()
        call.close()

    async with listening(tmp_path, talk, idle_seconds=5.0):
        await asyncio.to_thread(read)


async def test_who_pings_and_never_reads_loses_the_connection(tmp_path: Path) -> None:
    async with listening(tmp_path, echo, allowance=1 << 30):
        one = connected(tmp_path, HELLO)

        def flood() -> None:
            pings = frames.frame(frames.PING, 0, 0, bytes(8)) * 1000
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                while True:
                    one.sendall(pings)

        await asyncio.to_thread(flood)
        one.close()


def test_what_a_peer_has_said_last_is_heard_though_it_is_gone_when_something_is_sent(tmp_path: Path) -> None:
    heard: list[bytes | None] = []
    peers: list[socket.socket] = []

    async def talk(call: Http2Call) -> None:
        await call.read()
        [peer] = peers
        peer.sendall(frames.frame(frames.DATA, 0, 1, b"\0\0\0\0\6choose"))
        peer.close()
        call.send(b"are you there?")
        heard.append(await call.read())

    async def scene() -> None:
        async with listening(tmp_path, talk):
            peers.append(connected(tmp_path, HELLO + opening() + frames.frame(frames.DATA, 0, 1, b"\0\0\0\0\4join")))
            await until(lambda: len(heard) == 1)

    run(scene())
    assert heard == [b"choose"]


async def test_no_call_begins_while_those_before_come_to_their_end(tmp_path: Path) -> None:
    began, may_end = asyncio.Event(), asyncio.Event()

    async def stays(call: Http2Call) -> None:
        began.set()
        await may_end.wait()

    opened = Listener(tmp_path / "s", METHOD, stays, max_message_bytes=100, max_calls=8, idle_seconds=3600.0)
    async with grpc.aio.insecure_channel(f"unix:{tmp_path}/s") as channel:
        first: Any = channel.stream_stream(METHOD)()
        await began.wait()
        stopping = asyncio.create_task(opened.stop(60.0, 5.0))
        await asyncio.sleep(0)
        late: Any = channel.stream_stream(METHOD)()
        assert (await late.code(), await late.details()) == (
            grpc.StatusCode.UNAVAILABLE,
            "the referee is stopping",
        )
        may_end.set()
        assert await first.code() is grpc.StatusCode.OK
        await stopping


def test_nothing_is_left_when_it_has_stopped(tmp_path: Path) -> None:
    began = asyncio.Event()

    async def stays(call: Http2Call) -> None:
        began.set()
        await asyncio.Event().wait()

    async def scene() -> None:
        before = len(asyncio.all_tasks())
        async with listening(tmp_path, stays):
            calling, silent = connected(tmp_path, HELLO + opening()), connected(tmp_path)
            await began.wait()
            assert await is_greeted(silent)
        assert len(asyncio.all_tasks()) == before
        for one in (calling, silent):
            assert (await asyncio.to_thread(read_to_the_end, one)).endswith(b"the referee has stopped")
            one.close()

    run(scene())
    gc.collect()  # a socket that was not closed would warn here, which fails the test
