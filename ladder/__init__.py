# One of the packages of dogana-arena.
"""The ladder, which takes in bots, schedules matches between them, and rates them."""
