"""Every page of the docs is found: in two clicks from the index, and the ways in from the README."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
INDEX = ROOT / "docs" / "index.md"
SECTIONS = ["Begin", "Write bots", "Organise", "Look", "Inside"]
PAGES = [page for page in sorted((ROOT / "docs").glob("*.*")) if page.suffix in (".md", ".rst") and page != INDEX]


def links(page: Path) -> set[Path]:
    """Where the links of a page lead that are in its text; lists of files for the site are none."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text)
    return {(page.parent / target).resolve() for target in targets if not target.startswith("http")}


def test_every_page_is_one_click_from_the_index_and_decisions_are_two() -> None:
    assert set(PAGES) - links(INDEX) == set()
    decisions = ROOT / "docs" / "decisions"
    assert decisions / "README.md" in links(INDEX)
    assert set(decisions.glob("0*.md")) - links(decisions / "README.md") == set()


def test_the_index_has_each_page_in_one_place() -> None:
    text = re.sub(r"^```.*?^```$", "", INDEX.read_text(), flags=re.MULTILINE | re.DOTALL)
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == SECTIONS
    named = re.findall(r"\]\(([^)#]+)\)", text)
    assert len(named) == len(set(named))


def test_the_site_has_the_same_sections_with_the_same_pages() -> None:
    text = INDEX.read_text()
    trees = re.findall(r"^```\{toctree\}\n:caption: ([^\n]*)\n:hidden:\n\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert [caption for caption, _ in trees] == SECTIONS
    for caption, entries in trees:
        section = text.split(f"## {caption}\n")[1].split("\n## ")[0].split("\n```")[0]
        linked = {Path(target).with_suffix("") for target in re.findall(r"\]\(([^)#]+)\)", section)}
        listed = {Path(re.sub(r".*<(.*)>", r"\1", line)) for line in entries.splitlines() if line}
        assert listed == linked, caption


@pytest.mark.parametrize(
    "name", ["index", "installing", "tutorial", "troubleshooting", "glossary", "faq", "running_a_ladder"]
)
def test_the_readme_leads_to_the_ways_in(name: str) -> None:
    assert ROOT / "docs" / f"{name}.md" in links(ROOT / "README.md")


def test_no_page_is_more_than_two_clicks_from_the_readme() -> None:
    first = links(ROOT / "README.md")
    second = set().union(*(links(page) for page in first if page.suffix == ".md" and page.is_file()))
    assert set(PAGES) - first - second == set()


def test_no_word_of_the_glossary_has_two_meanings() -> None:
    words = re.findall(r"^\| (\*\*.+?\*\*) \|", (ROOT / "docs" / "glossary.md").read_text(), re.MULTILINE)
    each = [word for row in words for word in re.findall(r"\*\*(.+?)\*\*", row)]
    assert len(each) == len(set(each)) >= 30
