# One of the packages of dogana-arena.
"""The referee: owns the authoritative state of a match and judges the agents that play it."""
