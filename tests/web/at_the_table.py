"""A person at a table, without JavaScript: reads the page, sends the form, looks again."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping

import httpx
from bs4 import BeautifulSoup

from tests.pages.conftest import SHORT
from tests.patience import patient

PATIENCE_SECONDS = patient(120)
"""How long anything may take; a test that fails is to end."""
_PICTURE = re.compile(r"<svg.*?</svg>", re.DOTALL)


class AtTable:
    """A person and a table.

    Attributes:
        page: what the person has seen last, without the picture.
        picture: the picture.
        path: where the table is.
        answers: how many decisions have been answered.
    """

    def __init__(self, client: httpx.Client, path: str) -> None:
        self.client = client
        self.path = path
        self.answers = 0
        self.look()

    def look(self) -> None:
        """Look again."""
        answer = self.client.get(self.path)
        answer.raise_for_status()
        self.picture = "".join(_PICTURE.findall(answer.text))
        self.page = BeautifulSoup(_PICTURE.sub("", answer.text), "html.parser")  # reading it would take the most time

    @property
    def form(self) -> dict[str, str]:
        """What the form sends besides the choice; empty if the person is not asked."""
        return {str(field["name"]): str(field["value"]) for field in self.page.select(".choices input[name]")}

    @property
    def choices(self) -> list[str]:
        """The values of the buttons."""
        return [str(button["value"]) for button in self.page.select(".choices button")]

    @property
    def text(self) -> str:
        """What can be read."""
        return self.page.get_text(" ", strip=True)

    @property
    def is_over(self) -> bool:
        """Whether the page says the result, and has the page of the match."""
        return self.page.select_one("a[href$='replay.html']") is not None

    def send(self, choice: str, **fields: str) -> httpx.Response:
        """Send the form."""
        return self.client.post(self.path, data={**self.form, "choice": choice, **fields})

    def wait(self, until: Callable[[AtTable], bool]) -> None:
        """Look until something is so."""
        end = time.monotonic() + PATIENCE_SECONDS
        while not until(self):
            assert time.monotonic() < end, self.text
            time.sleep(0.05)
            self.look()

    def play_out(self, choose: Callable[[AtTable], str] = lambda table: table.choices[0]) -> None:
        """Play to the end of the match."""
        while True:
            self.wait(lambda table: bool(table.form) or table.is_over)
            if self.is_over:
                return
            answer = self.send(choose(self))
            assert answer.status_code == 303, answer.text
            self.answers += 1
            self.look()


def sit_down(client: httpx.Client, game: str, seats: int = 2, fields: Mapping[str, str] | None = None) -> AtTable:
    """Begin a match against bots that play at random, with options that make it short, and wait for the first question."""
    short = {f"option.{name}": str(value) for name, value in SHORT.get(game, {}).items()}
    opponents = {f"bot{place}": "random" for place in range(1, seats)}
    answer = client.post(f"/play/{game}", data={"seats": str(seats), **opponents, **short, **(fields or {})})
    assert answer.status_code == 303, answer.text
    table = AtTable(client, str(httpx.URL(f"/play/{game}").join(answer.headers["location"])))
    table.wait(lambda table: bool(table.form) or table.is_over)
    return table
