"""The match machine: the consequences of an answer, a deadline or a fault. Pure."""
