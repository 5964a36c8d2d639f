"""Tables at which a person plays against bots: a process for each, and `open_tables.py` keeps them."""
