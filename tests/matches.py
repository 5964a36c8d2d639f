"""Matches for tests: in an event loop of their own, and of a referee in a process of its own."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from referee.live.matches.play import MatchReport, Player, play_match
from referee.match.plan import MatchPlan
from tests.patience import patient

ROOT = Path(__file__).resolve().parents[1]


def play(plan: MatchPlan, players: Sequence[Player], *, seconds: float = 120, **arguments: Any) -> MatchReport:
    """Play a match that takes less than `seconds` on a quiet machine; the other arguments are those of `play_match`."""
    return asyncio.run(asyncio.wait_for(play_match(plan, players, **arguments), patient(seconds)))


class Referee:
    """The command `dogana play` with a remote seat, when it has said where it waits for the agent.

    Attributes:
        process: the command.
        printed: its lines on standard error.
        address: where the agent can join.
        token: what the agent shows then.
    """

    def __init__(self, folder: Path, *options: str, before: str = ":") -> None:
        """Start it with these options, after what a shell is to do `before`; the record is `match.jsonl` in the folder."""
        play = [sys.executable, "-m", "ladder", "play", "cargo_noir", "remote", "greedy", "-o", "last_turn=3"]
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", f'{before}; exec "$@"', "sh", *play, "--record", str(folder / "match.jsonl"), *options],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stderr is not None
        self.printed: list[str] = []
        while not self.printed or "DOGANA_TOKEN" not in self.printed[-1]:
            self.printed.append(self.process.stderr.readline())
            assert self.printed[-1], "it ended"
        self.address, self.token = (word.split("=")[1] for word in self.printed[-1].split()[-2:])

    def __enter__(self) -> Referee:
        return self

    def play(self) -> None:
        """Let an honest agent join, and play the match to its end."""
        environment = {"PYTHONPATH": str(ROOT), "DOGANA_ADDRESS": self.address, "DOGANA_TOKEN": self.token}
        agent = [sys.executable, "-m", "house_bots", "random"]
        subprocess.run(agent, env=environment, check=True, timeout=patient(120))

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        self.process.send_signal(signal.SIGINT)

    def ending(self) -> tuple[int, str, str]:
        """Return its status, and what it has written to standard output, and to standard error since it began."""
        out, err = self.process.communicate(timeout=patient(60))
        return self.process.returncode, out, err

    def resident_bytes(self) -> int:
        """Return how much memory it has."""
        pages = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()
