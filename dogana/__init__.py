# One of the packages of dogana-arena.
"""The library for agents: the messages (`dogana.v1`, `dogana.games`, built from proto/) and the SDK (`dogana.sdk`)."""
