"""Tables at which people play against bots, each in a process of its own; `open_tables.py` manages them."""
