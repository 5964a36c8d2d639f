"""Conformance: the requirements that a bot must meet on a ladder. An author can try them step by step in the ladder's own sandbox.

`scripts.py` is the table of all steps, each with the script that tries it: a conversation of instructions (`instructions.py`), or a
real match (`matches.py`). Steps that share one start of the bot form an *exercise*; `exercises.py` runs them.
A scripted referee uses a real table (`rehearsal_match.py`), so its messages could occur in a match, unless the step says otherwise.
"""
