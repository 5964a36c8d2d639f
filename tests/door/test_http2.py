"""The door against h2spec, which tries what RFC 9113 and RFC 7541 ask of a server: what must hold, and what need not, and why.

h2spec asks as browsers do; its requests are made calls of gRPC by replacing one file of it when it is built.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from dogana.v1 import referee_pb2 as pb
from referee.live.doors.call import Http2Call
from referee.live.doors.door import MAX_FRAME_BYTES, MAX_STREAMS_AT_A_SEAT, SERVICE
from referee.live.doors.listener import Listener
from tests.patience import patient

pytestmark = pytest.mark.door

MODULE = Path(__file__).parent / "h2spec"
CALLS = {
    'HeaderField(":method", "GET"),\n': 'HeaderField(":method", "POST"),\n',
    'HeaderField(":authority", authority),\n': 'HeaderField(":authority", authority),\n'
    'HeaderField("te", "trailers"),\nHeaderField("content-type", "application/grpc"),\n',
}
"""What h2spec asks for, and what a client of gRPC asks for."""

_ENDED = "what comes for a call that has ended is passed over, and counted as useless: it may have been on its way"
_ENDING = "a call ends when the agent has closed its half: what comes after that may find it ended, or is refused"
_PRIORITIES = "RFC 9113 has given up the priorities of RFC 7540: they are read and not used"
_LENGTH = "messages of gRPC have their own length; content-length is not looked at"
EXCEPTIONS = {
    "http2/5.1/5": _ENDING,
    "http2/5.1/6": _ENDED,
    "http2/5.1/8": _ENDED,
    "http2/5.1/9": _ENDED,
    "http2/5.1/11": _ENDED,
    "http2/5.1/12": _ENDED,
    "http2/5.1.1/2": _ENDED,
    "http2/5.3.1/1": _PRIORITIES,
    "http2/5.3.1/2": _PRIORITIES,
    "http2/6.1/2": _ENDING,
    "http2/8.1.2.6/1": _LENGTH,
    "http2/8.1.2.6/2": _LENGTH,
}
"""What the door need not answer as h2spec wants, by section and number, and why; all else must hold.

gRPC's own server (1.85) fails each of these as well, and 36 more.
"""
CASES = 145
"""How many cases h2spec has; none may be left out."""


@pytest.fixture(scope="module")
def h2spec(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build h2spec, which asks for gRPC."""
    folder = tmp_path_factory.mktemp("h2spec")
    go = shutil.which("go")
    assert go is not None, "h2spec is a program in Go: install golang-go"
    listed = [go, "list", "-m", "-f", "{{.Dir}}", "github.com/summerwind/h2spec"]
    subprocess.run([go, "mod", "download"], cwd=MODULE, check=True)
    source = Path(subprocess.run(listed, cwd=MODULE, check=True, capture_output=True, text=True).stdout.strip())
    shutil.copytree(source, folder, dirs_exist_ok=True)
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755)  # the cache of modules is read-only
    needs = (MODULE / "go.mod").read_text().partition("\nrequire (")[2]
    (folder / "go.mod").write_text(f"module github.com/summerwind/h2spec\n\ngo 1.19\n\nrequire ({needs}")
    shutil.copy(MODULE / "go.sum", folder)
    asks = folder / "spec" / "util.go"
    text = asks.read_text()
    for browser, client in CALLS.items():
        assert text.count(browser) == 1
        text = text.replace(browser, client)
    asks.write_text(text)
    subprocess.run([go, "build", "-mod=mod", "-o", "tried", "./cmd/h2spec"], cwd=folder, check=True)
    return folder / "tried"


@contextlib.asynccontextmanager
async def door(socket: Path) -> AsyncIterator[int]:
    """Serve a door behind a port of this machine: h2spec knows no Unix domain sockets."""

    async def welcome(call: Http2Call) -> None:
        call.send(pb.RefereeMessage(welcome=pb.Welcome(game="x" * 20_000)).SerializeToString())
        while await call.read() is not None:
            pass

    listener = Listener(
        socket,
        f"/{SERVICE}/Play",
        welcome,
        max_message_bytes=MAX_FRAME_BYTES,
        max_calls=MAX_STREAMS_AT_A_SEAT,
        idle_seconds=60,
    )

    async def hand_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        theirs, ours = await asyncio.open_unix_connection(socket)

        async def copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            with contextlib.suppress(OSError):
                while data := await source.read(65_536):
                    sink.write(data)
                    await sink.drain()
            sink.close()

        await asyncio.gather(copy(reader, ours), copy(theirs, writer))

    server = await asyncio.start_server(hand_on, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await listener.stop(0, 5)


def test_what_h2spec_asks_of_a_server(h2spec: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.xml"

    async def ask() -> None:
        async with door(tmp_path / "door") as port:
            words = ["-p", str(port), "-P", f"/{SERVICE}/Play", "-o", "2", "-j", str(report)]
            process = await asyncio.create_subprocess_exec(h2spec, *words, stdout=subprocess.DEVNULL)
            await asyncio.wait_for(process.wait(), patient(500))

    asyncio.run(ask())
    verdicts = {}
    for suite in ElementTree.parse(report).getroot().iter("testsuite"):  # noqa: S314 h2spec wrote it
        for number, case in enumerate(suite.iter("testcase"), 1):
            failed = any(case.find(tag) is not None for tag in ("failure", "error", "skipped"))
            verdicts[f"{case.get('package')}/{number}"] = f"{case.get('classname')}" if failed else ""
    assert len(verdicts) == CASES
    assert {name: said for name, said in verdicts.items() if said and name not in EXCEPTIONS} == {}
