"""The page of a bot: its versions, how one of them has fared, and what only its author sees."""

from __future__ import annotations

import json
import shlex
import shutil

import pytest

from ladder.archive.archive import USAGE
from ladder.facts.store import Store
from ladder.http.requests.visit import Site
from ladder.operation.errors import NotFound
from ladder.operation.home import Home
from ladder.questions.bots import Performance, ShowRequest
from ladder.questions.caller import ANYBODY, Caller
from ladder.questions.desk import Desk
from ladder.questions.matches import MatchesRequest
from referee.live.seats.telemetry import KeyValues
from tests.ladder.archived import put_logs
from tests.ladder.made import GAME
from tests.ladder.real_ladder import FAULTY
from tests.web.hostile_ladder import MARKUP, check_markup, page, rows, table_of, text_of

BOT = "/bots/{bot}"


@pytest.fixture(scope="module")
def home(hostile: Home, tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A ladder that no test changes."""
    home = Home(shutil.copytree(hostile.folder, tmp_path_factory.mktemp("hostile") / "home"))
    with Store(home.database, create=False) as store:
        [match_id, seat] = store.history.last_seats(
            store.roster.find_versions("best")[0], next(iter(store.roster.conditions().values())), 1
        )[0]
        store.results.note_telemetry(match_id, {seat: {MARKUP: KeyValues(4, 1000.0)}})
    return home


def fared(home: Home, bot: str) -> Performance:
    return Desk(home, ANYBODY).ask(ShowRequest(bot=bot)).fared[0]


def test_a_bot_has_its_versions_with_their_status(home: Home) -> None:
    document = page(home, BOT, bot="best")
    versions = table_of(document, "Versions")
    links = [text_of(link) for link in versions.select("th a")]
    assert links == ["v2", "v1"]
    assert "waits to qualify" in text_of(versions)
    assert [text_of(link) for link in versions.select("a[aria-current=page]")] == ["v1"]  # the newest that has played


def test_its_results_are_those_of_the_desk(home: Home) -> None:
    document = page(home, BOT, bot="best")
    answer = fared(home, "best v1")
    assert rows(table_of(document, "By opponent")) == [
        {
            "Against": f"{one.bot} v{one.version}",
            "Matches": str(one.matches),
            "Ahead": str(one.ahead),
            "Level": str(one.tied),
            "Behind": str(one.behind),
        }
        for one in answer.met
    ]
    assert [
        (row["Seat"], row["Matches"], row["First"], row["Mean place"]) for row in rows(table_of(document, "By seat"))
    ] == [
        (f"{one.seat} of {one.seats}", str(one.matches), str(one.wins), f"{one.mean_rank:.1f}") for one in answer.seats
    ]
    facts = document.select_one("dl.facts")
    assert facts is not None
    assert answer.thinking is not None
    assert answer.thinking.most_in[:8] in facts.text


def test_its_curve_says_in_words_what_it_shows_and_marks_each_version(hostile_copy: Home) -> None:
    home = hostile_copy
    with Store(home.database, create=False) as store:
        condition = next(iter(store.roster.conditions().values()))
        newer = store.roster.find_versions("best")[-1]
        with store.writing():
            store.file.write(
                "insert into block_ratings (version, condition, block, mu, sigma) values (?, ?, 9, 20, 3)",
                [newer.id, condition.id],
            )
    document = page(home, BOT, bot="best")
    drawing = document.select_one("svg.curve")
    assert drawing is not None
    history = fared(home, "best v1").history
    assert len(drawing.select(".band")) == len(drawing.select(".mark")) >= 2
    assert {"v1", "v2"} <= {text.text for text in drawing.select("text")}
    assert drawing.title is not None
    assert f"block {history[0].block}" in drawing.title.text
    blocks = rows(table_of(document, "Live rating after"))
    assert [row["Block"] for row in blocks] == [str(one.block) for one in reversed(history)][:20]


def test_faults_are_listed_with_reasons_and_lead_to_their_matches(home: Home) -> None:
    document = page(home, BOT, bot=FAULTY)
    check_markup(document)
    table = table_of(document, "The last matches that version 1 lost by a fault")
    outs = Desk(home, ANYBODY).ask(MatchesRequest(bot=FAULTY, out=True, limit=10)).matches
    assert [str(link["href"]) for link in table.select("a")] == [f"../matches/{match.match}" for match in outs]
    assert all(row["Fault"] == "crash" for row in rows(table))
    assert all(row["Reason"] == "=crashed \\x1b[2J\\u202e" for row in rows(table))


def test_last_matches_have_places_opponents_and_the_change_in_their_block(home: Home) -> None:
    on_page = rows(table_of(page(home, BOT, bot="best"), "The last matches of version 1, newest"))
    matches = Desk(home, ANYBODY).ask(MatchesRequest(bot="best v1", limit=15)).matches
    assert [row["Match"] for row in on_page] == [match.match[:8] for match in matches]
    for row, match in zip(on_page, matches, strict=True):
        [own] = [seat for seat in match.seats if seat.bot == "best"]
        assert row["Place"].startswith(f"{own.rank} of {len(match.seats)}")
        assert all(f"{seat.rank}. {seat.bot} v" in row["Against"] for seat in match.seats if seat is not own)
        assert row["Δ"] == (f"{own.block_change:+.2f}" if own.block_change is not None else "")


def test_an_older_version_can_be_looked_at_and_one_that_has_not_played_says_so(home: Home) -> None:
    newest = page(home, BOT, {"version": "2"}, bot="best")
    assert "Version 2 has no matches that count yet" in newest.text
    older = page(home, BOT, {"version": "1"}, bot="best")
    assert "Below is version 1; the newest is 2" in text_of(older)
    assert older.select_one("svg.curve") is not None
    with pytest.raises(NotFound, match="did you mean 'best"):
        page(home, BOT, {"version": "3"}, bot="best")


@pytest.mark.long
def test_the_last_of_many_versions_are_listed_and_the_others_counted(hostile_copy: Home) -> None:
    home = hostile_copy
    with Store(home.database, create=False) as store:
        for number in range(60):
            store.roster.add_version("best", "eve", f"hash {number}", ["./bot"], [GAME.name])
    document = page(home, BOT, bot="best")
    links = [text_of(link) for link in table_of(document, "Versions").select("th a")]
    assert links == [f"v{number}" for number in range(62, 42, -1)]
    assert "It has 42 older versions" in text_of(document)
    assert len(str(document).encode()) < 100_000


def test_what_is_private_is_shown_to_its_author_alone(home: Home) -> None:
    site = Site(url="https://ladder.example:8780")
    own = page(home, BOT, {"version": "1"}, caller=Caller("eve"), site=site, bot="best")
    check_markup(own)
    assert MARKUP in text_of(table_of(own, "What it said"))
    commands = own.select_one("#yours pre")
    assert commands is not None
    words = [shlex.split(line) for line in commands.text.splitlines()]
    assert [line[:3] for line in words] == [
        ["dogana", "ladder", "record"],
        ["dogana", "replay", words[0][5]],
        ["dogana", "ladder", "log"],
    ]
    logs = [str(link["href"]) for link in own.select("#yours a[href*=log]")]
    last = Desk(home, ANYBODY).ask(MatchesRequest(bot="best v1", limit=15)).matches
    seats = [next(seat.seat for seat in match.seats if seat.bot == "best") for match in last]
    assert logs == [f"../me/log?what={match.match}&seat={seat}" for match, seat in zip(last, seats, strict=True)]
    lost = Desk(home, ANYBODY).ask(MatchesRequest(bot="best v1", lost=True, limit=1)).matches[0]
    [seat] = [seat.seat for seat in lost.seats if seat.bot == "best"]
    assert words[0][3] == lost.match
    assert words[1][4] == str(seat)
    assert words[0][-2:] == ["--server", "https://ladder.example:8780"]
    for caller in (ANYBODY, Caller("dan")):
        document = page(home, BOT, {"version": "1"}, caller=caller, site=site, bot="best")
        assert document.select_one("#yours") is None
        assert not [table for table in document.select("caption") if "What it said" in table.text]


def test_what_it_used_is_on_its_page(hostile_copy: Home) -> None:
    home = hostile_copy
    assert "MiB" not in page(home, BOT, bot="good").text
    with Store(home.database, create=False) as store:
        condition = next(iter(store.roster.conditions().values()))
        [(match_id, seat)] = store.history.last_seats(store.roster.find_versions("good")[0], condition, 1)
    usage = {"memory_peak": 48 * 1024**2, "memory_kills": 0, "tasks_peak": 1, "cpu_seconds": 2.5}
    put_logs(home, match_id, {USAGE: json.dumps({str(seat): usage}).encode()})
    facts = page(home, BOT, bot="good").select_one("dl.facts")
    assert facts is not None
    assert f"at most 48 MiB, in match {match_id[:8]}" in text_of(facts)


def test_in_files_nothing_is_asked_of_the_page(home: Home) -> None:
    document = page(home, BOT, site=Site(is_static=True, matches=frozenset()), bot="best")
    check_markup(document)
    assert not document.select("form")
    assert not [link for link in document.select("a") if "?" in str(link["href"]) or "matches" in str(link["href"])]
