"""The page of a match, its replay and its record: how it was won, what may be seen when, and what strangers can do to it."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from ladder.archive.faults import Blame, Lead, LostDecision
from ladder.archive.retention import prune
from ladder.facts.schema import MAX_VOIDS
from ladder.facts.store import Store
from ladder.http.pictures.drawings import Drawing, Drawings, pages_folder
from ladder.http.rendering.sentence import sentence
from ladder.http.rendering.wording import clock_in_words
from ladder.http.requests.visit import Site
from ladder.operation.errors import TooMuch
from ladder.operation.home import Home
from ladder.operation.limits import Limits
from ladder.operation.meter import Allowance, Meter
from ladder.play.playing import announced
from ladder.questions.caller import ANYBODY
from ladder.questions.desk import Desk
from ladder.questions.match import MatchRequest, PointsRow, SeatAccount
from ladder.questions.matches import MatchesRequest
from ladder.questions.rows import MatchRow
from referee.pages.match import make_page
from referee.records.verify import verify
from referee.registry import find
from tests.ladder.archived import change_record, damage, record_file
from tests.ladder.real_ladder import FAULTY, LOUD, played_ladder
from tests.patience import wait_until
from tests.web.conftest import Browse, browsing, soup

PLAYED = 12
"""How many matches were played; those of the last block are not over."""


@pytest.fixture(scope="module")
def shared_home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A ladder with records, faults and hostile words that no test changes."""
    return played_ladder(tmp_path_factory.mktemp("shared") / "home", PLAYED)


@pytest.fixture(scope="module")
def client(shared_home: Home) -> Iterator[httpx.Client]:
    many = Limits(requests=Meter(Allowance("requests", 100_000, 1)))
    with browsing(shared_home, Site(url="https://ladder.example:8780"), limits=many) as asking:
        yield asking


def matches_of(home: Home, *, over: bool = True, out: bool = False) -> list[MatchRow]:
    """Matches that count, of blocks that are over, or not."""
    listed = Desk(home, ANYBODY).ask(MatchesRequest(limit=1000, out=out)).matches
    with Store(home.database, create=False) as store:
        return [match for match in listed if store.schedule.is_over(match.block) is over]


def replay_of(client: httpx.Client, match: str) -> httpx.Response:
    """The replay of a match, once it is drawn."""
    address = f"/matches/{match}/replay.html"
    return wait_until(lambda: answer if (answer := client.get(address)).status_code != 202 else None)


# --- the page -----------------------------------------------------------------------------------------------


def test_a_page_says_how_the_match_was_won_and_what_the_points_are_for(seen: httpx.Client, played: Home) -> None:
    found = matches_of(played)
    assert len({match.game for match in found}) == 2
    for match in found:
        answer = seen.get(f"/matches/{match.match}")
        assert len(answer.content) < 100_000
        page = soup(answer)
        [winner] = [seat for seat in match.seats if seat.rank == 1]
        said = page.select_one(".won")
        assert said is not None
        assert said.text.startswith(f"{winner.bot} v{winner.version} won with {winner.score} points, ")
        assert "took the lead for good" in said.text or "led from the beginning" in said.text
        points = page.select_one("section:has(> #points)")
        assert points is not None
        rows = [[int(cell.text) for cell in row.select("td")] for row in points.select("tbody tr")]
        by_place = [seat.score for seat in sorted(match.seats, key=lambda one: one.rank)]
        assert [sum(column) for column in zip(*rows[:-1], strict=True)] == rows[-1] == by_place


def test_a_page_has_the_times_and_the_limit_and_links_to_the_other_rotations(seen: httpx.Client, played: Home) -> None:
    first, *_ = matches_of(played)
    page = soup(seen.get(f"/matches/{first.match}"))
    assert "60 s, 0.5 s more for each decision, at most 10 s for one" in page.text
    others = [match.match for match in matches_of(played) if match.block == first.block and match.match != first.match]
    assert others
    for other in others:
        assert page.find("a", string=other) is not None


@pytest.mark.long
def test_a_page_says_why_each_rating_rose_or_fell(tmp_path: Path, browse: Browse) -> None:
    home, explained = played_ladder(tmp_path / "home", 24), 0
    client = browse(home)
    for match in matches_of(home):
        found = Desk(home, ANYBODY).ask(MatchRequest(match=match.match))
        text = soup(client.get(f"/matches/{match.match}")).get_text(" ", strip=True)
        for reason in found.reasons:
            assert f"beat {reason.beaten * 100:.0f} % of its rivals in" in text
            assert f"its rating and theirs had predicted {reason.expected * 100:.0f} %" in text
        assert ("had predicted" in text) == bool(found.reasons)
        assert ("this is the first rated block of " in text) == (not found.reasons)
        explained += len(found.reasons)
    assert explained


def test_a_fault_leads_to_its_rule_and_to_its_step(client: httpx.Client, shared_home: Home) -> None:
    found = [match for match in matches_of(shared_home) if any(seat.bot == FAULTY for seat in match.seats)]
    page = soup(client.get(f"/matches/{found[0].match}"))
    faults = page.select_one("section:has(> #faults)")
    assert faults is not None
    assert "crash" in faults.text
    assert faults.text.count("strike, illegal") == 2
    for link in faults.select("a.moment"):
        assert str(link["href"]).partition("#")[2].startswith("s=")
    assert "It could:" in faults.text


def test_what_strangers_wrote_is_shown_as_text_that_does_nothing(client: httpx.Client, shared_home: Home) -> None:
    found = [match for match in matches_of(shared_home) if any(seat.bot == FAULTY for seat in match.seats)]
    for page in (client.get(f"/matches/{found[0].match}"), replay_of(client, found[0].match)):
        assert page.status_code == 200
        assert not set(LOUD) & set(page.text) - set("[2J")


HOSTILE = "</title><script>alert(1)</script>\u202e\x1b[2J'\"&v1"


def test_names_and_reasons_of_strangers_are_escaped_everywhere_and_rules_are_linked_to(
    client: httpx.Client, shared_home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Desk(shared_home, ANYBODY).ask(MatchRequest(match=matches_of(shared_home)[0].match))
    whole.bots[0] = whole.seats[0].bot = HOSTILE
    whole.seats[0].outcome, whole.seats[0].detail = "illegal", HOSTILE
    whole.seats[0].breakdown.append(PointsRow(HOSTILE, 1))
    whole.blames = [Blame(seat=0, at=7, is_out=True, reason=HOSTILE, detail=HOSTILE, rule="C3.4")]
    whole.lost_decisions.append(LostDecision(0, 7, (HOSTILE,), (HOSTILE,), (HOSTILE,), fault=HOSTILE))
    whole.voids.append(HOSTILE)
    ask = Desk.ask
    monkeypatch.setattr(
        Desk, "ask", lambda self, request: whole if isinstance(request, MatchRequest) else ask(self, request)
    )
    answer = client.get(f"/matches/{whole.match}?hostile")
    assert answer.status_code == 200
    page = soup(answer)
    assert [str(tag["src"]) for tag in page.select("script")] == [
        str(tag["src"]) for tag in page.select("body > script[src*='static/match-']")
    ]
    assert "\u202e" not in answer.text
    assert "\x1b" not in answer.text
    assert page.text.count("<script>alert(1)</script>") > 8
    rule = page.find("a", string="C3.4")
    assert rule is not None
    place = str(httpx.URL(str(answer.url)).join(str(rule["href"])))
    assert place.endswith("/games/cargo_noir/rules#C3.4")
    assert soup(client.get(place)).find(id="C3.4") is not None


def test_the_commands_to_look_further_are_there_to_copy(client: httpx.Client, shared_home: Home) -> None:
    match = matches_of(shared_home)[0].match
    said = soup(client.get(f"/matches/{match}")).text
    for command in (
        f"dogana verify {match}.jsonl",
        f"dogana replay {match}.jsonl --html {match}.html",
        f"dogana ladder record {match} --server https://ladder.example:8780 --to {match}.jsonl.zst",
    ):
        assert command in said


def seats_of(
    *seats: tuple[str, int, int, str], lead: tuple[int, str] | None = None
) -> tuple[list[SeatAccount], Lead | None]:
    """A match by (bot, rank, score, outcome) of its seats."""
    accounts = [
        SeatAccount(seat=seat, bot=bot, rank=rank, score=score, outcome=outcome)
        for seat, (bot, rank, score, outcome) in enumerate(seats)
    ]
    return accounts, None if lead is None else Lead(seat=0, at=lead[0], round=lead[1], of=80)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (
            seats_of(("a", 1, 41, "played"), ("b", 2, 38, "played"), lead=(60, "round 5")),
            "a won with 41 points, 3 ahead of b; it took the lead for good at step 60 of 80, in round 5.",
        ),
        (
            seats_of(("b", 3, 1, "played"), ("a", 1, 9, "played"), ("c", 2, 8, "played"), lead=(0, "round 1")),
            "a won with 9 points, 1 ahead of c; it led from the beginning.",
        ),
        (
            seats_of(("a", 1, 9, "played"), ("b", 2, 9, "played"), lead=(80, "")),
            "a won with 9 points, level with b, where the tie-break of the rules decided;"
            " it took the lead for good with the last step.",
        ),
        (
            seats_of(("a", 1, 1, "played"), ("b", 2, 50, "crash")),
            "a won with 1 point, before b, which was put out with 50 points.",
        ),
        (
            seats_of(("a", 1, 9, "played"), ("b", 1, 9, "played"), ("c", 3, 2, "played")),
            "a and b share the first place with 9 points.",
        ),
        (seats_of(), ""),
    ],
    ids=["ahead", "from the beginning", "tie-break", "the other was out", "shared", "no result"],
)
def test_how_a_match_was_won_is_said_in_a_sentence(found: tuple[list[SeatAccount], Lead | None], said: str) -> None:
    assert sentence(*found) == said


def test_what_the_winner_has_most_points_for_is_said() -> None:
    seats, _ = seats_of(("a", 1, 9, "played"), ("b", 2, 3, "played"))
    for source, points in (("ships", 2), ("<villas>\x1b", 7)):
        seats[0].breakdown.append(PointsRow(source, points))
    assert sentence(seats) == "a won with 9 points, 6 ahead of b. 7 of its points are for <villas>\\x1b."
    del seats[0].breakdown[0]
    seats[0].breakdown[0].points = 9
    assert sentence(seats) == "a won with 9 points, 6 ahead of b."


def test_a_clock_is_described_in_words() -> None:
    assert clock_in_words("60+0/10") == "60 s, at most 10 s for one"


# --- the replay and the record ------------------------------------------------------------------------------


@pytest.mark.long
def test_a_viewer_is_drawn_beside_the_requests_and_is_the_one_that_the_command_writes(
    client: httpx.Client, shared_home: Home, tmp_path: Path
) -> None:
    match = matches_of(shared_home)[-1].match
    first = client.get(f"/matches/{match}/replay.html")
    assert first.status_code in (200, 202), "200 if another test has asked for it"
    answer = replay_of(client, match)
    assert answer.text == make_page(record_file(shared_home, match, tmp_path), find, lambda done, of: None).html
    frame = soup(client.get(f"/matches/{match}")).select_one("iframe")
    assert frame is not None
    assert str(frame["src"]).startswith(f"../matches/{match}/replay.html#embed&s=")
    again = client.get(f"/matches/{match}/replay.html", headers={"if-none-match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert "content-security-policy" not in again.headers, "a browser would take it over"


def test_a_viewer_that_is_being_drawn_says_how_far_it_is_and_asks_again(
    client: httpx.Client, shared_home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = Drawing(done=64, of=300, ahead=0)
    monkeypatch.setattr(Drawings, "ask", lambda self, record, who: waiting)
    place = f"/matches/{matches_of(shared_home)[0].match}/replay.html"
    page = soup(client.get(place))
    assert "64 of 300. Until then, this is how it ended" in page.text
    assert page.select_one("noscript meta[http-equiv=refresh]") is not None
    assert page.select_one("main[data-again]") is not None
    waiting.done, waiting.of, waiting.ahead = 0, 0, 2
    assert "are drawn after 2 others" in soup(client.get(place)).text
    with monkeypatch.context() as patch:
        patch.setattr(Drawings, "ask", too_many)
        assert soup(client.get(place)).select_one("main[data-again]") is not None, "its turn comes"
    waiting.problem = "the process that drew it was ended"
    failed = client.get(place)
    assert failed.status_code == 409
    assert soup(failed).select_one(".broken") is not None
    assert soup(failed).select_one("meta[http-equiv=refresh]") is None


def too_many(*_: object) -> Drawing:
    raise TooMuch("too many matches are to be drawn at the moment; come back in a minute")


def test_a_viewer_may_do_what_its_head_says_and_be_framed_by_our_pages_alone(
    client: httpx.Client, shared_home: Home
) -> None:
    answer = replay_of(client, matches_of(shared_home)[0].match)
    meta = soup(answer).select_one("meta[http-equiv=Content-Security-Policy]")
    assert meta is not None
    assert answer.headers["content-security-policy"] == f"{meta['content']}; frame-ancestors 'self'"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_record_is_downloaded_whole_and_holds(seen: httpx.Client, played: Home, tmp_path: Path) -> None:
    for match in matches_of(played):
        answer = seen.get(f"/matches/{match.match}/record.jsonl")
        assert answer.headers["content-disposition"] == f'attachment; filename="{match.match}.jsonl"'
        file = tmp_path / f"{match.match}.jsonl"
        file.write_bytes(answer.content)
        assert verify(file, find).result.digest == Desk(played).ask(MatchRequest(match=match.match)).digest


# --- what cannot be seen ------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", ["", "/replay.html", "/record.jsonl"])
def test_a_match_from_a_seed_that_is_still_played_can_be_seen_later(
    client: httpx.Client, shared_home: Home, part: str
) -> None:
    match = matches_of(shared_home, over=False)[0]
    answer = client.get(f"/matches/{match.match}{part}")
    assert answer.status_code == 403
    assert "can be seen when the other matches from its seed are over" in soup(answer).text
    assert str(match.seats[0].score) + " points" not in answer.text


def test_a_match_that_is_over_before_the_others_from_its_seed_has_its_result_and_the_way_on(
    client: httpx.Client, shared_home: Home
) -> None:
    over, other = matches_of(shared_home, over=False)[0], matches_of(shared_home)[0]
    with Store(shared_home.database, create=False) as store:
        running = store.schedule.match(other.match)
    assert running is not None
    with announced(shared_home, running, "unix:/nowhere"):
        page = soup(client.get(f"/matches/{over.match}"))
    table = page.select_one("main table")
    assert table is not None
    for seat in over.seats:
        assert f"{seat.rank}. " in table.text
        assert seat.bot in table.text
        assert f"({seat.score})" in table.text
    assert page.find("a", href=f"../matches/{running.match_id}/live") is not None
    assert page.select_one("noscript meta[http-equiv=refresh]") is not None


def test_a_match_that_is_being_played_leads_to_where_it_can_be_watched(client: httpx.Client, shared_home: Home) -> None:
    with Store(shared_home.database, create=False) as store:
        match = store.schedule.match(matches_of(shared_home, over=False)[0].match)
    assert match is not None
    with announced(shared_home, match, "unix:/nowhere"):
        page = soup(client.get(f"/matches/{match.match_id}"))
        assert page.find("a", string="look on", href=f"../matches/{match.match_id}/live") is not None
        listed = soup(client.get("/live"))
        assert listed.find("a", string="Look on", href=f"matches/{match.match_id}/live") is not None
        assert "/nowhere" not in listed.text


@pytest.mark.parametrize(
    "name",
    [
        "0000000000000000",
        "nothing",
        "..%2f..%2f..%2fetc%2fpasswd",
        "%2e%2e",
        "*",
        "%00",
        "%ff%fe",
        "x" * 2000,
        "%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        "ladder.db",
        "trial-1",
        "qualify-1-0",
        "%E2%80%AEevil",
    ],
)
@pytest.mark.parametrize("part", ["", "/replay.html", "/record.jsonl", "/live", "/events"])
def test_what_is_no_match_is_not_found_whatever_it_is_called(client: httpx.Client, name: str, part: str) -> None:
    answer = client.get(f"/matches/{name}{part}")
    expected = {"/live": (303, 404), "/events": (204, 404)}.get(part, (404,))
    assert answer.status_code in expected, answer.text
    assert "<script>alert" not in answer.text
    assert "\u202e" not in answer.text
    if answer.status_code == 303:
        assert httpx.URL(str(answer.url)).join(answer.headers["location"]).host == "127.0.0.1"


def test_a_beginning_that_several_matches_share_names_them(home: Home, browse: Browse) -> None:
    match = matches_of(home)[0].match
    with sqlite3.connect(home.database) as database:
        database.execute(
            "insert into matches (id, block, rotation) select ?, block, 99 from matches where id = ?",
            (match[:8] + "0" * (len(match) - 8), match),
        )
    answer = browse(home).get(f"/matches/{match[:8]}")
    assert answer.status_code == 400
    assert "give more of the id" in soup(answer).text


def test_a_record_that_does_not_hold_is_reported_in_red_and_not_shown_as_true(home: Home, browse: Browse) -> None:
    match = matches_of(home)[0]
    change_record(home, match.match, lambda lines: lines[5].update(saet=lines[5].pop("seat")))
    asking = browse(home)
    page = soup(asking.get(f"/matches/{match.match}"))
    notice = page.select_one(".notice.broken[role=alert]")
    assert notice is not None
    assert "The record of this match does not hold" in notice.text
    assert page.select_one("iframe") is None
    assert str(home.folder) not in page.text
    replay = replay_of(asking, match.match)
    assert soup(replay).select_one(".broken") is not None
    assert str(home.folder) not in replay.text


def test_a_record_that_does_not_hold_any_more_is_reported_though_the_ladder_has_not_changed(
    home: Home, browse: Browse
) -> None:
    match = matches_of(home)[0].match
    asking = browse(home, fresh_seconds=0.0)
    for address in (f"/matches/{match}", f"/matches/{match[:12]}", f"/api/v1/matches/{match}"):
        assert "does not hold" not in asking.get(address).text
    change_record(home, match, lambda lines: lines[5].update(saet=lines[5].pop("seat")))
    for address in (f"/matches/{match}", f"/matches/{match[:12]}", f"/api/v1/matches/{match}"):
        assert "does not hold" in asking.get(address).text


def test_a_record_that_is_no_record_at_all_is_reported(home: Home, browse: Browse) -> None:
    match = matches_of(home)[0]
    damage(home, match.match)
    asking = browse(home)
    assert soup(asking.get(f"/matches/{match.match}")).select_one(".notice.broken") is not None
    replay = replay_of(asking, match.match)
    assert replay.status_code == 404
    record = asking.get(f"/matches/{match.match}/record.jsonl")
    for answer in (replay, record):
        assert answer.status_code >= 400
        assert "damaged" in answer.text
        assert str(home.folder) not in answer.text


def test_a_record_that_was_pruned_is_missed_in_words(played: Home, tmp_path: Path, browse: Browse) -> None:
    home = Home(shutil.copytree(played.folder, tmp_path / "home"))
    match = matches_of(home)[0]
    with Store(home.database, create=False) as store:
        assert prune(home, store, "2999-01-01", None).records
    asking = browse(home)
    page = soup(asking.get(f"/matches/{match.match}"))
    assert "the record of this match was pruned on" in page.text
    assert page.select_one(".broken") is None
    assert page.select_one("iframe") is None
    assert page.select_one(".won") is not None
    assert "pruned" in soup(asking.get(f"/matches/{match.match}/record.jsonl")).text


def test_a_match_that_was_given_up_says_why(home: Home, browse: Browse) -> None:
    with Store(home.database, create=False) as store:
        ids = [str(row["match"]) for row in store.file.rows("select match from open_matches")]
        for match_id in ids:
            match = store.schedule.match(match_id)
            assert match is not None
            store.results.give_up(match, f"it failed {LOUD}")
    page = soup(browse(home).get(f"/matches/{ids[0]}"))
    assert "is given up: it was void too often" in page.text
    assert page.text.count("An attempt at it was void: it failed") == MAX_VOIDS


# --- what other sites show beside a link --------------------------------------------------------------------


def test_a_link_to_a_match_can_be_shown_with_who_won_and_the_last_picture(shared_home: Home, browse: Browse) -> None:
    pytest.importorskip("resvg_py", reason="no resvg: pip install 'dogana-arena[preview]'")
    match = matches_of(shared_home)[0].match
    asking = browse(shared_home, Site(public_url="https://ladder.example"))
    page = soup(asking.get(f"/matches/{match}"))
    said = {str(tag["property"]): str(tag["content"]) for tag in page.select("meta[property]")}
    won = page.select_one(".won")
    assert won is not None
    assert said["og:description"] == won.text
    assert said["og:image"] == f"https://ladder.example/matches/{match}/board.png"
    replay_of(asking, match)
    picture = asking.get(f"/matches/{match}/board.png")
    assert picture.headers["content-type"] == "image/png"
    assert picture.content[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(picture.content[16:20]) == 1200, "so wide as sites want it"


def test_an_address_that_a_stranger_says_is_ours_is_nowhere_on_a_page(browse: Browse, shared_home: Home) -> None:
    answer = browse(shared_home, Site(host_names=frozenset("*"))).get(
        f"/matches/{matches_of(shared_home)[0].match}", headers={"host": "evil.example"}
    )
    assert answer.status_code == 200
    assert "evil.example" not in answer.text
    assert "og:image" not in answer.text, "nobody has said where the pages are for the world"


def test_a_match_without_a_picture_has_none(home: Home, browse: Browse) -> None:
    match = matches_of(home)[0].match
    asking = browse(home, Site(public_url="https://ladder.example"))
    replay_of(asking, match)
    for picture in (pages_folder(home)).glob("*.png"):
        picture.unlink()
    answer = asking.get(f"/matches/{match}/board.png")
    assert answer.status_code == 404
    assert "there is no picture of this match" in answer.text
