"""Conformance: what a bot must do to come through on a ladder, tried step by step in the ladder's own sandbox, for its author.

`steps.py` lists what is tried; an *exercise* (`starting.py`, `answering.py`, `compatibility.py`, `ending.py`, `matches.py`) starts the bot
anew and judges some of the steps; `exercises.py` runs them. Most exercises speak to the bot by a scripted referee (`conversation.py`)
that is at a real table (`table.py`): what the bot is sent could have happened in a match, unless the step says otherwise.
"""
