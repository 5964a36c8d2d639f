# One of the packages of dogana-arena.
"""House bots: bots that come with Dogana."""
