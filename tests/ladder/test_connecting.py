"""`dogana connect` and `dogana ladder serve` as processes: a bot at home qualifies and plays, whatever happens meanwhile."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import grpc
import pytest

from dogana.v1 import referee_pb2
from dogana.v1.referee_pb2_grpc import RefereeStub
from ladder.archive.recompute import compare
from ladder.facts.store import Store
from ladder.model.condition import agree
from ladder.model.match import AT_HOME_PREFIX
from ladder.operation.home import Home
from ladder.play.blocks import Blocks
from ladder.play.pool import Invitation
from ladder.play.qualifying import enter_house_bots
from ladder.play.running import RunPlan
from ladder.questions.bots import ShowRequest
from ladder.questions.matches import PlayingRequest
from ladder.service.login import Login
from ladder.service.remote import RemoteLadder
from referee.match.clock import TimeControl
from referee.match.result import Outcome
from referee.registry import find
from tests.commands.conftest import ROOT, Dogana, dogana
from tests.ladder.runs import run
from tests.ladder.test_serving import (
    RANDOM,
    SECONDS,
    door_of,
    rated,
    served,
    token,
    wait_until_free,
)
from tests.patience import wait_until
from tests.ports import kept_ports

pytestmark = pytest.mark.ladders

__all__ = ["dogana", "token"]

NOWHERE = "http://127.0.0.1:9"
SLOW = RANDOM.replace("def choose(decision):", "import time\ndef choose(decision):\n    time.sleep(0.02)")


@contextmanager
def connected(
    tmp_path: Path, address: str, token: str, *words: str, authority: str | None = None
) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """A bot that is offered by a process of its own; the process, and the file of what it says."""
    config = tmp_path / "config" / "dogana"
    config.mkdir(parents=True, exist_ok=True)
    login = {"author": "ann", "token": token, "authority": authority}
    (config / "logins.json").write_text(json.dumps({address: login}))
    said = tmp_path / "said"
    with (
        said.open("ab") as output,
        subprocess.Popen(
            [sys.executable, "-m", "ladder", "connect", str(tmp_path / "bot.py"), "--name", "remote", *words],
            env={
                **os.environ,
                "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",  # whose python has dogana
                "PYTHONPATH": str(ROOT),
                "XDG_CONFIG_HOME": str(tmp_path / "config"),
                "DOGANA_LADDER": address,
            },
            stderr=output,
            stdout=output,
            start_new_session=True,
        ) as process,
    ):
        try:
            yield process, said
        finally:
            process.kill()


@pytest.fixture
def addresses() -> Iterator[list[str]]:
    """The addresses of a ladder that is served again at the same ones."""
    with kept_ports(2) as (door, pages):
        yield ["--listen", f"127.0.0.1:{door}", "--web", f"127.0.0.1:{pages}"]


def test_a_bot_at_home_comes_to_a_rating_and_a_killed_server_loses_nothing(
    tmp_path: Path, token: str, dogana: Dogana, addresses: list[str]
) -> None:
    (tmp_path / "bot.py").write_text(RANDOM)
    home = Home(tmp_path / "home")
    logs = tmp_path / "logs"
    words = [*addresses, "--workers", "2"]
    with (
        served(home.folder, *words) as (server, address),
        connected(tmp_path, address, token, "--workers", "2", "--logs", str(logs)) as (client, said),
    ):
        wait_until(lambda: rated(address, "remote") >= 2)
        server.kill()
        server.wait()
        wait_until_free(address)
        with Store(home.database, create=False) as store:
            before = {match.match_id for match in store.history.all_played()}
        with served(home.folder, *words):
            wait_until(lambda: rated(address, "remote") >= len(before) + 2)
            client.send_signal(signal.SIGINT)
            assert client.wait(SECONDS) == 0, said.read_text()
            with RemoteLadder(address, Login("ann", token)) as desk:
                answer = desk.ask(ShowRequest(bot="remote"))
                assert [one.status for one in answer.versions[-1].standings] == ["not connected"]
                [fared] = answer.fared
                assert [said.key for said in fared.telemetry] == ["network_ms"]
                assert not desk.ask(PlayingRequest()).matches
    text = said.read_text()
    assert "is connected again" in text
    assert len(re.findall(r"place [1-5] of [2-5], score", text)) >= len(before)
    assert len(list(logs.iterdir())) >= len(before)
    assert {stat.S_IMODE(log.stat().st_mode) for log in logs.iterdir()} == {0o600}
    with Store(home.database, create=False) as store:
        after = [match.match_id for match in store.history.all_played()]
        assert len(after) == len(set(after))
        assert before < set(after)
        assert compare(home, store).differences.reported == []
    dogana("ladder", "audit-log", tmp_path / "log.jsonl", "--home", home.folder)
    dogana("verify-log", tmp_path / "log.jsonl", "--key", home.public_key)


def test_a_neighbour_who_asks_without_end_costs_a_bot_at_home_no_match(tmp_path: Path, token: str) -> None:
    """Both are at one address, as behind the router of a lecture hall, and the neighbour has no token."""
    (tmp_path / "bot.py").write_text(RANDOM)
    home = Home(tmp_path / "home")
    refused, over = threading.Event(), threading.Event()

    def flood(address: str) -> None:
        with grpc.insecure_channel(door_of(address)) as channel:
            while not over.is_set():
                call = RefereeStub(channel).Watch(referee_pb2.WatchRequest(match_id="none"))
                if call.code() is grpc.StatusCode.RESOURCE_EXHAUSTED:
                    refused.set()
                    time.sleep(0.01)

    with served(home.folder, "--at-home", "rated", "--wait", "60") as (_, address):
        flooding = threading.Thread(target=flood, args=[address])
        flooding.start()
        try:
            wait_until(refused.is_set)  # from now on the address has nothing left
            with connected(tmp_path, address, token) as (_, said):
                wait_until(lambda: rated_here(home, "remote") >= 4)
        finally:
            over.set()
            flooding.join()
    with Store(home.database, create=False) as store:
        outcomes = [
            seat.outcome
            for match in store.history.matches(100, versions=store.roster.find_versions("remote"))
            for seat in match.seats
            if seat.version.is_at_home
        ]
    assert set(outcomes) == {Outcome.PLAYED}, said.read_text()


def rated_here(home: Home, bot: str) -> int:
    """How many matches of a bot count, as the folder says."""
    with Store(home.database, create=False) as store:
        found = store.roster.versions_called(bot)
        return len(store.history.matches(100, versions=found)) if found else 0


def test_a_client_that_is_killed_loses_its_match_and_keeps_nobody_waiting(
    tmp_path: Path, token: str, dogana: Dogana
) -> None:
    (tmp_path / "bot.py").write_text(SLOW)
    home = Home(tmp_path / "home")
    with served(home.folder, "--clock", "2+0.1/1") as (_, address):
        with connected(tmp_path, address, token) as (client, _):
            wait_until(lambda: rated(address, "remote"))
            wait_until(lambda: playing(address))
            client.kill()
            client.wait()
        (tmp_path / "bot.py").write_text(RANDOM)
        with RemoteLadder(address, Login("ann", token)) as desk:
            desk.submit(tmp_path / "bot.py", "hosted", "")
            wait_until(lambda: rated(address, "hosted") >= 2)
            [fared] = desk.ask(ShowRequest(bot="remote")).fared
            assert set(fared.faults) <= {"disconnect", "start", "timeout"}
            assert fared.standing.out == 1


def playing(address: str) -> bool:
    """Whether the bot at home has thought in a match that is being played."""
    with RemoteLadder(address, Login()) as desk:
        found = any("remote v1" in match.bots for match in desk.ask(PlayingRequest()).matches)
    time.sleep(0.3)  # that it has joined
    return found


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["bot.py", "--server", NOWHERE], f"you are not logged in at {NOWHERE}; log in first: dogana login {NOWHERE}"),
        (["bot.py"], "name the ladder: --server URL"),
        (["nothing.py", "--server", NOWHERE], "there is no file or folder"),
    ],
)
def test_what_cannot_be_offered_is_reported_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dogana: Dogana, words: list[str], reason: str
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    if "nothing.py" in words:
        config = tmp_path / "config" / "dogana"
        config.mkdir(parents=True)
        (config / "logins.json").write_text(json.dumps({NOWHERE: {"author": "ann", "token": "t", "authority": None}}))
    (tmp_path / "bot.py").write_text(RANDOM)
    ended = dogana("connect", *words, "--name", "remote", status=1)
    assert reason in ended.stderr


def test_a_match_waits_for_a_bot_that_is_away_and_then_goes_on_without_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    control = TimeControl.parse("60+0.5/10")
    with Store(home.database, create=True) as store:
        condition = store.roster.condition("cargo_noir", {}, str(control))
        enter_house_bots(store, condition)
        version, _ = store.roster.add_version("remote", "ann", f"{AT_HOME_PREFIX}v1", [], ["cargo_noir"])
        store.admission.qualify(version.id, condition, passed=True, reason="")
        store.roster.connect(version.id, 1)
        matches = Blocks(store, condition, [2]).add(1)
        assert version in matches[0].seats
        plan = RunPlan([agree(find("cargo_noir"), {}, 2)], 1, 1, control, 1.0)

        def played(invite: Callable[[Invitation], None] | None) -> list[str]:
            said = [step.remark.text for step in run(home, store, replace(plan, invite=invite))]
            assert compare(home, store).differences.reported == []
            return said

        assert any("left until the ladder is served: 2 matches with bots at home" in text for text in played(None))
        assert len(store.schedule.unfinished(condition)) == 2
        plan = replace(plan, away_seconds=0.5)
        invitations: list[Invitation] = []
        played(invitations.append)
        assert store.schedule.unfinished(condition) == []
        assert {invitation.match.match_id for invitation in invitations} == {match.match_id for match in matches}
        assert store.results.tallies(condition)[version.id].faults == 2
