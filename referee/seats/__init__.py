"""Who can sit at a table: house bots in the referee's process, agents that it starts, agents that dial in."""
