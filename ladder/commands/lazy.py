"""Commands that are imported when they are called.

Importing them all takes half a second, mostly for libraries that few of them need.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import typer
from typing_extensions import override

from ladder.commands.help import PagedCommand, PagedGroup


class Commands(Mapping[str, Any]):
    """Commands by name, created in the same way as typer creates them."""

    def __init__(self, places: Mapping[str, str | typer.Typer]) -> None:
        """`places` maps each name to a group, or to a module that contains a function or group with the same name as the module."""
        self._places = places

    @override
    def __getitem__(self, name: str) -> Any:
        place = self._places[name]
        if isinstance(place, str):
            place = getattr(import_module(place), place.rpartition(".")[2])
        if isinstance(place, typer.Typer):
            return typer.main.get_group(place)
        # Shell completion is installed for `dogana` as a whole.
        alone = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)
        alone.command(name, cls=PagedCommand)(place)
        return typer.main.get_command(alone)

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    @override
    def __len__(self) -> int:
        return len(self._places)


def lazy(sections: Mapping[str, Mapping[str, str | typer.Typer]]) -> type[PagedGroup]:
    """Return a class from which typer makes a group of these commands, listed under the headings of the sections."""
    places = {name: place for section in sections.values() for name, place in section.items()}

    class Lazy(PagedGroup):
        def __init__(self, **settings: Any) -> None:
            super().__init__(**settings)
            self.commands = Commands(places)  # type: ignore[assignment]  # nothing is ever added to it
            self.sections = {heading: list(section) for heading, section in sections.items()}

    return Lazy
