"""The match machine, which decides the consequences of an answer, a deadline or a fault. It is pure."""
