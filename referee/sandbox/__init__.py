"""Walls around agents: what a program of a stranger may see, use and reach on this machine."""
