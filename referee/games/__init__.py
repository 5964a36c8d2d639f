"""The games, each in its own folder, where the registry finds them (`referee/registry.py`)."""
