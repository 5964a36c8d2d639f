# One of the packages of dogana-arena.
"""The referee, which owns the authoritative state of a match and judges the agents that play it."""
