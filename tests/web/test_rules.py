"""The rules of a game as a page: whole, and with an anchor for each rule."""

from __future__ import annotations

import re

import httpx
import pytest
from bs4 import BeautifulSoup

from ladder.http.rendering.rulebook import rules_from
from referee.registry import games
from tests.test_rule_numbers import GAMES, RULE
from tests.web.conftest import soup


@pytest.mark.parametrize("game", games())
def test_all_rules_are_there_each_with_an_anchor_and_every_link_leads_to_one(seen: httpx.Client, game: str) -> None:
    rules = (GAMES / game / "RULES.md").read_text()
    page = soup(seen.get(f"/games/{game}/rules"))
    ids = [str(tag["id"]) for tag in page.select("[id]")]
    anchors = set(ids)
    assert len(ids) == len(anchors)
    assert set(RULE.findall(rules)) - anchors == set()
    links = [str(tag["href"]) for tag in page.select("main [href^='#']")]
    assert len(links) > 100
    assert [link for link in links if link[1:] not in anchors] == []
    words, said = (set(re.findall(r"\w{4,}", text)) for text in (rules, page.text))
    assert words - said <= {"json", "text"}  # the kinds of code blocks


def test_a_rule_is_marked_where_it_begins_and_linked_where_it_is_named() -> None:
    rules = rules_from(
        "# Title\n\n## 4. Rules\n\n- C1.2 First,\n  see C1.3 and C9.9.\n- C1.3 `C1.2` | x\n\nS1. Start: C1.2.\n"
    )
    page = BeautifulSoup(rules.html, "html.parser")
    assert rules.numbers == {"C1.2", "C1.3", "S1"}
    assert [link["href"] for link in page.select("a:not([id])")] == ["#C1.3", "#C1.2"]
    assert [heading.anchor for heading in rules.contents] == ["section-4"]
    assert "Title" not in page.text


def test_rules_are_text_whatever_is_in_them() -> None:
    html = rules_from("## <script>alert(1)</script>\n\nC1 <img src=x onerror=y> [x](javascript:alert(1))\n").html
    assert not BeautifulSoup(html, "html.parser").select("script, img, [href^=javascript]")


def test_the_rules_of_no_game_are_not_found(seen: httpx.Client) -> None:
    answer = seen.get("/games/chess/rules")
    assert answer.status_code == 404
    assert "the games are: cargo_noir" in soup(answer).text
