"""`dogana rules`: the rules of a game, or one of them by its number."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from importlib import resources
from typing import Annotated

import typer
from rich.markdown import Markdown

from referee.commands.output import out
from referee.errors import DoganaError
from referee.game import Game
from referee.registry import find

_RULE = re.compile(r" *(?:[-*] +)?(?:\*\*)?([A-Z]\d+(?:\.\d+)?[a-z]?)(?=[.:]?(?: |\*|$))")
"""A pattern for the beginning of a rule, a ruling or an example: `- Y4.2 ...`, `R1 ...`."""
_HEADING = re.compile(r"(#+) (?:([A-Z]?\d+(?:\.\d+)*)\b)?")
_FENCE = "```"


class NoSuchRule(DoganaError):
    """A game has no rule with that number."""


def rules(
    game: Annotated[str, typer.Argument(help="The game; `dogana games` lists them.", metavar="GAME")],
    number: Annotated[
        str | None,
        typer.Argument(
            help="One rule (Y4.2), or a section (Y4, 5, 1.3); all of them if left out.",
            metavar="NUMBER",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Print the rules of a game, or one of them by its number.

    Messages cite rules by these numbers. On a terminal, the rules are laid out; in a pipe, they are Markdown.

    Examples:

      dogana rules yunnan

      dogana rules yunnan Y4.2

      dogana rules cargo_noir C3 | less
    """
    lines = rules_of(find(game))
    if number is not None:
        lines = chosen(game, lines, number)
    if out.is_terminal:
        out.print(Markdown("\n".join(_apart(lines))))
    else:
        for line in lines:
            out.print(line, soft_wrap=True)


def rules_of(game: Game) -> list[str]:
    """Return the lines of the rules that ship with a game."""
    return resources.files(type(game).__module__).joinpath("RULES.md").read_text(encoding="utf-8").splitlines()


def chosen(game: str, lines: Sequence[str], number: str) -> list[str]:
    """Return a section, or a rule with its subordinate rules.

    Raises:
        NoSuchRule: if no section or rule has that number; the text names similar ones.
    """
    wanted = number.strip().rstrip(".:")
    places = places_of(lines)
    known = {name.lower(): name for name in places}
    part = wanted.lower().rstrip("abcdefghijklmnopqrstuvwxyz")  # Y2.3a is a part of Y2.3, unless it stands alone
    found = known.get(wanted.lower()) or known.get(part)
    if found is not None:
        below = re.compile(rf"{re.escape(found)}(\.\d+)?[a-z]?")
        inside = [span for name, span in places.items() if below.fullmatch(name)]
        first, end = places[found]
        # Subordinate rules may stand elsewhere in the document, or overlap with the section.
        numbers = set(range(first, end)).union(*(range(*span) for span in inside))
        return _without_blank_end([lines[at] for at in sorted(numbers)])
    inside = [span for name, span in places.items() if name.lower().startswith(f"{wanted.lower()}.")]
    if inside:  # a chapter without a heading of its own
        return _without_blank_end([lines[at] for at in sorted(set().union(*(range(*span) for span in inside)))])
    near = difflib.get_close_matches(wanted.upper(), places, 3, 0.6)
    hint = f"did you mean {' or '.join(near)}? Its" if near else "its"
    sections = ", ".join(name for name, (at, _) in places.items() if lines[at].startswith(("## ", "### ")))
    raise NoSuchRule(f"{game} has no rule {wanted!r}; {hint} sections are: {sections}")


def places_of(lines: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return, for each numbered section and rule, the index of its first line and of the line after its last."""
    places: dict[str, tuple[int, int]] = {}
    in_code = False
    for at, line in enumerate(lines):
        # A line such as `# a comment` in a block of code is not a heading.
        in_code ^= line.lstrip().startswith(_FENCE)
        if in_code:
            continue
        heading, rule = _HEADING.match(line), _RULE.match(line)
        if heading is not None and heading[2] is not None:
            places.setdefault(heading[2], (at, _end_of_section(lines, at, len(heading[1]))))
        elif rule is not None:
            # The first such line counts, because a later one may begin by citing the number.
            places.setdefault(rule[1], (at, _end_of_rule(lines, at)))
    return places


def _end_of_section(lines: Sequence[str], first: int, level: int) -> int:
    in_code = False
    for at in range(first + 1, len(lines)):
        in_code ^= lines[at].lstrip().startswith(_FENCE)
        heading = None if in_code else _HEADING.match(lines[at])
        if heading is not None and len(heading[1]) <= level:
            return at
    return len(lines)


def _end_of_rule(lines: Sequence[str], first: int) -> int:
    """Return the index of the line after a rule: the next rule, or the first line outside this item or paragraph."""
    indent = _indent(lines[first])
    is_item = lines[first].lstrip().startswith(("- ", "* "))
    for at in range(first + 1, len(lines)):
        line = lines[at]
        if not line.strip():
            rest = next((other for other in lines[at:] if other.strip()), "")
            # An item continues after a blank line if the next line with text is indented further.
            if not is_item or _indent(rest) <= indent:
                return at
        elif _RULE.match(line) or _HEADING.match(line) or (is_item and _indent(line) <= indent):
            return at
    return len(lines)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _without_blank_end(lines: list[str]) -> list[str]:
    while lines and not lines[-1].strip():
        lines.pop()
    return lines


def _apart(lines: Sequence[str]) -> list[str]:
    """Give each rule outside a list its own paragraph, because Markdown would join it to the previous one."""
    apart: list[str] = []
    for line in lines:
        if _RULE.match(line) and not line.lstrip().startswith(("- ", "* ")):
            apart.append("")
        apart.append(line)
    return apart
