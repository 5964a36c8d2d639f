"""One whole use of each thing that Dogana can do, so that no run of `make test` leaves one out.

What goes wrong in each of them is tried elsewhere, in part by targets that take longer.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import httpx
import pytest
from house_bots.random_bot import RandomBot

from bench.kits import command, environment, make, missing
from ladder.http.requests.visit import Site
from ladder.intake.authors import Authors
from ladder.operation.home import Home
from ladder.service.login import Login
from ladder.service.remote import RemoteLadder
from referee.live.matches.play import Command, House
from referee.match.result import Outcome
from referee.pages.match import make_page
from referee.records.verify import verify
from referee.registry import find
from tests import matches
from tests.commands.conftest import ROOT, Dogana, dogana
from tests.ladder.test_serving import RANDOM, rated, served
from tests.pages.conftest import find_sparing
from tests.pages.test_page import silent
from tests.patience import patient
from tests.processes import wait_for_work
from tests.sandbox.conftest import needs_bubblewrap
from tests.tables import plan_of
from tests.web.at_the_table import sit_down
from tests.web.conftest import browsing, new_ladder

__all__ = ["dogana"]

KIT_FOR_GO = ROOT / "agents" / "kits" / "go"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def test_a_bot_is_sent_to_a_served_ladder_and_gets_a_rating_that_its_pages_show(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.make()
    with Authors(home.database, create=True) as authors:
        token = authors.add("ann")
    (tmp_path / "bot.py").write_text(RANDOM)
    with served(home.folder) as (process, address):
        with RemoteLadder(address, Login("ann", token)) as desk:
            assert desk.submit(tmp_path / "bot.py", "mybot", "").is_new
        wait_for_work(process, lambda: rated(address, "mybot") >= 1)
        page = httpx.get(f"{address}/games/cargo_noir", follow_redirects=True, timeout=patient(60))
        assert page.status_code == 200
        assert "mybot" in page.text


def test_a_person_plays_a_match_in_the_browser_and_its_record_holds(tmp_path: Path) -> None:
    with browsing(new_ladder(tmp_path / "home"), Site(has_tables=True)) as person:
        table = sit_down(person, "yunnan")
        table.play_out()
        record = tmp_path / "match.jsonl"
        record.write_bytes(person.get(f"{table.path}/record.jsonl").content)
    result = verify(record, find).result
    assert {seat.outcome for seat in result.seats} == {Outcome.PLAYED}


@pytest.mark.skipif(CHROMIUM is None, reason="no browser: apt-get install chromium")
def test_the_page_of_a_match_steps_through_it_in_a_browser(tmp_path: Path) -> None:
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="no playwright: .venv/bin/python -m pip install -e '.[pages]'"
    )
    record = tmp_path / "match.jsonl"
    plan = plan_of("yunnan", options={"turn_limit": 2})
    matches.play(plan, [House(RandomBot)] * 2, record=record)
    (tmp_path / "match.html").write_text(make_page(record, find_sparing, silent).html)
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, timeout=1000 * patient(60))
        page = browser.new_page()
        page.set_default_timeout(1000 * patient(60))
        wrong: list[str] = []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto((tmp_path / "match.html").as_uri())
        page.wait_for_selector("#player:not([hidden])")
        page.keyboard.press("ArrowRight")
        page.wait_for_function("document.querySelector('#slider').value === '1'")
        assert page.locator("svg").count() > 0
        browser.close()
    assert wrong == []


@needs_bubblewrap
def test_a_bot_plays_in_a_sandbox_and_does_not_see_what_is_outside(dogana: Dogana, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    secret = tmp_path / "secret"
    secret.write_text("x")
    bot = tmp_path / "bots" / "bot.py"
    bot.parent.mkdir()
    bot.write_text(f"import os\nassert not os.path.exists({str(secret)!r})\n{RANDOM}")
    dogana("ladder", "submit", bot, "--name", "mybot", "--author", "ann", "--home", "home")
    dogana("ladder", "run", "--home", "home", "--game", "cargo_noir", "--matches", 1, "--workers", 1)
    assert "mybot" in dogana("ladder", "top", "cargo_noir", "--home", "home").stdout


def go_has_modules() -> bool:
    """Whether all that the kit for Go is built of is on this machine, Go itself in its version included."""
    wanted = [
        "google.golang.org/grpc",
        "github.com/bufbuild/protocompile",
        "google.golang.org/protobuf/cmd/protoc-gen-go",
    ]
    listing = subprocess.run(["go", "list", "-deps", *wanted], cwd=KIT_FOR_GO, capture_output=True)  # noqa: S607
    return listing.returncode == 0


@pytest.mark.parametrize("language", ["python", "go"])
def test_a_kit_is_built_and_plays(language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if install := missing(language):
        pytest.skip(f"the kit for {language} cannot be built: {install}")
    monkeypatch.setenv("GOPROXY", "off")  # what is run every day downloads nothing
    if language == "go" and not go_has_modules():
        pytest.skip("the modules of the kit for go have not been downloaded: make kits")
    folder = tmp_path / "mybot"
    make(language, folder)
    kit = Command(command(folder), environment(), folder, patient(60))
    report = matches.play(plan_of("cargo_noir", clock="600+5/60"), [kit, House(RandomBot)])
    assert report.result.seats[0].outcome is Outcome.PLAYED, report.logs[0]


def test_a_tournament_decides_who_is_best(dogana: Dogana, tmp_path: Path) -> None:
    dogana("tournament", "new", "cup", "greedy", "random", "--game", "yunnan", "--blocks", "1")
    dogana("tournament", "run", "cup")
    assert "greedy" in dogana("tournament", "verify", "cup").stdout
    dogana("tournament", "page", "cup", "public")
    assert "greedy wins" in (tmp_path / "public" / "index.html").read_text()
