"""`dogana replay`: show a record step by step, as text, as drawings, or as the position at one step."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from referee.commands.output import out, print_json, styled, target
from referee.errors import DoganaError
from referee.files import write_file
from referee.game import Observation, Scene, Seat, label
from referee.match.effects import Decider
from referee.match.result import Outcome
from referee.records.changes import changes, describe
from referee.records.position import write_position
from referee.records.verify import Replay, Step
from referee.registry import find

_BY = {
    Decider.AGENT: "",
    Decider.FORCED: " (the only legal action)",
    Decider.CLOCK: " (default: time was up)",
    Decider.DEFAULT: " (default: the seat is out)",
}


class ReplayError(DoganaError):
    """A record cannot be shown in the way that was asked for."""


def replay(
    file: Annotated[Path, typer.Argument(help="A record.")],
    viewer: Annotated[int | None, typer.Option("--as", help="Show what this seat knew.", metavar="SEAT", min=0)] = None,
    svg: Annotated[
        Path | None, typer.Option(help="Draw every step into this folder.", metavar="DIR", parser=target)
    ] = None,
    at: Annotated[int | None, typer.Option(help="Show only the position after N actions.", metavar="N", min=0)] = None,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="With --at: print the position as JSON. Else: a JSON object for each step."),
    ] = False,
) -> None:
    """Show a record step by step; every step is played again by the rules.

    Examples:

      dogana replay match.jsonl

      dogana replay match.jsonl --as 1 --svg pictures

      dogana replay match.jsonl --at 40 --json > position.json
    """
    record = Replay(file, find)
    seats = record.plan.setup.seats
    if viewer is not None and viewer >= seats:
        raise ReplayError(f"there is no seat {viewer}; the seats are 0 to {seats - 1}")
    if at is not None:
        _show_position(record, file, at, viewer, svg, as_json=as_json)
        return
    if svg is not None:
        svg.mkdir(parents=True, exist_ok=True)
    _show_steps(record, viewer, svg, as_json=as_json)


def _show_position(
    record: Replay, file: Path, at: int, viewer: Seat | None, svg: Path | None, *, as_json: bool
) -> None:
    if at > record.actions_in_all:
        raise ReplayError(f"{file} has only {record.actions_in_all} actions, not {at}")
    game, setup, state = record.plan.game, record.plan.setup, record.state
    shown = _Shown(record, viewer)
    for step in record if at else ():
        shown.follow(step)
        if step.n == at:
            break
    if svg is not None:
        svg.mkdir(parents=True, exist_ok=True)
        write_file(svg / f"{at:05}.svg", game.draw(setup, shown.seen, shown.scene))
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
    shown = _Shown(record, viewer)
    picture = ""
    if svg is not None:
        picture = plan.game.draw(plan.setup, shown.seen, shown.scene)
        write_file(svg / "00000.svg", picture)
    for step in record:
        before = shown.seen
        learnt, known = shown.follow(step)
        if svg is not None:
            if learnt:
                picture = plan.game.draw(plan.setup, shown.seen, shown.scene)
            write_file(svg / f"{step.n:05}.svg", picture)
        _print_step(step, known, before, shown.seen, as_json=as_json)
    _print_result(record, as_json=as_json)


class _Shown:
    """What a viewer knows of a match, step by step.

    Attributes:
        seen: what the viewer observes.
        scene: what surrounds it. It stays as it is while the viewer learns nothing, as while others plan in secret.
    """

    def __init__(self, record: Replay, viewer: Seat | None) -> None:
        self._record = record
        self._viewer = viewer
        self._before = record.state.clone()
        self.seen = record.state.observation(viewer)
        self.scene = Scene(
            bots=tuple(record.plan.bots), steps=record.actions_in_all, clocks=tuple(record.seconds_left())
        )

    def follow(self, step: Step) -> tuple[bool, bool]:
        """Take in a step that was just played; return whether the viewer learns of anything, and whether of the action."""
        known = step.seat == self._viewer or self._before.is_public(step.seat, step.action)
        self._before = self._record.state.clone()
        seen = self._record.state.observation(self._viewer)
        learnt = known or seen != self.seen
        if learnt:
            self.scene = Scene(
                bots=self.scene.bots,
                step=step.n,
                steps=self.scene.steps,
                before=self.seen,
                seat=step.seat,
                action=step.action if known else None,
                clocks=tuple(self._record.seconds_left()),
            )
        self.seen = seen
        return learnt, known


def _print_step(step: Step, known: bool, before: Observation, seen: Observation, *, as_json: bool) -> None:
    changed = changes(before, seen)
    if as_json:
        print_json(
            {
                "n": step.n,
                "seat": step.seat,
                "action": label(step.action) if known else None,
                "by": step.by.value,
                "ms": round(step.seconds * 1000, 3),
                "changes": changed,
            }
        )
        return
    if known:
        out.print(styled(f"{step.n:5}  seat {step.seat}  ", (label(step.action), "bold"), _BY[step.by]), soft_wrap=True)
    elif changed:
        out.print(f"{step.n:5}  seat {step.seat}  decides in secret", soft_wrap=True)
    else:
        return
    if changed:
        out.print(f"       {'; '.join(changed)}", style="dim", soft_wrap=True)


def _print_result(record: Replay, *, as_json: bool) -> None:
    result = record.result
    if result is None or as_json:
        return
    for seat in sorted(result.seats, key=lambda seat: (seat.rank, seat.seat)):
        outcome = "" if seat.outcome is Outcome.PLAYED else f", out ({seat.outcome.value}): {seat.detail}"
        out.print(f"place {seat.rank}: seat {seat.seat}, {seat.bot}, score {seat.score}{outcome}", soft_wrap=True)
