"""The commands of the referee, a module each: `dogana NAME` is `referee/commands/NAME.py`."""
