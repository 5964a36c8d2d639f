"""Student's t and Wilson's interval: how far a mean or a share may be from the truth."""

from __future__ import annotations

import math

_T = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)
"""The limit for a 95 % interval, in standard errors, for 1 to 9 degrees of freedom."""
_Z = 1.960
"""The limit for a 95 % interval, in standard errors, for many degrees of freedom."""


def limit(degrees: int) -> float:
    """Return Student's t for a 95 % interval, to at least two decimals, from the table or by an expansion."""
    if degrees <= len(_T):
        return _T[degrees - 1]
    # The Cornish-Fisher expansion: Abramowitz and Stegun, 26.7.5.
    return _Z + (_Z**3 + _Z) / (4 * degrees) + (5 * _Z**5 + 16 * _Z**3 + 3 * _Z) / (96 * degrees**2)


def wilson(share: float, count: float) -> tuple[float, float]:
    """Return the 95 % interval of the long-run share, given the share in `count` independent trials.

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927).
    """
    spread = _Z**2 / count
    middle = (share + spread / 2) / (1 + spread)
    half = _Z * math.sqrt(share * (1 - share) / count + spread / (4 * count)) / (1 + spread)
    # Only rounding errors can exceed 0 and 1.
    return max(0.0, middle - half), min(1.0, middle + half)


def half_width(count: int, variance: float) -> float:
    """Return half the width of the 95 % interval of the mean of `count` values.

    Args:
        count: the number of values; the interval of a single value is infinite.
        variance: the mean of their squared distances from their mean.
    """
    return math.inf if count < 2 else limit(count - 1) * math.sqrt(variance / (count - 1))
