"""The ladder's side of bots at home: when they play, what they rate, their seeds, who may offer them. Real server, real clients."""

from __future__ import annotations

import asyncio
import contextlib
import re
import threading
from collections.abc import Iterator
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import Any

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dogana.v1 import ladder_pb2 as pb
from dogana.v1 import referee_pb2
from dogana.v1.ladder_pb2_grpc import LadderStub
from ladder.archive.recompute import compare
from ladder.facts.standings import Status, candidates, statuses
from ladder.facts.store import Store
from ladder.intake.authors import Authors
from ladder.intake.offer import MAX_MATCHES_AT_HOME, OfferedBot, disconnect
from ladder.intake.offer import connect as store_connection
from ladder.model.match import AT_HOME_PREFIX, Match, Version, seed_of
from ladder.operation.home import Home
from ladder.operation.limits import CallLimits, Limits
from ladder.operation.meter import Allowance, Meter
from ladder.play.blocks import Blocks
from ladder.play.playing import Playing
from ladder.play.pool import Invitation
from ladder.play.qualifying import enter_house_bots
from ladder.play.running import count
from ladder.questions.caller import Caller
from ladder.questions.desk import Desk
from ladder.service import server
from ladder.service.at_home import MAX_CONNECTED_OF_AUTHOR, AtHome
from ladder.service.beside import serving
from ladder.service.home_bot import look_at
from ladder.service.relay import retry_after
from referee.bots.errors import BadBot
from referee.errors import DoganaError
from referee.kit.chance import commitment, rotation_seed
from referee.live.matches.server import Listen
from referee.match.result import Outcome
from tests.ladder.in_process import in_process
from tests.ladder.made import CONDITION, GAME, differences, ladder, result_of
from tests.ladder.watching import watched
from tests.patience import patient, until

CONTENT = "v1.0"
JOIN = referee_pb2.AgentMessage(join=referee_pb2.Join(token="shown", protocol=1))  # noqa: S106


# --- versions, seeds, ratings ---------------------------------------------------------------------------------


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with ladder(tmp_path, 3) as made:
        yield made


def at_home(store: Store, bot: str = "remote", content: str = CONTENT, author: str = "ann") -> Version:
    """A bot at home that has qualified."""
    version, _ = store.roster.add_version(bot, author, AT_HOME_PREFIX + content, [], [GAME.name])
    store.admission.qualify(version.id, CONDITION, passed=True, reason="")
    return version


def blocks_with(store: Store, version: Version, *, guests: bool = True) -> Iterator[list[Match]]:
    """The blocks, one after the other, in which a version is."""
    blocks = Blocks(store, CONDITION, GAME.seat_counts, guests=guests)
    for seed in range(100):
        matches = blocks.add(seed)
        if version in matches[0].seats:
            yield matches


def test_a_bot_at_home_is_scheduled_while_it_is_connected(store: Store) -> None:
    version = at_home(store)

    def status() -> Status:
        return next(one.status for one in statuses(store, CONDITION) if one.version == version)

    def is_scheduled() -> bool:
        return version.id in [one.version for one in candidates(store, CONDITION)]

    assert (status(), is_scheduled()) == (Status.AWAY, False)
    store.roster.connect(version.id, 1)
    assert (status(), is_scheduled()) == (Status.NEW, True)
    store.roster.leave(version.id)
    assert (status(), is_scheduled()) == (Status.AWAY, False)
    store.roster.connect(version.id, 1)
    store.roster.disconnect(version.id)
    assert (status(), is_scheduled()) == (Status.AWAY, False)


def test_a_version_at_home_that_was_replaced_accompanies_nobody(store: Store) -> None:
    old, new = at_home(store), at_home(store, content="v2.0")
    for version in (old, new):
        store.roster.connect(version.id, 1)
    [candidate] = [one for one in candidates(store, CONDITION) if one.author == "ann"]
    assert (candidate.version, candidate.predecessor) == (new.id, None)


def test_rotations_with_a_bot_that_remembers_have_seeds_of_their_own_and_others_share_one(store: Store) -> None:
    version = at_home(store)
    store.roster.connect(version.id, 8)
    blocks = Blocks(store, CONDITION, GAME.seat_counts)
    found = {version in matches[0].seats: matches for matches in (blocks.add(seed) for seed in range(12))}
    assert len({match.seed for match in found[False]}) == 1
    assert len({match.seed for match in found[True]}) == len(found[True]) > 1


def test_the_audit_log_commits_to_these_seeds(store: Store) -> None:
    version = at_home(store)
    store.roster.connect(version.id, 8)
    matches = next(blocks_with(store, version))
    text = "\n".join(store.log.lines())
    for match in matches:
        assert f'"seed_commitment":"{commitment(match.match_id, match.seed)}"' in text
    assert differences(store) == []


@given(seed=st.integers(0, 2**62 - 1), rotation=st.integers(0, 4))
def test_a_seed_of_its_own_tells_nothing_of_its_block(seed: int, rotation: int) -> None:
    own = rotation_seed(seed, rotation)
    assert 0 <= own < 2**62
    assert own not in (seed, rotation_seed(seed, rotation + 1), rotation_seed(seed + 1, rotation))
    assert seed_of(seed, rotation, ["hash", AT_HOME_PREFIX + "x"]) == own
    assert seed_of(seed, rotation, ["hash", "house:random"]) == seed


def counted(store: Store, match: Match, outs: frozenset[int] = frozenset(), outcome: Outcome | None = None) -> None:
    """Make a match count, that the seats have won in their order."""
    result = result_of(match, range(1, 1 + len(match.seats)), outs=outs)
    if outcome is not None:
        seats = [replace(seat, outcome=outcome) if match.seats[seat.seat].is_at_home else seat for seat in result.seats]
        result = replace(result, seats=tuple(seats))
    count(store, match, result, f"hash of {match.match_id}")


@pytest.mark.parametrize("guests", [True, False], ids=["guests", "rated like all others"])
def test_guests_do_not_change_the_ratings_of_submitted_bots(store: Store, guests: bool) -> None:
    enter_house_bots(store, CONDITION)
    version = at_home(store)
    store.roster.connect(version.id, 8)
    for matches in islice(blocks_with(store, version, guests=guests), 5):
        for match in matches:
            before = store.results.ratings(CONDITION)
            counted(store, match)
            after = store.results.ratings(CONDITION)
            changed = {one for one in after if after[one] != before.get(one)}
            expected = {one.id for one in match.seats if one.is_at_home or one.is_house or not guests}
            assert changed == expected
    assert version.id in store.results.ratings(CONDITION)


def test_a_bot_at_home_that_does_not_come_changes_no_rating_but_its_own(store: Store) -> None:
    version = at_home(store)
    store.roster.connect(version.id, 8)
    matches = next(blocks_with(store, version, guests=False))
    for match in matches:
        counted(store, match, outcome=Outcome.START)
    assert set(store.results.ratings(CONDITION)) == {version.id}


def test_of_two_bots_at_home_only_the_one_that_does_not_come_is_rated(store: Store) -> None:
    versions = [at_home(store, bot, author=bot) for bot in ("present", "absent")]
    for version in versions:
        store.roster.connect(version.id, 8)
    present, absent = versions
    matches = next(both for both in blocks_with(store, present, guests=False) if absent in both[0].seats)
    for match in matches:
        result = result_of(match, range(1, 1 + len(match.seats)))
        seats = [
            replace(one, outcome=Outcome.START) if match.seats[one.seat] == absent else one for one in result.seats
        ]
        count(store, match, replace(result, seats=tuple(seats)), f"hash of {match.match_id}")
    assert set(store.results.ratings(CONDITION)) == {absent.id}


def test_recomputing_gives_the_same_ratings(tmp_path: Path) -> None:
    with ladder(tmp_path, 3) as store:
        version = at_home(store)
        store.roster.connect(version.id, 8)
        for guests, outcome in ((True, None), (False, None), (False, Outcome.START)):
            for match in next(blocks_with(store, version, guests=guests)):
                counted(store, match, outcome=outcome)
        assert compare(Home(tmp_path), store).differences.reported == []


def test_tables_tell_who_plays_from_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with ladder(tmp_path, 3) as store:
        version = at_home(store)
        store.roster.connect(version.id, 8)
        for match in next(blocks_with(store, version)):
            counted(store, match)
    dogana = in_process(tmp_path, monkeypatch, capfd)

    def output(*words: str) -> str:
        return dogana("ladder", *words, "--home", str(tmp_path)).stdout

    assert "remote v1: at home, on the machine of its author" in output("top", GAME.name)
    assert re.search(r"at home *$", output("show", "remote"), re.MULTILINE)
    assert "its log" not in output("show", "remote")
    assert re.search(r"remote v1 .* at home *$", output("bots"), re.MULTILINE)
    assert re.search(r"remote v1 .*at home", output("queue", GAME.name))
    with Store(tmp_path / "ladder.db", create=False) as store:
        store.roster.disconnect()
    assert "remote v1: not connected" in output("top", GAME.name)


# --- offers ---------------------------------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path: Path) -> Home:
    (tmp_path / "home").mkdir()
    with ladder(tmp_path / "home", 3):
        return Home(tmp_path / "home")


@pytest.fixture
def tokens(home: Home) -> dict[str, str]:
    with Authors(home.database, create=False) as authors:
        return {author: authors.add(author) for author in ("ann", "eve")}


def offered_bot(**changes: Any) -> OfferedBot:
    return OfferedBot(**{"bot": "remote", "content": CONTENT, "games": (GAME.name,), "matches": 2, **changes})


def offer(**changes: Any) -> pb.Offer:
    return pb.Offer(**asdict(offered_bot(**changes)))


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"content": ""}, "1 to 64 letters"),
        ({"content": "x" * 65}, "1 to 64 letters"),
        ({"content": "../../etc"}, "1 to 64 letters"),
        ({"content": "\x1b[2J"}, "1 to 64 letters"),
        ({"matches": 0}, "1 to 8 matches"),
        ({"matches": MAX_MATCHES_AT_HOME + 1}, "1 to 8 matches"),
        ({"games": []}, "must play a game"),
        ({"games": [GAME.name, GAME.name]}, "name each once"),
        ({"games": ["chess"]}, "chess"),
        ({"bot": "random"}, "reserved"),
        ({"bot": "a b"}, "letters, digits"),
        ({"bot": "bot0"}, "belongs to author0"),
        ({"bot": "Bot0"}, "there is a bot bot0 already"),
    ],
)
def test_an_offer_that_cannot_be_is_refused_and_leaves_nothing(home: Home, wrong: dict[str, Any], reason: str) -> None:
    with Store(home.database, create=False) as store:
        before = store.roster.versions()
    with pytest.raises(DoganaError, match=reason):
        Desk(home, Caller("ann")).offer(offered_bot(**wrong))
    with Store(home.database, create=False) as store:
        assert store.roster.versions() == before
        assert store.roster.connected() == {}


def test_the_same_content_is_the_same_version_and_an_older_one_is_refused(home: Home) -> None:
    desk = Desk(home, Caller("ann"))
    first, is_new, _ = desk.offer(offered_bot())
    assert is_new
    again, is_new, _ = desk.offer(offered_bot())
    assert (again, is_new) == (first, False)
    second, *_ = desk.offer(offered_bot(content="v2.0"))
    assert second.number == 2
    with pytest.raises(BadBot, match="remote v1 was replaced by v2"):
        desk.offer(offered_bot())


def test_an_offer_is_among_the_changes_that_authors_made(home: Home) -> None:
    desk = Desk(home, Caller("ann"))
    for _ in range(2):
        desk.offer(offered_bot())
    with Authors(home.database, create=False) as authors:
        assert [(act.who, act.did, act.about) for act in authors.acts(10)] == [("ann", "connect", "remote v1")]


def test_what_is_at_home_stays_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bot.py").write_text("print()")
    bot = look_at(tmp_path / "bot.py", "")
    assert (bot.run, bot.folder) == (("python", "bot.py"), tmp_path)
    assert len(bot.content) == 64
    (tmp_path / "bot.py").write_text("print(2)")
    assert look_at(tmp_path / "bot.py", "").content != bot.content
    assert look_at(tmp_path / "bot.py", CONTENT).content == CONTENT
    (tmp_path / "bot.toml").write_text('run = ["./own"]\ngames = ["yunnan"]')
    (tmp_path / "own").write_text("#!/bin/sh\n")
    (tmp_path / "own").chmod(0o755)
    assert look_at(tmp_path, CONTENT).games == look_at(tmp_path, "").games == ("yunnan",)
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "mine").write_text("#!/bin/sh\n")
    (tmp_path / "tools" / "mine").chmod(0o755)
    (tmp_path / "bot.toml").write_text('run = ["mine"]')
    with pytest.raises(BadBot, match="no program mine"):
        look_at(tmp_path, CONTENT)
    monkeypatch.setenv("PATH", f"{tmp_path / 'tools'}")
    assert look_at(tmp_path, CONTENT).run == ("mine",)


def test_an_archive_cannot_be_run_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "bot.zip").write_bytes(b"")
    with pytest.raises(BadBot, match="unpack it first"):
        look_at(tmp_path / "bot.zip", "")


# --- connections ----------------------------------------------------------------------------------------------


async def connect(address: str, token: str, first: pb.OfferRequest | None = None) -> tuple[Any, Any]:
    """Make an offer; return the channel and the call."""
    channel = grpc.aio.insecure_channel(address)
    call = LadderStub(channel).Offer(metadata=(("authorization", f"Bearer {token}"),) if token else ())
    with contextlib.suppress(grpc.aio.AioRpcError):  # refused before it was written
        await call.write(first or pb.OfferRequest(offer=offer()))
    return channel, call


async def message_of(call: Any, part: str) -> Any:
    """The next message of a kind."""
    while True:
        answer = await call.read()
        assert isinstance(answer, pb.OfferAnswer), (await call.code(), await call.details())
        if answer.WhichOneof("part") == part:
            return getattr(answer, part)


async def end_of(call: Any) -> tuple[grpc.StatusCode, str]:
    with contextlib.suppress(grpc.aio.AioRpcError):
        while isinstance(await call.read(), pb.OfferAnswer):
            pass
    return await call.code(), await call.details()


@contextlib.contextmanager
def on_a_server(home: Home, called: AtHome | None = None, limits: Limits | None = None) -> Iterator[str]:
    """Serve a ladder meanwhile; yield its address."""
    with serving(home, Listen("127.0.0.1:0"), None, called, limits) as port:
        yield f"127.0.0.1:{port}"


def limited(**limits: Any) -> Limits:
    return Limits(calls=CallLimits(**limits))


def connections(home: Home) -> int:
    with Store(home.database, create=False) as store:
        return len(store.roster.connected())


async def test_a_connection_is_there_as_long_as_its_stream(home: Home, tokens: dict[str, str]) -> None:
    with on_a_server(home) as address:
        channel, call = await connect(address, tokens["ann"])
        connected = await message_of(call, "connected")
        assert (connected.bot, connected.version, connected.author) == ("remote", 1, "ann")
        assert connected.is_new
        assert connected.guests
        assert connections(home) == 1
        await channel.close()
        await until(lambda: connections(home) == 0)


@pytest.mark.parametrize(
    ("token", "first", "code"),
    [
        ("", None, grpc.StatusCode.PERMISSION_DENIED),
        ("dgn_00000000_" + "a" * 32, None, grpc.StatusCode.UNAUTHENTICATED),
        ("ann", pb.OfferRequest(beat=pb.Beat()), grpc.StatusCode.INVALID_ARGUMENT),
        ("ann", pb.OfferRequest(), grpc.StatusCode.INVALID_ARGUMENT),
    ],
    ids=["no token", "an unknown token", "a beat first", "nothing first"],
)
async def test_only_an_author_with_an_offer_is_connected(
    home: Home, tokens: dict[str, str], token: str, first: pb.OfferRequest | None, code: grpc.StatusCode
) -> None:
    with on_a_server(home) as address:
        channel, call = await connect(address, tokens.get(token, token), first)
        assert (await end_of(call))[0] is code
        await channel.close()
        assert connections(home) == 0


async def test_another_author_cannot_offer_somebody_elses_bot(home: Home, tokens: dict[str, str]) -> None:
    with on_a_server(home) as address:
        first = await connect(address, tokens["ann"])
        await message_of(first[1], "connected")
        second = await connect(address, tokens["eve"])
        code, details = await end_of(second[1])
        assert "belongs to ann" in details
        assert code is grpc.StatusCode.FAILED_PRECONDITION
        assert connections(home) == 1
        for channel, call in (first, second):
            call.cancel()
            await channel.close()


async def test_where_bots_at_home_do_not_take_part_that_is_said(home: Home, tokens: dict[str, str]) -> None:
    with on_a_server(home, AtHome(is_open=False)) as address:
        channel, call = await connect(address, tokens["ann"])
        code, details = await end_of(call)
        assert code is grpc.StatusCode.PERMISSION_DENIED
        assert "do not take part" in details
        await channel.close()


async def test_a_newer_connection_of_the_same_version_takes_the_place_of_the_older(
    home: Home, tokens: dict[str, str]
) -> None:
    with on_a_server(home) as address:
        first = await connect(address, tokens["ann"])
        await message_of(first[1], "connected")
        second = await connect(address, tokens["ann"])
        await message_of(second[1], "connected")
        assert await end_of(first[1]) == (grpc.StatusCode.ABORTED, "a newer connection offers the same bot")
        assert connections(home) == 1
        await first[0].close()
        assert connections(home) == 1
        await second[0].close()


async def test_of_two_connections_that_wait_to_be_stored_the_newer_stays(
    home: Home, tokens: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []
    stored: list[str] = []
    removed: list[object] = []
    is_free = threading.Event()

    def slowly(home: Home, version: Version, matches: int, since: str) -> None:
        begun.append(since)
        if len(begun) == 1:
            is_free.wait()
        store_connection(home, version, matches, since)
        stored.append(since)

    def noted(*arguments: Any) -> None:
        disconnect(*arguments)
        removed.append(arguments)

    monkeypatch.setattr(server, "connect", slowly)
    monkeypatch.setattr(server, "disconnect", noted)
    with on_a_server(home) as address:
        first = await connect(address, tokens["ann"])
        await until(lambda: len(begun) == 1)
        second = await connect(address, tokens["ann"])
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.5):  # enough to be stored before the first
                await until(lambda: bool(stored))
        is_free.set()
        await message_of(second[1], "connected")
        await until(lambda: len(stored) == 2 and bool(removed))
        assert connections(home) == 1
        for channel, _ in (first, second):
            await channel.close()


async def test_a_newer_version_lets_the_older_leave(home: Home, tokens: dict[str, str]) -> None:
    with on_a_server(home, limits=limited(beat_seconds=0.1, leaving_seconds=0.05)) as address:
        first = await connect(address, tokens["ann"])
        await message_of(first[1], "connected")
        second = await connect(address, tokens["ann"], pb.OfferRequest(offer=offer(content="v2.0")))
        await message_of(second[1], "connected")
        assert (await end_of(first[1]))[0] is grpc.StatusCode.OK
        await until(lambda: connections(home) == 1)
        for channel, call in (first, second):
            call.cancel()
            await channel.close()


async def test_a_bot_that_wants_to_leave_stays_until_its_matches_are_over(home: Home, tokens: dict[str, str]) -> None:
    with on_a_server(home, limits=limited(leaving_seconds=0.05)) as address:
        channel, call = await connect(address, tokens["ann"])
        await message_of(call, "connected")
        with Store(home.database, create=False) as store:
            [version] = [one for one in store.roster.versions().values() if one.is_at_home]
            store.admission.qualify(version.id, CONDITION, passed=True, reason="")
            matches = next(blocks_with(store, version))
            await call.write(pb.OfferRequest(leave=pb.Leave()))
            for beat in ["beat"] * 3:
                await message_of(call, beat)
            for condition in store.roster.conditions().values():
                for match in store.schedule.unfinished(condition):
                    store.results.give_up(match, "the test ends")
            assert matches
        assert (await end_of(call))[0] is grpc.StatusCode.OK
        await channel.close()


async def test_matches_that_are_not_played_now_keep_nobody_from_leaving(home: Home, tokens: dict[str, str]) -> None:
    called = AtHome(plays=lambda condition: condition.clock == "1+1/1")
    with on_a_server(home, called, limited(leaving_seconds=0.05)) as address:
        channel, call = await connect(address, tokens["ann"])
        await message_of(call, "connected")
        await until(lambda: connections(home))
        match_with_remote(home)
        await call.write(pb.OfferRequest(leave=pb.Leave()))
        assert (await end_of(call))[0] is grpc.StatusCode.OK
        await channel.close()


async def test_a_client_that_is_silent_is_gone(home: Home, tokens: dict[str, str]) -> None:
    with on_a_server(home, limits=limited(silent_seconds=0.2)) as address:
        channel, call = await connect(address, tokens["ann"])
        code, details = await end_of(call)
        assert code is grpc.StatusCode.UNAVAILABLE
        assert "nothing was heard" in details
        await until(lambda: connections(home) == 0)
        await channel.close()


async def test_beats_come_however_many_invitations_there_are(home: Home, tokens: dict[str, str]) -> None:
    called = AtHome()
    with on_a_server(home, called, limits=limited(beat_seconds=0.2)) as address:
        channel, call = await connect(address, tokens["ann"])
        await message_of(call, "connected")
        match = match_with_remote(home)

        async def flood() -> None:
            while True:
                called.invite(Invitation(match, match.seats.index(match.at_home[0]), "token", "unix:/nowhere", 1.0))
                await asyncio.sleep(0.05)

        flooding = asyncio.create_task(flood())
        await message_of(call, "beat")
        flooding.cancel()
        await channel.close()


async def test_a_token_that_is_revoked_ends_the_connection(home: Home, tokens: dict[str, str]) -> None:
    with on_a_server(home, limits=limited(beat_seconds=0.1)) as address:
        channel, call = await connect(address, tokens["ann"])
        await message_of(call, "connected")
        with Authors(home.database, create=False) as authors:
            authors.revoke("ann")
        assert (await end_of(call))[0] is grpc.StatusCode.UNAUTHENTICATED
        await channel.close()


async def test_an_author_has_a_few_connections(home: Home, tokens: dict[str, str]) -> None:
    with on_a_server(home) as address:
        opened = []
        for number in range(MAX_CONNECTED_OF_AUTHOR + 1):
            request = pb.OfferRequest(offer=offer(bot=f"remote{number}"))
            opened.append(await connect(address, tokens["ann"], request))
            if number < MAX_CONNECTED_OF_AUTHOR:
                await message_of(opened[-1][1], "connected")
        assert (await end_of(opened[-1][1]))[0] is grpc.StatusCode.RESOURCE_EXHAUSTED
        for channel, _ in opened:
            await channel.close()


def match_with_remote(home: Home) -> Match:
    """A match of the bot at home that is connected."""
    with Store(home.database, create=False) as store:
        [version] = [one for one in store.roster.versions().values() if one.is_at_home]
        store.admission.qualify(version.id, CONDITION, passed=True, reason="")
        return next(blocks_with(store, version))[0]


async def test_a_stream_to_a_seat_is_counted_by_its_token_and_not_by_its_address(
    home: Home, tokens: dict[str, str]
) -> None:
    """Whatever a neighbour asks, or tries at the door of the bots."""
    limits = Limits(requests=Meter(Allowance("requests", 2, 86_400)))

    called = AtHome()
    with on_a_server(home, called, limits=limits) as address:
        channel, call = await connect(address, tokens["ann"])
        await message_of(call, "connected")
        match = match_with_remote(home)
        called.invite(Invitation(match, match.seats.index(match.at_home[0]), "shown", "unix:/nowhere", 60.0))
        await message_of(call, "invitation")

        async def stream(token: str) -> tuple[Any, Any, Any]:
            play: Any = channel.stream_stream("/dogana.v1.Referee/Play")()
            join = referee_pb2.AgentMessage(join=referee_pb2.Join(token=token, protocol=1))
            await play.write(join.SerializeToString())
            code, details = await end_of(play)
            return code, details, retry_after(code, await play.trailing_metadata())

        for _ in range(2):
            assert (await stream("another"))[0] is grpc.StatusCode.UNAUTHENTICATED
        code, details, seconds = await stream("another")
        assert code is grpc.StatusCode.RESOURCE_EXHAUSTED, details
        assert 43_000 < seconds <= 43_200
        for _ in range(2):  # it gets to the worker, which is not there
            assert (await stream("shown"))[:2] == (grpc.StatusCode.ABORTED, "the match was broken off")
        assert 43_000 < (await stream("shown"))[2] <= 43_200
        await channel.close()


async def test_overload_ends_no_connection_of_a_bot_at_home(
    home: Home, tokens: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """At each beat it is asked whether the token is still good; while nobody can tell, it is."""
    is_busy, is_over = threading.Event(), threading.Event()

    def find_none(_: Home) -> list[Playing]:
        is_busy.set()
        assert is_over.wait(patient(60))
        return []

    monkeypatch.setattr(server, "playing", find_none)

    called = AtHome()
    with on_a_server(
        home, called, limits=replace(limited(beat_seconds=0.05, lookups=1), thread_seconds=patient(0.1))
    ) as address:
        channel, call = await connect(address, tokens["ann"])
        await message_of(call, "connected")
        watching = watched(channel)(b"")
        try:
            await asyncio.to_thread(is_busy.wait, 60)
            for _ in range(5):
                await message_of(call, "beat")
                await call.write(pb.OfferRequest(beat=pb.Beat()))
            assert connections(home) == 1
        finally:
            is_over.set()
        assert await watching.code() is grpc.StatusCode.NOT_FOUND
        await message_of(call, "beat")
        await channel.close()


async def test_a_stream_without_an_invitation_is_refused(home: Home) -> None:
    with on_a_server(home) as address:
        async with grpc.aio.insecure_channel(address) as channel:
            play: Any = channel.stream_stream("/dogana.v1.Referee/Play")
            for first, code in (
                (JOIN, grpc.StatusCode.UNAUTHENTICATED),
                (referee_pb2.AgentMessage(choose=referee_pb2.Choose(index=1)), grpc.StatusCode.UNAUTHENTICATED),
            ):
                call = play()
                await call.write(first.SerializeToString())
                assert (await end_of(call))[0] is code
            call = play()
            await call.write(b"\xff\xff")
            assert (await end_of(call))[0] is grpc.StatusCode.INVALID_ARGUMENT
