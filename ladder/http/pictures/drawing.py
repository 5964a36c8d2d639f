"""Draw the page of a match in a separate process, with the record on standard input.

The command is `python -m ladder.http.pictures.drawing FOLDER NAME [NICENESS]`. It prints its progress on standard output:
each line contains the number of pictures drawn so far and the total. If it fails, the last line is `!` followed by the reason.
Only one process draws for a folder at a time.
"""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from referee.files import open_private, private_folder, write_all, write_private
from referee.pages.film import FilmError
from referee.pages.match import make_page
from referee.records.record import RecordError
from referee.registry import find

MAX_BYTES = 512 * 1024 * 1024
"""The maximum total size of the pages in the folder; the least recently viewed ones are removed first."""
PREVIEW_WIDTH = 1200


def main() -> None:
    """Wait for this process's turn, then draw the page unless it already exists."""
    folder, name = Path(sys.argv[1]), sys.argv[2]
    os.nice(int(*sys.argv[3:]))  # int() is 0
    record = sys.stdin.buffer.read()
    try:
        try:
            _draw_alone(folder, name, record)
        except (FileNotFoundError, RecordError) as error:  # the folder may be removed at any time
            if isinstance(error, RecordError) and folder.exists():
                raise
            _draw_alone(folder, name, record)
    except (RecordError, FilmError) as error:
        _tell(f"!{error.reason if isinstance(error, RecordError) else error}")
    except OSError as error:
        _tell(f"!the page cannot be kept: {error.strerror}")


def _draw_alone(folder: Path, name: str, record: bytes) -> None:
    private_folder(folder)
    page = folder / f"{name}.html"
    with _one_at_a_time(folder):
        if not page.exists():
            _draw(folder, record, page)


def _draw(folder: Path, record: bytes, page: Path) -> None:
    source = folder / "drawn.record"
    source.unlink(missing_ok=True)  # left by a killed process
    with open_private(source) as file:
        write_all(file, record)
    made = make_page(source, find, lambda done, of: _tell(f"{done} {of}"), workers=1)
    data, preview = made.html.encode(), preview_of(made.picture)
    # Before the page is written, so that the folder never exceeds its maximum size.
    prune(folder, MAX_BYTES - len(data) - len(preview))
    source.unlink(missing_ok=True)
    # The page is written last: once it exists, the preview exists, too, and neither file changes any more.
    if preview:
        write_private(page.with_suffix(".png"), preview)
    write_private(page, data)


def preview_of(picture: str) -> bytes:
    """Return a picture as PNG, for link previews on other sites; return no bytes if the extra `preview` is not installed."""
    if find_spec("resvg_py") is None:
        return b""
    import resvg_py

    drawn: bytes = resvg_py.svg_to_bytes(svg_string=picture, width=PREVIEW_WIDTH)
    return drawn


@contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    lock = os.open(folder / "lock", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def prune(folder: Path, max_bytes: int) -> None:
    """Remove the files of killed processes, and the least recently viewed pages until there is room.

    Args:
        folder: the folder of the pages; no other process may write to it at the same time.
        max_bytes: the maximum size of the remaining pages.
    """
    for part in folder.glob("*.part"):
        part.unlink(missing_ok=True)
    pages = sorted((page.stat().st_mtime_ns, page) for page in (*folder.glob("*.html"), *folder.glob("*.png")))
    taken = sum(page.stat().st_size for _, page in pages)
    for _, page in pages:
        if taken <= max_bytes:
            break
        taken -= page.stat().st_size
        page.unlink()


def _tell(text: str) -> None:
    """Print a line for the parent process; exit if the parent has ended."""
    try:
        os.write(1, f"{text}\n".encode())
    except BrokenPipeError:
        os._exit(1)


if __name__ == "__main__":
    main()
