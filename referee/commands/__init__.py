"""The commands of the referee, each in a module of its own: `dogana NAME` is in `referee/commands/NAME.py`."""
