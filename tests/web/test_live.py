"""Matches that are being played, as browsers follow them: a real referee, a real agent that waits, several browsers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from bs4 import BeautifulSoup
from house_bots.random_bot import RandomBot

from ladder.facts.store import Store
from ladder.http.pictures import live as module
from ladder.http.pictures.live import Live
from ladder.http.pictures.matches import EventStream
from ladder.http.rendering import render
from ladder.http.requests.visit import Site
from ladder.model.match import Match
from ladder.operation.errors import NotFound, TooMuch
from ladder.operation.home import Home
from ladder.operation.limits import Limits, LiveLimits
from ladder.operation.meter import AtATime
from ladder.play.blocks import Blocks
from ladder.play.playing import announced
from referee.game import Game
from referee.live.matches.play import House, Player, Remote
from referee.match.clock import TimeControl
from referee.match.plan import MatchPlan
from referee.registry import find, shipped_board
from tests.patience import patient, until
from tests.referee.test_wire import RunningMatch, running_match
from tests.web.served import serving_pages

CLOCK = "600+0.5/300"
AT_ONCE = LiveLimits(picture_seconds=0.0)
SHORT: dict[str, dict[str, Any]] = {"cargo_noir": {"last_turn": 3, "first_player": 0}}


@dataclass
class Scene:
    """A match that waits for the agent in seat 0, on a ladder whose pages are served."""

    home: Home
    match: Match
    plan: MatchPlan
    room: RunningMatch
    client: httpx.AsyncClient

    @property
    def path(self) -> str:
        return f"/matches/{self.match.match_id}"


@dataclass
class Follower:
    """What a browser does with events, as live.js does."""

    picture: str = ""
    names: list[str] = field(default_factory=list)
    lines: list[Any] = field(default_factory=list)
    last: Any = None
    revisions: list[int] = field(default_factory=list)
    raw: str = ""

    async def follow(self, scene: Scene, until: str = "over", client: httpx.AsyncClient | None = None) -> None:
        """Read events until one of a kind comes, or the stream ends."""
        client = client or scene.client
        async with client.stream("GET", f"{scene.path}/events") as answer:
            assert answer.status_code == 200
            assert answer.headers["content-type"].startswith("text/event-stream")
            name = ""
            async for line in answer.aiter_lines():
                self.raw += line + "\n"
                kind, _, value = line.partition(": ")
                if kind == "event":
                    name = value
                elif kind == "data":
                    self.last = json.loads(value)
                    if name == "changed":
                        self.revisions.append(self.last)
                        await self.look(scene, client)
                    self.names.append(name)
                    if name == until:
                        return

    async def look(self, scene: Scene, client: httpx.AsyncClient) -> None:
        """Fetch what has changed."""
        answer = await client.get(f"{scene.path}/look")
        if answer.status_code == 404:  # it was broken off at this moment
            return
        assert answer.status_code == 200
        self.raw += answer.text
        self.picture = answer.text[answer.text.index("<svg") : answer.text.rindex("</svg>")]
        items = BeautifulSoup(answer.text.replace(self.picture, ""), "html.parser").select("#lines li")
        words = [item.text.removeprefix("seat ").split(" ", 1) for item in items]
        numbers = [int(str(item["value"])) for item in items]
        self.lines = [[number, int(seat), text] for number, (seat, text) in zip(numbers, words, strict=True)][::-1]


def scheduled(folder: Path, game: Game) -> tuple[Home, Match]:
    """A ladder on which a match of a game is to be played."""
    home = Home(folder)
    home.make()
    with Store(home.database, create=True) as store:
        condition = store.roster.condition(game.name, SHORT.get(game.name, {}), CLOCK)
        for number in range(2):
            version, _ = store.roster.add_version(
                f"bot{number}", f"author{number}", f"hash{number}", ["./bot"], [game.name]
            )
            store.admission.qualify(version.id, condition, passed=True, reason="")
        return home, Blocks(store, condition, [2]).add(7)[0]


@asynccontextmanager
async def playing(folder: Path, game: str = "cargo_noir", limits: Limits | None = None) -> AsyncIterator[Scene]:
    """Play a match meanwhile; all is drawn at once."""
    home, match = scheduled(folder, find(game))
    plan = MatchPlan(
        game=find(game),
        setup=find(game).setup(2, match.condition.options, shipped_board(find(game))),
        match_id=match.match_id,
        seed=match.seed,
        bots=match.labels,
        control=TimeControl.parse(CLOCK),
        reveals_seed=False,
    )
    players: list[Player] = [Remote(20), House(RandomBot)]
    async with running_match(plan, players) as room:
        with (
            announced(home, match, room.server.local_address),
            serving_pages(home, Site(), limits or Limits(live=AT_ONCE)) as url,
        ):
            async with httpx.AsyncClient(base_url=url, timeout=patient(60)) as client:
                yield Scene(home, match, plan, room, client)


async def test_browsers_see_the_same_match_whenever_they_come_and_the_referee_has_one_spectator(tmp_path: Path) -> None:
    async with playing(tmp_path / "home") as now:
        bot = await now.room.agent()
        await bot.join()
        early, late = Follower(), Follower()
        first = asyncio.create_task(early.follow(now))
        await until(lambda: early.names)
        decision = await bot.decide()
        await bot.choose(decision.decision, 0)
        await until(lambda: early.lines)
        second = asyncio.create_task(late.follow(now))
        await until(lambda: late.names)
        assert late.names == ["changed"], "who comes has a picture at once"
        showing = now.room.server.showing(now.plan)
        assert len(showing.spectators) == 1
        over = await bot.play_out()
        await asyncio.gather(first, second)
        assert early.picture == late.picture
        assert "<text" in early.picture
        assert early.lines == late.lines
        assert [line[0] for line in early.lines] == list(range(1, len(early.lines) + 1))
        assert early.revisions == sorted(set(early.revisions))
        assert early.names[-1] == "over"
        winners = [seat for seat in over.seats if seat.rank == 1]
        assert list(early.last) == ["result"]
        for seat in winners:
            assert now.match.labels[seat.seat] in early.last["result"]
        assert f"{winners[0].score} point" in early.last["result"]
        assert over.digest not in early.raw + late.raw


async def test_a_picture_is_made_once_for_all_who_look_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[dict[str, Any]] = []

    def counted(template: str, values: dict[str, Any]) -> str:
        made.append(values)
        return render.fragment(template, values)

    monkeypatch.setattr(module, "fragment", counted)

    async with playing(tmp_path / "home") as now:
        bot = await now.room.agent()
        await bot.join()
        await bot.decide()
        browsers = [Follower() for _ in range(3)]
        following = [asyncio.create_task(browser.follow(now)) for browser in browsers]
        await until(lambda: all(browser.names for browser in browsers))
        again = await now.client.get(f"{now.path}/look")
        assert len(made) == max(browsers[0].revisions)
        assert len({browser.picture for browser in browsers}) == 1
        known = {"if-none-match": again.headers["etag"]}
        assert (await now.client.get(f"{now.path}/look", headers=known)).status_code == 304
        for task in following:
            task.cancel()
        await asyncio.gather(*following, return_exceptions=True)


async def test_the_picture_of_a_match_that_nobody_follows_is_not_made(tmp_path: Path) -> None:
    async with playing(tmp_path / "home") as now:
        bot = await now.room.agent()
        await bot.join()
        assert (await now.client.get(f"{now.path}/look")).status_code == 404


async def test_a_secret_plan_is_not_in_the_stream_before_everybody_knows_it(tmp_path: Path) -> None:
    async with playing(tmp_path / "home", "venezia") as now:
        bot = await now.room.agent()
        await bot.join(labels=True)
        browser = Follower()
        following = asyncio.create_task(browser.follow(now))
        await until(lambda: browser.names)
        decision = await bot.decide()
        while not decision.labels[0].startswith("first"):
            await bot.choose(decision.decision, 0)
            decision = await bot.decide()
        await until(lambda: {line[1] for line in browser.lines} == {0, 1})  # both have put their marker
        await until(lambda: "Seat 1: plan is made" in browser.picture)  # that everybody may know
        picture, known = browser.picture, list(browser.lines)
        planned = []
        while decision.labels[0].startswith(("first", "district")):
            planned.append(decision.labels[0])
            await bot.choose(decision.decision, 0)
            decision = await bot.decide()
            if len(planned) == 1:
                look = BeautifulSoup((await now.client.get(f"{now.path}/live")).text, "html.parser")
                assert len(look.select("#lines li")) == len(known)
                assert (browser.picture, browser.lines) == (picture, known)
        assert len(planned) > 1
        await bot.choose(decision.decision, 0)
        await bot.play_out()
        await following
        assert len(browser.lines) > len(known), "what is known to all is told"
        assert str(now.match.seed) not in browser.raw


async def test_without_javascript_the_page_has_the_picture_the_standing_and_the_actions(tmp_path: Path) -> None:
    async with playing(tmp_path / "home") as now:
        bot = await now.room.agent()
        await bot.join()
        decision = await bot.decide()
        answer = await now.client.get(f"{now.path}/live")
        assert "seat 0" not in BeautifulSoup(answer.text, "html.parser").select("#lines")[0].text
        await bot.choose(decision.decision, 0)
        await bot.decide()
        async with asyncio.timeout(30):
            while not (page := BeautifulSoup(answer.text, "html.parser")).select("#lines li"):
                answer = await now.client.get(f"{now.path}/live")
        assert answer.status_code == 200
        assert page.select_one("#board svg") is not None
        assert page.select_one("noscript meta[http-equiv=refresh]") is not None
        assert len(page.select("#seats tr")) == 2
        assert "decides" in page.select("#seats tr")[0].text
        for tag in page.select("#board *"):
            assert not {name for name in tag.attrs if name.startswith("on") or name == "style"}


async def test_a_match_that_has_ended_leads_to_its_page_and_browsers_do_not_come_back(tmp_path: Path) -> None:
    async with playing(tmp_path / "home") as now:
        pass
    with serving_pages(now.home, Site()) as url:
        async with httpx.AsyncClient(base_url=url, timeout=patient(60)) as client:
            look = await client.get(f"{now.path}/live")
            assert (look.status_code, look.headers["location"]) == (303, f"../{now.match.match_id}")
            assert (await client.get(f"{now.path}/events")).status_code == 204


async def test_a_match_that_is_broken_off_is_reported(tmp_path: Path) -> None:
    async with playing(tmp_path / "home") as now:
        bot = await now.room.agent()
        await bot.join()
        browser = Follower()
        following = asyncio.create_task(browser.follow(now))
        await until(lambda: browser.names)
        now.room.match.cancel()
        await following
        assert browser.last == {"reason": "The match was broken off; it will be played again."}


async def test_a_page_of_a_match_whose_agents_have_not_joined_says_so(tmp_path: Path) -> None:
    async with playing(tmp_path / "home", limits=Limits(live=LiveLimits(first_seconds=0.2))) as now:
        assert "It has not begun yet." in (await now.client.get(f"{now.path}/live")).text


async def test_a_browser_that_reads_slowly_misses_changes_but_not_the_last_and_nobody_waits_for_it(
    tmp_path: Path,
) -> None:
    async with playing(tmp_path / "home") as now:
        bot = await now.room.agent()
        await bot.join()
        live = Live(now.home, AT_ONCE)
        slow, fast = live.events(now.match.match_id), live.events(now.match.match_id)
        seen = [await anext(slow)]
        task = asyncio.create_task(_all(fast))
        await bot.play_out()
        assert (await task)[-1].startswith(b"event: over")
        seen += await _all(slow)
        assert len(seen) <= 3
        assert seen[-2:] == (await task)[-2:], "the last change, and the end"
        assert "<svg" in live.fragment(now.match.match_id).body.decode()
        await live.close()


async def _all(events: AsyncIterator[bytes]) -> list[bytes]:
    return [event async for event in events]


async def test_a_browser_that_reads_nothing_at_all_gives_its_place_back() -> None:
    places = AtATime(1, 1, "yours", "all")
    reads, sent = asyncio.Event(), []

    async def events() -> AsyncGenerator[bytes]:
        while True:
            yield b":\n\n"

    async def send(message: Any) -> None:
        if message["type"] == "http.response.body":
            await reads.wait()
        sent.append(message)

    async def receive() -> Any:
        await asyncio.Event().wait()

    stream = asyncio.create_task(
        EventStream(events(), places, "one", slow_seconds=0.05)({"type": "http"}, receive, send)
    )
    await until(lambda: sent and is_free(places))
    assert not stream.done()
    reads.set()
    await stream
    assert sent[-1] == {"type": "http.response.body", "body": b""}, "the end, as far as the browser can tell"


def is_free(places: AtATime) -> bool:
    try:
        with places.one("one"):
            return True
    except TooMuch:
        return False


async def test_when_the_pages_stop_streams_end_and_nothing_is_wrong(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with playing(tmp_path / "home") as now:
        bot = await now.room.agent()
        await bot.join()
        browser = Follower()
        with serving_pages(now.home, Site()) as url:
            client = httpx.AsyncClient(base_url=url, timeout=patient(60))
            following = asyncio.create_task(browser.follow(now, client=client))
            await until(lambda: browser.names)
        await following
        await client.aclose()
        assert "over" not in browser.names, "the browser is to come back"
    assert "ASGI" not in caplog.text


async def test_one_address_may_follow_so_many_matches_and_no_more(tmp_path: Path) -> None:
    limits = Limits(live=AT_ONCE, streams=AtATime(1, 1000, "one match is followed from your address", ""))

    async with playing(tmp_path / "home", limits=limits) as now:
        bot = await now.room.agent()
        await bot.join()
        browser = Follower()
        following = asyncio.create_task(browser.follow(now))
        await until(lambda: browser.names)
        refused = await now.client.get(f"{now.path}/events")
        assert refused.status_code == 429
        assert "one match is followed from your address" in refused.text
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
        again = Follower()
        async with asyncio.timeout(patient(30)):
            while not again.names:  # the place is free as soon as the server sees that the browser has gone
                try:
                    await again.follow(now, until="changed")
                except AssertionError:
                    await asyncio.sleep(0.05)


async def test_a_match_is_not_followed_any_longer_when_nobody_looks(tmp_path: Path) -> None:
    async with playing(tmp_path / "home") as now:
        bot = await now.room.agent()
        await bot.join()
        live = Live(now.home, LiveLimits(linger_seconds=0.1))
        assert "<svg" in (await live.look(now.match.match_id)).picture
        await until(lambda: not is_followed(live, now.match))
        showing = now.room.server.showing(now.plan)
        await until(lambda: not showing.spectators)
        assert "<svg" in (await live.look(now.match.match_id)).picture, "but again when somebody comes"
        await live.close()


def is_followed(live: Live, match: Match) -> bool:
    try:
        live.fragment(match.match_id)
    except NotFound:
        return False
    return True


async def test_who_comes_when_a_match_has_just_ended_is_not_kept_waiting(tmp_path: Path) -> None:
    async with playing(tmp_path / "home") as now:
        bot = await now.room.agent()
        await bot.join()
        live = Live(now.home, LiveLimits(last_seconds=3600.0, beat_seconds=3600.0))
        watching = asyncio.create_task(_all(live.events(now.match.match_id)))
        await until(lambda: is_followed(live, now.match))
        await bot.play_out()
        await watching
        again = await _all(live.events(now.match.match_id))
        assert [event.partition(b"\n")[0] for event in again] == [b"event: changed", b"event: over"]
        await live.close()


async def test_something_is_sent_although_nothing_happens(tmp_path: Path) -> None:
    async with playing(tmp_path / "home") as now:
        live = Live(now.home, LiveLimits(beat_seconds=0.05))
        assert await anext(live.events(now.match.match_id)) == b":\n\n"
        await live.close()
