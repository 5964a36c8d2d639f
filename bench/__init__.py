"""Measurements, side by side in one run: `make bench`. Absolute figures drift with the machine; ratios hold."""
