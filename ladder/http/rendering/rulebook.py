"""The rules of a game as HTML, with an anchor for each numbered rule and links to it from all mentions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from referee.game import Game

_RULE = re.compile(r"([A-Z]\d+(?:\.\d+)?[a-z]?)(?=[.:]? |[.:]?$)")
"""The start of a rule, a ruling or an example: `C3.4 ...`, `S2. ...`."""
_CITED = re.compile(r"(?<![A-Za-z0-9_.])[A-Z]\d+(?:\.\d+)?[a-z]?(?![0-9A-Za-z_])")
_SECTION = re.compile(r"([A-Z]?\d+(?:\.\d+)*)")
_CONTENTS = ("h2", "h3")
_REACHABLE = {
    "<pre>": '<pre tabindex="0">',
    "<table>": '<div class="wide" tabindex="0" role="group" aria-label="Table"><table>',
    "</table>": "</table></div>",
    '<th scope="col"></th>': "<td></td>",
}
"""Replacements in the HTML. They let scrollable elements have the keyboard focus, and stop empty table cells from being
headings."""


@dataclass(frozen=True, slots=True)
class Heading:
    """An entry of the table of contents.

    Attributes:
        level: 2 or 3.
        anchor: the anchor to which it links.
        title: the text of the heading.
    """

    level: int
    anchor: str
    title: str


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a game.

    Attributes:
        html: the text, without its title.
        contents: the table of contents.
        numbers: the numbers of all rules with an anchor.
    """

    html: Markup
    contents: tuple[Heading, ...]
    numbers: frozenset[str]


@cache
def rules_of(game: Game) -> Rules:
    """Return the rules of an installed game."""
    return rules_from(resources.files(type(game).__module__).joinpath("RULES.md").read_text(encoding="utf-8"))


def rules_from(text: str) -> Rules:
    """Return the rules in a Markdown text."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = [*_without_title(parser.parse(text))]
    contents = tuple(_headed(tokens))
    numbers = {heading.anchor for heading in contents}
    for before, token in pairwise(tokens):
        if token.type == "inline" and before.type == "paragraph_open":
            token.children = [*_anchored(token.children or (), numbers)]
        elif token.type == "th_open":
            token.attrSet("scope", "col")
    heads = {heading.anchor for heading in contents}
    for token in tokens:
        if token.type == "inline":
            token.children = [*_linked(token.children or (), numbers)]
    html = parser.renderer.render(tokens, parser.options, {})
    for plain, reachable in _REACHABLE.items():  # text cannot contain these tags: the parser has escaped it
        html = html.replace(plain, reachable)
    return Rules(Markup(html), contents, frozenset(numbers - heads))  # noqa: S704 the parser has escaped it


def _without_title(tokens: Sequence[Token]) -> Iterator[Token]:
    is_title = False
    for token in tokens:
        is_title = is_title or (token.type == "heading_open" and token.tag == "h1")
        if not is_title:
            yield token
        is_title = is_title and token.type != "heading_close"


def _headed(tokens: Sequence[Token]) -> Iterator[Heading]:
    """Add anchors to the headings; yield the entries of the table of contents."""
    taken: set[str] = set()
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            title = "".join(
                child.content for child in tokens[at + 1].children or () if child.type in ("text", "code_inline")
            )
            found = _SECTION.match(title)
            words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
            anchor = words if found is None else found[1] if found[1][0].isalpha() else f"section-{found[1]}"
            if anchor not in taken:
                taken.add(anchor)
                token.attrSet("id", anchor)
                if token.tag in _CONTENTS:
                    yield Heading(int(token.tag[1]), anchor, title)


def _anchored(children: Sequence[Token], numbers: set[str]) -> Iterator[Token]:
    """Add an anchor to each rule that begins here, and add its number to `numbers`."""
    begins = True
    for child in children:
        found = _RULE.match(child.content) if begins and child.type == "text" else None
        if found is not None and found[1] not in numbers:
            numbers.add(found[1])
            yield from _link(found[1], {"id": found[1], "class": "rule"})
            yield _text(child.content[found.end() :])
        else:
            yield child
        # A rule begins a paragraph or a line, perhaps in bold; empty texts do not count.
        begins = child.type in ("softbreak", "hardbreak") or (
            begins and (child.type == "strong_open" or (not child.content and child.type == "text"))
        )


def _linked(children: Sequence[Token], numbers: set[str]) -> Iterator[Token]:
    """Turn the mentions of rules into links."""
    inside = 0
    for child in children:
        # HTML does not allow links within links.
        inside += child.nesting if child.type.startswith("link") else 0
        if child.type != "text" or inside:
            yield child
            continue
        at = 0
        for found in _CITED.finditer(child.content):
            if found[0] in numbers:
                yield _text(child.content[at : found.start()])
                yield from _link(found[0], {})
                at = found.end()
        yield _text(child.content[at:])


def _link(number: str, attributes: dict[str, str]) -> list[Token]:
    opened = Token("link_open", "a", 1, attrs={**attributes, "href": f"#{number}"})
    return [opened, _text(number), Token("link_close", "a", -1)]


def _text(content: str) -> Token:
    return Token("text", "", 0, content=content)
