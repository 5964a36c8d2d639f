"""Show a running match on standard output. A terminal is redrawn in place; other outputs get line after line."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from types import TracebackType

from rich.live import Live
from rich.table import Table

from referee.commands.output import frame, out, styled
from referee.game import Game, Observation, Seat, Setup
from referee.live.matches.telling import actions_in_words
from referee.match.effects import Happened
from referee.records.moments import round_of
from referee.terminal import visible

_LAST = 12
"""The number of recent lines that a terminal shows."""
_MAX_CHARACTERS = 1000
"""The maximum length of a line; the lines of an honest referee are shorter."""
_PAUSE_SECONDS = 0.1
"""The minimum time between two redraws of a terminal."""


class Screen:
    """The display of one match; use it as a context manager.

    Attributes:
        ticks: True if the caller must call `tick` from time to time.
    """

    def __init__(self, title: str, game: Game, setup: Setup, names: Sequence[str]) -> None:
        """Prepare a screen.

        Args:
            title: a description of the match, in one line.
            game: the game.
            setup: the setup of the match.
            names: the names of the bots by seat; empty if they are not known.
        """
        self._title = title
        self._game = game
        self._setup = setup
        self._names = names
        self._before: Observation | None = None
        self._now: Happened | None = None
        self._deciding_since: dict[Seat, float] = {}
        self._last: deque[tuple[str, str]] = deque(maxlen=_LAST)
        self._drawn = 0.0
        self.ticks = out.is_terminal
        # Only `tick` redraws the display, because Rich's own thread would draw at any time.
        self._live = Live(console=out, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False)

    def __enter__(self) -> Screen:
        """Start the display."""
        if self.ticks:
            self._live.start()
        else:
            out.print(self._title, soft_wrap=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the display, and restore the terminal."""
        if self.ticks:
            self._live.stop()

    def show(self, happened: Happened) -> None:
        """Show the events since the last call."""
        now = time.monotonic()
        for seat, _ in happened.played:
            # The seat may be asked again at once, which is a new decision.
            self._deciding_since.pop(seat, None)
        self._deciding_since = {
            seat: self._deciding_since.get(seat, now) for seat, view in enumerate(happened.seats) if view.deciding
        }
        lines = list(self._lines(happened))
        self._before, self._now = happened.seen, happened
        if self.ticks:
            self._last.extend(lines)
            # House bots play hundreds of actions a second.
            if now - self._drawn >= _PAUSE_SECONDS:
                self.tick()
        else:
            for line in lines:
                out.print(styled(line), soft_wrap=True)

    def tick(self) -> None:
        """Redraw the terminal with the current times."""
        self._drawn = time.monotonic()
        if self._now is not None:
            last = [styled(line) for line in self._last]
            self._live.update(
                frame(self._title, round_of(self._now.seen).capitalize(), self._table(self._now), *last), refresh=True
            )

    def _lines(self, happened: Happened) -> Iterator[tuple[str, str]]:
        """Yield the events as lines with their styles."""
        bots = self._names or [f"seat {seat}" for seat in range(self._setup.seats)]
        for number, seat, (what, *scored) in actions_in_words(self._game, self._setup, bots, self._before, happened):
            yield _cut(f"{number:5}  seat {seat}  {what}"), "bold"
            for line in scored:
                yield _cut(f"       {line}"), "dim"
        begun = round_of(happened.seen)
        if begun and (self._before is None or begun != round_of(self._before)):
            yield f"       {begun.capitalize()}", "dim"

    def _table(self, happened: Happened) -> Table:
        names = ("bot",) if self._names else ()
        table = Table("rank", "seat", *names, "score", "thought", "now")
        now = time.monotonic()
        for seat, view in sorted(enumerate(happened.seats), key=lambda pair: (pair[1].rank, pair[0])):
            since = self._deciding_since.get(seat)
            doing = "out" if view.out else "" if since is None else f"deciding for {now - since:.0f} s"
            name = (self._names[seat],) if self._names else ()
            table.add_row(str(view.rank), str(seat), *name, str(view.score), f"{view.thought:.1f} s", doing)
        return table


def _cut(line: str) -> str:
    return visible(line, _MAX_CHARACTERS)
