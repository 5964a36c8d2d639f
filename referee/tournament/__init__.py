"""Tournaments: who meets whom, with which luck, and who is best. Pure: all follows from the file, its seed and the results."""
