"""Commands that cannot do all of their work refuse before they do any of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ladder.facts.store import Store
from ladder.operation.home import Home
from tests.commands.conftest import Dogana
from tests.ladder.in_process import dogana

__all__ = ["dogana"]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    place = Home(tmp_path / "home")
    place.make()
    Store(place.database, create=True).close()
    return place


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--web", "nonsense"), "cannot listen on nonsense: an address is host:port"),
        (("--metrics", "nonsense"), "cannot listen on nonsense: an address is host:port"),
        (("--web", "127.0.0.1:0", "--public-url", "nonsense"), "--public-url nonsense: this is not the URL of a site"),
        (("--web", "127.0.0.1:0", "--host-name", "a/b"), "--host-name a/b: this is not a host name"),
        (("--web", "127.0.0.1:0", "--cors-origin", "nonsense"), "--cors-origin nonsense: no browser names a site like"),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, tuple) else None,
)
def test_all_addresses_are_read_before_anything_listens(
    dogana: Dogana, home: Home, words: tuple[str, ...], reason: str
) -> None:
    said = dogana("ladder", "serve", "--home", home.folder, "--listen", "127.0.0.1:0", "--unconfined", *words, status=1)
    [line] = said.stderr.splitlines()
    assert line.startswith(f"dogana: {reason}")


def test_a_run_of_a_ladder_that_is_served_says_nothing_else(dogana: Dogana, home: Home) -> None:
    with home.only_run():
        said = dogana(
            *("ladder", "run", "--home", home.folder, "--game", "cargo_noir", "--matches", 2, "--unconfined"), status=1
        )
    [line] = said.stderr.splitlines()
    assert line.startswith("dogana: another run is going on in")
