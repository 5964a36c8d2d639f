"""The process of a table: a referee, bots, and the seat of the person.

`OpenTables` starts it, and communicates with it through pipes. Its input consists of JSON lines: first `{"folder": ...,
"table": ..., "request": {...}, "orders": {...}}`, then for each answer `{"decision": 3, "index": 0}`. Its output is a
`View` after each change. The process ends after the page of the match has been made, or when its parent process ends.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

import msgspec

from ladder.tables.choices import choices
from ladder.tables.following import Following, SeenAction
from ladder.tables.hosts import commands_of
from ladder.tables.person import Person
from ladder.tables.table_request import PERSON, TableRequest
from ladder.tables.view import Asking, Stage, TableSeat, View, digest_of
from referee.files import private_folder, write_private
from referee.game import label
from referee.live.matches.play import Command, Player, StartFailed, house_player, play_match
from referee.live.matches.worker import become_worker
from referee.match.clock import TimeControl
from referee.match.plan import MatchPlan
from referee.pages.match import make_page
from referee.records.record import RecordError
from referee.registry import find, shipped_board

RECORD = "record.jsonl"
REPLAY = "replay.html"
VIEW = "view.json"
"""The name of the file with the last view of a finished match; `RECORD` and `REPLAY` name the other files."""
NICENESS = 10
"""The niceness of table processes: when there is too little processor time, rated matches come first."""
MAX_ORDER_BYTES = 1024 * 1024
"""The maximum length of an input line, in bytes; the first line contains the filter of system calls."""
MAX_LOG = 60
"""The number of latest log lines in a view; more are included if they are newer than the person's last choice."""
MAX_NEW = 300
"""The maximum number of log lines in a view, however many are newer than the person's last choice."""


class _Table:
    """The match of this process, with its views for the person."""

    def __init__(
        self, folder: Path, table: str, request: TableRequest, commands: Mapping[str, Command], pipe: BinaryIO
    ) -> None:
        game = find(request.game)
        self._plan = MatchPlan(
            game=game,
            setup=game.setup(len(request.bots), request.options, shipped_board(game)),
            match_id=table,
            seed=secrets.randbits(62),
            bots=request.bots,
            control=TimeControl.parse(request.clock),
        )
        private_folder(folder)
        self._folder = folder
        self._seat = request.seat
        self._commands = commands
        self._pipe = pipe
        self._following: Following | None = None
        self._asking: Asking | None = None
        self._new_from = 1
        self._changed = asyncio.Event()
        self.person = Person(self._changed.set)

    async def play(self) -> None:
        """Play the match, make its page, and send the views."""
        record = self._folder / RECORD
        try:
            async with asyncio.TaskGroup() as tasks:  # if one of the tasks fails, both end
                showing = tasks.create_task(self._show_changes())
                await play_match(
                    self._plan,
                    [self._player(bot) for bot in self._plan.bots],
                    record=record,
                    position_file=self._folder / "position.json",
                    all_must_start=True,
                )
                showing.cancel()
        except ExceptionGroup as errors:  # any error is reported to the person
            self._tell(self._void(errors.exceptions))
            return
        self._tell(self._view(has_replay=False))
        # This runs in a thread, so that the end of the parent process is noticed while pictures are drawn.
        page = await asyncio.to_thread(make_page, record, find, lambda done, of: None)
        write_private(self._folder / REPLAY, page.html.encode())
        view = self._view(has_replay=True)
        # This is the last file: it marks the match as finished.
        write_private(self._folder / VIEW, view.to_json())
        self._tell(view)

    def _player(self, bot: str) -> Player:
        if bot == PERSON:
            return self.person
        return self._commands[bot] if bot in self._commands else house_player(bot)

    def _void(self, errors: Sequence[Exception]) -> View:
        """Return a view with the reason why the match has no result."""
        absent = [error.faults for error in errors if isinstance(error, StartFailed)]
        return View(
            Stage.VOID,
            self._plan.game.name,
            self._seat,
            str(self._plan.control),
            why_void="; ".join(str(error) or type(error).__name__ for error in errors),
            absent=[self._plan.bots[seat] for faults in absent for seat in faults],
        )

    def answer(self, decision: int, index: int) -> None:
        """Choose for the person; ignore a choice that is no longer possible."""
        question = self.person.question
        if self._following is not None and question is not None and question.number == decision:
            self._new_from = len(self._following.played) + 1
        self.person.choose(decision, index)

    async def _show_changes(self) -> None:
        while True:
            await self._changed.wait()
            # Cleared before the view is made, so that a change in the meantime leads to another view.
            self._changed.clear()
            self._tell(self._view(has_replay=False))

    def _tell(self, view: View) -> None:
        try:
            self._pipe.write(view.to_json() + b"\n")
            self._pipe.flush()
        except OSError:
            os._exit(1)  # the process that has started this one is gone

    def _view(self, *, has_replay: bool) -> View:
        plan, person = self._plan, self.person
        if self._following is None:
            try:
                self._following = Following(self._folder / RECORD, plan, find, self._seat)
            except RecordError:
                return View(Stage.LAID, plan.game.name, self._seat, str(plan.control))
        following = self._following
        following.read_on()
        asking = self._ask(following)
        stage = Stage.WAITS if asking is None else Stage.DECIDES
        if following.replay.result is not None:
            stage = Stage.OVER
        return View(
            stage,
            plan.game.name,
            self._seat,
            str(plan.control),
            picture=following.viewpoint.draw(),
            seats=self._seats(following),
            log=self._log(following),
            new_from=self._new_from,
            # Only up to the last step that the seat has learnt of, so that the number of secret plans stays secret until then.
            new_steps=sum(
                seat != self._seat for seat in following.played[self._new_from - 1 : following.viewpoint.scene.step]
            ),
            asking=asking if stage is Stage.DECIDES else None,
            remark=person.remark,
            is_out=person.is_out,
            strikes=sum(not trouble.is_out for trouble in following.replay.troubles if trouble.seat == self._seat),
            has_replay=has_replay,
        )

    def _log(self, following: Following) -> list[SeenAction]:
        """Return the last lines of the log, including the lines since the person's last choice."""
        new = sum(line.step >= self._new_from for line in following.log[-MAX_NEW:])
        return following.log[-max(MAX_LOG, new) :]

    def _ask(self, following: Following) -> Asking | None:
        question, asking = self.person.question, self._asking
        if question is None:
            return None
        # The words are expensive, because each action is played in several states.
        if asking is not None and (asking.number, asking.deadline) == (question.number, question.deadline):
            return asking
        plan = self._plan
        groups = choices(plan.game, plan.setup, following.viewpoint.seen, self._seat, plan.bots, question.actions)
        digest = digest_of([label(action) for action in question.actions])
        # The deadline is by `time.monotonic`, which is the same in all processes of the machine.
        is_shared = question.window is not None
        self._asking = Asking(question.number, digest, groups, question.deadline, question.bank, is_shared)
        return self._asking

    def _seats(self, following: Following) -> list[TableSeat]:
        state, result = following.replay.state, following.replay.result
        if result is not None:
            return [
                TableSeat(
                    seat.seat,
                    seat.bot,
                    seat.score,
                    seat.rank,
                    acts=False,
                    is_out=bool(seat.detail),
                    outcome=seat.outcome.value,
                )
                for seat in result.seats
            ]
        outs = {trouble.seat for trouble in following.replay.troubles if trouble.is_out}
        standing = zip(self._plan.bots, state.scores(), state.ranks(), strict=True)
        return [
            TableSeat(seat, bot, score, rank, acts=seat in state.seats_to_act(), is_out=seat in outs)
            for seat, (bot, score, rank) in enumerate(standing)
        ]


async def _run(pipe: BinaryIO) -> None:
    reader = asyncio.StreamReader(limit=MAX_ORDER_BYTES)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    first = json.loads(await reader.readline())
    request = msgspec.convert(first["request"], TableRequest)
    table = _Table(Path(first["folder"]), first["table"], request, commands_of(first["orders"]), pipe)
    playing = asyncio.create_task(table.play())
    hearing = asyncio.create_task(_hear(reader, table))
    await asyncio.wait([playing, hearing], return_when=asyncio.FIRST_COMPLETED)
    if playing.done():
        playing.result()
    hearing.cancel()
    playing.cancel()
    await asyncio.gather(playing, hearing, return_exceptions=True)


async def _hear(reader: asyncio.StreamReader, table: _Table) -> None:
    """Pass on answers until the parent process ends, or closes the input."""
    while line := await reader.readline():
        said = json.loads(line)
        table.answer(said["decision"], said["index"])


def main() -> None:
    """Play one match, as requested on standard input."""
    become_worker()
    os.umask(0o077)
    os.nice(NICENESS)
    pipe = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # printed text must not be taken for a view
    asyncio.run(_run(pipe))


if __name__ == "__main__":
    main()
