"""The pages of matches that are drawn, kept by what is in their records. Nobody waits for a drawing in a request.

A page takes some seconds of a processor to draw. So it is asked for again and again, until it is there: see `Drawings.ask`.
Somebody waits for it, so it is drawn beside matches, not after them: on a machine that plays around the clock, that would take minutes.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_cache_path

from ladder.operation.errors import TooMuch
from ladder.operation.home import Home
from referee.files import private_folder
from referee.version import installed_version

MAX_WAITING = 16
"""How many pages may wait to be drawn."""
MAX_WAITING_OF_ONE = 4
"""How many of them may wait for one who asks."""
LEFT_SECONDS = 10.0
"""Who has not asked again for so long waits no more: browsers ask every 3 s. All others come first."""
MAX_SECONDS = 900
"""How long a page may take to be drawn."""
RETRY_SECONDS = 60.0
"""How long nothing is done about a page that could not be drawn."""
_PROGRESS = re.compile(r"([0-9]{1,9}) ([0-9]{1,9})", re.ASCII)
"""How a process tells how far it is."""
_MAX_WORDS = 500
"""How many characters are kept of what went wrong."""


@dataclass(slots=True)
class Drawing:
    """How far the page of a match is.

    Attributes:
        page: the file; None while it is not drawn.
        done: how many pictures are drawn.
        of: how many there will be; 0 if it is not known yet.
        ahead: how many pages are drawn before this one.
        problem: why it cannot be drawn; empty if it can, or nobody knows yet.
    """

    page: Path | None = None
    done: int = 0
    of: int = 0
    ahead: int = 0
    problem: str = ""


@dataclass(slots=True)
class _Job:
    record: bytes
    who: str
    drawing: Drawing
    asked_at: float
    failed_at: float = 0.0


def pages_folder(home: Home) -> Path:
    """Return the folder for the drawn pages of a ladder: its own, or one of this user if that cannot be written."""
    folder = home.folder.absolute() / "pages"
    try:
        private_folder(folder)
        if os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass
    folder = user_cache_path("dogana") / "pages"
    folder.parent.mkdir(parents=True, exist_ok=True)
    private_folder(folder)
    return folder


class Drawings:
    """Pages that are drawn one at a time, in the order in which they were asked for; use it as a context manager.

    Those for which nobody waits any more come last. It may be called from any thread.
    """

    def __init__(self, folder: Path, niceness: int = 0) -> None:
        """Keep pages in a folder, which other processes may use in the same way.

        Args:
            folder: where they are kept.
            niceness: how far what draws gives way to what else this machine does, beyond the thread that enters.
        """
        self._folder = folder
        self._niceness = niceness
        self._jobs: OrderedDict[str, _Job] = OrderedDict()
        self._change = threading.Condition()
        self._drawn = ""
        """The name of the page that is being drawn; empty for none."""
        self._is_closed = False
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._work, name="drawings", daemon=True)

    def __enter__(self) -> Drawings:
        """Begin to draw."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Draw no more; what is half drawn is given up."""
        with self._change:
            self._is_closed = True
            self._change.notify()
            if self._process is not None:
                self._process.kill()
        self._thread.join()

    def find(self, record: bytes) -> Path | None:
        """Return the page of a record, if it is drawn."""
        page = self._folder / f"{name_of(record)}.html"
        try:
            os.utime(page)  # it was looked at
        except FileNotFoundError:
            return None
        return page

    def ask(self, record: bytes, who: str = "") -> Drawing:
        """Have the page of a record drawn, if it is not; return how far it is.

        Args:
            record: the record, compressed or not.
            who: for whom it is counted how many pages wait; empty for ourselves.

        Raises:
            TooMuch: if too many others wait.
        """
        if page := self.find(record):
            return Drawing(page)
        name = name_of(record)
        with self._change:
            for old in [old for old, job in self._jobs.items() if job.failed_at and _is_past(job)]:
                del self._jobs[old]
            if name in self._jobs:
                self._jobs[name].asked_at = _now()
            waiting = [other for other, _ in self._next()]
            if name not in self._jobs:
                theirs = sum(self._jobs[other].who == who for other in waiting)
                if len(waiting) >= MAX_WAITING or (who and theirs >= MAX_WAITING_OF_ONE):
                    raise TooMuch("too many matches are to be drawn at the moment; come back in a minute")
                self._jobs[name] = _Job(record, who, Drawing(), _now())
                self._change.notify()
            job = self._jobs[name].drawing
            waiting = [other for other, _ in self._next()]
            ahead = waiting.index(name) if name in waiting else len(waiting)
            return Drawing(None, job.done, job.of, 0 if job.problem else ahead, job.problem)

    def _work(self) -> None:
        while True:
            with self._change:
                while not self._is_closed and not self._next():
                    self._change.wait()
                if self._is_closed:
                    return
                name, job = self._next()[0]
                self._drawn = name
                try:
                    self._process = self._start(name)
                except OSError as error:
                    job.drawing.problem, job.failed_at = f"no process could be started: {error.strerror}", _now()
                    self._drawn = ""
                    continue
            problem = self._follow(self._process, job)
            with self._change:
                self._process, self._drawn = None, ""
                job.record = b""
                if problem:
                    job.drawing.problem, job.failed_at = problem, _now()
                else:
                    del self._jobs[name]

    def _next(self) -> list[tuple[str, _Job]]:
        """Return what is to be drawn, in its order; the one that is being drawn comes first."""
        now = _now()
        left = [(name, job) for name, job in self._jobs.items() if not job.failed_at]
        return sorted(left, key=lambda one: (one[0] != self._drawn, now - one[1].asked_at > LEFT_SECONDS))

    def _start(self, name: str) -> subprocess.Popen[bytes]:
        program = [
            sys.executable,
            "-P",
            "-m",
            "ladder.http.pictures.drawing",
            str(self._folder),
            name,
            str(self._niceness),
        ]
        return subprocess.Popen(
            program,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for us
        )

    def _follow(self, process: subprocess.Popen[bytes], job: _Job) -> str:
        """Note how far a process is until it ends; return why it has no page, empty if it has one."""
        problem = ""
        late = threading.Timer(MAX_SECONDS, process.kill)
        late.daemon = True
        late.start()
        try:
            with process:
                assert process.stdin is not None  # noqa: S101 it is a pipe, and so is the other one
                assert process.stdout is not None  # noqa: S101
                with contextlib.suppress(OSError):  # it was killed; its status tells
                    process.stdin.write(job.record)
                    process.stdin.close()
                for line in process.stdout:
                    text = line.decode(errors="replace").strip()
                    if text.startswith("!"):
                        problem = text[1:][:_MAX_WORDS]
                    elif found := _PROGRESS.fullmatch(text):  # what a library prints is none
                        job.drawing.done, job.drawing.of = int(found[1]), int(found[2])
        finally:
            late.cancel()
        if not problem and process.returncode:
            problem = "the process that drew it was ended; try again in a minute"
        return problem


def name_of(record: bytes) -> str:
    """Return what the page of a record is called: equal records, drawn by equal programs, have equal pages."""
    return hashlib.sha256(installed_version().encode() + b"\n" + record).hexdigest()


def _now() -> float:
    return time.monotonic()


def _is_past(job: _Job) -> bool:
    return _now() - job.failed_at > RETRY_SECONDS
