"""Draw the pictures of a match in several processes.

A long match has thousands of pictures, and each takes more than ten milliseconds.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
from collections.abc import Callable, Container, Generator
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from pathlib import Path

from referee.errors import DoganaError
from referee.game import Game
from referee.pages.payload import Reel, join, reel
from referee.records.record import RecordError
from referee.records.verify import Replay
from referee.records.viewpoint import Viewpoint
from referee.sandbox.system import processors

STEPS_A_REEL = 64
"""The number of steps that a process draws before it sends their pictures."""
_MIN_PICTURES = 500
"""The minimum number of pictures for which several processes are used.

Fewer pictures are drawn before another process has started.
"""

FindGame = Callable[[str], Game]
Progress = Callable[[int, int], None]
"""A function called now and then with the number of pictures drawn so far and the total number."""


class FilmError(DoganaError):
    """The pictures cannot be drawn."""


def film(
    path: Path, find_game: FindGame, record_hash: str, steps: int, seats: int, progress: Progress, workers: int = 0
) -> Reel:
    """Draw a match.

    Args:
        path: the record.
        find_game: a function that looks up a game by name; it must be in a module, because other processes call it,
            too.
        record_hash: the hash of the record's last line; a different record is refused.
        steps: the number of actions to draw; there is one picture more than actions.
        seats: the number of seats whose views to draw, from seat 0.
        progress: a function called as the work advances.
        workers: the number of processes; 0 for one per processor if there is enough to draw, and otherwise one.

    Raises:
        RecordError: if the record has changed.
        FilmError: if a process ends too early.
    """
    reels = steps // STEPS_A_REEL + 1
    views = 1 + seats
    if not workers:
        workers = processors() if (steps + 1) * views >= _MIN_PICTURES else 1
    workers = min(workers, reels)
    done: dict[int, Reel] = {}
    source = (
        _reels(path, find_game, record_hash, steps, seats, range(reels))
        if workers == 1
        else _drawn_by_workers(path, find_game, record_hash, steps, seats, workers)
    )
    with contextlib.closing(source):
        for number, part in source:
            done[number] = part
            progress(sum(len(part.public) for part in done.values()) * views, (steps + 1) * views)
    return join([done[number] for number in range(reels)])


def _reels(
    path: Path, find_game: FindGame, record_hash: str, steps: int, seats: int, wanted: Container[int]
) -> Generator[tuple[int, Reel]]:
    """Replay the record, and yield the wanted reels with their numbers."""
    replay = Replay(path, find_game)
    if replay.last_hash != record_hash:
        raise RecordError(path, 0, "was replaced by another one while it was drawn")
    viewpoints = [Viewpoint(replay, viewer) for viewer in (None, *range(seats))]
    played = iter(replay)
    pictures: list[list[str]] = []
    before = ""
    for at in range(steps + 1):
        if at:
            step = next(played)
            for viewer in viewpoints:
                viewer.follow(step)
        number, place = divmod(at, STEPS_A_REEL)
        ends = place == STEPS_A_REEL - 1
        if number in wanted:
            pictures.append([viewer.draw() for viewer in viewpoints])
            if ends or at == steps:
                yield number, reel(pictures, before)
                before, pictures = pictures[-1][0], []
        # The next reel begins with a splice of this picture, which another worker may be drawing.
        elif ends and number + 1 in wanted:
            before = viewpoints[0].draw()


def _drawn_by_workers(
    path: Path, find_game: FindGame, record_hash: str, steps: int, seats: int, workers: int
) -> Generator[tuple[int, Reel]]:
    """Let every worker play the whole record, which is cheap, and draw its share of the reels."""
    context = multiprocessing.get_context("spawn")
    pipes: list[Connection] = []
    processes = []
    resource_tracker.ensure_running()  # its start would unblock Ctrl-C, which is blocked below
    try:
        for first in range(workers):
            ours, theirs = context.Pipe(duplex=False)
            wanted = range(first, steps // STEPS_A_REEL + 1, workers)
            process = context.Process(
                target=_work, args=(theirs, path, find_game, record_hash, steps, seats, wanted), daemon=True
            )
            # Ctrl-C is for this process; workers inherit the mask.
            mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            try:
                process.start()
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            theirs.close()  # or the pipe would stay open when the worker dies, and never end
            pipes.append(ours)
            processes.append(process)
        while pipes:
            for pipe in wait(pipes):
                assert isinstance(pipe, Connection)  # noqa: S101 for mypy
                try:
                    sent = pipe.recv()
                # A worker that ends well sends None first.
                except (EOFError, OSError):
                    raise FilmError("a process that drew pictures was killed; try again") from None
                if sent is None:
                    pipes.remove(pipe)
                elif isinstance(sent[1], Reel):
                    yield sent
                else:
                    # The error is made here, because an error with several arguments does not survive the pipe.
                    raise RecordError(path, *sent)
    finally:
        for process in processes:
            # This also runs when the caller has stopped reading, because nobody wants the rest.
            process.kill()
            process.join()


def _work(
    pipe: Connection,
    path: Path,
    find_game: FindGame,
    record_hash: str,
    steps: int,
    seats: int,
    wanted: range,
) -> None:
    """Draw in a worker process. The process ends when its reader has ended, because sending then fails."""
    with contextlib.suppress(OSError):
        try:
            for part in _reels(path, find_game, record_hash, steps, seats, wanted):
                pipe.send(part)
            pipe.send(None)
        except RecordError as error:
            pipe.send((error.line, error.reason))
