"""What agents have left is killed; what this process has started for itself is not."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.commands.conftest import ROOT
from tests.patience import patient

CLEARS_AWAY = """
import subprocess, threading
from referee.live.seats import orphans
from referee.sandbox.system import children

def begin():
    with orphans.own_starting() as started:
        ours.append(subprocess.Popen(["sleep", "600"]))
        thread.start()  # it looks for what is left at the worst moment, and must wait
        thread.join(0.5)
        started(ours[0].pid)

ours = []
left = subprocess.Popen(["sleep", "600"])
thread = threading.Thread(target=orphans.kill_children, args=((),))
begin()
thread.join()
print(ours[0].poll(), left.poll() is not None)
ours[0].kill()
orphans.own_ended(ours[0].pid)
orphans.kill_children(())
print(children())
"""


def test_a_child_of_ours_is_spared_from_its_first_moment_on() -> None:
    said = subprocess.run(
        [sys.executable, "-c", CLEARS_AWAY],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=patient(300),
    )
    assert said.stdout == "None True\n[]\n", said.stderr
