"""The pages of events: who is entered before and after the close, table and bracket while it is played, and afterwards."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from ladder.facts.announcing import announce
from ladder.facts.store import Store
from ladder.operation.home import Home
from ladder.questions import events
from ladder.questions.desk import Desk
from ladder.questions.events import EventRequest, EventsRequest
from ladder.questions.question import document
from referee.tournament.course import TournamentCourse
from referee.tournament.fixtures import Results
from referee.tournament.plan import Format, TournamentPlan
from referee.tournament.standings import FinalTable, final_table
from tests.ladder.announced import Clock, clock, closed, matches_of, play_out, terms
from tests.ladder.made import ladder, next_matches, play
from tests.web.conftest import browsing, soup

__all__ = ["clock"]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with ladder(tmp_path, 6) as made:
        for number in range(4):
            for match in next_matches(made, number):
                play(made, match, random.Random(number))
        yield made


@pytest.fixture
def client(store: Store, tmp_path: Path) -> Iterator[httpx.Client]:
    with browsing(Home(tmp_path), fresh_seconds=0.0) as made:
        yield made


def sections(client: httpx.Client, path: str) -> dict[str, str]:
    """The text below each heading of a page."""
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    return {str(head.text): head.find_parent("section").get_text(" ") for head in soup(answer).select("section h2")}  # type: ignore[union-attr]


def test_before_the_close_the_page_says_when_it_is_and_who_would_be_entered(
    store: Store, client: httpx.Client, clock: Clock
) -> None:
    announce(store, terms(top=2))
    page = soup(client.get("/events/final"))
    assert "It closes at 2126-12-18 18:00 UTC" in page.text
    assert page.select_one("main[data-refresh]") is not None
    found = sections(client, "/events/final")
    assert list(found) == ["Who would be entered now"]
    assert found["Who would be entered now"].count("of the standings") == 2
    assert "2 are before it" in found["Who would be entered now"]
    [row] = soup(client.get("/events")).select("tbody tr")
    assert [cell.text for cell in row.select("td")][1:] == ["round-robin", "2 of 2", "2126-12-18 18:00", "open"]
    would = Desk(Home(store.file.path.parent)).ask(EventRequest(event="final")).entrants[0]
    assert (
        f"v{would.version} would be entered if it closed now; v1: place 1"
        in soup(client.get(f"/bots/{would.bot}")).text
    )


def test_from_its_closing_time_on_an_event_is_closed_for_all_who_look(
    store: Store, client: httpx.Client, clock: Clock
) -> None:
    announce(store, terms(top=2))
    clock.pass_the_close()
    page = soup(client.get("/events/final"))
    assert "its entrants are frozen when a run or a server next looks" in page.text
    assert page.select_one("main[data-refresh]") is not None
    assert "Who would be entered now" in sections(client, "/events/final")
    [row] = soup(client.get("/events")).select("tbody tr")
    assert row.select("td")[-1].text == "closed"
    would = Desk(Home(store.file.path.parent)).ask(EventRequest(event="final")).entrants[0]
    assert f"(closed): v{would.version} would be entered; v1: place 1" in soup(client.get(f"/bots/{would.bot}")).text


def test_while_it_is_played_the_page_has_the_table_what_is_played_and_what_comes_next(
    store: Store, client: httpx.Client, clock: Clock, tmp_path: Path
) -> None:
    closed(store, clock, top=4)
    matches = matches_of(store)
    for _ in range(5):
        running = next(matches)
    playing = Home(tmp_path).playing
    playing.mkdir()
    (playing / running.match_id).write_text(json.dumps({"address": "", "started_at": "2126-12-18T18:01:00+00:00"}))
    found = sections(client, "/events/final")
    assert list(found) == ["Table", "Crosstable", "Being played", "Next matches", "Who is entered", "Results"]
    assert "After 4 of 24 matches" in found["Table"]
    assert soup(client.get("/events/final")).select_one(f"a[href$='matches/{running.match_id}/live']") is not None
    assert all(version.bot in found["Being played"] for version in running.seats)
    assert found["Next matches"].count("next") == 18
    assert "leads after 4 of 24 matches" in client.get("/events/final").text
    assert "No event is announced" not in client.get("/events").text
    [entrant, *_] = store.tournaments.entrants(store.tournaments.find("final"))
    assert "v1 is entered; v1: place 1 of the standings" in soup(client.get(f"/bots/{entrant.version.bot}")).text


def test_afterwards_it_stays_with_bracket_table_seed_and_all_matches(
    store: Store, client: httpx.Client, clock: Clock
) -> None:
    closed(store, clock, top=4, form=Format.KNOCKOUT)
    play_out(store)
    page = soup(client.get("/events/final"))
    found = sections(client, "/events/final")
    assert list(found) == ["Table", "Crosstable", "Bracket", "Who is entered", "Results"]
    assert "Final table" in found["Table"]
    assert page.select_one(".bracket svg") is not None
    assert str(store.tournaments.find("final").seed) in page.text
    assert page.select_one("main[data-refresh]") is None
    links = {str(link["href"]).rpartition("/")[2] for link in page.select("a[href*='matches/']")}
    assert links == {one.match_id for one in store.tournaments.scheduled(store.tournaments.find("final")).values()}


def test_commands_the_api_and_the_pages_have_one_answer(store: Store, client: httpx.Client, clock: Clock) -> None:
    closed(store, clock, top=4)
    play_out(store)
    desk = Desk(Home(store.file.path.parent))
    assert client.get("/api/v1/events/final").json() == document(desk.ask(EventRequest(event="final")))
    assert client.get("/api/v1/events").json() == document(desk.ask(EventsRequest()))
    answer = client.get("/api/v1/events/finale")
    assert (answer.status_code, "did you mean 'final'" in answer.text) == (404, True)
    assert client.get("/events/finale").status_code == 404


def test_a_table_is_computed_once_for_all_who_look_and_anew_after_a_result(
    store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed(store, clock, top=4)
    matches = matches_of(store)
    computed: list[int] = []

    def counting(plan: TournamentPlan, course: TournamentCourse, results: Results) -> FinalTable:
        computed.append(len(results))
        return final_table(plan, course, results)

    monkeypatch.setattr(events, "final_table", counting)
    desk = Desk(Home(store.file.path.parent))
    for _ in range(3):
        next(matches)
        played = [desk.ask(EventRequest(event="final")).played for _ in range(3)]
        assert played == [computed[-1]] * 3
    assert computed == [0, 1, 2]


def test_the_seed_is_in_no_answer_before_the_end(store: Store, client: httpx.Client, clock: Clock) -> None:
    one = closed(store, clock, top=4)
    list(zip(range(6), matches_of(store), strict=False))
    secrets = {str(store.tournaments.seed(one)), str(store.tournaments.plan(one).seed)}
    open_blocks = {str(row["seed"]) for row in store.file.rows("select seed from seeds")}
    for path in ("/events/final", "/events", "/api/v1/events/final", "/api/v1/events"):
        assert not [seed for seed in secrets | open_blocks if seed in client.get(path).text]
