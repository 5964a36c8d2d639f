"""The kit of every language is built as its page says, plays, comes back, is submitted and plays in a box: `make kits`.

Builds take minutes and need the registries of the languages, so `make test` leaves these out.
"""

from __future__ import annotations

import asyncio
import shutil
import signal
import subprocess
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import TypeVar

import grpc
import pytest
from house_bots.random_bot import RandomBot

from bench.kits import (
    KITS,
    OVER,
    WELCOME,
    Talk,
    archive,
    command,
    environment,
    make,
    missing,
    question,
    scripted,
    start,
)
from dogana.v1 import referee_pb2 as pb
from ladder.intake import take_in
from referee.game import Game
from referee.live.play import Command, House, MatchReport, Player, Remote, play_match
from referee.live.server import Listen, RefereeServer
from referee.match.result import Outcome
from referee.registry import games
from tests.tables import plan_of

pytestmark = pytest.mark.kits
T = TypeVar("T")


@pytest.fixture(scope="module", params=KITS)
def language(request: pytest.FixtureRequest) -> str:
    """Each language whose tools are installed."""
    chosen: str = request.param
    if install := missing(chosen):
        pytest.skip(f"the kit for {chosen} cannot be built: {install}")
    return chosen


@pytest.fixture(scope="module")
def kit(language: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a kit that was written and built."""
    folder = tmp_path_factory.mktemp(language) / "mybot"
    make(language, folder)
    return folder


def run(work: Awaitable[T]) -> T:
    """Runs what must be over in two minutes, even on a machine that is busy."""

    async def all_of_it() -> T:
        return await asyncio.wait_for(work, 120)

    return asyncio.run(all_of_it())


def started(kit: Path) -> Command:
    return Command(command(kit), environment(), kit, 60.0)


async def match(game: Game, *players: Player) -> MatchReport:
    async with RefereeServer() as server:
        return await play_match(plan_of(game, len(players)), players, server=server)


@pytest.mark.parametrize("game", games().values(), ids=lambda game: game.name)
def test_it_plays_every_game(kit: Path, game: Game) -> None:
    report = run(match(game, started(kit), House(RandomBot)))
    assert report.result.seats[0].outcome is Outcome.PLAYED, report.logs[0]
    assert not report.logs[0]


@pytest.mark.parametrize("game", games().values(), ids=lambda game: game.name)
def test_it_beats_random(kit: Path, game: Game) -> None:
    """It understands what the messages say: by chance it would win all of three matches once in eight times."""

    async def matches() -> list[int]:
        async with RefereeServer() as server:
            plans = [plan_of(game, seed=seed) for seed in (1, 2, 3)]
            reports = [await play_match(plan, [started(kit), House(RandomBot)], server=server) for plan in plans]
            return [report.result.seats[0].rank for report in reports]

    assert sum(rank == 1 for rank in run(matches())) >= 2


def test_it_plays_at_a_full_table(kit: Path) -> None:
    game = games()["cargo_noir"]
    report = run(match(game, *[started(kit)] * 2, *[House(RandomBot)] * 3))
    assert {seat.outcome for seat in report.result.seats} == {Outcome.PLAYED}, report.logs


async def cut_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, after: int) -> None:
    """Hands bytes on until there have been so many, then cuts the connection."""
    while (data := await reader.read(4096)) and after > 0:
        writer.write(data)
        after -= len(data)
    writer.transport.abort()


def test_a_remote_bot_comes_back_when_its_connection_is_cut(kit: Path) -> None:
    connections = 0

    async def plays() -> tuple[MatchReport, int | None, str]:
        async with RefereeServer(Listen("127.0.0.1:0")) as server:

            async def hand_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                nonlocal connections
                connections += 1
                theirs, ours = await asyncio.open_connection("127.0.0.1", server.remote_port)
                limit = 20_000 if connections <= 2 else 1 << 60  # more than a Welcome, less than a match
                await asyncio.wait(
                    [
                        asyncio.create_task(cut_once(theirs, writer, limit)),
                        asyncio.create_task(cut_once(reader, ours, limit)),
                    ]
                )

            proxy = await asyncio.start_server(hand_on, "127.0.0.1", 0)
            port = proxy.sockets[0].getsockname()[1]
            tokens: asyncio.Queue[str] = asyncio.Queue()
            playing = asyncio.create_task(
                play_match(
                    plan_of(clock="600+5/60"),
                    [Remote(60.0), House(RandomBot)],
                    server=server,
                    announce=lambda _, token: tokens.put_nowait(token),
                )
            )
            process = await start(kit, f"127.0.0.1:{port}", await tokens.get())
            report = await playing
            output, _ = await process.communicate()
            proxy.close()
            return report, process.returncode, output.decode()

    report, status, output = run(plays())
    assert report.result.seats[0].outcome is Outcome.PLAYED, output
    assert connections == 3
    assert output.count("trying again in") == 2
    assert status == 0


def test_a_started_bot_whose_connection_is_cut_ends_with_a_reason(kit: Path) -> None:
    async def gone(talk: Talk) -> None:
        await talk.hear()
        await talk.say(WELCOME)
        await talk.refuse(grpc.StatusCode.UNAVAILABLE, "gone")

    output, status = run(scripted_run(kit, gone))
    assert status not in (0, None)
    assert "no referee answers at unix:" in output
    assert "trying again" not in output


async def scripted_run(kit: Path, script: object) -> tuple[str, int | None]:
    """Lets a bot talk with a script; returns what it wrote and its exit status."""
    async with scripted(script) as address:  # type: ignore[arg-type]
        process = await start(kit, address)
        output, _ = await process.communicate()
        return output.decode(), process.returncode


def test_it_goes_on_whatever_the_referee_says(kit: Path) -> None:
    """Messages and fields of a newer protocol, a refusal, a withdrawal, a new deadline, a question on the heels of another."""
    answers: list[pb.Choose] = []

    async def referee(talk: Talk) -> None:
        join = (await talk.hear()).join
        assert (join.token, join.protocol) == ("token", 1)
        await talk.say(WELCOME)
        await talk.say(bytes([0xFA, 0x06, 0x02, 0x08, 0x01]))  # field 111, a message
        large = question(1, 500)
        large.decide.observation.value = bytes(4_000_000)
        await talk.say(large.SerializeToString() + bytes([0xFA, 0x06, 0x02, 0x08, 0x01]))
        answers.append((await talk.hear()).choose)
        reason = pb.Rejected.REASON_ILLEGAL
        await talk.say(
            pb.RefereeMessage(
                rejected=pb.Rejected(decision=1, reason=reason, rule="X1.2", message="not now", strikes=1)
            )
        )
        answers.append((await talk.hear()).choose)
        await talk.say(pb.RefereeMessage(rejected=pb.Rejected(decision=1, reason=pb.Rejected.REASON_STALE)))
        await talk.say(pb.RefereeMessage(withdrawn=pb.Withdrawn(decision=1)))
        await talk.say(question(2))
        await talk.say(pb.RefereeMessage(withdrawn=pb.Withdrawn(decision=2)))
        await talk.say(question(3))
        await talk.say(pb.RefereeMessage(new_deadline=pb.NewDeadline(decision=3, clock=pb.Clock(budget_ms=5000))))
        while not answers or answers[-1].decision != 3:  # an answer to the second may have been on its way
            answers.append((await talk.hear()).choose)
        await talk.say(OVER)

    output, status = run(scripted_run(kit, referee))
    assert [choose.decision for choose in answers if choose.decision != 2] == [1, 1, 3]
    assert all(choose.WhichOneof("choice") == "index" and choose.index < 500 for choose in answers)
    assert "refused as illegal: not now (X1.2); strike 1" in output
    assert status == 0


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (grpc.StatusCode.FAILED_PRECONDITION, "newer"),
        (grpc.StatusCode.ABORTED, "the match is void"),
        (None, "before the match was over"),
    ],
    ids=str,
)
def test_a_refusal_ends_it_with_a_line_that_says_why(kit: Path, code: grpc.StatusCode | None, said: str) -> None:
    async def refuse(talk: Talk) -> None:
        await talk.hear()
        if code is not None:
            await talk.refuse(code, "a newer referee; the match is void")

    output, status = run(scripted_run(kit, refuse))
    assert status not in (0, None)
    [line] = output.splitlines()
    assert line.startswith("dogana bot: ")
    assert said in line


def test_a_wrong_token_is_refused_with_a_line_that_says_so(kit: Path) -> None:
    async def joins() -> tuple[str, int | None]:
        async with RefereeServer() as server:
            process = await start(kit, server.local_address, "wrong")
            output, _ = await process.communicate()
            return output.decode(), process.returncode

    output, status = run(joins())
    assert status not in (0, None)
    assert "the referee refused (UNAUTHENTICATED): the token is unknown" in output
    assert len(output.splitlines()) == 1


def test_without_an_address_it_says_how_to_start_it(kit: Path) -> None:
    ended = subprocess.run(command(kit), cwd=kit, env=environment(), capture_output=True, text=True, check=False)
    assert ended.returncode not in (0, None)
    assert "this bot must be started by the referee" in ended.stderr
    assert "DOGANA_ADDRESS=" in ended.stderr


def test_where_nobody_listens_it_ends_at_once_with_the_address(kit: Path) -> None:
    async def dials() -> tuple[str, int | None]:
        process = await start(kit, "127.0.0.1:1")
        output, _ = await process.communicate()
        return output.decode(), process.returncode

    output, status = run(dials())
    assert status not in (0, None)
    assert "no referee answers at 127.0.0.1:1" in output


def test_it_ends_when_it_is_asked_to(kit: Path) -> None:
    joined = asyncio.Event()

    async def wait(talk: Talk) -> None:
        await talk.hear()
        await talk.say(WELCOME)
        joined.set()
        await asyncio.Event().wait()

    async def stops() -> float:
        async with scripted(wait) as address:
            process = await start(kit, address)
            await joined.wait()
            process.send_signal(signal.SIGTERM)
            begin = time.monotonic()
            await process.communicate()
            return time.monotonic() - begin

    assert run(stops()) < 30  # 2 on a machine that is not busy


BOX = """
socket="${DOGANA_ADDRESS#unix:}"
exec prlimit --nofile=256 bwrap --unshare-all --die-with-parent --new-session --clearenv \
    --ro-bind / / --proc /proc --dev /dev --size 33554432 --tmpfs /tmp \
    --dir /tmp/in --ro-bind "$1" /tmp/in/bot --ro-bind "$socket" /tmp/in/s --remount-ro / --chdir /tmp/in/bot \
    --setenv DOGANA_ADDRESS unix:/tmp/in/s --setenv DOGANA_TOKEN "$DOGANA_TOKEN" \
    --setenv HOME /tmp --setenv TMPDIR /tmp --setenv LANG C.UTF-8 --setenv PATH "$PATH" -- "${@:2}"
"""
"""A read-only root, no network, 32 MB in /tmp, 256 open files."""


def test_what_is_submitted_plays_in_a_box(kit: Path, language: str, tmp_path: Path) -> None:
    bwrap = shutil.which("bwrap")
    if bwrap is None or subprocess.run([bwrap, "--ro-bind", "/", "/", "true"], check=False).returncode:
        pytest.skip("bubblewrap cannot make a box here; Debian: apt-get install bubblewrap")
    artefact = take_in(archive(language, kit, tmp_path / "bot.tar.gz"), tmp_path / "versions")
    boxed = ["/bin/bash", "-c", BOX, "box", str(tmp_path / "versions" / artefact.content_hash), *artefact.run]
    try:
        report = run(match(games()["cargo_noir"], Command(boxed, environment(), None, 60.0), House(RandomBot)))
    finally:  # what was taken in cannot be written to, so the tests' folder could not be removed
        subprocess.run(["/bin/chmod", "-R", "u+w", str(tmp_path / "versions")], check=True)
    assert report.result.seats[0].outcome is Outcome.PLAYED, report.logs[0]
    assert artefact.games == tuple(games())
