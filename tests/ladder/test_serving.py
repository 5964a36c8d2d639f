"""`dogana ladder serve` as a process: what is sent qualifies and plays, whatever happens to the process meanwhile."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import grpc
import httpx
import pytest

from dogana.v1 import referee_pb2
from dogana.v1.referee_pb2_grpc import RefereeStub
from ladder.archive.recompute import compare
from ladder.facts.store import Store
from ladder.intake.authors import Authors
from ladder.operation.errors import LadderError
from ladder.operation.home import Home
from ladder.questions.bots import BotsRequest, ShowRequest
from ladder.questions.info import InfoRequest
from ladder.questions.matches import PlayingRequest
from ladder.service.login import Login
from ladder.service.remote import RemoteLadder
from tests.commands.conftest import ROOT, Dogana, dogana
from tests.patience import patient, wait_until

pytestmark = pytest.mark.ladders

__all__ = ["dogana"]

SECONDS = patient(120)
ON_FREE_PORTS = ("--listen", "127.0.0.1:0", "--web", "127.0.0.1:0")
PLAIN = ("--clock", "60+0.5/10", "--unconfined")
RANDOM = """
import random
from dogana.sdk import play
def choose(decision):
    print(f"dogana: actions={decision.action_count}", flush=True)
    return random.randrange(decision.action_count)
play(choose)
"""


def wait_until_free(url: str) -> None:
    """Wait until the pages of a ladder whose first process has ended have ended, too."""
    where = urlsplit(url)

    def is_free() -> bool:
        with contextlib.suppress(OSError), socket.create_server((str(where.hostname), where.port or 0)):
            return True
        return False

    wait_until(is_free)


@contextmanager
def served(home: Path, *words: str, journal: Path | None = None) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A ladder that is served by a process of its own; the process, and the URL. Its journal is beside the folder, or elsewhere."""
    command = [sys.executable, "-m", "ladder", "ladder", "serve", "--home", str(home)]
    journal = journal or journal_of(home)
    with (
        journal.open("wb") as errors,
        subprocess.Popen(
            [*command, *ON_FREE_PORTS, "--game", "cargo_noir", "--workers", "1", *PLAIN, *words],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stderr=errors,
            start_new_session=True,
        ) as process,
    ):
        try:
            while not (found := re.search(r"\bpages\b.*?(https?://[a-z0-9.]+:[1-9]\d*)", journal.read_text())):
                assert process.poll() is None, journal.read_text()
                time.sleep(0.05)
            yield process, found[1]
        finally:
            process.kill()


def door_of(url: str) -> str:
    """Where bots at home connect to a served ladder, and matches are watched."""
    with RemoteLadder(url, Login()) as ladder:
        return ladder.ask(InfoRequest()).address


def journal_of(home: Path) -> Path:
    return home.with_name("journal")


def rated(address: str, bot: str) -> int:
    try:
        with RemoteLadder(address, Login()) as desk:
            return sum(one.matches for one in desk.ask(ShowRequest(bot=bot)).versions[-1].standings)
    except LadderError:
        return 0


@pytest.fixture
def token(tmp_path: Path) -> str:
    home = Home(tmp_path / "home")
    home.make()
    with Authors(home.database, create=True) as authors:
        return authors.add("ann")


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL], ids=lambda end: end.name)
def test_a_stranger_comes_from_a_token_to_a_rating_and_a_restart_loses_nothing(
    tmp_path: Path, token: str, end: signal.Signals
) -> None:
    (tmp_path / "bot.py").write_text(RANDOM)
    home = Home(tmp_path / "home")
    with served(home.folder) as (process, address):
        with RemoteLadder(address, Login("ann", token)) as desk:
            assert desk.submit(tmp_path / "bot.py", "mybot", "").is_new
        wait_until(lambda: rated(address, "mybot") >= 2)
        for login, keys in ((Login("ann", token), ["actions"]), (Login(), [])):
            with RemoteLadder(address, login) as desk:
                [fared] = desk.ask(ShowRequest(bot="mybot")).fared
                assert [said.key for said in fared.telemetry] == keys
                assert all(said.mean > 1 and said.matches >= 2 for said in fared.telemetry)
        process.send_signal(end)
        process.wait(SECONDS)
        if end is signal.SIGTERM:
            assert process.returncode == 128 + signal.SIGTERM
    with Store(home.database, create=False) as store:
        before = {match.match_id for match in store.history.all_played()}
    with served(home.folder) as (_, address):
        wait_until(lambda: rated(address, "mybot") > len(before))
    with Store(home.database, create=False) as store:
        after = [match.match_id for match in store.history.all_played()]
        assert len(after) == len(set(after))
        assert before < set(after)
        assert compare(home, store).differences.reported == []


def test_it_waits_while_nobody_has_submitted_anything(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    with served(home.folder) as (process, address):
        assert f" info new_ladder home={home.folder}\n" in journal_of(home.folder).read_text()
        with RemoteLadder(address, Login()) as desk:
            wait_until(lambda: len(desk.ask(BotsRequest()).bots) >= 2)  # the house bots are entered
            assert desk.ask(InfoRequest()).matches == 0
        assert f"dogana login {address}\n" in httpx.get(f"{address}/enter", timeout=SECONDS).text
        assert process.poll() is None


def test_a_game_that_nobody_has_a_bot_for_keeps_no_other_waiting(tmp_path: Path, token: str) -> None:
    bot = tmp_path / "bot"
    bot.mkdir()
    (bot / "bot.py").write_text(RANDOM)
    (bot / "bot.toml").write_text('run = ["python", "bot.py"]\ngames = ["cargo_noir"]')
    with served(tmp_path / "home", "--game", "yunnan") as (_, address):
        with RemoteLadder(address, Login("ann", token)) as desk:
            desk.submit(bot, "mybot", "")
        wait_until(lambda: rated(address, "mybot"))


def test_its_journal_tells_all_that_has_happened_and_no_secret(tmp_path: Path, token: str, dogana: Dogana) -> None:
    """Every line can be read by a program. An organiser changes something beside the server, a bot fails to qualify."""
    (tmp_path / "bot.py").write_text(RANDOM)
    (tmp_path / "bad.py").write_text("print('\x1b[2J never joins')\n")
    journal = journal_of(tmp_path / "home")
    with served(tmp_path / "home", "--log-format", "json") as (process, address):
        with RemoteLadder(address, Login("ann", token)) as desk:
            desk.submit(tmp_path / "bot.py", "mybot", "")
            desk.submit(tmp_path / "bad.py", "bad", "")
        wait_until(lambda: "not_qualified" in journal.read_text() and "match_ended" in journal.read_text())
        other = dogana("ladder", "author", "add", "bob", "--home", tmp_path / "home").stdout.strip()
        wait_until(lambda: "author add" in journal.read_text())
        process.send_signal(signal.SIGTERM)
        process.wait(SECONDS)
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    events: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        assert line["time"].endswith("Z")
        events.setdefault(line["event"], []).append(line)
    assert [line["event"] for line in lines[:3]] == ["start", "sandbox", "listening"]
    assert lines[-1]["event"] == "stop"
    assert lines[-1]["reason"] == "SIGTERM"
    assert {one["about"]: one["author"] for one in events["change"]} == {
        "mybot v1": "ann",
        "bad v1": "ann",
        "bob": "organiser",
    }
    assert [one["bot"] for one in events["qualified"]] == ["mybot v1"]
    [failed] = events["not_qualified"]
    assert (failed["bot"], failed["author"]) == ("bad v1", "ann")
    assert failed["reason"]
    ended = events["match_ended"][0]
    assert ended["match"] in [one["match"] for one in events["match_begun"]]
    assert "mybot v1" in ended["bots"]
    assert ended["seconds"] > 0
    for secret in (token, other):
        assert secret.rpartition("_")[2] not in journal.read_text()


def test_a_home_has_one_server_and_no_run_beside_it(tmp_path: Path, token: str, dogana: Dogana) -> None:
    home = tmp_path / "home"
    with served(home, "--web", "0.0.0.0:0"):
        journal = journal_of(home).read_text()
        assert " unencrypted " in journal  # tokens go there
        assert "new_ladder" not in journal
        for words in (
            ["serve", *ON_FREE_PORTS, "--unconfined"],
            ["run", "--game", "yunnan", "--matches", 1],
        ):
            said = dogana("ladder", *words, "--home", home, status=1).stderr
            assert "another run is going on" in said
            assert "or it is served" in said
            assert "listening" not in said


SLOW = "import time\nfrom dogana.sdk import play\nplay(lambda decision: time.sleep(0.1) or 0)\n"


def test_a_match_that_is_being_played_is_watched_through_the_server(tmp_path: Path, token: str, dogana: Dogana) -> None:
    (tmp_path / "bot.py").write_text(SLOW)
    home = tmp_path / "home"
    with served(home) as (_, address), RemoteLadder(address, Login("ann", token)) as desk:
        with grpc.insecure_channel(door_of(address)) as channel:
            stub = RefereeStub(channel)
            with pytest.raises(grpc.RpcError) as caught:
                next(stub.Watch(referee_pb2.WatchRequest(match_id="../ladder.db")))
            assert caught.value.code() is grpc.StatusCode.NOT_FOUND
            desk.submit(tmp_path / "bot.py", "mybot", "")
            seen: list[referee_pb2.Happened] = []

            def watch_one() -> bool:
                """Watch a match to its end, unless it is over before we come."""
                for match in desk.ask(PlayingRequest()).matches:
                    assert match.address == door_of(address)
                    with contextlib.suppress(grpc.RpcError):
                        seen.extend(stub.Watch(referee_pb2.WatchRequest(match_id=match.match)))
                        return seen[0].match_id == match.match
                return False

            wait_until(watch_one)
            where = {("--server", address): f"dogana watch {door_of(address)} ", ("--home", home): "dogana watch unix:"}
            for words, said in where.items():
                wait_until(lambda: said in dogana("ladder", "playing", *words).stdout)  # noqa: B023 it is called at once
        assert seen[-1].HasField("game_over")
        assert seen[-1].game_over.seed == ""  # others are played from it
