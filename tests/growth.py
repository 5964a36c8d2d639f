"""How the time of some work grows with its size."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable


def grows_in_proportion(work: Callable[[int], object], size: int) -> bool:
    """Tell whether ten times the size takes about ten times the processor time, and not a hundred times.

    Caches and other processes make a large piece dearer than ten small ones, by a factor of up to three;
    work whose time grows with the square of its size is dearer by a factor of ten. The border lies between.
    """

    def seconds(size: int) -> float:
        gc.collect()
        start = time.process_time()
        work(size)
        return time.process_time() - start

    tries = [(seconds(size), seconds(10 * size)) for _ in range(3)]
    return min(many for _, many in tries) < 50 * min(few for few, _ in tries)
