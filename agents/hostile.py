"""A bot that misbehaves in a chosen way, for testing a referee: `python agents/hostile.py SIN`.

At its third decision the bot misbehaves. Before that, and afterwards if it still can, it plays the first legal action.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable

from dogana.sdk import Decision, play

SIN_AT = 3


def crash() -> None:
    """Raise an exception in the middle of a decision."""
    raise RuntimeError("I have a bug")


def leave() -> None:
    """Exit with status 0 in the middle of the match."""
    os._exit(0)


def be_killed() -> None:
    """Kill the process with the signal SIGSEGV."""
    os.kill(os.getpid(), signal.SIGSEGV)


def be_killed_in_real_time() -> None:
    """Kill the process with a real-time signal, for which Python has no name."""
    os.kill(os.getpid(), 35)


def hang() -> None:
    """Never answer again."""
    time.sleep(3600)


def shout() -> None:
    """Fill standard output and standard error."""
    for _ in range(8):
        sys.stdout.write("o" * 50_000)
        sys.stderr.write("e" * 50_000)


def detach() -> None:
    """Leave behind, in a separate session, a process that ignores every signal that can be ignored."""
    program = (
        "import os, signal, sys, time\n"
        "for number in range(1, 32):\n"
        "    try: signal.signal(number, signal.SIG_IGN)\n"
        "    except (OSError, ValueError): pass\n"
        "if os.fork(): os._exit(0)\n"
        "os.setsid()\n"
        "if os.fork(): os._exit(0)\n"
        "print(os.getpid(), flush=True)\n"
        "time.sleep(3600)\n"
    )
    left = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert left.stdout is not None  # noqa: S101 it is a pipe
    print("left behind", left.stdout.readline(), flush=True)  # flushed, because the end of the match ends this process


SINS: dict[str, Callable[[], None]] = {
    "crash": crash,
    "leave": leave,
    "be-killed": be_killed,
    "be-killed-in-real-time": be_killed_in_real_time,
    "hang": hang,
    "shout": shout,
    "detach": detach,
}


def main() -> None:
    """Play one match with the fault named on the command line: a key of `SINS`, `illegal`, `late-start` or `no-start`."""
    sin = sys.argv[1] if len(sys.argv) == 2 else ""
    if sin == "no-start":
        sys.exit("I do not feel like it")
    if sin == "late-start":
        time.sleep(3600)
    if sin not in SINS and sin != "illegal":
        sys.exit(f"usage: python agents/hostile.py {'|'.join([*SINS, 'illegal', 'late-start', 'no-start'])}")
    decisions = 0

    def choose(decision: Decision) -> int:
        nonlocal decisions
        decisions += 1
        if decisions >= SIN_AT and sin == "illegal":
            return decision.action_count
        if decisions == SIN_AT:
            SINS[sin]()
        return 0

    play(choose)


if __name__ == "__main__":
    main()
