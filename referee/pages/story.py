"""The data of a page, as columns: actions in words, places, scores, clocks and troubles.

A seat's secrets appear only in its own log.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from referee.game import Game, Seat, label
from referee.match.result import Result
from referee.records.changes import changes
from referee.records.moments import lead_lost, place_on_page, round_of
from referee.records.record import RecordError
from referee.records.verify import Replay
from referee.records.viewpoint import Viewpoint
from referee.terminal import visible

MAX_NAME = 60
"""The maximum length of a name written by a stranger."""
MAX_TEXT = 300
"""The maximum length of other texts, such as the reason for refusing an answer."""

Entry = list[str]
"""A line of a log: the action, the event in words, and then the changes.

The action is empty if the viewer does not know it; the event is empty if the viewer learns nothing.
"""
Clock = tuple[int, Seat, float, float]
"""A change of a clock: (step, seat, milliseconds charged since the previous step, seconds left after this step)."""


@dataclass(slots=True)
class Story:
    """A match in columns, one entry for each step or for each change."""

    replay: Replay
    log: list[Entry] = field(default_factory=list)
    """The spectators' log, with an entry for each step."""
    logs: list[list[Entry]] = field(default_factory=list)
    """The log of each seat; empty if the page has no views of seats."""
    seats: list[Seat] = field(default_factory=list)
    """The seat that played each step."""
    by: list[str] = field(default_factory=list)
    """The decider of each step: the first letter of a `Decider`."""
    rounds: list[tuple[int, str]] = field(default_factory=list)
    """The start of each round, as (step, name)."""
    places: list[tuple[int, list[int]]] = field(default_factory=list)
    """Each change of places, as (step, the place of each seat)."""
    scores: list[tuple[int, list[int]]] = field(default_factory=list)
    """Each change of scores, as (step, the score of each seat)."""
    clocks: list[Clock] = field(default_factory=list)
    broken: str = ""
    """The place and the reason if the record is not valid; otherwise empty."""

    @property
    def result(self) -> Result | None:
        """The result of the match; None if the record is not valid."""
        return self.replay.result


def read_story(path: Path, find_game: Callable[[str], Game], seats_too: bool | None) -> Story:
    """Replay a record, and collect its story.

    Args:
        path: the record.
        find_game: a function that looks up a game by name, or raises `UnknownGame`.
        seats_too: True to include the log of each seat; None to do so if the record reveals its seed, because all
            matches with this seed are then over.

    Returns:
        The story, which ends before the first line that is not valid.

    Raises:
        RecordError: if not even the start of the match is valid.
    """
    replay = Replay(path, find_game)
    viewers = range(replay.plan.setup.seats if seats_too or (seats_too is None and replay.is_sealed) else 0)
    story = Story(replay, logs=[[] for _ in viewers])
    viewpoints = [Viewpoint(replay, viewer) for viewer in (None, *viewers)]
    spectator = viewpoints[0]
    used = replay.seconds_used()

    def note_standings(step: int) -> None:
        places = [seat.rank for seat in getattr(spectator.seen, "seats", ())]
        if not story.places or places != story.places[-1][1]:
            story.places.append((step, places))
        scores = replay.state.scores()
        if not story.scores or scores != story.scores[-1][1]:
            story.scores.append((step, scores))
        name = round_of(spectator.seen)
        if name and (not story.rounds or story.rounds[-1][1] != name):
            story.rounds.append((step, name))

    note_standings(0)
    try:
        for step in replay:
            for viewer, log in zip(viewpoints, (story.log, *story.logs), strict=True):
                before, known = viewer.seen, viewer.follow(step)
                # The scene stays at the last step that the viewer has learnt about.
                said = "; ".join(viewer.tell()) if viewer.scene.step == step.n else ""
                texts = [label(step.action) if known else "", said, *changes(before, viewer.seen)]
                log.append([visible(text) for text in texts])
            story.seats.append(step.seat)
            story.by.append(step.by.value[0])
            note_standings(step.n)
            used_before, used = used, replay.seconds_used()
            for seat, left in enumerate(replay.seconds_left()):
                if used[seat] > used_before[seat]:
                    milliseconds = (used[seat] - used_before[seat]) * 1000
                    story.clocks.append((step.n, seat, round(milliseconds, 1), round(left, 1)))
    except RecordError as error:
        story.broken = f"line {error.line}: {error.reason}" if error.line else error.reason
    return story


def moment(story: Story) -> str:
    """Return the most interesting moment of the match as a URL fragment: `#s=127&as=1`.

    It is the moment at which the first seat was put out. If none was, it is the last loss of the lead, or the end.
    """
    outs = [(trouble.after, trouble.seat) for trouble in story.replay.troubles if trouble.is_out]
    places = list(story.places)
    if story.result is not None:
        # Seats that went out rank last in the result, whatever the rules said about their places.
        places.append((len(story.seats), [seat.rank for seat in story.result.seats]))
    step, seat = (*outs, lead_lost(places) or (len(story.seats), None))[0]
    return place_on_page(step, seat if story.logs else None)


def columns(story: Story) -> dict[str, Any]:
    """Return the story for the payload of a page."""
    plan, result = story.replay.plan, story.result
    # The values are sorted, because gzip compresses similar neighbours better.
    texts = sorted({text for log in (story.log, *story.logs) for entry in log for text in entry if text})
    place = {text: number for number, text in enumerate(texts)} | {"": -1}
    log, *logs = ([[place[text] for text in entry] for entry in log] for log in (story.log, *story.logs))
    return {
        "match": visible(plan.match_id, MAX_NAME),
        "game": plan.game.title,
        "clock": str(plan.control),
        "cap": plan.control.cap,
        "bots": [visible(bot, MAX_NAME) for bot in plan.bots],
        "places": story.places,
        "scores": story.scores,
        "rounds": story.rounds,
        "clocks": _clock_columns(story.clocks),
        "troubles": [
            [
                trouble.after,
                trouble.seat,
                trouble.is_out,
                visible(trouble.reason, MAX_NAME),
                visible(trouble.detail, MAX_TEXT),
                visible(trouble.rule, MAX_NAME),
            ]
            for trouble in story.replay.troubles
        ],
        "seat": story.seats,
        "by": "".join(story.by),
        "texts": texts,
        "log": log,
        # Where a seat learns no more than spectators do, a 0 stands for the spectators' entry.
        "logs": [[0 if own == public else own for own, public in zip(seat, log, strict=True)] for seat in logs],
        "final": None if result is None else [[seat.rank, seat.score] for seat in result.seats],
        "broken": story.broken,
    }


def _clock_columns(clocks: Sequence[Clock]) -> list[list[float]]:
    """Return columns, which gzip compresses better than rows; the first contains the number of steps since the previous row."""
    steps = [step for step, *_ in clocks]
    gaps: list[float] = [step - before for before, step in zip([0, *steps], steps, strict=False)]
    return [gaps, *([row[column] for row in clocks] for column in (1, 2, 3))]


def standing(story: Story) -> list[dict[str, Any]]:
    """Return a row for each seat, best first, from the result or else from the record's last valid step."""
    replay, result = story.replay, story.result
    rows = []
    for seat, bot in enumerate(replay.plan.bots):
        outs = [trouble for trouble in replay.troubles if trouble.is_out and trouble.seat == seat]
        row: dict[str, Any] = {
            "place": story.places[-1][1][seat] if story.places[-1][1] else None,
            "seat": seat,
            "bot": visible(bot, MAX_NAME),
            "score": story.scores[-1][1][seat],
            "fault": f"out ({outs[0].reason}): {visible(outs[0].detail, MAX_TEXT)}" if outs else "",
            "seconds": replay.seconds_used()[seat],
        }
        if result is not None:
            row["place"] = result.seats[seat].rank
        rows.append(row)
    return sorted(rows, key=lambda row: (row["place"] or 0, row["seat"]))
