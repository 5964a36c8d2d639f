"""The page of a match: one HTML file that needs no network, server or second file.

Without JavaScript it shows the result and the last picture. With it, `match.js` shows every step from the payload.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from importlib import resources
from pathlib import Path
from string import Template

from referee.game import Game
from referee.pages.film import Progress, film
from referee.pages.payload import Reel, frames, pictures_of, written
from referee.pages.plain import shorten
from referee.pages.story import Story, columns, moment, read_story, standing
from referee.version import installed_version

MAX_BYTES = 2_000_000
"""The maximum size of a page, in bytes. A page that would be larger is made without the views of seats."""
_POLICY = re.compile(rb'<meta http-equiv="Content-Security-Policy" content="([ -!#-~]*)">')
_HEAD_BYTES = 1000
"""The number of bytes at the start of a page that contain its policy."""
_UNSEALED = "The seed of this match is not revealed yet: chance is not checked against it."
_TOO_LONG = "What each seat knew is left out: the page would be too large."


@dataclass(frozen=True, slots=True)
class ReplayPage:
    """A match's page, and a description of the page."""

    html: str
    steps: int
    """The number of actions that the page shows."""
    seats: int
    """The number of seats whose views the page contains."""
    broken: str
    """The place and the reason if the record is not valid; otherwise empty."""
    is_sealed: bool
    """True if the record reveals its seed."""
    moment: str
    """The most interesting moment, as the fragment of the page's address that leads to it."""
    picture: str
    """The last picture that spectators see, as SVG."""


def make_page(
    path: Path,
    find_game: Callable[[str], Game],
    progress: Progress,
    *,
    seats_too: bool | None = None,
    max_bytes: int = MAX_BYTES,
    workers: int = 0,
) -> ReplayPage:
    """Make the page of a record. Equal records give equal pages.

    Args:
        path: the record.
        find_game: a function that looks up a game by name; it must be in a module, because other processes call it, too.
        progress: a function called now and then with the number of pictures drawn so far and the total number.
        seats_too: True to include the view of each seat; None to do so if all matches with this seed are over.
        max_bytes: the maximum size; a page that would be larger is made without the views of seats.
        workers: the number of processes that draw; 0 for one per processor if there is enough to draw, and otherwise one.

    Raises:
        RecordError: if not even the start of the match is valid.
        FilmError: if a process that draws pictures ends too early.
    """
    story = read_story(path, find_game, seats_too)
    reel = film(path, find_game, story.replay.last_hash, len(story.seats), len(story.logs), progress, workers)
    *_, last = pictures_of(reel, None)
    html = _html(story, reel, last, "")
    # The seats' pictures have already been drawn: whether they are too large is known only after compression.
    if len(html.encode()) > max_bytes and story.logs:
        story.logs = []
        html = _html(story, Reel(reel.tokens, reel.public, []), last, _TOO_LONG)
    return ReplayPage(
        html, len(story.seats), len(story.logs), story.broken, story.replay.is_sealed, moment(story), last
    )


def _html(story: Story, reel: Reel, last: str, remark: str) -> str:
    picture, looks = shorten(last)
    # The hash in the policy is that of the whole text between the tags, line breaks included.
    script = "\n".join(["", *_code("decode.js"), *_code("match.js"), ""])
    style = _part("match.css") + looks
    plan = story.replay.plan
    title = f"{plan.game.title}: {', '.join(row['bot'] for row in standing(story))}"
    return Template(_part("match.html")).substitute(
        title=escape(f"Broken record: {title}" if story.broken else title),
        game=escape(plan.game.title),
        match=escape(columns(story)["match"]),
        clock=escape(str(plan.control)),
        version=escape(installed_version()),
        record_hash=story.replay.last_hash,
        notice=_notices(story, remark),
        standing_title="Standing where the record breaks off" if story.broken else "Result",
        standing="\n".join(_rows(story)),
        picture=picture,
        payload=written(columns(story) | frames(reel)),
        script=script,
        script_hash=hash_source(script),
        style=style,
        style_hash=hash_source(style),
    )


def policy_of(html: bytes) -> str:
    """Extract the content security policy of a page, which a server repeats as a header.

    Raises:
        ValueError: if `make_page` did not make the page.
    """
    found = _POLICY.search(html, 0, _HEAD_BYTES)
    if found is None:
        raise ValueError("the page has no content security policy")
    return found[1].decode("ascii")


def _notices(story: Story, remark: str) -> str:
    notices = []
    if story.broken:
        reason = f"This record does not hold: {story.broken}. The page ends there, and nothing on it is proved."
        notices.append(f'<p class="notice broken" role="alert">{escape(reason)}</p>')
    elif not story.replay.is_sealed:
        notices.append(f'<p class="notice">{_UNSEALED}</p>')
    if remark:
        notices.append(f'<p class="notice">{remark}</p>')
    return "\n".join(notices)


def _rows(story: Story) -> list[str]:
    return [
        f'<tr><td>{row["place"] or "-"}</td><td>{row["seat"]}</td><th scope="row"><bdi>{escape(row["bot"])}</bdi></th>'
        f"<td>{row['score']}</td><td>{row['seconds']:.3f} s</td>"
        + (f'<td class="fault">{escape(row["fault"])}</td></tr>' if row["fault"] else "<td>played</td></tr>")
        for row in standing(story)
    ]


def _code(name: str) -> list[str]:
    """Return the lines of a script without indentation, comments or empty lines."""
    lines = [line.strip() for line in _part(name).splitlines()]
    return [line for line in lines if line and not line.startswith("//")]


def _part(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def hash_source(content: str) -> str:
    """Return the hash by which a content security policy allows a script or style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
