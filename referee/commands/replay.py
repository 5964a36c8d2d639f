"""The output of `dogana replay`: all steps of a record as text, drawings or a page, or the position at one step."""

from __future__ import annotations

import time
from collections.abc import Sequence
from enum import Enum
from pathlib import Path

from referee.commands.output import err, out, print_json, styled
from referee.errors import DoganaError
from referee.files import check_free, make_folder, write_file
from referee.game import Observation, Seat, label
from referee.match.effects import Decider
from referee.match.result import Outcome
from referee.pages.match import make_page
from referee.records.changes import changes, describe
from referee.records.position import write_position
from referee.records.verify import Replay, ReplayStep, Trouble
from referee.records.viewpoint import Viewpoint
from referee.registry import find
from referee.terminal import counted

_BY = {
    Decider.AGENT: "",
    Decider.FORCED: " (the only legal action)",
    Decider.CLOCK: " (default: time was up)",
    Decider.DEFAULT: " (default: the seat is out)",
    Decider.OPENING: " (drawn: part of the opening)",
}


_SECONDS_BETWEEN_REMARKS = 2.0


class Views(Enum):
    """The views that a page contains: those of all seats and spectators, or only that of spectators."""

    ALL = "all"
    PUBLIC = "public"


class ReplayError(DoganaError):
    """The options contradict each other, or name a seat or step that the record does not contain."""


def show(
    file: Path,
    *,
    viewer: Seat | None,
    svg: Path | None,
    at: int | None,
    html: Path | None,
    views: Views | None,
    force: bool,
    as_json: bool,
) -> None:
    """Show a record according to the options of `dogana replay`.

    Raises:
        ReplayError: if the options contradict each other, or the record has no such seat or step.
        RecordError: if the record is not valid; the steps before the fault have been shown.
    """
    if html is not None:
        if viewer is not None or svg is not None or at is not None or as_json:
            raise ReplayError("--html goes with --views only: the page has every step, and what each seat knew")
        check_free(html, force=force)
        _write_page(file, html, views)
        return
    if views is not None:
        raise ReplayError("--views goes with --html; what one seat knew is shown by --as")
    if svg is not None:
        check_free(svg, force=force, is_folder=True)
    elif force:
        raise ReplayError("--force goes with --html and --svg")
    record = Replay(file, find)
    seats = record.plan.setup.seats
    if viewer is not None and viewer >= seats:
        raise ReplayError(f"there is no seat {viewer}; the seats are 0 to {seats - 1}")
    if at is not None:
        _show_position(record, file, at, viewer, svg, as_json=as_json)
        return
    if svg is not None:
        make_folder(svg)
    _show_steps(record, viewer, svg, as_json=as_json)


def _write_page(file: Path, html: Path, views: Views | None) -> None:
    printed_at = time.monotonic()

    def progress(drawn: int, pictures: int) -> None:
        nonlocal printed_at
        if time.monotonic() - printed_at >= _SECONDS_BETWEEN_REMARKS:
            printed_at = time.monotonic()
            err.print(f"{drawn} of {pictures} pictures are drawn", style="dim", soft_wrap=True)

    page = make_page(file, find, progress, seats_too=None if views is None else views is Views.ALL)
    write_file(html, page.html)
    seen_by = f"what spectators and {page.seats} seats saw" if page.seats else "what spectators saw"
    err.print(
        f"{html}: {counted(page.steps, 'step')}, {seen_by}, {len(page.html.encode()) / 1000:.0f} KB", soft_wrap=True
    )
    err.print(f"look at {html}{page.moment}", soft_wrap=True)
    if page.broken:
        raise ReplayError(f"{file}: {page.broken}; the page ends there and says so")


def _show_position(
    record: Replay, file: Path, at: int, viewer: Seat | None, svg: Path | None, *, as_json: bool
) -> None:
    if at > record.actions_in_all:
        raise ReplayError(f"{file} has only {record.actions_in_all} actions, not {at}")
    game, setup, state = record.plan.game, record.plan.setup, record.state
    viewpoint = Viewpoint(record, viewer)
    # The iteration would verify the first step, and change the state.
    for step in record if at else ():
        viewpoint.follow(step)
        # Later steps are not verified, and not shown.
        if step.n == at:
            break
    if svg is not None:
        make_folder(svg)
        write_file(svg / f"{at:05}.svg", viewpoint.draw())
    if as_json:
        print_json(write_position(game, setup, state))
        return
    out.print(f"{game.title} after {at} actions")
    for line in describe(state.observation(viewer)):
        out.print(f"  {line}", soft_wrap=True)
    for seat in state.seats_to_act():
        legal = ", ".join(map(label, state.legal_actions(seat)))
        out.print(f"seat {seat} is to act: {legal}", soft_wrap=True)


def _show_steps(record: Replay, viewer: Seat | None, svg: Path | None, *, as_json: bool) -> None:
    plan = record.plan
    if not as_json:
        out.print(f"{plan.game.title}, {plan.setup.seats} seats, match {plan.match_id}", soft_wrap=True)
        for seat, bot in enumerate(plan.bots):
            out.print(f"seat {seat}: {bot}", soft_wrap=True)
    viewpoint = Viewpoint(record, viewer)
    if svg is not None:
        write_file(svg / "00000.svg", viewpoint.draw())
    printed = 0
    for step in record:
        before, known = viewpoint.seen, viewpoint.follow(step)
        if svg is not None:
            write_file(svg / f"{step.n:05}.svg", viewpoint.draw())
        if not as_json:
            _print_troubles(record.troubles[printed:])  # the step came after them
            printed = len(record.troubles)
        _print_step(step, viewpoint, known, before, as_json=as_json)
    if not as_json:
        _print_troubles(record.troubles[printed:])
    _print_result(record, as_json=as_json)


def _print_troubles(troubles: Sequence[Trouble]) -> None:
    for one in troubles:
        what = f"is {'out' if one.is_out else 'struck'} ({one.reason})"
        detail = "".join([f": {one.detail}" if one.detail else "", f", rule {one.rule}" if one.rule else ""])
        out.print(f"       seat {one.seat}  {what}{detail}", soft_wrap=True)


def _print_step(step: ReplayStep, viewpoint: Viewpoint, known: bool, before: Observation, *, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "n": step.n,
                "seat": step.seat,
                "action": label(step.action) if known else None,
                "by": step.by.value,
                "ms": round(step.seconds * 1000, 3),
                "changes": changes(before, viewpoint.seen),
            }
        )
        return
    if viewpoint.scene.step != step.n:  # the viewer learns nothing
        return
    what, *scored = viewpoint.tell()
    out.print(styled(f"{step.n:5}  seat {step.seat}  ", (what, "bold"), _BY[step.by] if known else ""), soft_wrap=True)
    for line in scored:
        out.print(f"       {line}", style="dim", soft_wrap=True)


def _print_result(record: Replay, *, as_json: bool) -> None:
    result = record.result
    if result is None or as_json:
        return
    for seat in sorted(result.seats, key=lambda seat: (seat.rank, seat.seat)):
        outcome = "" if seat.outcome is Outcome.PLAYED else f", out ({seat.outcome.value}): {seat.detail}"
        out.print(f"place {seat.rank}: seat {seat.seat}, {seat.bot}, score {seat.score}{outcome}", soft_wrap=True)
