"""Nothing in the envelope is there for nothing: in matches over real gRPC, every field of every message is seen set.

A field that nobody fills compiles, is documented, and misleads everybody who writes an agent. So these matches have
everything: all games, labels, a spectator, answers by index and by action, refusals, withdrawals, a window, a dropped rest
of an answer, and each way in which a seat can end.
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message
from house_bots.random_bot import RandomBot

from dogana.games.cargo_noir.v1 import cargo_noir_pb2 as cn
from dogana.v1 import referee_pb2 as pb
from dogana.v1.referee_pb2_grpc import RefereeStub
from referee.live.matches.play import Command, House, Player, Remote, play_match
from referee.live.matches.server import RefereeServer
from referee.match.plan import MatchPlan
from referee.registry import games
from tests.patience import patient
from tests.tables import plan_of
from tests.toy.games.sealed import GAME as SEALED

ROOT = Path(__file__).resolve().parents[2]

ROOTS = [
    pb.DESCRIPTOR.message_types_by_name[name] for name in ("AgentMessage", "RefereeMessage", "WatchRequest", "Happened")
]
"""The messages that travel by themselves; every other message of the envelope travels inside one of them."""

NEED_NOT_BE_SEEN = {
    # Enums begin with a value that means nothing, so that a field that was forgotten can be told from one that was set.
    "Rejected.REASON_UNSPECIFIED",
    "Withdrawn.REASON_UNSPECIFIED",
    "SeatResult.OUTCOME_UNSPECIFIED",
    # For games in which one seat's action changes what another may do that is deciding at the same time; none here needs it.
    "Withdrawn.REASON_OVERTAKEN",
    # Only of confined agents, which have a file of their own: tests/sandbox/test_pondering.py.
    "RefereeMessage.welcome.no_pondering",
}


def inside(field: FieldDescriptor) -> Descriptor | None:
    """The message of the envelope that a field holds, if it does."""
    kind = field.message_type
    return kind if kind is not None and kind.file is pb.DESCRIPTOR and not kind.GetOptions().map_entry else None


def value_name(enum: EnumDescriptor, name: str) -> str:
    """An enum value such as `Rejected.REASON_STALE`."""
    return f"{enum.full_name.removeprefix('dogana.v1.').rpartition('.')[0]}.{name}"


def everything(message: Descriptor, path: str) -> Iterator[str]:
    """Every field of a message and of those inside it, by its path from the root, and every enum value."""
    for field in message.fields:
        yield f"{path}.{field.name}"
        if field.enum_type is not None:
            yield from (value_name(field.enum_type, value.name) for value in field.enum_type.values)
        if inner := inside(field):
            yield from everything(inner, f"{path}.{field.name}")


def what_is_set(message: Message, path: str) -> Iterator[str]:
    """What `everything` names, as far as it is set in a message."""
    for field, value in message.ListFields():
        yield f"{path}.{field.name}"
        if field.enum_type is not None:
            yield value_name(field.enum_type, field.enum_type.values_by_number[value].name)
        if inside(field):
            for inner in value if field.is_repeated else [value]:
                yield from what_is_set(inner, f"{path}.{field.name}")


class Scene:
    """A match with remote seats and a spectator; all that is said over the wire is noted.

    Attributes:
        seen: what was set in any message.
    """

    def __init__(self) -> None:
        self.seen: set[str] = set()

    async def play(self, plan: MatchPlan, *players: Any) -> None:
        """Play a match; a player is a coroutine function that is given a `Client`, or one of the referee's own kinds."""
        tokens: dict[int, str] = {}
        announced = asyncio.Event()
        remote = {
            seat: player for seat, player in enumerate(players) if not isinstance(player, House | Command | Remote)
        }
        seats: list[Player] = [Remote(60) if seat in remote else player for seat, player in enumerate(players)]
        awaited = sum(isinstance(player, Remote) for player in seats)

        def announce(seat: int, token: str) -> None:
            tokens[seat] = token
            if len(tokens) == awaited:
                announced.set()

        async with RefereeServer() as server, grpc.aio.insecure_channel(server.local_address) as channel:
            match = asyncio.create_task(play_match(plan, seats, server=server, announce=announce))
            await announced.wait()
            clients = {seat: Client(self, server.local_address, tokens[seat]) for seat in remote}
            await asyncio.gather(*(client.join() for client in clients.values()))
            request = pb.WatchRequest(match_id=plan.match_id, labels=True)
            self.note(request)
            watch = RefereeStub(channel).Watch(request)
            self.note(await anext(aiter(watch)))  # nobody has answered yet, so the match is still running
            spectator = asyncio.create_task(self._watch(watch))
            await asyncio.gather(*(remote[seat](client) for seat, client in clients.items()))
            await match
            await spectator
            for client in clients.values():
                await client.close()

    async def _watch(self, watch: Any) -> None:
        async for happened in watch:
            self.note(happened)

    def note(self, message: Message) -> None:
        self.seen.update(what_is_set(message, message.DESCRIPTOR.name))


class Client:
    """A remote agent that says what a test wants it to say."""

    def __init__(self, scene: Scene, address: str, token: str) -> None:
        self._scene = scene
        self._token = token
        self._channel = grpc.aio.insecure_channel(address)
        self._call = RefereeStub(self._channel).Play()

    async def join(self) -> None:
        await self.send(join=pb.Join(token=self._token, protocol=1, labels=True))
        await self.read("welcome")

    async def send(self, **message: Any) -> None:
        whole = pb.AgentMessage(**message)
        self._scene.note(whole)
        await self._call.write(whole)

    async def choose(self, decision: int, **choice: Any) -> None:
        await self.send(choose=pb.Choose(decision=decision, thought_ms=1.0, **choice))

    async def messages(self) -> Any:
        """Every message until the stream ends, however it ends."""
        try:
            async for message in self._call:
                self._scene.note(message)
                yield message
        except grpc.aio.AioRpcError as error:
            assert error.code() is grpc.StatusCode.ABORTED  # noqa: PT017 the seat is out

    async def read(self, wanted: str) -> Any:
        async for message in self.messages():
            if message.HasField(wanted):
                return getattr(message, wanted)
        pytest.fail(f"the stream ended before a {wanted} came")

    async def close(self) -> None:
        await self._channel.close()


# --- agents -----------------------------------------------------------------------------------------------------


async def at_random(client: Client) -> None:
    """Answer every question with the index of any action."""
    chance = random.Random(1)
    async for message in client.messages():
        if message.HasField("decide"):
            await client.choose(message.decide.decision, index=chance.randrange(message.decide.action_count))


async def by_action(client: Client) -> None:
    """Try a whole turn of Cargo Noir that cannot be played to its end; then answer at random."""
    decision = await client.read("decide")
    actions = cn.ActionList(actions=[cn.Action(send=cn.Send(dest=cn.DESTINATION_CASINO))] * 9)
    answer = pb.Choose(decision=decision.decision)
    answer.actions.Pack(actions)
    await client.send(choose=answer)
    await at_random(client)


async def illegal(client: Client) -> None:
    """Answer so that each reason for a refusal is given, and on until the seat is out."""
    decision = await client.read("decide")
    await client.choose(decision.decision + 1, index=0)
    await client.choose(decision.decision)
    answer = pb.Choose(decision=decision.decision)
    answer.actions.Pack(cn.ActionList(actions=[cn.Action(buy=cn.Buy(card=cn.CARD_BANK))]))
    await client.send(choose=answer)
    await client.send(choose=answer)
    async for _ in client.messages():
        pass


async def malformed(client: Client) -> None:
    """Send what is neither Join nor Choose."""
    await client.read("decide")
    await client.send()


async def silent(client: Client) -> None:
    """Listen only."""
    async for _ in client.messages():
        pass


async def gone(client: Client) -> None:
    """Lose the connection."""
    await client.close()


async def hurried(client: Client) -> None:
    """Begin a plan of Sealed when the sand timer runs, and let it run out; then answer at random."""
    number, begun = (await client.read("decide")).decision, False
    async for message in client.messages():
        which = message.WhichOneof("message")
        if which == "decide":
            number = message.decide.decision
        if which in ("decide", "new_deadline") and not begun:
            begun = True
            await client.choose(number, index=0)
        elif which == "withdrawn" and begun:
            break
    await at_random(client)


async def first_to_commit(client: Client) -> None:
    """Finish a plan of Sealed, which starts the sand timer for the others; then answer at random."""
    decision = await client.read("decide")
    await client.choose(decision.decision, index=decision.action_count - 1)
    await at_random(client)


# --- the matches ------------------------------------------------------------------------------------------------


async def all_matches(scene: Scene) -> None:
    short = {"last_turn": 3, "first_player": 0}
    crash = Command(
        [sys.executable, "-c", "from dogana.sdk import play; play(lambda decision: 1 // 0)"],
        {"PYTHONPATH": str(ROOT)},
        join_seconds=120,
    )
    for game in games().values():
        await scene.play(plan_of(game), at_random, at_random)
    await scene.play(plan_of(options=short), by_action, House(RandomBot))
    await scene.play(plan_of(seats=4, options=short), illegal, malformed, crash, House(RandomBot))
    # A short clock, so that nobody is waited for long; all three are out whatever the machine does meanwhile.
    quick = plan_of(seats=3, options=short, clock="0+0.5/0.5")
    await scene.play(quick, silent, gone, Remote(0.1))
    await scene.play(plan_of(SEALED, 2, options={"timer": 5}), first_to_commit, hurried)


@pytest.mark.long
def test_every_field_and_value_of_the_envelope_is_seen_set() -> None:
    scene = Scene()
    asyncio.run(asyncio.wait_for(all_matches(scene), patient(300)))
    wanted = {name for root in ROOTS for name in everything(root, root.name)}
    assert wanted - scene.seen - NEED_NOT_BE_SEEN == set()


def test_every_message_of_the_envelope_travels_in_one_of_the_roots() -> None:
    reached: set[str] = set()

    def walk(message: Descriptor) -> None:
        reached.add(message.name)
        for field in message.fields:
            if inner := inside(field):
                walk(inner)

    for root in ROOTS:
        walk(root)
    assert reached == set(pb.DESCRIPTOR.message_types_by_name)
