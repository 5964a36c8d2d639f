"""What a table is made of: the eyes of a seat, the agent of a person, legal actions in words."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import grpc
import pytest
from house_bots.random_bot import RandomBot

from ladder.tables.choices import choices, in_common
from ladder.tables.following import Following
from ladder.tables.person import Person
from ladder.tables.view import Asking, SeatView, Stage, View
from referee.game import Game, label
from referee.kit.chance import LiveChance
from referee.live.doors.door import SERVICE
from referee.live.matches.play import House, MatchReport, Remote, play_match
from referee.live.matches.server import Listen, RefereeServer
from referee.live.messages.codec import codec
from referee.match.plan import MatchPlan
from referee.match.result import Outcome
from referee.records.chain import FIRST_HASH, link
from referee.records.record import header
from referee.registry import find, games
from tests.patience import patient
from tests.proxy import breaking
from tests.tables import Table, plan_of
from tests.toy.games.sealed import GAME as SEALED

# --- the eyes of a seat -------------------------------------------------------------------------------


def find_sealed(name: str) -> Game:
    return SEALED if name == SEALED.name else find(name)


class Written:
    """A record that is still being written."""

    def __init__(self, folder: Path, plan: MatchPlan) -> None:
        self.path = folder / "record.jsonl"
        self._part = folder / "record.jsonl.0123.part"
        self._hash = FIRST_HASH
        self.write([header(plan)])

    def write(self, lines: Sequence[Mapping[str, Any]]) -> None:
        with self._part.open("ab") as file:
            for data in lines:
                line, self._hash = link(self._hash, data)
                file.write(line + b"\n")

    def finish(self) -> None:
        self._part.rename(self.path)


@pytest.mark.parametrize("game", games())
def test_a_match_is_followed_while_it_is_played(game: str, tmp_path: Path) -> None:
    plan = plan_of(game, find(game).seat_counts.start + 1)
    table, written, dice = Table(plan), Written(tmp_path, plan), random.Random(1)
    written.write(table.lines)
    done = len(table.lines)
    following = Following(written.path, plan, find, 0)
    while table.match.result is None and len(table.actions()) < 200:
        seat = dice.choice(list(table.open))
        table.answer(seat, dice.randrange(len(table.open[seat].actions)))
        written.write(table.lines[done:])
        done = len(table.lines)
        following.read_on()
        assert following.shown.seen == table.match.state.observation(0)
    at_once = Following(written.path, plan, find, 0)
    assert at_once.log == following.log
    assert at_once.shown.draw() == following.shown.draw()
    assert (following.result is None) == (table.match.result is None)


def test_the_end_is_seen_whether_the_record_has_its_name_by_then_or_not(tmp_path: Path) -> None:
    plan = plan_of(SEALED)
    table, written = Table(plan), Written(tmp_path, plan)
    written.write(table.lines)
    early = Following(written.path, plan, find_sealed, 0)
    done = len(table.lines)
    table.play_out()
    written.write(table.lines[done:])
    early.read_on()
    written.finish()
    late = Following(written.path, plan, find_sealed, 1)
    assert early.result == late.result == table.match.result
    early.read_on()
    assert early.result == late.result


def test_what_another_seat_plans_in_secret_changes_nothing_that_this_one_is_shown(tmp_path: Path) -> None:
    def shown(name: str, plans: Sequence[int]) -> tuple[object, ...]:
        plan = plan_of(SEALED)
        table = Table(plan)
        for choice in plans:
            table.answer(0, choice)
        (tmp_path / name).mkdir()
        written = Written(tmp_path / name, plan)
        written.write(table.lines)
        following = Following(written.path, plan, find_sealed, 1)
        return following.shown.seen, following.shown.draw(), following.log

    assert shown("one", [0]) == shown("two", [1]) == shown("none", [])


# --- the agent of a person ----------------------------------------------------------------------------


def test_a_person_whose_connection_is_lost_comes_back_and_plays_on() -> None:
    """Each decision is answered once, and the first answer is lost on its way."""

    async def match() -> tuple[MatchReport, int]:
        game = find("cargo_noir")
        person = Person(codec(game), lambda: asked.set())
        asked = asyncio.Event()
        playing = []
        async with (
            RefereeServer(Listen("127.0.0.1:0")) as server,
            breaking(server.remote_port, [1 << 20, 6_000]) as proxy,
        ):
            address = f"127.0.0.1:{proxy.port}"
            report = asyncio.create_task(
                play_match(
                    plan_of(game, options={"last_turn": 4}, clock="600+5/600"),
                    [Remote(60.0), House(RandomBot)],
                    server=server,
                    announce=lambda _, token: playing.append(asyncio.create_task(person.play(address, token))),
                )
            )
            answered = 0
            while not report.done():
                if person.question is not None and person.question.number > answered:
                    answered = person.question.number
                    if answered == 1:
                        proxy.cut()
                    await person.choose(answered, 0)
                asked.clear()
                await asyncio.wait([report, asyncio.ensure_future(asked.wait())], return_when=asyncio.FIRST_COMPLETED)
            await asyncio.gather(*playing)
            return report.result(), proxy.connections

    report, connections = asyncio.run(asyncio.wait_for(match(), patient(120)))
    assert report.result.seats[0].outcome is Outcome.PLAYED
    assert connections == 3


# --- legal actions in words ---------------------------------------------------------------------------


def test_a_person_whose_match_ends_with_its_referee_does_not_come_back() -> None:
    """gRPC raises how the call ended, not the cancellation, if both come at one moment."""

    async def play(request: grpc.aio.StreamStreamCall[bytes, bytes], context: Any) -> None:
        has_come.set()
        await asyncio.Event().wait()

    async def end_at(moment: int) -> None:
        has_come.clear()
        server = grpc.aio.server()
        handler = grpc.method_handlers_generic_handler(SERVICE, {"Play": grpc.stream_stream_rpc_method_handler(play)})
        server.add_generic_rpc_handlers((handler,))
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        playing = asyncio.create_task(Person(codec(find("yunnan")), lambda: None).play(f"127.0.0.1:{port}", "token"))
        await has_come.wait()
        await server.stop(None)
        for _ in range(moment):
            await asyncio.sleep(0)
        playing.cancel()
        await asyncio.wait([playing], timeout=patient(10))
        assert playing.cancelled(), moment

    async def end_at_many() -> None:
        for moment in range(10):
            await end_at(moment)

    has_come = asyncio.Event()
    asyncio.run(end_at_many())


@pytest.mark.parametrize("game", games())
def test_every_legal_action_is_offered_once_in_words_of_its_own(game: str) -> None:
    chosen = find(game)
    plan = plan_of(game, chosen.seat_counts.start)
    setup, chance, dice = plan.setup, LiveChance(2), random.Random(2)
    state = chosen.start(setup, chance)
    for step in range(400):
        if state.is_over():
            break
        seat = dice.choice(state.seats_to_act())
        legal = state.legal_actions(seat)
        if len(legal) > 1 and step % 4 == 0:
            groups = choices(chosen, setup, state.observation(seat), seat, plan.bots, legal)
            offered = sorted((choice for group in groups for choice in group.choices), key=lambda one: one.index)
            assert [choice.label for choice in offered] == [label(action) for action in legal]
            assert [choice.index for choice in offered] == list(range(len(legal)))
            words = [choice.words for choice in offered]
            assert all(words)
            assert len(set(words)) == len(words), words
            assert len({group.name for group in groups}) == len(groups)
        state.apply(seat, dice.choice(legal), chance)


def test_of_what_chance_decides_only_the_beginning_is_said() -> None:
    assert in_common(["draws: 1 gold", "draws: 1 art"]) == "draws"
    assert in_common(["sells 1 copper for 3 pesos", "sells 1 copper for 3 pesos"]) == "sells 1 copper for 3 pesos"
    assert in_common(["goes home, with 2", "goes home, with 3"]) == "goes home"
    assert in_common(["takes 12 coins", "takes 13 coins"]) == "takes"
    assert in_common(["a", "b"]) == ""


def test_a_view_comes_over_the_pipe_as_it_was() -> None:
    view = View(
        Stage.ASKED,
        "toy",
        1,
        "60+0/10",
        picture="<svg>\u2212</svg>",
        seats=[SeatView(0, "greedy", 3, 1, acts=True, is_out=False)],
        asking=Asking(3, "ab", [], 12.5, 60.0, is_shared=False),
    )
    assert View.from_json(view.to_json()) == view
    assert "\n" not in view.to_json()
