"""Standings: they say what the desk says, in an order and a part that was asked for, and how sure it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ladder.facts.store import Store
from ladder.http.pages import standings as module
from ladder.http.rendering import wording
from ladder.http.requests.visit import BadQuestion, NoPage, Site
from ladder.operation.home import Home
from ladder.questions.caller import ANYBODY
from ladder.questions.desk import Desk
from ladder.questions.in_words import open_places, strength
from ladder.questions.rows import StandingRow
from ladder.questions.standings import TopRequest
from referee.registry import UnknownGame
from tests.ladder.filled import filled
from tests.ladder.made import CONDITION, GAME, OTHER
from tests.web.hostile_ladder import MARKUP, check_markup, page, rows, table_of, text_of

STANDINGS = "/games/{game}"
UNDER = "/games/{game}/under/{slug}"


@pytest.fixture(scope="module")
def home(hostile: Home) -> Home:
    return hostile


def listed(home: Home, **query: str) -> list[dict[str, str]]:
    return rows(table_of(page(home, STANDINGS, query, game=GAME.name), "Standings"))


def answer_of_desk(home: Home, number: int = 0) -> list[StandingRow]:
    return list(Desk(home, ANYBODY).ask(TopRequest(game=GAME.name)).tables[number].versions)


def test_standings_say_what_the_desk_says(home: Home) -> None:
    on_page = listed(home)
    answer = answer_of_desk(home)
    assert len(on_page) == len(answer) > 6
    for row, one in zip(on_page, answer, strict=True):
        assert row["Place"] == open_places(one)
        assert row["Bot"].startswith(f"{one.bot} v{one.version}")
        assert (row["Matches"], row["Different"], row["Out"]) == tuple(map(str, (one.matches, one.different, one.out)))
        if one.rating is not None:
            assert row["Strength"] == strength(one)
            assert row["Live rating"] == f"{one.rating.mu:.1f} ± {2 * one.rating.sigma:.1f}"
            assert row["First"] == f"{100 * one.wins / one.matches:.0f} %"
    by_bot = {one.bot: row["Status"] for row, one in zip(on_page, answer, strict=True)}
    assert by_bot["faulty"] == "suspended: out in its last 5 matches"
    assert by_bot["untried"] == "waits to qualify"


def test_all_bars_of_a_table_are_on_one_axis_and_say_in_words_what_they_show(home: Home) -> None:
    drawn = page(home, STANDINGS, game=GAME.name).select("tbody svg.bar")
    rated = [one.strength_range for one in answer_of_desk(home) if one.strength_range is not None]
    assert len(drawn) == len(rated)
    middles = []
    for bar, one in zip(drawn, rated, strict=True):
        assert bar["aria-label"] == f"{one.low:.1f} to {one.high:.1f}"
        line = bar.select_one(".line")
        assert line is not None
        middles.append(float(re.findall(r"M([0-9.]+) ", str(line["d"]))[0]))
        band = bar.select_one(".band")
        assert band is not None
        left, span = map(float, re.findall(r"M([0-9.]+) 2h([0-9.]+)v", str(band["d"]))[0])
        assert left + span / 2 == pytest.approx(middles[-1], abs=0.2)
    order = sorted(range(len(rated)), key=lambda place: rated[place].strength)
    assert [middles[place] for place in order] == sorted(middles)


@pytest.mark.parametrize(
    ("share", "words"), [(0, "0"), (0.004, "under 1"), (0.5, "50"), (0.994, "over 99"), (0.99, "99"), (1, "100")]
)
def test_what_is_nearly_certain_is_not_called_certain(share: float, words: str) -> None:
    assert wording.percent(share) == f"{words}\N{NO-BREAK SPACE}%"


def lead_on_page(home: Home, monkeypatch: pytest.MonkeyPatch, standings: list[StandingRow]) -> str:
    monkeypatch.setattr(module, "lead_of", lambda _: wording.lead_of(standings))
    lead = page(home, STANDINGS, game=GAME.name).select_one(".lead")
    assert lead is not None
    return text_of(lead)


def placed(bot: str, place: int, best: int, worst: int) -> StandingRow:
    return filled(StandingRow, bot=bot, version=1, place=place, best=best, worst=worst)


def test_a_lead_that_is_not_sure_names_who_could_also_be_first(home: Home) -> None:
    document = page(home, STANDINGS, game=GAME.name)
    lead = document.select_one(".lead")
    assert lead is not None
    first, *others = answer_of_desk(home)
    assert first.worst is not None
    assert first.worst > 1
    assert text_of(lead).startswith(
        f"{first.bot} v1 stands first, but that is not certain yet: its place may be any from 1 to {first.worst}."
    )
    rivals = [other for other in others if other.best == 1]
    assert len(rivals) > 3
    assert f" {rivals[0].bot} v1, {rivals[1].bot} v1, {rivals[2].bot} v1 and " in text_of(lead)


def test_a_lead_is_sure_if_no_other_place_is_open(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    lead = lead_on_page(home, monkeypatch, [placed("a", 1, 1, 1), placed("b", 2, 2, 3), placed("c", 3, 2, 3)])
    assert lead == "a v1 leads, and that is certain: its matches leave it no other place."


def test_many_who_could_be_first_are_counted(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    lead = lead_on_page(home, monkeypatch, [placed(bot, place, 1, 6) for place, bot in enumerate("abcdef", 1)])
    assert lead == (
        "a v1 stands first, but that is not certain yet: its place may be any from 1 to 6. b v1, c v1, d v1 and 2 others could also be first."
    )
    two = lead_on_page(home, monkeypatch, [placed(bot, place, 1, 3) for place, bot in enumerate("abc", 1)])
    assert two.endswith(" b v1 and c v1 could also be first.")


def test_who_is_alone_leads_and_without_anybody_nobody_does(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = [placed("a", 1, 1, 1), filled(StandingRow, bot="new")]
    assert lead_on_page(home, monkeypatch, alone) == "a v1 leads; nobody else is rated yet."
    assert lead_on_page(home, monkeypatch, alone[1:]) == "Nobody is rated yet."


@pytest.mark.parametrize(
    ("value", "digits", "words"), [(7.84, 1, "+7.8"), (-0.36, 1, "-0.4"), (-0.04, 1, "0.0"), (0.004, 2, "0.00")]
)
def test_a_change_that_rounds_to_nothing_has_no_sign(value: float, digits: int, words: str) -> None:
    assert wording.change(value, digits) == words


@pytest.mark.parametrize(
    ("sort", "key"),
    [
        ("place", lambda one: one.place if one.place is not None else 1e9),
        ("strength", lambda one: -one.strength if one.strength is not None else 1e9),
        ("live", lambda one: -one.mu if one.mu is not None else 1e9),
        ("bot", lambda one: one.bot.casefold()),
        ("author", lambda one: one.author.casefold()),
        ("matches", lambda one: -one.matches),
        ("out", lambda one: -one.out),
        ("first", lambda one: -(one.wins / one.matches if one.matches else 0)),
    ],
)
def test_standings_are_sorted_as_asked_for_and_keep_their_places(home: Home, sort: str, key: object) -> None:
    answer = answer_of_desk(home)
    document = page(home, STANDINGS, {"sort": sort}, game=GAME.name)
    by_name = {f"{one.bot} v{one.version}": one for one in answer}
    order = [by_name[row["Bot"].removesuffix(" new")] for row in rows(table_of(document, "Standings"))]
    keys = list(map(key, order))  # type: ignore[call-overload]
    assert keys == sorted(keys)
    assert len(order) == len(answer)
    [sorted_by] = document.select("th[aria-sort]")
    link = sorted_by.select_one("a[rel=nofollow]")
    assert link is not None
    assert f"sort={sort}" in str(link["href"])


@pytest.mark.parametrize(
    ("query", "bots"),
    [
        ({"q": "EVE"}, ["best"]),
        ({"q": "goo"}, ["good"]),
        ({"q": "' or 1=1 --"}, []),
        ({"q": "%"}, []),
        ({"q": MARKUP[:4]}, [MARKUP]),
        ({"status": "stopped"}, ["faulty"]),
        ({"status": "waiting"}, ["best", "untried"]),
        ({"status": "waiting", "q": "fay"}, ["untried"]),
    ],
    ids=str,
)
def test_a_part_is_found_by_plain_text_and_status(home: Home, query: dict[str, str], bots: list[str]) -> None:
    document = page(home, STANDINGS, query, game=GAME.name)
    check_markup(document)
    names = {row["Bot"].partition(" v")[0] for row in rows(table_of(document, "Standings"))}
    assert names == set(bots)
    field = document.select_one("input[name=q]")
    assert field is not None
    assert field["value"] == query.get("q", "")


def test_many_are_shown_page_by_page_and_all_of_them_in_files(home: Home) -> None:
    few = Site(rows=3)
    whole = [
        row["Bot"]
        for row in rows(table_of(page(home, STANDINGS, site=Site(is_static=True, rows=3), game=GAME.name), "S"))
    ]
    assert len(whole) == len(answer_of_desk(home))
    paged: list[str] = []
    number, document = 1, page(home, STANDINGS, {"sort": "place"}, site=few, game=GAME.name)
    while True:
        paged += [row["Bot"] for row in rows(table_of(document, "Standings"))]
        following = document.select_one("a[rel~=next]")
        if following is None:
            break
        number += 1
        assert f"page={number}" in str(following["href"])
        document = page(home, STANDINGS, {"sort": "place", "page": str(number)}, site=few, game=GAME.name)
    assert paged == whole
    with pytest.raises(NoPage, match=f"the last one is {number}"):
        page(home, STANDINGS, {"page": str(number + 1)}, site=few, game=GAME.name)


@pytest.mark.parametrize(
    ("query", "reason"),
    [({"sort": "x"}, "sort is one of"), ({"status": "x"}, "status is one of"), ({"page": "0'"}, "page is a number")],
)
def test_what_cannot_be_asked_is_reported(home: Home, query: dict[str, str], reason: str) -> None:
    with pytest.raises(BadQuestion, match=reason):
        page(home, STANDINGS, query, game=GAME.name)


def test_each_condition_has_its_standings(home: Home) -> None:
    main = page(home, STANDINGS, game=GAME.name)
    [link] = [str(link["href"]) for link in main.select("a[href]") if "/under/" in str(link["href"])]
    assert link == f"../games/{GAME.name}/under/{OTHER.slug}"
    other = page(home, UNDER, game=GAME.name, slug=OTHER.slug)
    check_markup(other)
    on_page = rows(table_of(other, f"Standings under {OTHER.terms}"))
    assert [row["Matches"] for row in on_page] == [str(one.matches) for one in answer_of_desk(home, 1)]
    same = page(home, UNDER, game=GAME.name, slug=CONDITION.slug)
    assert rows(table_of(same, "Standings")) == rows(table_of(main, "Standings"))


def test_a_condition_or_game_that_is_not_there_is_answered_with_one_that_is(home: Home) -> None:
    with pytest.raises(NoPage, match=re.escape(CONDITION.slug)):
        page(home, UNDER, game=GAME.name, slug="60+0.5-11")
    with pytest.raises(UnknownGame):
        page(home, STANDINGS, game="chess")


def test_hostile_names_are_text(home: Home) -> None:
    document = page(home, STANDINGS, game=GAME.name)
    check_markup(document)
    [row] = [row for row in rows(table_of(document, "Standings")) if MARKUP in row["Bot"]]
    assert row["Author"] == '\\u202e"><script>alert(2)</script>'
    assert row["Language"] == MARKUP[:20]


def test_a_new_version_is_marked(home: Home) -> None:
    marked = {row["Bot"].partition(" v")[0] for row in listed(home) if row["Bot"].endswith(" new")}
    assert marked == {one.bot for one in answer_of_desk(home) if one.is_new}


def test_what_the_numbers_mean_is_said(home: Home) -> None:
    document = page(home, "/about/ratings")
    check_markup(document)
    assert {"strength", "places", "apart", "live", "blocks", "different"} <= {
        str(head["id"]) for head in document.select("h2[id]")
    }


def test_a_page_of_a_hundred_with_the_longest_names_is_no_longer_than_it_may_be(tmp_path: Path) -> None:
    from bench.ladder import make

    home = Home(tmp_path / "1000")
    make(tmp_path, 1000, 150).close()
    with Store(home.database, create=False) as store, store.writing():
        store.file.write("update bots set name = substr(name || '-bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb', 1, 40)")
    html = str(page(home, STANDINGS, game=GAME.name))
    assert html.count("<tr") == 101
    assert len(html.encode()) < 100_000
