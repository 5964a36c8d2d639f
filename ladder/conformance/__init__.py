"""Conformance: the requirements of a ladder on a bot, which its author can try step by step in the ladder's own sandbox.

`scripts.py` is the table of all steps, each with the script that tries it: a conversation of instructions (`instructions.py`), or a
real match (`matches.py`). Steps with the same start of the bot are an *exercise*; `exercises.py` runs them.
A scripted referee uses a real table (`rehearsal_match.py`): its messages are possible in a match, unless the step says otherwise.
"""
