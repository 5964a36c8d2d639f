"""Read the options of house bots, such as `seconds=1` in `search:seconds=1`."""

from __future__ import annotations

import math

MAX_SEED = 2**62


def number(name: str, text: str, kind: type[int] | type[float], low: float, high: float) -> float:
    """Read a number.

    Args:
        name: the name of the option.
        text: its value.
        kind: int for a whole number.
        low: the lowest value.
        high: the highest value.

    Raises:
        ValueError: if the text is not such a number in that range.
    """
    try:
        value = kind(text)
    except ValueError:
        value = math.nan
    if not low <= value <= high:
        words = "a whole number" if kind is int else "a number"
        raise ValueError(f"{name} must be {words} from {low} to {high}, not {text!r}")
    return value
