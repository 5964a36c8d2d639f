"""Conformance: what a bot must do to come through on a ladder, tried step by step in the ladder's own sandbox, for its author.

`scripts.py` is the table of all steps, each with the script that tries it: a conversation of instructions (`instructions.py`), or a
real match (`matches.py`). Steps that are tried with the same start of the bot are an *exercise*; `exercises.py` holds them.
A scripted referee is at a real table (`table.py`): its messages could have come in a match, unless the step says otherwise.
"""
