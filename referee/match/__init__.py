"""The match machine: what follows from an answer, a deadline or a fault. Pure."""
