"""Seats over real gRPC: joining, deciding, and every way in which an agent can misbehave on the wire."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.any_pb2 import Any as AnyMessage
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from house_bots.random_bot import RandomBot

from dogana.games.cargo_noir.v1 import cargo_noir_pb2 as cn
from dogana.v1 import referee_pb2 as pb
from referee.game import Action, Seat
from referee.kit.chance import commitment
from referee.live.doors.door import MAX_FRAME_BYTES
from referee.live.doors.grpc_call import GrpcCall
from referee.live.doors.lobby import Lobby
from referee.live.matches.driver import MatchVoid
from referee.live.matches.play import House, MatchReport, Player, Remote, StartFailed, play_match
from referee.live.matches.server import Listen, PortInUse, RefereeServer
from referee.live.messages import wire
from referee.live.messages.codec import Codec, codec
from referee.live.seats.agent import MESSAGES_AT_FIRST, MESSAGES_PER_DECISION, AgentSeat
from referee.match.effects import Refusal, Reject
from referee.match.plan import MatchPlan
from referee.match.result import Fault, Outcome, Result
from tests.patience import patient
from tests.tables import plan_of
from tests.toy.games.sealed import GAME as SEALED

ROOT = Path(__file__).resolve().parents[2]


class Agent:
    """A client that says exactly what a test wants it to say."""

    def __init__(self, address: str, token: str) -> None:
        self.token = token
        self._channel = grpc.aio.insecure_channel(address)
        self.call: Any = self._channel.stream_stream(
            "/dogana.v1.Referee/Play", response_deserializer=pb.RefereeMessage.FromString
        )()

    async def raw(self, data: bytes) -> None:
        await self.call.write(data)

    async def send(self, **message: Any) -> None:
        await self.raw(pb.AgentMessage(**message).SerializeToString())

    async def join(self, *, protocol: int = 1, labels: bool = False) -> pb.Welcome:
        await self.send(join=pb.Join(token=self.token, protocol=protocol, labels=labels))
        return (await self.read("welcome")).welcome  # type: ignore[no-any-return]

    async def read(self, wanted: str = "") -> Any:
        try:
            message = await asyncio.wait_for(self.call.read(), patient(20))
        except grpc.aio.AioRpcError:
            message = grpc.aio.EOF  # `status` says how
        if wanted:
            assert message is not grpc.aio.EOF, await self.status()
            assert message.WhichOneof("message") == wanted, message
        return message

    async def decide(self) -> pb.Decide:
        return (await self.read("decide")).decide  # type: ignore[no-any-return]

    async def choose(self, decision: int, index: int) -> None:
        await self.send(choose=pb.Choose(decision=decision, index=index))

    async def play_out(self) -> pb.GameOver:
        """Answers every question with the first action."""
        while True:
            message = await self.read()
            assert message is not grpc.aio.EOF, await self.status()
            which = message.WhichOneof("message")
            if which == "decide":
                await self.choose(message.decide.decision, 0)
            elif which == "game_over":
                return message.game_over  # type: ignore[no-any-return]

    async def status(self) -> tuple[grpc.StatusCode, str]:
        """How the stream has ended."""
        return await asyncio.wait_for(self.call.code(), patient(20)), await self.call.details()

    async def close(self) -> None:
        await self._channel.close()


class RunningMatch:
    """A running match with remote seats."""

    def __init__(self, server: RefereeServer, plan: MatchPlan, players: list[Player], **arguments: Any) -> None:
        self.server = server
        self.tokens: dict[Seat, str] = {}
        self.announced = asyncio.Event()
        self._wanted = sum(isinstance(player, Remote) for player in players)
        self.match = asyncio.create_task(play_match(plan, players, server=server, announce=self._announce, **arguments))
        self.agents: list[Agent] = []

    def _announce(self, seat: Seat, token: str) -> None:
        self.tokens[seat] = token
        if len(self.tokens) == self._wanted:
            self.announced.set()

    async def agent(self, seat: Seat = 0, address: str = "") -> Agent:
        await asyncio.wait_for(self.announced.wait(), patient(20))
        agent = Agent(address or self.server.local_address, self.tokens[seat])
        self.agents.append(agent)
        return agent

    async def report(self) -> MatchReport:
        return await asyncio.wait_for(self.match, patient(30))


def watching(channel: grpc.aio.Channel, **request: Any) -> Any:
    """A spectator."""
    method: Any = channel.unary_stream(
        "/dogana.v1.Referee/Watch",
        request_serializer=pb.WatchRequest.SerializeToString,
        response_deserializer=pb.Happened.FromString,
    )
    return method(pb.WatchRequest(**request))


@asynccontextmanager
async def running_match(
    plan: MatchPlan | None = None,
    players: list[Player] | None = None,
    listen: Listen | None = None,
    lobby: Lobby | None = None,
    **arguments: Any,
) -> AsyncIterator[RunningMatch]:
    chosen = plan or plan_of(options={"last_turn": 3, "first_player": 0})
    seats: list[Player] = players or [Remote(20), House(RandomBot)]
    async with RefereeServer(listen, lobby=lobby) as server:
        room = RunningMatch(server, chosen, seats, **arguments)
        try:
            yield room
        finally:
            for one in room.agents:
                await one.close()
            room.match.cancel()
            await asyncio.gather(room.match, return_exceptions=True)


@asynccontextmanager
async def joined(*arguments: Any, labels: bool = False, **more: Any) -> AsyncIterator[tuple[RunningMatch, Agent]]:
    """A running match, of `running_match`, and the agent that has taken its seat 0."""
    async with running_match(*arguments, **more) as room:
        bot = await room.agent()
        await bot.join(labels=labels)
        yield room, bot


def run(scene: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(scene, patient(60)))


# --- a match ----------------------------------------------------------------------------------------------


async def test_a_whole_match_over_the_wire() -> None:
    plan = plan_of(options={"last_turn": 3, "first_player": 0})
    async with running_match(plan) as room:
        bot = await room.agent()
        welcome = await bot.join()
        assert (welcome.game, welcome.seat, welcome.seats) == ("cargo_noir", 0, 2)
        assert welcome.options["last_turn"] == "3"
        assert welcome.board["cards"]["yacht"]["cost"] == 10  # type: ignore[index]
        assert welcome.clock.bank_ms == 60_000
        over = await bot.play_out()
        report = await room.report()
        assert over.digest == report.result.digest
        assert commitment(plan.match_id, int(over.seed)) == welcome.seed_commitment
        assert [seat.outcome for seat in over.seats] == [pb.SeatResult.OUTCOME_PLAYED] * 2
        assert (await bot.status())[0] is grpc.StatusCode.OK


async def test_a_question_has_observation_actions_clock_and_labels_on_request() -> None:
    async with joined(labels=True) as (_, bot):
        decision = await bot.decide()
        actions = cn.ActionList.FromString(decision.actions.value).actions
        assert decision.actions.type_url == "type.googleapis.com/dogana.games.cargo_noir.v1.ActionList"
        assert len(actions) == decision.action_count == len(decision.labels)
        assert decision.labels[0] == "send(casino)"
        assert actions[0].send.dest == cn.DESTINATION_CASINO
        seen = cn.Observation.FromString(decision.observation.value)
        assert (seen.viewer, seen.phase, seen.seats[0].safe) == (0, cn.PHASE_P3, 7)
        assert decision.clock.budget_ms == pytest.approx(10_000, abs=50)
        assert decision.clock.bank_ms == pytest.approx(60_500, abs=50)


async def test_without_a_request_there_are_no_labels() -> None:
    async with joined() as (_, bot):
        assert not (await bot.decide()).labels


async def test_typed_actions_play_a_whole_turn_and_the_next_question_says_what_was_played() -> None:
    async with joined(labels=True) as (_, bot):
        decision = await bot.decide()
        casino = cn.Action(send=cn.Send(dest=cn.DESTINATION_CASINO))
        answer = pb.Choose(decision=decision.decision)
        answer.actions.Pack(cn.ActionList(actions=[casino] * 3 + [cn.Action(casino=cn.Casino())]))
        await bot.send(choose=answer)
        decision = await bot.decide()
        assert list(decision.played.labels[:3]) == ["send(casino)"] * 3
        assert set(decision.played.seats) == {0, 1}
        assert len(cn.ActionList.FromString(decision.played.actions.value).actions) == len(decision.played.seats)
        assert "1 of 4 actions dropped" in decision.dropped


async def test_a_window_is_announced_with_its_time_and_the_open_question_can_still_be_answered() -> None:
    async with running_match(plan_of(SEALED, 2, options={"timer": 60}), [Remote(20)] * 2) as room:
        one, two = await room.agent(0), await room.agent(1)
        await asyncio.gather(one.join(), two.join())
        first, second = await one.decide(), await two.decide()
        assert not first.clock.HasField("window_ms")
        await one.choose(first.decision, first.action_count - 1)
        deadline = (await two.read("new_deadline")).new_deadline
        assert deadline.decision == second.decision
        assert 0 < deadline.clock.window_ms <= 60_000
        assert 0 < deadline.clock.budget_ms < second.clock.budget_ms
        await two.choose(second.decision, second.action_count - 1)
        assert (await two.decide()).decision == second.decision + 1


class Illegal(RandomBot):
    """Answers with an index that is not in the list."""

    def pick(self, count: int) -> int:
        return count


async def test_an_agent_hears_that_a_house_bot_failed_but_not_where_the_referee_keeps_the_position(
    tmp_path: Path,
) -> None:
    file = tmp_path / "new" / "it is here.json"
    async with joined(players=[Remote(20), House(Illegal)], position_file=file) as (room, bot):
        while (message := await bot.read()) is not grpc.aio.EOF:
            if message.WhichOneof("message") == "decide":
                await bot.choose(message.decide.decision, 0)
        code, text = await bot.status()
        assert code is grpc.StatusCode.ABORTED
        assert "house bot bot1 in seat 1 of match test failed at its decision 1: index" in text
        assert str(tmp_path) not in text
        with pytest.raises(MatchVoid, match=f"to see the position: dogana position '{file}'"):
            await room.report()
        assert file.is_file()


# --- refusals -----------------------------------------------------------------------------------------------


async def test_an_illegal_action_is_refused_with_the_rule_and_the_decision_stays_open() -> None:
    async with joined() as (_, bot):
        decision = await bot.decide()
        answer = pb.Choose(decision=decision.decision)
        answer.actions.Pack(cn.ActionList(actions=[cn.Action(buy=cn.Buy(card=cn.CARD_BANK))]))
        await bot.send(choose=answer)
        rejected = (await bot.read("rejected")).rejected
        assert (rejected.reason, rejected.rule, rejected.strikes) == (pb.Rejected.REASON_ILLEGAL, "C4.5", 1)
        assert "buy(bank) is not legal" in rejected.message
        assert 0 < rejected.left_ms <= 10_000
        await bot.choose(decision.decision, 0)
        await bot.decide()


def _any(type_url: str, value: bytes) -> pb.Choose:
    return pb.Choose(actions=AnyMessage(type_url=type_url, value=value))


ACTIONS_URL = "type.googleapis.com/dogana.games.cargo_noir.v1.ActionList"


@pytest.mark.parametrize(
    ("choose", "text"),
    [
        (pb.Choose(), "neither an index nor actions"),
        (_any("type.googleapis.com/dogana.games.cargo_noir.v1.Action", b""), "actions must be a"),
        (_any("x" * 5000, b""), "actions must be a"),
        (_any(ACTIONS_URL, b"\xff\xff\xff"), "not a dogana.games.cargo_noir.v1.ActionList"),
        (_any(ACTIONS_URL, b""), "names no action"),
        (_any(ACTIONS_URL, cn.ActionList(actions=[cn.Action()]).SerializeToString()), "without a kind"),
        (
            _any(ACTIONS_URL, cn.ActionList(actions=[cn.Action(buy=cn.Buy())]).SerializeToString()),
            "0 is not a value of Card",
        ),
        (
            _any(ACTIONS_URL, cn.ActionList(actions=[cn.Action(buy=cn.Buy(card=99))]).SerializeToString()),  # type: ignore[arg-type]
            "99 is not a value of Card",
        ),
    ],
)
async def test_a_choice_that_cannot_be_read_is_refused_as_malformed(choose: pb.Choose, text: str) -> None:
    async with joined() as (_, bot):
        answer = pb.Choose()
        answer.CopyFrom(choose)
        answer.decision = (await bot.decide()).decision
        await bot.send(choose=answer)
        rejected = (await bot.read("rejected")).rejected
        assert rejected.reason == pb.Rejected.REASON_MALFORMED
        assert text in rejected.message


async def test_a_stale_answer_and_a_second_answer_are_refused_by_name() -> None:
    async with joined() as (_, bot):
        decision = await bot.decide()
        await bot.choose(decision.decision, 0)
        await bot.choose(decision.decision, 0)
        await bot.choose(12345, 0)
        messages = [await bot.read() for _ in range(3)]
        kinds = [message.WhichOneof("message") for message in messages]
        assert sorted(kinds) == ["decide", "rejected", "rejected"]
        for message in messages:
            if message.WhichOneof("message") == "rejected":
                assert message.rejected.reason == pb.Rejected.REASON_STALE
                assert message.rejected.strikes == 0


async def test_actions_of_a_stale_answer_are_not_even_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read = 0
    read_actions = Codec.read_actions

    def counting(codec: Codec, data: bytes) -> list[Action]:
        nonlocal read
        read += 1
        return read_actions(codec, data)

    monkeypatch.setattr(Codec, "read_actions", counting)

    async with joined() as (_, bot):
        decision = await bot.decide()
        one = cn.Action(stake=cn.Stake(coins=1))
        many = AnyMessage(
            type_url=decision.actions.type_url, value=cn.ActionList(actions=[one] * 8000).SerializeToString()
        )
        for number in (decision.decision - 1, decision.decision + 1, 2**31):
            await bot.send(choose=pb.Choose(decision=number, actions=many, thought_ms=0.0))
            rejected = (await bot.read("rejected")).rejected
            assert (rejected.reason, rejected.strikes) == (pb.Rejected.REASON_STALE, 0)
        assert read == 0
        await bot.send(choose=pb.Choose(decision=decision.decision, actions=many))
        assert (await bot.read("rejected")).rejected.reason == pb.Rejected.REASON_ILLEGAL
        assert read == 1


async def test_three_illegal_answers_put_the_seat_out_and_the_match_is_played_to_its_end() -> None:
    async with joined() as (room, bot):
        decision = await bot.decide()
        for _ in range(3):
            await bot.choose(decision.decision, 999)
        for _ in range(3):
            await bot.read("rejected")
        code, details = await bot.status()
        assert code is grpc.StatusCode.ABORTED
        assert "the seat is out (illegal)" in details
        result = (await room.report()).result
        assert [seat.outcome for seat in result.seats] == [Outcome.ILLEGAL, Outcome.PLAYED]
        assert [seat.rank for seat in result.seats] == [2, 1]


# --- protocol faults ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "detail"),
    [
        (b"\xff\xff\xff\xff", "not a dogana.v1.AgentMessage"),
        (b"", "neither Join nor Choose"),
        (b"\x12\x00" + b"\x00" * (wire.MAX_MESSAGE_BYTES + 1), "at most 65536 are accepted"),
        (pb.AgentMessage(join=pb.Join(protocol=1)).SerializeToString(), "second Join"),
    ],
    ids=["malformed", "empty", "oversized", "second join"],
)
async def test_a_message_that_breaks_the_protocol_puts_the_seat_out(data: bytes, detail: str) -> None:
    async with joined() as (room, bot):
        await bot.decide()
        await bot.raw(data)
        result = (await room.report()).result
        assert result.seats[0].outcome is Outcome.PROTOCOL
        assert detail in result.seats[0].detail


async def test_a_frame_that_gRPC_itself_does_not_take_ends_the_stream() -> None:  # noqa: N802
    plan = plan_of(options={"last_turn": 3, "first_player": 0}, clock="0+0.5/0.5")
    async with joined(plan) as (room, bot):
        await bot.decide()
        await bot.raw(b"\x00" * (MAX_FRAME_BYTES + 1))
        assert (await room.report()).result.seats[0].outcome is Outcome.DISCONNECT


async def test_a_flood_of_messages_puts_the_seat_out() -> None:
    async with joined() as (room, bot):
        await bot.decide()
        try:
            for number in range(MESSAGES_AT_FIRST + MESSAGES_PER_DECISION + 1):
                await bot.choose(10_000 + number, 0)
        except (asyncio.InvalidStateError, grpc.RpcError):
            pass  # the referee has had enough before the flood was over
        result = (await room.report()).result
        assert result.seats[0].outcome is Outcome.PROTOCOL
        assert "more messages" in result.seats[0].detail


# --- joining ------------------------------------------------------------------------------------------------


async def test_an_unknown_token_is_refused() -> None:
    async with running_match() as room:
        bot = await room.agent()
        bot.token = "guessed"  # noqa: S105
        await bot.send(join=pb.Join(token="guessed", protocol=1))  # noqa: S106
        assert (await bot.read()) is grpc.aio.EOF
        code, details = await bot.status()
        assert code is grpc.StatusCode.UNAUTHENTICATED
        assert "DOGANA_TOKEN" in details


async def test_another_version_of_the_protocol_is_refused() -> None:
    async with running_match() as room:
        bot = await room.agent()
        await bot.send(join=pb.Join(token=bot.token, protocol=2))
        assert (await bot.read()) is grpc.aio.EOF
        code, details = await bot.status()
        assert code is grpc.StatusCode.FAILED_PRECONDITION
        assert "speaks protocol 1" in details


@pytest.mark.parametrize("data", [b"\xff\xff", pb.AgentMessage(choose=pb.Choose()).SerializeToString(), b""])
async def test_what_comes_first_must_be_a_join(data: bytes) -> None:
    async with running_match() as room:
        bot = await room.agent()
        await bot.raw(data)
        assert (await bot.read()) is grpc.aio.EOF
        code, details = await bot.status()
        assert code is grpc.StatusCode.INVALID_ARGUMENT
        assert "the first message must be Join" in details


async def test_a_stream_that_never_joins_is_ended() -> None:
    async with running_match(lobby=Lobby(join_seconds=0.2)) as room:
        bot = await room.agent()
        assert (await bot.read()) is grpc.aio.EOF
        code, details = await bot.status()
        assert code is grpc.StatusCode.INVALID_ARGUMENT
        assert "none within 0.2 s" in details


async def test_a_seat_whose_agent_does_not_come_is_out_from_the_start_or_the_match_is_not_played(
    tmp_path: Path,
) -> None:
    async with running_match(players=[Remote(0.2), House(RandomBot)]) as room:
        assert (await room.report()).result.seats[0].outcome is Outcome.START
    record = tmp_path / "match.jsonl"
    async with running_match(players=[Remote(0.2), House(RandomBot)], all_must_start=True, record=record) as room:
        with pytest.raises(StartFailed, match=r"seat 0: did not join within 0.2 s"):
            await room.report()
    assert not list(tmp_path.iterdir())


# --- connections come and go ----------------------------------------------------------------------------------


async def test_a_remote_agent_comes_back_with_its_token_and_is_asked_the_same() -> None:
    async with joined() as (room, bot):
        decision = await bot.decide()
        await bot.close()
        await asyncio.sleep(0.2)
        again = await room.agent()
        await again.join()
        repeated = await again.decide()
        assert repeated.decision == decision.decision
        assert repeated.clock.budget_ms < decision.clock.budget_ms - 100
        await again.choose(repeated.decision, 0)
        await again.play_out()
        assert (await room.report()).result.seats[0].outcome is Outcome.PLAYED


async def test_a_newer_stream_of_a_remote_agent_replaces_the_older() -> None:
    async with joined() as (room, bot):
        await bot.decide()
        again = await room.agent()
        await again.join()
        assert (await bot.read()) is grpc.aio.EOF
        assert (await bot.status())[0] is grpc.StatusCode.ABORTED
        await again.play_out()
        assert (await room.report()).result.seats[0].outcome is Outcome.PLAYED


async def test_a_remote_agent_that_stays_away_is_out_when_its_time_is_up() -> None:
    plan = plan_of(options={"last_turn": 3, "first_player": 0}, clock="0+0.4/0.4")
    async with joined(plan) as (room, bot):
        await bot.decide()
        await bot.close()
        assert (await room.report()).result.seats[0].outcome is Outcome.DISCONNECT


async def test_a_silent_agent_runs_out_of_time_three_times_and_the_match_goes_on() -> None:
    plan = plan_of(options={"last_turn": 3, "first_player": 0}, clock="0+0.3/0.3")
    async with joined(plan) as (room, bot):
        for _ in range(2):
            decision = await bot.decide()
            withdrawn = (await bot.read("withdrawn")).withdrawn
            assert (withdrawn.decision, withdrawn.reason) == (decision.decision, pb.Withdrawn.REASON_TIMEOUT)
        result = (await room.report()).result
        assert result.seats[0].outcome is Outcome.TIMEOUT
        assert 0.8 < result.seats[0].think_seconds < 2


async def test_a_bot_that_thinks_notices_that_the_referee_is_gone() -> None:
    program = (
        "import time\nfrom dogana.sdk import play\n"
        "def choose(decision):\n"
        "    print('asked', flush=True)\n"
        "    while not decision.withdrawn:\n"
        "        time.sleep(0.01)\n"
        "    return 0\n"
        "play(choose)\n"
    )

    async with running_match(plan_of(options={"first_player": 0}, clock="600+0/600")) as room:
        await room.announced.wait()
        bot = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            program,
            env={
                "DOGANA_ADDRESS": room.server.local_address,
                "DOGANA_TOKEN": room.tokens[0],
                "PYTHONPATH": str(ROOT),
            },
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        assert bot.stdout is not None
        assert await bot.stdout.readline() == b"asked\n"
    _, said = await bot.communicate()
    assert bot.returncode == 1
    assert said.startswith(b"dogana bot: ")
    assert b"Traceback" not in said


async def test_a_match_that_is_abandoned_leaves_nothing_that_looks_at_the_time() -> None:
    def watched() -> list[str]:
        links = [str(path.readlink()) for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]
        return [link for link in links if link.endswith("schedstat")]

    async with joined() as (_, bot):
        await bot.decide()
        assert watched()
    assert not watched()


# --- spectators, health, reflection, TLS ------------------------------------------------------------------------


async def test_a_spectator_sees_the_match_as_it_goes_and_its_result() -> None:
    async with joined() as (room, bot):
        decision = await bot.decide()
        async with grpc.aio.insecure_channel(room.server.local_address) as channel:
            watch = watching(channel, labels=True)
            first = await watch.read()
            assert first.options["last_turn"] == "3"
            assert not first.played.seats
            assert not cn.Observation.FromString(first.observation.value).HasField("viewer")
            await bot.choose(decision.decision, 1)
            news = await watch.read()
            assert (list(news.played.seats), list(news.played.labels)) == ([0], ["send(black_market)"])
            over = await bot.play_out()
            while not news.HasField("game_over"):
                news = await watch.read()
            assert news.game_over.digest == over.digest
            assert (await watch.read()) is grpc.aio.EOF


async def test_spectators_are_shown_nothing_of_secret_decisions() -> None:
    async with running_match(plan_of(SEALED, 2), [Remote(20)] * 2) as room:
        one, two = await room.agent(0), await room.agent(1)
        await asyncio.gather(one.join(), two.join())
        async with grpc.aio.insecure_channel(room.server.local_address) as channel:
            watch = watching(channel)
            await watch.read()
            decision = await one.decide()
            await one.choose(decision.decision, 0)
            decision = await one.decide()
            await one.choose(decision.decision, decision.action_count - 1)
            news = await watch.read()
            assert list(news.played.seats) == [0]


async def test_health_and_reflection_answer() -> None:
    async with RefereeServer() as server, grpc.aio.insecure_channel(server.local_address) as channel:
        health = await health_pb2_grpc.HealthStub(channel).Check(
            health_pb2.HealthCheckRequest(service="dogana.v1.Referee")
        )
        assert health.status == health_pb2.HealthCheckResponse.SERVING
        stub = reflection_pb2_grpc.ServerReflectionStub(channel)
        request = reflection_pb2.ServerReflectionRequest(list_services="")
        async for answer in stub.ServerReflectionInfo(iter([request])):
            names = {service.name for service in answer.list_services_response.service}
            assert "dogana.v1.Referee" in names


def certificate(folder: Path) -> tuple[bytes, bytes, Path]:
    """A certificate for localhost, its key, and its file; made by the system's openssl."""
    arguments = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    # What signs itself is an authority otherwise, which Rust refuses.
    names += ["-addext", "basicConstraints=critical,CA:FALSE"]
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    subprocess.run(["openssl", *arguments, *names, *files], check=True, capture_output=True)  # noqa: S607
    return (folder / "cert.pem").read_bytes(), (folder / "key.pem").read_bytes(), folder / "cert.pem"


async def test_remote_seats_over_tcp_with_tls(tmp_path: Path) -> None:
    chain, key, file = certificate(tmp_path)

    async with running_match(listen=Listen("localhost:0", chain, key)) as room:
        await room.announced.wait()
        address = f"localhost:{room.server.remote_port}"
        program = f"import random\nfrom dogana.sdk import play\nplay(lambda decision: 0, address={address!r}, token={room.tokens[0]!r})"
        bot = await asyncio.create_subprocess_exec(
            sys.executable, "-c", program, env={"DOGANA_CA": str(file), "PYTHONPATH": str(ROOT)}
        )
        assert await bot.wait() == 0
        assert (await room.report()).result.seats[0].outcome is Outcome.PLAYED


async def test_a_plain_connection_to_an_encrypted_port_is_refused(tmp_path: Path) -> None:
    chain, key, _ = certificate(tmp_path)

    async with running_match(listen=Listen("localhost:0", chain, key)) as room:
        bot = await room.agent(address=f"localhost:{room.server.remote_port}")
        with pytest.raises((grpc.RpcError, asyncio.InvalidStateError, AssertionError)):
            await asyncio.wait_for(bot.join(), patient(10))


async def test_a_port_that_is_in_use_is_refused_in_one_line() -> None:
    async with RefereeServer(Listen("127.0.0.1:0")) as server:
        with pytest.raises(PortInUse, match="cannot listen on"):
            await RefereeServer(Listen(f"127.0.0.1:{server.remote_port}")).__aenter__()


@pytest.mark.parametrize("address", ["127.0.0.1:99999", "127.0.0.1:-5", "localhost", ":7777", "localhost:٧"])
def test_an_address_that_cannot_be_one_is_refused(address: str) -> None:
    with pytest.raises(PortInUse, match="an address is host:port, with a port from 0 to 65535"):
        Listen(address)


# --- a seat by itself ---------------------------------------------------------------------------------------


class Judge:
    """The driver of a match that has begun: it refuses the first answer and puts the seat out."""

    def __init__(self, seat: AgentSeat) -> None:
        self.plan = plan_of()
        self.codec = codec(self.plan.game)
        self.done: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self.seat = seat
        self.losses = 0

    def lost(self, seat: Seat) -> None:
        self.losses += 1

    def is_open(self, seat: Seat, number: int) -> bool:
        return True

    def is_out(self, seat: Seat) -> bool:
        return True

    def answer(self, seat: Seat, number: int, choice: object) -> None:
        self.seat.reject(Reject(seat, number, Refusal.STALE, "", "too late", 0, 0.0))
        self.seat.dismiss(Fault(Outcome.ILLEGAL, "three illegal answers"))


class Stream:
    """A stream whose writes take a while; its agent sends some messages, and leaves or stays."""

    def __init__(self, *messages: bytes, leaves: bool = False) -> None:
        self.written: list[bytes] = []
        self.status: tuple[grpc.StatusCode, str] | None = None
        self._messages = list(messages)
        self._leaves = leaves

    async def read(self) -> object:
        if self._messages:
            return self._messages.pop(0)
        return grpc.aio.EOF if self._leaves else await asyncio.get_running_loop().create_future()

    async def write(self, data: bytes) -> None:
        await asyncio.sleep(0.01)
        self.written.append(data)

    async def abort(self, code: grpc.StatusCode, details: str) -> None:
        self.status = code, details
        raise grpc.aio.AbortError


async def test_a_remote_agent_that_joins_and_leaves_before_the_others_are_there_has_lost_its_connection() -> None:
    seat = AgentSeat(0, may_come_back=True)
    await seat.serve(GrpcCall(Stream(leaves=True)), pb.Join())  # type: ignore[arg-type]
    assert seat.joined.done()
    judge: Any = Judge(seat)
    seat.begin(judge)
    assert judge.losses == 1


async def test_a_stream_ends_only_when_its_last_message_has_gone_out() -> None:
    seat = AgentSeat(0, may_come_back=True)
    judge: Any = Judge(seat)
    seat.begin(judge)
    stream = Stream(pb.AgentMessage(choose=pb.Choose(decision=1, index=0)).SerializeToString())
    with pytest.raises(grpc.aio.AbortError):
        await seat.serve(GrpcCall(stream), pb.Join())  # type: ignore[arg-type]
    written = [pb.RefereeMessage.FromString(data).WhichOneof("message") for data in stream.written]
    assert written == ["welcome", "rejected"]
    assert stream.status == (grpc.StatusCode.ABORTED, "the seat is out (illegal): three illegal answers")
