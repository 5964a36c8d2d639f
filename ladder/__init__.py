"""The ladder: takes in bots, schedules matches among them, and rates them."""
