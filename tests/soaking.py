"""The frame of the soak tests: kills and seed from the environment, a folder that is removed, one line at the end."""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Callable
from pathlib import Path


def soak_from_environment(soak: Callable[[Path, int, int], int], kills: int, target: str, outcome: str) -> None:
    """Run a soak test with DOGANA_SOAK_KILLS and DOGANA_SOAK_SEED.

    Args:
        soak: takes a folder, the number of kills and a seed, and returns the number of matches.
        kills: the default number of kills.
        target: the name of what is killed, for the first line.
        outcome: the rest of the last line, after the number of matches.
    """
    times = int(os.environ.get("DOGANA_SOAK_KILLS", kills))
    seed = int(os.environ.get("DOGANA_SOAK_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 32)
    print(f"{times} kills of {target}, DOGANA_SOAK_SEED={seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="dogana-soak-") as folder:
        matches = soak(Path(folder), times, seed)
    print(f"{matches} matches, each once; {outcome}")
