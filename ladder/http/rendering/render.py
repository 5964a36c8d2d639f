"""Render the values of a page as HTML. All values are escaped, after hidden characters in them are made visible."""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.runtime import Context

from ladder.http.rendering.assets import assets
from ladder.http.rendering.links import link
from ladder.http.rendering.wording import change, percent, shade
from ladder.http.requests.visit import Page, Visit
from ladder.model.rating import APART
from ladder.questions.in_words import disagreement, live_rating, open_places, share, strength
from referee.registry import games
from referee.terminal import counted, visible
from referee.tournament.standings import chance_text
from referee.version import installed_version


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("ladder.http"),
        autoescape=True,
        undefined=StrictUndefined,  # a misspelt name is an error, not an empty text
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters["seen"] = visible
    made.filters["minute"] = lambda iso: iso[:16].replace("T", " ")
    made.filters["counted"] = counted
    made.filters["percent"] = percent
    made.filters["chance"] = chance_text
    made.filters["change"] = change
    made.filters["places"] = open_places
    made.filters["strength"] = strength
    made.filters["share"] = share
    made.filters["shade"] = shade
    made.filters["live"] = live_rating
    made.filters["disagreement"] = disagreement
    made.filters["clock"] = _clock
    made.filters["lasting"] = _lasting
    made.globals.update(apart=APART, to=_to, asset=_asset, title_of=title_of, dogana=installed_version())
    return made


@pass_context
def _to(context: Context, path: str, fragment: str = "", **query: object) -> str:
    visit: Visit = context["visit"]
    named = {name: "" if value is None else str(value) for name, value in query.items()}
    return link(visit.path, path, is_static=visit.site.is_static, fragment=fragment, query=named)


@pass_context
def _asset(context: Context, name: str) -> str:
    return link(context["visit"].path, assets()[name].path)


def _lasting(milliseconds: float) -> str:
    if milliseconds < 1:
        return "under 1 ms"
    return f"{milliseconds:.0f} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.1f} s"


def _clock(seconds: float) -> str:
    """Return the time on a clock as text, such as `1:05`, or `1:00:05` from one hour upwards."""
    minutes, left = divmod(int(seconds), 60)
    return f"{minutes}:{left:02}" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02}:{left:02}"


def title_of(game: str) -> str:
    """Return the title of a game, or the name of a game that is no longer installed."""
    known = games().get(game)
    return game if known is None else known.title


def rendered(page: Page, visit: Visit) -> str:
    """Return the HTML of a page."""
    values: dict[str, Any] = {
        "visit": visit,
        "site": visit.site,
        "author": visit.caller.author,
        "lacks_room": not visit.site.is_static and visit.desk.lacks_room(),
        **page.values,
    }
    return _environment().get_template(page.template).render(values)


def fragment(template: str, values: dict[str, Any]) -> str:
    """Return the HTML of part of a page; this part has no links."""
    return _environment().get_template(template).render(values)
