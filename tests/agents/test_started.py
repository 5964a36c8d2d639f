"""The call of a started bot, against servers of the gRPC library itself, and against frames that this library does not send."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from dogana.started import CallEnded, SocketCall
from tests.patience import patient

ROOT = Path(__file__).resolve().parents[2]
METHOD = "/test.Echo/Play"
SIZES = (0, 1, 5, 16_383, 16_384, 16_385, 65_535, 65_536, 1_000_000)
"""Around the largest frame and the first window of HTTP/2."""


@contextmanager
def serving(folder: Path, answer: Callable[[Iterator[bytes], Any], Iterator[bytes]]) -> Iterator[str]:
    server = grpc.server(ThreadPoolExecutor(1))
    handler: Any = grpc.stream_stream_rpc_method_handler(answer)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("test.Echo", {"Play": handler}),))
    server.add_insecure_port(f"unix:{folder}/s")
    server.start()
    try:
        yield f"{folder}/s"
    finally:
        server.stop(None)


def echo(messages: Iterator[bytes], context: Any) -> Iterator[bytes]:
    yield from messages


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return len(payload).to_bytes(3, "big") + bytes((kind, flags)) + stream.to_bytes(4, "big") + payload


def message(data: bytes) -> bytes:
    return b"\0" + len(data).to_bytes(4, "big") + data


@contextmanager
def scripted(folder: Path, frames: bytes, after: int = 0) -> Iterator[SocketCall]:
    """A call of a server that sends these frames, after it has been sent so many bytes, and ends the connection."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"{folder}/s")
        listening.listen()

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.settimeout(patient(30))
                connection.sendall(frame(4, 0, 0, b""))
                heard = 0
                while heard < after:
                    heard += len(connection.recv(65536))
                connection.sendall(frames)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65536):
                    pass

        serving = threading.Thread(target=serve)
        serving.start()
        call = SocketCall(f"{folder}/s", METHOD)
        try:
            yield call
        finally:
            call.close()
            serving.join()


def test_messages_of_all_sizes_come_back_whole(tmp_path: Path) -> None:
    with serving(tmp_path, echo) as path:
        call = SocketCall(path, METHOD)
        for size in SIZES * 2:
            data = bytes(range(256)) * (size // 256) + bytes(size % 256)
            call.send(data)
            assert call.receive() == data
        call.close()


def test_what_is_more_than_all_windows_is_read_to_its_end(tmp_path: Path) -> None:
    def much(messages: Iterator[bytes], context: Any) -> Iterator[bytes]:
        for number in range(100):
            yield bytes((number,)) * 100_000

    with serving(tmp_path, much) as path:
        call = SocketCall(path, METHOD)
        call.send(b"")
        for number in range(100):
            assert call.receive() == bytes((number,)) * 100_000
        with pytest.raises(CallEnded, match="OK"):
            call.receive()
        call.close()


def test_many_answers_are_sent_though_each_window_is_used_up(tmp_path: Path) -> None:
    def count(messages: Iterator[bytes], context: Any) -> Iterator[bytes]:
        yield b"%d" % sum(len(next(messages)) for _ in range(300))

    with serving(tmp_path, count) as path:
        call = SocketCall(path, METHOD)
        for _ in range(300):
            call.send(bytes(60_000))
        assert call.receive() == b"18000000"
        call.close()


@pytest.mark.parametrize("details", ["the seat is out", "100 % of «Größe»", "a" * 900])
def test_a_call_ends_with_the_status_and_the_words_of_the_server(tmp_path: Path, details: str) -> None:
    def refuse(messages: Iterator[bytes], context: Any) -> Iterator[bytes]:
        yield next(messages)
        context.abort(grpc.StatusCode.ABORTED, details)

    with serving(tmp_path, refuse) as path:
        call = SocketCall(path, METHOD)
        call.send(b"first")
        assert call.receive() == b"first"
        with pytest.raises(CallEnded) as ended:
            call.receive()
        assert (ended.value.status, ended.value.details) == ("ABORTED", details)
        call.send(b"too late")  # nothing happens
        with pytest.raises(CallEnded, match="ABORTED"):
            call.look()
        call.close()


def test_a_message_of_several_frames_waits_for_nothing_that_need_not_come(tmp_path: Path) -> None:
    with scripted(tmp_path, frame(0, 0, 1, message(b"answer")), after=60_000) as call:
        call.send(bytes(60_000))  # within the first window; this server says nothing of windows
        assert call.receive() == b"answer"


def test_a_look_does_not_wait(tmp_path: Path) -> None:
    may_answer = threading.Event()

    def later(messages: Iterator[bytes], context: Any) -> Iterator[bytes]:
        next(messages)
        may_answer.wait(patient(60))
        yield b"answer"

    with serving(tmp_path, later) as path:
        call = SocketCall(path, METHOD)
        call.send(b"")
        assert call.look() is None
        may_answer.set()
        assert call.receive() == b"answer"
        call.close()


def test_a_timeout_that_a_bot_sets_for_its_own_sockets_ends_no_call(tmp_path: Path) -> None:
    def later(messages: Iterator[bytes], context: Any) -> Iterator[bytes]:
        next(messages)
        threading.Event().wait(0.1)  # longer than the timeout
        yield b"answer"

    with serving(tmp_path, later) as path:
        before = socket.getdefaulttimeout()
        socket.setdefaulttimeout(0.01)
        try:
            call = SocketCall(path, METHOD)
        finally:
            socket.setdefaulttimeout(before)
        call.send(b"")
        assert call.receive() == b"answer"
        call.close()


def test_what_a_server_may_send_and_seldom_does_is_understood(tmp_path: Path) -> None:
    status = b"\0\x0bgrpc-status\x012" + b"\0\x0cgrpc-message\x03why"
    frames = (
        frame(1, 0x04, 1, b"\x88"),  # :status 200, from the static table
        frame(6, 0, 0, b"12345678"),  # a ping
        frame(8, 0, 0, b"\0\0\1\0"),
        frame(0xFF, 0, 0, b"of no known type"),
        frame(2, 0, 1, bytes(5)),  # a priority
        frame(0, 0x08, 1, b"\3" + message(b"padded") + bytes(3)),
        *(frame(0, 0, 1, bytes((byte,))) for byte in message(b"one by one")),
        frame(0, 0, 1, message(b"two") + message(b"in one")),
        frame(7, 0, 0, b"\0\0\0\1\0\0\0\0"),  # no new streams; this one goes on
        frame(1, 0x01 | 0x20, 1, bytes(5) + status[:7]),  # with a priority, and cut into pieces
        frame(9, 0, 1, status[7:20]),
        frame(9, 0x04, 1, status[20:]),
    )
    with scripted(tmp_path, b"".join(frames)) as call:
        assert [call.receive() for _ in range(4)] == [b"padded", b"one by one", b"two", b"in one"]
        with pytest.raises(CallEnded) as ended:
            call.receive()
        assert (ended.value.status, ended.value.details) == ("UNKNOWN", "why")


@pytest.mark.parametrize(
    ("frames", "status"),
    [
        (b"", "UNAVAILABLE: the connection was closed"),
        (frame(0, 0, 1, message(b"cut off")[:-1]), "UNAVAILABLE: the connection was closed"),
        (frame(7, 0, 0, b"\0\0\0\0\0\0\0\2too many"), "UNAVAILABLE: too many"),
        (frame(3, 0, 1, b"\0\0\0\x08"), "UNAVAILABLE: the stream was reset, code 8"),
        (frame(0, 0x01, 1, b""), "INTERNAL: the stream has ended without a status"),
    ],
)
def test_a_call_that_is_cut_off_says_how(tmp_path: Path, frames: bytes, status: str) -> None:
    with scripted(tmp_path, frames) as call, pytest.raises(CallEnded, match=status):
        call.receive()


def test_a_bot_that_is_started_does_not_import_grpc() -> None:
    program = "import sys, dogana.sdk\nprint(sorted({'grpc', 'asyncio', 'ssl', 'logging'} & set(sys.modules)))\n"
    ended = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True
    )
    assert ended.stdout == "[]\n"


LATER = """
import sys
{first}
import dogana.sdk
from dogana.games.venezia.v1 import venezia_pb2
from dogana.v1 import referee_pb2 as pb
from google.protobuf import descriptor_pool, text_format

name = "google.protobuf.internal.python_message"
print("later" if "decoder" not in vars(sys.modules[name]) else "loaded")
message = pb.RefereeMessage(welcome=pb.Welcome(game="toy", options={{"a": "b"}}))
message.welcome.board.update({{"x": [1, {{"y": None}}]}})
assert pb.RefereeMessage.FromString(message.SerializeToString()) == message
assert text_format.Parse(text_format.MessageToString(message), pb.RefereeMessage()) == message
from google.protobuf.internal import python_message
assert python_message.GeneratedProtocolMessageType.__module__ == name
print(hasattr(python_message, "no such name"), "decoder" in vars(python_message))
"""


@pytest.mark.parametrize(
    ("first", "implementation", "loaded"),
    [("", "upb", "later"), ("import google.protobuf.descriptor_pool", "upb", "loaded"), ("", "python", "loaded")],
    ids=["at first", "after protobuf", "in pure Python"],
)
def test_what_messages_in_c_do_not_need_is_loaded_when_it_is_used(first: str, implementation: str, loaded: str) -> None:
    environment = {**os.environ, "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": implementation}
    ended = subprocess.run(
        [sys.executable, "-c", LATER.format(first=first)], env=environment, capture_output=True, text=True, check=True
    )
    assert ended.stdout.split() == [loaded, "False", "True"]
