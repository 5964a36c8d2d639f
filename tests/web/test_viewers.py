"""How soon the viewer of a match is there on a machine that has no processor to spare."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx
import pytest

from ladder.intake import submit
from ladder.web.pages.enter import ten_lines
from tests.ladder.test_stopping import scale
from tests.web.conftest import new_ladder
from tests.web.test_beside import below, command_of, running

pytestmark = pytest.mark.ladders

MATCHES = int(os.environ.get("DOGANA_VIEWERS", "4"))
SECONDS = 30.0
"""How long it may take on two processors that have as much other work as they can do."""
WORDS = ("serve", "--listen", "127.0.0.1:0", "--workers", "2", "--unconfined", "--clock", "60+0.5/10")


def niceness_of_drawings(ladder: int) -> set[int]:
    """How far what draws for a ladder gives way to others."""
    with suppress(OSError):  # they come and go
        return {
            os.getpriority(os.PRIO_PROCESS, pid) for pid in below(ladder) if "ladder.web.drawing" in command_of(pid)
        }
    return set()


def test_a_viewer_is_there_soon_after_its_match(tmp_path: Path) -> None:
    home = new_ladder(tmp_path / "ladder")
    (tmp_path / "bot.py").write_text(ten_lines())
    submit(home, tmp_path / "bot.py", "mybot", "ann")
    took: list[float] = []
    with ExitStack() as stack:
        process, address = stack.enter_context(running(home.folder, *WORDS))
        client = stack.enter_context(httpx.Client(base_url=address, timeout=300))
        for _ in range(os.cpu_count() or 1):
            busy = stack.enter_context(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
            stack.callback(busy.kill)
        seen: set[str] = set()
        while len(took) < MATCHES:
            said = home.folder.with_name("said").read_text()
            over = [
                match
                for match in re.findall(r"match_ended match=([0-9a-f]+)", said)
                if match not in seen and client.get(f"/matches/{match}/record.jsonl").status_code == 200
            ]
            if not over:
                assert process.poll() is None
                time.sleep(0.5)
                continue
            seen.update(over)
            began = time.monotonic()
            while (answer := client.get(f"/matches/{over[-1]}/replay.html")).status_code == 202:
                assert niceness_of_drawings(process.pid) <= {os.getpriority(os.PRIO_PROCESS, process.pid)}
                time.sleep(0.2)
            assert answer.status_code == 200
            took.append(time.monotonic() - began)
    print("seconds:", *(f"{seconds:.1f}" for seconds in sorted(took)))
    assert sorted(took)[len(took) // 2] <= SECONDS * scale()
