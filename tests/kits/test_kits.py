"""The kit of every language is built as its page says, plays, comes back, is submitted and plays in a box: `make kits`.

Builds take minutes and need the registries of the languages, so `make test` leaves these out.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import grpc
import pytest
from house_bots.random_bot import RandomBot

from bench.kits import (
    KITS,
    OVER,
    WELCOME,
    archive,
    command,
    environment,
    make,
    missing,
    question,
    start,
)
from dogana.v1 import referee_pb2 as pb
from ladder.conformance.exercises import run as check
from ladder.conformance.package import take
from ladder.conformance.rehearsal import JOIN_SECONDS, Course, Verdict, WaitingTimes
from ladder.conformance.rehearsal import StepOutcome as Judged
from referee.bots.files import make_writable, take_in
from referee.game import Game
from referee.live.matches.conversation import Conversation, conversation
from referee.live.matches.play import Command, House, MatchReport, Player, Remote, play_match
from referee.live.matches.server import Listen, RefereeServer
from referee.match.result import Outcome
from referee.registry import games
from referee.sandbox.cgroup import Groups
from referee.sandbox.limits import ResourceLimits
from referee.sandbox.measures import build
from tests.patience import patient
from tests.proxy import breaking
from tests.referee.test_wire import certificate
from tests.sandbox.conftest import needs_bubblewrap
from tests.tables import plan_of

pytestmark = pytest.mark.kits
T = TypeVar("T")
WELL = "exited with status 0"


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
        return await asyncio.wait_for(work, patient(120))

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
def test_it_understands_the_messages_of_every_game(kit: Path, game: Game) -> None:
    """Over five matches it makes more points than `random`: on average it makes two to ten times as many, by chance half of them."""

    async def scores() -> tuple[int, int]:
        async with RefereeServer() as server:
            plans = [plan_of(game, seed=seed) for seed in range(5)]
            reports = [await play_match(plan, [started(kit), House(RandomBot)], server=server) for plan in plans]
            own, other = zip(*[[seat.score for seat in report.result.seats] for report in reports], strict=True)
            return sum(own), sum(other)

    own, other = run(scores())
    assert own > other


def test_it_plays_at_a_full_table(kit: Path) -> None:
    game = games()["cargo_noir"]
    report = run(match(game, *[started(kit)] * 2, *[House(RandomBot)] * 3))
    assert {seat.outcome for seat in report.result.seats} == {Outcome.PLAYED}, report.logs


async def remote_match(
    kit: Path, server: RefereeServer, address: str, ca: str = ""
) -> tuple[MatchReport, int | None, str]:
    """Plays a match with a bot that dials in; returns its exit status and what it wrote, too."""
    tokens: asyncio.Queue[str] = asyncio.Queue()
    playing = asyncio.create_task(
        play_match(
            plan_of(clock="600+5/60"),
            [Remote(60.0), House(RandomBot)],
            server=server,
            announce=lambda _, token: tokens.put_nowait(token),
        )
    )
    process = await start(kit, address, await tokens.get(), ca)
    report = await playing
    output, _ = await process.communicate()
    return report, process.returncode, output.decode()


def test_a_remote_bot_comes_back_when_its_connection_is_cut(kit: Path) -> None:
    async def plays() -> None:
        async with (
            RefereeServer(Listen("127.0.0.1:0")) as server,
            breaking(server.remote_port, [20_000, 20_000]) as proxy,  # more than a Welcome, less than a match
        ):
            report, status, output = await remote_match(kit, server, f"127.0.0.1:{proxy.port}")
            assert report.result.seats[0].outcome is Outcome.PLAYED, output
            assert proxy.connections == 3
            assert output.count("trying again in") == 2
            assert status == 0

    run(plays())


def test_it_plays_over_an_encrypted_connection(kit: Path, tmp_path: Path) -> None:
    chain, key, file = certificate(tmp_path)

    async def plays() -> None:
        async with RefereeServer(Listen("localhost:0", chain, key)) as server:
            report, status, output = await remote_match(kit, server, f"localhost:{server.remote_port}", str(file))
            assert report.result.seats[0].outcome is Outcome.PLAYED, output
            assert status == 0

    run(plays())


def test_a_certificate_that_cannot_be_read_is_said_in_a_line(kit: Path) -> None:
    async def dials() -> None:
        process = await start(kit, "localhost:1", "token", "/nowhere.pem")
        output, _ = await process.communicate()
        assert process.returncode not in (0, None)
        assert output.decode().startswith("dogana bot: cannot read the certificate /nowhere.pem")
        assert len(output.splitlines()) == 1

    run(dials())


async def hear(talk: Conversation) -> pb.AgentMessage:
    """What the bot says next."""
    data = await talk.hear(patient(60))
    assert data is not None, talk.process.log.text()
    return pb.AgentMessage.FromString(data)


async def left(talk: Conversation) -> tuple[str, str]:
    """What the bot wrote, and how it has ended."""
    ended = await talk.exit(patient(60))
    await talk.process.stop()
    return talk.process.log.text(), ended


def test_a_started_bot_whose_connection_is_cut_ends_with_a_reason(kit: Path) -> None:
    async def is_cut() -> tuple[str, str]:
        async with conversation(started(kit)) as talk:
            await hear(talk)
            await talk.say(WELCOME)
            talk.end(grpc.StatusCode.UNAVAILABLE, "gone")
            return await left(talk)

    output, ended = run(is_cut())
    assert ended
    assert ended != WELL
    assert "no referee answers at unix:" in output
    assert "trying again" not in output


def test_it_goes_on_whatever_the_referee_says(kit: Path) -> None:
    """Messages and fields of a newer protocol, a refusal, a withdrawal, a new deadline, a question on the heels of another."""
    answers: list[pb.Choose] = []

    async def plays() -> tuple[str, str]:
        async with conversation(started(kit)) as talk:
            join = (await hear(talk)).join
            assert (join.token, join.protocol) == (talk.token, 1)
            await talk.say(WELCOME)
            await talk.say(bytes([0xFA, 0x06, 0x02, 0x08, 0x01]))  # field 111, a message
            large = question(1, 500)
            large.decide.observation.value = bytes(4_000_000)
            await talk.say(large.SerializeToString() + bytes([0xFA, 0x06, 0x02, 0x08, 0x01]))
            answers.append((await hear(talk)).choose)
            reason = pb.Rejected.REASON_ILLEGAL
            await talk.say(
                pb.RefereeMessage(
                    rejected=pb.Rejected(decision=1, reason=reason, rule="X1.2", message="not now", strikes=1)
                )
            )
            answers.append((await hear(talk)).choose)
            await talk.say(
                pb.RefereeMessage(rejected=pb.Rejected(decision=1, reason=pb.Rejected.REASON_STALE)),
                pb.RefereeMessage(withdrawn=pb.Withdrawn(decision=1)),
                question(2),
                pb.RefereeMessage(withdrawn=pb.Withdrawn(decision=2)),
                question(3),
                pb.RefereeMessage(new_deadline=pb.NewDeadline(decision=3, clock=pb.Clock(budget_ms=5000))),
            )
            while not answers or answers[-1].decision != 3:  # an answer to the second may have been on its way
                answers.append((await hear(talk)).choose)
            await talk.say(OVER)
            return await left(talk)

    output, ended = run(plays())
    assert [choose.decision for choose in answers if choose.decision != 2] == [1, 1, 3]
    assert all(choose.WhichOneof("choice") == "index" and choose.index < 500 for choose in answers)
    assert "refused as illegal: not now (X1.2); strike 1" in output
    assert ended == WELL


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
    async def is_refused() -> tuple[str, str]:
        async with conversation(started(kit)) as talk:
            await hear(talk)
            talk.end(code or grpc.StatusCode.OK, "a newer referee; the match is void")
            return await left(talk)

    output, ended = run(is_refused())
    assert ended
    assert ended != WELL
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
    async def stops() -> str:
        async with conversation(started(kit)) as talk:
            await hear(talk)
            await talk.say(WELCOME)
            assert talk.process.agent is not None
            os.kill(talk.process.agent, signal.SIGTERM)
            return await talk.exit(patient(30))  # 2 on a machine that is not busy

    assert run(stops())


@needs_bubblewrap
def test_what_is_submitted_plays_every_game_in_the_sandbox_of_a_ladder(
    kit: Path, language: str, tmp_path: Path
) -> None:
    versions = tmp_path / "versions"
    artefact = take_in(archive(language, kit, tmp_path / "bot.tar.gz"), versions)
    boxed = Command(artefact.run, {}, versions / artefact.content_hash, 60.0, build(ResourceLimits()))
    try:
        reports = [run(match(game, boxed, House(RandomBot))) for game in games().values()]
    finally:  # what was taken in cannot be written to, so the tests' folder could not be removed
        subprocess.run(["/bin/chmod", "-R", "u+w", str(versions)], check=True)
    for report in reports:
        assert report.result.seats[0].outcome is Outcome.PLAYED, (report.result.seats[0].detail, report.logs[0])
        assert (report.usages[0].memory_kills or 0) == 0
    assert artefact.games == tuple(games())


@needs_bubblewrap
@pytest.mark.skipif(
    "freezer" not in Groups.look().found,
    reason="needs the freezer of control groups: run as root, or see dogana doctor",
)
def test_it_plays_on_after_it_was_stopped_while_others_thought(kit: Path) -> None:
    slow = "import time\nfrom dogana.sdk import play\nplay(lambda decision: time.sleep(0.1) or 0)"
    boxed = replace(started(kit), sandbox=build(ResourceLimits(ponders=False)))
    kit.parent.chmod(0o755)
    other = Command([sys.executable, "-c", slow], environment(), None, 60.0)

    async def stops() -> MatchReport:
        async with RefereeServer() as server:
            plan = plan_of(options={"first_player": 0, "last_turn": 3})
            return await play_match(plan, [boxed, other], server=server)

    report = run(stops())
    assert report.result.seats[0].outcome is Outcome.PLAYED, (report.result.seats[0].detail, report.logs[0])


@needs_bubblewrap
def test_it_passes_every_step_of_a_check(language: str, kit: Path, tmp_path: Path) -> None:
    """Of one game: the others are played in other tests. It is left alone for a moment instead of 35 s."""
    versions = tmp_path / "versions"
    found: list[Verdict] = []
    tmp_path.chmod(0o755)
    try:
        taken = take(archive(language, kit, tmp_path / "bot.tar.gz"), versions, (), found.append)
        assert taken is not None, found
        artefact, folder = taken
        bot = Command(artefact.run, {}, folder, JOIN_SECONDS, build(ResourceLimits()))
        asyncio.run(check(Course(bot, [games()["cargo_noir"]], WaitingTimes(idle=1.0), tmp_path), found.append))
    finally:
        make_writable(tmp_path)
    assert not [verdict for verdict in found if verdict.outcome is Judged.FAILED]


@pytest.mark.soak
def test_it_waits_for_others_however_long_they_think(kit: Path) -> None:
    """For longer than the pings that a referee forgives: without what it allows them, it would close the connection."""

    async def waits() -> None:
        plan = plan_of(clock="600+0/600", options={"first_player": 0, "last_turn": 3})
        async with RefereeServer() as server:
            tokens: asyncio.Queue[str] = asyncio.Queue()
            playing = asyncio.create_task(
                play_match(
                    plan,
                    [Remote(), started(kit)],
                    server=server,
                    announce=lambda _, token: tokens.put_nowait(token),
                )
            )
            program = (
                "import time\nfrom dogana.sdk import play\n"
                "play(lambda decision: time.sleep(240 * (decision.number == 1)) or 0)"
            )
            slow = await asyncio.create_subprocess_exec(
                sys.executable,
                "-c",
                program,
                env={**environment(), "DOGANA_ADDRESS": server.local_address, "DOGANA_TOKEN": await tokens.get()},
            )
            report = await playing
            assert {seat.outcome for seat in report.result.seats} == {Outcome.PLAYED}, report.logs
            assert await slow.wait() == 0

    asyncio.run(waits())
