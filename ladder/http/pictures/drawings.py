"""The drawn pages of matches, stored by the content of their records. No request waits for a page to be drawn.

Drawing a page takes a few seconds of processor time, so clients repeat their request until the page exists: see `Drawings.ask`.
A person is waiting, so pages are drawn even while matches are being played. Waiting for the matches could take minutes on a
machine that plays around the clock.
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
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_cache_path

from ladder.operation.errors import TooMuch
from ladder.operation.home import Home
from referee.files import private_folder
from referee.version import installed_version

_PROGRESS = re.compile(r"([0-9]{1,9}) ([0-9]{1,9})", re.ASCII)
"""Matches a line in which a drawing process reports its progress."""
_MAX_WORDS = 500
"""The maximum length of an error message."""


@dataclass(frozen=True, slots=True)
class DrawingLimits:
    """The limits on drawing pages; all times are in seconds.

    Attributes:
        waiting: the maximum number of waiting pages.
        waiting_of_one: the maximum number of waiting pages of one caller.
        left_seconds: the time after which a caller who has not repeated the request is treated as gone, and comes last;
            browsers repeat the request every 3 s.
        draw_seconds: the time limit for drawing a page.
        retry_seconds: the time after a failure before a page is drawn again.
    """

    waiting: int = 16
    waiting_of_one: int = 4
    left_seconds: float = 10.0
    draw_seconds: float = 900.0
    retry_seconds: float = 60.0


LIMITS = DrawingLimits()
Start = Callable[[Path, str, int], subprocess.Popen[bytes]]
"""A function that starts to draw a page, given the folder, the name of the page, and the niceness."""


def start_drawing(folder: Path, name: str, niceness: int) -> subprocess.Popen[bytes]:
    """Start the process that draws a page."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "ladder.http.pictures.drawing", str(folder), name, str(niceness)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is for us
    )


@dataclass(slots=True)
class Drawing:
    """The progress of drawing a match's page.

    Attributes:
        page: the file of the page; None until it is drawn.
        done: the number of pictures drawn so far.
        of: the total number of pictures; 0 if it is not known yet.
        ahead: the number of pages to draw before this one.
        problem: the reason why the page cannot be drawn; empty if there has been no problem.
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
    requested_at: float
    failed_at: float = 0.0


def pages_folder(home: Home) -> Path:
    """Return the folder for a ladder's drawn pages: in the ladder's folder or, if this user may not write there, in their cache."""
    folder = home.folder.absolute() / "pages"
    try:
        private_folder(folder)
        # It may exist already, and belong to somebody else.
        if os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass
    folder = user_cache_path("dogana") / "pages"
    folder.parent.mkdir(parents=True, exist_ok=True)
    private_folder(folder)
    return folder


class Drawings:
    """Pages drawn one at a time, in the order of the requests. Use this class as a context manager.

    Pages for which no caller is waiting any more come last. Methods may be called from any thread.
    """

    def __init__(
        self,
        folder: Path,
        niceness: int = 0,
        limits: DrawingLimits = LIMITS,
        *,
        start: Start = start_drawing,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Store pages in a folder, which other processes may use in the same way.

        Args:
            folder: the folder.
            niceness: the niceness of drawing processes, in addition to that of the thread that enters the context.
            limits: the limits.
            start: a function that starts to draw a page.
            clock: a function that returns the time in seconds.
        """
        self._folder = folder
        self._niceness = niceness
        self._limits = limits
        self._start = start
        self._now = clock
        self._jobs: OrderedDict[str, _Job] = OrderedDict()
        self._change = threading.Condition()
        self._drawn = ""
        """The name of the page that is being drawn; empty if there is none."""
        self._is_closed = False
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._work, name="drawings", daemon=True)

    def __enter__(self) -> Drawings:
        """Start drawing."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop drawing, and drop an unfinished page."""
        with self._change:
            self._is_closed = True
            self._change.notify()
            if self._process is not None:
                self._process.kill()
        self._thread.join()

    def find(self, record: bytes) -> Path | None:
        """Return the drawn page of a record; None if there is none."""
        page = self._folder / f"{name_of(record)}.html"
        try:
            os.utime(page)  # `prune` reads the time of the last view
        except FileNotFoundError:
            return None
        return page

    def ask(self, record: bytes, who: str = "") -> Drawing:
        """Request the page of a record, and return its progress.

        Args:
            record: the record, compressed or not.
            who: the caller for whom waiting pages are counted; empty for the ladder itself.

        Raises:
            TooMuch: if too many pages are waiting.
        """
        if page := self.find(record):
            return Drawing(page)
        name = name_of(record)
        with self._change:
            for old in [old for old, job in self._jobs.items() if self._is_past(job)]:
                del self._jobs[old]
            if name in self._jobs:
                self._jobs[name].requested_at = self._now()
            waiting = [other for other, _ in self._next()]
            if name not in self._jobs:
                theirs = sum(self._jobs[other].who == who for other in waiting)
                if len(waiting) >= self._limits.waiting or (who and theirs >= self._limits.waiting_of_one):
                    raise TooMuch("too many matches are to be drawn at the moment; come back in a minute")
                self._jobs[name] = _Job(record, who, Drawing(), self._now())
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
                    self._process = self._start(self._folder, name, self._niceness)
                except OSError as error:
                    job.drawing.problem, job.failed_at = f"no process could be started: {error.strerror}", self._now()
                    self._drawn = ""
                    continue
            problem = self._follow(self._process, job)
            with self._change:
                self._process, self._drawn = None, ""
                job.record = b""  # a failed job stays, but no longer needs the record
                if problem:
                    job.drawing.problem, job.failed_at = problem, self._now()
                else:
                    del self._jobs[name]

    def _next(self) -> list[tuple[str, _Job]]:
        """Return the pages to draw, in order, beginning with the one that is being drawn."""
        now = self._now()
        left = [(name, job) for name, job in self._jobs.items() if not job.failed_at]
        # The sort is stable: requests keep their order within each group.
        return sorted(
            left, key=lambda one: (one[0] != self._drawn, now - one[1].requested_at > self._limits.left_seconds)
        )

    def _is_past(self, job: _Job) -> bool:
        """Return True if a page that could not be drawn may be tried again."""
        return bool(job.failed_at) and self._now() - job.failed_at > self._limits.retry_seconds

    def _follow(self, process: subprocess.Popen[bytes], job: _Job) -> str:
        """Follow a process until it ends; return the reason if it has failed, and an empty text otherwise."""
        problem = ""
        late = threading.Timer(self._limits.draw_seconds, process.kill)
        late.daemon = True
        late.start()
        try:
            with process:
                assert process.stdin is not None  # noqa: S101 it is a pipe, and so is the other one
                assert process.stdout is not None  # noqa: S101
                with contextlib.suppress(OSError):  # the process was killed, as its status shows
                    process.stdin.write(job.record)
                    process.stdin.close()
                for line in process.stdout:
                    text = line.decode(errors="replace").strip()
                    if text.startswith("!"):
                        problem = text[1:][:_MAX_WORDS]
                    elif found := _PROGRESS.fullmatch(text):  # any other output comes from a library
                        job.drawing.done, job.drawing.of = int(found[1]), int(found[2])
        finally:
            late.cancel()
        if not problem and process.returncode:
            problem = "the process that drew it was ended; try again in a minute"
        return problem


def name_of(record: bytes) -> str:
    """Return the name of a record's page. Equal records share a page if the same version of the program draws it."""
    return hashlib.sha256(installed_version().encode() + b"\n" + record).hexdigest()
