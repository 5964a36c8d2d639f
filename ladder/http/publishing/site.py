"""The pages of a ladder as files, for any web host: `dogana ladder site`."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from ladder.facts.chronicle import Chronicle
from ladder.http.app import NEED_A_SERVER, PAGES
from ladder.http.pictures.boards import last_picture
from ladder.http.pictures.drawings import Drawings, pages_folder
from ladder.http.pictures.matches import whole_record
from ladder.http.rendering.assets import Asset, assets
from ladder.http.rendering.links import link
from ladder.http.rendering.render import rendered
from ladder.http.requests.asked import Asked, NoPage, Site
from ladder.operation.errors import Forbidden, LadderError
from ladder.operation.home import Home
from ladder.questions.asker import ANYBODY
from ladder.questions.bots import BotsRequest
from ladder.questions.desk import Desk
from ladder.questions.match import RecordRequest
from ladder.questions.matches import MatchesRequest
from ladder.questions.standings import TopRequest
from referee.files import read_file, replacing
from referee.records.record import unpacked
from referee.registry import games

CONTENTS = "dogana-site.json"
"""The file that lists all files of a site; a folder without it is no site of ours."""
LOOK_SECONDS = 0.1
"""How often it is looked whether a replay is drawn."""
_MAX_CONTENTS = 64 * 1024**2

Progress = Callable[[int, int], None]
"""Told how many files are written, and how many there will be."""

NICENESS = 19
"""Nobody waits for the viewers of a site: bots and their referees come first."""


@dataclass(frozen=True, slots=True)
class Written:
    """What was written."""

    pages: int
    matches: int
    """How many matches have a page."""


def write_site(home: Home, folder: Path, most: int, progress: Progress) -> Written:
    """Write the pages that anybody may see.

    Each file takes the place of an earlier one when it is complete; what an earlier site had besides is removed at the end.

    Args:
        home: the ladder.
        folder: where the site goes; new, empty, or an earlier site.
        most: how many of the last matches of each game have a page.
        progress: told how far it is.

    Raises:
        LadderError: if there is no ladder, or something else in the folder.
        OSError: if it cannot be written.
    """
    with Chronicle(home.database, create=False) as chronicle:
        return _write(home, Desk(home, ANYBODY, chronicle), folder, most, progress)


def _write(home: Home, desk: Desk, folder: Path, most: int, progress: Progress) -> Written:
    earlier = contents(folder)
    matches = _last_matches(desk, most)
    site = Site(is_static=True, matches=frozenset(matches))
    drawings = Drawings(pages_folder(home), NICENESS)
    made: dict[str, Callable[[], bytes]] = {asset.path: partial(_content, asset) for asset in assets().values()}
    pages = list(_wanted(desk, matches))
    for address, names in pages:
        asked = Asked(desk, ANYBODY, site, address.format(**names).removeprefix("/"), names)
        made[_file_of(asked.path)] = partial(_html, address, asked)
    for match, is_recorded in matches.items():
        if is_recorded:
            made[f"matches/{match}/record.jsonl"] = partial(_record, desk, match)
            made[f"matches/{match}/board.svg"] = partial(_board, desk, match)
            made[f"matches/{match}/replay.html"] = partial(_replay, desk, match, drawings)
    folder.mkdir(parents=True, exist_ok=True)
    _list(folder, {*earlier, *made})  # first, so that it is known what is ours if this is killed
    with drawings:
        for number, (path, content) in enumerate(made.items()):
            progress(number, len(made))
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            with suppress(NoPage), replacing(folder / path) as part:  # a record that does not hold has no last position
                part.write_bytes(content())
    for path in set(earlier) - set(made):
        (folder / path).unlink(missing_ok=True)
    _list(folder, set(made))
    return Written(len(pages), len(matches))


def _content(asset: Asset) -> bytes:
    return asset.content


def _html(address: str, asked: Asked) -> bytes:
    return rendered(PAGES[address](asked), asked).encode()


def _record(desk: Desk, match: str) -> bytes:
    name, record = whole_record(desk, match)
    return unpacked(Path(name), record)


def _board(desk: Desk, match: str) -> bytes:
    return last_picture(*whole_record(desk, match)).encode()


def _replay(desk: Desk, match: str, drawings: Drawings) -> bytes:
    """Return the page with every step of a match; wait until it is drawn.

    Raises:
        LadderError: if it cannot be drawn.
    """
    _, record = whole_record(desk, match)
    while (drawing := drawings.ask(record)).page is None:
        if drawing.problem:
            raise LadderError(f"match {match} cannot be drawn: {drawing.problem}")
        time.sleep(LOOK_SECONDS)
    return drawing.page.read_bytes()


def _list(folder: Path, files: set[str]) -> None:
    with replacing(folder / CONTENTS) as part:
        part.write_text(json.dumps({"files": sorted(files)}, indent=1))


def _file_of(path: str) -> str:
    """Return where a page is written: there, to where links lead."""
    return link("", path, is_static=True)


def contents(folder: Path) -> list[str]:
    """Return the files of the site that is in a folder.

    Raises:
        LadderError: if there is something else.
    """
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return []
    try:
        listed = json.loads(read_file(folder / CONTENTS, _MAX_CONTENTS))["files"]
        if all(isinstance(path, str) and (folder / path).resolve().is_relative_to(folder.resolve()) for path in listed):
            return list(listed)
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise LadderError(f"{folder} has something else in it than the pages of a ladder; name a new or an empty folder")


def _last_matches(desk: Desk, most: int) -> dict[str, bool]:
    """Return the last matches of each game that anybody may see, and whether each has a record."""
    return {match: is_recorded for game in games() for match, is_recorded in islice(_matches(desk, game), most)}


def _matches(desk: Desk, game: str) -> Iterator[tuple[str, bool]]:
    """Yield the matches of a game that anybody may see, newest first, and whether each has a record."""
    before: str | None = ""
    while before is not None:
        answer = desk.ask(MatchesRequest(game=game, limit=100, before=before))
        for match in answer.matches:
            try:
                desk.ask(RecordRequest(match=match.match))
                yield match.match, True
            except Forbidden:  # others from its seed are not over
                continue
            except LadderError:  # it is pruned, or lost
                yield match.match, False
        before = answer.before


def _wanted(desk: Desk, matches: Iterable[str]) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield the address of every page, and what its path names."""
    tables = [table.condition for table in desk.ask(TopRequest()).tables if table.versions]
    named: dict[tuple[str, ...], list[Mapping[str, str]]] = {
        (): [{}],
        ("game",): [{"game": game} for game in dict.fromkeys(one.game for one in tables)],
        ("game", "slug"): [{"game": one.game, "slug": one.slug} for one in tables],
        ("bot",): [{"bot": bot.bot} for bot in desk.ask(BotsRequest()).bots],
        ("match",): [{"match": match} for match in matches],
    }
    for address in PAGES:
        if address not in NEED_A_SERVER:
            yield from ((address, names) for names in named[tuple(re.findall(r"{(\w+)}", address))])
