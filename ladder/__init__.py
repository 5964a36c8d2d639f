# One of the packages of dogana-arena.
"""The ladder: takes in bots, schedules matches among them, and rates them."""
