"""`python -m bench.logs`: what the logs of a match take on the disk and in a pack, for bots that print nothing, some, or all they may.

Bots that print write lines of a search, with numbers that are drawn; the last row is the worst that a bot can do. Bytes are what
files take on a file system with blocks of 4 KiB, folders included; times are of CPU, medians of some blocks.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from statistics import median
from time import process_time

from rich.console import Console
from rich.table import Table

from ladder.archive.logs import log_files, pack_logs
from ladder.operation.home import Home
from referee.sandbox.cgroup import Usage

SEATS = 4
BLOCKS = 5
_CHUNK = 4096


def searching(chance: random.Random, size: int) -> bytes:
    """Return so many bytes of what a bot may write of its search."""
    lines = [
        f"turn {chance.randrange(40)}: {chance.randrange(10**5)} nodes, best {chance.randrange(80)}, {chance.random():.4f}"
        for _ in range(size // 20)
    ]
    return "\n".join(lines).encode()[:size]


def noise(chance: random.Random, size: int) -> bytes:
    """Return so many bytes that cannot be compressed."""
    return chance.randbytes(size)


KINDS: dict[str, tuple[Callable[[random.Random, int], bytes], int, bool]] = {
    "nothing": (searching, 0, False),
    "nothing, behind walls": (searching, 0, True),
    "2 kB, behind walls": (searching, 2_000, True),
    "20 kB, behind walls": (searching, 20_000, True),
    "128 kB, behind walls": (searching, 128 * 1024, True),
    "128 kB of chance": (noise, 128 * 1024, True),
}


def measure(folder: Path, writes: Callable[[random.Random, int], bytes], size: int, walls: bool) -> list[float]:
    """Return for a block of four: bytes of a match in files and in a pack, milliseconds to pack one and to read one."""
    chance = random.Random(size)
    home = Home(folder)
    home.make()
    for needed in (home.records, home.all_logs):
        needed.mkdir()
    match_ids = [f"{chance.getrandbits(64):016x}" for _ in range(SEATS)]
    for match_id in match_ids:
        home.logs(match_id).mkdir()
        for seat in range(SEATS):
            home.log(match_id, seat).write_bytes(writes(chance, size))
        if walls:
            used = {seat: {one.name: chance.randrange(10**8) for one in fields(Usage)} for seat in range(SEATS)}
            home.usage(match_id).write_text(json.dumps(used))
    files = sum(_room(path) for path in home.all_logs.rglob("*"))
    start = process_time()
    pack_logs(home, 1, match_ids)
    packed = process_time()
    log_files(home, match_ids[0], 1)
    read = process_time()
    pack = _room(home.log_pack(1))
    return [files / SEATS, pack / SEATS, (packed - start) / SEATS * 1e3, (read - packed) * 1e3]


def _room(path: Path) -> int:
    return -(-path.stat().st_size // _CHUNK) * _CHUNK if path.is_file() else _CHUNK


def main() -> None:
    """Print the table."""
    table = Table("each bot prints", "files", "in a pack", "pack a match", "read one")
    for what, kind in KINDS.items():
        with tempfile.TemporaryDirectory() as scratch:
            blocks = [measure(Path(scratch) / f"{number}", *kind) for number in range(BLOCKS)]
        files, pack, packed, read = map(median, zip(*blocks, strict=True))
        table.add_row(what, f"{files:,.0f}", f"{pack:,.0f}", f"{packed:.1f} ms", f"{read:.1f} ms")
    Console(width=None if sys.stdout.isatty() else 110).print(table)


if __name__ == "__main__":
    main()
