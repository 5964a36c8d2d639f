"""The pages of a ladder as files, for any web host: `dogana ladder site`.

The application that serves browsers runs in this process. Its answers are written to files, by following links from the start page.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from html import unescape
from http import HTTPStatus
from itertools import islice
from pathlib import Path
from urllib.parse import quote

from httpx import ASGITransport, AsyncClient
from starlette.types import ASGIApp, Message

from ladder.facts.store import Store
from ladder.http.app import application
from ladder.http.rendering.links import address_of, is_file, links_of
from ladder.http.requests.visit import Site
from ladder.operation.errors import Forbidden, LadderError
from ladder.operation.home import Home
from ladder.operation.limits import Limits
from ladder.operation.meter import Allowance, Meter
from ladder.questions.caller import ANYBODY
from ladder.questions.desk import Desk
from ladder.questions.events import OVER, EventRequest, EventsRequest
from ladder.questions.match import RecordRequest
from ladder.questions.matches import MatchesRequest
from referee.files import locked_folder, read_file, replacing
from referee.registry import games

CONTENTS = "dogana-site.json"
"""The file that lists all files of a site; a folder without it is not treated as a site."""
LOOK_SECONDS = 0.1
"""The interval, in seconds, between checks for a viewer that is being drawn."""
_MAX_CONTENTS = 64 * 1024**2

_NO_LIMIT = Allowance("requests", 1_000_000_000, 1.0)
_ALERT = re.compile(r'role="alert">([^<]*)<')

Progress = Callable[[int, int], None]
"""A function that is called with the number of written files, and the number of all files known so far."""

NICENESS = 19
"""The niceness of drawing the viewers of a site. Nobody waits for them, so bots and their referees come first."""


def write_site(home: Home, folder: Path, most: int, progress: Progress, site: Site | None = None) -> tuple[int, int]:
    """Write the public pages.

    Each complete file replaces an earlier one; at the end, other files of an earlier site are removed.

    Args:
        home: the ladder.
        folder: the folder of the site; new, empty, or an earlier site.
        most: the maximum number of matches that get a page, for each game on the ladder and for each event; the latest are chosen.
        progress: a function that is called as the work advances.
        site: the other settings of the pages; None for the default ones.

    Returns:
        The number of pages, and the number of matches with a page.

    Raises:
        LadderError: if there is no ladder, the folder contains other files, or another process writes a site into it.
        OSError: if the folder cannot be written.
    """
    # Of two writers, each would remove or miss pages of the other.
    busy = LadderError(f"another process is writing a site into {folder}; wait until it has ended")
    with Store(home.database, create=False) as store:
        folder.mkdir(parents=True, exist_ok=True)
        with locked_folder(folder, busy):
            return _write(home, Desk(home, ANYBODY, store), folder, most, progress, site or Site())


def _write(home: Home, desk: Desk, folder: Path, most: int, progress: Progress, site: Site) -> tuple[int, int]:
    earlier = contents(folder)
    matches = frozenset(_last_matches(desk, most))
    site = replace(site, is_static=True, matches=matches)
    app = application(home, site, limits=Limits(requests=Meter(_NO_LIMIT)), viewer_niceness=NICENESS)
    first = {"index.html", *(f"matches/{match}.html" for match in matches)}  # the pages link only to the newest matches
    files = asyncio.run(_written(app, first, folder, earlier, progress))
    for path in set(earlier) - files:
        (folder / path).unlink(missing_ok=True)
    _remove_unfinished(folder, {*earlier, *files, CONTENTS})
    _list(folder, files)
    return sum(path.endswith(".html") and not is_file(path) for path in files), len(matches)


def _remove_unfinished(folder: Path, files: set[str]) -> None:
    """Remove the unfinished copies of these files that killed processes have left behind (see `replacing`)."""
    for parent in {(folder / path).parent for path in files}:
        for part in parent.glob("*.part"):
            if str(part.relative_to(folder)).rsplit(".", 2)[0] in files:
                part.unlink(missing_ok=True)


async def _written(app: ASGIApp, first: set[str], folder: Path, earlier: list[str], progress: Progress) -> set[str]:
    headers = {"accept": "text/plain"}  # for errors; pages are HTML in any case
    async with (
        _open(app),
        # `check_host` accepts a name without a dot.
        AsyncClient(transport=ASGITransport(app), base_url="http://localhost", headers=headers) as client,
    ):
        return await _walk(client, first, folder, earlier, progress)


@asynccontextmanager
async def _open(app: ASGIApp) -> AsyncIterator[None]:
    """Start an application, and stop it at the end of the context, as a server does (ASGI's lifespan)."""
    received = asyncio.Queue[Message]()
    sent = asyncio.Queue[Message]()
    running = asyncio.ensure_future(app({"type": "lifespan"}, received.get, sent.put))
    await received.put({"type": "lifespan.startup"})
    if (await sent.get())["type"] != "lifespan.startup.complete":
        await running  # raises an error that occurred at the start
    try:
        yield
    finally:
        await received.put({"type": "lifespan.shutdown"})
        await running


async def _walk(client: AsyncClient, first: set[str], folder: Path, earlier: list[str], progress: Progress) -> set[str]:
    """Write the first files and all files that they link to, directly or not; return their paths."""
    written: set[str] = set()
    known = next_ones = first
    while next_ones:
        _list(folder, {*earlier, *known})  # written first, so that the list is complete even if this process is killed
        links: set[str] = set()
        for path in sorted(next_ones):
            progress(len(written), len(known))
            content = await _fetched(client, path)
            if content is None:
                continue
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            with replacing(folder / path) as part:
                part.write_bytes(content)
            written.add(path)
            if not is_file(path):
                links |= links_of(path, content.decode())
        next_ones = links - known
        known = known | next_ones
    return written


async def _fetched(client: AsyncClient, path: str) -> bytes | None:
    """Return the content of a file, or None if a match has no such file because its record is lost or not valid.

    Raises:
        LadderError: if the pages answer with an error.
    """
    address = f"/{quote(address_of(path))}"
    while (answer := await client.get(address)).status_code == HTTPStatus.ACCEPTED:  # it is being drawn
        await asyncio.sleep(LOOK_SECONDS)
    if answer.status_code == HTTPStatus.NOT_FOUND and is_file(path):
        return None
    if answer.status_code != HTTPStatus.OK:
        alert = _ALERT.search(answer.text)
        raise LadderError(f"{path} cannot be written: {unescape(alert[1]) if alert else answer.text.strip()}")
    return answer.content


def _list(folder: Path, files: set[str]) -> None:
    with replacing(folder / CONTENTS) as part:
        part.write_text(json.dumps({"files": sorted(files)}, indent=1))


def contents(folder: Path) -> list[str]:
    """Return the list of the files of the site in a folder.

    Raises:
        LadderError: if the folder contains other files.
    """
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return []
    try:
        listed = json.loads(read_file(folder / CONTENTS, _MAX_CONTENTS))["files"]
        # Files in the list are removed later, so none may lie outside the folder.
        if all(isinstance(path, str) and (folder / path).resolve().is_relative_to(folder.resolve()) for path in listed):
            return list(listed)
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise LadderError(f"{folder} contains something other than the pages of a ladder; name a new or an empty folder")


def _last_matches(desk: Desk, most: int) -> Iterator[str]:
    """Yield the latest public matches of each game on the ladder, and of each event."""
    for game in games():
        yield from islice(_matches(desk, game), most)
    for one in desk.ask(EventsRequest()).events:
        yield from islice(_matches_of_event(desk, one.event), most)


def _matches(desk: Desk, game: str) -> Iterator[str]:
    """Yield the public matches of a game, newest first."""
    before: str | None = ""
    while before is not None:
        answer = desk.ask(MatchesRequest(game=game, limit=100, before=before))
        for match in answer.matches:
            if _is_public(desk, match.match):
                yield match.match
        before = answer.before


def _matches_of_event(desk: Desk, event: str) -> Iterator[str]:
    """Yield the public matches of an event, newest first."""
    for one in reversed(desk.ask(EventRequest(event=event)).matches):
        if one.state == OVER and _is_public(desk, one.match):
            yield one.match


def _is_public(desk: Desk, match: str) -> bool:
    """Return True if a match is public: all matches from its seed are over."""
    try:
        desk.ask(RecordRequest(match=match))
    except Forbidden:
        return False
    except LadderError:  # its record is pruned or lost, and its page says so
        return True
    return True
