"""Spectators: when they may come, what they are shown, and that a slow one harms nobody."""

from __future__ import annotations

import asyncio
from typing import Any

import grpc
import pytest
from house_bots.random_bot import RandomBot

from dogana.v1 import referee_pb2 as pb
from referee.game import Action
from referee.live.matches.play import Command, House, StartFailed, play_match
from referee.live.matches.server import RefereeServer
from referee.live.matches.spectators import Showing
from referee.live.messages.codec import codec
from referee.live.seats.agent import MAX_UNREAD_MESSAGES
from referee.match.result import Outcome
from referee.registry import find, games
from tests.cases import mostly_long
from tests.referee.test_wire import joined, running_match, watching
from tests.tables import plan_of, sealed
from tests.toy.games.sealed import Commit


class Reader:
    """A spectator's stream; it reads only when it may."""

    def __init__(self) -> None:
        self.may_read = asyncio.Event()
        self.may_read.set()
        self.read: list[pb.Happened] = []
        self.status: tuple[grpc.StatusCode, str] | None = None

    async def send_initial_metadata(self, metadata: Any) -> None:
        pass

    async def write(self, data: bytes) -> None:
        await self.may_read.wait()
        self.read.append(pb.Happened.FromString(data))

    async def abort(self, code: grpc.StatusCode, details: str) -> None:
        self.status = code, details
        raise grpc.aio.AbortError

    @property
    def seen(self) -> list[int]:
        """Who has played, in order."""
        return [seat for happened in self.read for seat in happened.played.seats]


def watch(showing: Showing, reader: Reader, *, labels: bool = False, slow_seconds: float = 60.0) -> asyncio.Task[None]:
    return asyncio.create_task(showing.show(reader, labels=labels, slow_seconds=slow_seconds))


QUICK = plan_of(options={"last_turn": 3})


@pytest.mark.parametrize("game", mostly_long(games().values()), ids=lambda game: game.name)
async def test_a_match_that_is_played_in_one_go_is_shown_whole_to_all_who_have_waited_for_it(game: Any) -> None:
    """House bots answer at once: more messages than an agent may leave unread come before anybody can read one."""

    plan = plan_of(game, game.seat_counts.stop - 1)
    async with RefereeServer() as referee:
        readers = [Reader(), Reader()]
        tasks = [watch(referee.showing(plan), reader, labels=True) for reader in readers]
        await asyncio.sleep(0)
        report = await play_match(plan, [House(RandomBot)] * plan.setup.seats, server=referee)
        await asyncio.gather(*tasks)
    for reader in readers:
        assert len(reader.read) > min(MAX_UNREAD_MESSAGES, report.result.decisions // 2)
        first, *_, last = reader.read
        assert first.clock.bank_ms == 60_000
        assert first.board.fields
        assert not any(later.board.fields or later.options for later in reader.read[1:]), "once is enough"
        assert not first.played.seats
        assert last.game_over.digest == report.result.digest
        assert [now.score for now in last.seats_now] == [seat.score for seat in report.result.seats]
        assert [now.rank for now in last.seats_now] == [seat.rank for seat in report.result.seats]
        assert len(reader.seen) <= report.result.decisions
        assert [message.step for message in reader.read] == [
            sum(len(earlier.played.seats) for earlier in reader.read[: at + 1]) for at in range(len(reader.read))
        ]
    assert readers[0].read == readers[1].read


async def test_who_comes_later_is_shown_how_the_match_stands() -> None:
    async with running_match(plan_of(options={"last_turn": 3, "first_player": 0})) as room:
        bot = await room.agent()
        async with grpc.aio.insecure_channel(room.server.local_address) as channel:
            early = watching(channel)
            await early.initial_metadata()  # comes although no agent has joined
            await bot.join()
            decision = await bot.decide()
            assert (await early.read()).options["last_turn"] == "3"
            await bot.choose(decision.decision, 1)
            news = await early.read()
            late = watching(channel)
            first = await late.read()
            assert first.observation == news.observation
            assert first.seats_now[0].thought_ms == news.seats_now[0].thought_ms > 0
            assert not first.played.seats
            assert first.step == news.step == 1
            assert [now.deciding for now in first.seats_now] == [True, False]


async def test_a_turn_that_is_answered_as_a_whole_is_shown_action_by_action() -> None:
    messages = codec(find("cargo_noir"))
    async with joined(plan_of(options={"last_turn": 3, "first_player": 0})) as (room, bot):
        decision = await bot.decide()
        async with grpc.aio.insecure_channel(room.server.local_address) as channel:
            reader = watching(channel)
            await reader.read()
            send = messages.read_actions(decision.actions.value)[0]
            choose = pb.Choose(decision=decision.decision)
            choose.actions.type_url = messages.actions_url
            choose.actions.value = messages.actions_bytes([send, send, send])
            await bot.send(choose=choose)
            seen = [await reader.read() for _ in range(3)]
            assert [list(message.played.seats) for message in seen] == [[0], [0], [0]]
            assert [message.step for message in seen] == [1, 2, 3]
            assert len({message.observation.value for message in seen}) == 3, "each with what was seen then"


async def test_a_match_that_does_not_begin_is_said_to_those_who_have_waited_for_it() -> None:
    async with RefereeServer() as referee:
        reader = Reader()
        task = watch(referee.showing(QUICK), reader)
        with pytest.raises(StartFailed):
            await play_match(QUICK, [Command(["false"], {}), House(RandomBot)], server=referee, all_must_start=True)
        with pytest.raises(grpc.aio.AbortError):
            await task
    assert reader.status == (grpc.StatusCode.ABORTED, "the match did not begin")


async def test_a_slow_spectator_is_dropped_and_slows_neither_the_match_nor_others() -> None:
    async with RefereeServer() as referee:
        slow, quick = Reader(), Reader()
        slow.may_read.clear()
        tasks = [watch(referee.showing(QUICK), reader, slow_seconds=0.05) for reader in (slow, quick)]
        await asyncio.sleep(0)
        report = await play_match(QUICK, [House(RandomBot)] * 2, server=referee)
        await asyncio.gather(*tasks, return_exceptions=True)
    assert slow.status == (grpc.StatusCode.RESOURCE_EXHAUSTED, "this spectator reads too slowly")
    assert not slow.read
    assert len(quick.seen) == report.result.decisions


async def test_nothing_of_a_match_is_sent_to_a_spectator_that_has_left() -> None:
    class Watched:
        """A driver that notes who watches."""

        def __init__(self) -> None:
            self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self.watchers: list[Any] = []

        def watch(self, take: Any) -> Any:
            self.watchers.append(take)
            return lambda: self.watchers.remove(take)

    showing, driver = Showing(), Watched()
    showing.begin(driver)  # type: ignore[arg-type]
    leaver = watch(showing, Reader())
    await asyncio.sleep(0)
    assert len(driver.watchers) == 1
    leaver.cancel()
    await asyncio.gather(leaver, return_exceptions=True)
    assert driver.watchers == []


async def test_a_spectator_that_stops_reading_at_the_end_delays_the_end_of_the_referee_for_a_moment_only() -> None:
    async with RefereeServer(last_seconds=0.1) as referee:
        reader = Reader()
        reader.may_read.clear()
        task = asyncio.create_task(referee.watch(b"", reader))
        referee.showing(QUICK)
        await asyncio.sleep(0)
        await play_match(QUICK, [House(RandomBot)] * 2, server=referee)
    assert not task.done()
    task.cancel()


def test_the_time_of_a_secret_plan_stays_secret_until_an_action_that_everybody_knows_of() -> None:
    table = sealed()
    actions: list[Action] = table.open[0].actions
    table.wait(2)
    table.answer(0, 0)
    assert not isinstance(actions[0], Commit)
    assert table.match.seats_now()[0].thought == 0
    table.wait(1)
    table.answer(0, table.open[0].actions.index(Commit()))
    assert table.match.seats_now()[0].thought == 3
    assert [now.deciding for now in table.match.seats_now()] == [False, True]


async def test_a_seat_that_is_out_is_shown_so_and_behind_the_others() -> None:
    crash = Command(["false"], {})
    async with RefereeServer() as referee:
        reader = Reader()
        task = watch(referee.showing(QUICK), reader)
        await asyncio.sleep(0)
        report = await play_match(QUICK, [crash, House(RandomBot)], server=referee)
        await task
    assert report.result.seats[0].outcome is Outcome.START
    assert [(now.out, now.rank) for now in reader.read[-1].seats_now] == [(True, 2), (False, 1)]
