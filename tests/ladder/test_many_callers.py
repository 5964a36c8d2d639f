"""A served ladder among many who ask at once, slowly, or wrongly: the others are answered all the same. Real server, real sockets."""

from __future__ import annotations

import asyncio
import logging
import resource
import shutil
import socket
import sqlite3
import tempfile
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from socketserver import ThreadingMixIn

import grpc
import pytest

from ladder.facts.store import Store
from ladder.http.requests.refused import refusal
from ladder.http.requests.visit import Site
from ladder.intake.authors import Authors
from ladder.intake.tokens import KNOWN_SECONDS, Tokens
from ladder.operation import sqlite_file
from ladder.operation.errors import Busy, LadderError, TooMuch, Unauthenticated
from ladder.operation.home import Home
from ladder.operation.limits import CallLimits, Limits
from ladder.operation.meter import Allowance, Meter
from ladder.operation.threads import Threads
from ladder.questions.bots import ShowRequest
from ladder.questions.caller import Caller
from ladder.questions.changes import RetireRequest
from ladder.questions.desk import Desk
from ladder.questions.info import InfoRequest
from ladder.questions.match import LogRequest, RecordRequest
from ladder.questions.matches import MatchesRequest
from ladder.questions.proof import AuditLogRequest
from ladder.questions.standings import TopRequest
from ladder.service.beside import serving
from ladder.service.login import Login
from ladder.service.metrics import Metrics
from ladder.service.remote import RemoteLadder
from referee.live.doors.lobby import host_of
from referee.live.matches.server import Listen
from tests.ladder.made import be_impatient
from tests.ladder.noted import Noted, noted
from tests.ladder.raw import PREFACE, RawClient
from tests.ladder.real_ladder import played_ladder
from tests.ladder.test_service import flooding
from tests.ladder.test_serving import RANDOM, door_of, rated, served
from tests.ladder.watching import check_that_it_answers, watched
from tests.patience import patient, wait_until
from tests.referee.test_wire import certificate
from tests.web.served import serving_pages

__all__ = ["flooding", "noted"]

WATCH = "/dogana.v1.Referee/Watch"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return played_ladder(tmp_path_factory.mktemp("played") / "home", 4).folder


@pytest.fixture
def home(played: Path, tmp_path: Path) -> Home:
    shutil.copytree(played, tmp_path / "home")
    return Home(tmp_path / "home")


@pytest.fixture
def token(home: Home) -> str:
    with Authors(home.database, create=False) as authors:
        return authors.add("ann")


@pytest.fixture
def locked(home: Home) -> Iterator[sqlite3.Connection]:
    """The ladder, locked by another program."""
    with closing(sqlite3.connect(home.database, isolation_level=None, check_same_thread=False)) as other:
        other.execute("begin immediate")
        yield other


def matches_of(home: Home) -> list[str]:
    """The matches whose records anybody may have."""
    with Store(home.database, create=False) as store:
        return [match.match_id for match in store.history.matches(10) if store.schedule.is_over(match.block)]


# --- requests that do not come, answers that are not read -------------------------------------------------------


@pytest.mark.parametrize("method", [WATCH, "/grpc.health.v1.Health/Check"])
def test_a_call_whose_request_does_not_come_ends(home: Home, method: str) -> None:
    limits = Limits(calls=CallLimits(request_seconds=0.1))
    with serving(home, Listen("127.0.0.1:0"), limits=limits) as port, RawClient(f"127.0.0.1:{port}") as client:
        client.call(method, None)
        assert client.read_end() == "status"


def test_who_does_not_read_answers_is_given_no_more_of_them(home: Home, flooding: threading.Event) -> None:
    counts = Metrics(home)
    refused = {"method": "watch", "status": "RESOURCE_EXHAUSTED"}
    with serving(home, Listen("127.0.0.1:0"), counts, limits=Limits(calls=CallLimits(open_of_one=3))) as port:
        with ExitStack() as stack:
            for _ in range(3):
                stack.enter_context(RawClient(f"127.0.0.1:{port}")).call(WATCH, b"")
                wait_until(flooding.is_set)
                flooding.clear()
            assert counts.registry.get_sample_value("dogana_ladder_calls_total", refused) is None
            stack.enter_context(RawClient(f"127.0.0.1:{port}")).call(WATCH, b"")
            wait_until(lambda: counts.registry.get_sample_value("dogana_ladder_calls_total", refused) == 1)
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:  # they are gone, and so are their calls
            wait_until(lambda: succeeds(lambda: next(watched(channel)(b"", timeout=patient(60)))))


def test_a_call_that_ends_because_nobody_reads_is_open_until_that_is_read(
    home: Home, flooding: threading.Event, noted: Noted
) -> None:
    counts = Metrics(home)
    limits = Limits(calls=CallLimits(open_of_one=2, slow_seconds=0.1))
    ended = {"method": "watch", "status": "RESOURCE_EXHAUSTED"}
    with serving(home, Listen("127.0.0.1:0"), counts, limits=limits) as port, ExitStack() as stack:
        for count in (1, 2):
            stack.enter_context(RawClient(f"127.0.0.1:{port}")).call(WATCH, b"")
            wait_until(lambda: len(noted.events) == count)  # noqa: B023 it is called at once
        assert all("a message was not read" in str(fields["reason"]) for _, fields in noted.events)
        assert counts.registry.get_sample_value("dogana_ladder_calls_total", ended) is None
        stack.enter_context(RawClient(f"127.0.0.1:{port}")).call(WATCH, b"")
        wait_until(lambda: counts.registry.get_sample_value("dogana_ladder_calls_total", ended) == 1)


def succeeds(ask: Callable[[], object]) -> bool:
    with suppress(LadderError, OSError, grpc.RpcError):
        ask()
        return True
    return False


def test_handshakes_that_are_not_ended_keep_nobody_waiting_and_end(home: Home, tmp_path: Path) -> None:
    chain, key, authority = certificate(tmp_path)
    hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
    limits = Limits(calls=CallLimits(handshake_seconds=2.0))
    with serving(home, Listen("localhost:0", chain, key), limits=limits) as port, ExitStack() as stack:
        silent = [stack.enter_context(socket.create_connection(("localhost", port), 60)) for _ in range(100)]
        for number, connection in enumerate(silent):
            connection.sendall(hello[: 1 + number % len(hello)])
        trusted = grpc.ssl_channel_credentials(authority.read_bytes())
        with grpc.secure_channel(f"localhost:{port}", trusted) as channel:
            check_that_it_answers(channel)
        for connection in silent:
            with suppress(ConnectionResetError):
                assert connection.recv(1) == b""


def test_an_audit_log_that_is_being_sent_is_no_file_that_could_be_left(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    with closing(Desk(home).ask(AuditLogRequest()).pieces) as pieces:  # type: ignore[type-var]
        assert next(pieces)
        assert not list((tmp_path / "temporary").iterdir())


# --- who asks ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("peer", "host"),
    [
        ("ipv4:192.0.2.7:5555", "192.0.2.7"),
        ("ipv6:%5B2001:db8:1:2:3:4:5:6%5D:5555", "2001:db8:1:2::/64"),
        ("ipv6:[2001:db8:1:2::ffff]:5555", "2001:db8:1:2::/64"),
        ("ipv6:%5B::ffff:192.0.2.7%5D:5555", "192.0.2.7"),
        ("ipv6:%5Bfe80::1%25eth0%5D:5555", "fe80::/64"),
        ("unix:/tmp/socket", "unix"),
        ("unix:", "unix"),
        ("strange", ""),
    ],
)
def test_who_has_a_network_is_known_by_it(peer: str, host: str) -> None:
    assert host_of(peer) == host


def with_few_guesses() -> Limits:
    return Limits(guesses=Meter(Allowance("wrong tokens", 3, 86_400)))


def test_a_good_token_is_never_refused_for_the_wrong_ones_of_a_neighbour(home: Home, token: str) -> None:
    """All come from one address: that of a lecture hall."""
    wrong = f"dgn_{'0' * 8}_{'x' * 32}"
    with (
        serving_pages(home, Site(), with_few_guesses()) as url,
        RemoteLadder(url, Login("ann", token)) as ann,
        RemoteLadder(url, Login("eve", wrong)) as eve,
    ):
        for number in range(20):
            why = "the token is unknown" if number < 3 else "too many wrong tokens"
            with pytest.raises(LadderError, match=why):
                eve.ask(InfoRequest())
            assert ann.ask(InfoRequest()).author == "ann"


def test_who_guesses_tokens_costs_one_look_at_the_database_a_second(
    home: Home, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    read: list[str] = []
    hashes = Authors.hashes_of_valid_tokens
    author_of = Authors.author_of

    def spy(self: Authors, given: str) -> str:
        read.append(given)
        return author_of(self, given)

    def spy_on_all(self: Authors) -> frozenset[str]:
        read.append("all")
        return hashes(self)

    monkeypatch.setattr(Authors, "hashes_of_valid_tokens", spy_on_all)
    monkeypatch.setattr(Authors, "author_of", spy)
    guesses = Meter(Allowance("wrong tokens", 2, 1e9), lambda: now[0])
    tokens = Tokens(home.database, guesses, lambda: now[0])
    for number in range(1000):
        with pytest.raises(Unauthenticated if number < 2 else TooMuch):
            tokens.author_of(f"dgn_{number:08x}_{'x' * 32}", "192.0.2.1")
    assert len(read) == 3
    now[0] = KNOWN_SECONDS
    with Authors(home.database, create=False) as authors:
        new = authors.new_token("ann")
    for good in (token, new):
        assert tokens.author_of(good, "192.0.2.1") == "ann"
    with Authors(home.database, create=False) as authors:
        authors.revoke("ann")
    now[0] = 2 * KNOWN_SECONDS
    with pytest.raises(TooMuch):
        tokens.author_of(token, "192.0.2.1")
    with pytest.raises(Unauthenticated):
        tokens.author_of(token, "192.0.2.2")


def test_what_takes_long_counts_for_several_requests(home: Home) -> None:
    limits = Limits(requests=Meter(Allowance("requests", 100, 86_400), seconds_of_one=1e-6))
    with serving_pages(home, Site(), limits) as url, RemoteLadder(url, Login()) as desk:
        desk.ask(InfoRequest())
        with pytest.raises(LadderError, match="100 requests in 24 hours are allowed; come back in"):
            desk.ask(InfoRequest())


def test_what_was_taken_too_much_fills_up_again() -> None:
    now = [0.0]
    meter = Meter(Allowance("requests", 10, 10), lambda: now[0])
    assert meter.change("ann", -25) == -15
    assert meter.change("ann", 1) == -14
    now[0] = 20.0
    assert meter.change("ann", 0) == 6
    now[0] = 1000.0
    assert meter.change("ann", 5) == 10
    assert meter.change("ann", -1) == 9


# --- a ladder that others have locked ---------------------------------------------------------------------------


def test_an_author_is_answered_while_another_program_has_locked_the_ladder(
    home: Home, token: str, locked: sqlite3.Connection
) -> None:
    """Even at their first request of the day, which is noted; but not for that."""
    with serving_pages(home, Site(takes_bots=True)) as url, RemoteLadder(url, Login("ann", token)) as desk:
        assert desk.ask(InfoRequest()).author == "ann"
        with Authors(home.database, create=False) as authors:
            assert not authors.tokens()[0].used_at
        locked.execute("rollback")
        desk.ask(InfoRequest())
        with Authors(home.database, create=False) as authors:
            assert authors.tokens()[0].used_at


def test_who_cannot_change_anything_now_is_told_to_come_back(home: Home, locked: sqlite3.Connection) -> None:
    with Store(home.database, create=False) as store:
        be_impatient(store)
        desk = Desk(home, Caller("ann"), store)
        with pytest.raises(Busy) as caught:
            desk.ask(RetireRequest(bot="faulty"))
        assert refusal(caught.value).message == "another program keeps the ladder busy; come back in a minute"
        locked.execute("rollback")
        desk.ask(RetireRequest(bot="faulty"))


def test_a_server_outwaits_whoever_has_locked_its_ladder(
    home: Home, locked: sqlite3.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    waits = threading.Event()

    class Waits(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            waits.set()

    handler = Waits()
    logging.getLogger(sqlite_file.__name__).addHandler(handler)

    def unlock() -> None:
        waits.wait(patient(60))
        locked.execute("rollback")

    other = threading.Thread(target=unlock)
    other.start()
    with Store(home.database, create=False) as store:
        be_impatient(store)
        with pytest.raises(Busy, match="another program has locked it"):
            store.log.note_act("x", "y", "z")
    with Store(home.database, create=False, outwaits=True) as outwaiting:
        outwaiting.log.note_act("x", "y", "z")
    other.join()
    logging.getLogger(sqlite_file.__name__).removeHandler(handler)
    assert [entry.getMessage() for entry in caplog.records if entry.name == sqlite_file.__name__] == [
        f"{home.database}: another program has locked it; the ladder goes on when that ends"
    ]
    with Authors(home.database, create=False) as authors:
        assert (authors.acts(1)[0].who, authors.acts(1)[0].did) == ("x", "y")


# --- threads ----------------------------------------------------------------------------------------------------


async def test_a_call_that_is_cancelled_ends_after_what_its_thread_does() -> None:
    """What the thread has opened meanwhile, such as the folder of an upload, would be closed by nobody."""
    began, goes_on = threading.Event(), threading.Event()
    opened: list[str] = []

    def work() -> None:
        began.set()
        goes_on.wait(patient(60))
        opened.append("folder")

    call = asyncio.create_task(Threads(1).run(work))
    await asyncio.to_thread(began.wait, 60)
    for _ in range(10):  # twice is as good as once
        call.cancel()
        await asyncio.sleep(0)
    assert not call.done()
    goes_on.set()
    with suppress(asyncio.CancelledError):
        await call
    assert opened


# --- figures ----------------------------------------------------------------------------------------------------


def figures(port: int) -> bytes:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=patient(60)) as answer:
        return bytes(answer.read())


def test_connections_that_ask_for_no_figures_end(home: Home) -> None:
    with Metrics(home).serving(Listen("127.0.0.1:0"), idle_seconds=0.2) as port:
        with socket.create_connection(("127.0.0.1", port), 60) as silent:
            assert silent.recv(1) == b""
        assert b"dogana_ladder_matches_total 4.0" in figures(port)


def test_a_few_connections_at_a_time_may_ask_for_figures(home: Home) -> None:
    with Metrics(home).serving(Listen("127.0.0.1:0"), scrapes=2, idle_seconds=10_000.0) as port:
        silent = [socket.create_connection(("127.0.0.1", port), 60) for _ in range(5)]
        for one in silent[2:]:
            assert one.recv(1) == b""
        for one in silent:
            one.close()
        wait_until(lambda: succeeds(lambda: figures(port)))


def test_figures_are_shown_after_no_thread_could_be_started(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    with Metrics(home).serving(Listen("127.0.0.1:0"), scrapes=1) as port:
        with monkeypatch.context() as patched:
            patched.setattr(ThreadingMixIn, "process_request", fail)
            with socket.create_connection(("127.0.0.1", port), 60) as refused:
                assert refused.recv(1) == b""
        assert b"dogana_ladder_matches_total 4.0" in figures(port)


# --- all of it at once ------------------------------------------------------------------------------------------


@pytest.mark.ladders
def test_a_thousand_slow_connections_keep_nobody_waiting_and_matches_go_on(tmp_path: Path) -> None:
    """Connections that say nothing, half of a preface, half of a call; spectators that do not read; offers that do not come."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    many = 1000
    assert hard == resource.RLIM_INFINITY or hard >= 2 * many
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2 * many), hard))
    home = Home(tmp_path / "home")
    home.make()
    with Authors(home.database, create=True) as authors:
        token, slow_token = authors.add("ann"), authors.add("eve")
    (tmp_path / "bot.py").write_text(RANDOM)
    try:
        with served(home.folder) as (process, address), ExitStack() as stack:
            with RemoteLadder(address, Login("ann", token)) as desk:
                desk.submit(tmp_path / "bot.py", "mybot", "")
            wait_until(lambda: rated(address, "mybot"))
            match, door = rated_match(address), door_of(address)
            for number in range(many):
                open_slowly(stack, door, number, slow_token)
            with RemoteLadder(address, Login("ann", token)) as desk:
                before = desk.ask(InfoRequest()).matches
                for ask in (
                    lambda: desk.ask(InfoRequest()),
                    lambda: desk.ask(TopRequest()),
                    lambda: desk.ask(ShowRequest(bot="mybot")),
                    lambda: desk.ask(MatchesRequest(limit=100)),
                    lambda: desk.ask(LogRequest(what="mybot")),
                    lambda: b"".join(desk.ask(RecordRequest(match=match)).pieces),
                    lambda: b"".join(desk.ask(AuditLogRequest()).pieces),
                ):
                    assert ask()
                (tmp_path / "bot.py").write_text(RANDOM + "# newer\n")
                assert desk.submit(tmp_path / "bot.py", "mybot", "").version == 2
                wait_until(lambda: desk.ask(InfoRequest()).matches > before)
            assert process.poll() is None
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def rated_match(address: str) -> str:
    """A match whose record can be had."""
    with RemoteLadder(address, Login()) as desk:
        found: list[str] = []

        def find() -> bool:
            for match in desk.ask(MatchesRequest(limit=50)).matches:
                if succeeds(lambda: b"".join(desk.ask(RecordRequest(match=match.match)).pieces)):  # noqa: B023
                    found.append(match.match)
                    return True
            return False

        wait_until(find)
    return found[0]


def open_slowly(stack: ExitStack, address: str, number: int, token: str) -> None:
    """Open a connection, and begin something on it that does not end."""
    host, _, port = address.rpartition(":")
    calls: dict[int, tuple[str, bytes | None, str]] = {
        4: (WATCH, None, ""),
        5: (WATCH, b"", ""),
        6: ("/dogana.v1.Ladder/Offer", None, ""),
        7: ("/dogana.v1.Ladder/Offer", None, token),
        8: ("/dogana.v1.Referee/Play", None, ""),
        9: ("/grpc.health.v1.Health/Watch", b"", ""),
    }
    kind = number % 10
    if kind in calls:
        client = stack.enter_context(RawClient(address))
        for _ in range(3):
            client.call(*calls[kind])
        return
    connection = stack.enter_context(socket.create_connection((host, int(port)), 60))
    connection.sendall((b"", PREFACE[:9], PREFACE, b"\x16\x03\x01\x02")[kind])
