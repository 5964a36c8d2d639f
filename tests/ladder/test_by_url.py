"""A ladder that is served with its pages: every command reaches it by one URL, encrypted."""

from __future__ import annotations

import re
import shlex
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from ladder.intake.authors import Authors
from ladder.operation.home import Home
from ladder.questions.bots import BotsRequest
from ladder.service.login import Login
from ladder.service.remote import RemoteLadder
from tests.commands.conftest import Dogana, dogana
from tests.ladder.test_connecting import SLOW, connected
from tests.ladder.test_serving import served
from tests.patience import patient, wait_until
from tests.referee.test_wire import certificate

pytestmark = pytest.mark.ladders

__all__ = ["dogana"]


def figures_of(journal: Path) -> str:
    [address] = re.findall(r" metrics address=(http://localhost:[0-9]+/metrics)", journal.read_text())
    return str(address)


def is_watched(dogana: Dogana, url: str) -> bool:
    """Watch a match by the command that is printed for it; tell whether we came before its end."""
    found = re.search(r"watch it: dogana (.*)", dogana("ladder", "playing", "--server", url).stdout)
    with suppress(AssertionError):  # the command has failed
        return found is not None and bool(dogana(*shlex.split(found[1])).stdout)
    return False


def test_bots_are_submitted_watched_and_offered_by_one_url(
    tmp_path: Path, dogana: Dogana, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    home = Home(tmp_path / "home")
    home.make()
    with Authors(home.database, create=True) as authors:
        token = authors.add("ann")
    (tmp_path / "bot.py").write_text(SLOW)
    (tmp_path / "token").write_text(token)
    _, _, authority = certificate(tmp_path)
    words = ["--listen", "localhost:0", "--tls-cert", str(authority), "--tls-key", str(tmp_path / "key.pem")]
    with served(home.folder, *words, "--web", "localhost:0", "--metrics", "localhost:0") as (_, url):
        journal = home.folder.with_name("journal")
        assert url.startswith("https://localhost:")
        untrusted = dogana("ladder", "top", "--server", url, status=1).stderr
        assert untrusted.startswith(f"dogana: no ladder answers at {url}")
        assert f"dogana login {url} --ca FILE" in untrusted
        plain = dogana("ladder", "top", "--server", url.replace("https:", "http:"), status=1).stderr
        assert "if it encrypts, its address begins with https://" in plain
        dogana("login", url, "--ca", authority, "--token-file", "token")
        said = dogana("ladder", "submit", "bot.py", "--name", "mybot", "--server", url).stdout
        assert "mybot v1 by ann is in" in said
        wait_until(lambda: is_watched(dogana, url))
        seen = set(httpx.get(figures_of(journal), timeout=patient(60)).text.splitlines())
        assert 'dogana_ladder_calls_total{method="submit",status="OK"} 1.0' in seen
        assert 'dogana_ladder_calls_total{method="info",status="OK"} 1.0' in seen
        with (
            connected(tmp_path, url, token, authority=str(authority)),
            RemoteLadder(url, Login("ann", token, str(authority))) as ladder,
        ):
            wait_until(lambda: ladder.ask(BotsRequest(called="remote")).bots)
