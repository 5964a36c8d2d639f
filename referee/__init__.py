"""The referee: owns the authoritative state of a match and judges the agents that play it."""
