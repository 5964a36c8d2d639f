"""All tables of this server: their processes, the views of the people who play, and the clearing of tables.

A table has a random id, which may be passed on, and a random key, which only the person's browser gets when the table is made.
Only the key gives access to the seat. A new table never takes a key from the browser, because somebody else could have put it
there. For a few days, a finished match is open to everybody who has its id.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import hashlib
import json
import logging
import os
import re
import secrets
import shutil
import sys
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self

from ladder.model.match import Version
from ladder.operation.errors import LadderError, NotFound, TooMuch
from ladder.operation.journal import note
from ladder.operation.limits import TableLimits
from ladder.tables.hosts import Hosts
from ladder.tables.process import VIEW
from ladder.tables.table_request import TableRequest
from ladder.tables.view import Stage, View
from referee.files import in_words, private_folder, read_file
from referee.live.seats.orphans import kill_below

TABLES = 32
"""The default maximum number of concurrent tables, which is enough for a class. Each table takes 40 MB."""
MAX_OF_ONE = 2
"""The maximum number of tables for one person. By default, one address may have all tables, because a whole class may
share an address."""
MAX_FINISHED = 200
"""The maximum number of finished matches that are stored."""
STOP_SECONDS = 2.0
"""The time allowed for the process of a table to end."""
MAX_VIEW_BYTES = 4 * 1024 * 1024
"""The maximum size of a view; most of a view is the picture, which takes less than 100 kB."""
ID = re.compile(r"[0-9a-f]{20}", re.ASCII)
"""The form of a table's id."""


class Stale(LadderError):
    """An answer to a decision that is no longer open."""


@dataclass(frozen=True, slots=True)
class PersonAnswer:
    """A person's choice."""

    decision: int
    digest: str
    """The `Asking.digest` of the person's page."""
    index: int


class Table:
    """A match that a person plays, in a process of its own that ends after the match."""

    def __init__(
        self,
        table: str,
        request: TableRequest,
        hosted: int,
        key_hash: str,
        address: str,
        process: asyncio.subprocess.Process,
    ) -> None:
        self.id = table
        self.request = request
        self.hosted = hosted
        """The number of authors' bots at the table."""
        self.view = View(Stage.LAID, request.game, request.seat, request.clock)
        self.address = address
        self.process = process
        self.key_hash = key_hash
        self._last: PersonAnswer | None = None
        self._changed = asyncio.Condition()
        self._revision = 0
        self._speaks = False
        """True if the page polls for updates, as its script does."""
        self.awaited = time.monotonic()
        """The time (`time.monotonic`) from which the silence of the person's page is counted."""

    @property
    def revision(self) -> str:
        """The identifier of the person's current view."""
        return str(self._revision)

    def is_of(self, key: str) -> bool:
        """Return True if a key is the key of the table."""
        return secrets.compare_digest(_hash_of(key), self.key_hash)

    @property
    def has_ended(self) -> bool:
        """True if the process of the table has ended."""
        return self.process.returncode is not None

    def look(self) -> View:
        """Return the view, and record that the person is present."""
        self.awaited = time.monotonic()
        if (
            self.view.asking is not None and not self._speaks
        ):  # without its script, the page looks again when the time for the decision is over
            self.awaited = max(self.awaited, self.view.asking.deadline)
        return self.view

    async def show(self, view: View) -> None:
        """Set a new view."""
        async with self._changed:
            self.view = view
            self._revision += 1
            self._changed.notify_all()

    def heard(self) -> None:
        """Record that the person's page is open, and that its script polls for updates."""
        self._speaks, self.awaited = True, time.monotonic()

    async def until(self, seen: str, seconds: float) -> None:
        """Wait for a view other than `seen`, but no longer than `seconds`; this also records that the person's page is open."""
        self.heard()
        await self._until(lambda: self.revision != seen, seconds)
        self.awaited = time.monotonic()

    async def settled(self, seconds: float) -> None:
        """Wait for the person's next decision or the end of the match, but no longer than `seconds`."""
        await self._until(lambda: self.view.stage not in (Stage.LAID, Stage.WAITS), seconds)

    async def _until(self, happened: Callable[[], bool], seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds), self._changed:
                await self._changed.wait_for(happened)

    async def answer(self, answer: PersonAnswer) -> None:
        """Play the person's choice; repeating it changes nothing.

        Raises:
            Stale: if that decision is no longer open, or has no action with that number.
        """
        self.awaited = time.monotonic()
        if answer == self._last:
            return
        asking = self.view.asking
        if asking is None or (asking.number, asking.digest) != (answer.decision, answer.digest):
            raise Stale("that decision is not open any more; here is how the table is now")
        if not 0 <= answer.index < asking.count:
            raise Stale(f"there is nothing of that number to choose; there are {asking.count} actions")
        if self._last is not None and self._last.decision == asking.number:
            raise Stale("you have chosen already; here is how the table is now")
        pipe = self.process.stdin
        assert pipe is not None  # noqa: S101 it was started with a pipe
        # Before the first `await`, during which the same click may arrive again.
        self._last = answer
        await self.show(replace(self.view, stage=Stage.WAITS, asking=None, remark=""))
        pipe.write(json.dumps({"decision": answer.decision, "index": answer.index}).encode() + b"\n")
        with contextlib.suppress(ConnectionError):  # the task that reads from the process reports its end
            await pipe.drain()


class OpenTables:
    """The tables of one ladder; use it as an asynchronous context manager."""

    def __init__(
        self,
        folder: Path,
        hosts: Hosts | None,
        limits: TableLimits,
        *,
        tables: int = TABLES,
        of_address: int | None = None,
    ) -> None:
        """Prepare for at most `tables` tables, `of_address` of them for one address; `folder` stores finished matches.

        Without `hosts`, there are only house bots; without `of_address`, one address may have all tables.
        """
        self._most = tables
        self._of_address = tables if of_address is None else of_address
        self._folder = folder.absolute()
        self._hosts = hosts
        self._limits = limits
        self._tables: dict[str, Table] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._laying = asyncio.Lock()
        self._lock: int | None = None

    async def __aenter__(self) -> Self:
        """Lock the folder.

        Raises:
            LadderError: if another program has locked it.
            OSError: if the folder cannot be made.
        """
        self._lock = _take(self._folder)
        self._sweep()
        self._begin(self._look_after())
        return self

    async def __aexit__(self, *_: object) -> None:
        """Clear all tables."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        try:
            await asyncio.gather(*(self.clear(table) for table in list(self._tables.values())))
            self._sweep()
        finally:
            if self._lock is not None:
                os.close(self._lock)

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # for people

    async def lay(
        self,
        request: TableRequest,
        keys: Mapping[str, str],
        address: str,
        versions: Mapping[str, Version] | None = None,
    ) -> tuple[Table, str]:
        """Make a table; return it with its key.

        Args:
            request: the valid request of the person.
            keys: the keys of the person's other tables, by their ids.
            address: the address of the person.
            versions: the requested bots of authors, by label.

        Raises:
            TooMuch: if there are too many tables.
            LadderError: if the folder was replaced, or the files of a bot are damaged.
        """
        if not self._is_ours():
            raise LadderError(
                "the folder of the tables was replaced or removed; nobody can play until the pages are restarted"
            )
        # No other table is made while files are checked and the process starts, so the limits are still met when the table is added.
        async with self._laying:
            hosted = 0 if not versions else sum(bot in versions for bot in request.bots)
            taken = [table for table in self._tables.values() if not table.has_ended]
            if sum(table.is_of(keys.get(table.id, "")) for table in taken) >= MAX_OF_ONE:
                raise TooMuch(f"you are playing {MAX_OF_ONE} matches already; end one of them first")
            if len(taken) >= self._most:
                raise TooMuch(f"all {self._most} tables are taken; come back later")
            if sum(table.address == address for table in taken) >= self._of_address:
                raise TooMuch(f"{self._of_address} matches are being played from your address; come back later")
            if hosted and sum(table.hosted for table in taken) + hosted > self._limits.hosted:
                raise TooMuch(
                    f"at most {self._limits.hosted} of authors' bots play at a time; come back later, or play against house bots"
                )
            orders = {}
            if self._hosts is not None and versions:
                orders = await asyncio.to_thread(self._hosts.orders, versions)
            # Taken after all other checks, so that their refusals use up no allowance.
            self._limits.laid.take(address)
            name = secrets.token_hex(10)
            try:
                # Started from this thread, because Linux kills the process together with the thread that started it.
                # With `-P`, Python imports no module from the working folder.
                process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-P", "-m", "ladder.tables.process"),
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=asyncio.subprocess.DEVNULL,
                    limit=MAX_VIEW_BYTES,
                )
            except OSError as error:
                raise TooMuch(f"no table can be laid at the moment: {error.strerror}") from error
            key = secrets.token_urlsafe(32)
            table = self._tables[name] = Table(name, request, hosted, _hash_of(key), address, process)
        assert process.stdin is not None  # noqa: S101 it was started with a pipe
        first = {"folder": str(self._folder / name), "table": name, "request": asdict(request), "orders": orders}
        process.stdin.write(json.dumps(first).encode() + b"\n")
        self._begin(self._follow(table))
        return table, key

    def table(self, table: str) -> Table | None:
        """Return a table whose match is running or has just ended; None if there is no such table."""
        return self._tables.get(table)

    def tables_of(self, keys: Mapping[str, str]) -> list[Table]:
        """Return the tables of the person with these keys."""
        return [table for table in self._tables.values() if table.is_of(keys.get(table.id, ""))]

    def finished(self, table: str) -> View:
        """Return the last view of a finished match.

        Raises:
            NotFound: if there is no such match, or it has been removed.
        """
        try:
            return View.from_json(self.file(table, VIEW))
        except ValueError:
            raise NotFound("that match was played with another version, which wrote it in another way") from None

    def file(self, table: str, name: str) -> bytes:
        """Return a file of a finished match: `RECORD` or `REPLAY`.

        Raises:
            NotFound: if there is no such match, or it has been removed.
        """
        folder = self._folder / table
        if not ID.fullmatch(table) or not (folder / VIEW).exists():
            days = self._limits.retention_seconds / 86_400
            raise NotFound(f"there is no such table, or not any more: matches are kept {days:.0f} days")
        try:
            return read_file(folder / name, 16 * MAX_VIEW_BYTES)
        except OSError:
            raise NotFound("that file is not there any more") from None

    # the processes

    async def _follow(self, table: Table) -> None:
        """Show each view that the process of a table sends, until the process ends."""
        pipe = table.process.stdout
        assert pipe is not None  # noqa: S101
        try:
            while line := await pipe.readline():
                await table.show(View.from_json(line))
        except ValueError:  # a line that is too long, or is not a view
            kill_below(table.process.pid)
        status = await table.process.wait()
        if table.id in self._tables and not (self._folder / table.id / VIEW).exists():
            why = table.view.why_void or f"its process ended with status {status}"
            note("table", logging.WARNING, table=table.id, text=f"a match of a person is void: {why}")
            await table.show(
                View(Stage.VOID, table.request.game, table.request.seat, table.request.clock, why_void=why)
            )

    async def clear(self, table: Table) -> None:
        """End the process of a table; a finished match stays in its folder."""
        self._tables.pop(table.id, None)
        process = table.process
        if process.stdin is not None:
            # Closing its input tells the process to end.
            process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), STOP_SECONDS)
        except TimeoutError:
            kill_below(process.pid)
            await process.wait()
        if table.hosted and self._hosts is not None:
            await asyncio.to_thread(self._hosts.sweep)
        self._sweep()

    async def _look_after(self) -> None:
        while True:
            await asyncio.sleep(self._limits.sweep_seconds)
            try:
                for table in list(self._tables.values()):  # a copy: `clear` removes tables
                    if is_idle(table, time.monotonic(), self._limits):
                        await self.clear(table)
                self._sweep()
            except OSError as error:
                note("tables", logging.WARNING, text=f"old matches of people cannot be removed: {in_words(error)}")

    def _is_ours(self) -> bool:
        """Return True if the folder is still the locked one; another program may have replaced or removed it."""
        try:
            return self._lock is not None and os.path.samestat(os.fstat(self._lock), self._folder.stat())
        except FileNotFoundError:
            return False

    def _sweep(self) -> None:
        """Remove the files of unfinished matches, and of finished ones that are too old or too many."""
        if not self._is_ours():
            return
        finished = []
        for folder in self._folder.iterdir():
            if folder.name in self._tables or not ID.fullmatch(folder.name):
                continue
            try:
                finished.append(((folder / VIEW).stat().st_mtime, folder))
            except OSError:
                # The last view is written after all other files; without it, the match is unfinished.
                shutil.rmtree(folder, ignore_errors=True)
        finished.sort(reverse=True)
        for place, (ended, folder) in enumerate(finished):
            if place >= MAX_FINISHED or time.time() - ended > self._limits.retention_seconds:
                shutil.rmtree(folder, ignore_errors=True)


def is_idle(table: Table, now: float, limits: TableLimits) -> bool:
    """Return True if a table can be cleared: its player has left, or its match is over and its process has ended."""
    return now - table.awaited > (limits.sweep_seconds if table.has_ended else limits.gone_seconds)


def check_free(folder: Path) -> None:
    """Check that a folder can be used for tables.

    Raises:
        LadderError: if another program has locked it.
        OSError: if the folder cannot be made.
    """
    os.close(_take(folder.absolute()))


def _take(folder: Path) -> int:
    """Lock a folder for this process; return the descriptor that holds the lock."""
    private_folder(folder)
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise LadderError(f"people play at {folder} already; one program at a time can let them") from None
    return lock


def _hash_of(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()
