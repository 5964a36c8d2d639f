"""A served ladder: the same words as at its folder, and who may see, send and change what. Real server, real clients."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import resource
import socket
import stat
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import pytest

from ladder.commands.where import remote_ladder
from ladder.facts.store import Store
from ladder.http.requests.visit import Site
from ladder.intake.authors import Authors
from ladder.intake.upload import sweep_uploads
from ladder.operation.calls import CallFigures, reading
from ladder.operation.errors import Forbidden, LadderError, NotFound, Unauthenticated
from ladder.operation.home import Home
from ladder.operation.limits import CallLimits, Limits
from ladder.play.playing import announced as announced_match
from ladder.questions.bots import ShowRequest
from ladder.questions.changes import AtTablesRequest
from ladder.questions.desk import Desk
from ladder.questions.info import InfoRequest
from ladder.questions.match import LogRequest, MatchRequest, RecordRequest
from ladder.questions.standings import TopRequest
from ladder.service.beside import serving
from ladder.service.login import Login, login_of, logins_file, remember
from ladder.service.metrics import Metrics
from ladder.service.remote import RemoteLadder
from referee.bots.errors import BadBot
from referee.bots.files import TAKING_IN
from referee.live.matches.server import Listen, PortInUse
from referee.live.seats.telemetry import KeyValues
from referee.records.record import unpacked
from tests.commands.conftest import Dogana
from tests.ladder.archived import damage, put_logs, put_record, record_of, remove_record
from tests.ladder.in_process import dogana
from tests.ladder.noted import Noted, noted
from tests.ladder.real_ladder import FAULTY, played_ladder
from tests.ladder.watching import check_that_it_answers, watched
from tests.patience import patient
from tests.referee.test_wire import certificate
from tests.web.served import serving_pages

__all__ = ["dogana", "noted"]

PLAYED = 12
BOT = "print('not run')\n"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A ladder with matches, some of them in a block that is not over."""
    return played_ladder(tmp_path_factory.mktemp("shared") / "home", PLAYED)


@pytest.fixture(scope="module")
def by_grpc(home: Home) -> Iterator[str]:
    with serving(home, Listen("127.0.0.1:0")) as port:
        yield f"127.0.0.1:{port}"


@pytest.fixture(scope="module")
def address(home: Home) -> Iterator[str]:
    """Where commands reach the ladder."""
    with serving_pages(home, Site(takes_bots=True)) as url:
        yield url


@pytest.fixture(scope="module")
def tokens(home: Home) -> dict[str, str]:
    """The tokens of two authors who have bots on the ladder, and of one who has none."""
    with Authors(home.database, create=False) as authors:
        return {author: authors.add(author) for author in ("ann", "eve", "new")}


@contextmanager
def desk_of(address: str, token: str = "", author: str = "") -> Iterator[RemoteLadder]:
    with remote_ladder(address, Login(author, token)) as desk:
        yield desk


def refused(ask: Callable[[], object]) -> type[LadderError]:
    with pytest.raises(LadderError) as caught:
        ask()
    return type(caught.value)


def a_match_that_is_over(home: Home, bot: str) -> str:
    with Store(home.database, create=False) as store:
        return next(
            match.match_id
            for match in store.history.matches(PLAYED, versions=store.roster.find_versions(bot))
            if store.schedule.is_over(match.block)
        )


# --- the same words -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ["top"],
        ["top", "cargo_noir", "--clock", "60+0.5/10"],
        ["bots"],
        ["bots", "--game", "cargo_noir"],
        ["show", "best"],
        ["show", FAULTY],
        ["bots", "EV"],
        ["compare", "best", "good v1"],
        ["crosstable", "cargo_noir"],
        ["queue"],
        ["queue", "cargo_noir"],
        ["key"],
        ["matches"],
        ["matches", FAULTY, "--out", "--limit", "3"],
    ],
    ids=" ".join,
)
def test_a_server_answers_as_the_folder_does(dogana: Dogana, home: Home, address: str, words: list[str]) -> None:
    here = dogana("ladder", *words, "--json", "--home", home.folder).stdout
    assert dogana("ladder", *words, "--json", "--server", address).stdout == here
    assert len(here) > 50


@pytest.mark.parametrize("words", [["top"], ["bots", "EV"], ["show", "best"]], ids=" ".join)
def test_a_table_names_the_server_where_it_names_the_folder(
    dogana: Dogana, home: Home, address: str, words: list[str]
) -> None:
    here = dogana("ladder", *words, "--home", home.folder).stdout
    there = dogana("ladder", *words, "--server", address).stdout
    assert there == here.replace(f"--home {home.folder}", f"--server {address}")


@pytest.mark.parametrize(
    "words",
    [
        ["show", "bset"],
        ["top", "carg_noir"],
        ["top", "cargo_noir", "--clock", "7"],
        ["top", "cargo_noir", "--option", "x=1"],
    ],
    ids=" ".join,
)
def test_a_server_refuses_as_the_folder_does(dogana: Dogana, home: Home, address: str, words: list[str]) -> None:
    here = dogana("ladder", *words, "--home", home.folder, status=1).stderr
    assert dogana("ladder", *words, "--server", address, status=1).stderr == here
    assert len(here.splitlines()) == 1


@pytest.mark.parametrize(
    "words", [["replay", ""], ["record", "", "--to", "x"], ["match", ""], ["log", ""], ["show", ""]], ids=str
)
def test_an_empty_name_is_not_the_beginning_of_any(dogana: Dogana, home: Home, address: str, words: list[str]) -> None:
    for where in (["--home", home.folder], ["--server", address]):
        said = dogana("ladder", *words, *where, status=1).stderr
        assert "must not be empty" in said
        assert len(said.splitlines()) == 1


def test_a_match_is_described_without_what_is_on_the_machine_of_the_ladder(
    dogana: Dogana, home: Home, address: str
) -> None:
    match = a_match_that_is_over(home, FAULTY)
    here = json.loads(dogana("ladder", "match", match, "--home", home.folder, "--json").stdout)
    there = json.loads(dogana("ladder", "match", match, "--server", address, "--json").stdout)
    assert here["logs"]
    assert there == {**here, "logs": []}
    printed = dogana("ladder", "match", match, "--server", address).stdout
    assert str(home.folder) not in printed
    assert f"dogana ladder record {match}" in printed


def test_a_record_is_written_as_the_name_of_the_file_says(
    dogana: Dogana, home: Home, address: str, tmp_path: Path
) -> None:
    match = a_match_that_is_over(home, FAULTY)
    for name in ("whole.jsonl", "whole.jsonl.zst", "whole"):
        dogana("ladder", "record", match, "--to", name, "--server", address)
    plain = (tmp_path / "whole.jsonl").read_bytes()
    assert json.loads(plain.splitlines()[0])["type"] == "header"
    assert (tmp_path / "whole").read_bytes() == plain
    packed = (tmp_path / "whole.jsonl.zst").read_bytes()
    assert packed != plain
    assert unpacked(Path("whole.jsonl.zst"), packed) == plain


def test_who_watches_without_a_match_gets_a_list_of_them(home: Home, by_grpc: str) -> None:
    with Store(home.database, create=False) as store:
        first, second = (store.schedule.match(one.match_id) for one in store.history.matches(2))
    assert first is not None
    assert second is not None
    with (
        announced_match(home, first, "unix:nowhere"),
        announced_match(home, second, "unix:nowhere"),
        grpc.insecure_channel(by_grpc) as channel,
        pytest.raises(grpc.RpcError) as caught,
    ):
        list(watched(channel)(b"", timeout=patient(60)))
    said = str(caught.value.details())
    assert first.match_id in said
    assert second.match_id in said


def test_the_audit_log_comes_whole_and_is_compared_with_an_earlier_one(
    dogana: Dogana, home: Home, address: str, tmp_path: Path
) -> None:
    dogana("ladder", "audit-log", "here.jsonl", "--home", home.folder)
    said = dogana("ladder", "audit-log", "there.jsonl", "--previous", "here.jsonl", "--server", address).stdout
    assert ", 0 of them new" in said
    check = said.split("; check it: dogana ")[1].split()
    assert check[:3] == ["verify-log", "there.jsonl", "--key"]
    dogana(*check)
    entries = [(tmp_path / name).read_bytes().splitlines()[:-1] for name in ("here.jsonl", "there.jsonl")]
    assert entries[0] == entries[1]
    key = dogana("ladder", "key", "--server", address).stdout.split()[0]
    dogana("verify-log", "there.jsonl", "--key", key)
    changed = (tmp_path / "here.jsonl").read_bytes().replace(b'"best"', b'"beat"', 1)
    (tmp_path / "here.jsonl").write_bytes(changed)
    refused = dogana("ladder", "audit-log", "there.jsonl", "--previous", "here.jsonl", "--server", address, status=1)
    assert "the past was changed" in refused.stderr
    assert "has the folder" in dogana("ladder", "key", "--replace", "--server", address, status=1).stderr
    assert not list(tmp_path.glob("*.part"))


def test_the_environment_names_a_server_and_the_command_line_comes_first(
    dogana: Dogana, home: Home, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOGANA_LADDER", address)
    assert f"--server {address}" in dogana("ladder", "bots").stdout
    assert f"--home {home.folder}" in dogana("ladder", "bots", "--home", home.folder).stdout
    both = dogana("ladder", "bots", "--home", home.folder, "--server", address, status=1).stderr
    assert "leave out one of them" in both


def test_commands_that_need_the_folder_do_not_guess_it_when_the_environment_names_a_server(
    dogana: Dogana, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOGANA_LADDER", "https://ladder.example")
    for words in (["backup", "x.tar"], ["audit"], ["author", "list"], ["run", "--game", "yunnan", "--matches", 1]):
        said = dogana("ladder", *words, status=1).stderr
        assert said.startswith("dogana: DOGANA_LADDER names the ladder at https://ladder.example")
        assert "--home FOLDER" in said
        assert len(said.splitlines()) == 1
    dogana("ladder", "audit", "--home", home.folder)
    dogana("ladder", "audit", "--help")


def test_who_watches_without_encryption_gets_the_way_to_it_where_the_ladder_encrypts(
    dogana: Dogana, home: Home, tmp_path: Path
) -> None:
    chain, key, _ = certificate(tmp_path)
    with serving(home, Listen("localhost:0", chain, key)) as port:
        assert "--ca FILE" in dogana("watch", f"localhost:{port}", status=1).stderr


def test_where_no_ladder_answers_the_address_is_named(dogana: Dogana) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        nowhere = f"http://127.0.0.1:{taken.getsockname()[1]}"
        said = dogana("ladder", "top", "--server", nowhere, status=1).stderr
    assert said.startswith(f"dogana: no ladder answers at {nowhere}")
    assert len(said.splitlines()) == 1


# --- what is not over, and what is private ------------------------------------------------------------------


def test_a_match_from_a_seed_that_is_still_played_is_shown_to_the_organiser_alone(
    dogana: Dogana, home: Home, address: str, tokens: dict[str, str]
) -> None:
    """From its record one would know the luck of the matches to come."""
    with Store(home.database, create=False) as store:
        open_ones = [match for match in store.history.matches(PLAYED) if not store.schedule.is_over(match.block)]
    assert open_ones
    match = open_ones[0].match_id
    dogana("ladder", "match", match, "--home", home.folder)
    for token in ("", tokens["ann"]):
        with desk_of(address, token) as desk:
            assert refused(lambda: desk.ask(MatchRequest(match=match))) is Forbidden
            with pytest.raises(LadderError, match="when the other matches from its seed are over"):
                b"".join(desk.ask(RecordRequest(match=match)).pieces)


def test_a_log_is_for_its_author_alone(home: Home, address: str, tokens: dict[str, str]) -> None:
    match = a_match_that_is_over(home, "best")
    with desk_of(address, tokens["eve"]) as desk:  # best is hers
        [log] = desk.ask(LogRequest(what="best")).logs
        assert log.lines
        assert {one.bot for one in desk.ask(LogRequest(what=match)).logs} == {"best v1"}
        own = [log.seat for log in desk.ask(MatchRequest(match=match)).logs]
        assert len(own) == 1
        assert refused(lambda: desk.ask(LogRequest(what=FAULTY))) is Forbidden
    for token in ("", tokens["new"]):
        with desk_of(address, token) as desk:
            assert refused(lambda: desk.ask(LogRequest(what="best"))) is Forbidden
            assert refused(lambda: desk.ask(LogRequest(what=match))) is LadderError
            assert not desk.ask(MatchRequest(match=match)).logs


def test_what_a_bot_says_of_its_thinking_is_for_its_author_alone(
    dogana: Dogana, home: Home, address: str, tokens: dict[str, str]
) -> None:
    name = a_match_that_is_over(home, "best")
    with Store(home.database, create=False) as store:
        match = store.schedule.match(name)
        assert match is not None
        seat = match.labels.index("best v1")
        store.results.note_telemetry(match.match_id, {seat: {"nodes": KeyValues(4, 1000.0)}})
    for token, keys in ((tokens["eve"], ["nodes"]), (tokens["ann"], []), ("", [])):
        with desk_of(address, token) as desk:
            [fared] = desk.ask(ShowRequest(bot="best")).fared
            assert [said.key for said in fared.telemetry] == keys
            seats = desk.ask(MatchRequest(match=name)).seats
            assert [[said.key for said in one.telemetry] for one in seats][seat] == keys
    printed = dogana("ladder", "show", "best", "--home", home.folder).stdout
    assert re.search(r"^ nodes +250 +4 +1 *$", printed, re.MULTILINE)
    assert "said on average: nodes 250" in dogana("ladder", "match", name, "--home", home.folder).stdout


def test_an_author_lets_people_play_against_their_own_and_nobody_elses(
    dogana: Dogana, home: Home, address: str, tokens: dict[str, str]
) -> None:
    with desk_of(address, tokens["ann"]) as desk:
        consent = AtTablesRequest(bot="best", at_tables=True)
        assert refused(lambda: desk.ask(consent)) is Forbidden
        assert not desk.ask(ShowRequest(bot="best")).at_tables
    with desk_of(address, tokens["eve"]) as desk:
        assert desk.ask(consent).at_tables
        assert desk.ask(ShowRequest(bot="best")).at_tables
    at = ("--home", home.folder)
    assert "people may play against it at tables" in dogana("ladder", "show", "best", *at).stdout
    assert "people do not play against best at tables" in dogana("ladder", "at-tables", "best", "--no", *at).stdout
    dogana("ladder", "at-tables", "best", "--no", *at)  # changes nothing, so it is not noted
    with Authors(home.database, create=False) as authors:
        acts = [(act.who, act.did, act.about) for act in authors.acts(2)]
    assert acts == [("organiser", "at-tables", "best: no"), ("eve", "at-tables", "best: yes")]


def test_a_bot_is_submitted_for_tables_too(
    dogana: Dogana, home: Home, address: str, tokens: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "bold.py").write_text("print('not run')")
    with desk_of(address, tokens["eve"]) as desk:
        assert desk.submit(tmp_path / "bold.py", "bold", "", at_tables=True).at_tables
        assert desk.submit(tmp_path / "bold.py", "bold", "").at_tables, "saying nothing changes nothing"
    said = dogana(
        "ladder",
        "submit",
        tmp_path / "bold.py",
        "--name",
        "mine",
        "--author",
        "me",
        "--at-tables",
        "--home",
        home.folder,
    )
    assert "people may play against it at tables" in said.stdout


@pytest.mark.parametrize("what", ["match", "record", "log"])
def test_the_match_that_was_to_qualify_a_bot_is_for_its_author(
    home: Home, address: str, tokens: dict[str, str], what: str
) -> None:
    """And nobody else learns that it is there, not even by the beginning of its id."""
    with Store(home.database, create=False) as store:
        [version] = [one for one in store.roster.versions().values() if one.label == "best v1"]
    match_id = f"qualify-{version.id}-0123456789abcdef"
    put_record(home, match_id, record_of(home, a_match_that_is_over(home, "best")))
    put_logs(home, match_id, {f"seat{seat}.log": b"told" for seat in range(5)})

    def ask(desk: RemoteLadder | Desk, beginning: str) -> object:
        if what == "log":
            return desk.ask(LogRequest(what=beginning))
        return (
            desk.ask(MatchRequest(match=beginning))
            if what == "match"
            else b"".join(desk.ask(RecordRequest(match=beginning)).pieces)
        )

    for author in ("", version.author, "new"):
        with desk_of(address, tokens.get(author, ""), author) as desk:
            for beginning in (match_id, "qualify-"):
                if author == version.author:
                    assert ask(desk, beginning)
                else:
                    assert refused(partial(ask, desk, beginning)) is NotFound
    assert ask(Desk(home), match_id)
    remove_record(home, match_id)


# --- tokens -------------------------------------------------------------------------------------------------


def test_a_token_is_shown_once_and_kept_as_a_hash(home: Home) -> None:
    with Authors(home.database, create=False) as authors:
        token = authors.add("keeper")
        assert authors.author_of(token) == "keeper"
        assert token.rpartition("_")[2] not in repr(authors.tokens())
    assert token.encode() not in b"".join(path.read_bytes() for path in home.folder.glob("ladder.db*"))


def test_a_token_that_is_not_quite_right_is_worth_nothing(home: Home, address: str, tokens: dict[str, str]) -> None:
    good = tokens["ann"]
    other = good[:-1] + ("a" if good[-1] != "a" else "b")
    cut, without_secret, another = good[:-1], good[:13], good.replace(good[4:12], "00000000")
    with Authors(home.database, create=False) as authors:
        assert authors.author_of(good) == "ann"
        for wrong in (other, cut, without_secret, another, "", "x", "x" * 5000, "%s%s%s';--", "\x01", "ä" * 50):
            with pytest.raises(Unauthenticated):
                authors.author_of(wrong)
    for wrong in (other, "x" * 5000):
        with desk_of(address, wrong) as desk:
            assert refused(lambda: desk.ask(InfoRequest())) is Unauthenticated


def test_a_token_ends_when_it_expires_or_is_revoked_and_another_replaces_it(home: Home, address: str) -> None:
    with Authors(home.database, create=False) as authors:
        first = authors.add("turner")
        second = authors.new_token("turner")
        assert authors.revoke(first[4:12]) == 1
        expired = authors.new_token("turner", days=-1)
    for token, good in ((first, False), (expired, False), (second, True)):
        with desk_of(address, token) as desk:
            if good:
                assert desk.ask(InfoRequest()).author == "turner"
            else:
                assert refused(lambda: desk.ask(InfoRequest())) is Unauthenticated
    with Authors(home.database, create=False) as authors:
        assert authors.revoke("turner") == 1
    with desk_of(address, second) as desk:
        assert refused(lambda: desk.ask(InfoRequest())) is Unauthenticated


def test_the_token_of_a_new_author_is_printed_as_json(dogana: Dogana, home: Home, address: str) -> None:
    made = json.loads(dogana("ladder", "author", "add", "jason", "--home", home.folder, "--json").stdout)
    assert made["author"] == "jason"
    with desk_of(address, made["token"]) as desk:
        assert desk.ask(InfoRequest()).author == "jason"


def test_an_author_is_added_logs_in_and_out(dogana: Dogana, home: Home, address: str, tmp_path: Path) -> None:
    token = dogana("ladder", "author", "add", "walker", "--home", home.folder).stdout.strip()
    (tmp_path / "token").write_text(token + "\n")
    said = dogana("login", address, "--token-file", "token").stdout
    assert "as walker" in said
    assert token not in said
    assert stat.S_IMODE(logins_file().stat().st_mode) == 0o600
    assert stat.S_IMODE(logins_file().parent.stat().st_mode) == 0o700
    (tmp_path / "walks.py").write_text(BOT)
    assert (
        "walks v1 by walker is in"
        in dogana("ladder", "submit", "walks.py", "--name", "walks", "--server", address).stdout
    )
    dogana("logout", address)
    said = dogana("ladder", "submit", "walks.py", "--name", "walks", "--server", address, status=1).stderr
    assert said == f"dogana: you are not logged in at {address}; log in first: dogana login {address}\n"
    assert "log in first" in dogana("ladder", "retire", "walks", "--server", address, status=1).stderr
    said = dogana("ladder", "show", "zzz", "--server", address, status=1).stderr
    assert said == f"dogana: there is no bot 'zzz'; see dogana ladder bots --server {address}\n"
    (tmp_path / "token").write_text("dgn_00000000_" + "x" * 32)
    said = dogana("login", address, "--token-file", "token", status=1).stderr
    assert "the token is unknown" in said
    assert said.endswith(f"; to log in: dogana login {address}\n")
    assert (
        "is an author walker already"
        in dogana("ladder", "author", "add", "Walker", "--home", home.folder, status=1).stderr
    )


# --- uploads ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("beginning", [".receiving-", TAKING_IN])
def test_what_a_killed_server_has_received_is_swept(tmp_path: Path, beginning: str) -> None:
    home = Home(tmp_path / "home")
    home.make()
    dead, living = (home.versions / f"{beginning}{pid}-x" for pid in (4194305, os.getpid()))
    for folder in (dead, living):
        (folder / "bot").mkdir(parents=True)
        (folder / "bot" / "part.zip").write_text("x")
        (folder / "bot").chmod(0o555)  # as it is just before it is a version
    sweep_uploads(home)
    assert not dead.exists()
    assert living.exists()


def test_a_folder_is_sent_as_it_is(home: Home, address: str, tokens: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "mybot"
    (folder / "data").mkdir(parents=True)
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "x.pyc").write_text("x")
    (folder / "bot.py").write_text(BOT)
    weights = random.Random(1).randbytes(1_000_000)  # which do not compress, so they come in several pieces
    (folder / "data" / "weights").write_bytes(weights)
    (folder / "data" / "run").write_text("#!/bin/sh\n")
    (folder / "data" / "run").chmod(0o755)
    with desk_of(address, tokens["new"], "new") as desk:
        answer = desk.submit(folder, "folder", "")
        with pytest.raises(LadderError, match="as new, not as ann"):
            desk.submit(folder, "folder", "ann")
        with pytest.raises(BadBot, match="there is no file"):
            desk.submit(tmp_path / "nothing", "folder", "")
    taken = home.versions / answer.content_hash
    assert (taken / "data" / "weights").read_bytes() == weights
    assert (taken / "data" / "run").stat().st_mode & 0o100
    assert not (taken / "__pycache__").exists()
    assert list(answer.run) == ["python", "bot.py"]


# --- what breaks on the machine of the ladder ----------------------------------------------------------------


def test_nobody_elsewhere_is_told_where_the_files_of_a_ladder_are(tmp_path: Path) -> None:
    home = played_ladder(tmp_path / "home", PLAYED)
    with Authors(home.database, create=False) as authors:
        token = authors.add("new")
    with Store(home.database, create=False) as store:
        match = store.schedule.match(a_match_that_is_over(home, "best"))
    assert match is not None
    (tmp_path / "bot.py").write_text(BOT)
    with (
        serving(home, Listen("127.0.0.1:0")) as port,
        serving_pages(home, Site(takes_bots=True)) as url,
        desk_of(url, token, "new") as desk,
    ):
        desk.submit(tmp_path / "bot.py", "first", "")
        damage(home, match.match_id)
        assert desk.ask(MatchRequest(match=match.match_id)).problem == "its record does not hold"
        home.key.unlink()
        (tmp_path / "bot.py").write_text(BOT * 2)
        with pytest.raises(LadderError, match="the ladder failed; its organiser finds the reason in its log"):
            desk.submit(tmp_path / "bot.py", "second", "")
        with (
            announced_match(home, match, f"unix:{tmp_path}/gone"),
            grpc.insecure_channel(f"127.0.0.1:{port}") as channel,
        ):
            with pytest.raises(grpc.RpcError) as caught:
                list(watched(channel)(b"", timeout=patient(60)))
            assert caught.value.details() == "the match was broken off"
        home.folder.rename(tmp_path / "elsewhere")
        with pytest.raises(LadderError, match="the ladder failed; its organiser finds the reason in its log"):
            desk.ask(InfoRequest())


# --- readers that do not read -------------------------------------------------------------------------------


@pytest.fixture
def flooding(home: Home, tmp_path: Path) -> Iterator[threading.Event]:
    """A match is announced whose referee shows more than any connection holds; what is set when it must wait for readers."""
    waits = threading.Event()

    async def flood(_: bytes, context: Any) -> None:
        while True:
            writing = asyncio.ensure_future(context.write(bytes(100_000)))
            if not (await asyncio.wait([writing], timeout=0.5))[0]:
                waits.set()
            await writing

    async def show(over: threading.Event, ready: threading.Event) -> None:
        server = grpc.aio.server()
        handlers: dict[str, Any] = {"Watch": grpc.unary_stream_rpc_method_handler(flood)}
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("dogana.v1.Referee", handlers),))
        server.add_insecure_port(f"unix:{tmp_path}/referee")
        await server.start()
        ready.set()
        await asyncio.to_thread(over.wait)
        await server.stop(None)

    over, ready = threading.Event(), threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(show(over, ready)))
    thread.start()
    ready.wait()
    with Store(home.database, create=False) as store:
        match = store.schedule.match(next(iter(store.history.matches(1))).match_id)
    assert match is not None
    try:
        with announced_match(home, match, f"unix:{tmp_path}/referee"):
            yield waits
    finally:
        over.set()
        thread.join()


def test_a_spectator_who_does_not_read_gives_the_place_to_another(home: Home, flooding: threading.Event) -> None:
    async def watch(address: str) -> None:
        """Watch, without reading on; then be another one, until there is a place."""
        async with grpc.aio.insecure_channel(address) as first, grpc.aio.insecure_channel(address) as second:
            idle = watched(first)(b"")
            await idle.read()
            seen: object = None
            while not isinstance(seen, bytes):
                with suppress(grpc.aio.AioRpcError):
                    seen = await watched(second)(b"").read()
            assert not idle.done()

    limits = Limits(calls=CallLimits(slow_seconds=0.2, watchers=1))
    with serving(home, Listen("127.0.0.1:0"), limits=limits) as port:
        asyncio.run(asyncio.wait_for(watch(f"127.0.0.1:{port}"), patient(60)))


def test_a_spectator_who_goes_is_no_fault_of_the_ladder(home: Home, flooding: threading.Event, noted: Noted) -> None:
    async def go(address: str) -> None:
        async with grpc.aio.insecure_channel(address) as channel:
            await watched(channel)(b"").read()
            await asyncio.to_thread(flooding.wait)

    metrics = Metrics(home)
    with serving(home, Listen("127.0.0.1:0"), metrics) as port:
        asyncio.run(go(f"127.0.0.1:{port}"))
    assert noted.events == []
    assert (
        metrics.registry.get_sample_value("dogana_ladder_calls_total", {"method": "watch", "status": "CANCELLED"}) == 1
    )


def test_silent_connections_do_not_use_up_the_files_of_the_ladder(home: Home) -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert limits[1] >= 1000
    resource.setrlimit(resource.RLIMIT_NOFILE, (128, limits[1]))  # a few: usual are 1024, and a run needs some itself
    silent: list[socket.socket] = []
    try:
        with serving(home, Listen("127.0.0.1:0")) as port:
            silent.extend(socket.create_connection(("127.0.0.1", port), 10) for _ in range(200))
            with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
                check_that_it_answers(channel)
    finally:
        for one in silent:
            one.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_bytes_that_are_no_message_are_refused(by_grpc: str) -> None:
    with grpc.insecure_channel(by_grpc) as channel:
        call: Any = channel.stream_stream("/dogana.v1.Ladder/Offer")
        with pytest.raises(grpc.RpcError):
            list(call(iter([b"\xff\xff\xff\xff"]), timeout=patient(60)))
        with pytest.raises(grpc.RpcError) as caught:
            list(watched(channel)(b"\xff\xff\xff\xff", timeout=patient(60)))
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT


def test_figures_tell_what_is_asked_and_how_the_ladder_stands(
    home: Home, tokens: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "bot.py").write_text(BOT)
    metrics = Metrics(home)
    with (
        serving(home, Listen("127.0.0.1:0"), metrics) as port,
        metrics.serving(Listen("127.0.0.1:0")) as figures,
        reading(metrics.count) as calls,
        serving_pages(home, Site(takes_bots=True), figures=CallFigures(calls)) as url,
        desk_of(url, tokens["new"], "new") as desk,
    ):
        desk.submit(tmp_path / "bot.py", "counted", "")
        desk.ask(TopRequest())
        refused(lambda: desk.ask(ShowRequest(bot="bset")))
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel, suppress(grpc.RpcError):
            next(watched(channel)(b""))  # no match is being played; this lasts as long as one
        seen: set[str] = set()
        while (
            'dogana_ladder_calls_total{method="watch",status="NOT_FOUND"} 1.0' not in seen
        ):  # a call is over a bit later
            with urllib.request.urlopen(f"http://127.0.0.1:{figures}/metrics", timeout=patient(60)) as answer:
                seen = set(answer.read().decode().splitlines())
        with pytest.raises(PortInUse, match="cannot show metrics at"), metrics.serving(Listen(f"127.0.0.1:{figures}")):
            pass
    assert {
        'dogana_ladder_calls_total{method="top",status="OK"} 1.0',
        'dogana_ladder_calls_total{method="show",status="NOT_FOUND"} 1.0',
        f"dogana_ladder_uploaded_bytes_total {len(BOT)}.0",
        'dogana_ladder_call_seconds_count{method="top"} 1.0',
        f"dogana_ladder_matches_total {PLAYED}.0",
        "dogana_ladder_playing_matches 0.0",
        "dogana_ladder_connected_bots 0.0",
    } <= seen
    assert not any(line.startswith('dogana_ladder_call_seconds_count{method="watch"}') for line in seen)


def test_a_port_in_use_is_reported(home: Home, by_grpc: str) -> None:
    with pytest.raises(PortInUse, match="no other program using it"), serving(home, Listen(by_grpc)):
        pass


# --- tokens in plain text --------------------------------------------------------------------------------------


NO_URLS = ["ladder.example:7800", "[2001:db8::1]:7800", "dns:///127.0.0.1:7800", "unix:/tmp/x", "", "ftp://x", "x"]
SOMEWHERE = [
    "http://192.0.2.1:7800",
    "http://[2001:db8::1]:7800",
    "http://ladder.example:8780",
    "http://localhost.evil.example",
    "http://127.0.0.1@evil.example/",
    "http://",
    "http://[",
]


@pytest.mark.parametrize("server", SOMEWHERE)
def test_a_token_leaves_the_machine_encrypted_or_not_at_all(server: str) -> None:
    secret = Login("ann", "secret")
    with pytest.raises(LadderError, match=r"is not encrypted.* encrypts, --insecure") as caught:
        remote_ladder(server, secret)
    assert "secret" not in str(caught.value)
    remote_ladder(server, Login()).__exit__()  # without a token there is nothing to hide
    remote_ladder(server, replace(secret, insecure=True)).__exit__()
    with pytest.raises(LadderError, match="is not encrypted"):
        replace(secret, authority="ca.pem").check_private(server)  # it would encrypt https alone


@pytest.mark.parametrize("content", [b"\x30\x82\xff", b"no certificate", b""], ids=["binary", "text", "empty"])
def test_a_certificate_that_is_no_pem_file_is_refused_in_a_line(dogana: Dogana, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "token").write_text("dgn_00000000_" + "a" * 32)
    (tmp_path / "ca").write_bytes(content)
    said = dogana("login", "https://127.0.0.1:9", "--ca", tmp_path / "ca", "--token-file", "token", status=1).stderr
    assert f"the certificate {tmp_path / 'ca'} is not a PEM file" in said
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize("server", NO_URLS)
def test_a_ladder_elsewhere_is_named_by_a_url(dogana: Dogana, server: str) -> None:
    for words in (
        ["login", server, "--token-file", "/dev/null"],
        ["ladder", "top", "--server", server],
        ["connect", "bot.py", "--name", "b", "--server", server or "x"],
    ):
        said = dogana(*words, status=1).stderr
        assert "is not a URL; name the ladder by the URL of its pages, such as https://ladder.example:8780" in said
        assert len(said.splitlines()) == 1


HERE = ["127.0.0.1:1", "127.9.9.9:1", "localhost:1", "[::1]:1"]


@pytest.mark.parametrize(
    "server", [*HERE, "http://127.0.0.1:1", "http://LOCALHOST", "http://[::1]:1/", "https://ladder.example"]
)
def test_a_token_may_stay_on_the_machine_as_it_is(server: str) -> None:
    Login("ann", "secret").check_private(server)


def test_every_command_that_shows_a_token_refuses_in_a_line_and_login_remembers_the_consent(
    dogana: Dogana, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = "http://ladder.example:8780"
    (tmp_path / "token").write_text("dgn_00000000_" + "a" * 32)
    (tmp_path / "bot.py").write_text(BOT)
    refused = dogana("login", server, "--token-file", "token", status=1).stderr
    logins_file().parent.mkdir(parents=True)
    logins_file().write_text(json.dumps({server: {"author": "ann", "token": "secret", "authority": None}}))
    said = [refused]
    for words in (["ladder", "top"], ["ladder", "submit", "bot.py", "--name", "b"], ["ladder", "log", "b"]):
        said.append(dogana(*words, "--server", server, status=1).stderr)
    said.append(dogana("connect", "bot.py", "--name", "b", "--server", server, status=1).stderr)
    monkeypatch.setenv("DOGANA_LADDER", server)
    said.append(dogana("ladder", "show", "b", status=1).stderr)
    for line in said:
        assert line.startswith(f"dogana: the connection to {server} is not encrypted"), line
        assert "--insecure" in line
        assert len(line.splitlines()) == 1
    remember(server, Login("ann", "secret", None, insecure=True))
    assert login_of(server).insecure
    login_of(server).check_private(server)


def test_no_token_goes_in_plain_text_to_another_machine_that_a_ladder_names(
    dogana: Dogana, home: Home, tokens: dict[str, str], tmp_path: Path
) -> None:
    """Such as through a tunnel, whose other end is encrypted, and not where bots at home connect."""
    (tmp_path / "bot.py").write_text(BOT)
    with serving_pages(home, Site(takes_bots=True, address="ladder.example:7800")) as url:
        remember(url, Login("ann", tokens["ann"]))
        said = dogana("connect", tmp_path / "bot.py", "--name", "b", "--server", url, status=1).stderr
    assert said.startswith("dogana: the connection to ladder.example:7800 is not encrypted")


def test_no_proxy_of_the_environment_is_shown_a_token(
    home: Home, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Authors(home.database, create=False) as authors:
        token = authors.add("behind-a-proxy")
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.getsockname()[1]}")
        monkeypatch.delenv("no_proxy", raising=False)
        with desk_of(address, token) as desk:
            assert desk.ask(InfoRequest()).author == "behind-a-proxy"
        proxy.settimeout(0)
        with pytest.raises(BlockingIOError):
            proxy.accept()


def test_a_login_belongs_to_a_url_with_or_without_a_slash_at_its_end(
    dogana: Dogana, home: Home, address: str, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text(dogana("ladder", "author", "add", "slash", "--home", home.folder).stdout)
    dogana("login", f"{address}/", "--token-file", "token")
    assert login_of(address).author == "slash"
    dogana("logout", address)
    assert not login_of(f"{address}/").author
